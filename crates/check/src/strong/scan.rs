//! What is broken in an order of the points: reads of versions that are overwritten before the reader begins, writers that
//! overlap, reads whose value is not the current one.

use super::facts::Facts;
use super::model::Model;
use super::mutation::{Rule, holds};
use crate::index::NONE;
use crate::parallel;

/// Something that the order gets wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// `reader` reads `slot` at a point at which `version` has replaced it.
    Read { slot: u32, version: u32, reader: u32 },
    /// The writers of two versions overlap (snapshot isolation).
    Overlap { earlier: u32, later: u32 },
    /// An ambiguous read (by number) reads the slot that was chosen for it at a point at which `version` has replaced it.
    Chosen { read: u32, version: u32 },
    /// An ambiguous read (by number) returned another value than the current one.
    Value { read: u32 },
}

pub(crate) struct Scan<'a> {
    pub facts: &'a Facts<'a>,
    pub model: Model,
    /// The place of each point in the order.
    pub position: &'a [u32],
    /// For each ambiguous read the slot that it reads, if that is settled.
    pub chosen: &'a [u32],
    /// Ambiguous reads by key: (key, number), sorted.
    pub ambiguous_by_key: &'a [(u32, u32)],
    /// Only these keys, if they are given.
    pub keys: Option<&'a [u32]>,
    pub threads: usize,
}

/// The versions of a key by commit point.
type Sorted = Vec<(u32, u32)>;

impl Scan<'_> {
    /// All that is broken, at most three overwriting versions for each read.
    pub fn run(&self) -> Vec<Broken> {
        if let Some(keys) = self.keys {
            return self.scan_keys(keys.iter().copied());
        }
        let ranges = parallel::split_by_weight(&self.facts.index.versions.start, self.threads.max(1));
        let parts = parallel::run(ranges, |keys| self.scan_keys(keys.start as u32..keys.end as u32));
        parts.into_iter().flatten().collect()
    }

    fn scan_keys(&self, keys: impl Iterator<Item = u32>) -> Vec<Broken> {
        let mut broken = Vec::new();
        let mut sorted = Sorted::new();
        for key in keys {
            self.sort(key, &mut sorted);
            if holds(Rule::InitialFirst) {
                self.scan_readers(self.facts.initial_slot(key), &sorted, &mut broken);
            }
            for place in 0..sorted.len() {
                self.scan_readers(sorted[place].1, &sorted[place + 1..], &mut broken);
            }
            if self.model == Model::Snapshot && holds(Rule::NoOverlap) {
                self.scan_overlaps(&sorted, &mut broken);
            }
            self.scan_ambiguous(key, &sorted, &mut broken);
        }
        broken
    }

    fn writer(&self, version: u32) -> u32 {
        self.facts.index.versions.txn[version as usize]
    }

    fn sort(&self, key: u32, sorted: &mut Sorted) {
        let position = |version: u32| self.position[self.model.commit(self.writer(version)) as usize];
        sorted.clear();
        sorted.extend(self.facts.versions(key).map(|version| (position(version), version)));
        sorted.sort_unstable();
    }

    fn begin(&self, txn: u32) -> u32 {
        self.position[self.model.begin(txn) as usize]
    }

    /// Readers of `slot` that begin after one of the versions behind it.
    fn scan_readers(&self, slot: u32, behind: &[(u32, u32)], broken: &mut Vec<Broken>) {
        for &reader in self.facts.readers.of(slot) {
            self.scan_reader(reader, behind, |version| broken.push(Broken::Read { slot, version, reader }));
        }
    }

    /// Calls `found` for the first, the last and a middle one of the versions behind that `reader` begins after.
    #[inline]
    fn scan_reader(&self, reader: u32, behind: &[(u32, u32)], mut found: impl FnMut(u32)) {
        let begin = self.begin(reader);
        if behind.first().is_none_or(|first| first.0 > begin) {
            return;
        }
        let between = behind.partition_point(|version| version.0 < begin);
        let between = &behind[..between];
        let count = between.len();
        let mut last = None;
        for place in [0, count.saturating_sub(1), count / 2] {
            let Some(&(_, version)) = between.get(place) else { continue };
            if last != Some(version) && self.writer(version) != reader {
                found(version);
                last = Some(version);
            }
        }
    }

    fn scan_overlaps(&self, sorted: &Sorted, broken: &mut Vec<Broken>) {
        for pair in sorted.windows(2) {
            if self.begin(self.writer(pair[1].1)) < pair[0].0 {
                broken.push(Broken::Overlap { earlier: pair[0].1, later: pair[1].1 });
            }
        }
    }

    fn scan_ambiguous(&self, key: u32, sorted: &Sorted, broken: &mut Vec<Broken>) {
        let first = self.ambiguous_by_key.partition_point(|&(other, _)| other < key);
        for &(_, number) in self.ambiguous_by_key[first..].iter().take_while(|&&(other, _)| other == key) {
            let read = &self.facts.ambiguous[number as usize];
            let slot = self.chosen[number as usize];
            if slot != NONE && !holds(Rule::ChosenSource) {
                continue;
            }
            if slot != NONE {
                let place = sorted.iter().position(|&(_, version)| version == slot).map_or(0, |place| place + 1);
                let found = |version| broken.push(Broken::Chosen { read: number, version });
                self.scan_reader(read.reader, &sorted[place..], found);
                continue;
            }
            let before = sorted.partition_point(|version| version.0 < self.begin(read.reader));
            let current = sorted[..before].last().map_or(self.facts.initial_slot(key), |&(_, version)| version);
            if !self.facts.fits(read, current) {
                broken.push(Broken::Value { read: number });
            }
        }
    }
}
