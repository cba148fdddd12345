//! Two transactions that contradict each other, by their operations.

use crate::index::{Index, last_write};
use rustc_hash::FxHashMap;
use seriatim_history::{History, OpId, TxnId};
use std::collections::VecDeque;

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

/// How many transactions a search for a causal path may look at.
const PATH_LIMIT: usize = 1 << 14;

/// Operations that show that `from` is in the causal past of `to`: the reads of a shortest path of
/// session order and reads, each with the write that it returned. None if the search gives up.
pub(super) fn causal_path(
    history: &History,
    index: &Index,
    from: TxnId,
    to: TxnId,
) -> Option<Vec<OpId>> {
    let mut reached: FxHashMap<TxnId, (TxnId, Option<OpId>)> = FxHashMap::default();
    let mut queue = VecDeque::from([to]);
    while let Some(txn) = queue.pop_front() {
        if txn == from {
            return Some(ops_of_path(history, &reached, from, to));
        }
        if reached.len() > PATH_LIMIT {
            return None;
        }
        let reads = history.ops_of(txn).map(OpId);
        let sources = reads.filter_map(|read| Some((index.source_of(read).txn()?, Some(read))));
        let earlier = index.session_predecessor(history, txn).map(|earlier| (earlier, None));
        for (source, read) in sources.chain(earlier) {
            if source != to && !reached.contains_key(&source) {
                reached.insert(source, (txn, read));
                queue.push_back(source);
            }
        }
    }
    None
}

fn ops_of_path(
    history: &History,
    reached: &FxHashMap<TxnId, (TxnId, Option<OpId>)>,
    from: TxnId,
    to: TxnId,
) -> Vec<OpId> {
    let mut ops = Vec::new();
    let mut txn = from;
    while let Some(&(next, read)) = reached.get(&txn).filter(|_| txn != to) {
        if let Some(read) = read {
            ops.push(read);
            ops.extend(last_write(history, txn, history.op(read).key));
        }
        txn = next;
    }
    ops
}
