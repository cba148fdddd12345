//! What each session of a behaviour did, for the report.

use seriatim_history::{History, OpId, OpKind, Status, TxnId};
use seriatim_report::explored::{Story, Txn};

/// What each session of a history did.
pub fn stories(history: &History) -> Vec<Story> {
    let txn = |id: TxnId| {
        let operation = |op: OpId| {
            let op = history.op(op);
            let kind = if op.kind == OpKind::Read { 'r' } else { 'w' };
            (kind, history.key_name(op.key).to_string(), history.value_text(op.value))
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
