//! Violations that rest on elements that were appended several times to a list.
//!
//! The searches do not keep in mind which append such an element is. What they find to be violated
//! is violated whichever it is, but they cannot always say why, and other levels they leave open.
//! Here every choice is tried: a small part of the history, in which each append has an element of
//! its own as the choice has it, is checked like any other. The part violates a level iff it does
//! so by every choice. What is shown is the choice that violates least; the others are told beside
//! it. Exponential; bounded.

mod choices;
mod names;

use crate::orders::check_with;
use crate::outcome::{
    Alternative, AnomalyGroup, Breach, Counted, Options, Outcome, Refs, Report, Undecided,
    Violation, merged, smallest,
};
use choices::{Choice, Lists};
use names::Names;
use seriatim_history::{History, OpId, Status, TxnId};
use seriatim_isolation::{Guarantee, Level};
use seriatim_verify::{completed, known_to_have_committed, verify_violation};
use std::time::{Duration, Instant};

/// How many choices are tried.
const CHOICES_MAX: usize = 120;
/// The most operations that a part may have to begin with.
const OPS_MAX: usize = 96;
/// How long the search for a smaller part may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The report with explanations of levels that nothing explains yet, or that are open, because
/// elements were appended several times.
pub(crate) fn explained(history: &History, options: &Options, mut report: Report) -> Report {
    if options.kind.is_some() || !history.has_lists() {
        return report;
    }
    for level in Level::ALL {
        let outcome = report.verdict(level).map(|verdict| &verdict.outcome);
        let txns = match outcome {
            Some(Outcome::Violated(Breach::Unexplained(txns))) => txns.clone(),
            Some(Outcome::Undecided(Undecided::DuplicateValue { .. })) => history.txns().collect(),
            _ => continue,
        };
        if let Some(violation) = Search::new(history, options, level).violation(&txns) {
            add(&mut report, options, violation);
        }
    }
    report
}

/// Adds an explanation. Levels that were open because of what was appended are violated if it says
/// so.
fn add(report: &mut Report, options: &Options, violation: Violation) {
    for verdict in &mut report.verdicts {
        let is_open = match &verdict.outcome {
            Outcome::Violated(Breach::Unexplained(_)) | Outcome::Undecided(_) => true,
            Outcome::Violated(Breach::Anomaly(_)) | Outcome::Holds(_) => false,
        };
        if is_open && violation.levels.contains(&verdict.level) {
            verdict.outcome = Outcome::Violated(Breach::Anomaly(Box::new(violation.clone())));
        }
    }
    let violated = violation.levels.iter().copied().filter(|&level| level != Level::CutIsolation);
    report.proved.violated = report.proved.violated.into_iter().chain(violated).min();
    let group = AnomalyGroup {
        kind: violation.kind,
        count: 1,
        counted: Counted::AtLeast,
        instances: if options.instances > 0 { vec![violation.clone()] } else { Vec::new() },
        exemplar: violation,
    };
    report.anomalies =
        merged(std::mem::take(&mut report.anomalies).into_iter().chain([group]).collect());
}

/// The search for an explanation of one level.
struct Search<'a> {
    history: &'a History,
    options: Options,
    asked: Guarantee,
    committed: Vec<bool>,
    deadline: Instant,
}

/// A part of the history, and what is wrong with it by each choice.
struct Part {
    ops: Vec<OpId>,
    history: History,
}

impl<'a> Search<'a> {
    fn new(history: &'a History, options: &Options, level: Level) -> Search<'a> {
        let latest = Instant::now() + PATIENCE;
        let deadline = options.deadline.map_or(latest, |asked| asked.min(latest));
        let options = Options { threads: 1, instances: 0, ..options.clone() };
        let asked = Guarantee::new(level, options.order);
        let committed = known_to_have_committed(history);
        Search { history, options, asked, committed, deadline }
    }

    /// What shows that `txns`, or all, violate the level.
    fn violation(&self, txns: &[TxnId]) -> Option<Violation> {
        let of_txns = |txns: &[TxnId]| -> Vec<OpId> {
            txns.iter().flat_map(|&txn| self.history.ops_of(txn).map(OpId)).collect()
        };
        let guilty = self.part(&of_txns(txns)).filter(|part| self.is_violated(part));
        let whole = || self.part(&of_txns(&self.history.txns().collect::<Vec<_>>()));
        let part = guilty.or_else(|| whole().filter(|part| self.is_violated(part)))?;
        self.told(&self.shrunk(part))
    }

    /// `ops` and what they need beside them, unless that is too much.
    fn part(&self, ops: &[OpId]) -> Option<Part> {
        if ops.len() > OPS_MAX {
            return None;
        }
        let ops = completed(self.history, ops);
        let status = |txn: TxnId| match self.committed[txn.index()] {
            true => Status::Committed,
            false => self.history.status(txn),
        };
        let history = self.history.restricted_with(&ops, status);
        (ops.len() <= OPS_MAX).then_some(Part { ops, history })
    }

    fn is_violated(&self, part: &Part) -> bool {
        let levels = vec![self.asked.level];
        self.reports(part, levels).is_some()
    }

    /// What is wrong with a part by each choice, if every one violates the level.
    fn reports(&self, part: &Part, levels: Vec<Level>) -> Option<Vec<(Choice, Report)>> {
        let lists = Lists::of(&part.history);
        let options = Options { levels, deadline: Some(self.deadline), ..self.options.clone() };
        let report = |choice: Choice| {
            let report = check_with(&lists.told_apart(&choice), &options);
            report.violates(self.asked.level).then_some((choice, report))
        };
        lists.choices(CHOICES_MAX)?.into_iter().map(report).collect()
    }

    /// A smallest part: without any of its transactions or operations the level may hold.
    fn shrunk(&self, mut part: Part) -> Part {
        let txn = |op: OpId| self.history.txn_of(op);
        loop {
            let before = part.ops.len();
            let mut txns: Vec<TxnId> = part.ops.iter().map(|&op| txn(op)).collect();
            txns.dedup();
            for gone in txns {
                self.try_without(&mut part, |op| txn(op) == gone);
            }
            for gone in part.ops.clone() {
                self.try_without(&mut part, |op| op == gone);
            }
            if part.ops.len() == before || Instant::now() >= self.deadline {
                return part;
            }
        }
    }

    fn try_without(&self, part: &mut Part, gone: impl Fn(OpId) -> bool) {
        let left: Vec<OpId> = part.ops.iter().copied().filter(|&op| !gone(op)).collect();
        let smaller = self.part(&left).filter(|smaller| smaller.ops.len() < part.ops.len());
        if let Some(smaller) = smaller.filter(|smaller| self.is_violated(smaller)) {
            *part = smaller;
        }
    }

    /// The explanation of a part: the choice that violates least, and beside it the others.
    fn told(&self, part: &Part) -> Option<Violation> {
        let mut reports = self.reports(part, Level::ALL.to_vec())?;
        reports.sort_by_key(|(_, report)| violated(report).len());
        let levels = violated(&reports.first()?.1);
        let levels: Vec<Level> =
            levels.into_iter().filter(|&level| self.is_shown(part, level)).collect();
        let lists = Lists::of(&part.history);
        let names = Names { whole: self.history, part: &part.history, kept: &part.ops };
        let refs = Refs(self.history);
        let alternative = |(choice, report): &(Choice, Report)| {
            let exemplar = smallest(&report.anomalies, self.asked.level)?.clone();
            let appends = lists.ambiguous(choice).into_iter();
            let appends = appends.map(|append| refs.op(part.ops[append.index()])).collect();
            Some(Alternative { appends, violation: names.violation(exemplar) })
        };
        let mut told: Vec<Alternative> = reports.iter().filter_map(alternative).collect();
        let fits = |alternative: &Alternative| {
            let forbidden_by = alternative.violation.kind.info().forbidden_by;
            forbidden_by.iter().all(|level| levels.contains(level))
        };
        let best = told.iter().position(fits)?;
        told.swap(0, best);
        let Violation { kind, cycle, .. } = told[0].violation.clone();
        let ops = part.ops.iter().map(|&op| refs.op(op)).collect();
        Some(Violation { alternatives: told, ..Violation::new(kind, ops, cycle).at(levels) })
    }

    /// Whether the part shows by itself, judged by the verifier, that a level is violated.
    fn is_shown(&self, part: &Part, level: Level) -> bool {
        let asked = Guarantee::new(level, self.asked.order);
        verify_violation(self.history, asked, &part.ops).is_ok()
    }
}

/// The levels that are violated, and those above: of a history without times nothing is said about
/// the strictest unless it is asked for alone.
fn violated(report: &Report) -> Vec<Level> {
    let weakest = report.weakest_violated();
    let is_violated = |level: &Level| match level {
        Level::CutIsolation => report.violates(*level),
        _ => weakest.is_some_and(|weakest| *level >= weakest),
    };
    Level::ALL.into_iter().filter(is_violated).collect()
}
