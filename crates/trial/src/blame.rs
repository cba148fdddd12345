//! Which statements of a failed run are to blame: those whose weak reads cannot be replaced by
//! reads of the latest versions.
//!
//! The run is done again with ever fewer weak reads, statement by statement, halves first. What is
//! left is needed: without any one of these statements' weak reads the application does not fail,
//! and what the statement returns then is what it should have returned.
//!
//! If no weak read is needed, because transactions that overlap are enough, those statements are to
//! blame that read, in the cycles of the history, what others overwrote; what they should have
//! returned is what they return if their client comes after all others.

use crate::error::TrialError;
use crate::fuzz::Fuzz;
use crate::place::{Addition, Deciders, Timing};
use crate::run::Run;
use seriatim_check::{Checker, Reason};
use seriatim_history::{History, OpId, Returned, SessionId, StatementContent, TxnId};
use seriatim_server::holding::Step;
use seriatim_sql::parse::shape;
use seriatim_store::{Choice, Script, TxnName};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How often a run that should fail again may pass: clients at the same time do not repeat exactly.
const TRIES: u32 = 3;
/// So many runs are done to find out what is needed.
const RUNS_MAX: u32 = 300;
/// So many of them are kept for what comes after the schedule has been made simpler.
const JOINS_LEFT: u32 = 60;
/// How long to look for what is needed.
const BLAME_MAX: Duration = Duration::from_secs(150);
/// How long the checker may look for cycles of a run.
const CHECK_MAX: Duration = Duration::from_secs(10);
/// How many runs must fail for a simpler schedule to be taken.
const ALWAYS: u32 = 2;

/// A statement of a run: its transaction, and its number there.
type Place = (TxnName, u32);

/// What a failure needs.
#[derive(Debug)]
pub struct Blame {
    /// The statements whose reads it needs, in order.
    pub statements: Vec<BlamedStatement>,
    /// Whether it needs no weak read: transactions that overlap are enough.
    pub is_overlap: bool,
    /// The choices that lead to it; all other reads return the latest version.
    pub choices: Vec<Choice>,
    /// The run, with these choices.
    pub run: Run,
    /// How many runs with these choices were done at last, and how many failed.
    pub replays: (u32, u32),
}

/// A statement that is to blame.
#[derive(Clone, Debug)]
pub struct BlamedStatement {
    /// The session, from 0.
    pub session: u32,
    /// The number of the transaction in its session, from 0.
    pub number: u32,
    /// The number of the statement in its transaction, from 0.
    pub statement: u32,
    /// The transaction, in the history of the run.
    pub txn: Option<TxnId>,
    /// What was asked and what was returned.
    pub content: Arc<StatementContent>,
    /// What it returns if its reads are not weak.
    pub otherwise: Option<Returned>,
    /// What it did not see.
    pub missed: Vec<Missed>,
}

/// A version that was not the latest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// What was read.
    pub key: String,
    /// Whose version was returned; nobody's is the initial one.
    pub seen: Option<TxnName>,
}

struct Search<'f> {
    fuzz: &'f Fuzz<'f>,
    /// The run that is to be explained.
    failed: &'f Run,
    /// The order of the statements.
    steps: Vec<Step>,
    is_asked_to_end: &'f AtomicBool,
    left: u32,
    until: Instant,
}

impl Search<'_> {
    /// Runs it with these weak reads and no others, in the present order.
    fn run(&mut self, weak: &[Choice]) -> Result<Run, TrialError> {
        let is_late = Instant::now() >= self.until;
        self.left = if is_late { 0 } else { self.left.saturating_sub(1) };
        let deciders = scripted(weak, &self.steps, self.failed.number);
        let (application, state) = (self.fuzz.application, self.fuzz.state);
        application.run(state, self.fuzz.family, deciders, &[], self.is_asked_to_end)
    }

    /// Whether a run fails as the one that is to be explained.
    fn is_failure(&self, run: &Run) -> bool {
        let kind = |run: &Run| run.failure.as_ref().map(|failure| failure.is_refusal);
        run.failure.is_some() && kind(run) == kind(self.failed)
    }

    /// A run with these weak reads that fails, if one of a few does; otherwise one that does not.
    fn fails(&mut self, weak: &[Choice]) -> Result<Result<Run, Run>, TrialError> {
        let mut tried = 0;
        loop {
            let run = self.run(weak)?;
            tried += 1;
            if self.is_failure(&run) {
                return Ok(Ok(run));
            }
            if tried == TRIES || self.left == 0 {
                return Ok(Err(run));
            }
        }
    }

    /// The last of a few runs with these weak reads, if all fail.
    fn always_fails(&mut self, weak: &[Choice]) -> Result<Option<Run>, TrialError> {
        for _ in 1..ALWAYS {
            let run = self.run(weak)?;
            if !self.is_failure(&run) {
                return Ok(None);
            }
        }
        let run = self.run(weak)?;
        Ok(self.is_failure(&run).then_some(run))
    }

    /// Lets clients go on where they were interrupted by others and the failure does not need it.
    fn join_steps(&mut self, mut last: Run) -> Result<Run, TrialError> {
        let choices = weak(&last);
        self.steps = last.steps.clone();
        let mut place = 0;
        while place < self.steps.len() && self.left > JOINS_LEFT {
            let Some(joined) = joined(&self.steps, place) else {
                place += 1;
                continue;
            };
            let before = std::mem::replace(&mut self.steps, joined);
            match self.always_fails(&choices)? {
                Some(run) => {
                    self.steps = run.steps.clone();
                    last = run;
                }
                None => self.steps = before,
            }
            // What comes after the place may be joined with it, too.
            place += 1;
        }
        Ok(last)
    }

    /// Leaves out what can be left out, parts of decreasing size first.
    fn shrink(&mut self, mut last: Run) -> Result<Run, TrialError> {
        let mut size = places(&last).len().div_ceil(2).max(1);
        loop {
            let all = places(&last);
            let mut has_less = false;
            for part in all.chunks(size).rev() {
                if self.left == 0 {
                    return Ok(last);
                }
                let fewer = without(&last, part);
                if fewer.len() == weak(&last).len() {
                    continue;
                }
                if let Ok(run) = self.fails(&fewer)? {
                    last = run;
                    has_less = true;
                }
            }
            if size == 1 && !has_less {
                return Ok(last);
            }
            size = if has_less { size.min(places(&last).len().max(1)) } else { size.div_ceil(2) };
        }
    }
}

impl Fuzz<'_> {
    /// The run that is to blame once more, with these additions.
    pub(crate) fn again(
        &self,
        blame: &Blame,
        additions: &[Addition],
        is_asked_to_end: &AtomicBool,
    ) -> Result<Run, TrialError> {
        let deciders = scripted(&blame.choices, &blame.run.steps, blame.run.number);
        self.application.run(self.state, self.family, deciders, additions, is_asked_to_end)
    }

    /// When to stop looking for what is needed: where time is short, half of it is for what helps.
    fn blame_until(&self) -> Instant {
        let now = Instant::now();
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(now) / 2);
        now + left.map_or(BLAME_MAX, |left| left.min(BLAME_MAX))
    }

    /// What the failure of a run needs; `None` if it does not fail again.
    pub fn blame(
        &self,
        failed: &Run,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Option<Blame>, TrialError> {
        let (steps, left, until) = (failed.steps.clone(), RUNS_MAX, self.blame_until());
        let mut search = Search { fuzz: self, failed, steps, is_asked_to_end, left, until };
        if let Ok(run) = search.fails(&[])? {
            let run = search.join_steps(run)?;
            return Ok(Some(search.told_of_overlap(run)?));
        }
        let Ok(run) = search.fails(&weak(failed))? else { return Ok(None) };
        let run = search.shrink(run)?;
        let run = search.join_steps(run)?;
        Ok(Some(search.told(run)?))
    }
}

impl Search<'_> {
    fn told(&mut self, run: Run) -> Result<Blame, TrialError> {
        let choices = weak(&run);
        let mut statements = Vec::new();
        for place in places(&run) {
            let mut told = blamed(&run, place);
            if self.left == 0 {
                statements.push(told);
                continue;
            }
            // Without the weak reads of this one statement.
            if let Err(passed) = self.fails(&without(&run, &[place]))? {
                let content = content(&passed.history, place);
                told.otherwise = content.and_then(|content| content.returned.clone());
            }
            statements.push(told);
        }
        let replays = self.replays(&choices)?;
        Ok(Blame { statements, choices, is_overlap: false, run, replays })
    }

    fn told_of_overlap(&mut self, run: Run) -> Result<Blame, TrialError> {
        let mut statements = Vec::new();
        for place in reads_of_cycles(&run.history) {
            let mut told = blamed(&run, place);
            if self.left > 0 {
                told.otherwise = self.afterwards(&run, place)?;
            }
            statements.push(told);
        }
        let replays = self.replays(&[])?;
        Ok(Blame { statements, choices: Vec::new(), is_overlap: true, run, replays })
    }

    /// What a statement returns if its client comes after all others, as in a serial order in which
    /// it misses nothing.
    fn afterwards(&mut self, run: &Run, place: Place) -> Result<Option<Returned>, TrialError> {
        let kept = self.steps.clone();
        let is_own = |step: &Step| step.session == place.0.session;
        let (own, mut steps): (Vec<Step>, Vec<Step>) = kept.iter().copied().partition(is_own);
        steps.extend(own);
        self.steps = steps;
        let serial = self.run(&[]);
        self.steps = kept;
        let (before, after) = (content(&run.history, place), content(&serial?.history, place));
        Ok(match (before, after) {
            (Some(before), Some(after)) if shape(&before.text) == shape(&after.text) => {
                after.returned.clone().filter(|it| Some(it) != before.returned.as_ref())
            }
            _ => None,
        })
    }

    fn replays(&mut self, choices: &[Choice]) -> Result<(u32, u32), TrialError> {
        let mut replays = (0, 0);
        for _ in 0..TRIES {
            replays.0 += 1;
            let run = self.run(choices)?;
            replays.1 += u32::from(self.is_failure(&run));
        }
        Ok(replays)
    }
}

/// The same steps, in which the client of the step at `place` goes on at once with the steps that
/// it does when it is its turn again. `None` if nobody comes in between, or no turn comes again.
fn joined(steps: &[Step], place: usize) -> Option<Vec<Step>> {
    let session = steps[place].session;
    let interrupted = place + 1;
    if steps.get(interrupted)?.session == session {
        return None;
    }
    let again = (interrupted..steps.len()).find(|&at| steps[at].session == session)?;
    let end = (again..steps.len()).find(|&at| steps[at].session != session);
    let end = end.unwrap_or(steps.len());
    let mut joined = steps[..interrupted].to_vec();
    joined.extend_from_slice(&steps[again..end]);
    joined.extend_from_slice(&steps[interrupted..again]);
    joined.extend_from_slice(&steps[end..]);
    Some(joined)
}

/// The statements that read what others overwrote, in the cycles that show that a history is not
/// serializable.
fn reads_of_cycles(history: &History) -> Vec<Place> {
    let report = Checker::new().budget(CHECK_MAX).check(history);
    let violations = report.anomalies.iter().map(|group| &group.exemplar);
    let mut found = BTreeSet::new();
    for edge in violations.flat_map(|violation| &violation.cycle) {
        let (Reason::ReadWrite { read, .. } | Reason::Overwritten { read, .. }) = &edge.reason
        else {
            continue;
        };
        found.extend(read.id.and_then(|op| place_of(history, op)));
    }
    found.into_iter().collect()
}

/// The statement that did an operation.
fn place_of(history: &History, op: OpId) -> Option<Place> {
    let statement = history.statement_of(op)?;
    let all = history.statements_of(statement.txn);
    let number = all.iter().position(|other| other.ops == statement.ops)?;
    let session = history.session_of(statement.txn);
    let txn = statement.txn.0 - history.txns_of(session).start;
    Some((TxnName { session: session.0, txn }, number as u32))
}

/// Those who do as they did before.
fn scripted(weak: &[Choice], steps: &[Step], number: u64) -> Deciders {
    let chooser = Box::new(Script::partial(weak.to_vec()));
    Deciders { chooser, timing: Timing::Kept(steps.to_vec()), number }
}

pub(crate) fn weak(run: &Run) -> Vec<Choice> {
    run.choices.iter().filter(|(it, _)| !it.latest).map(|(it, _)| it.clone()).collect()
}

/// The statements with weak reads.
fn places(run: &Run) -> Vec<Place> {
    let weak = run.choices.iter().filter(|(it, _)| !it.latest);
    let all: BTreeSet<Place> = weak.map(|(it, statement)| (it.reader, *statement)).collect();
    all.into_iter().collect()
}

/// The weak reads of all other statements.
fn without(run: &Run, places: &[Place]) -> Vec<Choice> {
    let is_other =
        |(it, statement): &&(Choice, u32)| !it.latest && !places.contains(&(it.reader, *statement));
    run.choices.iter().filter(is_other).map(|(it, _)| it.clone()).collect()
}

fn txn(history: &History, name: TxnName) -> Option<TxnId> {
    if name.session as usize >= history.session_count() {
        return None;
    }
    history.txns_of(SessionId(name.session)).nth(name.txn as usize).map(TxnId)
}

fn content(history: &History, (name, number): Place) -> Option<Arc<StatementContent>> {
    let statement = history.statements_of(txn(history, name)?).get(number as usize)?;
    Some(Arc::clone(&statement.content))
}

fn blamed(run: &Run, place: Place) -> BlamedStatement {
    let (name, number) = place;
    let own = run
        .choices
        .iter()
        .filter(|(it, statement)| !it.latest && it.reader == name && *statement == number);
    let missed = own.map(|(it, _)| Missed { key: it.key.clone(), seen: it.writer }).collect();
    BlamedStatement {
        session: name.session,
        number: name.txn,
        statement: number,
        txn: txn(&run.history, name),
        content: content(&run.history, place).unwrap_or_default(),
        otherwise: None,
        missed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        text.split(' ').map(|step| step.parse().unwrap()).collect()
    }

    #[test]
    fn a_client_that_was_interrupted_goes_on() {
        let all = steps("0+ 0- 1+ 1- 0+ 0- 1+ 1-");
        assert_eq!(joined(&all, 0), None);
        assert_eq!(joined(&all, 1), Some(steps("0+ 0- 0+ 0- 1+ 1- 1+ 1-")));
        assert_eq!(joined(&all, 3), Some(steps("0+ 0- 1+ 1- 1+ 1- 0+ 0-")));
        assert_eq!(joined(&all, 7), None);
    }
}
