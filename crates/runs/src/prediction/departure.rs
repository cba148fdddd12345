//! Where a run is not as it was predicted.

use super::plan::PlannedTxn;
use seriatim_history::{History, OpId, OpKind, Status, TxnId};
use seriatim_store::{Choice, TxnName};
use std::collections::{BTreeSet, HashMap};

/// Where a run left a prediction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanDeparture {
    /// It reads something else.
    #[error("{} reads {found} where {expected} was predicted", shown(.txn))]
    OtherKey {
        /// The transaction.
        txn: TxnName,
        /// What it reads.
        found: String,
        /// What was predicted.
        expected: String,
    },
    /// It reads from another transaction than predicted.
    #[error("{} reads {key} from {} instead of {}", shown(.txn), writer(.found), writer(.expected))]
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
    #[error("{} reads {found} times from others, and {expected} reads were predicted", shown(.txn))]
    OtherReads {
        /// The transaction.
        txn: TxnName,
        /// How often it reads.
        found: usize,
        /// How often was predicted.
        expected: usize,
    },
    /// It writes other keys.
    #[error("{} writes other keys than predicted, among them {key}", shown(.txn))]
    OtherWrites {
        /// The transaction.
        txn: TxnName,
        /// A key that only one of them writes.
        key: String,
    },
    /// It aborted, or did not run at all.
    #[error("{} does not commit", shown(.txn))]
    NotCommitted {
        /// The transaction.
        txn: TxnName,
    },
}

fn shown(txn: &TxnName) -> String {
    format!("transaction {} of session {}", txn.txn, txn.session)
}

fn writer(txn: &Option<TxnName>) -> String {
    txn.as_ref().map_or("the initial state".to_owned(), shown)
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
    let planned: HashMap<TxnName, &PlannedTxn> = lasting.map(|txn| (txn.name(), txn)).collect();
    let by_read =
        choices.iter().find_map(|choice| wrong_read(planned.get(&choice.reader)?, choice));
    let mut needed = plan.iter().filter(|txn| txn.needed);
    by_read.or_else(|| needed.find_map(|txn| wrong_end(txn, choices, history)))
}

fn wrong_read(txn: &PlannedTxn, choice: &Choice) -> Option<PlanDeparture> {
    let Some((key, writer)) = txn.reads().nth(choice.read as usize) else {
        let (found, expected) = (choice.read as usize + 1, txn.reads().count());
        return txn.whole.then_some(PlanDeparture::OtherReads { txn: txn.name(), found, expected });
    };
    if key != choice.key {
        let (found, expected) = (choice.key.clone(), key.to_owned());
        return Some(PlanDeparture::OtherKey { txn: txn.name(), found, expected });
    }
    let (found, expected) = (choice.writer, writer);
    (found != expected).then(|| PlanDeparture::OtherWriter {
        txn: txn.name(),
        key: key.to_owned(),
        found,
        expected,
    })
}

fn wrong_end(txn: &PlannedTxn, choices: &[Choice], history: &History) -> Option<PlanDeparture> {
    let name = txn.name();
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
