//! Counterexamples: one behaviour that violates the property, with the history and what the checker
//! says of it.

use crate::end::End;
use crate::error::ExploreError;
use crate::program::{Local, Program, Value};
use crate::token;
use crate::work::{Cycle, FoundBehaviour};
use seriatim_check::{Checker, Report};
use seriatim_history::History;
use seriatim_isolation::Level;

/// A behaviour that violates the property.
#[derive(Debug)]
pub struct Counterexample<L> {
    /// Why.
    pub reason: String,
    /// The local states of the sessions at the end.
    pub locals: Vec<L>,
    /// What was read and written.
    pub history: History,
    /// Which levels the behaviour satisfies, and the anomalies in it. What aborted transactions
    /// read counts, as in [`End::is_at`].
    pub report: Report,
    /// What reruns just this behaviour, see [`replay`].
    pub token: String,
}

/// Runs the one behaviour that `token` names, and hands its end to `visit`.
pub fn replay<V: Value, L: Local, R>(
    program: &Program<V, L>,
    level: Level,
    token: &str,
    visit: impl FnOnce(&End<'_, V, L>) -> R,
) -> Result<R, ExploreError> {
    let engine = token::replay(program, level, token)?;
    Ok(visit(&End::of(&engine)))
}

/// The counterexample that was found, as it is to be shown.
pub(crate) fn counterexample<V: Value, L: Local>(
    program: &Program<V, L>,
    level: Level,
    found: &FoundBehaviour,
) -> Result<Counterexample<L>, ExploreError> {
    let shown = |end: &End<'_, V, L>| Counterexample::of(end, found.reason.clone());
    replay(program, level, &found.token, shown).map_err(|error| match error {
        // The token was made a moment ago.
        ExploreError::Token(problem) | ExploreError::TokenLevel { problem, .. } => {
            ExploreError::NotRepeatable(problem)
        }
        other => other,
    })
}

impl<L: Local> Counterexample<L> {
    /// A behaviour, and why it violates the property.
    pub fn of<V: Value>(end: &End<'_, V, L>, reason: String) -> Self {
        let history = end.history();
        // A verdict may rest on what an aborted transaction read.
        let report = checker(&Level::ALL).check(&end.history_of_readers());
        let (locals, token) = (end.locals().to_vec(), end.token());
        Counterexample { reason, locals, history, report, token }
    }
}

fn checker(levels: &[Level]) -> Checker {
    Checker::new().levels(levels.iter().copied()).threads(1)
}

/// The cycle of dependencies of a behaviour, or that it has none.
pub(crate) fn cycle<V: Value, L: Local>(end: &End<'_, V, L>) -> Cycle {
    match end.cycle() {
        Some(cycle) => Cycle::Single(cycle),
        None if end.is_serializable() => Cycle::Serializable,
        None => Cycle::Several,
    }
}

/// The name of the anomaly of a behaviour that was found.
pub(crate) fn anomaly<V: Value, L: Local>(
    program: &Program<V, L>,
    level: Level,
    found: &FoundBehaviour,
) -> Result<Option<&'static str>, ExploreError> {
    let levels = [&Level::WEAK[..], &Level::STRONG[..3]].concat();
    let history = replay(program, level, &found.token, |end| end.history_of_readers())?;
    let report = checker(&levels).check(&history);
    Ok(report.anomalies.first().map(|group| group.kind.info().name))
}
