//! redb: one transaction writes at a time, and those that read see a snapshot.

use crate::kv::{Pairs, Store, Txn, other};
use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use seriatim_audit::DriverError;
use seriatim_isolation::Level;
use std::path::Path;
use std::sync::Arc;

const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new("all");

/// A file of redb.
#[derive(Clone)]
pub struct Redb(Arc<Database>);

impl Redb {
    pub fn open(folder: &Path) -> Result<Redb, DriverError> {
        let database = Database::create(folder.join("redb")).map_err(other)?;
        let txn = database.begin_write().map_err(other)?;
        txn.open_table(TABLE).map_err(other)?;
        txn.commit().map_err(other)?;
        Ok(Redb(Arc::new(database)))
    }
}

impl Store for Redb {
    fn product(&self) -> String {
        "redb 4".to_owned()
    }

    fn mode(&self) -> &'static str {
        "reads in a snapshot, writes one at a time"
    }

    /// Its documentation: transactions are serializable.
    fn promise(&self) -> Level {
        Level::Serializable
    }

    fn can_scan(&self) -> bool {
        true
    }

    fn has_readers(&self) -> bool {
        true
    }

    fn begin(&self, only_reads: bool) -> Result<Box<dyn Txn>, DriverError> {
        Ok(match only_reads {
            true => Box::new(Reader(self.0.begin_read().map_err(other)?)),
            false => Box::new(Writer(self.0.begin_write().map_err(other)?)),
        })
    }
}

struct Reader(ReadTransaction);

struct Writer(WriteTransaction);

fn get(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &[u8],
) -> Result<Option<Vec<u8>>, DriverError> {
    Ok(table.get(key).map_err(other)?.map(|value| value.value().to_vec()))
}

fn scan(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
    beginning: &[u8],
) -> Result<Pairs, DriverError> {
    let mut found = Vec::new();
    for pair in table.range(beginning..).map_err(other)? {
        let (key, value) = pair.map_err(other)?;
        if !key.value().starts_with(beginning) {
            break;
        }
        found.push((key.value().to_vec(), value.value().to_vec()));
    }
    Ok(found)
}

impl Txn for Reader {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, DriverError> {
        get(&self.0.open_table(TABLE).map_err(other)?, key)
    }

    fn put(&mut self, _: &[u8], _: &[u8]) -> Result<(), DriverError> {
        Err(DriverError::unable("writes in a transaction that only reads"))
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), DriverError> {
        self.put(key, &[])
    }

    fn scan(&mut self, beginning: &[u8]) -> Result<Pairs, DriverError> {
        scan(&self.0.open_table(TABLE).map_err(other)?, beginning)
    }

    fn commit(self: Box<Self>) -> Result<(), DriverError> {
        self.0.close().map_err(other)
    }

    fn rollback(self: Box<Self>) -> Result<(), DriverError> {
        self.commit()
    }
}

impl Txn for Writer {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, DriverError> {
        get(&self.0.open_table(TABLE).map_err(other)?, key)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), DriverError> {
        let mut table = self.0.open_table(TABLE).map_err(other)?;
        table.insert(key, value).map(drop).map_err(other)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), DriverError> {
        let mut table = self.0.open_table(TABLE).map_err(other)?;
        table.remove(key).map(drop).map_err(other)
    }

    fn scan(&mut self, beginning: &[u8]) -> Result<Pairs, DriverError> {
        scan(&self.0.open_table(TABLE).map_err(other)?, beginning)
    }

    fn commit(self: Box<Self>) -> Result<(), DriverError> {
        self.0.commit().map_err(other)
    }

    fn rollback(self: Box<Self>) -> Result<(), DriverError> {
        self.0.abort().map_err(other)
    }
}
