//! Runs an application again and again, each time with other choices, until it fails.

use crate::error::TrialError;
use crate::place::{Addition, Deciders, Family, State, Timing};
use crate::points::{HoldPoint, place};
use crate::run::{Application, Run};
use rustc_hash::{FxHashSet, FxHasher};
use seriatim_history::{History, SessionId};
use seriatim_server::holding::{ByChance, Holder};
use seriatim_store::{
    Adversary, Choice, Chooser, ChooserKind, Latest, LatestPerSession, Random, Stale, TxnName,
};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What runs take turns with if no chooser is named.
const TURNS: [ChooserKind; 4] = [
    ChooserKind::Random,
    ChooserKind::Adversary,
    ChooserKind::Stale,
    ChooserKind::LatestPerSession,
];

/// Many runs of an application, numbered from 0. A run depends on the seed and on its number, and
/// on what the application makes of that.
#[derive(Clone, Debug)]
pub struct Fuzz<'a> {
    /// What is run.
    pub application: &'a Application,
    /// Where each run begins.
    pub state: &'a State,
    /// The database that it meets.
    pub family: Family,
    /// Who picks versions; without one, runs take turns with all.
    pub chooser: Option<ChooserKind>,
    /// What decides everything that is random.
    pub seed: u64,
    /// The number of the first run.
    pub first: u64,
    /// The number behind the last one.
    pub runs: u64,
    /// How many at once.
    pub jobs: usize,
    /// When to begin no more.
    pub deadline: Option<Instant>,
    /// On one server, every second run holds a client at one of these places in turn, while the
    /// others go on; see [`Run::hold_points`]. The others hold by chance.
    pub hold_points: Vec<HoldPoint>,
    /// Whether a run says nothing in which the application gave up a transaction that the database
    /// refused. It was written for a weaker level, and is not to blame for what it does then.
    pub forgives_refusals: bool,
}

/// What was seen in all runs.
#[derive(Clone, Default, Debug)]
pub struct Seen {
    /// How many runs came to their end.
    pub runs: u64,
    /// How many of them were unlike all others.
    pub histories: u64,
    /// Who read what from whom, in all of them.
    pub pairs: u64,
    /// Whether two transactions of a run ever overlapped.
    pub has_overlap: bool,
    /// The most sessions of a run.
    pub sessions: u32,
    /// How many processes were left behind by runs.
    pub left: usize,
    /// In how many runs the command wrote that the database refused a transaction.
    pub refused: u64,
    /// How many transactions the database refused, also those that were tried again.
    pub refusals: u64,
    /// How many runs failed and say nothing, because the database refused a transaction.
    pub passed_over: u64,
}

impl Seen {
    /// Of two searches the second one, with the runs of the first.
    #[must_use]
    pub fn after(self, first: &Seen) -> Seen {
        Seen {
            runs: self.runs + first.runs,
            histories: self.histories + first.histories,
            pairs: self.pairs.max(first.pairs),
            has_overlap: self.has_overlap || first.has_overlap,
            sessions: self.sessions.max(first.sessions),
            left: self.left + first.left,
            refused: self.refused + first.refused,
            refusals: self.refusals + first.refusals,
            passed_over: self.passed_over + first.passed_over,
        }
    }
}

/// What runs tell of while they go on.
pub trait Progress: Sync {
    /// A run has come to its end.
    fn ended(&self, seen: &Seen);
}

impl<F: Fn(&Seen) + Sync> Progress for F {
    fn ended(&self, seen: &Seen) {
        self(seen);
    }
}

/// What came of all runs.
#[derive(Debug)]
pub struct Found {
    /// What was seen.
    pub seen: Seen,
    /// The first run that failed, by its number.
    pub failed: Option<(u64, Run)>,
    /// Whether all runs were done, or one failed.
    pub is_complete: bool,
}

#[derive(Default)]
struct Shared {
    next: AtomicU64,
    /// No run behind this one is of interest.
    first_failed: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    seen: Seen,
    histories: FxHashSet<u64>,
    pairs: FxHashSet<u64>,
    failed: Option<(u64, Run)>,
    error: Option<TrialError>,
}

impl Fuzz<'_> {
    /// The application without anything weak: an error if it fails even so.
    pub fn baseline(&self, is_asked_to_end: &AtomicBool) -> Result<Run, TrialError> {
        self.baseline_of(0, is_asked_to_end)
    }

    /// The same for a command that may do something else in each run.
    pub fn baseline_of(
        &self,
        number: u64,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Run, TrialError> {
        self.application.serializable_run(self.state, number, is_asked_to_end)
    }

    /// Run number `number`.
    pub fn run(
        &self,
        number: u64,
        additions: &[Addition],
        is_asked_to_end: &AtomicBool,
    ) -> Result<Run, TrialError> {
        let deciders = self.deciders(number);
        self.application.run(self.state, self.family, deciders, additions, is_asked_to_end)
    }

    fn deciders(&self, number: u64) -> Deciders {
        // Not a sum: the runs of one seed must not be those of another one, shifted.
        let seed = (self.seed.rotate_left(32) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let seed = seed ^ (seed >> 29);
        let chooser = self.chooser(number, seed);
        Deciders { chooser, timing: Timing::Held(self.holder(number, seed)), number }
    }

    fn holder(&self, number: u64, seed: u64) -> Box<dyn Holder> {
        let is_one_server = matches!(self.family, Family::Node(..));
        if is_one_server && number % 2 == 1 && !self.hold_points.is_empty() {
            let place = place(number / 2, self.seed, self.hold_points.len());
            return Box::new(self.hold_points[place].holder());
        }
        Box::new(ByChance::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D)))
    }

    fn chooser(&self, number: u64, seed: u64) -> Box<dyn Chooser> {
        match self.chooser.unwrap_or(TURNS[(number % TURNS.len() as u64) as usize]) {
            ChooserKind::Random => Box::new(Random::new(seed)),
            ChooserKind::Stale => Box::new(Stale::new(seed)),
            ChooserKind::LatestPerSession => Box::new(LatestPerSession::new(seed)),
            ChooserKind::Latest => Box::new(Latest),
            ChooserKind::Adversary => Adversary::new(seed).run(number).chooser,
        }
    }

    /// All runs, up to the first that fails.
    pub fn search(
        &self,
        additions: &[Addition],
        progress: &dyn Progress,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Found, TrialError> {
        let shared = Shared {
            next: AtomicU64::new(self.first),
            first_failed: AtomicU64::new(u64::MAX),
            ..Shared::default()
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| self.work(&shared, additions, progress, is_asked_to_end));
            }
        });
        let known = shared.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        match known.error {
            // What another run found is not lost because this one could not be done.
            Some(error) if known.failed.is_none() && !error.is_interruption() => return Err(error),
            _ => {}
        }
        let is_complete = known.failed.is_some() || self.first + known.seen.runs >= self.runs;
        Ok(Found { seen: known.seen, failed: known.failed, is_complete })
    }

    /// Whether a run that failed says nothing.
    pub(crate) fn passes_over(&self, run: &Run) -> bool {
        let is_refusal = run.failure.as_ref().is_some_and(|failure| failure.is_refusal);
        // A database that keeps a level by refusing a transaction has done nothing wrong.
        let is_allowed = is_refusal && matches!(self.family, Family::Level { .. });
        is_allowed || self.forgives_refusals && run.is_given_up
    }

    fn work(
        &self,
        shared: &Shared,
        additions: &[Addition],
        progress: &dyn Progress,
        is_asked_to_end: &AtomicBool,
    ) {
        loop {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let is_over =
                number >= self.runs || number > shared.first_failed.load(Ordering::SeqCst);
            if is_over || is_late || is_asked_to_end.load(Ordering::Relaxed) {
                return;
            }
            let run = self.run(number, additions, is_asked_to_end);
            let mut known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
            match run {
                Ok(run) => {
                    let is_of_interest = run.failure.is_some() && !self.passes_over(&run);
                    known.note(number, run, is_of_interest, &shared.first_failed);
                    progress.ended(&known.seen);
                }
                Err(error) => {
                    known.error.get_or_insert(error);
                    shared.first_failed.store(0, Ordering::SeqCst);
                    return;
                }
            }
        }
    }
}

impl Known {
    /// A run has ended; it is of interest if it has failed and something follows from that.
    fn note(&mut self, number: u64, run: Run, is_of_interest: bool, first_failed: &AtomicU64) {
        self.seen.runs += 1;
        self.seen.left += run.left;
        self.seen.refused += u64::from(run.is_refused);
        self.seen.refusals += run.refusals;
        self.seen.sessions = self.seen.sessions.max(run.sessions);
        self.seen.has_overlap |= overlaps(&run.history);
        self.histories.insert(fingerprint(&run.choices));
        for (choice, _) in &run.choices {
            self.pairs.insert(hash(&(choice.reader, &choice.key, choice.writer)));
        }
        self.seen.histories = self.histories.len() as u64;
        self.seen.pairs = self.pairs.len() as u64;
        let is_first = self.failed.as_ref().is_none_or(|(first, _)| number < *first);
        self.seen.passed_over += u64::from(run.failure.is_some() && !is_of_interest);
        if is_of_interest && is_first {
            first_failed.fetch_min(number, Ordering::SeqCst);
            self.failed = Some((number, run));
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Stands for who read what from whom, whatever the order in time.
fn fingerprint(choices: &[(Choice, u32)]) -> u64 {
    let mut reads: Vec<(TxnName, u32, &str, Option<TxnName>)> = choices
        .iter()
        .map(|(choice, _)| (choice.reader, choice.read, choice.key.as_str(), choice.writer))
        .collect();
    reads.sort_unstable();
    hash(&reads)
}

/// Whether two transactions of different sessions were open at the same time.
fn overlaps(history: &History) -> bool {
    let mut spans: Vec<(i64, i64, SessionId)> = history
        .txns()
        .filter_map(|txn| {
            let (begun, ended) = history.times(txn)?;
            Some((begun, ended, history.session_of(txn)))
        })
        .collect();
    spans.sort_unstable();
    let mut last: Option<(i64, SessionId)> = None;
    for (begun, ended, session) in spans {
        if last.is_some_and(|(end, of)| begun < end && of != session) {
            return true;
        }
        if last.is_none_or(|(end, _)| ended > end) {
            last = Some((ended, session));
        }
    }
    false
}
