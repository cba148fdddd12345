//! Runs workloads on a database, round by round, and records what its sessions saw.

use crate::driver::{Client, Driver, DriverError, Sent};
use crate::error::AuditError;
use crate::record::{Outcome, RecordedTxn, Recorder};
use crate::setting::Setting;
use crate::workload::{self, REGISTERS, ROWS_OF_PART, Step, Workload};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a session tries to connect again before it gives up.
const RECONNECTS_MAX: u32 = 50;
/// How long it waits in between.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// A round: one workload for a while.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Its number, from 0.
    pub number: u64,
    /// What its sessions do.
    pub workload: Workload,
    /// What transactions ask for.
    pub setting: Setting,
    /// How many sessions there are.
    pub sessions: u32,
    /// How many transactions are attempted at most, all sessions together.
    pub transactions: u64,
    /// When no more begin.
    pub deadline: Option<Instant>,
    /// What decides what sessions do.
    pub seed: u64,
}

/// What was done in a round.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that have no effect.
    pub aborted: u64,
    /// Transactions of which nobody knows.
    pub unknown: u64,
}

impl Tally {
    /// All of them.
    pub fn attempted(&self) -> u64 {
        self.committed + self.aborted + self.unknown
    }

    pub(crate) fn add(&mut self, other: Tally) {
        self.committed += other.committed;
        self.aborted += other.aborted;
        self.unknown += other.unknown;
    }
}

/// What the sessions of a round share.
struct Shared<'a> {
    driver: &'a dyn Driver,
    round: Round,
    recorder: &'a Recorder,
    clock: Instant,
    left: AtomicU64,
    /// How many rows were inserted, or tried: no number is used twice.
    rows: AtomicU64,
    is_asked_to_end: &'a AtomicBool,
    problem: Mutex<Option<AuditError>>,
}

impl Round {
    /// The registers that belong to the round alone.
    pub fn registers(&self) -> std::ops::Range<u64> {
        self.number * REGISTERS..(self.number + 1) * REGISTERS
    }

    /// The transaction that made the registers, which ended before the round began.
    fn made(&self) -> RecordedTxn {
        let ops = self.registers().flat_map(|register| {
            [json!(["w", existence(register), true_atom()]), json!(["w", register, 0])]
        });
        RecordedTxn {
            session: format!("{}.set-up", self.number),
            begin: 0,
            end: 0,
            outcome: Outcome::Committed,
            ops: ops.collect(),
            statements: Vec::new(),
        }
    }

    /// Runs it.
    pub fn run(
        self,
        driver: &dyn Driver,
        recorder: &Recorder,
        clock: Instant,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Tally, AuditError> {
        let shared = Shared {
            driver,
            round: self,
            recorder,
            clock,
            left: AtomicU64::new(self.transactions),
            rows: AtomicU64::new(0),
            is_asked_to_end,
            problem: Mutex::new(None),
        };
        recorder.record(&self.made());
        let mut tally = Tally::default();
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..self.sessions)
                .map(|number| {
                    let shared = &shared;
                    scope.spawn(move || Session::new(shared, number).work())
                })
                .collect();
            for session in running {
                if let Ok(done) = session.join() {
                    tally.add(done);
                }
            }
        });
        match shared.problem.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(problem) => Err(problem),
            None => Ok(tally),
        }
    }
}

/// One session of a round.
struct Session<'s, 'a> {
    shared: &'s Shared<'a>,
    number: u32,
    /// How often it has lost its connection: then it is another session.
    reconnects: u32,
    dice: Pcg64Mcg,
    /// How many values it has written.
    written: i64,
}

/// A transaction that is under way.
#[derive(Default)]
struct Doing {
    ops: Vec<Value>,
    statements: Vec<(Sent, usize)>,
}

impl<'s, 'a> Session<'s, 'a> {
    fn new(shared: &'s Shared<'a>, number: u32) -> Session<'s, 'a> {
        let Round { seed, number: round, .. } = shared.round;
        let seed = seed ^ (round << 32) ^ u64::from(number);
        let dice = Pcg64Mcg::seed_from_u64(seed);
        Session { shared, number, reconnects: 0, dice, written: 0 }
    }

    fn work(mut self) -> Tally {
        let mut tally = Tally::default();
        let mut client = None;
        while self.may_begin() {
            if client.is_none() {
                client = self.connect();
            }
            let Some(connected) = client.as_mut() else { break };
            match self.transaction(connected.as_mut()) {
                Ok(Outcome::Committed) => tally.committed += 1,
                Ok(Outcome::Aborted) => tally.aborted += 1,
                Ok(Outcome::Unknown) => {
                    tally.unknown += 1;
                    client = None;
                    self.reconnects += 1;
                }
                Err(DriverError::Lost(_)) => {
                    tally.aborted += 1;
                    client = None;
                    self.reconnects += 1;
                }
                Err(error) => {
                    self.fail(error);
                    break;
                }
            }
        }
        tally
    }

    fn may_go_on(&self) -> bool {
        let Shared { round, is_asked_to_end, problem, .. } = self.shared;
        let is_late = round.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let has_failed = problem.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        !is_late && !has_failed && !is_asked_to_end.load(Ordering::Relaxed)
    }

    fn may_begin(&self) -> bool {
        if !self.may_go_on() {
            return false;
        }
        let left = &self.shared.left;
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    fn fail(&self, error: DriverError) {
        let mut problem = self.shared.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert(AuditError::Driver(error));
    }

    /// A connection; a server that comes back within a while is waited for.
    fn connect(&mut self) -> Option<Box<dyn Client>> {
        let mut tries = 0;
        loop {
            match self.shared.driver.connect() {
                Ok(client) => return Some(client),
                Err(error) if self.reconnects == 0 || tries >= RECONNECTS_MAX => {
                    self.fail(error);
                    return None;
                }
                Err(_) if !self.may_go_on() => return None,
                Err(_) => std::thread::sleep(RECONNECT_PAUSE),
            }
            tries += 1;
        }
    }

    fn name(&self) -> String {
        let (round, number) = (self.shared.round.number, self.number);
        match self.reconnects {
            0 => format!("{round}.{number}"),
            again => format!("{round}.{number}.{again}"),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.shared.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// One transaction, from its first statement to its end.
    fn transaction(&mut self, client: &mut dyn Client) -> Result<Outcome, DriverError> {
        let round = self.shared.round;
        let part = part_of(round.number, self.shared.rows.load(Ordering::Relaxed));
        let first = round.registers().start;
        let steps = workload::next(round.workload, first, part, &mut self.dice);
        let (begin, mut doing) = (self.now(), Doing::default());
        let ended = self.steps(client, &steps, &mut doing);
        let outcome = match ended {
            Ok(()) => match client.commit() {
                Ok(()) => Ok(Outcome::Committed),
                Err(DriverError::Refused(_)) => Ok(Outcome::Aborted),
                Err(DriverError::Lost(_)) => Ok(Outcome::Unknown),
                Err(error) => Err(error),
            },
            Err(DriverError::Refused(_)) => client.rollback().map(|()| Outcome::Aborted),
            Err(error) => Err(error),
        };
        let recorded = match &outcome {
            Ok(outcome) => *outcome,
            Err(DriverError::Lost(_)) => Outcome::Aborted,
            Err(_) => return outcome,
        };
        let Doing { ops, statements } = doing;
        self.shared.recorder.record(&RecordedTxn {
            session: self.name(),
            begin,
            end: self.now(),
            outcome: recorded,
            ops,
            statements,
        });
        outcome
    }

    fn steps(
        &mut self,
        client: &mut dyn Client,
        steps: &[Step],
        doing: &mut Doing,
    ) -> Result<(), DriverError> {
        client.begin(self.shared.round.setting)?;
        for &step in steps {
            self.step(client, step, doing)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        client: &mut dyn Client,
        step: Step,
        doing: &mut Doing,
    ) -> Result<(), DriverError> {
        match step {
            Step::Pause(micros) => std::thread::sleep(Duration::from_micros(micros)),
            Step::Read(register) => {
                let (value, sent) = client.read(register)?;
                // Whether there is a row is another question than what it holds.
                let op = match value {
                    Some(value) => json!(["r", register, value]),
                    None => json!(["r", existence(register), null]),
                };
                doing.push(sent, vec![op]);
            }
            Step::Write(register) => {
                let value = self.fresh();
                // What was sent may have been done, whatever is answered.
                doing.ops.push(json!(["w", register, value]));
                let sent = client.write(register, value)?;
                doing.statements.push((sent, 1));
            }
            Step::Scan(part) => {
                let (rows, sent) = client.scan(part)?;
                let reads = row_names(part).map(|row| {
                    let found = rows.iter().find(|(id, _)| *id == row).map(|(_, value)| *value);
                    json!(["r", format!("row {row}"), found])
                });
                doing.push(sent, reads.collect());
            }
            Step::Insert(part) => {
                let number = self.shared.rows.fetch_add(1, Ordering::Relaxed);
                // The part may be full by now; then the row belongs to the next one.
                let part = part.max(part_of(self.shared.round.number, number));
                let row = part * ROWS_OF_PART + number % ROWS_OF_PART;
                let value = self.fresh();
                doing.ops.push(json!(["w", format!("row {row}"), value]));
                let sent = client.insert(part, row, value)?;
                doing.statements.push((sent, 1));
            }
        }
        Ok(())
    }

    /// A value that nobody else writes.
    fn fresh(&mut self) -> i64 {
        self.written += 1;
        (i64::from(self.number + 1) << 40) | self.written
    }
}

impl Doing {
    fn push(&mut self, sent: Sent, ops: Vec<Value>) {
        self.statements.push((sent, ops.len()));
        self.ops.extend(ops);
    }
}

/// The part of the table that the row of this number belongs to: each round has parts of its own.
fn part_of(round: u64, row: u64) -> u64 {
    (round << 20) | (row / ROWS_OF_PART)
}

/// That a row is there.
fn true_atom() -> &'static str {
    "true"
}

fn existence(register: u64) -> String {
    format!("{register} exists")
}

/// The rows that a part may ever have.
fn row_names(part: u64) -> impl Iterator<Item = u64> {
    (0..ROWS_OF_PART).map(move |place| part * ROWS_OF_PART + place)
}
