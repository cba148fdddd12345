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
//! does not, `witness_search.rs` looks for another sequence. The writers of each key are kept in
//! the order of the sequence, so that a question about one key costs the logarithm of how often it
//! was written.

use crate::log::Log;
use crate::past::INITIAL;
use crate::shrink::shrink_map;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_isolation::{Level, Order};
use std::cell::RefCell;
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

/// Where the points of a transaction are.
#[derive(Clone, Copy, Debug)]
struct Places {
    begin: u32,
    commit: u32,
}

/// The sequence of all committed transactions that are remembered.
#[derive(Clone, Default, Debug)]
pub(crate) struct Witness {
    pub sequence: Vec<Point>,
    places: FxHashMap<u32, Places>,
    /// The writers of each key, in the order of the sequence.
    versions: FxHashMap<u32, Vec<u32>>,
    /// The windows of open transactions, until the sequence changes: a scan of a table would be
    /// quadratic if each read looked at all before it.
    windows: RefCell<FxHashMap<u32, OpenWindow>>,
}

/// Before which places an open transaction could read what it has read so far.
#[derive(Clone, Copy, Debug)]
struct OpenWindow {
    low: usize,
    high: usize,
    /// How many of its reads are in it.
    reads: usize,
}

const NOWHERE: u32 = u32::MAX;

impl Witness {
    pub fn new(log: &Log, sequence: Vec<Point>) -> Witness {
        let mut witness = Witness { sequence, ..Witness::default() };
        witness.number_from(0);
        for point in witness.sequence.iter().filter(|point| point.is_commit) {
            for &key in log.txn(point.txn).writes.iter() {
                witness.versions.entry(key).or_default().push(point.txn);
            }
        }
        witness
    }

    fn number_from(&mut self, first: usize) {
        for (place, point) in self.sequence.iter().enumerate().skip(first) {
            let nowhere = Places { begin: NOWHERE, commit: NOWHERE };
            let places = self.places.entry(point.txn).or_insert(nowhere);
            if point.is_commit { places.commit = place as u32 } else { places.begin = place as u32 }
        }
    }

    /// The place of the commit of `txn`.
    pub fn commit(&self, txn: u32) -> u32 {
        self.places[&txn].commit
    }

    /// The first place behind the commit of a version; the initial one was there before all.
    fn behind(&self, source: u32) -> usize {
        if source == INITIAL { 0 } else { self.commit(source) as usize + 1 }
    }

    /// The place at which strong transaction `txn`, which is in the sequence, reads.
    fn reads_at(&self, log: &Log, txn: u32) -> u32 {
        let places = self.places[&txn];
        if has_begin(log.txn(txn).level) { places.begin } else { places.commit }
    }

    /// How many keys have versions in the sequence.
    pub fn key_count(&self) -> usize {
        self.versions.len()
    }

    /// Adds a point before place `gap`.
    pub fn insert(&mut self, log: &Log, gap: usize, point: Point) {
        self.windows.get_mut().clear();
        self.sequence.insert(gap, point);
        self.number_from(gap);
        if !point.is_commit {
            return;
        }
        for &key in log.txn(point.txn).writes.iter() {
            let writers = self.versions.entry(key).or_default();
            let place = writers.partition_point(|writer| self.places[writer].commit < gap as u32);
            writers.insert(place, point.txn);
        }
    }

    /// Whether the edges agree with the sequence.
    pub fn respects(&self, edges: &[(u32, u32)]) -> bool {
        edges.iter().all(|&(before, after)| self.commit(before) < self.commit(after))
    }

    /// Before which places an open strong transaction could read all that it has read.
    fn window(&self, log: &Log, txn: u32) -> Option<RangeInclusive<usize>> {
        let mut windows = self.windows.borrow_mut();
        let window = windows.entry(txn).or_insert_with(|| self.first_window(log, txn));
        // Ranges that came since are about keys that no transaction in the sequence has written.
        let reads = &log.txn(txn).reads[window.reads..];
        for read in reads {
            let behind = self.behind(read.source);
            window.low = window.low.max(behind);
            window.high = window.high.min(self.next_write(read.key, behind).unwrap_or(usize::MAX));
        }
        window.reads += reads.len();
        (window.low <= window.high).then_some(window.low..=window.high)
    }

    /// The same without single reads.
    fn first_window(&self, log: &Log, txn: u32) -> OpenWindow {
        let behind = log.previous(txn).map_or(0, |previous| self.commit(previous) as usize + 1);
        let low = behind.max(self.behind_ended(log, txn));
        let next = log.in_ranges(txn).filter_map(|key| self.next_write(key, 0));
        let high = next.min().unwrap_or(self.sequence.len());
        OpenWindow { low, high, reads: 0 }
    }

    /// The first place behind all that had ended when an open transaction began, if that matters:
    /// only what has committed since can be behind it.
    fn behind_ended(&self, log: &Log, txn: u32) -> usize {
        if log.order != Order::RealTime {
            return 0;
        }
        let begun = log.txn(txn).begun;
        let ended = |point: &Point| point.is_commit && log.txn(point.txn).commit < begun;
        self.sequence.iter().rposition(ended).map_or(0, |place| place + 1)
    }

    /// Before which place at the latest what an open transaction has read was not overwritten.
    fn first_overwritten(&self, log: &Log, txn: u32) -> usize {
        let reads = log.txn(txn).reads.iter().map(|read| (read.key, read.source));
        let reads = reads.chain(log.in_ranges(txn).map(|key| (key, INITIAL)));
        let next = reads.filter_map(|(key, source)| self.next_write(key, self.behind(source)));
        next.min().unwrap_or(self.sequence.len())
    }

    fn writers(&self, key: u32) -> &[u32] {
        self.versions.get(&key).map_or(&[][..], Vec::as_slice)
    }

    /// The versions of `key` that an open strong transaction can read somewhere in the sequence, in
    /// the order of the sequence.
    pub fn fitting(&self, log: &Log, txn: u32, key: u32) -> Vec<u32> {
        let Some(window) = self.window(log, txn) else { return Vec::new() };
        let writers = self.writers(key);
        let place = |writer: &u32| self.commit(*writer) as usize;
        // The version that is there at the begin of the window, and those that come inside of it.
        let first = writers.partition_point(|writer| place(writer) < *window.start());
        let inside = writers[first..].iter().take_while(|writer| place(writer) < *window.end());
        let before = first.checked_sub(1).map_or(INITIAL, |last| writers[last]);
        [before].into_iter().chain(inside.copied()).collect()
    }

    /// Whether `source` is among [`Witness::fitting`].
    pub fn fits(&self, log: &Log, txn: u32, key: u32, source: u32) -> bool {
        let Some(window) = self.window(log, txn) else { return false };
        let from = self.behind(source);
        let until = self.next_write(key, from).unwrap_or(self.sequence.len());
        from.max(*window.start()) <= until.min(*window.end())
    }

    /// The place of the first commit at or behind `from` that writes `key`.
    fn next_write(&self, key: u32, from: usize) -> Option<usize> {
        let writers = self.writers(key);
        let next = writers.partition_point(|&writer| (self.commit(writer) as usize) < from);
        writers.get(next).map(|&writer| self.commit(writer) as usize)
    }

    /// Puts an open strong transaction into the sequence; false if it fits nowhere.
    pub fn place(&mut self, log: &Log, txn: u32) -> bool {
        let Some(window) = self.window(log, txn) else { return false };
        match log.txn(txn).level {
            // At the end its writes spoil no read, and other writers may lie between its points.
            Level::PrefixConsistency => {
                self.place_both(log, txn, *window.end(), self.sequence.len())
            }
            Level::SnapshotIsolation => return self.place_snapshot(log, txn, window),
            _ => return self.place_serial(log, txn, window),
        }
        true
    }

    fn place_both(&mut self, log: &Log, txn: u32, begin: usize, commit: usize) {
        // The commit first: the begin, which is before it, moves it on.
        self.insert(log, commit, Point { txn, is_commit: true });
        self.insert(log, begin, Point { txn, is_commit: false });
    }

    fn place_serial(&mut self, log: &Log, txn: u32, window: RangeInclusive<usize>) -> bool {
        // The later the place, the fewer readers behind it can miss its writes.
        let Some(gap) = window.rev().take(TRIES).find(|&gap| self.may_commit_at(log, txn, gap))
        else {
            return false;
        };
        self.insert(log, gap, Point { txn, is_commit: true });
        true
    }

    /// The begin as late as possible, the commit before the next one that writes one of its keys.
    fn place_snapshot(&mut self, log: &Log, txn: u32, window: RangeInclusive<usize>) -> bool {
        let begin = *window.end();
        let writes = &log.txn(txn).writes;
        let conflicts = writes.iter().filter_map(|&key| self.next_write(key, begin));
        let commit = conflicts.min().unwrap_or(self.sequence.len());
        if !self.may_commit_at(log, txn, commit) {
            return false;
        }
        self.place_both(log, txn, begin, commit);
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
                        .any(|read| read.key == key && self.behind(read.source) <= gap));
            let snapshot = other.level == Level::SnapshotIsolation
                && point.is_commit
                && (self.places[&point.txn].begin as usize) < gap
                && other.writes.contains(&key);
            !reads_older && !snapshot
        })
    }

    /// How many points from the first one on can be settled: nothing that an open transaction has
    /// read is overwritten there, and no transaction has one of its points among them and the other
    /// one not.
    fn settleable(&self, log: &Log) -> usize {
        let read = log.open().map(|txn| self.first_overwritten(log, txn));
        let limit = read.min().unwrap_or(self.sequence.len());
        let (mut cut, mut begun) = (0, 0);
        for (place, point) in self.sequence[..limit].iter().enumerate() {
            match (point.is_commit, has_begin(log.txn(point.txn).level)) {
                (true, true) => begun -= 1,
                (false, _) => begun += 1,
                (true, false) => {}
            }
            if begun == 0 {
                cut = place + 1;
            }
        }
        cut
    }

    /// Takes the transactions out of the sequence that can be settled, and returns them in its
    /// order.
    pub fn settle(&mut self, log: &Log) -> Vec<u32> {
        let cut = self.settleable(log);
        self.windows.get_mut().clear();
        let points: Vec<Point> = self.sequence.drain(..cut).collect();
        let settled: Vec<u32> =
            points.iter().filter(|point| point.is_commit).map(|point| point.txn).collect();
        let mut keys: FxHashSet<u32> = FxHashSet::default();
        for txn in &settled {
            self.places.remove(txn);
            keys.extend(log.txn(*txn).writes.iter().copied());
        }
        for key in keys {
            let Some(writers) = self.versions.get_mut(&key) else { continue };
            writers.retain(|writer| self.places.contains_key(writer));
            if writers.is_empty() {
                self.versions.remove(&key);
            }
        }
        shrink_map(&mut self.versions);
        self.number_from(0);
        settled
    }
}

/// How many places are tried for a serializable transaction that does not fit at the end.
const TRIES: usize = 64;
