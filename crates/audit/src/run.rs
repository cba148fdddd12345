//! A round: sessions run one workload for a while, and what they saw is recorded.
//!
//! Rounds share neither registers nor rows, and no transaction of a round begins before all of the
//! round before it have ended. So every edge between two rounds, of session order or of real time,
//! goes from the earlier to the later one, no cycle leaves a round, and rounds can be checked one
//! by one: what holds in each of them holds for all of them together.

use crate::driver::{DriverError, Role, Sent};
use crate::error::AuditError;
use crate::lost::{Final, LostWrite, lost_writes};
use crate::record::{Outcome, RecordedTxn};
use crate::round::{Ground, Round, Seat, Shared, Tally, existence, list, read_op};
use crate::session::Session;
use crate::workload::Workload;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often the end of a round is read until nothing is missing: nodes may lag behind.
const FINAL_READS: u32 = 10;
/// How long to wait in between.
const FINAL_PAUSE: Duration = Duration::from_millis(300);

impl Round {
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
        ground.record(&self.made());
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
        let is_writer = |number: &u32| driver.role(*number) == Role::All;
        let Some(number) = (0..self.sessions).find(is_writer) else { return Vec::new() };
        let acknowledged = shared.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lost = Vec::new();
        // Without faults nothing is lost; what is missing then is a stale read.
        let reads = if self.has_faults { FINAL_READS } else { 1 };
        for attempt in 0..reads {
            if attempt > 0 {
                std::thread::sleep(FINAL_PAUSE);
            }
            let seat = &mut seats[number as usize];
            let Some((finals, txn)) = self.final_read(shared, seat, number) else {
                // Without an answer nothing is said.
                continue;
            };
            if self.has_faults {
                lost = lost_writes(&acknowledged, &finals);
            }
            if lost.is_empty() || attempt + 1 == reads {
                shared.ground.record(&txn);
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
