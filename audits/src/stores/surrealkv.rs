//! SurrealKV: transactions in a snapshot, whose writes (and whose reads, if they are asked for so)
//! are checked when they commit.

use crate::kv::{Pairs, Store, Txn, other};
use seriatim_audit::DriverError;
use seriatim_isolation::Level;
use std::path::Path;
use std::sync::Arc;
use surrealkv::{Error, LSMIterator, Transaction, Tree, TreeBuilder};
use tokio::runtime::Runtime;

/// A tree of SurrealKV.
#[derive(Clone)]
pub struct SurrealKv {
    tree: Tree,
    runtime: Arc<Runtime>,
    /// Whether what is read is checked, too.
    checks_reads: bool,
}

impl SurrealKv {
    pub fn open(
        folder: &Path,
        runtime: &Arc<Runtime>,
        checks_reads: bool,
    ) -> Result<SurrealKv, DriverError> {
        let _inside = runtime.enter();
        let path = folder.join(if checks_reads { "surrealkv-checked" } else { "surrealkv" });
        let tree = TreeBuilder::new().with_path(path).build().map_err(other)?;
        Ok(SurrealKv { tree, runtime: Arc::clone(runtime), checks_reads })
    }
}

impl Store for SurrealKv {
    fn product(&self) -> String {
        "SurrealKV 1".to_owned()
    }

    fn mode(&self) -> &'static str {
        if self.checks_reads { "get_for_update" } else { "get" }
    }

    /// Its documentation: snapshot isolation; and a commit fails if what `get_for_update` has read
    /// was written since the transaction began, from which serializability follows.
    fn promise(&self) -> Level {
        if self.checks_reads { Level::Serializable } else { Level::SnapshotIsolation }
    }

    fn can_scan(&self) -> bool {
        !self.checks_reads
    }

    fn begin(&self, _: bool) -> Result<Box<dyn Txn>, DriverError> {
        let txn = self.tree.begin().map_err(other)?;
        let runtime = Arc::clone(&self.runtime);
        Ok(Box::new(SurrealKvTxn { txn, runtime, checks_reads: self.checks_reads }))
    }
}

struct SurrealKvTxn {
    txn: Transaction,
    runtime: Arc<Runtime>,
    checks_reads: bool,
}

fn failed(error: Error) -> DriverError {
    match error {
        Error::TransactionWriteConflict | Error::TransactionRetry => {
            DriverError::Refused(error.to_string())
        }
        error => other(error),
    }
}

impl Txn for SurrealKvTxn {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, DriverError> {
        let value = match self.checks_reads {
            true => self.txn.get_for_update(key),
            false => self.txn.get(key),
        };
        Ok(value.map_err(failed)?.map(|value| value.to_vec()))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), DriverError> {
        self.txn.set(key, value).map_err(failed)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), DriverError> {
        self.txn.delete(key).map_err(failed)
    }

    fn scan(&mut self, beginning: &[u8]) -> Result<Pairs, DriverError> {
        let mut end = beginning.to_vec();
        // The beginning ends with `/`, behind which comes `0`.
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        let mut rows = self.txn.range(beginning, end.as_slice()).map_err(failed)?;
        let mut found = Vec::new();
        let mut is_there = rows.seek_first().map_err(failed)?;
        while is_there {
            let value = rows.value().map_err(failed)?;
            found.push((rows.key().user_key().to_vec(), value.to_vec()));
            is_there = rows.next().map_err(failed)?;
        }
        Ok(found)
    }

    fn commit(mut self: Box<Self>) -> Result<(), DriverError> {
        self.runtime.block_on(self.txn.commit()).map_err(failed)
    }

    fn rollback(mut self: Box<Self>) -> Result<(), DriverError> {
        self.txn.rollback();
        Ok(())
    }
}
