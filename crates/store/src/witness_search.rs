//! Is there any sequence of points that shows a history valid? Tried only when the transaction does
//! not fit into the sequence that is there.
//!
//! A depth-first search over the points that may come next, the old sequence first, that never
//! visits a state twice: a state is how far each session has come and which transaction wrote each
//! key last. The cost is exponential, so it is not tried for long sequences: a store with more than
//! [`POINTS_MAX`] points or [`KEYS_MAX`] written keys refuses behaviours that only another order of
//! what has committed would show valid.

use crate::log::{Log, State};
use crate::past::INITIAL;
use crate::witness::{Point, Witness, has_begin};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_isolation::Level;

/// The longest sequence for which another one is looked for.
const POINTS_MAX: usize = 48;
/// The largest number of keys with versions in such a sequence: a state has all of them.
const KEYS_MAX: usize = 1_000;
/// How many states may be looked at.
const STATES_MAX: usize = 20_000;

/// Whether another sequence than this one is looked for at all.
pub(crate) fn is_tried(witness: &Witness) -> bool {
    witness.sequence.len() <= POINTS_MAX && witness.key_count() <= KEYS_MAX
}

/// What is to be ordered anew.
pub(crate) struct Question<'l> {
    pub log: &'l Log,
    pub witness: &'l Witness,
    /// The open transaction that does not fit.
    pub txn: u32,
    /// A read of it that is not in the log yet: key and source.
    pub also: Option<(u32, u32)>,
    /// Edges that this read asks for, at a weak level.
    pub edges: &'l [(u32, u32)],
}

impl Question<'_> {
    /// A sequence of all committed transactions and this one.
    pub fn answer(&self) -> Option<Vec<Point>> {
        if !is_tried(self.witness) {
            return None;
        }
        let mut search = WitnessSearch::new(self);
        search.go().then_some(search.path)
    }
}

/// Which points are placed, and the last writer of each key.
type Visited = (Vec<bool>, Vec<(u32, u32)>);

struct WitnessSearch<'q> {
    question: &'q Question<'q>,
    /// The points to place, in the order in which they are tried.
    points: Vec<Point>,
    placed: Vec<bool>,
    committed: FxHashSet<u32>,
    /// For each transaction those that must commit before it, beside session order and reads.
    before: FxHashMap<u32, Vec<u32>>,
    last_writer: FxHashMap<u32, u32>,
    begun: Vec<u32>,
    path: Vec<Point>,
    dead: FxHashSet<Visited>,
}

impl<'q> WitnessSearch<'q> {
    fn new(question: &'q Question<'q>) -> WitnessSearch<'q> {
        let mut points = question.witness.sequence.clone();
        if has_begin(question.log.txn(question.txn).level) {
            points.push(Point { txn: question.txn, is_commit: false });
        }
        points.push(Point { txn: question.txn, is_commit: true });
        let mut search = WitnessSearch {
            question,
            placed: vec![false; points.len()],
            points,
            committed: FxHashSet::default(),
            before: FxHashMap::default(),
            last_writer: FxHashMap::default(),
            begun: Vec::new(),
            path: Vec::new(),
            dead: FxHashSet::default(),
        };
        search.collect_edges();
        search
    }

    fn collect_edges(&mut self) {
        let records = self
            .question
            .log
            .txns
            .iter()
            .map(|(_, record)| record)
            .filter(|record| record.state != State::Aborted);
        let edges = records.flat_map(|record| &record.forced).chain(self.question.edges);
        for &(before, after) in edges {
            self.before.entry(after).or_default().push(before);
        }
    }

    fn commit(&mut self, txn: u32) {
        self.committed.insert(txn);
        for &key in self.question.log.txn(txn).writes.iter() {
            self.last_writer.insert(key, txn);
        }
    }

    fn go(&mut self) -> bool {
        if self.path.len() == self.points.len() {
            return true;
        }
        let state = self.state();
        if self.dead.len() >= STATES_MAX || self.dead.contains(&state) {
            return false;
        }
        for next in 0..self.points.len() {
            if !self.placed[next] && self.may_come(self.points[next]) && self.with(next) {
                return true;
            }
        }
        self.dead.insert(state);
        false
    }

    fn state(&self) -> Visited {
        let mut last: Vec<(u32, u32)> =
            self.last_writer.iter().map(|(&key, &txn)| (key, txn)).collect();
        last.sort_unstable();
        (self.placed.clone(), last)
    }

    /// Goes on with the point `next` placed, and takes it back if that leads nowhere.
    fn with(&mut self, next: usize) -> bool {
        let point = self.points[next];
        self.placed[next] = true;
        self.path.push(point);
        let old =
            if point.is_commit { self.do_commit(point.txn) } else { self.do_begin(point.txn) };
        if self.go() {
            return true;
        }
        self.undo(point, old);
        self.path.pop();
        self.placed[next] = false;
        false
    }

    fn do_begin(&mut self, txn: u32) -> Vec<(u32, Option<u32>)> {
        self.begun.push(txn);
        Vec::new()
    }

    fn do_commit(&mut self, txn: u32) -> Vec<(u32, Option<u32>)> {
        self.begun.retain(|&other| other != txn);
        let writes = &self.question.log.txn(txn).writes;
        let old = writes.iter().map(|&key| (key, self.last_writer.get(&key).copied())).collect();
        self.commit(txn);
        old
    }

    fn undo(&mut self, point: Point, old: Vec<(u32, Option<u32>)>) {
        if !point.is_commit {
            self.begun.retain(|&other| other != point.txn);
            return;
        }
        self.committed.remove(&point.txn);
        for (key, writer) in old {
            match writer {
                Some(writer) => self.last_writer.insert(key, writer),
                None => self.last_writer.remove(&key),
            };
        }
        if has_begin(self.question.log.txn(point.txn).level) {
            self.begun.push(point.txn);
        }
    }

    fn may_come(&self, point: Point) -> bool {
        let record = self.question.log.txn(point.txn);
        let first = !(point.is_commit && has_begin(record.level));
        if first && !self.may_start(point.txn) {
            return false;
        }
        if first && record.level.is_strong() && !self.reads_last_versions(point.txn) {
            return false;
        }
        !point.is_commit || (first || self.begun.contains(&point.txn)) && self.may_commit(point.txn)
    }

    /// Session order, time and reads.
    fn may_start(&self, txn: u32) -> bool {
        let log = self.question.log;
        let mut open = self.points.iter().filter(|point| {
            point.is_commit
                && point.txn != self.question.txn
                && !self.committed.contains(&point.txn)
        });
        if open.any(|point| log.ended_before(point.txn, txn)) {
            return false;
        }
        let previous = log.previous(txn);
        previous.is_none_or(|previous| self.committed.contains(&previous))
            && self
                .reads(txn)
                .all(|(_, source)| source == INITIAL || self.committed.contains(&source))
    }

    fn reads(&self, txn: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let reads = self.question.log.txn(txn).reads.iter().map(|read| (read.key, read.source));
        let ranges = self.question.log.in_ranges(txn).map(|key| (key, INITIAL));
        reads.chain(ranges).chain(self.question.also.filter(|_| txn == self.question.txn))
    }

    fn reads_last_versions(&self, txn: u32) -> bool {
        self.reads(txn)
            .all(|(key, source)| self.last_writer.get(&key).copied().unwrap_or(INITIAL) == source)
    }

    fn may_commit(&self, txn: u32) -> bool {
        let log = self.question.log;
        let waits = self
            .before
            .get(&txn)
            .is_some_and(|all| all.iter().any(|before| !self.committed.contains(before)));
        let conflict = |&other: &u32| {
            let other_record = log.txn(other);
            other != txn
                && other_record.level == Level::SnapshotIsolation
                && other_record.writes.iter().any(|&key| log.writes(txn, key))
        };
        !waits && !self.begun.iter().any(conflict) && !self.spoils_a_read(txn)
    }

    /// Whether the commit overwrites a version that a strong transaction which has not read yet
    /// must find.
    fn spoils_a_read(&self, txn: u32) -> bool {
        let log = self.question.log;
        let writes = &log.txn(txn).writes;
        let open = self
            .points
            .iter()
            .zip(&self.placed)
            .filter(|(point, placed)| !**placed && point.txn != txn);
        open.filter(|(point, _)| !point.is_commit || !has_begin(log.txn(point.txn).level)).any(
            |(point, _)| {
                log.txn(point.txn).level.is_strong()
                    && self.reads(point.txn).any(|(key, source)| {
                        // A version that is yet to come is not spoiled by this commit.
                        writes.contains(&key)
                            && self.last_writer.get(&key).copied().unwrap_or(INITIAL) == source
                    })
            },
        )
    }
}
