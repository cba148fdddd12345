//! What sessions do: transactions of a few steps on few registers, in the shapes in which anomalies
//! are known to show (the workloads of Plume, section 5, and PolySI, section 5, and those of the
//! named anomalies).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::ops::Range;
use std::str::FromStr;

/// A shape of transactions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Workload {
    /// Reads and writes, as chance has it.
    General,
    /// Registers that are read and then written: lost updates.
    ReadModifyWrite,
    /// Mostly writes of what was not read.
    BlindWrites,
    /// Numbers that are appended to lists, which show the order of versions.
    ListAppend,
    /// Two registers are read and one of them is written: write skew.
    WriteSkew,
    /// One register is written, or all of a few are read: long forks and read skew.
    LongFork,
    /// Money goes from one account to another, and is counted: the sum must stay.
    Bank,
    /// A part of a table is read, and rows of it come and go: phantoms.
    Predicates,
    /// Registers that count up by themselves.
    Counters,
    /// Statements of the user's.
    Own,
}

impl Workload {
    /// Those that need nothing of the user.
    pub const ALL: [Workload; 9] = [
        Workload::General,
        Workload::ReadModifyWrite,
        Workload::BlindWrites,
        Workload::ListAppend,
        Workload::WriteSkew,
        Workload::LongFork,
        Workload::Bank,
        Workload::Predicates,
        Workload::Counters,
    ];

    /// The word on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Workload::General => "general",
            Workload::ReadModifyWrite => "read-modify-write",
            Workload::BlindWrites => "blind-writes",
            Workload::ListAppend => "list-append",
            Workload::WriteSkew => "write-skew",
            Workload::LongFork => "long-fork",
            Workload::Bank => "bank",
            Workload::Predicates => "predicates",
            Workload::Counters => "counters",
            Workload::Own => "own",
        }
    }

    /// The one of a word.
    pub(crate) fn of_code(code: &str) -> Option<Workload> {
        let mut all = Workload::ALL.into_iter().chain([Workload::Own]);
        all.find(|workload| workload.code() == code)
    }

    /// Whether reading and writing registers is all that it does.
    pub fn needs_registers_only(self) -> bool {
        use Workload::{Counters, ListAppend, Own, Predicates};
        !matches!(self, ListAppend | Predicates | Counters | Own)
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
    /// Reads a list.
    ReadList(u64),
    /// Appends a new value to a list.
    Append(u64),
    /// Adds one to a register.
    Add(u64),
    /// Moves money from one account to another.
    Transfer(u64, u64),
    /// Counts the money of all accounts, from the first to the last.
    Total(u64, u64),
    /// Reads a part of the table.
    Scan(u64),
    /// Inserts a row into a part of the table.
    Insert(u64),
    /// Deletes a row of a part of the table.
    Delete(u64),
    /// Waits, in microseconds.
    Pause(u64),
}

impl Step {
    /// What is left of it for a session that only reads.
    pub fn reading(self) -> Option<Step> {
        match self {
            Step::Write(register) | Step::Add(register) => Some(Step::Read(register)),
            Step::Append(list) => Some(Step::ReadList(list)),
            Step::Transfer(first, last) => Some(Step::Total(first.min(last), first.max(last))),
            Step::Insert(_) | Step::Delete(_) => None,
            other => Some(other),
        }
    }
}

/// How many registers a round has at most.
pub const REGISTERS: u64 = 20;
/// How many steps a transaction may have.
const STEPS_MAX: u64 = 1000;
/// How many rows a part of the table gets, at most: a scan reads each of them, there or not.
pub const ROWS_OF_PART: u64 = 6;

/// How many registers transactions need at least: some shapes are about three of them.
const REGISTERS_MIN: u64 = 3;

/// Sizes of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How many registers there are: few, so that transactions meet.
    pub keys: u64,
    /// How many steps a transaction has at most, of those that have any number.
    pub steps_max: u64,
    /// The longest pause between two steps, in microseconds.
    pub pause_max: u64,
    /// Whether half of the steps meet on two registers.
    pub is_skewed: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { keys: 10, steps_max: 6, pause_max: 2000, is_skewed: false }
    }
}

impl Shape {
    /// What is wrong with these sizes.
    pub(crate) fn problem(self) -> Option<String> {
        let Shape { keys, steps_max, .. } = self;
        if !(REGISTERS_MIN..=REGISTERS).contains(&keys) {
            return Some(format!(
                "transactions meet on {REGISTERS_MIN} to {REGISTERS} registers, not on {keys}"
            ));
        }
        (!(2..=STEPS_MAX).contains(&steps_max))
            .then(|| format!("a transaction has 2 to {STEPS_MAX} steps at most, not {steps_max}"))
    }

    /// A shape near to this one.
    pub(crate) fn varied(self, dice: &mut Pcg64Mcg) -> Shape {
        const KEYS: [u64; 4] = [4, 8, 12, REGISTERS];
        const PAUSES: [u64; 4] = [0, 500, 2000, 5000];
        let mut shape = self;
        match dice.random_range(0..4) {
            0 => shape.keys = KEYS[dice.random_range(0..KEYS.len())],
            1 => shape.steps_max = dice.random_range(3..=8),
            2 => shape.pause_max = PAUSES[dice.random_range(0..PAUSES.len())],
            _ => shape.is_skewed = !shape.is_skewed,
        }
        shape
    }

    fn key(self, dice: &mut Pcg64Mcg) -> u64 {
        let is_hot = self.is_skewed && dice.random_range(0..2) == 0;
        dice.random_range(0..if is_hot { 2.min(self.keys) } else { self.keys })
    }
}

/// The next transaction of a session. Registers are those of the round, from `first` on; `part` is
/// the part of the table that is filled at present.
pub fn next(
    workload: Workload,
    shape: Shape,
    first: u64,
    part: u64,
    dice: &mut Pcg64Mcg,
) -> Vec<Step> {
    let key = |dice: &mut Pcg64Mcg| first + shape.key(dice);
    let several = |dice: &mut Pcg64Mcg| dice.random_range(2..=shape.steps_max.max(2));
    let mut steps = Vec::new();
    match workload {
        Workload::General | Workload::BlindWrites => {
            let reads_of_four = if workload == Workload::General { 2 } else { 1 };
            for _ in 0..several(dice) {
                let key = key(dice);
                let reads = dice.random_range(0..4) < reads_of_four;
                steps.push(if reads { Step::Read(key) } else { Step::Write(key) });
            }
        }
        Workload::ReadModifyWrite => {
            for _ in 0..dice.random_range(1..=2) {
                let key = key(dice);
                steps.extend([Step::Read(key), Step::Write(key)]);
            }
        }
        Workload::ListAppend => steps = on_lists(several(dice), || key(dice)),
        Workload::WriteSkew => {
            let pair = first + 2 * dice.random_range(0..(shape.keys / 2).max(1));
            steps.extend([Step::Read(pair), Step::Read(pair + 1)]);
            steps.push(Step::Write(pair + dice.random_range(0..2)));
        }
        Workload::LongFork => {
            let group = first + 3 * dice.random_range(0..(shape.keys / 3).max(1));
            if dice.random_range(0..2) == 0 {
                steps.push(Step::Write(group + dice.random_range(0..3)));
            } else {
                // Not all in the same order.
                let turn = dice.random_range(0..3);
                steps.extend((0..3).map(|place| Step::Read(group + (place + turn) % 3)));
            }
        }
        Workload::Bank => {
            let (from, to) = (key(dice), key(dice));
            let counts = from == to || dice.random_range(0..3) == 0;
            let all = Step::Total(first, first + shape.keys - 1);
            steps.push(if counts { all } else { Step::Transfer(from, to) });
        }
        Workload::Predicates => {
            steps.push(Step::Scan(part));
            // Rows may come and go between two queries of one transaction, too. Not more often: a
            // row that is absent may not be there yet or no more, and each such read may have to
            // be tried both ways.
            if dice.random_range(0..6) == 0 {
                steps.push(Step::Scan(part));
            }
            match dice.random_range(0..6) {
                0..3 => steps.push(Step::Insert(part)),
                3 => steps.push(Step::Delete(part)),
                _ => {}
            }
        }
        Workload::Counters => {
            steps.extend((0..dice.random_range(1..=2)).map(|_| Step::Add(key(dice))));
            steps.push(Step::Read(key(dice)));
        }
        Workload::Own => {}
    }
    with_pauses(distinct(steps), shape.pause_max, dice)
}

/// Appends and reads of lists, each list once: an append shows what was there before, so that
/// reading a list twice would ask more than that reads repeat.
fn on_lists(count: u64, mut key: impl FnMut() -> u64) -> Vec<Step> {
    let keys: std::collections::BTreeSet<u64> = (0..count).map(|_| key()).collect();
    // Which of them are read changes with the keys.
    let reads = |place: usize, key: u64| (place as u64 + key).is_multiple_of(2);
    let step =
        |(place, key)| if reads(place, key) { Step::ReadList(key) } else { Step::Append(key) };
    keys.into_iter().enumerate().map(step).collect()
}

/// Without the second step on a counter: what it would see is its own.
fn distinct(steps: Vec<Step>) -> Vec<Step> {
    let mut counted = Vec::new();
    let mut kept = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Add(key) if counted.contains(&key) => continue,
            Step::Read(key) if counted.contains(&key) => continue,
            Step::Add(key) => counted.push(key),
            _ => {}
        }
        kept.push(step);
    }
    kept
}

/// More sessions than cores, and pauses between steps, make transactions overlap.
fn with_pauses(steps: Vec<Step>, pause_max: u64, dice: &mut Pcg64Mcg) -> Vec<Step> {
    let mut paused = Vec::with_capacity(2 * steps.len());
    for step in steps {
        if !paused.is_empty() && pause_max > 0 && dice.random_range(0..2) == 0 {
            paused.push(Step::Pause(dice.random_range(0..pause_max)));
        }
        paused.push(step);
    }
    paused
}

/// The part of the table that the row of this number belongs to: each round has parts of its own.
pub(crate) fn part_of(round: u64, row: u64) -> u64 {
    (round << 20) | (row / ROWS_OF_PART)
}

/// The rows that rounds with these registers may have.
pub(crate) fn rows_of(registers: &Range<u64>) -> Range<u64> {
    let first = |register: u64| part_of(register / REGISTERS, 0) * ROWS_OF_PART;
    first(registers.start)..first(registers.end)
}

/// What an account holds: every value is written once, and says who wrote it and how much it is.
pub(crate) fn balance(value: i64) -> i64 {
    if value == 0 { 0 } else { (value & BALANCE) - BALANCE / 2 }
}

/// A value that nobody else writes, `number`, which says that an account holds `balance`.
pub(crate) fn account(number: i64, balance: i64) -> i64 {
    (number << BALANCE.count_ones()) | ((balance + BALANCE / 2) & BALANCE)
}

/// The bits of a value that say how much there is.
const BALANCE: i64 = 0xf_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_says_how_much_it_holds() {
        for amount in [-500_000, -1, 0, 1, 77, 500_000] {
            assert_eq!(balance(account(12_345, amount)), amount);
        }
        assert_eq!(balance(0), 0);
        assert_ne!(account(1, 5), account(2, 5));
    }

    #[test]
    fn rounds_share_neither_registers_nor_rows() {
        let rounds = rows_of(&(0..REGISTERS)).end;
        assert_eq!(rounds, rows_of(&(REGISTERS..2 * REGISTERS)).start);
        assert!(rows_of(&(0..REGISTERS)).contains(&(part_of(0, 100_000) * ROWS_OF_PART)));
        assert!(!rows_of(&(0..REGISTERS)).contains(&(part_of(1, 0) * ROWS_OF_PART)));
    }

    #[test]
    fn some_transactions_look_at_the_table_twice() {
        use rand::SeedableRng;
        let mut dice = Pcg64Mcg::seed_from_u64(1);
        let mut scans = |_| {
            let steps = next(Workload::Predicates, Shape::default(), 0, 0, &mut dice);
            steps.iter().filter(|step| matches!(step, Step::Scan(_))).count()
        };
        let counts: std::collections::BTreeSet<usize> = (0..50).map(&mut scans).collect();
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn those_who_only_read_write_nothing() {
        use rand::SeedableRng;
        let mut dice = Pcg64Mcg::seed_from_u64(1);
        for workload in Workload::ALL {
            for _ in 0..50 {
                let steps = next(workload, Shape::default(), 0, 0, &mut dice);
                assert!(!steps.is_empty(), "{workload:?}");
                let left = steps.into_iter().filter_map(Step::reading);
                let is_write = |step: &Step| {
                    use Step::{Add, Append, Delete, Insert, Transfer, Write};
                    matches!(
                        step,
                        Write(_) | Append(_) | Add(_) | Transfer(..) | Insert(_) | Delete(_)
                    )
                };
                assert!(!left.collect::<Vec<_>>().iter().any(is_write), "{workload:?}");
            }
        }
    }
}
