//! Mending an order by choices that are never taken back: each broken place is looked at as the
//! order stands by then, and one of the two ways to mend it is taken if it closes no cycle. Most
//! histories that hold need nothing more; where both ways are blocked by earlier choices, the
//! search takes over from the order that was reached.

use super::facts::Facts;
use super::force::{order_arcs, replaced_reads};
use super::scan::Broken;
use super::sources::Sources;
use super::theory::Acyclic;
use super::timeline::{Arc, Timeline};
use crate::index::NONE;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) struct Repair<'a> {
    facts: &'a Facts<'a>,
    timeline: Timeline,
    pub theory: Acyclic<'a>,
    /// What ambiguous reads were said to read.
    matched: FxHashMap<u32, u32>,
    /// What ambiguous reads (by number) were said to read, and could not be kept.
    failed: FxHashSet<(u32, u32)>,
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
    pub fn chosen(&self, fixed: &[u32]) -> Vec<u32> {
        let mut chosen = fixed.to_vec();
        for (&read, &slot) in &self.matched {
            chosen[read as usize] = slot;
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

    fn writer(&self, version: u32) -> u32 {
        self.facts.index.versions.txn[version as usize]
    }

    fn at(&self, point: u32) -> u32 {
        self.theory.position[point as usize]
    }

    fn commit(&self, txn: u32) -> u32 {
        self.at(self.timeline.commit(txn))
    }

    fn begin(&self, txn: u32) -> u32 {
        self.at(self.timeline.begin(txn))
    }

    /// Whether `writer` still replaces what `source` wrote before `reader` begins.
    fn is_broken(&self, source: Option<u32>, writer: u32, reader: u32) -> bool {
        self.commit(writer) < self.begin(reader)
            && source.is_none_or(|source| self.commit(source) < self.commit(writer))
    }

    /// `first` writes before `second` (then `more` too), or the other way round: first the way that
    /// has to move less.
    fn either_order(&mut self, first: u32, second: u32, more: &[Arc], fixed: &Sources) -> bool {
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

    fn arcs(&self, earlier: u32, later: u32, fixed: &Sources) -> Vec<Arc> {
        let mut arcs = order_arcs(self.facts, self.timeline, earlier, later);
        let reads = replaced_reads(self.facts, fixed, earlier, later).into_iter();
        arcs.extend(reads.map(|read| {
            self.timeline.read_write(self.facts.ambiguous[read as usize].reader, later)
        }));
        arcs
    }

    fn read(&mut self, slot: u32, version: u32, reader: u32, fixed: &Sources) -> bool {
        let (source, writer) = (self.facts.writer(slot), self.writer(version));
        if !self.is_broken(source, writer, reader) {
            return false;
        }
        match source {
            None => self.theory.try_arcs(&[self.timeline.read_write(reader, writer)]),
            Some(source) => self.either_order(source, writer, &[], fixed),
        }
    }

    fn read_chosen(&mut self, read: u32, version: u32, fixed: &Sources) -> bool {
        let slot = self.matched.get(&read).copied().unwrap_or(fixed.of(read));
        let (source, writer) = (self.facts.writer(slot), self.writer(version));
        let reader = self.facts.ambiguous[read as usize].reader;
        if slot == NONE || !self.is_broken(source, writer, reader) {
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
    fn drop_choice(&mut self, read: u32, slot: u32) -> bool {
        self.matched.remove(&read).is_some() && self.failed.insert((read, slot))
    }

    fn overlap(&mut self, earlier: u32, later: u32, fixed: &Sources) -> bool {
        let (earlier, later) = (self.writer(earlier), self.writer(later));
        let overlap =
            self.begin(later) < self.commit(earlier) && self.begin(earlier) < self.commit(later);
        overlap && self.either_order(earlier, later, &[], fixed)
    }

    /// Says what an ambiguous read reads: the candidate nearest before it for which that is
    /// possible.
    fn value(&mut self, number: u32) -> bool {
        let read = &self.facts.ambiguous[number as usize];
        if self.matched.contains_key(&number) {
            return false;
        }
        let begin = self.begin(read.reader);
        let place = |slot: u32| self.facts.writer(slot).map_or(0, |writer| self.commit(writer) + 1);
        let mut candidates: Vec<u32> = self.facts.candidates(read).collect();
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
