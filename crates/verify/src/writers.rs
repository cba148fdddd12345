//! Which transactions wrote a value, and which are known to have committed.

use crate::reads::{elements, external_reads, last_element};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value};

/// The transactions that did not abort, by what they wrote.
pub(crate) struct Writers<'h> {
    history: &'h History,
    /// For each value the transactions that leave it in the key.
    pub left: FxHashMap<(KeyId, Value), Vec<TxnId>>,
    /// For each value the transactions that append it, once for each append.
    pub appended: FxHashMap<(KeyId, Value), Vec<TxnId>>,
    /// Keys whose initial value cannot be read, because a transaction wrote it.
    replaced: FxHashSet<KeyId>,
}

impl<'h> Writers<'h> {
    pub fn of(history: &'h History) -> Writers<'h> {
        let mut writers = Writers {
            history,
            left: FxHashMap::default(),
            appended: FxHashMap::default(),
            replaced: FxHashSet::default(),
        };
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            writers.add(txn);
        }
        writers
    }

    fn add(&mut self, txn: TxnId) {
        let initial = self.history.initial();
        let mut later: FxHashSet<KeyId> = FxHashSet::default();
        for op in self
            .history
            .ops_of(txn)
            .rev()
            .map(|op| self.history.op(OpId(op)))
            .filter(|op| op.kind.is_write())
        {
            let written = (op.key, op.value);
            if later.insert(op.key) {
                self.left.entry(written).or_default().push(txn);
            }
            if op.kind == OpKind::Append {
                self.appended.entry(written).or_default().push(txn);
            }
            if initial.yields(op.key) && initial.value_of(op.key) == Some(op.value) {
                self.replaced.insert(op.key);
            }
        }
    }

    pub fn may_be_initial(&self, key: KeyId, value: Value) -> bool {
        value == Value::NULL
            || (self.history.initial().value_of(key) == Some(value)
                && !self.replaced.contains(&key))
    }

    /// The transactions that committed: those that are known to have, and those of unknown outcome
    /// that one of these can only have read from.
    pub fn counting(&self) -> Vec<bool> {
        let history = self.history;
        let mut counts: Vec<bool> =
            history.txns().map(|txn| history.status(txn) == Status::Committed).collect();
        let mut waiting: Vec<TxnId> = history.txns().filter(|txn| counts[txn.index()]).collect();
        while let Some(reader) = waiting.pop() {
            for writer in self.only_sources(reader) {
                if !std::mem::replace(&mut counts[writer.index()], true) {
                    waiting.push(writer);
                }
            }
        }
        counts
    }

    fn only_sources(&self, reader: TxnId) -> Vec<TxnId> {
        let mut only = Vec::new();
        for read in external_reads(self.history, reader) {
            let op = self.history.op(read);
            let value = last_element(self.history, op.value);
            let writers = self.left.get(&(op.key, value)).map_or(&[][..], Vec::as_slice);
            let mut others = writers.iter().filter(|&&writer| writer != reader);
            if let (Some(&writer), None) = (others.next(), others.next())
                && !self.may_be_initial(op.key, value)
            {
                only.push(writer);
            }
        }
        for op in self.history.ops_of(reader).map(|op| self.history.op(OpId(op))) {
            for &element in elements(self.history, op.value).unwrap_or_default() {
                if let Some([writer]) = self.appended.get(&(op.key, element)).map(Vec::as_slice) {
                    only.push(*writer);
                }
            }
        }
        only
    }
}

/// For each transaction whether it is known to have committed: by its own report, or because a
/// transaction that committed can only have read from it.
pub fn known_to_have_committed(history: &History) -> Vec<bool> {
    Writers::of(history).counting()
}
