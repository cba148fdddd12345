//! Checks rounds while others run, one by one (see `run.rs` for why that is enough), and adds
//! up what they came to. A round that is not decided within its time is decided in the end, from
//! the recording, with more time.

use crate::adaptive::{Scheduler, Turn};
use crate::again::{RecordedRound, Recording};
use crate::audited::{Audited, Exemplar, Kept, Moment, TOLD, Watcher};
use crate::error::AuditError;
use crate::lost::Losses;
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
/// How many bytes of rounds are kept for the end; others are read from the file, if there is one.
const KEPT_MAX: usize = 64 << 20;
/// How many lost writes are named.
const LOST_MAX: usize = 100;

/// A round that has ended.
pub(crate) struct Finished {
    pub turn: Turn,
    pub tally: Tally,
    pub losses: Losses,
    pub lines: RecordedRound,
    /// How long it took, and when it ended.
    pub time: Duration,
    pub ended: Duration,
}

/// A round whose check ran out of time.
struct Open {
    workload: Workload,
    number: u64,
    ended: Duration,
    gist: Gist,
    /// How many bytes it has, and what they are.
    length: usize,
    lines: Option<RecordedRound>,
}

/// What a report says, in little room.
struct Gist {
    answers: Vec<(Level, Answer)>,
    anomalies: Vec<(Anomaly, u64)>,
    /// How many reads are stale, their age at the median, and at most.
    stale: Option<(u64, u64, u64)>,
    /// How many anomalies there are, and how many of them are against the promise.
    seen: u64,
    forbidden: u64,
}

impl Gist {
    fn of(report: &Report, promise: Level) -> Gist {
        let answer = |level: Level| report.verdict(level).map(|it| (level, it.answer()));
        let stale = report.stale.as_ref();
        Gist {
            answers: TOLD.into_iter().filter_map(answer).collect(),
            anomalies: report.anomalies.iter().map(|group| (group.kind, group.count)).collect(),
            stale: stale.map(|it| (it.reads, it.age_median.amount, it.age_max.amount)),
            seen: report.anomalies.iter().map(|group| group.count).sum(),
            forbidden: forbidden(report, promise),
        }
    }
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
        let Finished { turn, tally, losses, lines, time, ended } = finished;
        if lines.is_empty() {
            self.audited.tally.add(tally);
            self.audited.rounds += 1;
            self.audited.time = ended;
            return Ok(());
        }
        let history = lines.history()?;
        let report = Checker::new().order(self.order).budget(BUDGET).check(&history);
        let gist = Gist::of(&report, self.audited.promise);
        let (seen, forbidden) = (gist.seen, gist.forbidden + losses.count);
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
        lose(audited, losses);
        let is_undecided = is_undecided(&report);
        // What is violated is violated, whatever the other levels come to.
        show(audited, turn.workload, &history, report);
        match is_undecided {
            true if history.unknown_content() == 0 => {
                self.put_aside(turn.workload, ended, gist, lines);
            }
            // More time would not bring back what is missing.
            _ => {
                self.audited.left_open += u64::from(is_undecided);
                add(&mut self.audited, &gist);
            }
        }
        self.watcher.round(&self.audited);
        if let Some(end) = self.until_violation.filter(|_| forbidden > 0) {
            end.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn put_aside(&mut self, workload: Workload, ended: Duration, gist: Gist, lines: RecordedRound) {
        let (number, length) = (lines.number, lines.len());
        let has_room = self.kept + length <= KEPT_MAX;
        self.kept += if has_room { length } else { 0 };
        let lines = has_room.then_some(lines);
        self.open.push(Open { workload, number, ended, gist, length, lines });
    }

    /// Decides what was left open, as far as there is time. All of the recording is in its file.
    pub fn finish(mut self, is_asked_to_end: &AtomicBool) -> Audited {
        let begun = Instant::now();
        let mut recording = self.file.and_then(|path| Recording::open(path).ok());
        for mut open in std::mem::take(&mut self.open) {
            let lines = open.lines.take();
            let lines = lines.or_else(|| find(recording.as_mut()?, open.number, open.length));
            let has_time = begun.elapsed() < LATE_MAX && !is_asked_to_end.load(Ordering::Relaxed);
            match lines.filter(|_| has_time).and_then(|lines| lines.history().ok()) {
                Some(history) => self.decide(open, &history),
                None => {
                    self.audited.left_open += 1;
                    add(&mut self.audited, &open.gist);
                }
            }
        }
        self.audited
    }

    fn decide(&mut self, open: Open, history: &History) {
        let report = Checker::new().order(self.order).budget(LATE_BUDGET).check(history);
        let audited = &mut self.audited;
        match is_undecided(&report) {
            true => audited.left_open += 1,
            false => audited.decided_late += 1,
        }
        let gist = Gist::of(&report, audited.promise);
        let more = |late: u64, before: u64| late.saturating_sub(before);
        audited.see_late(
            open.ended,
            more(gist.seen, open.gist.seen),
            more(gist.forbidden, open.gist.forbidden),
        );
        add(audited, &gist);
        show(audited, open.workload, history, report);
    }
}

/// How many anomalies are against a promise.
fn forbidden(report: &Report, promise: Level) -> u64 {
    if report.verdict(promise).is_none_or(|verdict| verdict.answer() != Answer::Violated) {
        return 0;
    }
    let is_forbidden =
        |levels: &[Level]| levels.iter().any(|level| *level == promise || promise.implies(*level));
    let groups = report.anomalies.iter().filter(|group| is_forbidden(&group.exemplar.levels));
    groups.map(|group| group.count).sum::<u64>().max(1)
}

fn lose(audited: &mut Audited, losses: Losses) {
    audited.lost_count += losses.count;
    audited.unread_ends += u64::from(losses.is_unread);
    let room = LOST_MAX.saturating_sub(audited.lost.len());
    audited.lost.extend(losses.named.into_iter().take(room));
}

/// The round of a number, which comes after all that were asked for before; if all of it is there.
fn find(recording: &mut Recording, number: u64, length: usize) -> Option<RecordedRound> {
    while let Ok(Some(round)) = recording.round() {
        if round.number == number {
            return Some(round).filter(|round| round.len() == length);
        }
    }
    None
}

fn is_undecided(report: &Report) -> bool {
    report.verdicts.iter().any(|verdict| verdict.answer() == Answer::Undecided)
}

/// Adds what a round came to.
fn add(audited: &mut Audited, gist: &Gist) {
    for (level, kept) in &mut audited.levels {
        let found = gist.answers.iter().find(|(other, _)| other == level);
        *kept = match (found.map(|(_, answer)| *answer), *kept) {
            (_, Kept::No) | (Some(Answer::Violated), _) => Kept::No,
            (Some(Answer::Undecided), _) => Kept::Unknown,
            (_, kept) => kept,
        };
    }
    for (kind, count) in &gist.anomalies {
        *audited.anomalies.entry(kind.info().name).or_default() += count;
    }
    if let Some((reads, age_median, age_max)) = gist.stale {
        audited.stale_reads += reads;
        audited.stale_age_max = audited.stale_age_max.max(age_max);
        audited.note_stale(age_median, reads);
    }
}

/// Keeps the first round that violates the weakest level.
fn show(audited: &mut Audited, workload: Workload, history: &History, report: Report) {
    let Some(level) = weakest_broken(&report) else { return };
    if audited.exemplar.as_ref().is_none_or(|known| level < known.level) {
        audited.exemplar = Some(Exemplar { workload, report, counts: history.counts(), level });
    }
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

    const ENDED: Duration = Duration::from_secs(7);

    fn finished(file: Option<&Path>, keeps_lines: bool, is_asked: bool) -> Audited {
        let scheduler = Mutex::new(Scheduler::new(Some(Workload::General), None, |_| true, 0));
        let (product, setting) = ("a database".to_owned(), "SERIALIZABLE".to_owned());
        let audited = Audited::new(product, setting, Level::Serializable);
        let watcher = |_: &Audited| {};
        let mut judge = Judge::new(audited, Order::Sessions, &watcher, &scheduler);
        judge.file = file;
        let lines = RecordedRound::new(3, SKEW.as_bytes().to_vec());
        let report = Checker::new().budget(Duration::ZERO).check(&lines.history().unwrap());
        let gist = Gist::of(&report, Level::Serializable);
        let (workload, ended, length) = (Workload::General, ENDED, lines.len());
        let moment = Moment { at: ended, workload: None, committed: 2, anomalies: 0, forbidden: 0 };
        judge.audited.pass(moment);
        match keeps_lines {
            true => judge.put_aside(workload, ended, gist, lines),
            false => {
                judge.open.push(Open { workload, number: 3, ended, gist, length, lines: None });
            }
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
        // It was seen when it happened, not when it was found.
        assert_eq!(audited.first_violation, Some(ENDED));
        assert_eq!((audited.timeline[0].anomalies, audited.timeline[0].forbidden), (1, 1));
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
        // Half of the round says nothing of it.
        std::fs::write(&path, format!("{header}\n{}\n", rest.lines().next().unwrap())).unwrap();
        let audited = finished(Some(&path), false, false);
        assert_eq!((audited.decided_late, audited.left_open), (0, 1));
        assert_ne!(audited.kept(Level::Serializable), Kept::Yes);
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
