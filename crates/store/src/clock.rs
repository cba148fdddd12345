//! When transactions begin and end: the times that a history has.
//!
//! Both are taken while the store is locked, and no two are equal. So one transaction ended before
//! another began, in these times, if and only if it did in the store.

use seriatim_history::TimeUnit;
use std::time::Instant;

/// What tells the times of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Counts the begins and ends of transactions: a run that is repeated has the same times.
    Steps,
    /// Nanoseconds since the store was made, by a clock that never goes back.
    Monotonic,
}

/// A clock that is running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningClock {
    clock: Clock,
    start: Instant,
    last: i64,
}

impl RunningClock {
    pub fn start(clock: Clock) -> RunningClock {
        RunningClock { clock, start: Instant::now(), last: -1 }
    }

    /// What its times count.
    pub fn unit(&self) -> TimeUnit {
        match self.clock {
            Clock::Steps => TimeUnit::Unknown,
            Clock::Monotonic => TimeUnit::Nanoseconds,
        }
    }

    /// The time, which is later than all before.
    pub fn now(&mut self) -> i64 {
        let next = self.last + 1;
        self.last = match self.clock {
            Clock::Steps => next,
            // Two transactions may come within one tick of the machine's clock. And a store lives
            // for fewer than 292 years.
            Clock::Monotonic => {
                next.max(i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX - 1))
            }
        };
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_times_are_equal() {
        for clock in [Clock::Steps, Clock::Monotonic] {
            let mut running = RunningClock::start(clock);
            let times: Vec<i64> = (0..1000).map(|_| running.now()).collect();
            assert!(times.is_sorted_by(|earlier, later| earlier < later), "{clock:?}");
        }
        let mut steps = RunningClock::start(Clock::Steps);
        assert_eq!([steps.now(), steps.now(), steps.now()], [0, 1, 2]);
    }
}
