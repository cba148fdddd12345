//! What databases of keys and values have in common: registers, lists and rows as keys, and a
//! [`Client`] over a [`Txn`].

use seriatim_audit::{Client, Driver, DriverError, Role, Sent, Setting, Workload};
use seriatim_isolation::Level;
use std::ops::Range;

/// Keys with their values.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A transaction.
pub trait Txn: Send {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, DriverError>;
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), DriverError>;
    fn remove(&mut self, key: &[u8]) -> Result<(), DriverError>;
    fn commit(self: Box<Self>) -> Result<(), DriverError>;
    fn rollback(self: Box<Self>) -> Result<(), DriverError>;

    /// All keys that begin so.
    fn scan(&mut self, beginning: &[u8]) -> Result<Pairs, DriverError> {
        let _ = beginning;
        Err(DriverError::unable("scans"))
    }
}

/// A database, opened in a folder of its own, in one of its ways to run transactions.
pub trait Store: Sync {
    /// What it is, with its version.
    fn product(&self) -> String;

    /// How transactions are run.
    fn mode(&self) -> &'static str;

    /// What its documentation promises of them.
    fn promise(&self) -> Level;

    /// Whether a transaction can scan, with the same promise.
    fn can_scan(&self) -> bool;

    /// Whether transactions that only read are begun in another way.
    fn has_readers(&self) -> bool {
        false
    }

    fn begin(&self, only_reads: bool) -> Result<Box<dyn Txn>, DriverError>;
}

/// Of so many sessions one only reads, where that is begun in another way.
const READERS: u32 = 4;

/// The driver of a store.
pub struct KeyValue<S>(pub S);

fn register_key(number: u64) -> String {
    format!("register/{number}")
}

fn list_key(number: u64) -> String {
    format!("list/{number}")
}

fn row_key(part: u64, row: u64) -> String {
    format!("{}{row}", part_key(part))
}

fn part_key(part: u64) -> String {
    format!("part/{part}/")
}

impl<S: Store + Send> Driver for KeyValue<S>
where
    S: Clone + 'static,
{
    fn product(&self) -> String {
        self.0.product()
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::Serializable]
    }

    fn setting_name(&self, _: Setting) -> String {
        self.0.mode().to_owned()
    }

    fn promise(&self, _: Setting) -> Level {
        self.0.promise()
    }

    fn can(&self, workload: Workload) -> bool {
        match workload {
            Workload::Own => false,
            Workload::Predicates => self.0.can_scan(),
            _ => true,
        }
    }

    fn make(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let mut txn = self.0.begin(false)?;
        for number in registers {
            txn.put(register_key(number).as_bytes(), b"0")?;
        }
        txn.commit()
    }

    fn role(&self, session: u32) -> Role {
        match self.0.has_readers() && session % READERS == READERS - 1 {
            true => Role::Read,
            false => Role::All,
        }
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client>, DriverError> {
        let only_reads = self.role(session) == Role::Read;
        Ok(Box::new(KeyValueClient { store: self.0.clone(), only_reads, txn: None }))
    }
}

struct KeyValueClient<S> {
    store: S,
    only_reads: bool,
    txn: Option<Box<dyn Txn>>,
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

fn number(value: &[u8]) -> Option<i64> {
    text(value).parse().ok()
}

fn numbers(value: &[u8]) -> Vec<i64> {
    text(value).split(',').filter_map(|number| number.parse().ok()).collect()
}

/// A call, for explanations.
fn called(name: &str, arguments: &str) -> String {
    format!("{name}({arguments})")
}

fn read(text: String, values: impl Iterator<Item = Vec<String>>) -> Sent {
    let rows = values.map(|row| row.into_iter().map(Some).collect()).collect();
    Sent { text, rows: Some(rows) }
}

fn changed(text: String) -> Sent {
    Sent { text, rows: None }
}

impl<S: Store> KeyValueClient<S> {
    fn txn(&mut self) -> Result<&mut Box<dyn Txn>, DriverError> {
        self.txn.as_mut().ok_or_else(|| DriverError::Other("no transaction is open".to_owned()))
    }

    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, DriverError> {
        self.txn()?.get(key.as_bytes())
    }

    fn put(&mut self, key: &str, value: &str) -> Result<Sent, DriverError> {
        self.txn()?.put(key.as_bytes(), value.as_bytes())?;
        Ok(changed(called("put", &format!("{key}, {value}"))))
    }
}

impl<S: Store + Send> Client for KeyValueClient<S> {
    fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
        self.txn = Some(self.store.begin(self.only_reads)?);
        Ok(())
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        let key = register_key(register);
        let value = self.get(&key)?;
        let sent = read(called("get", &key), value.iter().map(|value| vec![text(value)]));
        Ok((value.as_deref().and_then(number), sent))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        self.put(&register_key(register), &value.to_string())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.txn.take().map_or(Ok(()), |txn| txn.commit())
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        self.txn.take().map_or(Ok(()), |txn| txn.rollback())
    }

    fn add(&mut self, register: u64) -> Result<(i64, Vec<Sent>), DriverError> {
        let (value, seen) = self.read(register)?;
        let value = value.unwrap_or(0) + 1;
        let written = self.write(register, value)?;
        Ok((value, vec![seen, written]))
    }

    fn read_list(&mut self, list: u64) -> Result<(Option<Vec<i64>>, Sent), DriverError> {
        let key = list_key(list);
        let value = self.get(&key)?.unwrap_or_default();
        let sent = read(called("get", &key), std::iter::once(vec![text(&value)]));
        Ok((Some(numbers(&value)), sent))
    }

    /// There is nothing that appends: the list is read and written.
    fn append(&mut self, list: u64, value: i64) -> Result<Sent, DriverError> {
        let key = list_key(list);
        let before = self.get(&key)?.unwrap_or_default();
        self.put(&key, &format!("{},{value}", text(&before)))
    }

    fn scan(&mut self, part: u64) -> Result<(Vec<(u64, i64)>, Sent), DriverError> {
        let beginning = part_key(part);
        let found = self.txn()?.scan(beginning.as_bytes())?;
        let row = |(key, value): &(Vec<u8>, Vec<u8>)| {
            Some((text(key).strip_prefix(&beginning)?.parse().ok()?, number(value)?))
        };
        let rows: Vec<(u64, i64)> = found.iter().filter_map(row).collect();
        let shown = rows.iter().map(|(row, value)| vec![row.to_string(), value.to_string()]);
        let sent = read(called("scan", &beginning), shown);
        Ok((rows, sent))
    }

    fn insert(&mut self, part: u64, row: u64, value: i64) -> Result<Sent, DriverError> {
        self.put(&row_key(part, row), &value.to_string())
    }

    fn delete(&mut self, part: u64, row: u64) -> Result<(bool, Sent), DriverError> {
        let key = row_key(part, row);
        let is_there = self.get(&key)?.is_some();
        if is_there {
            self.txn()?.remove(key.as_bytes())?;
        }
        Ok((is_there, changed(called("remove", &key))))
    }
}

/// Any error that is no transaction's lot.
pub fn other(error: impl std::fmt::Display) -> DriverError {
    DriverError::Other(error.to_string())
}
