//! What is to be run: the transactions of a prediction, and an order for them.

use crate::error::PlanError;
use serde::Deserialize;
use seriatim_store::{Choice, TxnName};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// A transaction of a prediction, as `seriatim predict` writes it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct PlannedTxn {
    /// The number of its session.
    pub session: u32,
    /// Its place in the session, aborted transactions included.
    pub index: u32,
    /// What it was called in the observed run, if the file says so.
    #[serde(default)]
    pub name: Option<String>,
    /// When it began in the observed run, if the file says so.
    #[serde(default)]
    pub begun: Option<i64>,
    /// Whether all of it is predicted.
    pub whole: bool,
    /// Whether the prediction needs it to run.
    pub needed: bool,
    /// Whether it aborted in the observed run.
    pub aborted: bool,
    /// What it reads and writes.
    pub events: Vec<PlannedEvent>,
}

/// An event of a prediction.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum PlannedEvent {
    /// A read.
    Read {
        /// The key.
        read: String,
        /// The transaction that it reads from; nothing for the initial state.
        from: Option<Writer>,
    },
    /// A write.
    Write {
        /// The key.
        write: String,
    },
}

impl PlannedEvent {
    /// The writer that it reads from, if it reads from a transaction.
    pub fn writer_mut(&mut self) -> Option<&mut Writer> {
        match self {
            PlannedEvent::Read { from, .. } => from.as_mut(),
            PlannedEvent::Write { .. } => None,
        }
    }
}

/// A transaction that is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Writer {
    /// The number of its session.
    pub session: u32,
    /// Its place in the session.
    pub index: u32,
}

impl From<Writer> for TxnName {
    fn from(writer: Writer) -> TxnName {
        TxnName { session: writer.session, txn: writer.index }
    }
}

impl PlannedTxn {
    /// Its session and its number there.
    pub fn txn(&self) -> TxnName {
        TxnName { session: self.session, txn: self.index }
    }

    /// What it reads, and from whom.
    pub fn reads(&self) -> impl Iterator<Item = (&str, Option<TxnName>)> {
        self.events.iter().filter_map(|event| match event {
            PlannedEvent::Read { read, from } => Some((read.as_str(), from.map(TxnName::from))),
            PlannedEvent::Write { .. } => None,
        })
    }

    /// What it writes.
    pub fn writes(&self) -> BTreeSet<&str> {
        let writes = self.events.iter().filter_map(|event| match event {
            PlannedEvent::Write { write } => Some(write.as_str()),
            PlannedEvent::Read { .. } => None,
        });
        writes.collect()
    }
}

/// Whether `plan` can be one for an application with so many clients.
pub(super) fn check(plan: &[PlannedTxn], clients: usize) -> Result<(), PlanError> {
    if !plan.iter().any(|txn| txn.needed) {
        return Err(PlanError::Empty);
    }
    let mut seen = BTreeSet::new();
    for txn in plan {
        let session = txn.session;
        if session as usize >= clients {
            return Err(PlanError::UnknownSession { session, clients });
        }
        if !seen.insert(txn.txn()) {
            return Err(PlanError::Twice(txn.txn()));
        }
    }
    Ok(())
}

/// The choices that the reads of a transaction should make.
pub(super) fn choices(txn: &PlannedTxn) -> Vec<Choice> {
    let choice = |(number, (key, writer)): (usize, (&str, Option<TxnName>))| Choice {
        reader: txn.txn(),
        read: number as u32,
        key: key.to_owned(),
        writer,
        latest: false,
    };
    txn.reads().enumerate().map(choice).collect()
}

/// The needed transactions in an order that extends session order and who reads from whom; the
/// first that may come is the one that began first in the observed run, because numbers of
/// sequences are drawn in that order, else the one of the session that is furthest behind: the
/// order is always the same.
pub fn order(plan: &[PlannedTxn]) -> Result<Vec<TxnName>, PlanError> {
    let needed: Vec<&PlannedTxn> = plan.iter().filter(|txn| txn.needed).collect();
    let names: BTreeSet<TxnName> = needed.iter().map(|txn| txn.txn()).collect();
    let mut sessions: HashMap<u32, VecDeque<&PlannedTxn>> = HashMap::new();
    for &txn in &needed {
        sessions.entry(txn.session).or_default().push_back(txn);
    }
    for txns in sessions.values_mut() {
        txns.make_contiguous().sort_by_key(|txn| txn.index);
    }
    let mut done: BTreeSet<TxnName> = BTreeSet::new();
    let mut order = Vec::with_capacity(needed.len());
    while order.len() < needed.len() {
        let is_ready = |txn: &PlannedTxn| {
            let writers = txn.reads().filter_map(|read| read.1);
            writers.filter(|writer| names.contains(writer)).all(|writer| done.contains(&writer))
        };
        let mut heads: Vec<&PlannedTxn> =
            sessions.values().filter_map(|txns| txns.front().copied()).collect();
        heads.sort_by_key(|txn| (txn.begun, txn.index, txn.session));
        // What aborts waits for its writers only if they do not wait for what follows it.
        let ready =
            heads.iter().find(|txn| is_ready(txn)).or_else(|| heads.iter().find(|txn| txn.aborted));
        let next = ready.ok_or(PlanError::Circle)?.txn();
        if let Some(txns) = sessions.get_mut(&next.session) {
            txns.pop_front();
        }
        done.insert(next);
        order.push(next);
    }
    Ok(order)
}
