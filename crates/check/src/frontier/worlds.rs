//! Which transactions of unknown outcome committed: those that must have, and choices about those
//! that may have.
//!
//! A transaction that none can have read from is left out: removing it never turns a consistent
//! history inconsistent. What a transaction that counts can only have read from counts. With
//! distinct values that settles all; the others are choices.

use super::problem::{Initials, external_reads, last_writes};
use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, OpId, Status, TxnId, Value, ValueKind};

/// The choices.
pub(super) struct Worlds {
    /// Which transactions count in any case.
    counts: Vec<bool>,
    /// Which may.
    optional: Vec<TxnId>,
}

impl Worlds {
    pub fn of(history: &History) -> Worlds {
        let counts = history.txns().map(|txn| history.status(txn) == Status::Committed).collect();
        let mut worlds = Worlds { counts, optional: Vec::new() };
        if history.txns().any(|txn| history.status(txn) == Status::Unknown) {
            let suppliers = Suppliers::of(history);
            worlds.add_forced(&suppliers);
            worlds.add_optional(&suppliers);
        }
        worlds
    }

    /// Which transactions count by choice number `choice`.
    pub fn get(&self, choice: u64) -> Option<Vec<bool>> {
        let bits = self.optional.len() as u32;
        if choice.checked_shr(bits).unwrap_or(0) > 0 {
            return None;
        }
        let mut counts = self.counts.clone();
        for (bit, txn) in self.optional.iter().enumerate().take(64) {
            counts[txn.index()] = choice >> bit & 1 == 1;
        }
        Some(counts)
    }

    fn add_forced(&mut self, suppliers: &Suppliers<'_>) {
        let mut open: Vec<TxnId> =
            suppliers.history.txns().filter(|txn| self.counts[txn.index()]).collect();
        while let Some(reader) = open.pop() {
            for supply in suppliers.of_reads(reader) {
                if let [Some(only)] = supply[..]
                    && !self.counts[only.index()]
                {
                    self.counts[only.index()] = true;
                    open.push(only);
                }
            }
        }
    }

    fn add_optional(&mut self, suppliers: &Suppliers<'_>) {
        let mut open: Vec<TxnId> =
            suppliers.history.txns().filter(|txn| self.counts[txn.index()]).collect();
        let mut seen = self.counts.clone();
        while let Some(reader) = open.pop() {
            for txn in suppliers.of_reads(reader).into_iter().flatten().flatten() {
                if !seen[txn.index()] {
                    seen[txn.index()] = true;
                    self.optional.push(txn);
                    open.push(txn);
                }
            }
        }
    }
}

/// The transactions that may have written what was read.
struct Suppliers<'h> {
    history: &'h History,
    initials: Initials<'h>,
    /// Transactions that did not abort and leave a value in a key.
    writers: FxHashMap<(KeyId, Value), Vec<TxnId>>,
    /// Transactions that did not abort and append an element at some point.
    appenders: FxHashMap<(KeyId, Value), Vec<TxnId>>,
}

impl<'h> Suppliers<'h> {
    fn of(history: &'h History) -> Suppliers<'h> {
        let mut writers: FxHashMap<_, Vec<TxnId>> = FxHashMap::default();
        let mut appenders: FxHashMap<_, Vec<TxnId>> = FxHashMap::default();
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            for written in last_writes(history, txn) {
                writers.entry(written).or_default().push(txn);
            }
            for op in
                history.ops_of(txn).map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write())
            {
                let known = appenders.entry((op.key, op.value)).or_default();
                if known.last() != Some(&txn) {
                    known.push(txn);
                }
            }
        }
        Suppliers { history, initials: Initials::of(history), writers, appenders }
    }

    /// For each read of `reader`, and each element of its lists, the transactions that may have
    /// written it; `None` is the initial transaction.
    fn of_reads(&self, reader: TxnId) -> Vec<Vec<Option<TxnId>>> {
        let reads = external_reads(self.history, reader).unwrap_or_default();
        let mut all: Vec<Vec<Option<TxnId>>> =
            reads.iter().map(|&read| self.of_read(reader, read)).collect();
        for op in self.history.ops_of(reader).map(|op| self.history.op(OpId(op))) {
            if let ValueKind::List(number) = op.value.kind() {
                let appenders =
                    |&element| self.appenders.get(&(op.key, element)).into_iter().flatten();
                let lists = self.history.list(number).iter();
                all.extend(lists.map(|element| appenders(element).copied().map(Some).collect()));
            }
        }
        all
    }

    fn of_read(&self, reader: TxnId, (key, value): (KeyId, Value)) -> Vec<Option<TxnId>> {
        let writers = self
            .writers
            .get(&(key, value))
            .into_iter()
            .flatten()
            .filter(|&&writer| writer != reader);
        let initial = self.initials.allow(key, value).then_some(None);
        writers.copied().map(Some).chain(initial).collect()
    }
}
