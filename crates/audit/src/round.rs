//! What a round is, and what its sessions share.

use crate::driver::{Client, Driver};
use crate::error::AuditError;
use crate::fault::Weather;
use crate::lost::Acknowledged;
use crate::record::{ABSENT, Outcome, RecordedTxn, Recorder};
use crate::setting::Setting;
use crate::template::Template;
use crate::workload::{REGISTERS, ROWS_OF_PART, Shape, Workload};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

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

    pub(crate) fn json(&self) -> Value {
        json!([
            self.committed,
            self.aborted,
            self.unknown,
            self.totals,
            self.wrong_totals,
            self.lost_connections,
        ])
    }

    pub(crate) fn from_json(value: &Value) -> Option<Tally> {
        let number = |place: usize| value.get(place)?.as_u64();
        Some(Tally {
            committed: number(0)?,
            aborted: number(1)?,
            unknown: number(2)?,
            totals: number(3)?,
            wrong_totals: number(4)?,
            lost_connections: number(5)?,
        })
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
    pub is_recorded: bool,
    /// Whether something is done to the servers at present.
    pub weather: &'a Weather,
}

impl Ground<'_> {
    /// Records a transaction, if anything is recorded.
    pub fn record(&self, txn: &RecordedTxn) {
        if self.is_recorded {
            self.recorder.record(txn);
        }
    }

    /// Records that a round is over, and what there is to be told of it.
    pub fn end_round(&self, about: Value) {
        if self.is_recorded {
            self.recorder.end_round(about);
        }
    }
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

impl Shared<'_> {
    /// Records that the rows of a part were not there in the beginning, before anybody looks.
    pub fn declare(&self, part: u64) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if !parts.insert(part) {
            return;
        }
        let rows = part * ROWS_OF_PART..(part + 1) * ROWS_OF_PART;
        self.ground.record(&RecordedTxn {
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
}

/// A read of a register. Whether there is a row is another question than what it holds.
pub(crate) fn read_op(register: u64, value: Option<i64>) -> Value {
    match value {
        Some(value) => json!(["r", register, value]),
        None => json!(["r", existence(register), null]),
    }
}

pub(crate) fn existence(register: u64) -> String {
    format!("{register} exists")
}

/// A read of a list, likewise.
pub(crate) fn list_op(number: u64, values: Option<&[i64]>) -> Value {
    match values {
        Some(values) => json!(["r", list(number), values]),
        None => json!(["r", list_existence(number), null]),
    }
}

pub(crate) fn list_existence(number: u64) -> String {
    format!("{} exists", list(number))
}

/// The key of a list.
pub(crate) fn list(number: u64) -> String {
    format!("list {number}")
}

/// What was found of the rows of a part, there or not.
pub(crate) fn rows_found(part: u64, rows: &[(u64, i64)]) -> Vec<(u64, Option<i64>)> {
    let found = |row: u64| rows.iter().find(|(id, _)| *id == row).map(|(_, value)| *value);
    (part * ROWS_OF_PART..(part + 1) * ROWS_OF_PART).map(|row| (row, found(row))).collect()
}

/// The read of a row, there or not.
pub(crate) fn row_op(row: u64, found: Option<i64>) -> Value {
    match found {
        Some(value) => json!(["r", row_key(row), value]),
        None => json!(["r", row_key(row), ABSENT]),
    }
}

/// The key of a row.
pub(crate) fn row_key(row: u64) -> String {
    format!("row {row}")
}
