//! What would mend it: tried on the same runs, not guessed.

use crate::blame::Blame;
use crate::error::TrialError;
use crate::fuzz::{Found, Fuzz, Seen};
use crate::place::{Addition, Family};
use seriatim_isolation::Level;
use seriatim_sql::parse::{may_lock, shape};
use seriatim_store::LEVELS;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What may mend an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FixKind {
    /// These statements lock what they read.
    ForUpdate(Vec<String>),
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
    /// Whether it failed because the database refused a transaction that was not tried again.
    pub is_refused: bool,
}

impl Fix {
    /// Whether it helps, maybe with transactions that are tried again.
    pub fn helps(&self) -> bool {
        self.failed.is_none() || self.is_refused
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
    /// lock and the first level that help.
    pub fn fixes(
        &self,
        blame: &Blame,
        runs: u64,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Vec<Fix>, TrialError> {
        let mut tried = Vec::new();
        for statements in lockable(blame) {
            let kind = FixKind::ForUpdate(statements);
            let fix = match self.tried(kind, blame, runs, is_asked_to_end) {
                Err(TrialError::Interrupted) => return Ok(tried),
                other => other?,
            };
            let helps = fix.helps();
            tried.push(fix);
            if helps {
                break;
            }
        }
        for stronger in self.stronger_levels() {
            let kind = FixKind::Level(stronger);
            let fix = match self.tried(kind, blame, runs, is_asked_to_end) {
                Err(TrialError::Interrupted) => return Ok(tried),
                other => other?,
            };
            let helps = fix.helps();
            tried.push(fix);
            if helps {
                break;
            }
        }
        Ok(tried)
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
        let deadline = Some(Instant::now() + FIX_MAX);
        let mut application = self.application.clone();
        // A trial that hangs is not waited for much longer than runs take.
        application.limit = application.limit.min((blame.run.took * LATE).max(LIMIT_MIN));
        application.forces_level |= matches!(kind, FixKind::Level(_));
        let mut fuzz = Fuzz { runs, first: 0, deadline, ..self.clone() };
        fuzz.application = &application;
        let mut additions = Vec::new();
        match &kind {
            FixKind::ForUpdate(statements) => {
                additions.extend(statements.iter().map(|text| Addition::for_update(text)));
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
        // A run that ends with a refusal says nothing: others may fail by themselves.
        let mut found = match again.failure.is_some() && !again.is_refused {
            true => Found::only(blame.run.number, again),
            false => fuzz.search(&additions, &|_: &Seen| (), is_asked_to_end)?,
        };
        // What was not tried does not help.
        let is_untried = found.failed.is_none() && found.seen.runs == 0;
        if is_untried || is_asked_to_end.load(Ordering::Relaxed) {
            return Err(TrialError::Interrupted);
        }
        // A command that says by its output what a failure is may pass because it was refused.
        let is_expecting = self.application.expect.is_some() || is_level(self.family);
        let is_refused = match &found.failed {
            Some((_, run)) => run.is_refused,
            None => found.seen.refusals > 0 || is_expecting && found.seen.refused > 0,
        };
        let failure = found.failed.take().map(|(number, run)| (number, run.failure));
        let failed = failure.map(|(number, failure)| {
            (number, failure.map(|failure| failure.what).unwrap_or_default())
        });
        Ok(Fix { kind, runs: found.seen.runs, failed, is_refused })
    }
}

fn is_level(family: Family) -> bool {
    matches!(family, Family::Level { .. })
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
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if may_lock(&text) && !all.iter().any(|other| shape(other) == shape(&text)) {
            all.push(text);
        }
    }
    all
}
