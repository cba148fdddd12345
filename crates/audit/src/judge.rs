//! Checks rounds while others run, one by one (see `run.rs` for why that is enough), and adds
//! up what they came to. A round that is not decided within its time is decided in the end, from
//! the recording, with more time.

use crate::adaptive::{Scheduler, Turn};
use crate::again::{RecordedRound, Recording};
use crate::audited::{Audited, Exemplar, Kept, Moment, TOLD, Watcher};
use crate::error::AuditError;
use crate::lost::LostWrite;
use crate::round::Tally;
use crate::workload::Workload;
use seriatim_check::{Answer, Checker, Report};
use seriatim_history::History;
use seriatim_isolation::{Anomaly, Level, Order};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the check of a round may take while others run.
const BUDGET: Duration = Duration::from_secs(10);
/// How long it may take in the end, and how long all of them.
const LATE_BUDGET: Duration = Duration::from_secs(60);
const LATE_MAX: Duration = Duration::from_secs(300);
/// How many bytes of rounds are kept for the end, if there is no file.
const KEPT_MAX: usize = 64 << 20;
/// How many lost writes are named.
const LOST_MAX: usize = 100;

/// A round that has ended.
pub(crate) struct Finished {
    pub turn: Turn,
    pub tally: Tally,
    pub lost: Vec<LostWrite>,
    pub lines: RecordedRound,
    /// How long it took, and when it ended.
    pub time: Duration,
    pub ended: Duration,
}

/// A round whose check ran out of time.
struct Open {
    workload: Workload,
    number: u64,
    report: Report,
    lines: Option<RecordedRound>,
}

/// Checks rounds.
pub(crate) struct Judge<'a> {
    pub audited: Audited,
    pub order: Order,
    pub watcher: &'a dyn Watcher,
    pub scheduler: &'a Mutex<Scheduler>,
    /// Whether the first violation of the promise ends it all, which this then asks for.
    pub until_violation: Option<&'a AtomicBool>,
    /// Where the recording is.
    pub file: Option<&'a Path>,
    open: Vec<Open>,
    kept: usize,
}

impl<'a> Judge<'a> {
    pub fn new(
        audited: Audited,
        order: Order,
        watcher: &'a dyn Watcher,
        scheduler: &'a Mutex<Scheduler>,
    ) -> Judge<'a> {
        let (open, kept) = (Vec::new(), 0);
        Judge { audited, order, watcher, scheduler, until_violation: None, file: None, open, kept }
    }

    /// Checks a round.
    pub fn judge(&mut self, finished: Finished) -> Result<(), AuditError> {
        let Finished { turn, tally, lost, lines, time, ended } = finished;
        if lines.is_empty() {
            self.audited.tally.add(tally);
            self.audited.rounds += 1;
            self.audited.time = ended;
            return Ok(());
        }
        let history = lines.history()?;
        let report = Checker::new().order(self.order).budget(BUDGET).check(&history);
        let seen: u64 = report.anomalies.iter().map(|group| group.count).sum();
        let forbidden = self.forbidden(&report) + lost.len() as u64;
        let mut scheduler = self.scheduler.lock().unwrap_or_else(PoisonError::into_inner);
        scheduler.learn(turn, time, seen + tally.wrong_totals, forbidden);
        drop(scheduler);
        let audited = &mut self.audited;
        audited.tally.add(tally);
        audited.rounds += 1;
        audited.bytes_checked += lines.len() as u64;
        audited.time = ended;
        audited.pass(Moment {
            at: ended,
            workload: Some(turn.workload),
            committed: tally.committed,
            anomalies: seen,
            forbidden,
        });
        if forbidden > 0 {
            audited.first_violation.get_or_insert(ended);
        }
        audited.lost_count += lost.len() as u64;
        let room = LOST_MAX.saturating_sub(audited.lost.len());
        audited.lost.extend(lost.into_iter().take(room));
        match is_undecided(&report) {
            true => self.put_aside(turn.workload, report, lines),
            false => note(&mut self.audited, turn.workload, &history, report),
        }
        self.watcher.round(&self.audited);
        if let Some(end) = self.until_violation.filter(|_| forbidden > 0) {
            end.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// How many anomalies are against the promise.
    fn forbidden(&self, report: &Report) -> u64 {
        let promise = self.audited.promise;
        if report.verdict(promise).is_none_or(|verdict| verdict.answer() != Answer::Violated) {
            return 0;
        }
        let is_forbidden = |levels: &[Level]| {
            levels.iter().any(|level| *level == promise || promise.implies(*level))
        };
        let groups = report.anomalies.iter().filter(|group| is_forbidden(&group.exemplar.levels));
        groups.map(|group| group.count).sum::<u64>().max(1)
    }

    fn put_aside(&mut self, workload: Workload, report: Report, lines: RecordedRound) {
        let number = lines.number;
        let has_room = self.file.is_none() && self.kept + lines.len() <= KEPT_MAX;
        self.kept += if has_room { lines.len() } else { 0 };
        let lines = has_room.then_some(lines);
        self.open.push(Open { workload, number, report, lines });
    }

    /// Decides what was left open, as far as there is time.
    pub fn finish(mut self, is_asked_to_end: &AtomicBool) -> Audited {
        let begun = Instant::now();
        let mut recording = self.file.and_then(|path| Recording::open(path).ok());
        for open in std::mem::take(&mut self.open) {
            let lines = open.lines.or_else(|| find(recording.as_mut()?, open.number));
            let has_time = begun.elapsed() < LATE_MAX && !is_asked_to_end.load(Ordering::Relaxed);
            let history = lines.filter(|_| has_time).and_then(|lines| lines.history().ok());
            match history {
                Some(history) => {
                    let checker = Checker::new().order(self.order).budget(LATE_BUDGET);
                    let report = checker.check(&history);
                    match is_undecided(&report) {
                        true => self.audited.left_open += 1,
                        false => self.audited.decided_late += 1,
                    }
                    note(&mut self.audited, open.workload, &history, report);
                }
                None => {
                    self.audited.left_open += 1;
                    levels(&mut self.audited, &open.report);
                }
            }
        }
        self.audited
    }
}

/// The round of a number, which comes after all that were asked for before.
fn find(recording: &mut Recording, number: u64) -> Option<RecordedRound> {
    while let Ok(Some(round)) = recording.round() {
        if round.number == number {
            return Some(round);
        }
    }
    None
}

fn is_undecided(report: &Report) -> bool {
    report.verdicts.iter().any(|verdict| verdict.answer() == Answer::Undecided)
}

/// Adds what a round shows.
pub(crate) fn note(audited: &mut Audited, workload: Workload, history: &History, report: Report) {
    levels(audited, &report);
    for group in &report.anomalies {
        *audited.anomalies.entry(name(group.kind)).or_default() += group.count;
    }
    if let Some(stale) = &report.stale {
        audited.stale_reads += stale.reads;
        audited.stale_age_max = audited.stale_age_max.max(stale.age_max.amount);
        audited.note_stale(stale.age_median.amount, stale.reads);
    }
    let Some(level) = weakest_broken(&report) else { return };
    if audited.exemplar.as_ref().is_none_or(|known| level < known.level) {
        audited.exemplar = Some(Exemplar { workload, report, counts: history.counts(), level });
    }
}

fn levels(audited: &mut Audited, report: &Report) {
    for (level, kept) in &mut audited.levels {
        let answer = report.verdict(*level).map(|verdict| verdict.answer());
        *kept = match (answer, *kept) {
            (_, Kept::No) | (Some(Answer::Violated), _) => Kept::No,
            (Some(Answer::Undecided), _) => Kept::Unknown,
            (_, kept) => kept,
        };
    }
}

fn name(kind: Anomaly) -> &'static str {
    kind.info().name
}

fn weakest_broken(report: &Report) -> Option<Level> {
    let is_broken = |level: &Level| {
        report.verdict(*level).is_some_and(|verdict| verdict.answer() == Answer::Violated)
    };
    TOLD.into_iter().find(is_broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two transactions that both read both registers and write one each.
    const SKEW: &str = concat!(
        "{\"seriatim\":1,\"source\":\"audit\"}\n",
        "{\"session\":\"3.0\",\"ops\":[[\"r\",1,null],[\"r\",2,null],[\"w\",1,5]]}\n",
        "{\"session\":\"3.1\",\"ops\":[[\"r\",1,null],[\"r\",2,null],[\"w\",2,6]]}\n",
    );

    fn finished(file: Option<&Path>, keeps_lines: bool, is_asked: bool) -> Audited {
        let scheduler = Mutex::new(Scheduler::new(Some(Workload::General), None, |_| true, 0));
        let (product, setting) = ("a database".to_owned(), "SERIALIZABLE".to_owned());
        let audited = Audited::new(product, setting, Level::Serializable);
        let watcher = |_: &Audited| {};
        let mut judge = Judge::new(audited, Order::Sessions, &watcher, &scheduler);
        judge.file = file;
        let lines = RecordedRound::new(3, SKEW.as_bytes().to_vec());
        let report = Checker::new().budget(Duration::ZERO).check(&lines.history().unwrap());
        let workload = Workload::General;
        match keeps_lines {
            true => judge.put_aside(workload, report, lines),
            false => judge.open.push(Open { workload, number: 3, report, lines: None }),
        }
        judge.finish(&AtomicBool::new(is_asked))
    }

    #[test]
    fn a_round_that_was_put_aside_is_decided_in_the_end() {
        let audited = finished(None, true, false);
        assert_eq!((audited.decided_late, audited.left_open), (1, 0));
        assert_eq!(audited.kept(Level::Serializable), Kept::No);
        assert_eq!(audited.kept(Level::SnapshotIsolation), Kept::Yes);
        assert_eq!(audited.anomalies["write skew"], 1);
    }

    #[test]
    fn what_was_not_kept_is_read_from_the_recording() {
        let path = std::env::temp_dir().join(format!("seriatim-judge-{}", std::process::id()));
        let other = SKEW.lines().nth(1).unwrap().replace("3.0", "2.0");
        let (header, rest) = SKEW.split_once('\n').unwrap();
        std::fs::write(&path, format!("{header}\n{other}\n{rest}")).unwrap();
        let audited = finished(Some(&path), false, false);
        assert_eq!((audited.decided_late, audited.left_open), (1, 0));
        assert_eq!(audited.kept(Level::Serializable), Kept::No);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_nobody_can_decide_any_more_is_left_open() {
        for audited in [finished(None, false, false), finished(None, true, true)] {
            assert_eq!((audited.decided_late, audited.left_open), (0, 1));
            assert!(audited.anomalies.is_empty());
        }
    }
}
