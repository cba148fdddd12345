//! Lost updates: transactions that read the same version of a key and all wrote the key.
//!
//! Of n such transactions at most one can have seen nothing that it overwrites, so n − 1 updates
//! are lost. Snapshot isolation forbids any two of them, whatever else is in the history: each
//! would have to commit before the other began. One visit of the reads and versions of each key
//! finds them; O(n log n) for sorting the reads of a key by version.
//!
//! An append to a list is an update too: its element is not lost, but of two transactions that read
//! the same list and append to it one did so without having seen the other, as Elle has it.

use super::pair::Pair;
use crate::index::{Index, Source, SourceVersion, last_write, source_write};
use seriatim_history::{History, KeyId, OpId, TxnId, Value};
use std::cmp::Reverse;
use std::ops::Range;

/// All lost updates of a history.
#[derive(Default, Debug)]
pub(crate) struct LostUpdates {
    /// Reads of versions that were updated several times, by operation: those of one version stand
    /// together.
    reads: Vec<OpId>,
    /// The versions, as ranges of `reads`, with their writers.
    versions: Vec<(Range<usize>, Source)>,
}

impl LostUpdates {
    /// How many updates are lost.
    pub fn count(&self) -> u64 {
        self.versions.iter().map(|(reads, _)| reads.len() as u64 - 1).sum()
    }

    /// The reads that are to blame: those of all updaters of a version. Left out, they make none of
    /// the longer contradictions that the same updates would be part of.
    pub fn to_blame(&self) -> impl Iterator<Item = OpId> + '_ {
        self.reads.iter().copied()
    }

    /// Each lost update with the first one of the same version, in the order of the history. Those
    /// of initial values, which take fewer transactions, come first, and of the first of all those
    /// that change something: tools that write whole rows also write back what they have read.
    pub fn pairs<'a>(&'a self, history: &'a History) -> impl Iterator<Item = Pair> + 'a {
        let is_initial = |version: &&(Range<usize>, Source)| version.1.is_initial();
        let first = self.versions.iter().filter(is_initial);
        let rest = self.versions.iter().filter(move |version| !is_initial(version));
        let mut all = first.chain(rest);
        let mut shown: Vec<&(Range<usize>, Source)> = all.by_ref().take(COMPARED_MAX).collect();
        let changed = |reads: &Range<usize>| {
            let two = self.reads[reads.clone()].iter().take(2);
            two.filter(|&&read| changes(history, read)).count()
        };
        shown.sort_by_cached_key(|(reads, _)| Reverse(changed(reads)));
        shown.into_iter().chain(all).flat_map(move |(reads, writer)| {
            let reads = &self.reads[reads.clone()];
            reads[1..].iter().filter_map(move |&other| pair(history, *writer, reads[0], other))
        })
    }
}

/// So many versions are put into an order that people like.
const COMPARED_MAX: usize = 1000;

/// Whether the transaction of a read writes something else to its key.
fn changes(history: &History, read: OpId) -> bool {
    let operation = history.op(read);
    let initial = history.initial().value_of(operation.key);
    let found = match operation.value {
        Value::NULL => initial.unwrap_or(Value::NULL),
        value => value,
    };
    let written = last_write(history, history.txn_of(read), operation.key);
    let text = |value| history.value_text(value);
    written.is_none_or(|write| {
        without_number(&text(history.op(write).value)) != without_number(&text(found))
    })
}

/// A value as it was before a store told it from others: `lamp#2` is a lamp.
fn without_number(value: &str) -> &str {
    match value.rsplit_once('#') {
        Some((plain, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            plain
        }
        _ => value,
    }
}

/// The lost update of two reads of what `writer` wrote.
fn pair(history: &History, writer: Source, one: OpId, other: OpId) -> Option<Pair> {
    let key = history.op(one).key;
    let mut ops = vec![one, other];
    ops.extend(source_write(history, writer, key));
    for read in [one, other] {
        ops.push(last_write(history, history.txn_of(read), key)?);
    }
    Some(Pair::of(ops))
}

/// Finds all lost updates.
pub(crate) fn lost_updates(history: &History, index: &Index) -> LostUpdates {
    let mut found = LostUpdates::default();
    let mut updates: Vec<Update> = Vec::new();
    for key in (0..history.key_count()).map(KeyId::from) {
        updates.clear();
        updates.extend(updates_of(index, key));
        updates.sort_unstable();
        // A transaction may read a version twice; it updates it once.
        updates.dedup_by_key(|&mut (source, txn, _)| (source, txn));
        for of_version in updates.chunk_by(|a, b| a.0 == b.0).filter(|chunk| chunk.len() > 1) {
            let first = found.reads.len();
            found.reads.extend(of_version.iter().map(|&(_, _, op)| op));
            let source = index.source_of(of_version[0].2);
            found.versions.push((first..found.reads.len(), source));
        }
    }
    found
}

/// A read of a key by a transaction that writes it: what it returned, the transaction, the read.
type Update = (SourceVersion, TxnId, OpId);

/// The updates of `key`.
fn updates_of(index: &Index, key: KeyId) -> impl Iterator<Item = Update> + '_ {
    let writers = index.versions.writers(key);
    let mut passed = 0;
    index.reads.range(key).filter_map(move |read| {
        let txn = index.reads.txn[read];
        // Readers and writers of a key both come in the order of transactions.
        while writers.get(passed).is_some_and(|&writer| writer < txn) {
            passed += 1;
        }
        let writes = writers.get(passed) == Some(&txn);
        writes.then(|| (index.reads.source[read], txn, index.reads.op[read]))
    })
}
