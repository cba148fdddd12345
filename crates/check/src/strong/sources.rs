//! Which slot each ambiguous read is known to read, from both sides. What is known stays known.

use super::facts::Facts;
use crate::index::NONE;

#[derive(Clone)]
pub(crate) struct Sources {
    /// For each ambiguous read its slot, or none.
    slots: Vec<u32>,
    /// For each ambiguous read the reason of its slot.
    reasons: Vec<u32>,
    /// For each slot the read that was matched with it last; for each read the one before it.
    last: Vec<u32>,
    before: Vec<u32>,
}

impl Sources {
    /// To begin with, nothing is known.
    pub fn new(facts: &Facts<'_>) -> Sources {
        let reads = facts.ambiguous.len();
        let slots = if reads == 0 { 0 } else { facts.slot_count() as usize };
        Sources {
            slots: vec![NONE; reads],
            reasons: vec![NONE; reads],
            last: vec![NONE; slots],
            before: vec![NONE; reads],
        }
    }

    /// For each ambiguous read its slot, or none.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The slot of an ambiguous read (by number), or none.
    #[inline]
    pub fn of(&self, read: u32) -> u32 {
        self.slots[read as usize]
    }

    /// Why the read has its slot, if it has one.
    pub fn reason(&self, read: u32) -> Option<u32> {
        Some(self.reasons[read as usize]).filter(|&reason| reason != NONE)
    }

    /// The read, which had none, has this slot.
    pub fn fix(&mut self, read: u32, slot: u32, reason: u32) {
        debug_assert_eq!(self.of(read), NONE);
        self.slots[read as usize] = slot;
        self.reasons[read as usize] = reason;
        self.before[read as usize] = self.last[slot as usize];
        self.last[slot as usize] = read;
    }

    /// The ambiguous reads (by number) of `slot`.
    #[inline]
    pub fn reads_of(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |read: u32| (read != NONE).then_some(read);
        let last = self.last.get(slot as usize).copied().and_then(some);
        std::iter::successors(last, move |&read| some(self.before[read as usize]))
    }
}
