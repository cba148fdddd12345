//! What the levels need to know of a history, in flat arrays: one number for each operation,
//! transaction, read or version.

use super::faults::{Fault, Unrepeated};
use super::lists::ListFacts;
use seriatim_history::History;

/// No source: a write, an internal read, or a read that is reported as a fault or as ambiguous.
pub(crate) const NONE: u32 = u32::MAX;
/// The source is the initial transaction.
pub(crate) const INITIAL: u32 = u32::MAX - 1;

/// External reads with a source, grouped by key and in the order of operations.
#[derive(Default, Debug)]
pub(crate) struct Reads {
    /// Reads of key k: `start[k]..start[k+1]`.
    pub start: Vec<u32>,
    pub txn: Vec<u32>,
    pub op: Vec<u32>,
    /// Index into [`Versions::txn`], or [`INITIAL`].
    pub source: Vec<u32>,
}

/// Visible writes of transactions that count, grouped by key and in the order of transactions.
#[derive(Default, Debug)]
pub(crate) struct Versions {
    /// Versions of key k: `start[k]..start[k+1]`.
    pub start: Vec<u32>,
    pub txn: Vec<u32>,
}

/// `from` ended before a reader of what `to` wrote began, wrote the same key, and overlaps `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Overlap {
    pub from: u32,
    pub to: u32,
    /// The read, by operation.
    pub read: u32,
}

/// Everything that the levels need to know.
#[derive(Debug)]
pub(crate) struct Index {
    /// Which transactions count: committed ones, and unknown ones that were read from.
    pub counts: Vec<bool>,
    pub txn_session: Vec<u32>,
    /// For each operation the transaction that it read from, or [`INITIAL`], or [`NONE`].
    pub source_txn: Vec<u32>,
    pub versions: Versions,
    pub reads: Reads,
    pub faults: Vec<Fault>,
    pub unrepeated: Vec<Unrepeated>,
    /// Reads whose value several transactions wrote.
    pub ambiguous: Vec<u32>,
    /// What the lists of list-append histories tell.
    pub lists: ListFacts,
    /// Where real time counts: edges that it shows between writers that overlap.
    pub overlaps: Vec<Overlap>,
    /// Reads that are reported already.
    pub told: Vec<u32>,
}

impl Index {
    /// The transaction before `txn` in its session, among those that count.
    #[inline]
    pub fn session_predecessor(&self, history: &History, txn: u32) -> Option<u32> {
        let first = history.session_bounds()[self.txn_session[txn as usize] as usize];
        (first..txn).rev().find(|&earlier| self.counts[earlier as usize])
    }
}
