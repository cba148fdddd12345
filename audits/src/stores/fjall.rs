//! fjall: optimistic transactions, which are checked when they commit.

use crate::kv::{Pairs, Store, Txn, other};
use fjall::{
    KeyspaceCreateOptions, OptimisticTxDatabase, OptimisticTxKeyspace, OptimisticWriteTx, Readable,
};
use seriatim_audit::DriverError;
use seriatim_isolation::Level;
use std::path::Path;

/// A database of fjall.
#[derive(Clone)]
pub struct Fjall {
    database: OptimisticTxDatabase,
    keys: OptimisticTxKeyspace,
}

impl Fjall {
    pub fn open(folder: &Path) -> Result<Fjall, DriverError> {
        let database = OptimisticTxDatabase::builder(folder.join("fjall")).open().map_err(other)?;
        let keys = database.keyspace("all", KeyspaceCreateOptions::default).map_err(other)?;
        Ok(Fjall { database, keys })
    }
}

impl Store for Fjall {
    fn product(&self) -> String {
        "fjall 3".to_owned()
    }

    fn mode(&self) -> &'static str {
        "optimistic"
    }

    /// Its documentation: serializable transactions.
    fn promise(&self) -> Level {
        Level::Serializable
    }

    fn can_scan(&self) -> bool {
        true
    }

    fn begin(&self, _: bool) -> Result<Box<dyn Txn>, DriverError> {
        let txn = self.database.write_tx().map_err(other)?;
        Ok(Box::new(FjallTxn { txn, keys: self.keys.clone() }))
    }
}

struct FjallTxn {
    txn: OptimisticWriteTx,
    keys: OptimisticTxKeyspace,
}

impl Txn for FjallTxn {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, DriverError> {
        let value = self.txn.get(&self.keys, key).map_err(other)?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), DriverError> {
        self.txn.insert(&self.keys, key, value);
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), DriverError> {
        self.txn.remove(&self.keys, key);
        Ok(())
    }

    fn scan(&mut self, beginning: &[u8]) -> Result<Pairs, DriverError> {
        let pair = |guard: fjall::Guard| {
            let (key, value) = guard.into_inner().map_err(other)?;
            Ok((key.to_vec(), value.to_vec()))
        };
        self.txn.prefix(&self.keys, beginning).map(pair).collect()
    }

    fn commit(self: Box<Self>) -> Result<(), DriverError> {
        let checked = self.txn.commit().map_err(other)?;
        checked.map_err(|conflict| DriverError::Refused(conflict.to_string()))
    }

    fn rollback(self: Box<Self>) -> Result<(), DriverError> {
        self.txn.rollback();
        Ok(())
    }
}
