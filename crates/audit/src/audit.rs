//! One audit: rounds of workloads at one setting, each checked while the next ones run.

use crate::adaptive::Scheduler;
use crate::again::{RecordedRound, Recording, RoundEnd};
use crate::audited::{Audited, Watcher};
use crate::driver::{Driver, DriverError};
use crate::error::AuditError;
use crate::fault::{Fault, FaultDone, Saboteur, Weather};
use crate::judge::{Finished, Judge};
use crate::lost::Losses;
use crate::record::Recorder;
use crate::round::{Ground, Round, Seat};
use crate::server::ServerProcess;
use crate::setting::Setting;
use crate::template::Template;
use crate::workload::{REGISTERS, Shape, Workload};
use serde_json::{Value, json};
use seriatim_isolation::{Level, Order};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many transactions a round has: few enough to be checked at once.
const ROUND_TRANSACTIONS: u64 = 2_000;
/// For how many rounds registers are made at a time; those of the rounds before go away.
const ROUNDS_OF_BLOCK: u64 = 50;
/// How many rounds may wait for their check. Then the next one waits, too: memory does not grow.
const ROUNDS_WAITING: usize = 2;

/// What to do.
#[derive(Clone, Debug)]
pub struct Audit {
    /// What transactions ask for.
    pub setting: Setting,
    /// What sessions do; nothing means all workloads, and most of the time what shows most.
    pub workload: Option<Workload>,
    /// The sizes of workloads; nothing means those that show most.
    pub shape: Option<Shape>,
    /// Statements of the user's, for [`Workload::Own`].
    pub template: Option<Template>,
    /// How many sessions there are.
    pub sessions: u32,
    /// How long to go on.
    pub duration: Duration,
    /// How many transactions to attempt at most.
    pub transactions: Option<u64>,
    /// What decides what sessions do.
    pub seed: u64,
    /// The level to judge by, instead of what the database promises.
    pub check: Option<Level>,
    /// The order that levels are judged with.
    pub order: Order,
    /// Whether the first violation ends it.
    pub until_violation: bool,
    /// What is done to the servers meanwhile.
    pub faults: Vec<Fault>,
    /// Where to write the recording.
    pub output: Option<PathBuf>,
    /// Whether anything is recorded and checked. Without, transactions are only counted: that says
    /// how fast they are by themselves.
    pub is_recorded: bool,
}

impl Audit {
    /// Ten seconds of all workloads by eight sessions at a setting.
    pub fn new(setting: Setting) -> Audit {
        Audit {
            setting,
            workload: None,
            shape: None,
            template: None,
            sessions: 8,
            duration: Duration::from_secs(10),
            transactions: None,
            seed: 0,
            check: None,
            order: Order::Sessions,
            until_violation: false,
            faults: Vec::new(),
            output: None,
            is_recorded: true,
        }
    }
}

/// Audits a database in a test: nobody watches, and nothing ends it early.
pub fn audit(driver: &dyn Driver, audit: &Audit) -> Result<Audited, AuditError> {
    audit.run(driver, None, &|_: &Audited| {}, &AtomicBool::new(false))
}

impl Audit {
    /// Runs it on a database, which perhaps is a process of ours.
    pub fn run(
        &self,
        driver: &dyn Driver,
        server: Option<&Mutex<ServerProcess>>,
        watcher: &dyn Watcher,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Audited, AuditError> {
        self.is_possible(driver)?;
        let source = self.source(driver);
        // Names of tables have a part that is only there to be unlike others.
        let hidden = match driver.prefix() {
            "" => String::new(),
            prefix => format!("{prefix}_"),
        };
        let path = self.output.as_deref();
        driver.set_up()?;
        // A recording of before is gone only if there is something new to record.
        let recorder = Recorder::of_rounds(path, &source, hidden).map_err(|error| {
            let path = path.unwrap_or(Path::new("the recording"));
            AuditError::Unwritable(path.display().to_string(), error.to_string())
        });
        let audited = recorder.and_then(|recorder| {
            let audited = self.rounds(driver, server, &recorder, watcher, is_asked_to_end);
            Ok((audited?, recorder.finish().err()))
        });
        // Whatever happened, nothing is left behind if that is possible.
        let cleaned = self.clean_up(driver, is_asked_to_end);
        let (mut audited, unwritten) = audited?;
        audited.unwritten = unwritten;
        let left = cleaned.err().map(|error| {
            let prefix = driver.prefix();
            format!("what begins with {prefix} may be left in the database: {error}")
        });
        audited.problem = audited.problem.take().or(left);
        Ok(audited)
    }

    /// Takes away what was made. A server that a fault has stopped just now is waited for.
    fn clean_up(
        &self,
        driver: &dyn Driver,
        is_asked_to_end: &AtomicBool,
    ) -> Result<(), DriverError> {
        let begun = Instant::now();
        loop {
            let cleaned = driver.clean_up();
            let is_asked = is_asked_to_end.load(Ordering::Relaxed);
            let time = if is_asked { CLEAN_ASKED_MAX } else { CLEAN_MAX };
            if cleaned.is_ok() || self.faults.is_empty() || begun.elapsed() > time {
                return cleaned;
            }
            std::thread::sleep(MAKE_PAUSE);
        }
    }

    fn is_possible(&self, driver: &dyn Driver) -> Result<(), AuditError> {
        if let Some(problem) = self.shape.and_then(Shape::problem) {
            return Err(AuditError::Shape(problem));
        }
        if self.sessions == 0 {
            return Err(AuditError::Shape("an audit needs a session at least".to_owned()));
        }
        let product = driver.product();
        if !driver.settings().contains(&self.setting) {
            return Err(AuditError::Setting { product, setting: self.setting.to_string() });
        }
        match self.workload.filter(|workload| !driver.can(*workload)) {
            Some(workload) => Err(AuditError::Workload { product, workload: workload.code() }),
            None => Ok(()),
        }
    }

    fn source(&self, driver: &dyn Driver) -> Value {
        json!({
            "source": "audit",
            "database": driver.product(),
            "isolation": driver.setting_name(self.setting),
            "promise": driver.promise(self.setting).code(),
            "seed": self.seed,
            "sessions": self.sessions,
        })
    }

    /// All rounds, and beside them their checks and the faults.
    fn rounds(
        &self,
        driver: &dyn Driver,
        server: Option<&Mutex<ServerProcess>>,
        recorder: &Recorder,
        watcher: &dyn Watcher,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Audited, AuditError> {
        let promise = self.check.unwrap_or_else(|| driver.promise(self.setting));
        let can = |workload| driver.can(workload);
        let scheduler = Mutex::new(Scheduler::new(self.workload, self.shape, can, self.seed));
        let (has_violation, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let done = Mutex::new(Vec::new());
        let mut audited =
            Audited::new(driver.product(), driver.setting_name(self.setting), promise);
        (audited.sessions, audited.seed) = (Some(self.sessions), Some(self.seed));
        let mut judge = Judge::new(audited, self.order, watcher, &scheduler);
        judge.until_violation = self.until_violation.then_some(&has_violation);
        judge.file = self.output.as_deref();
        let clock = Instant::now();
        let template = self.template.as_ref();
        let is_recorded = self.is_recorded;
        let weather = Weather::default();
        let ground = Ground {
            driver,
            recorder,
            template,
            clock,
            is_asked_to_end,
            is_recorded,
            weather: &weather,
        };
        let saboteur = Saboteur {
            faults: &self.faults,
            server,
            begun: clock,
            is_over: &is_over,
            done: &done,
            weather: &weather,
        };
        let (sender, receiver) = sync_channel::<Finished>(ROUNDS_WAITING);
        std::thread::scope(|scope| {
            let judging = scope.spawn(move || {
                let mut problem = None;
                for finished in receiver {
                    problem = problem.or(judge.judge(finished).err());
                }
                (judge, problem)
            });
            scope.spawn(|| saboteur.work());
            let stops = [is_asked_to_end, &has_violation];
            let ran = self.sequence(&ground, &scheduler, &stops, &done, sender);
            is_over.store(true, Ordering::Relaxed);
            let Ok((judge, problem)) = judging.join() else {
                return Err(AuditError::Read("the check has failed".to_owned()));
            };
            let is_empty = judge.audited.rounds == 0;
            // Rounds that are open are read from the file. What is wrong with it is told later.
            let _ = recorder.finish();
            let mut audited = judge.finish(is_asked_to_end);
            match (ran.err().or(problem), is_empty) {
                (Some(error), true) => return Err(error),
                // What was seen before is told.
                (Some(error), false) => audited.problem = Some(error.to_string()),
                (None, _) => {}
            }
            audited.faults =
                std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner));
            Ok(audited)
        })
    }

    /// Rounds, one after the other.
    fn sequence(
        &self,
        ground: &Ground<'_>,
        scheduler: &Mutex<Scheduler>,
        stops: &[&AtomicBool],
        done: &Mutex<Vec<FaultDone>>,
        sender: SyncSender<Finished>,
    ) -> Result<(), AuditError> {
        let mut told = 0;
        let mut seats: Vec<Seat> = (0..self.sessions).map(|_| Seat::default()).collect();
        let mut attempted = 0;
        for number in 0.. {
            let left = self.duration.saturating_sub(ground.clock.elapsed());
            let transactions = self.transactions.unwrap_or(u64::MAX).saturating_sub(attempted);
            let is_stopped = stops.iter().any(|stop| stop.load(Ordering::Relaxed));
            if left.is_zero() || transactions == 0 || is_stopped {
                break;
            }
            if !self.make_room(ground, number, stops)? {
                break;
            }
            let left = self.duration.saturating_sub(ground.clock.elapsed());
            let turn = scheduler.lock().unwrap_or_else(PoisonError::into_inner).next();
            let begun = Instant::now();
            let round = Round {
                number,
                workload: turn.workload,
                shape: turn.shape,
                setting: self.setting,
                sessions: self.sessions,
                transactions: transactions.min(ROUND_TRANSACTIONS),
                deadline: Some(begun + left.min(turn.time_max)),
                seed: self.seed,
                has_faults: !self.faults.is_empty(),
            };
            let (tally, losses) = round.run(ground, &mut seats)?;
            attempted += tally.attempted();
            let (time, ended) = (begun.elapsed(), ground.clock.elapsed());
            let faults = {
                let done = done.lock().unwrap_or_else(PoisonError::into_inner);
                let new = done[told..].to_vec();
                told = done.len();
                new
            };
            let workload = turn.workload;
            let end = RoundEnd { round: number, workload, tally, losses, faults, time, ended };
            ground.end_round(end.json());
            let lines = RecordedRound::new(number, ground.recorder.take_round());
            let losses = end.losses;
            // Whoever checks has failed if nobody takes it, and says so.
            if sender.send(Finished { turn, tally, losses, lines, time, ended }).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Makes the registers of the next rounds, and takes those of earlier ones away. Whether all
    /// sessions see them: nobody waits for that any more if somebody asks for an end.
    fn make_room(
        &self,
        ground: &Ground<'_>,
        round: u64,
        stops: &[&AtomicBool],
    ) -> Result<bool, AuditError> {
        if !round.is_multiple_of(ROUNDS_OF_BLOCK) {
            return Ok(true);
        }
        let driver = ground.driver;
        let block = |first: u64| first * REGISTERS..(first + ROUNDS_OF_BLOCK) * REGISTERS;
        let patience = Patience { audit: self, clock: ground.clock, begun: Instant::now(), stops };
        // A server that is being started again is waited for.
        while let Err(error) = driver.make(block(round)) {
            if self.faults.is_empty() || patience.is_over() {
                return Err(error.into());
            }
            if patience.is_asked_to_end() {
                return Ok(false);
            }
            let _ = driver.retire(block(round));
            std::thread::sleep(MAKE_PAUSE);
        }
        let last = block(round).end - 1;
        loop {
            match driver.has_arrived(last) {
                Ok(true) => break,
                Ok(false) if patience.is_over() => return Err(not_arrived(driver).into()),
                Err(error) if patience.is_over() => return Err(error.into()),
                _ if patience.is_asked_to_end() => return Ok(false),
                _ => std::thread::sleep(ARRIVE_PAUSE),
            }
        }
        if let Some(before) = round.checked_sub(ROUNDS_OF_BLOCK) {
            // What is left behind goes away in the end.
            let _ = driver.retire(block(before));
        }
        Ok(true)
    }
}

/// How long it is waited until there is room for the next rounds.
struct Patience<'a> {
    audit: &'a Audit,
    clock: Instant,
    begun: Instant,
    stops: &'a [&'a AtomicBool],
}

impl Patience<'_> {
    fn is_over(&self) -> bool {
        self.begun.elapsed() > MAKE_MAX
    }

    /// Whether nobody wants another round. A server that has only to be waited for because of a
    /// fault is not waited for longer than the audit was to take.
    fn is_asked_to_end(&self) -> bool {
        let is_late = !self.audit.faults.is_empty() && self.clock.elapsed() > self.audit.duration;
        is_late || self.stops.iter().any(|stop| stop.load(Ordering::Relaxed))
    }
}

fn not_arrived(driver: &dyn Driver) -> DriverError {
    let (product, time) = (driver.product(), MAKE_MAX.as_secs());
    DriverError::Other(format!(
        "not all of {product} have seen for {time} s what was written on one of them: are they \
         nodes of the same database, and do they follow?"
    ))
}

/// How long all of it may take until the next rounds have registers that all nodes see, and how
/// long to wait in between.
const MAKE_MAX: Duration = Duration::from_secs(60);
const MAKE_PAUSE: Duration = Duration::from_millis(300);
const ARRIVE_PAUSE: Duration = Duration::from_millis(50);
/// How long it is tried to take away what was made; and if somebody waits for the end.
const CLEAN_MAX: Duration = Duration::from_secs(20);
const CLEAN_ASKED_MAX: Duration = Duration::from_secs(2);

/// Checks a recording again, round by round, by a level, or else by what the database promised as
/// the recording says, or by serializability.
pub fn audit_again(
    path: &Path,
    level: Option<Level>,
    order: Order,
    watcher: &dyn Watcher,
    is_asked_to_end: &AtomicBool,
) -> Result<Audited, AuditError> {
    let mut recording = Recording::open(path)?;
    let (product, setting) = recording.about();
    let promise = level.or_else(|| recording.promise()).unwrap_or(Level::Serializable);
    let scheduler = Mutex::new(Scheduler::new(Some(Workload::General), None, |_| true, 0));
    let mut audited = Audited::new(product, setting, promise);
    (audited.sessions, audited.seed) = recording.sizes();
    let mut judge = Judge::new(audited, order, watcher, &scheduler);
    judge.file = Some(path);
    let begun = Instant::now();
    while let Some(lines) = recording.round()? {
        if is_asked_to_end.load(Ordering::Relaxed) {
            break;
        }
        let mut turn = scheduler.lock().unwrap_or_else(PoisonError::into_inner).next();
        let tally = lines.tally()?;
        let (mut losses, mut ended) = (Losses::default(), begun.elapsed());
        if let Some(end) = &lines.end {
            (turn.workload, losses, ended) = (end.workload, end.losses.clone(), end.ended);
            judge.audited.faults.extend(end.faults.clone());
        }
        judge.judge(Finished { turn, tally, losses, lines, time: Duration::ZERO, ended })?;
    }
    Ok(judge.finish(is_asked_to_end))
}
