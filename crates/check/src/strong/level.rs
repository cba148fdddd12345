//! Deciding one strong level by the algorithm that can: the one place that knows which.

use super::decide::{Decision, decide};
use crate::frontier::{self, Frontier};
use crate::index::Index;
use crate::limits::{Limits, memory};
use crate::outcome::{Effort, Options, Undecided};
use seriatim_history::{History, TxnId};
use seriatim_isolation::{Guarantee, Level};
use seriatim_verify::Point;

/// What is decided about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    pub options: &'a Options,
}

/// What is known about one strong level.
pub(crate) enum StrongOutcome {
    /// It holds, and here is how.
    Holds(Vec<Point>),
    /// It is violated, by these transactions alone.
    Violated(Vec<TxnId>),
    /// It is not known.
    Undecided(Undecided),
}

/// How many states and sessions of states one search may look at.
const BUDGET: u64 = 400_000;
/// The same if a deadline ends it anyway: only the memory for the states counts then.
const BUDGET_WITH_DEADLINE: u64 = 100 * BUDGET;

/// Decides one strong level. The one place that knows by which algorithm.
pub(crate) fn decide_strong(
    subject: &Subject<'_>,
    level: Level,
    efforts: &mut Vec<(Level, Effort)>,
) -> StrongOutcome {
    let Subject { history, index, options } = *subject;
    let limits = Limits::of(options);
    if !limits.allow(memory::of_strong(history)) {
        return StrongOutcome::Undecided(Undecided::Memory);
    }
    let asked = Guarantee::new(level, options.order);
    let (decision, effort) = decide(history, index, asked, limits, options.threads);
    // What the other search does is counted in states, not in orders.
    if !matches!(decision, Decision::Unsupported) {
        efforts.push((level, effort));
    }
    match decision {
        Decision::Holds(points) => StrongOutcome::Holds(points),
        Decision::Violated(txns) => StrongOutcome::Violated(txns),
        Decision::OutOfBudget => StrongOutcome::Undecided(limits.reason()),
        Decision::Unsupported => by_frontiers(history, asked, limits),
    }
}

/// The slow search, for what the fast one cannot do.
fn by_frontiers(history: &History, asked: Guarantee, limits: Limits) -> StrongOutcome {
    // A state costs time for each session; a search without detours has a state for each point.
    let budget = if limits.deadline.is_some() { BUDGET_WITH_DEADLINE } else { BUDGET };
    let states = budget / (history.session_count() as u64 + 1) + 2 * history.txn_count() as u64;
    match frontier::search_within(history, asked, states, limits) {
        Frontier::Holds(points) => StrongOutcome::Holds(points),
        Frontier::Violated => StrongOutcome::Violated(history.txns().collect()),
        Frontier::OutOfBudget if limits.is_full() => StrongOutcome::Undecided(Undecided::Memory),
        Frontier::OutOfBudget => StrongOutcome::Undecided(Undecided::Budget),
    }
}
