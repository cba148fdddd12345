//! Two transactions that contradict each other, by their operations.

use crate::index::INITIAL;
use seriatim_history::{History, KeyId, OpId, TxnId};

/// Two transactions that must not both have committed, by the operations that show it, sorted: what
/// the two read and wrote, and the writes that they read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair(pub Vec<OpId>);

impl Pair {
    pub(super) fn of(mut ops: Vec<OpId>) -> Pair {
        ops.sort_unstable();
        ops.dedup();
        Pair(ops)
    }
}

/// The last write of `txn` to `key`.
pub(super) fn last_write(history: &History, txn: u32, key: KeyId) -> Option<OpId> {
    history.ops_of(TxnId(txn)).rev().map(OpId).find(|&op| {
        let op = history.op(op);
        op.key == key && op.kind.is_write()
    })
}

/// The write to `key` of a transaction that was read from; none of the initial one.
pub(super) fn source_write(history: &History, txn: u32, key: KeyId) -> Option<OpId> {
    if txn < INITIAL { last_write(history, txn, key) } else { None }
}
