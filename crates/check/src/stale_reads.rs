//! Stale reads: reads that did not return what had been written before their transaction began.
//!
//! A read of a key in t3 is stale by itself if another writer t2 of the key ended before t3 began,
//! and what was read is initial, or was written by a transaction that ended before t2 began. With
//! real time every level forbids that, and strict serializability does in any case; no other
//! transaction is needed to see it. Its age is the time from the end of the last such t2 to the
//! begin of t3. A list that has what t2 appended, in whatever place, has not missed it. O(n log n).

use crate::index::{Index, Source, VersionId, last_write, source_write};
use crate::latest_begins::LatestBegins;
use crate::outcome::{Age, Edge, OpRef, Reason, Refs, Staleness, Violation};
use seriatim_history::{History, KeyId, OpId, TxnId, ValueKind};
use seriatim_isolation::{Anomaly, Level};

/// A stale read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StaleRead {
    pub read: OpId,
    /// The transaction that it read from, or the initial one.
    source: Source,
    /// The transaction that ended last of those that it should have seen.
    missed: TxnId,
    /// The time from the end of that one to the begin of the reader, in the unit of the input.
    pub age: u64,
}

/// A writer of a key with its times.
#[derive(Clone, Copy)]
struct Timed {
    end: i64,
    begin: i64,
    txn: TxnId,
}

/// All stale reads of a history, in the order of operations.
pub(crate) fn stale_reads(history: &History, index: &Index) -> Vec<StaleRead> {
    let mut found = Vec::new();
    if !history.has_times() {
        return found;
    }
    let mut key = KeyTimes::default();
    for number in (0..index.reads.start.len().saturating_sub(1)).map(KeyId::from) {
        let reads = index.reads.range(number);
        if reads.is_empty() {
            continue;
        }
        key.fill(history, index.versions.writers(number));
        for read in reads {
            let version = index.reads.source[read].version();
            let writer = |version: VersionId| index.versions.txn[version.index()].into();
            let source = version.map_or(Source::INITIAL, writer);
            let reader = index.reads.txn[read];
            let read = index.reads.op[read];
            let is_missed = |writer: TxnId| writer != reader && !has_append(history, read, writer);
            if let Some((missed, age)) = key.missed(history, reader, source, is_missed) {
                found.push(StaleRead { read, source, missed, age });
            }
        }
    }
    found.sort_unstable_by_key(|stale| stale.read);
    found
}

/// Whether what `read` returned is a list with something that `writer` appended. Then it is in the
/// wrong place if it should come after the last element, but it is not missing.
fn has_append(history: &History, read: OpId, writer: TxnId) -> bool {
    let read = history.op(read);
    let ValueKind::List(number) = read.value.kind() else { return false };
    let list = history.list(number);
    let mut own = history.ops_of(writer).map(|op| history.op(OpId(op)));
    own.any(|op| op.kind.is_write() && op.key == read.key && list.contains(&op.value))
}

/// The writers of a key that ended, by their ends.
#[derive(Default)]
struct KeyTimes {
    ended: Vec<Timed>,
    begins: LatestBegins,
}

impl KeyTimes {
    fn fill(&mut self, history: &History, writers: &[TxnId]) {
        self.ended.clear();
        let timed = |&txn: &TxnId| {
            let (begin, end) = history.times(txn)?;
            (end != i64::MAX).then_some(Timed { end, begin, txn })
        };
        self.ended.extend(writers.iter().filter_map(timed));
        self.ended.sort_unstable_by_key(|writer| (writer.end, writer.txn));
        self.begins.fill(self.ended.iter().map(|writer| writer.begin));
    }

    /// The last to end of the writers that `reader`, which read from `source`, should have seen
    /// instead and has missed, and how long before the reader began it ended.
    fn missed(
        &self,
        history: &History,
        reader: TxnId,
        source: Source,
        is_missed: impl Fn(TxnId) -> bool,
    ) -> Option<(TxnId, u64)> {
        let (begin, _) = history.times(reader)?;
        let mut before = self.ended.partition_point(|writer| writer.end < begin);
        loop {
            let place = match source.txn() {
                None => before.checked_sub(1)?,
                Some(source) => self.begins.last_after(before, history.times(source)?.1)?,
            };
            let missed = self.ended[place];
            if is_missed(missed.txn) {
                // The difference of two numbers of 64 bits, the larger one first, fits into 64
                // bits.
                return Some((missed.txn, begin.wrapping_sub(missed.end) as u64));
            }
            before = place;
        }
    }
}

impl StaleRead {
    fn age(&self, history: &History) -> Age {
        Age { amount: self.age, unit: history.time_unit() }
    }

    /// The operations that show it, and why they do. `None` if they are not in the history.
    pub fn violation(&self, history: &History, levels: &[Level]) -> Option<Violation> {
        let refs = Refs(history);
        let key = history.op(self.read).key;
        let read = refs.op(self.read);
        let other = refs.op(last_write(history, self.missed, key)?);
        let source = match source_write(history, self.source, key) {
            Some(write) => refs.op(write),
            None => refs.initial_write(key),
        };
        let missed = refs.txn(self.missed);
        let first = match source.txn.id {
            Some(txn) => real_time_edge(history, txn, self.missed),
            None => Edge { from: refs.initial(), to: missed.clone(), reason: Reason::Initial },
        };
        let reader = history.txn_of(self.read);
        let visible = vec![real_time_edge(history, self.missed, reader)];
        let ops: Vec<OpRef> = vec![source.clone(), other.clone(), read.clone()];
        let to = source.txn.clone();
        let reason = Reason::Overwritten { read, source, other, visible };
        let cycle = vec![first, Edge { from: missed, to, reason }];
        let violation = Violation::new(Anomaly::StaleRead, ops, cycle).at(levels.to_vec());
        Some(Violation { age: Some(self.age(history)), ..violation })
    }
}

/// What the stale reads of a history say in one line; `None` if there are none.
pub(crate) fn staleness(history: &History, stale: &[StaleRead]) -> Option<Staleness> {
    let mut ages: Vec<u64> = stale.iter().map(|stale| stale.age).collect();
    ages.sort_unstable();
    let age = |amount: u64| Age { amount, unit: history.time_unit() };
    Some(Staleness {
        reads: ages.len() as u64,
        age_max: age(*ages.last()?),
        age_median: age(ages[(ages.len() - 1) / 2]),
    })
}

/// `from` ended before `to` began.
pub(crate) fn real_time_edge(history: &History, from: TxnId, to: TxnId) -> Edge {
    let (end, begin) = (history.times(from).map(|times| times.1), history.times(to));
    let (end, begin) = (end.unwrap_or(i64::MAX), begin.map_or(i64::MIN, |times| times.0));
    let refs = Refs(history);
    Edge { from: refs.txn(from), to: refs.txn(to), reason: Reason::RealTime { end, begin } }
}
