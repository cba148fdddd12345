//! Mending an order by choices that are never taken back: each broken place is looked at as the
//! order stands by then, and one of the two ways to mend it is taken if it closes no cycle. Most
//! histories that hold need nothing more; where both ways are blocked by earlier choices, the
//! search takes over from the order that was reached.

use super::facts::Facts;
use super::force::{order_arcs, replaced_reads};
use super::ids::{AmbiguousId, PointId, SlotId};
use super::scan::Broken;
use super::sources::Sources;
use super::theory::Acyclic;
use super::timeline::{Arc, Timeline};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::TxnId;

pub(crate) struct Repair<'a> {
    facts: &'a Facts<'a>,
    timeline: Timeline,
    pub theory: Acyclic<'a>,
    /// What ambiguous reads were said to read.
    matched: FxHashMap<AmbiguousId, SlotId>,
    /// What ambiguous reads (by number) were said to read, and could not be kept.
    failed: FxHashSet<(AmbiguousId, SlotId)>,
}

impl<'a> Repair<'a> {
    pub fn new(facts: &'a Facts<'a>, timeline: Timeline, theory: Acyclic<'a>) -> Repair<'a> {
        Repair {
            facts,
            timeline,
            theory,
            matched: FxHashMap::default(),
            failed: FxHashSet::default(),
        }
    }

    /// Takes back all choices, but leaves the order that they led to.
    pub fn forget(&mut self) {
        self.theory.forget();
        self.matched.clear();
        self.failed.clear();
    }

    /// The slot that each ambiguous read is known or said to read.
    pub fn chosen(&self, fixed: &[SlotId]) -> Vec<SlotId> {
        let mut chosen = fixed.to_vec();
        for (&read, &slot) in &self.matched {
            chosen[read.index()] = slot;
        }
        chosen
    }

    /// Mends what it can; whether that was anything.
    pub fn mend(&mut self, broken: &[Broken], fixed: &Sources) -> bool {
        let mut mended = false;
        for &place in broken {
            mended |= match place {
                Broken::Read { slot, version, reader } => self.read(slot, version, reader, fixed),
                Broken::Overlap { earlier, later } => self.overlap(earlier, later, fixed),
                Broken::Chosen { read, version } => self.read_chosen(read, version, fixed),
                Broken::Value { read } => self.value(read),
            };
        }
        mended
    }

    fn writer(&self, version: SlotId) -> TxnId {
        self.facts.version_writer(version)
    }

    fn at(&self, point: PointId) -> u32 {
        self.theory.position[point.index()]
    }

    fn commit(&self, txn: TxnId) -> u32 {
        self.at(self.timeline.commit(txn))
    }

    fn begin(&self, txn: TxnId) -> u32 {
        self.at(self.timeline.begin(txn))
    }

    /// Whether `writer` still replaces what `source` wrote before `reader` begins.
    fn is_broken(&self, source: Option<TxnId>, writer: TxnId, reader: TxnId) -> bool {
        self.commit(writer) < self.begin(reader)
            && source.is_none_or(|source| self.commit(source) < self.commit(writer))
    }

    /// `first` writes before `second` (then `more` too), or the other way round: first the way that
    /// has to move less.
    fn either_order(&mut self, first: TxnId, second: TxnId, more: &[Arc], fixed: &Sources) -> bool {
        let mut forward = self.arcs(first, second, fixed);
        forward.extend(more);
        let backward = self.arcs(second, first, fixed);
        let (first, then) = match self.theory.farthest(&forward) <= self.theory.farthest(&backward)
        {
            true => (forward, backward),
            false => (backward, forward),
        };
        self.theory.try_arcs(&first) || self.theory.try_arcs(&then)
    }

    fn arcs(&self, earlier: TxnId, later: TxnId, fixed: &Sources) -> Vec<Arc> {
        let mut arcs = order_arcs(self.facts, self.timeline, earlier, later);
        let reads = replaced_reads(self.facts, fixed, earlier, later).into_iter();
        arcs.extend(
            reads.map(|read| self.timeline.read_write(self.facts.read(read).reader, later)),
        );
        arcs
    }

    fn read(&mut self, slot: SlotId, version: SlotId, reader: TxnId, fixed: &Sources) -> bool {
        let (source, writer) = (self.facts.writer(slot), self.writer(version));
        if !self.is_broken(source, writer, reader) {
            return false;
        }
        match source {
            None => self.theory.try_arcs(&[self.timeline.read_write(reader, writer)]),
            Some(source) => self.either_order(source, writer, &[], fixed),
        }
    }

    fn read_chosen(&mut self, read: AmbiguousId, version: SlotId, fixed: &Sources) -> bool {
        let slot = self.matched.get(&read).copied().unwrap_or(fixed.of(read));
        let (source, writer) = (self.facts.writer(slot), self.writer(version));
        let reader = self.facts.read(read).reader;
        if slot == SlotId::NONE || !self.is_broken(source, writer, reader) {
            return false;
        }
        let begins_first = self.timeline.read_write(reader, writer);
        let mended = match source {
            None => self.theory.try_arcs(&[begins_first]),
            Some(source) => self.either_order(source, writer, &[begins_first], fixed),
        };
        mended || self.drop_choice(read, slot)
    }

    /// What the read was said to read cannot be kept: it has to be something else. Whether anything
    /// was said.
    fn drop_choice(&mut self, read: AmbiguousId, slot: SlotId) -> bool {
        self.matched.remove(&read).is_some() && self.failed.insert((read, slot))
    }

    fn overlap(&mut self, earlier: SlotId, later: SlotId, fixed: &Sources) -> bool {
        let (earlier, later) = (self.writer(earlier), self.writer(later));
        let overlap =
            self.begin(later) < self.commit(earlier) && self.begin(earlier) < self.commit(later);
        overlap && self.either_order(earlier, later, &[], fixed)
    }

    /// Says what an ambiguous read reads: the candidate nearest before it for which that is
    /// possible.
    fn value(&mut self, number: AmbiguousId) -> bool {
        let read = self.facts.read(number);
        if self.matched.contains_key(&number) {
            return false;
        }
        let begin = self.begin(read.reader);
        let place =
            |slot: SlotId| self.facts.writer(slot).map_or(0, |writer| self.commit(writer) + 1);
        let mut candidates: Vec<SlotId> = self.facts.candidates(read).collect();
        // Those before the reader first, the nearest first; then those behind it.
        candidates.sort_unstable_by_key(|&slot| match place(slot) {
            place if place <= begin => (0, begin - place),
            place => (1, place),
        });
        for slot in candidates {
            if self.failed.contains(&(number, slot)) {
                continue;
            }
            let arc =
                self.facts.writer(slot).map(|writer| self.timeline.follows(writer, read.reader));
            if self.theory.try_arcs(arc.as_slice()) {
                self.matched.insert(number, slot);
                return true;
            }
        }
        false
    }
}
