//! Which workload is next, and how large. At first all of them have a short turn. Then every second
//! round goes to what has shown most in its time, above all of what the database promises not to
//! show; the others look for something better: another workload, or the best one with other sizes.

use crate::workload::{Shape, Workload};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// How long the first turns take, and later ones at most: enough for anomalies to show, few enough
/// to be checked at once.
const SHORT: Duration = Duration::from_millis(250);
const LONG: Duration = Duration::from_secs(2);
/// An anomaly that the database promises not to show is worth so many others.
const FORBIDDEN: f64 = 1000.0;

/// The order of the first turns: what shows most often comes first.
const FIRST: [Workload; 9] = [
    Workload::ReadModifyWrite,
    Workload::WriteSkew,
    Workload::Predicates,
    Workload::LongFork,
    Workload::ListAppend,
    Workload::Bank,
    Workload::General,
    Workload::Counters,
    Workload::BlindWrites,
];

/// A workload with its sizes, and what it has shown.
#[derive(Clone, Copy, Debug)]
struct Arm {
    workload: Workload,
    shape: Shape,
    seconds: f64,
    shown: f64,
}

impl Arm {
    fn rate(&self) -> f64 {
        self.shown / self.seconds.max(0.001)
    }
}

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    pub workload: Workload,
    pub shape: Shape,
    pub time_max: Duration,
}

/// Chooses workloads.
#[derive(Debug)]
pub(crate) struct Scheduler {
    arms: Vec<Arm>,
    /// Whether there is nothing to choose.
    is_fixed: bool,
    turns: usize,
    dice: Pcg64Mcg,
}

impl Scheduler {
    /// Chooses among all that `can` be done, or always the one that is given.
    pub fn new(
        fixed: Option<Workload>,
        shape: Option<Shape>,
        can: impl Fn(Workload) -> bool,
        seed: u64,
    ) -> Scheduler {
        let workloads: Vec<Workload> = match fixed {
            Some(workload) => vec![workload],
            None => FIRST.into_iter().filter(|&workload| can(workload)).collect(),
        };
        let arm = |workload| {
            let shape = shape.unwrap_or_default();
            Arm { workload, shape, seconds: 0.0, shown: 0.0 }
        };
        Scheduler {
            arms: workloads.into_iter().map(arm).collect(),
            is_fixed: fixed.is_some() || shape.is_some(),
            turns: 0,
            dice: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    /// The next turn.
    pub fn next(&mut self) -> Turn {
        let turn = self.turns;
        self.turns += 1;
        let all = self.arms.len();
        let (place, shape) = if turn < all || all == 1 {
            (turn % all, self.arms[turn % all].shape)
        } else {
            self.choose(turn)
        };
        let time_max = if turn < 2 * all { SHORT } else { LONG };
        Turn { workload: self.arms[place].workload, shape, time_max }
    }

    fn choose(&mut self, turn: usize) -> (usize, Shape) {
        let all = self.arms.len();
        let best = (0..all).max_by(|&a, &b| self.arms[a].rate().total_cmp(&self.arms[b].rate()));
        let best = best.filter(|&best| self.arms[best].shown > 0.0);
        match best {
            Some(best) if turn.is_multiple_of(2) => (best, self.arms[best].shape),
            Some(best) if !self.is_fixed && self.dice.random_range(0..2) == 0 => {
                (best, self.arms[best].shape.varied(&mut self.dice))
            }
            _ => {
                let place = self.dice.random_range(0..all);
                let shape = self.arms[place].shape;
                let shape = if self.is_fixed { shape } else { shape.varied(&mut self.dice) };
                (place, shape)
            }
        }
    }

    /// What a turn came to: so many anomalies, so many of them against the promise.
    pub fn learn(&mut self, turn: Turn, time: Duration, anomalies: u64, forbidden: u64) {
        let shown = anomalies as f64 + FORBIDDEN * forbidden as f64;
        let seconds = time.as_secs_f64();
        let Some(arm) = self.arms.iter_mut().find(|arm| arm.workload == turn.workload) else {
            return;
        };
        let is_better = shown / seconds.max(0.001) > arm.rate();
        if turn.shape == arm.shape {
            arm.seconds += seconds;
            arm.shown += shown;
        } else if is_better {
            // Other sizes show more: they take the place.
            *arm = Arm { shape: turn.shape, seconds, shown, ..*arm };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Turns of a database that shows something in one workload only.
    fn turns(shows: Workload, count: usize) -> BTreeMap<Workload, usize> {
        let mut scheduler = Scheduler::new(None, None, |_| true, 5);
        let mut had = BTreeMap::new();
        for _ in 0..count {
            let turn = scheduler.next();
            *had.entry(turn.workload).or_default() += 1;
            let shown = if turn.workload == shows { 3 } else { 0 };
            scheduler.learn(turn, Duration::from_millis(100), shown, 0);
        }
        had
    }

    #[test]
    fn all_have_a_turn_and_what_shows_most_has_most() {
        for workload in Workload::ALL {
            let had = turns(workload, 60);
            assert_eq!(had.len(), Workload::ALL.len());
            assert!(had[&workload] >= 25, "{workload:?}: {had:?}");
        }
    }

    #[test]
    fn what_is_fixed_stays() {
        let shape = Shape { keys: 3, ..Shape::default() };
        let mut scheduler = Scheduler::new(Some(Workload::Bank), Some(shape), |_| true, 1);
        for _ in 0..20 {
            let turn = scheduler.next();
            assert_eq!((turn.workload, turn.shape), (Workload::Bank, shape));
            scheduler.learn(turn, Duration::from_millis(10), 1, 1);
        }
    }

    #[test]
    fn what_a_database_cannot_do_is_not_asked_of_it() {
        let mut scheduler = Scheduler::new(None, None, Workload::needs_registers_only, 1);
        assert!((0..50).all(|_| scheduler.next().workload.needs_registers_only()));
    }
}
