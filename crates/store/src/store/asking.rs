//! A person as the chooser. A chooser answers while the store is locked, and a person takes long:
//! so a read that has a choice first asks, with the store unlocked, and then is done with the
//! answer, if the level still allows that version. If nobody answered, or if it does not any more,
//! the read returns the latest version.

use super::{Inner, Shared, Store, StoreError, Txn, value};
use crate::chooser::TxnName;
use crate::past::INITIAL;
use seriatim_history::StatementContent;
use std::fmt;
use std::sync::{Arc, MutexGuard};

/// Somebody who is asked which version a read returns.
pub trait Asker: Send + Sync {
    /// Waits for an answer: the writer of the version, `None` inside for the initial one. `None` if
    /// there is no answer. The store is not locked meanwhile, but the session waits.
    fn ask(&self, question: Question) -> Option<Option<TxnName>>;
}

/// A read that has a choice.
#[derive(Clone, Debug)]
pub struct Question {
    /// The transaction that reads.
    pub reader: TxnName,
    /// The key.
    pub key: String,
    /// What it may read, in the order of the commits: the writers, `None` for the initial version,
    /// with the values, `None` if the key holds nothing.
    pub versions: Vec<(Option<TxnName>, Option<String>)>,
    /// The statement that reads.
    pub statement: Option<Arc<StatementContent>>,
}

/// An asker, and what was answered to the read that comes next.
#[derive(Default)]
pub(super) struct Asking {
    asker: Option<Arc<dyn Asker>>,
    /// The transaction and the key of the read, and the writer.
    answer: Option<(u32, u32, Option<TxnName>)>,
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asking({})", self.asker.is_some())
    }
}

impl Asking {
    /// The writer that was named for a read, if one was.
    pub fn take(&mut self, txn: u32, key: u32) -> Option<Option<TxnName>> {
        let (of, what, writer) = self.answer.take()?;
        (of == txn && what == key).then_some(writer)
    }
}

impl<V> Store<V> {
    /// From now on reads that have a choice ask; those that get no answer return the latest
    /// version.
    pub fn set_asker(&self, asker: Arc<dyn Asker>) {
        self.0.lock().asking.asker = Some(asker);
    }
}

impl<V> Inner<V> {
    /// What to ask before a read, if it has a choice.
    fn question(&mut self, txn: u32, key: u32) -> Option<(Arc<dyn Asker>, Question)> {
        let asker = Arc::clone(self.asking.asker.as_ref()?);
        let reader = self.txn_names[txn as usize];
        let reads_latest = self.clients[reader.session as usize].reads_latest;
        if reads_latest || self.engine.log.writes(txn, key) {
            return None;
        }
        self.need_snapshot(txn);
        let sources = self.engine.admissible(txn, key);
        if sources.len() < 2 {
            return None;
        }
        let version = |&source: &u32| {
            let writer = (source != INITIAL).then(|| self.txn_names[source as usize]);
            (writer, (self.shown)(value(&self.initial, &self.events, source, key)))
        };
        let question = Question {
            reader,
            key: self.names.shown(key).to_string(),
            versions: sources.iter().map(version).collect(),
            statement: self.events[txn as usize].last_statement().cloned(),
        };
        Some((asker, question))
    }
}

impl<V> Txn<V> {
    /// Asks about the read that comes next, if there is somebody to ask and something to choose.
    pub(super) fn asked<'s>(
        &self,
        shared: &'s Shared<V>,
        mut inner: MutexGuard<'s, Inner<V>>,
        key: u32,
    ) -> Result<MutexGuard<'s, Inner<V>>, StoreError> {
        let Some((asker, question)) = inner.question(self.number, key) else { return Ok(inner) };
        drop(inner);
        let answer = asker.ask(question);
        let mut inner = shared.lock();
        if self.ended || !inner.is_open(self.name.session, self.number) {
            return Err(StoreError::Ended);
        }
        inner.asking.answer = answer.map(|writer| (self.number, key, writer));
        Ok(inner)
    }
}
