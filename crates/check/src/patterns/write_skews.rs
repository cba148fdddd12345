//! Write skews: two transactions each of which overwrote what the other read.
//!
//! A transaction t1 *evidently misses* t2 if it read a version v of a key that t2 wrote, and v is
//! known to precede that of t2: it is the initial one, or its writer is in the causal past of t2.
//! Then t1 comes before t2 in every serial order. Two transactions that evidently miss each other,
//! by different keys, are a write skew, unless they lose an update too, which says more.
//!
//! Whatever the order of the transactions, one of the two comes after the other and yet misses it.
//! So it is enough to look, for each read, at the versions that an order puts between the version
//! that was read and the reader. In an order that is near to the truth these are few; the work is
//! limited, and where the limit ends the scan the count is a lower bound.

use super::pair::{Pair, causal_path};
use crate::index::{Index, Source, last_write, source_write};
use crate::weak::CausalOrder;
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, TxnId};

/// How many operations are compared with what a reader wrote, for each operation of the history and
/// at least.
const WORK_PER_OP: u64 = 32;
const WORK_MIN: u64 = 20_000_000;
/// How many candidates are kept at once: 100 MB.
const CANDIDATES_MAX: usize = 1 << 22;

/// All write skews of a history, or those that the limit allowed to see.
#[derive(Default, Debug)]
pub(crate) struct WriteSkews {
    skews: Vec<Skew>,
    /// Whether the limit ended the scan.
    pub is_cut: bool,
}

/// Two transactions, each with the read by which it misses the other and the writer of what it
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Skew {
    txns: (TxnId, TxnId),
    reads: (OpId, OpId),
    sources: (Source, Source),
}

impl WriteSkews {
    pub fn count(&self) -> u64 {
        self.skews.len() as u64
    }

    /// The reads that are to blame: those by which the two transactions miss each other.
    pub fn to_blame(&self) -> impl Iterator<Item = OpId> + '_ {
        self.skews.iter().flat_map(|skew| [skew.reads.0, skew.reads.1])
    }

    /// Each write skew, those of initial values, which take fewer transactions, first.
    pub fn pairs<'a>(
        &'a self,
        history: &'a History,
        index: &'a Index,
    ) -> impl Iterator<Item = Pair> + 'a {
        let is_initial = |skew: &&Skew| skew.sources == (Source::INITIAL, Source::INITIAL);
        let first = self.skews.iter().filter(is_initial);
        let rest = self.skews.iter().filter(move |skew| !is_initial(skew));
        first.chain(rest).filter_map(move |skew| skew.pair(history, index))
    }
}

impl Skew {
    fn pair(&self, history: &History, index: &Index) -> Option<Pair> {
        let (one, other) = self.reads;
        let (key, other_key) = (history.op(one).key, history.op(other).key);
        let mut ops = vec![one, other];
        ops.extend(source_write(history, self.sources.0, key));
        ops.extend(source_write(history, self.sources.1, other_key));
        ops.push(last_write(history, self.txns.0, other_key)?);
        ops.push(last_write(history, self.txns.1, key)?);
        for (source, writer) in self.evidence().into_iter().flatten() {
            ops.extend(causal_path(history, index, source, writer)?);
        }
        Some(Pair::of(ops))
    }

    /// Pairs of transactions that must be causally ordered, so that what was read precedes what was
    /// missed; none for initial versions.
    fn evidence(&self) -> [Option<(TxnId, TxnId)>; 2] {
        let after = |source: Source, writer: TxnId| Some((source.txn()?, writer));
        [after(self.sources.0, self.txns.1), after(self.sources.1, self.txns.0)]
    }
}

/// Finds the write skews of a history whose causal order has no cycle.
pub(crate) fn write_skews(history: &History, index: &Index, order: &CausalOrder<'_>) -> WriteSkews {
    let limit = WORK_MIN.max(WORK_PER_OP * history.op_count() as u64);
    let written = Written::new(history, index);
    let mut scan = Scan { history, index, order, written, candidates: Vec::new(), left: limit };
    let is_cut = (0..history.key_count()).any(|key| !scan.visit(KeyId::from(key)));
    let mut skews = order.keep_if_causal(scan.candidates, Skew::evidence);
    skews.sort_unstable();
    skews.dedup_by_key(|skew| skew.txns);
    WriteSkews { skews, is_cut }
}

struct Scan<'a> {
    history: &'a History,
    index: &'a Index,
    order: &'a CausalOrder<'a>,
    written: Written,
    /// Write skews if what was read precedes what was missed.
    candidates: Vec<Skew>,
    /// How many operations may still be compared.
    left: u64,
}

impl Scan<'_> {
    /// Looks at the reads of one key; false if the limit ends it.
    fn visit(&mut self, key: KeyId) -> bool {
        let index = self.index;
        let writers = index.versions.writers(key).iter();
        let mut writers: Vec<(u32, TxnId)> =
            writers.map(|&txn| (self.order.place(txn), txn)).collect();
        writers.sort_unstable();
        for read in index.reads.range(key) {
            let (reader, op) = (index.reads.txn[read], index.reads.op[read]);
            if self.written.of(reader).is_empty() {
                continue;
            }
            let source = index.source_of(op);
            if source.is_none() {
                // A read that was taken out of the index.
                continue;
            }
            let after = |source| writers.partition_point(|w| w.0 <= self.order.place(source));
            let first = source.txn().map_or(0, after);
            let missed = writers[first..].iter().take_while(|w| w.0 < self.order.place(reader));
            for &(_, writer) in missed {
                if !self.compare(writer, reader, op, source) {
                    return false;
                }
            }
        }
        true
    }

    /// Looks whether `writer`, which `read` of `reader` misses, misses the reader too; false if the
    /// limit ends it.
    fn compare(&mut self, writer: TxnId, reader: TxnId, read: OpId, source: Source) -> bool {
        let (history, index) = (self.history, self.index);
        let theirs = history.ops_of(writer);
        let cost = 1 + theirs.len() as u64;
        if cost > self.left || self.candidates.len() > CANDIDATES_MAX {
            return false;
        }
        self.left -= cost;
        let key = history.op(read).key;
        let found = self.candidates.len();
        for op in theirs.map(OpId) {
            let other = index.source_of(op);
            let other_key = history.op(op).key;
            if other.is_none() || other == reader.into() || other_key == key {
                continue;
            }
            if self.written.has(reader, other_key) {
                let (txns, reads) = ((writer, reader), (op, read));
                self.candidates.push(Skew { txns, reads, sources: (other, source) });
            }
        }
        if self.candidates.len() > found {
            self.left = self.left.saturating_sub(history.ops_of(reader).len() as u64);
            if self.lose_an_update(writer, reader) {
                self.candidates.truncate(found);
            }
        }
        true
    }

    /// Whether two transactions read the same version of a key and both write it.
    fn lose_an_update(&self, a: TxnId, b: TxnId) -> bool {
        let of_a: FxHashSet<(KeyId, Source)> = self.updates(a).collect();
        self.updates(b).any(|update| of_a.contains(&update))
    }

    /// The keys that `txn` reads and writes, with the writer of what it read.
    fn updates(&self, txn: TxnId) -> impl Iterator<Item = (KeyId, Source)> + '_ {
        let (history, index) = (self.history, self.index);
        history.ops_of(txn).map(OpId).filter_map(move |op| {
            let (source, key) = (index.source_of(op), history.op(op).key);
            let is_update = !source.is_none() && self.written.has(txn, key);
            is_update.then_some((key, source))
        })
    }
}

/// The keys that each transaction writes, ascending.
struct Written {
    start: Vec<u32>,
    keys: Vec<KeyId>,
}

impl Written {
    fn new(history: &History, index: &Index) -> Written {
        let mut start = vec![0u32; history.txn_count() + 1];
        for &txn in &index.versions.txn {
            start[txn.index() + 1] += 1;
        }
        for txn in 1..start.len() {
            start[txn] += start[txn - 1];
        }
        let mut next = start.clone();
        let mut keys = vec![KeyId(0); index.versions.txn.len()];
        for key in (0..history.key_count()).map(KeyId::from) {
            for &txn in index.versions.writers(key) {
                keys[next[txn.index()] as usize] = key;
                next[txn.index()] += 1;
            }
        }
        Written { start, keys }
    }

    fn of(&self, txn: TxnId) -> &[KeyId] {
        &self.keys[self.start[txn.index()] as usize..self.start[txn.index() + 1] as usize]
    }

    fn has(&self, txn: TxnId, key: KeyId) -> bool {
        self.of(txn).binary_search(&key).is_ok()
    }
}
