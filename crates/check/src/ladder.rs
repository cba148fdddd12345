//! The strong levels: deciding them, strongest first, and what one of them says about the others.
//!
//! The ladder does most of the work: a level that holds settles all below it, one that is violated settles all above it.

use crate::frontier::{self, Found};
use crate::level::Level;
use crate::outcome::{Event, Options, Outcome, Undecided, Verdict};
use seriatim_history::{History, TxnId};

/// What is known about one strong level.
pub(crate) enum StrongOutcome {
    /// It holds, and here is how.
    Holds(Vec<Event>),
    /// It is violated.
    Violated,
    /// Nobody knows.
    Undecided(Undecided),
}

/// How many states and sessions of states one search may look at.
const BUDGET: u64 = 400_000;

/// Decides one strong level. The one place that knows by which algorithm.
fn decide_strong(history: &History, level: Level, _options: &Options) -> StrongOutcome {
    // A state costs time for each session; a search without detours has a state for each point.
    let states = BUDGET / (history.session_count() as u64 + 1) + 2 * history.txn_count() as u64;
    match frontier::search(history, level, states) {
        Found::Holds(points) => StrongOutcome::Holds(points),
        Found::Violated => StrongOutcome::Violated,
        Found::OutOfBudget => StrongOutcome::Undecided(Undecided::Budget),
    }
}

/// What is known about the strong levels that were asked for.
pub(crate) struct Strong {
    /// The strongest level that holds, with its certificate.
    holds: Option<(Level, Vec<Event>)>,
    /// The weakest level that is violated.
    violated: Option<Level>,
    undecided: Vec<(Level, Undecided)>,
}

impl Strong {
    /// Decides `levels`, strongest first.
    pub fn decide(history: &History, options: &Options, levels: &[Level]) -> Strong {
        let mut strong = Strong { holds: None, violated: None, undecided: Vec::new() };
        for &level in levels.iter().rev() {
            match decide_with_times(history, level, options) {
                StrongOutcome::Holds(points) => {
                    strong.holds = Some((level, points));
                    break;
                }
                StrongOutcome::Violated => strong.violated = Some(level),
                StrongOutcome::Undecided(reason) => strong.undecided.push((level, reason)),
            }
        }
        strong
    }

    /// The verdict for a strong level that was asked for.
    pub fn verdict(&self, level: Level, keep: bool) -> Verdict {
        if self.violated.is_some_and(|violated| violated <= level) {
            return Verdict { level, outcome: Outcome::Violated, undecided: None, order: None, points: None };
        }
        let reason = self.undecided.iter().find(|(open, _)| *open == level).map(|(_, reason)| reason);
        self.verdict_of_ambiguous(level, reason, keep)
    }

    /// The verdict for a level that holds if a stronger one does, and is open because of `reason` otherwise.
    pub fn verdict_of_ambiguous(&self, level: Level, reason: Option<&Undecided>, keep: bool) -> Verdict {
        let Some((_, points)) = self.holds.as_ref().filter(|(held, _)| *held >= level) else {
            return Verdict {
                level,
                outcome: Outcome::Undecided,
                undecided: reason.cloned(),
                order: None,
                points: None,
            };
        };
        let points = keep.then(|| points.clone());
        // Where several writes of a value may have been read, an order alone does not say which.
        let order = points.as_deref().filter(|_| level.is_strong()).map(commits);
        Verdict { level, outcome: Outcome::Holds, undecided: None, order, points }
    }
}

/// Without times strict serializability can be refuted, but not shown.
fn decide_with_times(history: &History, level: Level, options: &Options) -> StrongOutcome {
    if level != Level::StrictSerializable || history.has_times() {
        return decide_strong(history, level, options);
    }
    match decide_strong(history, Level::Serializable, options) {
        StrongOutcome::Violated => StrongOutcome::Violated,
        _ => StrongOutcome::Undecided(Undecided::NoTimes),
    }
}

/// The commit order of a certificate.
fn commits(points: &[Event]) -> Vec<TxnId> {
    let commit = |event: &Event| match event {
        Event::Begin(_) => None,
        Event::Commit(txn) => Some(*txn),
    };
    points.iter().filter_map(commit).collect()
}
