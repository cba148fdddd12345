//! What each session of a behaviour did, for the report.

use seriatim_check::Refs;
use seriatim_history::{History, OpId, Status, TxnId};
use seriatim_report::explored::{Operation, Story, Txn};

/// What each session of a history did.
pub fn stories(history: &History) -> Vec<Story> {
    let txn = |id: TxnId| {
        let operation = |op: OpId| {
            let op = history.op(op);
            Operation {
                kind: op.kind,
                key: history.key_name(op.key).to_string(),
                value: Refs(history).value(op.value),
            }
        };
        Txn {
            name: history.txn_name(id).to_string(),
            committed: history.status(id) == Status::Committed,
            operations: history.ops_of(id).map(OpId).map(operation).collect(),
        }
    };
    let story = |session| Story {
        session: history.session_name(session).to_string(),
        transactions: history.txns_of(session).map(TxnId).map(txn).collect(),
    };
    history.sessions().map(story).collect()
}
