//! One audit: rounds of workloads at one setting, checked one by one. The workload that shows most
//! gets the most time.

use crate::driver::Driver;
use crate::error::AuditError;
use crate::record::Recorder;
use crate::run::{Round, Tally};
use crate::setting::Setting;
use crate::workload::Workload;
use serde_json::{Value, json};
use seriatim_check::{Checker, Report};
use seriatim_history::formats::{Format, ReadOptions, read_bytes};
use seriatim_history::{Counts, History};
use seriatim_isolation::{Anomaly, Level};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a round takes at most, and how many transactions it has: enough for anomalies to show,
/// few enough to be checked at once.
const ROUND_MAX: Duration = Duration::from_secs(2);
const ROUND_TRANSACTIONS: u64 = 2_000;
/// So many rounds there are at most: each has registers of its own.
const ROUNDS_MAX: u64 = 2_000;

/// What to do.
#[derive(Clone, Debug)]
pub struct Audit {
    /// What transactions ask for.
    pub setting: Setting,
    /// What sessions do; nothing means all workloads, and most of the time what shows most.
    pub workload: Option<Workload>,
    /// How many sessions there are.
    pub sessions: u32,
    /// How long to go on.
    pub duration: Duration,
    /// How many transactions to attempt at most.
    pub transactions: Option<u64>,
    /// What decides what sessions do.
    pub seed: u64,
    /// Where to write the recording.
    pub output: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug)]
#[must_use]
pub struct Audited {
    /// The database.
    pub product: String,
    /// What transactions asked for.
    pub setting: Setting,
    /// What the database promises at that.
    pub promise: Level,
    /// What was done.
    pub tally: Tally,
    /// How long it took.
    pub time: Duration,
    /// What each level of the ladder came to, over all rounds.
    pub levels: Vec<(Level, Kept)>,
    /// How often each anomaly was seen.
    pub anomalies: BTreeMap<&'static str, u64>,
    /// The first round that violates the weakest level that any violates, explained.
    pub exemplar: Option<Exemplar>,
    /// How many rounds there were.
    pub rounds: u64,
    /// Why not all of the recording is on disk.
    pub unwritten: Option<String>,
    /// Why it ended early, or is not tidied up.
    pub problem: Option<String>,
}

/// Whether a level was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In all rounds.
    Yes,
    /// Not in all.
    No,
    /// Nobody could tell.
    Unknown,
}

/// A round that shows something.
#[derive(Debug)]
pub struct Exemplar {
    /// What its sessions did.
    pub workload: Workload,
    /// What the checker says.
    pub report: Report,
    /// How large it is.
    pub counts: Counts,
    level: Level,
}

impl Audited {
    /// Whether the database keeps its promise.
    pub fn keeps_promise(&self) -> Kept {
        self.kept(self.promise)
    }

    /// Whether anything was seen at all.
    pub fn is_empty(&self) -> bool {
        self.tally.committed == 0
    }

    /// Whether a level was kept.
    pub fn kept(&self, level: Level) -> Kept {
        let found = self.levels.iter().find(|(other, _)| *other == level);
        found.map_or(Kept::Yes, |(_, kept)| *kept)
    }

    /// The weakest level that was not kept.
    pub fn weakest_violated(&self) -> Option<Level> {
        let mut broken = self.levels.iter().filter(|(_, kept)| *kept == Kept::No);
        broken.next().map(|(level, _)| *level)
    }

    fn note(&mut self, workload: Workload, history: &History, report: Report) {
        for (level, kept) in &mut self.levels {
            let answer = report.verdict(*level).map(|verdict| verdict.answer());
            *kept = match (answer, *kept) {
                (_, Kept::No) | (Some(seriatim_check::Answer::Violated), _) => Kept::No,
                (Some(seriatim_check::Answer::Undecided), _) => Kept::Unknown,
                (_, kept) => kept,
            };
        }
        for group in &report.anomalies {
            *self.anomalies.entry(name(group.kind)).or_default() += group.count;
        }
        let Some(level) = weakest_broken(&report) else { return };
        if self.exemplar.as_ref().is_none_or(|known| level < known.level) {
            self.exemplar = Some(Exemplar { workload, report, counts: history.counts(), level });
        }
    }
}

fn name(kind: Anomaly) -> &'static str {
    kind.info().name
}

/// The levels that are told of, weakest first.
const TOLD: [Level; 7] = [
    Level::ReadCommitted,
    Level::CutIsolation,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

fn weakest_broken(report: &Report) -> Option<Level> {
    let is_broken = |level: &Level| {
        let verdict = report.verdict(*level);
        verdict.is_some_and(|verdict| verdict.answer() == seriatim_check::Answer::Violated)
    };
    TOLD.into_iter().find(is_broken)
}

/// Is told of each round that has ended.
pub trait Watcher {
    /// So much has been done so far.
    fn round(&self, so_far: &Audited);
}

impl<F: Fn(&Audited)> Watcher for F {
    fn round(&self, so_far: &Audited) {
        self(so_far);
    }
}

impl Audit {
    /// Runs it on a database.
    pub fn run(
        &self,
        driver: &dyn Driver,
        watcher: &dyn Watcher,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Audited, AuditError> {
        if !driver.settings().contains(&self.setting) {
            let (product, setting) = (driver.product(), self.setting.to_string());
            return Err(AuditError::Setting { product, setting });
        }
        let source = self.source(&driver.product());
        let recorder = Recorder::new(self.output.as_deref(), &source)?;
        let made = driver.set_up(0..ROUNDS_MAX * crate::workload::REGISTERS);
        let audited = made
            .map_err(AuditError::from)
            .and_then(|()| self.rounds(driver, &recorder, &source, watcher, is_asked_to_end));
        // Whatever happened, nothing is left behind if that is possible.
        let cleaned = driver.clean_up();
        let mut audited = audited?;
        audited.unwritten = recorder.finish().err();
        let left = cleaned.err().map(|error| format!("its tables may be left behind: {error}"));
        audited.problem = audited.problem.take().or(left);
        Ok(audited)
    }

    fn source(&self, product: &str) -> Value {
        json!({
            "source": "audit",
            "database": product,
            "isolation": self.setting.to_string(),
            "seed": self.seed,
        })
    }

    fn rounds(
        &self,
        driver: &dyn Driver,
        recorder: &Recorder,
        source: &Value,
        watcher: &dyn Watcher,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Audited, AuditError> {
        let begun = Instant::now();
        let mut audited = Audited {
            product: driver.product(),
            setting: self.setting,
            promise: driver.promise(self.setting),
            tally: Tally::default(),
            time: Duration::ZERO,
            levels: TOLD.map(|level| (level, Kept::Yes)).to_vec(),
            anomalies: BTreeMap::new(),
            exemplar: None,
            rounds: 0,
            unwritten: None,
            problem: None,
        };
        let mut shown: BTreeMap<usize, u64> = BTreeMap::new();
        while audited.rounds < ROUNDS_MAX && !is_asked_to_end.load(Ordering::Relaxed) {
            let left = self.duration.saturating_sub(begun.elapsed());
            let wanted = self.transactions.unwrap_or(u64::MAX);
            let transactions = wanted.saturating_sub(audited.tally.attempted());
            if left.is_zero() || transactions == 0 {
                break;
            }
            let place = self.next_workload(audited.rounds, &shown);
            let workload = Workload::ALL[place];
            let round = Round {
                number: audited.rounds,
                workload,
                setting: self.setting,
                sessions: self.sessions,
                transactions: transactions.min(ROUND_TRANSACTIONS),
                deadline: Some(Instant::now() + left.min(ROUND_MAX)),
                seed: self.seed,
            };
            let tally = match round.run(driver, recorder, begun, is_asked_to_end) {
                Ok(tally) => tally,
                // What was seen before is told.
                Err(error) if audited.rounds > 0 => {
                    audited.problem = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error),
            };
            let history = read(&recorder.take_round(source))?;
            let report = Checker::new().check(&history);
            let seen: u64 = report.anomalies.iter().map(|group| group.count).sum();
            *shown.entry(place).or_default() += seen;
            audited.tally.add(tally);
            audited.rounds += 1;
            audited.time = begun.elapsed();
            audited.note(workload, &history, report);
            watcher.round(&audited);
        }
        Ok(audited)
    }

    /// All workloads first, then every second time the one that has shown most.
    fn next_workload(&self, round: u64, shown: &BTreeMap<usize, u64>) -> usize {
        let place = |workload| Workload::ALL.iter().position(|other| *other == workload);
        if let Some(place) = self.workload.and_then(place) {
            return place;
        }
        let all = Workload::ALL.len();
        let best = shown.iter().max_by_key(|(_, seen)| **seen).filter(|(_, seen)| **seen > 0);
        match best {
            Some((&best, _)) if round as usize >= all && round.is_multiple_of(2) => best,
            _ => round as usize % all,
        }
    }
}

fn read(lines: &[u8]) -> Result<History, AuditError> {
    let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
    let read = read_bytes(lines, "the recording", &options);
    read.map(|(history, _)| history).map_err(|error| AuditError::Read(error.to_string()))
}
