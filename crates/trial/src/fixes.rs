//! What would mend it: tried on the same runs, not guessed.
//!
//! An application that was written for a weaker level may not try again what a stronger one
//! refuses. Such a run says nothing about the level, and is passed over: something helps if enough
//! other runs have passed.

use crate::blame::Blame;
use crate::error::TrialError;
use crate::fuzz::{Fuzz, Seen};
use crate::place::{Addition, Family};
use crate::run::Run;
use seriatim_history::TxnId;
use seriatim_isolation::Level;
use seriatim_sql::parse::{may_lock, shape};
use seriatim_store::LEVELS;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What may mend an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FixKind {
    /// These statements lock what they read.
    ForUpdate(Vec<String>),
    /// The transactions that begin with these statements are at SERIALIZABLE.
    Serializable(Vec<String>),
    /// All transactions are at this level.
    Level(Level),
}

/// Something that was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What.
    pub kind: FixKind,
    /// How many runs were done with it.
    pub runs: u64,
    /// The first of them that failed, and how.
    pub failed: Option<(u64, String)>,
    /// In how many the application gave up because the database refused a transaction.
    pub given_up: u64,
    /// Whether the database refused transactions in one of the others, too.
    pub is_refused: bool,
}

/// What is known of a fix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing failed, and nothing was refused.
    Helps,
    /// Nothing failed for another reason than that a transaction was refused.
    HelpsWithRetries,
    /// A run failed.
    Fails,
    /// Nothing failed, but too few runs say anything: most ended by refusals, or time was short.
    Unclear,
}

/// So many runs that are not ended by refusals must pass for something to help.
const ENOUGH: u64 = 5;

impl Fix {
    /// What is known of it.
    pub fn verdict(&self) -> Verdict {
        let told = self.runs - self.given_up.min(self.runs);
        match () {
            () if self.failed.is_some() => Verdict::Fails,
            () if told < ENOUGH => Verdict::Unclear,
            () if self.given_up > 0 || self.is_refused => Verdict::HelpsWithRetries,
            () => Verdict::Helps,
        }
    }

    /// Whether it helps, maybe with transactions that are tried again.
    pub fn helps(&self) -> bool {
        matches!(self.verdict(), Verdict::Helps | Verdict::HelpsWithRetries)
    }
}

/// How many times longer than the run that failed a run may take that tries a fix, and what it may
/// take at least.
const LATE: u32 = 10;
const LIMIT_MIN: Duration = Duration::from_secs(5);
/// How long each fix is tried at most.
const FIX_MAX: Duration = Duration::from_secs(60);

impl Fuzz<'_> {
    /// Tries what may help, on so many runs each; what was tried, smallest first, up to the first
    /// of each kind that helps.
    pub fn fixes(
        &self,
        blame: &Blame,
        runs: u64,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Vec<Fix>, TrialError> {
        let locks = lockable(blame).into_iter().map(FixKind::ForUpdate).collect();
        let levels = self.stronger_levels().into_iter().map(FixKind::Level).collect();
        let serializable = self.raisable(blame).map(FixKind::Serializable).into_iter().collect();
        let kinds: [Vec<FixKind>; 3] = [locks, serializable, levels];
        let mut tried = Vec::new();
        for kind in kinds {
            for one in kind {
                let fix = match self.tried(one, blame, runs, is_asked_to_end) {
                    Err(TrialError::Interrupted) => return Ok(tried),
                    other => other?,
                };
                let helps = fix.helps();
                tried.push(fix);
                if helps {
                    break;
                }
            }
        }
        Ok(tried)
    }

    /// The statements with which the transactions begin that are to blame, if these may ask for
    /// SERIALIZABLE.
    fn raisable(&self, blame: &Blame) -> Option<Vec<String>> {
        let may_ask = match self.family {
            Family::Level { level, .. } => level < Level::Serializable,
            Family::Node(_, level) => level < Level::Serializable,
            Family::Serializable | Family::Serial => false,
        };
        if self.application.forces_level || !may_ask {
            return None;
        }
        let history = &blame.run.history;
        let txns: BTreeSet<TxnId> = blame.statements.iter().filter_map(|it| it.txn).collect();
        let begins = txns.into_iter().filter_map(|txn| history.statements_of(txn).first());
        let begins = distinct(begins.map(|it| it.content.text.to_string()));
        (!begins.is_empty()).then_some(begins)
    }

    /// The levels that may help, weakest first. One node has the levels of its server, and
    /// transactions that are at a level because they ask for it stay there.
    fn stronger_levels(&self) -> Vec<Level> {
        match self.family {
            Family::Level { level, .. } => {
                LEVELS.into_iter().filter(|other| *other > level).collect()
            }
            Family::Node(_, level) => [Level::SnapshotIsolation, Level::Serializable]
                .into_iter()
                .filter(|other| *other > level)
                .collect(),
            Family::Serializable | Family::Serial => Vec::new(),
        }
    }

    fn tried(
        &self,
        kind: FixKind,
        blame: &Blame,
        runs: u64,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Fix, TrialError> {
        let until = Instant::now() + FIX_MAX;
        let deadline = Some(self.deadline.map_or(until, |deadline| deadline.min(until)));
        let mut application = self.application.clone();
        // A trial that hangs is not waited for much longer than runs take.
        application.limit = application.limit.min((blame.run.took * LATE).max(LIMIT_MIN));
        application.forces_level |= matches!(kind, FixKind::Level(_));
        let forgives_refusals = true;
        let mut fuzz = Fuzz { runs, first: 0, deadline, forgives_refusals, ..self.clone() };
        fuzz.application = &application;
        let mut additions = Vec::new();
        match &kind {
            FixKind::ForUpdate(statements) => {
                additions.extend(statements.iter().map(|text| Addition::for_update(text)));
            }
            FixKind::Serializable(statements) => {
                additions.extend(statements.iter().map(|text| Addition::serializable(text)));
            }
            FixKind::Level(level) => {
                fuzz.family = match fuzz.family {
                    Family::Level { order, .. } => Family::Level { level: *level, order },
                    Family::Node(node, _) => Family::Node(node, *level),
                    other => other,
                };
            }
        }
        // The order of statements that failed comes first, among the runs that are as good as any.
        let again = fuzz.again(blame, &additions, is_asked_to_end)?;
        if again.failure.is_some() && !fuzz.passes_over(&again) {
            let failed = Some((blame.run.number, what(again)));
            return Ok(Fix { kind, runs: 1, failed, given_up: 0, is_refused: false });
        }
        let found = fuzz.search(&additions, &|_: &Seen| (), is_asked_to_end)?;
        // What was not tried does not help.
        let is_untried = found.failed.is_none() && found.seen.runs == 0;
        if is_untried || is_asked_to_end.load(Ordering::Relaxed) {
            return Err(TrialError::Interrupted);
        }
        let failed = found.failed.map(|(number, run)| (number, what(run)));
        let (runs, given_up) = (found.seen.runs, found.seen.passed_over);
        Ok(Fix { kind, runs, failed, given_up, is_refused: found.seen.refusals > 0 })
    }
}

/// How a run failed.
fn what(run: Run) -> String {
    run.failure.map(|failure| failure.what).unwrap_or_default()
}

/// Which statements may lock: each that is to blame alone, then all of these together, then each
/// other one that these transactions begin with: a row that stands for what is counted, say.
fn lockable(blame: &Blame) -> Vec<Vec<String>> {
    let blamed = blame.statements.iter().map(|it| it.content.text.to_string());
    let all = distinct_selects(blamed);
    let history = &blame.run.history;
    let txns = blame.statements.iter().filter_map(|it| it.txn);
    let around = txns.flat_map(|txn| history.statements_of(txn));
    let others = distinct_selects(around.map(|it| it.content.text.to_string()));
    let is_other = |text: &String| all.iter().all(|it| shape(it) != shape(text));
    let others = others.into_iter().filter(is_other).map(|text| vec![text]);
    let mut ways: Vec<Vec<String>> = all.iter().map(|text| vec![text.clone()]).collect();
    if all.len() > 1 {
        ways.push(all.clone());
    }
    ways.extend(others.take(OTHERS_MAX));
    ways
}

/// So many statements are tried that are not to blame themselves.
const OTHERS_MAX: usize = 5;

fn distinct_selects(texts: impl Iterator<Item = String>) -> Vec<String> {
    distinct(texts.filter(|text| may_lock(text)))
}

/// One statement of each shape.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = BTreeSet::new();
    texts.filter(|text| known.insert(shape(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(runs: u64, given_up: u64, failed: bool) -> Verdict {
        let failed = failed.then(|| (0, "failed".to_owned()));
        let kind = FixKind::Level(Level::Serializable);
        Fix { kind, runs, failed, given_up, is_refused: given_up > 0 }.verdict()
    }

    #[test]
    fn something_helps_if_enough_runs_say_so() {
        assert_eq!(verdict(20, 0, false), Verdict::Helps);
        assert_eq!(verdict(20, 15, false), Verdict::HelpsWithRetries);
        assert_eq!(verdict(20, 16, false), Verdict::Unclear);
        // Time was short.
        assert_eq!(verdict(4, 0, false), Verdict::Unclear);
        assert_eq!(verdict(1, 0, true), Verdict::Fails);
    }
}
