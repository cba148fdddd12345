//! Reads and values, as everything in this crate looks at them.

use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, TxnId, Value, ValueKind};

/// A read of another transaction's write, with the transaction that it came from.
#[derive(Clone, Copy)]
pub(crate) struct ExternalRead {
    pub reader: TxnId,
    pub read: OpId,
    pub key: KeyId,
    /// The writer; `None` for the initial transaction.
    pub source: Option<TxnId>,
}

/// Reads that no write of their own transaction to the key precedes.
pub(crate) fn external_reads(history: &History, txn: TxnId) -> Vec<OpId> {
    let mut own: FxHashSet<KeyId> = FxHashSet::default();
    let mut reads = Vec::new();
    for id in history.ops_of(txn).map(OpId) {
        let op = history.op(id);
        if op.kind.is_write() {
            own.insert(op.key);
        } else if !own.contains(&op.key) {
            reads.push(id);
        }
    }
    reads
}

pub(crate) fn elements(history: &History, value: Value) -> Option<&[Value]> {
    match value.kind() {
        ValueKind::List(number) => Some(history.list(number)),
        _ => None,
    }
}

pub(crate) fn last_element(history: &History, value: Value) -> Value {
    elements(history, value)
        .map_or(value, |elements| elements.last().copied().unwrap_or(Value::NULL))
}

/// Whether two reads returned the same.
pub(crate) fn same(history: &History, a: Value, b: Value) -> bool {
    a == b || elements(history, a).is_some_and(|list| Some(list) == elements(history, b))
}
