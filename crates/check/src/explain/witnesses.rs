//! Reads that show that transactions of unknown outcome committed. O(n).

use crate::index::Index;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, Status, TxnId, Value, ValueKind};
use seriatim_verify::completed;

/// For each transaction of unknown outcome that counts a read from it, by a transaction that counts
/// without it.
#[derive(Default)]
pub(super) struct Witnesses(FxHashMap<TxnId, OpId>);

impl Witnesses {
    pub fn new(history: &History, index: &Index) -> Witnesses {
        let mut witnesses = Witnesses::default();
        let appended = Unknown::new(history);
        if appended.is_empty {
            return witnesses;
        }
        let is_committed = |txn: &TxnId| history.status(*txn) == Status::Committed;
        let mut counted: Vec<TxnId> = history.txns().filter(is_committed).collect();
        while let Some(reader) = counted.pop() {
            for read in history.ops_of(reader).map(OpId) {
                let op = history.op(read);
                let elements = match op.value.kind() {
                    ValueKind::List(number) => history.list(number),
                    _ => &[],
                };
                let listed = elements.iter().filter_map(|&element| appended.of(op.key, element));
                let sources: Vec<TxnId> =
                    index.source_of(read).txn().into_iter().chain(listed).collect();
                for source in sources {
                    let is_unknown = history.status(source) == Status::Unknown;
                    if is_unknown && source != reader && !witnesses.0.contains_key(&source) {
                        witnesses.0.insert(source, read);
                        counted.push(source);
                    }
                }
            }
        }
        witnesses
    }

    /// `ops` with what shows that those of unknown outcome among their transactions committed. In a
    /// part of the history, where all that count have committed, nothing asks for that.
    pub fn beside(&self, history: &History, ops: &[OpId]) -> Vec<OpId> {
        let mut shown: FxHashSet<TxnId> = FxHashSet::default();
        let mut all = ops.to_vec();
        let mut next = 0;
        while let Some(&op) = all.get(next) {
            next += 1;
            let txn = history.txn_of(op);
            if shown.insert(txn) {
                all.extend(self.0.get(&txn));
            }
        }
        if all.len() > ops.len() { completed(history, &all) } else { all }
    }
}

/// What transactions of unknown outcome alone wrote.
struct Unknown {
    is_empty: bool,
    /// The writer of a value, `None` if there are several.
    writer: FxHashMap<(KeyId, Value), Option<TxnId>>,
}

impl Unknown {
    fn new(history: &History) -> Unknown {
        let is_unknown = |txn: &TxnId| history.status(*txn) == Status::Unknown;
        let mut writer: FxHashMap<(KeyId, Value), Option<TxnId>> = FxHashMap::default();
        let writes = |txn: TxnId| {
            let ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
            ops.filter(|op| op.kind.is_write()).map(|op| (op.key, op.value))
        };
        for txn in history.txns().filter(is_unknown) {
            for value in writes(txn) {
                let known = writer.entry(value).or_insert(Some(txn));
                *known = known.filter(|&other| other == txn);
            }
        }
        let committed = history.txns().filter(|&txn| history.status(txn) == Status::Committed);
        if !writer.is_empty() {
            for value in committed.flat_map(writes) {
                writer.entry(value).and_modify(|writer| *writer = None);
            }
        }
        Unknown { is_empty: writer.is_empty(), writer }
    }

    fn of(&self, key: KeyId, value: Value) -> Option<TxnId> {
        self.writer.get(&(key, value)).copied().flatten()
    }
}
