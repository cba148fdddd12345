//! Anomalies of two transactions that one scan of the history finds, all of them: lost updates,
//! write skews and stale reads.
//!
//! The searches of `strong/` and `explain/` find one contradiction at a time and explain it; a
//! database that loses updates shows thousands. What two transactions do to each other can be seen
//! from their own operations, so it is counted here exactly, in time that is nearly linear in the
//! history. Whatever needs more transactions is left to the search.

mod lost_updates;
mod stale_reads;
#[cfg(test)]
mod tests;
mod write_skews;

pub(crate) use lost_updates::{LostUpdates, lost_updates};
pub(crate) use stale_reads::{StaleRead, real_time_edge, stale_reads, staleness};
pub(crate) use write_skews::write_skews;

use crate::index::INITIAL;
use seriatim_history::{History, KeyId, OpId, TxnId};

/// Two transactions that must not both have committed, by the operations that show it, sorted: what
/// the two read and wrote, and the writes that they read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair(pub Vec<OpId>);

impl Pair {
    fn of(mut ops: Vec<OpId>) -> Pair {
        ops.sort_unstable();
        ops.dedup();
        Pair(ops)
    }
}

/// The last write of `txn` to `key`.
fn last_write(history: &History, txn: u32, key: KeyId) -> Option<OpId> {
    history.ops_of(TxnId(txn)).rev().map(OpId).find(|&op| {
        let op = history.op(op);
        op.key == key && op.kind.is_write()
    })
}

/// The write to `key` of a transaction that was read from; none of the initial one.
fn source_write(history: &History, txn: u32, key: KeyId) -> Option<OpId> {
    if txn < INITIAL { last_write(history, txn, key) } else { None }
}
