//! A limit on the work of a refutation: its worst case is exponential.

use crate::limits::Limits;
use std::time::Instant;

/// How much work may still be done, in steps of a few nanoseconds: a word of bits that is looked
/// at, an edge that is followed.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    limits: Limits,
    /// Steps until the limits are looked at again.
    unlooked: u64,
}

/// The budget was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// Looking at the clock takes as long as tens of steps; this many take less than a millisecond.
const STEPS_PER_LOOK: u64 = 1 << 15;

impl Budget {
    /// A budget of `steps`.
    pub fn new(steps: u64) -> Budget {
        Budget { left: steps, limits: Limits::default(), unlooked: 0 }
    }

    /// The usual number of steps, but no longer than `limits` allow.
    pub(crate) fn within(limits: Limits) -> Budget {
        Budget { limits, ..Budget::default() }
    }

    /// Until when, and with how much memory.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes half of it, for work that the rest must not depend on.
    pub(crate) fn half(&mut self) -> Budget {
        let half = self.left / 2;
        self.left -= half;
        let now = Instant::now();
        let halfway = |deadline: Instant| now + deadline.saturating_duration_since(now) / 2;
        let limits = Limits { deadline: self.limits.deadline.map(halfway), ..self.limits };
        Budget { left: half, limits, unlooked: 0 }
    }

    /// Takes `steps` off; an error if there are not as many left. What is used up stays so.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        self.left = self.left.saturating_sub(steps);
        self.unlooked = self.unlooked.saturating_sub(steps);
        if self.unlooked == 0 {
            self.unlooked = STEPS_PER_LOOK;
            if self.limits.is_over() {
                self.left = 0;
            }
        }
        if self.is_spent() { Err(Exhausted) } else { Ok(()) }
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

impl Default for Budget {
    /// A few seconds.
    fn default() -> Self {
        Budget::new(1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_spent_stays_spent() {
        let mut budget = Budget::new(10);
        assert_eq!(budget.spend(4), Ok(()));
        assert_eq!(budget.spend(7), Err(Exhausted));
        assert_eq!(budget.spend(1), Err(Exhausted));
    }

    #[test]
    fn a_deadline_ends_it_and_half_of_the_time_is_left_for_the_rest() {
        let at = |deadline| Limits { deadline: Some(deadline), memory: None };
        assert_eq!(Budget::within(at(Instant::now())).spend(1), Err(Exhausted));
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut budget = Budget::within(at(deadline));
        assert!(
            budget
                .half()
                .limits
                .deadline
                .is_some_and(|half| half < deadline - Duration::from_secs(20))
        );
        assert_eq!(budget.spend(1), Ok(()));
    }
}
