//! The one way to make a [`History`]: columns of operations in the order of the input, sorted once
//! at the end.
//!
//! Readers push operations in whatever order their file has; [`Columns::finish`] sorts them session
//! by session and transaction by transaction with a counting sort (module `assemble`), and does
//! nothing but check if they already are in that order.

mod expand;
mod insert_reads;

use crate::assemble::{self, Block, Sorted};
use crate::atom::{Atoms, Value};
use crate::ids::{KeyId, TxnId};
use crate::model::{History, Initial, KeyNames, Names, OpKind, Status, TimeUnit};
use crate::place::{PlaceUnit, Places};
use crate::repairs::Repairs;
use crate::scans::{Group, ScanContent};
use crate::statements::StatementContent;
use std::fmt;
use std::sync::Arc;

/// A transaction in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxnMeta {
    /// Number of its session.
    pub session: u32,
    /// How it ended.
    pub status: Status,
}

/// A place between the operations of the columns: how many operations, and how many scans, come
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// How many operations.
    pub ops: u32,
    /// How many scans.
    pub scans: u32,
}

/// A scan in the order of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanMeta {
    /// The index of its transaction.
    pub txn: u32,
    /// How many operations come before it.
    pub at: u32,
    /// What it read.
    pub content: ScanContent,
    /// Its line in the input.
    pub line: u32,
}

/// A statement in the order of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementMeta {
    /// The index of its transaction.
    pub txn: u32,
    /// Where its operations begin.
    pub from: Mark,
    /// Where they end.
    pub to: Mark,
    /// What it is.
    pub content: Arc<StatementContent>,
}

/// Why columns are not a history.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnsError {
    /// Dense ids are 32 bits wide.
    TooLarge {
        /// Operations, transactions or lists.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A scan is said to have found a key as its only writer had left it, which does not have one,
    /// or whose initial value is the same.
    NotUnchanged {
        /// The number of the scan.
        scan: usize,
        /// The key.
        key: KeyId,
    },
}

impl fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnsError::TooLarge { what, count, limit } => write!(
                f,
                "{what}: {count} are more than the {limit} that a history may have; split the \
                 input"
            ),
            ColumnsError::NotUnchanged { scan, key } => write!(
                f,
                "scan {scan} found key {} unchanged, which was not written by one transaction",
                key.0
            ),
        }
    }
}

impl std::error::Error for ColumnsError {}

/// The most operations, keys, sessions or lists that a history may have; the numbers above mark
/// special cases.
pub(crate) const LIMIT: usize = (u32::MAX - 16) as usize;

/// The most transactions that a history may have: checkers keep one bit beside the number of a
/// transaction.
pub const TXNS_MAX: usize = (1 << 31) - 16;

/// Operations and transactions in the order of the input.
///
/// Invariants that the caller keeps: the columns `op_*` are of equal length; `op_txn` holds indices
/// of `txns`, `TxnMeta::session` numbers below `session_count`; tables of names are as long as what
/// they name (in file order). The operations of a transaction that has scans or statements stand
/// together; scans and statements ascend and speak of keys of their groups, and a key is in one
/// group at most.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Kinds of the operations.
    pub op_kind: Vec<OpKind>,
    /// Keys of the operations.
    pub op_key: Vec<KeyId>,
    /// Values of the operations.
    pub op_value: Vec<Value>,
    /// For each operation the index of its transaction in `txns`.
    pub op_txn: Vec<u32>,
    /// Places of the operations.
    pub op_places: Places,
    /// What the places count.
    pub place_unit: PlaceUnit,
    /// Transactions in order of first appearance; those of one session are in session order.
    pub txns: Vec<TxnMeta>,
    /// Begin and end of each transaction, if known; the end of one of unknown outcome is never
    /// taken to be known.
    pub txn_times: Option<Vec<(i64, i64)>>,
    /// What these times count.
    pub time_unit: TimeUnit,
    /// Names of the transactions, in the order of `txns`.
    pub txn_names: Names,
    /// How many sessions there are.
    pub session_count: u32,
    /// Names of the sessions.
    pub session_names: Names,
    /// Names of the keys.
    pub key_names: KeyNames,
    /// The file of all sessions, or one for each session, or none.
    pub files: Vec<Arc<str>>,
    /// Values that are not small integers.
    pub atoms: Atoms,
    /// Lists that reads returned.
    pub lists: Vec<Box<[Value]>>,
    /// What the initial transaction wrote.
    pub initial: Initial,
    /// Lines or records passed over.
    pub skipped: u64,
    /// Transactions of clients whose content is not understood; see [`History::unknown_content`].
    pub unknown_content: u64,
    /// What the reader left out or changed.
    pub repairs: Repairs,
    /// Fields of the whole input that mean nothing to us, as a JSON object; kept for writing them
    /// back.
    pub extra: Option<Box<str>>,
    /// Such fields of transactions, with the index in `txns`.
    pub txn_extras: Vec<(u32, Box<str>)>,
    /// Keys that scans read together.
    pub groups: Vec<Group>,
    /// Scans, in the order of the operations.
    pub scans: Vec<ScanMeta>,
    /// How many reads of scans are worth having so that levels can be decided without sessions; if
    /// there is no number, as many as there are operations, or 65,536.
    pub reads_without_sessions_max: Option<u64>,
    /// Statements, in the order of the operations.
    pub statements: Vec<StatementMeta>,
}

impl Default for Columns {
    fn default() -> Self {
        Columns {
            op_kind: Vec::new(),
            op_key: Vec::new(),
            op_value: Vec::new(),
            op_txn: Vec::new(),
            op_places: Places::None,
            place_unit: PlaceUnit::Line,
            txns: Vec::new(),
            txn_times: None,
            time_unit: TimeUnit::default(),
            txn_names: Names::Implicit { first: 0 },
            session_count: 0,
            session_names: Names::Implicit { first: 0 },
            key_names: KeyNames::Numbers { count: 0 },
            files: Vec::new(),
            atoms: Atoms::default(),
            lists: Vec::new(),
            initial: Initial::default(),
            skipped: 0,
            unknown_content: 0,
            repairs: Repairs::default(),
            extra: None,
            txn_extras: Vec::new(),
            groups: Vec::new(),
            scans: Vec::new(),
            reads_without_sessions_max: None,
            statements: Vec::new(),
        }
    }
}

impl Columns {
    /// Adds an operation of transaction `txn` (an index of `txns`).
    #[inline]
    pub fn push_op(&mut self, txn: u32, kind: OpKind, key: KeyId, value: Value) {
        self.op_kind.push(kind);
        self.op_key.push(key);
        self.op_value.push(value);
        self.op_txn.push(txn);
    }

    /// Adds a scan of transaction `txn`, behind the operations so far, that stands in this line.
    pub fn push_scan(&mut self, txn: u32, content: ScanContent, line: u32) {
        let at = self.op_kind.len() as u32;
        self.scans.push(ScanMeta { txn, at, content, line });
    }

    /// The place behind all operations and scans so far.
    pub fn mark(&self) -> Mark {
        Mark { ops: self.op_kind.len() as u32, scans: self.scans.len() as u32 }
    }

    /// Tells scans and statements where the operations have gone.
    pub(crate) fn move_marks(&mut self, moved: impl Fn(u32) -> u32) {
        self.scans.iter_mut().for_each(|scan| scan.at = moved(scan.at));
        for statement in &mut self.statements {
            statement.from.ops = moved(statement.from.ops);
            statement.to.ops = moved(statement.to.ops);
        }
    }

    /// Adds a transaction and returns its index.
    pub fn push_txn(&mut self, session: u32, status: Status) -> u32 {
        self.txns.push(TxnMeta { session, status });
        self.session_count = self.session_count.max(session + 1);
        (self.txns.len() - 1) as u32
    }

    /// Sorts everything session by session and makes the history.
    pub fn finish(mut self) -> Result<History, ColumnsError> {
        debug_assert!(
            self.op_key.len() == self.op_kind.len() && self.op_value.len() == self.op_kind.len()
        );
        debug_assert_eq!(self.op_txn.len(), self.op_kind.len());
        let beside = insert_reads::insert_reads(&mut self)?;
        let block = Block {
            runs: assemble::runs_of(&std::mem::take(&mut self.op_txn)),
            kind: std::mem::take(&mut self.op_kind),
            key: std::mem::take(&mut self.op_key),
            value: std::mem::take(&mut self.op_value),
            places: std::mem::take(&mut self.op_places),
        };
        let history = self.finish_blocks(vec![block], 1)?;
        Ok(match beside {
            Some(beside) => beside.attach(history),
            None => history,
        })
    }

    /// Like [`Columns::finish`], with the operations in blocks (in file order) instead of the
    /// columns `op_*`.
    pub(crate) fn finish_blocks(
        self,
        blocks: Vec<Block>,
        threads: usize,
    ) -> Result<History, ColumnsError> {
        self.check_sizes(blocks.iter().map(|block| block.kind.len()).sum())?;
        let (session_txns, new_of_old) = self.order_txns();
        let txn_ops = assemble::txn_bounds(&blocks, &new_of_old);
        let sorted = assemble::sort(blocks, &new_of_old, &txn_ops, threads);
        Ok(self.permute(session_txns, txn_ops, &new_of_old, sorted))
    }

    pub(crate) fn check_op_count(&self, op_count: usize) -> Result<(), ColumnsError> {
        check_size("operations", op_count, LIMIT)
    }

    fn check_sizes(&self, op_count: usize) -> Result<(), ColumnsError> {
        self.check_op_count(op_count)?;
        check_size("transactions", self.txns.len(), TXNS_MAX)?;
        check_size("sessions", self.session_count as usize, LIMIT)?;
        check_size("keys", self.key_names.len(), LIMIT)?;
        check_size("lists", self.lists.len(), LIMIT)
    }

    /// Session boundaries, and for each transaction in file order its number in session order.
    fn order_txns(&self) -> (Vec<u32>, Vec<u32>) {
        let mut session_txns = vec![0u32; self.session_count as usize + 1];
        for txn in &self.txns {
            session_txns[txn.session as usize + 1] += 1;
        }
        assemble::prefix_sums(&mut session_txns);
        let mut next = session_txns.clone();
        let new_of_old = self
            .txns
            .iter()
            .map(|txn| {
                let slot = &mut next[txn.session as usize];
                *slot += 1;
                *slot - 1
            })
            .collect();
        (session_txns, new_of_old)
    }

    fn permute(
        mut self,
        session_txns: Vec<u32>,
        txn_ops: Vec<u32>,
        new_of_old: &[u32],
        ops: Sorted,
    ) -> History {
        // A client that does not know how a transaction ended does not know when: it may take
        // effect at any later time.
        for (txn, times) in self.txns.iter().zip(self.txn_times.iter_mut().flatten()) {
            if txn.status == Status::Unknown {
                times.1 = i64::MAX;
            }
        }
        let extras = self
            .txn_extras
            .into_iter()
            .map(|(old, text)| (TxnId(new_of_old[old as usize]), text))
            .collect();
        History {
            session_txns,
            txn_ops,
            txn_status: scatter(&self.txns, new_of_old, |txn| txn.status, Status::Committed),
            txn_times: self.txn_times.map(|times| scatter(&times, new_of_old, |&t| t, (0, 0))),
            time_unit: self.time_unit,
            txn_names: permute_names(self.txn_names, new_of_old),
            txn_places: None,
            txn_file_order: invert(new_of_old),
            op_kind: ops.kind,
            op_key: ops.key,
            op_value: ops.value,
            op_places: ops.places,
            place_unit: self.place_unit,
            files: self.files,
            key_names: self.key_names,
            session_names: self.session_names,
            atoms: self.atoms,
            lists: self.lists,
            initial: self.initial,
            skipped: self.skipped,
            unknown_content: self.unknown_content,
            repairs: self.repairs,
            extra: self.extra,
            txn_extras: extras,
            scans: None,
            statements: None,
        }
    }
}

fn check_size(what: &'static str, count: usize, limit: usize) -> Result<(), ColumnsError> {
    if count > limit { Err(ColumnsError::TooLarge { what, count, limit }) } else { Ok(()) }
}

fn invert(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    for (from, &to) in permutation.iter().enumerate() {
        inverse[to as usize] = from as u32;
    }
    inverse
}

fn scatter<T, U: Copy>(from: &[T], target: &[u32], get: impl Fn(&T) -> U, fill: U) -> Vec<U> {
    let mut to = vec![fill; from.len()];
    for (item, &place) in from.iter().zip(target) {
        to[place as usize] = get(item);
    }
    to
}

fn permute_names(names: Names, new_of_old: &[u32]) -> Names {
    match names {
        Names::Implicit { first } => Names::Numbers(
            invert(new_of_old).iter().map(|&old| i64::from(old) + i64::from(first)).collect(),
        ),
        Names::Numbers(numbers) => Names::Numbers(scatter(&numbers, new_of_old, |&n| n, 0)),
        Names::Table(table) => {
            let old_of_new = invert(new_of_old);
            Names::Table(old_of_new.iter().map(|&old| table[old as usize].clone()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_leave_a_bit_to_the_checker() {
        const { assert!(TXNS_MAX < 1 << 31 && TXNS_MAX < LIMIT) };
        let error = check_size("transactions", TXNS_MAX + 1, TXNS_MAX).unwrap_err().to_string();
        assert_eq!(
            error,
            "transactions: 2147483633 are more than the 2147483632 that a history may have; split \
             the input"
        );
        assert_eq!(check_size("transactions", TXNS_MAX, TXNS_MAX), Ok(()));
    }
}
