//! What is broken in an order of the points: reads of versions that are overwritten before the
//! reader begins, writers that overlap, reads whose value is not the current one.

use super::facts::Facts;
use super::ids::{AmbiguousId, SlotId};
use super::mutation::{Rule, holds};
use super::timeline::Timeline;
use crate::parallel;
use seriatim_history::{KeyId, TxnId};

/// Something that the order gets wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// `reader` reads `slot` at a point at which `version` has replaced it.
    Read { slot: SlotId, version: SlotId, reader: TxnId },
    /// The writers of two versions overlap (snapshot isolation).
    Overlap { earlier: SlotId, later: SlotId },
    /// An ambiguous read (by number) reads the slot that was chosen for it at a point at which
    /// `version` has replaced it.
    Chosen { read: AmbiguousId, version: SlotId },
    /// An ambiguous read (by number) returned another value than the current one.
    Value { read: AmbiguousId },
}

pub(crate) struct Scan<'a> {
    pub facts: &'a Facts<'a>,
    pub timeline: Timeline,
    /// The place of each point in the order.
    pub position: &'a [u32],
    /// For each ambiguous read the slot that it reads, if that is settled.
    pub chosen: &'a [SlotId],
    /// Ambiguous reads by key: (key, number), sorted.
    pub ambiguous_by_key: &'a [(KeyId, AmbiguousId)],
    /// Only these keys, if they are given.
    pub keys: Option<&'a [KeyId]>,
    pub threads: usize,
}

/// The versions of a key by commit point.
type Sorted = Vec<(u32, SlotId)>;

impl Scan<'_> {
    /// All that is broken, at most three overwriting versions for each read. `versions` has those
    /// of each key in the order of the last scan, which is not far from that of this one.
    pub fn run(&self, versions: &mut [SlotId]) -> Vec<Broken> {
        if let Some(keys) = self.keys {
            return self.scan_keys(keys.iter().copied(), versions);
        }
        let start = &self.facts.index.versions.start;
        let ranges = parallel::split_by_weight(start, self.threads.max(1));
        let lengths = ranges.iter().map(|keys| (start[keys.end] - start[keys.start]) as usize);
        let jobs: Vec<_> =
            parallel::cut(versions, lengths).into_iter().zip(ranges.clone()).collect();
        let parts =
            parallel::run(jobs, |(versions, keys)| self.scan_keys(keys.map(KeyId::from), versions));
        parts.into_iter().flatten().collect()
    }

    /// Scans `keys`; the first one in `versions` is the first of them, unless `versions` are those
    /// of all keys.
    fn scan_keys(&self, keys: impl Iterator<Item = KeyId>, versions: &mut [SlotId]) -> Vec<Broken> {
        let mut broken = Vec::new();
        let mut sorted = Sorted::new();
        let mut keys = keys.peekable();
        let is_all = versions.len() == self.facts.version_count();
        let first =
            keys.peek().filter(|_| !is_all).map_or(0, |&key| self.facts.version_range(key).start);
        for key in keys {
            let range = self.facts.version_range(key);
            self.sort(&mut versions[range.start - first..range.end - first], &mut sorted);
            if holds(Rule::InitialFirst) {
                self.scan_readers(self.facts.initial_slot(key), &sorted, &mut broken);
            }
            for place in 0..sorted.len() {
                self.scan_readers(sorted[place].1, &sorted[place + 1..], &mut broken);
            }
            if self.timeline.keeps_writers_apart() && holds(Rule::NoOverlap) {
                self.scan_overlaps(&sorted, &mut broken);
            }
            self.scan_ambiguous(key, &sorted, &mut broken);
        }
        broken
    }

    fn writer(&self, version: SlotId) -> TxnId {
        self.facts.version_writer(version)
    }

    fn commit(&self, version: SlotId) -> u32 {
        self.position[self.timeline.commit(self.writer(version)).index()]
    }

    fn sort(&self, versions: &mut [SlotId], sorted: &mut Sorted) {
        sorted.clear();
        sorted.extend(versions.iter().map(|&version| (self.commit(version), version)));
        sort_nearly_sorted(sorted);
        for (version, place) in versions.iter_mut().zip(sorted) {
            *version = place.1;
        }
    }

    fn begin(&self, txn: TxnId) -> u32 {
        self.position[self.timeline.begin(txn).index()]
    }

    /// Readers of `slot` that begin after one of the versions behind it.
    fn scan_readers(&self, slot: SlotId, behind: &[(u32, SlotId)], broken: &mut Vec<Broken>) {
        for &reader in self.facts.readers.of(slot) {
            self.scan_reader(reader, behind, |version| {
                broken.push(Broken::Read { slot, version, reader })
            });
        }
    }

    /// Calls `found` for the first, the last and a middle one of the versions behind that `reader`
    /// begins after.
    #[inline]
    fn scan_reader(&self, reader: TxnId, behind: &[(u32, SlotId)], mut found: impl FnMut(SlotId)) {
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

    fn scan_ambiguous(&self, key: KeyId, sorted: &Sorted, broken: &mut Vec<Broken>) {
        let first = self.ambiguous_by_key.partition_point(|&(other, _)| other < key);
        for &(_, number) in
            self.ambiguous_by_key[first..].iter().take_while(|&&(other, _)| other == key)
        {
            let read = self.facts.read(number);
            let slot = self.chosen[number.index()];
            if slot != SlotId::NONE && !holds(Rule::ChosenSource) {
                continue;
            }
            if slot != SlotId::NONE {
                let is_later = |&place: &(u32, SlotId)| place > (self.commit(slot), slot);
                let is_initial = self.facts.writer(slot).is_none();
                let place =
                    if is_initial { 0 } else { sorted.partition_point(|place| !is_later(place)) };
                let found = |version| broken.push(Broken::Chosen { read: number, version });
                self.scan_reader(read.reader, &sorted[place..], found);
                continue;
            }
            let before = sorted.partition_point(|version| version.0 < self.begin(read.reader));
            let current = sorted[..before]
                .last()
                .map_or(self.facts.initial_slot(key), |&(_, version)| version);
            if !self.facts.fits(read, current) {
                broken.push(Broken::Value { read: number });
            }
        }
    }
}

/// Insertion sort, as long as that does not move much.
fn sort_nearly_sorted(items: &mut [(u32, SlotId)]) {
    let mut moves_left = 4 * items.len();
    for next in 1..items.len() {
        let item = items[next];
        let mut place = next;
        while place > 0 && items[place - 1] > item {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
        moves_left = moves_left.saturating_sub(next - place);
        if moves_left == 0 {
            return items.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_what_is_nearly_sorted_and_what_is_not() {
        for length in 0..40 {
            let expected: Vec<(u32, SlotId)> = (0..length).map(|i| (i, SlotId(i))).collect();
            for factor in [1, 7, 11, 41 - 1] {
                let mut items: Vec<(u32, SlotId)> =
                    (0..length).map(|i| (i * factor % 41, SlotId(i))).collect();
                items.sort_unstable_by_key(|item| item.1);
                let mut wanted = items.clone();
                wanted.sort_unstable();
                sort_nearly_sorted(&mut items);
                assert_eq!(items, wanted);
            }
            let mut swapped = expected.clone();
            swapped.chunks_mut(2).for_each(<[_]>::reverse);
            sort_nearly_sorted(&mut swapped);
            assert_eq!(swapped, expected);
        }
    }
}
