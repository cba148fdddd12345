//! A sequence of points that shows the history valid as it stands, for stores with transactions at
//! strong levels.
//!
//! A transaction at a weak level or at serializability is one point, its commit. At prefix
//! consistency and snapshot isolation it has a begin point too, where it reads. A strong
//! transaction reads, at its point, the last version of each key before it. At snapshot isolation
//! no other transaction commits a write to one of its keys between its two points. Weak
//! transactions ask for edges between commits, as everywhere.
//!
//! As long as a new transaction fits somewhere into the sequence nothing has to be searched. If it
//! does not, `witness_search.rs` looks for another sequence.

use crate::log::Log;
use crate::past::INITIAL;
use rustc_hash::FxHashSet;
use seriatim_isolation::Level;
use std::ops::RangeInclusive;

/// A point of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Point {
    pub txn: u32,
    pub is_commit: bool,
}

/// Whether transactions at this level have a begin point of their own.
pub(crate) fn has_begin(level: Level) -> bool {
    matches!(level, Level::PrefixConsistency | Level::SnapshotIsolation)
}

/// The sequence of all committed transactions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Witness {
    pub sequence: Vec<Point>,
    /// For each transaction the places of its begin point and of its commit point.
    places: Vec<(u32, u32)>,
}

const NOWHERE: u32 = u32::MAX;

impl Witness {
    pub fn new(sequence: Vec<Point>) -> Witness {
        let mut witness = Witness { sequence, places: Vec::new() };
        witness.number_from(0);
        witness
    }

    fn number_from(&mut self, first: usize) {
        for (place, point) in self.sequence.iter().enumerate().skip(first) {
            if self.places.len() <= point.txn as usize {
                self.places.resize(point.txn as usize + 1, (NOWHERE, NOWHERE));
            }
            let places = &mut self.places[point.txn as usize];
            if point.is_commit { places.1 = place as u32 } else { places.0 = place as u32 }
        }
    }

    /// The place of the commit of `txn`.
    pub fn commit(&self, txn: u32) -> u32 {
        self.places[txn as usize].1
    }

    /// The place at which strong transaction `txn`, which is in the sequence, reads.
    fn reads_at(&self, log: &Log, txn: u32) -> u32 {
        let places = self.places[txn as usize];
        if has_begin(log.txn(txn).level) { places.0 } else { places.1 }
    }

    /// Adds a point before place `gap`.
    pub fn insert(&mut self, gap: usize, point: Point) {
        self.sequence.insert(gap, point);
        self.number_from(gap);
    }

    /// Whether the edges agree with the sequence.
    pub fn respects(&self, edges: &[(u32, u32)]) -> bool {
        edges.iter().all(|&(before, after)| self.commit(before) < self.commit(after))
    }

    /// Before which places an open strong transaction could read all that it has read.
    fn window(&self, log: &Log, txn: u32) -> Option<RangeInclusive<usize>> {
        let mut low = log.previous(txn).map_or(0, |previous| self.commit(previous) as usize + 1);
        let mut high = self.sequence.len();
        for read in &log.txn(txn).reads {
            let from =
                if read.source == INITIAL { 0 } else { self.commit(read.source) as usize + 1 };
            low = low.max(from);
            high = high.min(self.next_write(log, read.key, from).unwrap_or(high));
        }
        for key in log.in_ranges(txn) {
            high = high.min(self.next_write(log, key, 0).unwrap_or(high));
        }
        (low <= high).then_some(low..=high)
    }

    /// The versions of `key` that an open strong transaction can read somewhere in the sequence.
    pub fn fitting(&self, log: &Log, txn: u32, key: u32) -> FxHashSet<u32> {
        let Some(window) = self.window(log, txn) else { return FxHashSet::default() };
        let writers = log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all);
        let mut versions: Vec<(usize, u32)> =
            writers.iter().map(|&writer| (self.commit(writer) as usize + 1, writer)).collect();
        versions.push((0, INITIAL));
        versions.sort_unstable();
        let until =
            |place: usize| versions.get(place + 1).map_or(self.sequence.len(), |next| next.0 - 1);
        let last = |place: usize| until(place).min(*window.end());
        let fits = |&(place, &(from, _)): &(usize, &(usize, u32))| {
            from.max(*window.start()) <= last(place)
        };
        versions.iter().enumerate().filter(fits).map(|(_, &(_, writer))| writer).collect()
    }

    /// The place of the first commit at or behind `from` that writes `key`.
    fn next_write(&self, log: &Log, key: u32, from: usize) -> Option<usize> {
        let writers = log.keys.get(key as usize)?;
        let places = writers.all.iter().map(|&writer| self.commit(writer) as usize);
        places.filter(|&place| place >= from).min()
    }

    /// Puts an open strong transaction into the sequence; false if it fits nowhere.
    pub fn place(&mut self, log: &Log, txn: u32) -> bool {
        let Some(window) = self.window(log, txn) else { return false };
        match log.txn(txn).level {
            // At the end its writes spoil no read, and other writers may lie between its points.
            Level::PrefixConsistency => self.place_both(txn, *window.end(), self.sequence.len()),
            Level::SnapshotIsolation => return self.place_snapshot(log, txn, window),
            _ => return self.place_serial(log, txn, window),
        }
        true
    }

    fn place_both(&mut self, txn: u32, begin: usize, commit: usize) {
        // The commit first: the begin, which is before it, moves it on.
        self.insert(commit, Point { txn, is_commit: true });
        self.insert(begin, Point { txn, is_commit: false });
    }

    fn place_serial(&mut self, log: &Log, txn: u32, window: RangeInclusive<usize>) -> bool {
        // The later the place, the fewer readers behind it can miss its writes.
        let Some(gap) = window.rev().take(TRIES).find(|&gap| self.may_commit_at(log, txn, gap))
        else {
            return false;
        };
        self.insert(gap, Point { txn, is_commit: true });
        true
    }

    /// The begin as late as possible, the commit before the next one that writes one of its keys.
    fn place_snapshot(&mut self, log: &Log, txn: u32, window: RangeInclusive<usize>) -> bool {
        let begin = *window.end();
        let writes = &log.txn(txn).writes;
        let conflicts = writes.iter().filter_map(|&key| self.next_write(log, key, begin));
        let commit = conflicts.min().unwrap_or(self.sequence.len());
        if !self.may_commit_at(log, txn, commit) {
            return false;
        }
        self.place_both(txn, begin, commit);
        true
    }

    /// Whether the writes of `txn` may become visible before place `gap`: no transaction reads an
    /// older version behind it, and no snapshot of another writer of these keys is open there.
    fn may_commit_at(&self, log: &Log, txn: u32, gap: usize) -> bool {
        gap == self.sequence.len()
            || log.txn(txn).writes.iter().all(|&key| self.may_write_at(log, key, gap))
    }

    fn may_write_at(&self, log: &Log, key: u32, gap: usize) -> bool {
        self.sequence[gap..].iter().all(|point| {
            let other = log.txn(point.txn);
            if !other.level.is_strong() {
                return true;
            }
            let reads_here = self.reads_at(log, point.txn) as usize >= gap;
            let reads_older = reads_here
                && (log.has_in_range(point.txn, key)
                    || other
                        .reads
                        .iter()
                        .any(|read| read.key == key && self.is_before(read.source, gap)));
            let snapshot = other.level == Level::SnapshotIsolation
                && point.is_commit
                && (self.places[point.txn as usize].0 as usize) < gap
                && other.writes.contains(&key);
            !reads_older && !snapshot
        })
    }

    fn is_before(&self, source: u32, gap: usize) -> bool {
        source == INITIAL || (self.commit(source) as usize) < gap
    }
}

/// How many places are tried for a serializable transaction that does not fit at the end.
const TRIES: usize = 64;
