//! A prediction as data: the predicted history, where it differs from the observed one, and why it
//! is not serializable.

use crate::confirm::Outlook;
use crate::question::Boundary;
use seriatim_check::{OpRef, TxnRef, ValueRef, Violation};
use seriatim_history::{History, OpId, TxnId};
use seriatim_isolation::Level;

/// A history that the application could have had at the level, and that is not serializable.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The level that allows it.
    pub level: Level,
    /// Where its sessions end.
    pub boundary: Boundary,
    /// The history: events only (reads of own writes, and writes that their transaction overwrites,
    /// are left out).
    pub history: History,
    /// The reads that have another writer than observed.
    pub changed: Vec<ChangedRead>,
    /// Whether the transactions that it cuts can go on.
    pub outlook: Outlook,
    /// Where each session ends.
    pub sessions: Vec<SessionEnd>,
    /// Why it is not serializable; its operations are numbered as in `history`. `None` only if that
    /// was too hard to explain.
    pub violation: Option<Violation>,
    /// The transactions that a person should look at, as they were and as they are predicted.
    pub shown: Vec<ShownTxn>,
    /// What is predicted, transaction by transaction, for callers that want to run it.
    pub plan: Vec<PlannedTxn>,
    /// For each operation of `history` its number in the observed history.
    pub(crate) observed: Vec<OpId>,
    /// Reads of the cycle and their writers, by numbers of the observed history.
    pub(crate) cycle_reads: Vec<(OpId, Option<TxnId>)>,
}

impl Prediction {
    /// The number in the observed history of an operation of the predicted one.
    pub fn observed_op(&self, op: OpId) -> Option<OpId> {
        self.observed.get(op.index()).copied()
    }

    /// The reads that the explanation rests on, with their writers, by numbers of the observed
    /// history.
    pub(crate) fn cycle_reads(&self) -> Vec<(OpId, Option<TxnId>)> {
        self.cycle_reads.clone()
    }
}

/// A read that has another writer than observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRead {
    /// The read, in the observed history.
    pub read: OpRef,
    /// The transaction that it read from in the observed history; the initial transaction has no
    /// id.
    pub observed: TxnRef,
    /// The transaction that it reads from in the prediction.
    pub predicted: TxnRef,
    /// What it returns in the prediction.
    pub value: ValueRef,
}

/// How much of a transaction is left in a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// All of it.
    Whole,
    /// Its first events.
    Partial,
    /// Nothing.
    CutOff,
}

/// A transaction of the explanation or on a boundary, beside what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTxn {
    /// The transaction.
    pub txn: TxnRef,
    /// How much of it is left.
    pub fate: Fate,
    /// Its events that matter, in program order.
    pub events: Vec<ShownEvent>,
}

/// An event beside what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEvent {
    /// As it was.
    pub observed: OpRef,
    /// The transaction that it read from, if it is a read.
    pub observed_from: Option<TxnRef>,
    /// The transaction that it reads from in the prediction, if it is a read that is kept.
    pub predicted_from: Option<TxnRef>,
    /// What it reads or writes in the prediction, if it is kept.
    pub predicted_value: Option<ValueRef>,
}

impl ShownEvent {
    /// Whether it is a read that has another writer than observed.
    pub fn is_changed(&self) -> bool {
        self.predicted_from.as_ref().is_some_and(|from| Some(from) != self.observed_from.as_ref())
    }
}

/// A transaction by the number of its session and its place there, in the observed history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnPlace {
    /// The number of the session.
    pub session: u32,
    /// Its place among all transactions of the session, aborted ones included, from 0.
    pub index: u32,
}

/// A transaction of a prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTxn {
    /// Which one.
    pub txn: TxnPlace,
    /// Its name.
    pub name: String,
    /// When it began in the observed run, in the unit of the input, if that is known.
    pub begun: Option<i64>,
    /// Whether all of it is kept.
    pub whole: bool,
    /// Whether the prediction needs it: it has changed reads, is part of the explanation, or
    /// happens before such a one.
    pub needed: bool,
    /// Whether it aborted in the observed run; it is no part of the prediction then, but runs in
    /// its place.
    pub aborted: bool,
    /// Its events, in program order.
    pub events: Vec<Planned>,
}

/// An event of a prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// A read.
    Read {
        /// The key.
        key: String,
        /// The transaction that it reads from; `None` for the initial state.
        from: Option<TxnPlace>,
    },
    /// A write.
    Write {
        /// The key.
        key: String,
    },
}

/// Where a session ends in the prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The name of the session.
    pub session: String,
    /// How many of its transactions are kept whole.
    pub whole: usize,
    /// Where it is cut, if it is.
    pub cut: Option<Cut>,
    /// The transactions of which nothing is kept.
    pub cut_off: Vec<TxnRef>,
}

/// Why and where a session is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// This read, its last event, has another writer: what the application does then is not known.
    AtRead(OpRef),
    /// This read is its last event, although it is as observed and the transaction would go on.
    Short(OpRef),
    /// Reads of this transaction have other writers: what comes after it is not known.
    AtTxn(TxnRef),
    /// Nothing has another writer, but what comes after this transaction (or anything at all) would
    /// not fit: it happens after another session's boundary, or the level does not allow it
    /// together with the changed reads.
    After(Option<TxnRef>),
}
