//! What sessions do: transactions of a few steps on few registers, in the shapes in which anomalies
//! are known to show (the workloads of Plume, section 5, and PolySI, section 5, and those of the
//! named anomalies).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::str::FromStr;

/// A shape of transactions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Workload {
    /// Reads and writes, as chance has it.
    General,
    /// Registers that are read and then written: lost updates.
    ReadModifyWrite,
    /// Mostly writes of what was not read.
    BlindWrites,
    /// Two registers are read and one of them is written: write skew.
    WriteSkew,
    /// One register is written, or all of a few are read: long forks and read skew.
    LongFork,
    /// A part of a table is counted and a row is inserted into it: phantoms.
    Predicates,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 6] = [
        Workload::General,
        Workload::ReadModifyWrite,
        Workload::BlindWrites,
        Workload::WriteSkew,
        Workload::LongFork,
        Workload::Predicates,
    ];

    /// The word on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Workload::General => "general",
            Workload::ReadModifyWrite => "read-modify-write",
            Workload::BlindWrites => "blind-writes",
            Workload::WriteSkew => "write-skew",
            Workload::LongFork => "long-fork",
            Workload::Predicates => "predicates",
        }
    }
}

/// A text that is no workload.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no workload `{0}`")]
pub struct NoWorkload(String);

impl FromStr for Workload {
    type Err = NoWorkload;

    fn from_str(text: &str) -> Result<Workload, NoWorkload> {
        let found = Workload::ALL.into_iter().find(|it| it.code() == text);
        found.ok_or_else(|| NoWorkload(text.to_owned()))
    }
}

/// A step of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Reads a register.
    Read(u64),
    /// Writes a new value to a register.
    Write(u64),
    /// Reads a part of the table.
    Scan(u64),
    /// Inserts a row into a part of the table.
    Insert(u64),
    /// Waits, in microseconds.
    Pause(u64),
}

/// How many registers a round has: few, so that transactions meet.
pub const REGISTERS: u64 = 10;
/// How many rows a part of the table gets, at most: a scan reads each of them, there or not.
pub const ROWS_OF_PART: u64 = 6;
/// The longest pause between two steps, in microseconds.
const PAUSE_MAX: u64 = 2000;

/// The next transaction of a session. Registers are those of the round, from `first` on; `part` is
/// the part of the table that is filled at present.
pub fn next(workload: Workload, first: u64, part: u64, dice: &mut Pcg64Mcg) -> Vec<Step> {
    let register = |dice: &mut Pcg64Mcg| first + dice.random_range(0..REGISTERS);
    let mut steps = Vec::new();
    match workload {
        Workload::General => {
            for _ in 0..dice.random_range(2..=6) {
                let register = register(dice);
                let reads = dice.random_range(0..2) == 0;
                steps.push(if reads { Step::Read(register) } else { Step::Write(register) });
            }
        }
        Workload::ReadModifyWrite => {
            for _ in 0..dice.random_range(1..=2) {
                let register = register(dice);
                steps.extend([Step::Read(register), Step::Write(register)]);
            }
        }
        Workload::BlindWrites => {
            for _ in 0..dice.random_range(2..=4) {
                let register = register(dice);
                let reads = dice.random_range(0..4) == 0;
                steps.push(if reads { Step::Read(register) } else { Step::Write(register) });
            }
        }
        Workload::WriteSkew => {
            let pair = first + 2 * dice.random_range(0..REGISTERS / 2);
            steps.extend([Step::Read(pair), Step::Read(pair + 1)]);
            steps.push(Step::Write(pair + dice.random_range(0..2)));
        }
        Workload::LongFork => {
            let group = first + 3 * dice.random_range(0..REGISTERS / 3);
            if dice.random_range(0..2) == 0 {
                steps.push(Step::Write(group + dice.random_range(0..3)));
            } else {
                // Not all in the same order.
                let turn = dice.random_range(0..3);
                steps.extend((0..3).map(|place| Step::Read(group + (place + turn) % 3)));
            }
        }
        Workload::Predicates => {
            steps.push(Step::Scan(part));
            if dice.random_range(0..2) == 0 {
                steps.push(Step::Insert(part));
            }
        }
    }
    with_pauses(steps, dice)
}

/// More sessions than cores, and pauses between steps, make transactions overlap.
fn with_pauses(steps: Vec<Step>, dice: &mut Pcg64Mcg) -> Vec<Step> {
    let mut paused = Vec::with_capacity(2 * steps.len());
    for step in steps {
        if !paused.is_empty() && dice.random_range(0..2) == 0 {
            paused.push(Step::Pause(dice.random_range(0..PAUSE_MAX)));
        }
        paused.push(step);
    }
    paused
}
