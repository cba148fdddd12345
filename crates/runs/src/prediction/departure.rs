//! Where a run is not as it was predicted.

use super::plan::PlannedTxn;
use seriatim_history::{History, OpId, OpKind, Status, TxnId};
use seriatim_store::{Choice, TxnName};
use std::collections::{BTreeSet, HashMap};

/// Where a run left a prediction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanDeparture {
    /// It reads something else.
    OtherKey {
        /// The transaction.
        txn: TxnName,
        /// What it reads.
        found: String,
        /// What was predicted.
        expected: String,
    },
    /// It reads from another transaction than predicted.
    OtherWriter {
        /// The transaction.
        txn: TxnName,
        /// What it reads.
        key: String,
        /// The transaction that it reads from.
        found: Option<TxnName>,
        /// The transaction that it was predicted to read from.
        expected: Option<TxnName>,
    },
    /// It reads more or less than predicted.
    OtherReads {
        /// The transaction.
        txn: TxnName,
        /// How often it reads.
        found: usize,
        /// How often was predicted.
        expected: usize,
    },
    /// It writes other keys.
    OtherWrites {
        /// The transaction.
        txn: TxnName,
        /// A key that only one of them writes.
        key: String,
    },
    /// It aborted, or did not run at all.
    NotCommitted {
        /// The transaction.
        txn: TxnName,
    },
}

impl PlanDeparture {
    /// It as a clause, in which `called` says what a transaction is called.
    pub fn told(&self, called: impl Fn(TxnName) -> String) -> String {
        let writer = |txn: &Option<TxnName>| txn.map_or("the initial state".to_owned(), &called);
        match self {
            PlanDeparture::OtherKey { txn, found, expected } => {
                format!("{} reads {found} where {expected} was predicted", called(*txn))
            }
            PlanDeparture::OtherWriter { txn, key, found, expected } => {
                let (found, expected) = (writer(found), writer(expected));
                format!("{} reads {key} from {found} instead of {expected}", called(*txn))
            }
            PlanDeparture::OtherReads { txn, found, expected } => format!(
                "{} reads {found} times from others, and {expected} reads were predicted",
                called(*txn)
            ),
            PlanDeparture::OtherWrites { txn, key } => {
                format!("{} writes other keys than predicted, among them {key}", called(*txn))
            }
            PlanDeparture::NotCommitted { txn } => format!("{} does not commit", called(*txn)),
        }
    }
}

impl std::fmt::Display for PlanDeparture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let called = |txn: TxnName| format!("transaction {} of session {}", txn.txn, txn.session);
        f.write_str(&self.told(called))
    }
}

/// The first point at which a run left its plan: a read, else what a transaction wrote or how it
/// ended.
pub(super) fn find(
    plan: &[PlannedTxn],
    choices: &[Choice],
    history: &History,
) -> Option<PlanDeparture> {
    // What a transaction read that aborts again does not matter.
    let lasting = plan.iter().filter(|txn| !txn.aborted);
    let planned: HashMap<TxnName, &PlannedTxn> = lasting.map(|txn| (txn.txn(), txn)).collect();
    let by_read =
        choices.iter().find_map(|choice| wrong_read(planned.get(&choice.reader)?, choice));
    let mut needed = plan.iter().filter(|txn| txn.needed);
    by_read.or_else(|| needed.find_map(|txn| wrong_end(txn, choices, history)))
}

fn wrong_read(txn: &PlannedTxn, choice: &Choice) -> Option<PlanDeparture> {
    let Some((key, writer)) = txn.reads().nth(choice.read as usize) else {
        let (found, expected) = (choice.read as usize + 1, txn.reads().count());
        return txn.whole.then_some(PlanDeparture::OtherReads { txn: txn.txn(), found, expected });
    };
    if key != choice.key {
        let (found, expected) = (choice.key.clone(), key.to_owned());
        return Some(PlanDeparture::OtherKey { txn: txn.txn(), found, expected });
    }
    let (found, expected) = (choice.writer, writer);
    (found != expected).then(|| PlanDeparture::OtherWriter {
        txn: txn.txn(),
        key: key.to_owned(),
        found,
        expected,
    })
}

fn wrong_end(txn: &PlannedTxn, choices: &[Choice], history: &History) -> Option<PlanDeparture> {
    let name = txn.txn();
    let session = history.session_bounds().get(name.session as usize..name.session as usize + 2)?;
    let id = session[0].checked_add(name.txn).filter(|&id| id < session[1]).map(TxnId);
    let committed = id.filter(|&id| history.status(id) == Status::Committed);
    match (committed, txn.aborted) {
        (_, true) => return None,
        (None, false) => return Some(PlanDeparture::NotCommitted { txn: name }),
        (Some(_), false) => {}
    }
    let (found, expected) =
        (choices.iter().filter(|choice| choice.reader == name).count(), txn.reads().count());
    if !txn.whole {
        return (found < expected).then_some(PlanDeparture::OtherReads {
            txn: name,
            found,
            expected,
        });
    }
    if found != expected {
        return Some(PlanDeparture::OtherReads { txn: name, found, expected });
    }
    let ops = history
        .ops_of(committed?)
        .map(|op| history.op(OpId(op)))
        .filter(|op| op.kind != OpKind::Read);
    let written: BTreeSet<String> = ops.map(|op| history.key_name(op.key).to_string()).collect();
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    let key = written.symmetric_difference(&txn.writes()).next().map(|key| (*key).to_owned());
    key.map(|key| PlanDeparture::OtherWrites { txn: name, key })
}
