//! How far a search came: what is known although a level is open, and how much there was to do.

use crate::numbers::{grouped, plural, seconds};
use crate::prose::and;
use seriatim_check::{Effort, Report, Undecided};
use seriatim_isolation::Level;

/// What was proved before a search was given up because of `reason`, and how far it came; `None` if
/// it was not given up.
pub(crate) fn so_far(report: &Report, reason: &Undecided) -> Option<String> {
    if !matches!(reason, Undecided::Budget | Undecided::Memory) {
        return None;
    }
    let open = report.verdicts.iter().filter(|verdict| verdict.undecided() == Some(reason));
    let tried = open.filter_map(|verdict| Some((verdict.level, of_level(report, verdict.level)?)));
    let tried: Vec<String> =
        tried.map(|(level, effort)| format!("At {level}, {}.", done(effort))).collect();
    Some([vec![proved(report)], tried].concat().join(" "))
}

fn proved(report: &Report) -> String {
    let holds = report.proved.holds.map(|level| format!("{level} holds"));
    let violated = report.proved.violated.map(|level| format!("{level} is violated"));
    let known: Vec<String> = holds.into_iter().chain(violated).collect();
    if known.is_empty() {
        "Nothing was proved so far.".to_owned()
    } else {
        format!("Proved so far: {}.", and(&known))
    }
}

fn done(effort: &Effort) -> String {
    if effort.rounds == 0 {
        return "no order was tried".to_owned();
    }
    let orders = effort.rounds + effort.models;
    let were = if orders == 1 { "was" } else { "were" };
    let tried = plural(orders, "order");
    let forced = plural(effort.forced, "edge");
    let broken = plural(effort.broken_last, "constraint");
    let searched = match effort.choices {
        0 => "no choice was searched".to_owned(),
        choices => {
            format!("{} led to {}", plural(choices, "choice"), plural(effort.conflicts, "conflict"))
        }
    };
    format!("{tried} {were} tried, {forced} found to be forced, {broken} left open, and {searched}")
}

/// The last effort at a level.
pub(crate) fn of_level(report: &Report, level: Level) -> Option<&Effort> {
    report.timings.efforts.iter().rev().find(|(other, _)| *other == level).map(|(_, effort)| effort)
}

/// The effort at a level in one line: what the steps took, and how much there was to do.
pub(crate) fn line(level: Level, effort: &Effort) -> String {
    format!(
        "{level}: build {}; prune {} ({}, {}, {} → {} broken constraints); solve {} ({}, {}, {}); \
         explain {}",
        seconds(effort.build),
        seconds(effort.prune),
        plural(effort.rounds, "order"),
        plural(effort.forced, "forced edge"),
        grouped(effort.broken_first),
        grouped(effort.broken_last),
        seconds(effort.solve),
        plural(effort.choices, "choice"),
        plural(effort.decisions, "decision"),
        plural(effort.conflicts, "conflict"),
        seconds(effort.explain),
    )
}
