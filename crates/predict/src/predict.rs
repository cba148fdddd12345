//! The way of a prediction: check the run, find what conflicts in it, search, confirm.
//!
//! A run of up to [`WHOLE_MAX`] conflicting transactions is searched as a whole. Before that, and
//! for longer runs instead, windows of its serial order are searched as if what came before were
//! the initial state and what comes after did not exist: mostly a few neighbouring transactions are
//! enough. What is found there is a prediction of the whole run once it is confirmed; that nothing
//! is found there says nothing.

use crate::answer::{Answer, Open};
use crate::build::build;
use crate::candidate::{Candidate, Part};
use crate::confirm;
use crate::encode::Assignment;
use crate::error::PredictError;
use crate::pivot;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::question::{Effort, LEVELS, Options};
use crate::run::Run;
use crate::search::{Ended, First, Next, Reach, search};
use rustc_hash::FxHashSet;
use seriatim_check::Checker;
use seriatim_history::{History, OpId, TxnId};
use seriatim_isolation::Level;
use std::ops::ControlFlow;
use std::time::Instant;

/// The most conflicting transactions that are searched as a whole.
const WHOLE_MAX: usize = 160;
/// A run is searched in windows first if it has more transactions than this.
const WINDOW: usize = 24;
/// How many predictions that cannot go on are passed over for one that can: the search does not
/// know what the database refuses.
const CUT_SHORT_MAX: usize = 8;
/// How far the next window is.
const STEP: usize = 12;

/// A prediction that is likely to come true, among these one with a small cycle; one that cannot go
/// on only if there is no other; or that there is none.
pub fn predict(history: &History, options: &Options) -> Result<Answer, PredictError> {
    let mut first = None;
    let mut cut_short = 0;
    let answer = run(history, options, Wanted::First, &mut |prediction| {
        let goes_on = prediction.outlook == confirm::Outlook::GoesOn;
        if goes_on || first.is_none() {
            first = Some(prediction);
        }
        cut_short += 1;
        if goes_on || cut_short == CUT_SHORT_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(first.map_or(answer, |prediction| Answer::Found(Box::new(prediction))))
}

/// Tells `visitor` of predictions that differ in their cycle until it breaks off or no more are to
/// be found. Small cycles in the observed order of versions come first; the cycle of the
/// explanation may be smaller. What cannot go on comes last. The answer is *none exists* if the
/// search came to its end (there are no others, then), and *undecided* if it did not.
pub fn predict_all(
    history: &History,
    options: &Options,
    visitor: &mut dyn FnMut(Prediction) -> ControlFlow<()>,
) -> Result<Answer, PredictError> {
    run(history, options, Wanted::All, visitor)
}

/// How many predictions are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    First,
    All,
}

fn run(
    history: &History,
    options: &Options,
    wanted: Wanted,
    visitor: &mut dyn FnMut(Prediction) -> ControlFlow<()>,
) -> Result<Answer, PredictError> {
    if !LEVELS.contains(&options.level) {
        return Err(PredictError::UnsupportedLevel(options.level));
    }
    let start = Instant::now();
    let deadline = options.budget.and_then(|budget| start.checked_add(budget));
    let order = match serial_order(history, options, deadline) {
        Ok(order) => order,
        Err(answer) => return Ok(answer),
    };
    let run = Run::new(history, &order)?;
    let effort = Effort::default();
    let told = FxHashSet::default();
    let first = if wanted == Wanted::First { First::Likely } else { First::Small };
    let mut task = Task {
        history,
        options,
        deadline,
        run: &run,
        visitor,
        effort,
        failure: None,
        told,
        first,
        is_late: false,
    };
    let ended = task.go(wanted);
    let (mut effort, failure) = (task.effort, task.failure);
    effort.time = start.elapsed();
    match (failure, ended) {
        (Some(doubt), _) => Err(PredictError::Unconfirmed(doubt)),
        (None, Coverage::All) => Ok(Answer::NoneExists(effort)),
        (None, Coverage::Some(open)) => Ok(Answer::Undecided(open, effort)),
    }
}

/// A serial order of the run, or what to answer if there is none.
fn serial_order(
    history: &History,
    options: &Options,
    deadline: Option<Instant>,
) -> Result<Vec<TxnId>, Answer> {
    let checker = Checker::new().deadline(deadline);
    let report = checker.clone().levels([Level::Serializable]).check(history);
    if report.violates(Level::Serializable) {
        let violates_level = checker.levels([options.level]).check(history).violates(options.level);
        return Err(Answer::AlreadyUnserializable { violates_level });
    }
    let open = if history.unknown_content() > 0 { Open::UnknownContent } else { Open::Observed };
    let order = report.verdicts.first().and_then(|verdict| verdict.commit_order());
    order.ok_or(Answer::Undecided(open, Effort::default()))
}

/// How far the search came.
enum Coverage {
    /// Everything that there is.
    All,
    Some(Open),
}

/// What a search looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Whole,
    Window,
}

struct Task<'a> {
    history: &'a History,
    options: &'a Options,
    deadline: Option<Instant>,
    run: &'a Run,
    visitor: &'a mut dyn FnMut(Prediction) -> ControlFlow<()>,
    effort: Effort,
    failure: Option<confirm::Doubt>,
    /// What the cycles of the predictions so far rest on; windows overlap.
    told: FxHashSet<Vec<(OpId, Option<TxnId>)>>,
    first: First,
    /// Whether the time was up before a prediction was confirmed.
    is_late: bool,
}

impl Task<'_> {
    fn go(&mut self, wanted: Wanted) -> Coverage {
        let count = self.run.txns.len();
        let part = Part { whole: self.run, run: self.run.clone(), from: 0, to: count as u32 };
        let problem = Problem::new(&part.run, self.options);
        self.effort.transactions = problem.nodes.len() as u64;
        self.effort.reads = problem.reads.len() as u64;
        if problem.level == Level::SnapshotIsolation && !pivot::exists(&problem) {
            return Coverage::All;
        }
        let is_large = problem.nodes.len() > WHOLE_MAX;
        if is_large || (wanted == Wanted::First && problem.nodes.len() > WINDOW) {
            // What cannot go on is looked for last, and in the whole run if that is possible.
            let reaches: &[Reach] =
                if is_large { &[Reach::Settled, Reach::All] } else { &[Reach::Settled] };
            for &reach in reaches {
                match self.windows(reach) {
                    Ended::Exhausted => {}
                    Ended::Stopped => return Coverage::Some(Open::Stopped),
                    Ended::OutOfTime => return Coverage::Some(Open::Budget),
                }
            }
        }
        if is_large {
            return Coverage::Some(Open::Size);
        }
        match self.search(&part, &problem, (Scope::Whole, Reach::All)) {
            Ended::Exhausted => Coverage::All,
            Ended::Stopped => Coverage::Some(Open::Stopped),
            Ended::OutOfTime => Coverage::Some(Open::Budget),
        }
    }

    /// Searches windows of the serial order, one after the other, for one prediction.
    fn windows(&mut self, reach: Reach) -> Ended {
        let order = self.run.in_order();
        let mut from = 0;
        loop {
            let to = (from + WINDOW).min(order.len());
            let mut txns = order[from..to].to_vec();
            txns.sort_unstable();
            let part = Part {
                whole: self.run,
                run: self.run.part(&txns),
                from: from as u32,
                to: to as u32,
            };
            let problem = Problem::new(&part.run, self.options);
            match self.search(&part, &problem, (Scope::Window, reach)) {
                Ended::Exhausted if to < order.len() => from += STEP,
                ended => return ended,
            }
        }
    }

    fn search(
        &mut self,
        part: &Part<'_>,
        problem: &Problem,
        (scope, reach): (Scope, Reach),
    ) -> Ended {
        if problem.level == Level::SnapshotIsolation && !pivot::exists(problem) {
            return Ended::Exhausted;
        }
        let mut effort = std::mem::take(&mut self.effort);
        effort.parts += 1;
        let (how, deadline) = ((self.options.mode, self.first, reach), self.deadline);
        let ended = search(problem, how, deadline, &mut effort, &mut |assignment| {
            self.found(part, problem, assignment, scope)
        });
        self.effort = effort;
        if self.is_late { Ended::OutOfTime } else { ended }
    }

    /// Makes a prediction of what was found, confirms it and hands it on.
    fn found(
        &mut self,
        part: &Part<'_>,
        problem: &Problem,
        assignment: &Assignment,
        scope: Scope,
    ) -> Next {
        let candidate: Candidate = part.candidate(problem, assignment);
        let mut prediction = build(self.history, self.run, &candidate, self.options, self.deadline);
        match confirm::confirm_until(self.history, &prediction.history, self.options, self.deadline)
        {
            Ok(outlook) => prediction.outlook = outlook,
            Err(confirm::Doubt::OutOfTime) => {
                self.is_late = true;
                return Next::Stop;
            }
            // A window does not know what came before it, and the search does not know what lists
            // show about the order of their versions.
            Err(_) if scope == Scope::Window || problem.has_lists => return Next::Another,
            Err(doubt) => {
                self.failure = Some(doubt);
                return Next::Stop;
            }
        }
        let facts = facts(part, problem, assignment, &prediction);
        if !self.told.insert(prediction.cycle_reads()) {
            return if facts.is_empty() { Next::Another } else { Next::Without(facts) };
        }
        match (self.visitor)(prediction) {
            ControlFlow::Break(()) => Next::Stop,
            ControlFlow::Continue(()) if facts.is_empty() => Next::Another,
            ControlFlow::Continue(()) => Next::Without(facts),
        }
    }
}

/// The reads that the explanation rests on, with their writers.
fn facts(
    part: &Part<'_>,
    problem: &Problem,
    assignment: &Assignment,
    prediction: &Prediction,
) -> Vec<(usize, Option<u32>)> {
    let Some(violation) = &prediction.violation else { return Vec::new() };
    let shown: Vec<OpId> =
        violation.ops.iter().filter_map(|op| prediction.observed_op(op.id?)).collect();
    let is_shown = |read: &crate::problem::Read| {
        let events = &part.run.txns[problem.nodes[read.node as usize].txn as usize].events;
        read.events.iter().any(|&event| shown.contains(&events[event as usize].op))
    };
    let reads = problem.reads.iter().enumerate().filter(|(_, read)| is_shown(read));
    reads.filter_map(|(number, _)| Some((number, assignment.source[number]?))).collect()
}
