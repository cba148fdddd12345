//! A round: sessions run one workload for a while, and what they saw is recorded.
//!
//! Rounds share neither registers nor rows, and no transaction of a round begins before all of the
//! round before it have ended. So every edge between two rounds, of session order or of real time,
//! goes from the earlier to the later one, no cycle leaves a round, and rounds can be checked one
//! by one: what holds in each of them holds for all of them together.

use crate::driver::{Client, Driver, DriverError, Sent};
use crate::error::AuditError;
use crate::lost::{Acknowledged, Final, LostWrite, lost_writes};
use crate::record::{Outcome, RecordedTxn, Recorder};
use crate::session::{Session, row_key};
use crate::setting::Setting;
use crate::template::Template;
use crate::workload::{REGISTERS, ROWS_OF_PART, Shape, Workload};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the end of a round is read until nothing is missing: nodes may lag behind.
const FINAL_READS: u32 = 10;
/// How long to wait in between.
const FINAL_PAUSE: Duration = Duration::from_millis(300);

/// A round: one workload for a while.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Its number, from 0.
    pub number: u64,
    /// What its sessions do.
    pub workload: Workload,
    /// How large that is.
    pub shape: Shape,
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
    /// Whether servers may be stopped while it runs: then sessions go on whatever they are told.
    pub has_faults: bool,
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
    /// Transactions that counted the money of all accounts.
    pub totals: u64,
    /// Those that found too much or too little.
    pub wrong_totals: u64,
    /// Connections that were lost.
    pub lost_connections: u64,
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
        self.totals += other.totals;
        self.wrong_totals += other.wrong_totals;
        self.lost_connections += other.lost_connections;
    }
}

/// What stays of a session from one round to the next.
#[derive(Default)]
pub(crate) struct Seat {
    pub client: Option<Box<dyn Client>>,
    /// How often it has lost its connection: then it is another session.
    pub reconnects: u32,
}

/// What all rounds of an audit have in common.
pub(crate) struct Ground<'a> {
    pub driver: &'a dyn Driver,
    pub recorder: &'a Recorder,
    pub template: Option<&'a Template>,
    pub clock: Instant,
    pub is_asked_to_end: &'a AtomicBool,
}

/// What the sessions of a round share.
pub(crate) struct Shared<'a> {
    pub ground: &'a Ground<'a>,
    pub round: Round,
    pub left: AtomicU64,
    /// How many rows were inserted, or tried: no number is used twice.
    pub rows: AtomicU64,
    /// The parts of the table that were looked at.
    pub parts: Mutex<BTreeSet<u64>>,
    pub problem: Mutex<Option<AuditError>>,
    /// What was written for good.
    pub acknowledged: Mutex<Vec<Acknowledged>>,
}

/// What a row is that is not there: before it is inserted, and after it was deleted.
pub(crate) const ABSENT: &str = "absent";

impl Shared<'_> {
    /// Records that the rows of a part were not there in the beginning, before anybody looks.
    pub fn declare(&self, part: u64) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if !parts.insert(part) {
            return;
        }
        let rows = part * ROWS_OF_PART..(part + 1) * ROWS_OF_PART;
        self.ground.recorder.record(&RecordedTxn {
            session: format!("{}.part {part}", self.round.number),
            begin: 0,
            end: 0,
            outcome: Outcome::Committed,
            ops: rows.map(|row| json!(["w", row_key(row), ABSENT])).collect(),
            statements: Vec::new(),
        });
    }
}

impl Round {
    /// The registers that belong to the round alone.
    pub fn registers(&self) -> std::ops::Range<u64> {
        self.number * REGISTERS..(self.number + 1) * REGISTERS
    }

    /// The transaction that made the registers, which ended before the round began.
    fn made(&self) -> RecordedTxn {
        let used = self.registers().take(self.shape.keys as usize);
        let ops = used.flat_map(|register| match self.uses_lists() {
            true => vec![],
            false => {
                vec![json!(["w", existence(register), "true"]), json!(["w", register, 0])]
            }
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

    fn uses_lists(&self) -> bool {
        self.workload == Workload::ListAppend
    }

    /// Runs it. What was acknowledged and is gone in the end is told.
    pub(crate) fn run(
        self,
        ground: &Ground<'_>,
        seats: &mut [Seat],
    ) -> Result<(Tally, Vec<LostWrite>), AuditError> {
        let shared = Shared {
            ground,
            round: self,
            left: AtomicU64::new(self.transactions),
            rows: AtomicU64::new(0),
            parts: Mutex::new(BTreeSet::new()),
            problem: Mutex::new(None),
            acknowledged: Mutex::new(Vec::new()),
        };
        ground.recorder.record(&self.made());
        let mut tally = Tally::default();
        std::thread::scope(|scope| {
            let running: Vec<_> = seats
                .iter_mut()
                .zip(0..)
                .map(|(seat, number)| {
                    let shared = &shared;
                    scope.spawn(move || Session::new(shared, seat, number).work())
                })
                .collect();
            for session in running {
                if let Ok(done) = session.join() {
                    tally.add(done);
                }
            }
        });
        if let Some(problem) = shared.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            return Err(problem);
        }
        let lost = self.end(&shared, seats);
        Ok((tally, lost))
    }

    /// Reads what is there in the end, as a transaction of the history, and says what is not.
    fn end(self, shared: &Shared<'_>, seats: &mut [Seat]) -> Vec<LostWrite> {
        let driver = shared.ground.driver;
        let is_writer = |number: &u32| driver.role(*number) == crate::driver::Role::All;
        let Some(number) = (0..self.sessions).find(is_writer) else { return Vec::new() };
        let acknowledged = shared.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lost = Vec::new();
        for attempt in 0..FINAL_READS {
            if attempt > 0 {
                std::thread::sleep(FINAL_PAUSE);
            }
            let seat = &mut seats[number as usize];
            let Some((finals, txn)) = self.final_read(shared, seat, number) else {
                // Without an answer nothing is said.
                continue;
            };
            lost = lost_writes(&acknowledged, &finals);
            if lost.is_empty() || attempt + 1 == FINAL_READS {
                shared.ground.recorder.record(&txn);
                break;
            }
        }
        lost
    }

    fn final_read(
        &self,
        shared: &Shared<'_>,
        seat: &mut Seat,
        number: u32,
    ) -> Option<(Vec<Final>, RecordedTxn)> {
        let now = || u64::try_from(shared.ground.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let begin = now();
        let read = self.final_ops(shared, seat, number);
        let (finals, ops, statements) = match read {
            Ok(read) => read,
            Err(DriverError::Refused(_)) => {
                // The client is not of use to anybody if it cannot take the transaction back.
                if seat.client.as_mut().is_some_and(|client| client.rollback().is_err()) {
                    seat.client = None;
                }
                return None;
            }
            Err(_) => {
                seat.client = None;
                return None;
            }
        };
        let session = format!("{}.final", self.number);
        let outcome = Outcome::Committed;
        let txn = RecordedTxn { session, begin, end: now(), outcome, ops, statements };
        Some((finals, txn))
    }

    fn final_ops(
        &self,
        shared: &Shared<'_>,
        seat: &mut Seat,
        number: u32,
    ) -> Result<FinalOps, DriverError> {
        if seat.client.is_none() {
            seat.client = Some(shared.ground.driver.connect(number)?);
            seat.reconnects += 1;
        }
        let Some(client) = seat.client.as_mut() else { return Err(DriverError::unable("client")) };
        client.begin(self.setting)?;
        let (mut finals, mut ops, mut statements) = (Vec::new(), Vec::new(), Vec::new());
        for register in self.registers().take(self.shape.keys as usize) {
            let (found, op, sent) = if self.uses_lists() {
                let (values, sent) = client.read_list(register)?;
                let op = json!(["r", list(register), values]);
                (Final::List(register, values), op, sent)
            } else {
                let (value, sent) = client.read(register)?;
                (Final::Register(register, value), read_op(register, value), sent)
            };
            finals.push(found);
            ops.push(op);
            statements.push((sent, 1));
        }
        client.commit()?;
        Ok((finals, ops, statements))
    }
}

/// What is there in the end, as operations, and by which statements.
type FinalOps = (Vec<Final>, Vec<serde_json::Value>, Vec<(Sent, usize)>);

/// A read of a register. Whether there is a row is another question than what it holds.
pub(crate) fn read_op(register: u64, value: Option<i64>) -> serde_json::Value {
    match value {
        Some(value) => json!(["r", register, value]),
        None => json!(["r", existence(register), null]),
    }
}

fn existence(register: u64) -> String {
    format!("{register} exists")
}

/// The key of a list.
pub(crate) fn list(number: u64) -> String {
    format!("list {number}")
}
