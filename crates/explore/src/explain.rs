//! Counterexamples: one behaviour that violates the property, with the history and what the checker says of it.

use crate::end::End;
use crate::error::ExploreError;
use crate::isolation::Isolation;
use crate::program::{Local, Program, Value};
use crate::token;
use crate::work::Found;
use seriatim_check::{Edge, Level, Options, Reason, Report, check};
use seriatim_history::History;

/// A behaviour that violates the property.
#[derive(Debug)]
pub struct Counterexample<L> {
    /// Why.
    pub reason: String,
    /// The local states of the sessions at the end.
    pub locals: Vec<L>,
    /// What was read and written.
    pub history: History,
    /// Which levels the history satisfies, and the anomalies in it.
    pub report: Report,
    /// What reruns just this behaviour, see [`replay`].
    pub token: String,
}

/// Runs the one behaviour that `token` names, and hands its end to `visit`.
pub fn replay<V: Value, L: Local, R>(
    program: &Program<V, L>,
    isolation: Isolation,
    token: &str,
    visit: impl FnOnce(&End<'_, V, L>) -> R,
) -> Result<R, ExploreError> {
    let engine = token::replay(program, isolation, token)?;
    Ok(visit(&End::of(&engine)))
}

/// The counterexample that was found, as it is to be shown.
pub(crate) fn counterexample<V: Value, L: Local>(
    program: &Program<V, L>,
    isolation: Isolation,
    found: &Found,
) -> Result<Counterexample<L>, ExploreError> {
    replay(program, isolation, &found.token, |end| Counterexample::of(end, found.reason.clone()))
}

impl<L: Local> Counterexample<L> {
    /// A behaviour, and why it violates the property.
    pub fn of<V: Value>(end: &End<'_, V, L>, reason: String) -> Self {
        let history = end.history();
        let report = check(&history, &options(&Level::ALL));
        let (locals, token) = (end.locals().to_vec(), end.token());
        Counterexample { reason, locals, history, report, token }
    }
}

fn options(levels: &[Level]) -> Options {
    Options { levels: levels.to_vec(), threads: 1, ..Options::default() }
}

/// The anomaly of a history, with the cycle of dependencies behind it.
pub(crate) fn cycle(history: &History) -> String {
    let levels = [&Level::WEAK[..], &Level::STRONG[..3]].concat();
    let report = check(history, &options(&levels));
    let Some(group) = report.anomalies.first() else { return "serializable".to_owned() };
    let mut cycle = group.exemplar.cycle.clone();
    // A cycle has no beginning: it is told from its smallest transaction on.
    let first = (0..cycle.len()).min_by_key(|&at| cycle[at].from.id).unwrap_or_default();
    cycle.rotate_left(first);
    let edges: Vec<String> = cycle.iter().map(edge).collect();
    let end = cycle.first().map_or(String::new(), |edge| format!(" {}", edge.from.name));
    format!("{}: {}{end}", group.kind.info().name, edges.join(" "))
}

fn edge(edge: &Edge) -> String {
    let label = match &edge.reason {
        Reason::SessionOrder => "so".to_owned(),
        Reason::Initial => "initial".to_owned(),
        Reason::WriteRead { read, .. } => format!("wr {}", read.key),
        Reason::Overwritten { source, .. } => format!("co {}", source.key),
        Reason::VersionOrder { later, .. } | Reason::WriteWrite { later, .. } => format!("ww {}", later.key),
        Reason::RealTime { .. } => "rt".to_owned(),
        Reason::ReadWrite { overwrite, .. } => format!("rw {}", overwrite.key),
    };
    format!("{} -{label}->", edge.from.name)
}
