//! A person as the chooser. A chooser answers while the store is locked, and a person takes long:
//! so a read that has a choice first asks, with the store unlocked, and then is done with the
//! answer, if the level still allows that version. If nobody answered, or if it does not any more,
//! the read returns the latest version.

use super::{Inner, Shared, Store, StoreError, Txn, value};
use crate::chooser::TxnName;
use crate::past::INITIAL;
use crate::recorded::Recorded;
use seriatim_history::StatementContent;
use std::fmt;
use std::sync::{Arc, MutexGuard};

/// Versions that a question has, and characters of a value.
const VERSIONS_MAX: usize = 50;
const CHARS_MAX: usize = 300;

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
    /// with the values, `None` if the key holds nothing. Only the newest ones, and of long values
    /// the beginning.
    pub versions: Vec<(Option<TxnName>, Option<String>)>,
    /// How many older versions it may read.
    pub versions_before: usize,
    /// The statement that reads.
    pub statement: Option<Arc<StatementContent>>,
    /// The same for all questions of one statement of this transaction, and for no others.
    pub statement_number: u64,
}

/// A question, and who is asked.
pub(super) struct OpenQuestion {
    asker: Arc<dyn Asker>,
    question: Question,
    /// The number of the key.
    key: u32,
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

    /// The read that was asked about is not done.
    pub fn forget(&mut self) {
        self.answer = None;
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
    pub(super) fn question(&mut self, txn: u32, key: u32) -> Option<OpenQuestion> {
        let asker = Arc::clone(self.asking.asker.as_ref()?);
        let reader = self.txn_names[txn as usize];
        let client = &self.clients[reader.session as usize];
        if client.reads_latest || self.engine.log.writes(txn, key) {
            return None;
        }
        self.need_snapshot(txn);
        let statement_number = self.clients[reader.session as usize].statements;
        let sources = self.engine.admissible(txn, key);
        if sources.len() < 2 {
            return None;
        }
        let versions_before = sources.len().saturating_sub(VERSIONS_MAX);
        let version = |&source: &u32| {
            let writer = (source != INITIAL).then(|| self.txn_names[source as usize]);
            let shown = (self.shown)(value(&self.initial, &self.events, source, key));
            (writer, shown.map(beginning))
        };
        let question = Question {
            reader,
            key: self.names.shown(key).to_string(),
            versions: sources[versions_before..].iter().map(version).collect(),
            versions_before,
            statement: self.events[txn as usize].last_statement().cloned(),
            statement_number,
        };
        Some(OpenQuestion { asker, question, key })
    }
}

fn beginning(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(CHARS_MAX) {
        text.truncate(end);
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

impl<V> Txn<V> {
    /// Asks about the read that comes next, with the store unlocked.
    pub(super) fn ask<'s>(
        &self,
        shared: &'s Shared<V>,
        mut inner: MutexGuard<'s, Inner<V>>,
        open: OpenQuestion,
    ) -> Result<MutexGuard<'s, Inner<V>>, StoreError> {
        let OpenQuestion { asker, question, key } = open;
        inner.events[self.number as usize].push(Recorded::Asked);
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
