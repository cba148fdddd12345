//! What was tried at which point of a run, so that no run has to be done twice.
//!
//! A state is everything that was read and the turns of all clients so far, in whatever order, as a
//! hash; a point is a question that is asked there. An option of a point is *spent* when everything
//! behind it has been tried: when it led to the end of a run, or to a point all of whose options
//! are spent. So is a state that was the end of a run, or whose question has only spent options.

use rustc_hash::{FxHashMap, FxHashSet};

/// How many points are remembered.
const POINTS_MAX: usize = 1 << 20;

/// A decision of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    /// In which state it was made.
    pub state: u64,
    /// Which question it answers.
    pub point: u64,
    /// What was decided, as a hash.
    pub option: u64,
    /// How many options there were.
    pub options: usize,
}

#[derive(Default, Debug)]
struct Point {
    /// For each option that was tried, how often, and whether it is spent.
    options: FxHashMap<u64, (u32, bool)>,
    spent: bool,
    /// The most options that there were.
    known: usize,
}

/// All points so far.
#[derive(Default, Debug)]
pub(crate) struct Tried {
    points: FxHashMap<u64, Point>,
    spent: FxHashSet<u64>,
}

impl Tried {
    /// How often `option` was tried at `point`.
    pub fn count(&self, point: u64, option: u64) -> u32 {
        self.points
            .get(&point)
            .and_then(|point| point.options.get(&option))
            .map_or(0, |&(count, _)| count)
    }

    /// Whether there is nothing new behind `option`, which leads to the state `next`.
    pub fn is_spent(&self, point: u64, option: u64, next: u64) -> bool {
        self.spent.contains(&next) || self.is_tried_out(point, option)
    }

    fn is_tried_out(&self, point: u64, option: u64) -> bool {
        self.points
            .get(&point)
            .and_then(|point| point.options.get(&option))
            .is_some_and(|&(_, spent)| spent)
    }

    /// A run has ended in the state `end` that made these decisions, in this order.
    pub fn end_run(&mut self, decisions: &[Decision], end: u64) {
        let mut spent = true;
        if self.points.len() < POINTS_MAX {
            self.spent.insert(end);
        }
        // From the end: whether a decision is spent depends on those behind it.
        for decision in decisions.iter().rev() {
            if self.points.len() >= POINTS_MAX && !self.points.contains_key(&decision.point) {
                return;
            }
            let point = self.points.entry(decision.point).or_default();
            let option = point.options.entry(decision.option).or_default();
            option.0 += 1;
            option.1 |= spent;
            let all = point.options.values().filter(|(_, spent)| *spent).count();
            point.known = point.known.max(decision.options);
            point.spent |= all >= point.known;
            spent = point.spent;
            if spent {
                self.spent.insert(decision.state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_spent_when_all_behind_it_is() {
        let mut tried = Tried::default();
        let run = |first: u64, second| {
            [
                Decision { state: 0, point: 1, option: first, options: 2 },
                Decision { state: 5 + first, point: 10 + first, option: second, options: 2 },
            ]
        };
        tried.end_run(&run(0, 0), 100);
        assert!(
            tried.is_spent(10, 0, 90) && !tried.is_spent(10, 1, 90) && !tried.is_spent(1, 0, 5)
        );
        // Another way to the same end.
        assert!(tried.is_spent(77, 7, 100));
        tried.end_run(&run(0, 1), 101);
        assert!(tried.is_spent(1, 0, 5) && !tried.is_spent(1, 1, 6));
        assert_eq!((tried.count(1, 0), tried.count(1, 1), tried.count(7, 7)), (2, 0, 0));
    }
}
