//! The face of the checker: one function for one level, and a builder for the rest.

use crate::appended_twice;
use crate::no_isolation;
use crate::outcome::{Options, Report};
use seriatim_history::History;
use seriatim_isolation::{Anomaly, Level, Order};
use std::time::{Duration, Instant};

/// Does `history` satisfy `level`, and if not, why? [`Report::holds`] and [`Report::violates`] also
/// know what follows for other levels. [`Checker`] asks for several levels, and sets limits.
///
/// ```
/// use seriatim_check::check;
/// use seriatim_history::notation;
/// use seriatim_isolation::Level;
///
/// let history = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
/// let report = check(&history, Level::Causal);
/// assert!(report.holds(Level::Causal) && report.holds(Level::ReadCommitted));
/// assert!(!report.violates(Level::Serializable)); // Nothing is known about it.
/// ```
pub fn check(history: &History, level: Level) -> Report {
    Checker::new().levels([level]).check(history)
}

/// What to check, how much to say, and how far to go. By default all levels, without limits.
///
/// ```
/// use seriatim_check::Checker;
/// use seriatim_history::notation;
/// use seriatim_isolation::Level;
/// use std::time::Duration;
///
/// let history = notation::parse("a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)").unwrap();
/// let report = Checker::new().budget(Duration::from_secs(10)).threads(1).check(&history);
/// assert_eq!(report.strongest(), Some(Level::PrefixConsistency));
/// assert!(report.violates(Level::SnapshotIsolation));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Checker {
    options: Options,
    budget: Option<Duration>,
}

impl Checker {
    /// Checks all levels, without limits, on all cores.
    pub fn new() -> Checker {
        Checker::default()
    }

    /// Which levels to check.
    pub fn levels(mut self, levels: impl IntoIterator<Item = Level>) -> Checker {
        self.options.levels = levels.into_iter().collect();
        self
    }

    /// With which order: [`Order::Sessions`] unless another one is named. With real time a history
    /// without times leaves open what it does not violate ([`crate::Undecided::NoTimes`]).
    ///
    /// ```
    /// use seriatim_check::Checker;
    /// use seriatim_history::notation;
    /// use seriatim_isolation::{Level, Order};
    ///
    /// let history = notation::parse("a: w(x,1) @1-2\nb: r(x,0) @3-4").unwrap();
    /// let report = Checker::new().check(&history);
    /// assert_eq!(report.strongest(), Some(Level::Serializable));
    /// let report = Checker::new().order(Order::RealTime).check(&history);
    /// assert!(report.violates(Level::SnapshotIsolation));
    /// ```
    pub fn order(mut self, order: Order) -> Checker {
        self.options.order = order;
        self
    }

    /// How many instances of each kind of anomaly to explain in
    /// [`crate::AnomalyGroup::instances`]; 0, the default, explains the exemplar only.
    pub fn instances(mut self, instances: usize) -> Checker {
        self.options.instances = instances;
        self
    }

    /// Looks for one kind of anomaly and reports no other; the verdicts do not depend on it.
    pub fn kind(mut self, kind: impl Into<Option<Anomaly>>) -> Checker {
        self.options.kind = kind.into();
        self
    }

    /// How long a check may search; levels that are not decided by then are undecided.
    pub fn budget(mut self, budget: impl Into<Option<Duration>>) -> Checker {
        self.budget = budget.into();
        self
    }

    /// When to give up on levels that need a search. With a budget the earlier of both counts.
    pub fn deadline(mut self, deadline: impl Into<Option<Instant>>) -> Checker {
        self.options.deadline = deadline.into();
        self
    }

    /// How many bytes the process may have resident, as far as that can be known in advance or
    /// noticed in time; a level that would take more is undecided.
    pub fn memory(mut self, bytes: impl Into<Option<u64>>) -> Checker {
        self.options.memory = bytes.into();
        self
    }

    /// How many threads may work at once.
    pub fn threads(mut self, threads: usize) -> Checker {
        self.options.threads = threads;
        self
    }

    /// Checks `history`.
    pub fn check(&self, history: &History) -> Report {
        let options = self.options_now();
        appended_twice::explained(history, &options, no_isolation::check(history, &options))
    }

    /// The options of a check that begins now.
    fn options_now(&self) -> Options {
        // A budget that reaches beyond the end of the clock is none.
        let end = self.budget.and_then(|budget| Instant::now().checked_add(budget));
        let deadline = match (self.options.deadline, end) {
            (Some(deadline), Some(end)) => Some(deadline.min(end)),
            (deadline, end) => deadline.or(end),
        };
        Options { deadline, ..self.options.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_begins_to_run_with_each_check() {
        let used_up = Checker::new().deadline(Instant::now());
        assert!(used_up.options_now().deadline.is_some_and(|deadline| deadline <= Instant::now()));
        let again = Checker::new().budget(Duration::from_secs(60));
        assert!(again.options_now().deadline.is_some_and(|deadline| deadline > Instant::now()));
        assert_eq!(Checker::new().budget(None).options_now().deadline, None);
        assert_eq!(Checker::new().budget(Duration::MAX).options_now().deadline, None);
    }
}
