//! Which operations a set of operations needs beside it to prove something.
//!
//! A level that is violated is shown by operations that violate it when everything else is removed.
//! That proves something only if removing cannot turn a consistent history inconsistent. It cannot,
//! if
//!
//! - a read keeps every write that it may have come from, and what its transaction wrote to the key
//!   last before it,
//! - an element of a list that stays keeps every append that it may be (others vanish from all
//!   lists), and the last one stays,
//! - what a transaction wrote to a key last stays with what it wrote there before, which would be
//!   taken for the last otherwise,
//! - a transaction of unknown outcome stays one, unless what was read of it shows that it
//!   committed.

use crate::reads::elements;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value};
use std::collections::BTreeSet;

/// `ops`, sorted, with what is needed beside them to prove something.
pub fn completed(history: &History, ops: &[OpId]) -> Vec<OpId> {
    let mut ops = ops.to_vec();
    loop {
        let missing = left_out(history, &ops);
        if missing.is_empty() {
            ops.sort_unstable();
            ops.dedup();
            return ops;
        }
        ops.extend(missing);
    }
}

/// The operations without which `ops` prove nothing.
pub(crate) fn left_out(history: &History, ops: &[OpId]) -> Vec<OpId> {
    let kept: FxHashSet<OpId> = ops.iter().copied().collect();
    let written = |op: &OpId| {
        Some(history.op(*op)).filter(|op| op.kind.is_write()).map(|op| (op.key, op.value))
    };
    let kept_values: FxHashSet<(KeyId, Value)> = ops.iter().filter_map(written).collect();
    let mut needed: FxHashMap<(KeyId, Value), Need> = FxHashMap::default();
    let mut missing = Vec::new();
    let mut readers: BTreeSet<TxnId> = BTreeSet::new();
    for &read in ops.iter().filter(|op| history.op(**op).kind == OpKind::Read) {
        let (op, txn) = (history.op(read), history.txn_of(read));
        if history.status(txn) == Status::Aborted {
            continue;
        }
        readers.insert(txn);
        let Some(elements) = elements(history, op.value) else {
            needed.entry((op.key, op.value)).or_insert(Need::Last);
            continue;
        };
        for (place, &element) in elements.iter().enumerate() {
            let stays = place + 1 == elements.len() || kept_values.contains(&(op.key, element));
            let need = if stays { Need::All } else { Need::Registers };
            let known = needed.entry((op.key, element)).or_insert(need);
            *known = if stays { Need::All } else { *known };
        }
    }
    missing.extend(readers.into_iter().flat_map(|txn| own_writes_before(history, txn, &kept)));
    for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
        let mut later: FxHashMap<KeyId, OpId> = FxHashMap::default();
        for id in history.ops_of(txn).rev().map(OpId) {
            let op = history.op(id);
            if !op.kind.is_write() {
                continue;
            }
            let last = *later.entry(op.key).or_insert(id);
            if kept.contains(&id) {
                missing.push(last);
            }
            let last = last == id;
            missing.extend(
                needed
                    .get(&(op.key, op.value))
                    .filter(|need| need.asks_for(op.kind, last))
                    .map(|_| id),
            );
        }
    }
    missing.retain(|op| !kept.contains(op));
    missing
}

/// Which writes of a value are needed.
#[derive(Clone, Copy)]
enum Need {
    /// Those that are the last to the key in their transaction.
    Last,
    /// All.
    All,
    /// All that are no appends: the value vanishes from lists with its appends.
    Registers,
}

impl Need {
    fn asks_for(self, kind: OpKind, last: bool) -> bool {
        match self {
            Need::Last => last,
            Need::All => true,
            Need::Registers => kind != OpKind::Append,
        }
    }
}

/// For each read of `txn` that is kept the last write of `txn` to its key before it.
fn own_writes_before(history: &History, txn: TxnId, kept: &FxHashSet<OpId>) -> Vec<OpId> {
    let mut own: FxHashMap<KeyId, OpId> = FxHashMap::default();
    let mut before = Vec::new();
    for id in history.ops_of(txn).map(OpId) {
        let op = history.op(id);
        if op.kind.is_write() {
            own.insert(op.key, id);
        } else if kept.contains(&id) {
            before.extend(own.get(&op.key));
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;
    use std::time::{Duration, Instant};

    #[test]
    fn long_transactions_take_no_longer_than_short_ones() {
        let count = 40_000;
        let ops = (0..count)
            .map(|key| format!("w(k{key},1)"))
            .chain((0..count).map(|key| format!("r(k{key},1)")));
        let history =
            notation::parse(&format!("a: {}", ops.collect::<Vec<_>>().join(" "))).unwrap();
        let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        let start = Instant::now();
        assert_eq!(left_out(&history, &all), []);
        assert_eq!(left_out(&history, &all[count as usize..]).len(), 2 * count as usize);
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
}
