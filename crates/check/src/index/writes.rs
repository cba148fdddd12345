//! The writes of single transactions.

use super::ids::Source;
use seriatim_history::{History, KeyId, OpId, TxnId};

/// The last write of `txn` to `key`.
pub(crate) fn last_write(history: &History, txn: TxnId, key: KeyId) -> Option<OpId> {
    history.ops_of(txn).rev().map(OpId).find(|&op| {
        let op = history.op(op);
        op.key == key && op.kind.is_write()
    })
}

/// The write to `key` of a transaction that was read from; none of the initial one.
pub(crate) fn source_write(history: &History, source: Source, key: KeyId) -> Option<OpId> {
    last_write(history, source.txn()?, key)
}
