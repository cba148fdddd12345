//! Redis, and whatever speaks its protocol. A transaction reads at once and keeps its writes for
//! MULTI and EXEC. With WATCH, EXEC does nothing if one of the keys that were read has changed
//! since: that is how transactions of Redis are serializable. Without it they are not.

use super::{Client, Driver, DriverError, Sent, silent};
use crate::setting::Setting;
use crate::url::without_password;
use crate::workload::{ROWS_OF_PART, Workload, rows_of};
use ::redis::{Cmd, Connection, Value, cmd};
use seriatim_isolation::Level;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// How long to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a command may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How many keys are looked at, and taken away, at a time.
const KEYS_MAX: usize = 1000;

/// A server of Redis.
#[derive(Clone, Debug)]
pub struct Redis {
    client: ::redis::Client,
    /// What people may see of the address.
    shown: String,
    product: String,
    prefix: String,
}

impl Redis {
    /// The server at an address, in which keys begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<Redis, DriverError> {
        let shown = without_password(url);
        let client = ::redis::Client::open(url)
            .map_err(|error| DriverError::Connect(shown.clone(), error.to_string()))?;
        let prefix = prefix.to_owned();
        let mut redis = Redis { client, shown, product: String::new(), prefix };
        let info: String = cmd("INFO").arg("server").query(&mut redis.conn()?).map_err(failed)?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        redis.product = format!("Redis {}", version.unwrap_or_default().trim());
        Ok(redis)
    }

    fn conn(&self) -> Result<Connection, DriverError> {
        let connect = |error: ::redis::RedisError| {
            let text = if error.is_timeout() { silent(CONNECT_MAX) } else { error.to_string() };
            DriverError::Connect(self.shown.clone(), text)
        };
        let conn = self.client.get_connection_with_timeout(CONNECT_MAX).map_err(connect)?;
        conn.set_read_timeout(Some(ANSWER_MAX)).map_err(connect)?;
        conn.set_write_timeout(Some(ANSWER_MAX)).map_err(connect)?;
        Ok(conn)
    }

    fn remove(&self, conn: &mut Connection, keys: &[String]) -> Result<(), DriverError> {
        for keys in keys.chunks(KEYS_MAX) {
            cmd("DEL").arg(keys).exec(conn).map_err(failed)?;
        }
        Ok(())
    }
}

impl Driver for Redis {
    fn product(&self) -> String {
        self.product.clone()
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::ReadCommitted, Setting::Serializable]
    }

    fn setting_name(&self, setting: Setting) -> String {
        match setting {
            Setting::Serializable => "WATCH, MULTI/EXEC".to_owned(),
            _ => "MULTI/EXEC".to_owned(),
        }
    }

    fn promise(&self, setting: Setting) -> Level {
        match setting {
            Setting::Serializable => Level::Serializable,
            _ => Level::ReadCommitted,
        }
    }

    fn can(&self, workload: Workload) -> bool {
        // What INCR returns is known when EXEC has been, and no statement is SQL.
        !matches!(workload, Workload::Counters | Workload::Own)
    }

    fn make(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let mut conn = self.conn()?;
        for register in registers {
            let key = format!("{}_register:{register}", self.prefix);
            cmd("SET").arg(key).arg(0).exec(&mut conn).map_err(failed)?;
        }
        Ok(())
    }

    fn retire(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let prefix = &self.prefix;
        let rows = rows_of(&registers);
        let own = registers
            .flat_map(|it| [format!("{prefix}_register:{it}"), format!("{prefix}_list:{it}")]);
        let mut keys: Vec<String> = own.collect();
        // Of the parts of the table only those are there that were used.
        let mut conn = self.conn()?;
        let parts = rows.start / ROWS_OF_PART..rows.end / ROWS_OF_PART;
        for key in all_keys(&mut conn, &format!("{prefix}_part:*"))? {
            let number = key.rsplit(':').next().and_then(|number| number.parse().ok());
            if number.is_some_and(|number: u64| parts.contains(&number)) {
                keys.push(key);
            }
        }
        self.remove(&mut conn, &keys)
    }

    fn clean_up(&self) -> Result<(), DriverError> {
        let mut conn = self.conn()?;
        let keys = all_keys(&mut conn, &format!("{}_*", self.prefix))?;
        self.remove(&mut conn, &keys)
    }

    fn connect(&self, _: u32) -> Result<Box<dyn Client>, DriverError> {
        Ok(Box::new(RedisClient {
            conn: self.conn()?,
            prefix: self.prefix.clone(),
            watches: true,
            writes: Vec::new(),
            written: BTreeMap::new(),
        }))
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// The keys of a pattern.
fn all_keys(conn: &mut Connection, pattern: &str) -> Result<Vec<String>, DriverError> {
    let mut found = Vec::new();
    let mut cursor: u64 = 0;
    loop {
        let (next, keys): (u64, Vec<String>) = cmd("SCAN")
            .arg(cursor)
            .arg("MATCH")
            .arg(pattern)
            .arg("COUNT")
            .arg(KEYS_MAX)
            .query(conn)
            .map_err(failed)?;
        found.extend(keys);
        cursor = next;
        if cursor == 0 {
            return Ok(found);
        }
    }
}

struct RedisClient {
    conn: Connection,
    prefix: String,
    watches: bool,
    /// What EXEC is to do.
    writes: Vec<Cmd>,
    /// What registers will hold then.
    written: BTreeMap<u64, i64>,
}

impl RedisClient {
    fn watch(&mut self, key: &str) -> Result<(), DriverError> {
        if !self.watches {
            return Ok(());
        }
        cmd("WATCH").arg(key).exec(&mut self.conn).map_err(failed)
    }

    fn queue(&mut self, writes: &[Cmd]) -> Result<(), DriverError> {
        cmd("MULTI").exec(&mut self.conn).map_err(failed)?;
        writes.iter().try_for_each(|command| command.exec(&mut self.conn).map_err(failed))
    }

    /// Keeps a command for EXEC.
    fn later(&mut self, command: Cmd, text: String) -> Sent {
        self.writes.push(command);
        Sent { text, rows: None }
    }

    fn part(&self, part: u64) -> String {
        format!("{}_part:{part}", self.prefix)
    }
}

/// Rows of one value each.
fn rows(values: impl Iterator<Item = String>) -> Option<Vec<Vec<Option<String>>>> {
    Some(values.map(|value| vec![Some(value)]).collect())
}

impl Client for RedisClient {
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError> {
        self.watches = setting == Setting::Serializable;
        self.writes.clear();
        self.written.clear();
        Ok(())
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        let key = format!("{}_register:{register}", self.prefix);
        if let Some(&value) = self.written.get(&register) {
            let text = format!("(SET {key} {value} of this transaction)");
            return Ok((Some(value), Sent { text, rows: rows([value.to_string()].into_iter()) }));
        }
        self.watch(&key)?;
        let value: Option<i64> = cmd("GET").arg(&key).query(&mut self.conn).map_err(failed)?;
        let rows = rows(value.iter().map(ToString::to_string));
        Ok((value, Sent { text: format!("GET {key}"), rows }))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        let key = format!("{}_register:{register}", self.prefix);
        let mut command = cmd("SET");
        command.arg(&key).arg(value);
        self.written.insert(register, value);
        Ok(self.later(command, format!("SET {key} {value}")))
    }

    /// A list without elements is the same as none.
    fn read_list(&mut self, list: u64) -> Result<(Option<Vec<i64>>, Sent), DriverError> {
        let key = format!("{}_list:{list}", self.prefix);
        self.watch(&key)?;
        let values: Vec<i64> =
            cmd("LRANGE").arg(&key).arg(0).arg(-1).query(&mut self.conn).map_err(failed)?;
        let rows = rows(values.iter().map(ToString::to_string));
        Ok((Some(values), Sent { text: format!("LRANGE {key} 0 -1"), rows }))
    }

    fn append(&mut self, list: u64, value: i64) -> Result<Sent, DriverError> {
        let key = format!("{}_list:{list}", self.prefix);
        let mut command = cmd("RPUSH");
        command.arg(&key).arg(value);
        Ok(self.later(command, format!("RPUSH {key} {value}")))
    }

    fn scan(&mut self, part: u64) -> Result<(Vec<(u64, i64)>, Sent), DriverError> {
        let key = self.part(part);
        self.watch(&key)?;
        let found: BTreeMap<u64, i64> =
            cmd("HGETALL").arg(&key).query(&mut self.conn).map_err(failed)?;
        let rows = rows(found.iter().map(|(row, value)| format!("{row}: {value}")));
        Ok((found.into_iter().collect(), Sent { text: format!("HGETALL {key}"), rows }))
    }

    fn insert(&mut self, part: u64, row: u64, value: i64) -> Result<Sent, DriverError> {
        let key = self.part(part);
        let mut command = cmd("HSET");
        command.arg(&key).arg(row).arg(value);
        Ok(self.later(command, format!("HSET {key} {row} {value}")))
    }

    fn delete(&mut self, part: u64, row: u64) -> Result<(bool, Sent), DriverError> {
        let key = self.part(part);
        self.watch(&key)?;
        let is_there: bool =
            cmd("HEXISTS").arg(&key).arg(row).query(&mut self.conn).map_err(failed)?;
        // What is not there is not deleted, not even if it is there by the time of EXEC.
        if !is_there {
            let text = format!("HEXISTS {key} {row}");
            return Ok((false, Sent { text, rows: rows(["0".to_owned()].into_iter()) }));
        }
        let mut command = cmd("HDEL");
        command.arg(&key).arg(row);
        Ok((true, self.later(command, format!("HDEL {key} {row}"))))
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        let writes = std::mem::take(&mut self.writes);
        if writes.is_empty() && !self.watches {
            return Ok(());
        }
        if let Err(error) = self.queue(&writes) {
            // A command that cannot be queued spoils the transaction, which has no effect then. It
            // is open until somebody says that it is over.
            let discarded = cmd("DISCARD").exec(&mut self.conn).map_err(failed);
            return Err(match (discarded, error) {
                (Err(lost @ DriverError::Lost(_)), _) | (_, lost @ DriverError::Lost(_)) => lost,
                (_, other) => DriverError::Refused(other.to_string()),
            });
        }
        match cmd("EXEC").query::<Value>(&mut self.conn).map_err(failed)? {
            Value::Nil => Err(DriverError::Refused("a watched key has changed".to_owned())),
            _ => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        self.writes.clear();
        cmd("UNWATCH").exec(&mut self.conn).map_err(failed)
    }
}

fn failed(error: ::redis::RedisError) -> DriverError {
    let text = if error.is_timeout() { silent(ANSWER_MAX) } else { error.to_string() };
    if error.is_io_error() || error.is_timeout() || error.is_connection_dropped() {
        return DriverError::Lost(text);
    }
    // Servers that load, and replicas that have lost their primary, refuse for a while.
    match error.code() {
        Some("LOADING" | "MASTERDOWN" | "TRYAGAIN" | "EXECABORT") => DriverError::Refused(text),
        _ => DriverError::Other(text),
    }
}
