//! Random waits before transactions, so that threads come in another order each time.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// How long to wait before each transaction.
#[derive(Clone, Debug)]
pub struct Delay {
    longest: Duration,
    random: Pcg64Mcg,
}

impl Delay {
    /// Times from nothing to `longest`; the same seed gives the same times.
    pub fn new(longest: Duration, seed: u64) -> Delay {
        Delay { longest, random: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// The next time.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> Duration {
        self.longest.mul_f64(self.random.random_range(0.0..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_differ_up_to_the_longest_and_depend_on_the_seed() {
        let times = |seed| {
            let mut delay = Delay::new(Duration::from_millis(4), seed);
            (0..100).map(|_| delay.next()).collect::<Vec<_>>()
        };
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
        assert!(times(1).iter().all(|&time| time <= Duration::from_millis(4)));
        assert!(times(1).iter().any(|&time| time > Duration::from_millis(2)));
        assert!(times(1).iter().any(|&time| time < Duration::from_millis(2)));
    }
}
