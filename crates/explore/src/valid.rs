//! VALID of EXPLORE-CE* (Section 6 of the paper): whether a complete history satisfies its levels,
//! where the exploration kept it consistent with something weaker only.
//!
//! The axioms of the weak levels are edges. Transactions at strong levels are points in time: one
//! at serializability, begin and commit at snapshot isolation and prefix consistency; they read at
//! the first and write at the last. Some order of the points must respect session order, reads and
//! the edges, and no version may be overwritten while a transaction that reads it has yet to. That
//! depends only on which points have passed, so a depth-first search visits each such set once:
//! polynomially many for a fixed number of sessions (Biswas and Enea, OOPSLA 2019, Section 4).

use crate::closure::Closure;
use crate::ordered::{Ordered, Record};
use crate::program::{Local, Value};
use crate::reader::Reader;
use crate::txn_set::{INITIAL, Id, TxnSet};
use rustc_hash::FxHashSet;
use seriatim_isolation::Level;

/// Whether some commit order satisfies the level of every transaction and also respects `edges`.
pub(crate) fn is_valid<V: Value, L: Local>(
    history: &Ordered<V, L>,
    level_of: impl Fn(Id) -> Level,
    edges: &[(Id, Id)],
) -> bool {
    is_valid_within(history, level_of, edges, usize::MAX).unwrap_or(false)
}

/// The same within a budget: `None` if more than `sets_max` sets of points would be looked at.
pub(crate) fn is_valid_within<V: Value, L: Local>(
    history: &Ordered<V, L>,
    level_of: impl Fn(Id) -> Level,
    edges: &[(Id, Id)],
    sets_max: usize,
) -> Option<bool> {
    let mut closure = Closure::default();
    let mut weak: Vec<(Id, Id)> = edges.to_vec();
    for record in history.order() {
        // Every strong level implies causal consistency, which is quick to refuse.
        let level = level_of(record.id).min(Level::Causal);
        let mut reader = Reader::begin(history, record.id, level, closure);
        if !record.reads.iter().all(|read| reader.read(history, read.key, read.source)) {
            return Some(false);
        }
        // At a strong level these follow from the points.
        if !level_of(record.id).is_strong() {
            weak.append(&mut reader.edges);
        }
        closure = reader.closure;
    }
    if !closure.add_all(edges) {
        return Some(false);
    }
    let is_weak = |record: &std::rc::Rc<Record<V, L>>| !level_of(record.id).is_strong();
    if history.order().iter().all(is_weak) {
        return Some(true);
    }
    Points::new(history, level_of, &weak).can_be_ordered(sets_max)
}

/// A read of a strong transaction that must be done before the version is overwritten.
struct Pin {
    source: Id,
    reader: Id,
}

/// What the order of the points must respect.
struct Points {
    /// By transaction: what must commit before it begins (or commits, if it has one point only).
    needs: Vec<TxnSet>,
    /// By transaction: what else must commit before it commits.
    needs_to_commit: Vec<TxnSet>,
    /// By transaction: the reads that its writes would spoil.
    pins: Vec<Vec<Pin>>,
    /// By transaction: the others that write a key that it writes.
    rivals: Vec<TxnSet>,
    /// Those with a begin of their own, and those of them at snapshot isolation.
    two_points: TxnSet,
    snapshot: TxnSet,
    all: TxnSet,
}

/// Which points have passed.
type Passed = (TxnSet, TxnSet);

impl Points {
    fn new<V: Value, L: Local>(
        history: &Ordered<V, L>,
        level: impl Fn(Id) -> Level,
        edges: &[(Id, Id)],
    ) -> Points {
        let size = history
            .order()
            .iter()
            .map(|record| usize::from(record.id) + 1)
            .max()
            .unwrap_or_default();
        let mut points = Points {
            needs: vec![TxnSet::NONE; size],
            needs_to_commit: vec![TxnSet::NONE; size],
            pins: (0..size).map(|_| Vec::new()).collect(),
            rivals: vec![TxnSet::NONE; size],
            two_points: TxnSet::NONE,
            snapshot: TxnSet::NONE,
            all: TxnSet::NONE,
        };
        for record in history.order() {
            points.add(history, record, level(record.id));
        }
        for &(from, to) in edges {
            points.needs_to_commit[usize::from(to)] =
                points.needs_to_commit[usize::from(to)].with(from);
        }
        points
    }

    fn add<V: Value, L: Local>(
        &mut self,
        history: &Ordered<V, L>,
        record: &Record<V, L>,
        level: Level,
    ) {
        let id = record.id;
        self.all = self.all.with(id);
        if matches!(level, Level::PrefixConsistency | Level::SnapshotIsolation) {
            self.two_points = self.two_points.with(id);
        }
        if level == Level::SnapshotIsolation {
            self.snapshot = self.snapshot.with(id);
        }
        let needs = &mut self.needs[usize::from(id)];
        *needs = history.previous(id).map_or(TxnSet::NONE, TxnSet::one);
        for read in &record.reads {
            if read.source != INITIAL {
                *needs = needs.with(read.source);
            }
        }
        for &key in &record.written {
            let rivals = history.writers(key).without(id);
            self.rivals[usize::from(id)] = self.rivals[usize::from(id)].union(rivals);
        }
        if level.is_strong() {
            for read in &record.reads {
                let spoilers = history.writers(read.key).without(id);
                for writer in spoilers.iter().filter(|&writer| writer != read.source) {
                    self.pins[usize::from(writer)].push(Pin { source: read.source, reader: id });
                }
            }
        }
    }

    /// `None` if that would take more than `sets_max` sets.
    fn can_be_ordered(&self, sets_max: usize) -> Option<bool> {
        let mut seen: FxHashSet<Passed> = FxHashSet::default();
        let mut open: Vec<Passed> = vec![(TxnSet::NONE, TxnSet::NONE)];
        while let Some(passed) = open.pop() {
            if passed.1 == self.all {
                return Some(true);
            }
            if seen.len() > sets_max {
                return None;
            }
            for id in self.all.difference(passed.1).iter() {
                let next = match self.two_points.has(id) && !passed.0.has(id) {
                    true => self.begin(passed, id),
                    false => self.commit(passed, id),
                };
                if let Some(next) = next
                    && seen.insert(next)
                {
                    open.push(next);
                }
            }
        }
        Some(false)
    }

    fn begin(&self, (begun, committed): Passed, id: Id) -> Option<Passed> {
        committed.has_all(self.needs[usize::from(id)]).then(|| (begun.with(id), committed))
    }

    fn commit(&self, (begun, committed): Passed, id: Id) -> Option<Passed> {
        let at = usize::from(id);
        if !committed.has_all(self.needs[at].union(self.needs_to_commit[at])) {
            return None;
        }
        // Of two writers of a key that overlap, one at snapshot isolation must fail.
        let open = begun.difference(committed).without(id);
        if !open.intersection(self.snapshot).intersection(self.rivals[at]).is_empty() {
            return None;
        }
        let has_read = |reader: Id| {
            if self.two_points.has(reader) { begun.has(reader) } else { committed.has(reader) }
        };
        // A source that is yet to commit comes after this version, so its readers lose nothing.
        let spoils = |pin: &Pin| {
            (pin.source == INITIAL || committed.has(pin.source)) && !has_read(pin.reader)
        };
        (!self.pins[at].iter().any(spoils)).then(|| (begun, committed.with(id)))
    }
}
