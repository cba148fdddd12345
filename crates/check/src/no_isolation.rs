//! No isolation: the level below all others, at which a read may return any version that was
//! committed. What it forbids violates read committed too (reads that are wrong by themselves, and
//! cycles of session order, reads and lists), so that read committed is asked first.

use crate::index::Index;
use crate::orders::check_with;
use crate::outcome::{
    AnomalyGroup, Breach, Options, Outcome, Report, Undecided, Verdict, Violation, sort_by_kind,
};
use crate::weak;
use seriatim_history::History;
use seriatim_isolation::{Guarantee, Level, Order};
use seriatim_verify::{Proof, completed, verify_violation};
use std::sync::Arc;

/// Checks a history at levels among which may be no isolation.
pub(crate) fn check(history: &History, options: &Options) -> Report {
    if !options.levels.contains(&Level::Unconstrained) {
        return check_with(history, options);
    }
    let mut levels = options.levels.clone();
    levels.retain(|&level| level != Level::Unconstrained);
    let mut report = check_with(history, &Options { levels, ..options.clone() });
    let levels = vec![Level::ReadCommitted];
    let weakest = check_with(history, &Options { levels, kind: None, ..options.clone() });
    let outcome = outcome(history, options, &weakest);
    if let Outcome::Violated(Breach::Anomaly(violation)) = &outcome {
        let group = weakest.anomalies.into_iter().find(|group| group.kind == violation.kind);
        report.anomalies = with(report.anomalies, group, options);
    }
    report.verdicts.insert(0, Verdict::new(Level::Unconstrained, outcome));
    report
}

/// `groups` with one more, unless its kind is there or was not asked for.
fn with(
    mut groups: Vec<AnomalyGroup>,
    group: Option<AnomalyGroup>,
    options: &Options,
) -> Vec<AnomalyGroup> {
    let is_new = |group: &AnomalyGroup| {
        options.kind.is_none_or(|kind| kind == group.kind)
            && groups.iter().all(|known| known.kind != group.kind)
    };
    groups.extend(group.filter(is_new));
    sort_by_kind(&mut groups);
    groups
}

/// Whether `history` satisfies no isolation, if `weakest` is the report of read committed.
fn outcome(history: &History, options: &Options, weakest: &Report) -> Outcome {
    if options.order == Order::RealTime && !history.has_times() {
        let options = Options { order: Order::Sessions, ..options.clone() };
        return match outcome(history, &options, weakest) {
            Outcome::Holds(_) => Outcome::Undecided(Undecided::NoTimes),
            other => other,
        };
    }
    match weakest.verdict(Level::ReadCommitted).map(|verdict| &verdict.outcome) {
        Some(Outcome::Violated(_)) if options.order == Order::None => {
            outcome_below(&history.without_sessions(), options, weakest)
        }
        Some(Outcome::Violated(_)) => outcome_below(history, options, weakest),
        Some(holds_or_undecided) => holds_or_undecided.clone(),
        // Read committed was asked for.
        None => Outcome::Undecided(Undecided::Memory),
    }
}

/// The same of a history that violates read committed, and whose sessions are those that count.
fn outcome_below(history: &History, options: &Options, weakest: &Report) -> Outcome {
    let index = Index::build(history, options.threads);
    let order = weak::plain_order(history, &index, options).filter(|_| index.faults.is_empty());
    let Some(order) = order else {
        return Outcome::Violated(match shown(history, options, weakest) {
            Some(violation) => Breach::Anomaly(Box::new(violation)),
            None => Breach::Unexplained(history.txns().collect()),
        });
    };
    if let Some(reason) = weak::undecided(history, &index) {
        return Outcome::Undecided(reason);
    }
    match history.unknown_content() {
        0 => Outcome::Holds(Arc::new(Proof::order(order))),
        transactions => Outcome::Undecided(Undecided::UnknownContent { transactions }),
    }
}

/// The smallest anomaly of read committed that no isolation forbids, too.
fn shown(history: &History, options: &Options, weakest: &Report) -> Option<Violation> {
    let asked = Guarantee::new(Level::Unconstrained, options.order);
    let shows = |violation: &&Violation| {
        let ops = completed(history, &violation.op_ids());
        !ops.is_empty() && verify_violation(history, asked, &ops).is_ok()
    };
    let exemplars = weakest.anomalies.iter().map(|group| &group.exemplar);
    exemplars.filter(shows).min_by_key(|violation| violation.ops.len()).cloned()
}
