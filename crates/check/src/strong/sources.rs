//! Which slot each ambiguous read is known to read, from both sides. What is known stays known.

use super::facts::Facts;
use super::ids::{AmbiguousId, SlotId};

/// The reason of a read without a slot.
const NO_REASON: u32 = u32::MAX;

#[derive(Clone)]
pub(crate) struct Sources {
    /// For each ambiguous read its slot, or none.
    slots: Vec<SlotId>,
    /// For each ambiguous read the reason of its slot.
    reasons: Vec<u32>,
    /// For each slot the read that was matched with it last; for each read the one before it.
    last: Vec<Option<AmbiguousId>>,
    before: Vec<Option<AmbiguousId>>,
}

impl Sources {
    /// To begin with, nothing is known.
    pub fn new(facts: &Facts<'_>) -> Sources {
        let reads = facts.ambiguous.len();
        let slots = if reads == 0 { 0 } else { facts.slot_count() as usize };
        Sources {
            slots: vec![SlotId::NONE; reads],
            reasons: vec![NO_REASON; reads],
            last: vec![None; slots],
            before: vec![None; reads],
        }
    }

    /// For each ambiguous read its slot, or none.
    pub fn slots(&self) -> &[SlotId] {
        &self.slots
    }

    /// The slot of an ambiguous read (by number), or none.
    #[inline]
    pub fn of(&self, read: AmbiguousId) -> SlotId {
        self.slots[read.index()]
    }

    /// Why the read has its slot, if it has one.
    pub fn reason(&self, read: AmbiguousId) -> Option<u32> {
        Some(self.reasons[read.index()]).filter(|&reason| reason != NO_REASON)
    }

    /// The read, which had none, has this slot.
    pub fn fix(&mut self, read: AmbiguousId, slot: SlotId, reason: u32) {
        debug_assert_eq!(self.of(read), SlotId::NONE);
        self.slots[read.index()] = slot;
        self.reasons[read.index()] = reason;
        self.before[read.index()] = self.last[slot.index()];
        self.last[slot.index()] = Some(read);
    }

    /// The ambiguous reads (by number) of `slot`.
    #[inline]
    pub fn reads_of(&self, slot: SlotId) -> impl Iterator<Item = AmbiguousId> + '_ {
        let last = self.last.get(slot.index()).copied().flatten();
        std::iter::successors(last, move |&read| self.before[read.index()])
    }
}
