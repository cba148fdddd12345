//! Who decides which statements are held, and for how long.

use super::{HOLD_MAX, IDLE_MIN, Place};
use std::time::Duration;

/// A statement at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Point {
    /// The number of the session.
    pub session: u32,
    /// The number of the statement in its session, from 0.
    pub statement: u32,
    /// The place.
    pub place: Place,
}

/// Decides which statements are held.
pub trait Holder: Send {
    /// For how long to hold the statement of this text at this point; more than `most` counts as
    /// `most`. Behind a statement there is no text.
    fn hold(&mut self, point: Point, text: &str, most: Duration) -> Duration;

    /// How long one statement is held at most.
    fn most(&self) -> Duration {
        HOLD_MAX
    }

    /// A client that sends nothing for this long is not waited for.
    fn idle_after(&self) -> Duration {
        IDLE_MIN
    }
}

impl<H: Holder + ?Sized> Holder for Box<H> {
    fn hold(&mut self, point: Point, text: &str, most: Duration) -> Duration {
        (**self).hold(point, text, most)
    }

    fn most(&self) -> Duration {
        (**self).most()
    }

    fn idle_after(&self) -> Duration {
        (**self).idle_after()
    }
}

/// Holds nothing.
#[derive(Clone, Copy, Debug)]
pub struct Never;

impl Holder for Never {
    fn hold(&mut self, _: Point, _: &str, _: Duration) -> Duration {
        Duration::ZERO
    }
}

/// Holds some statements, by chance. What it decides about a point depends on the seed alone.
#[derive(Clone, Copy, Debug)]
pub struct ByChance {
    seed: u64,
}

impl ByChance {
    /// The same seed makes the same decisions.
    pub fn new(seed: u64) -> ByChance {
        ByChance { seed }
    }
}

impl Holder for ByChance {
    fn hold(&mut self, point: Point, _: &str, most: Duration) -> Duration {
        let Point { session, statement, place } = point;
        let number = (u64::from(session) << 33) | (u64::from(statement) << 1) | place as u64;
        let chance = mix(self.seed ^ mix(number));
        // One of four is held, for any part of the time.
        if chance.is_multiple_of(4) {
            most.mul_f64((chance >> 11) as f64 / 2f64.powi(53))
        } else {
            Duration::ZERO
        }
    }
}

/// The finalizer of SplitMix64: numbers that are near each other become far apart.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_decides_the_same() {
        let points: Vec<Point> = (0..200)
            .map(|number| Point {
                session: number % 5,
                statement: number / 5,
                place: if number % 2 == 0 { Place::Before } else { Place::After },
            })
            .collect();
        let ask = |seed| -> Vec<Duration> {
            points.iter().map(|&point| ByChance::new(seed).hold(point, "", HOLD_MAX)).collect()
        };
        let first = ask(7);
        assert_eq!(first, ask(7));
        assert_ne!(first, ask(8));
        let held = first.iter().filter(|time| !time.is_zero()).count();
        assert!((20..100).contains(&held), "{held}");
    }
}
