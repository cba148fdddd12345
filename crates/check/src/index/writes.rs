//! The writes of single transactions.

use super::tables::INITIAL;
use seriatim_history::{History, KeyId, OpId, TxnId};

/// The last write of `txn` to `key`.
pub(crate) fn last_write(history: &History, txn: u32, key: KeyId) -> Option<OpId> {
    history.ops_of(TxnId(txn)).rev().map(OpId).find(|&op| {
        let op = history.op(op);
        op.key == key && op.kind.is_write()
    })
}

/// The write to `key` of a transaction that was read from; none of the initial one.
pub(crate) fn source_write(history: &History, txn: u32, key: KeyId) -> Option<OpId> {
    if txn < INITIAL { last_write(history, txn, key) } else { None }
}
