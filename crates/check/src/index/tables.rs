//! What the levels need to know of a history, in flat arrays: one number for each operation,
//! transaction, read or version.

use super::faults::{Fault, Unrepeated};
use super::ids::{Source, SourceVersion};
use super::lists::ListFacts;
use seriatim_history::{History, KeyId, OpId, SessionId, TxnId};
use std::ops::Range;

/// External reads with a source, grouped by key and in the order of operations.
#[derive(Default, Debug)]
pub(crate) struct Reads {
    /// Reads of key k: `start[k]..start[k+1]`.
    pub start: Vec<u32>,
    pub txn: Vec<TxnId>,
    pub op: Vec<OpId>,
    /// The version that each returned.
    pub source: Vec<SourceVersion>,
}

/// Visible writes of transactions that count, grouped by key and in the order of transactions.
#[derive(Default, Debug)]
pub(crate) struct Versions {
    /// Versions of key k: `start[k]..start[k+1]`.
    pub start: Vec<u32>,
    pub txn: Vec<TxnId>,
}

impl Reads {
    /// The reads of `key`, as places in the columns.
    #[inline]
    pub fn range(&self, key: KeyId) -> Range<usize> {
        range_of(&self.start, key)
    }
}

impl Versions {
    /// The versions of `key`, as numbers of [`super::VersionId`]s.
    #[inline]
    pub fn range(&self, key: KeyId) -> Range<usize> {
        range_of(&self.start, key)
    }

    /// The transactions that write `key`.
    #[inline]
    pub fn writers(&self, key: KeyId) -> &[TxnId] {
        &self.txn[self.range(key)]
    }
}

#[inline]
fn range_of(start: &[u32], key: KeyId) -> Range<usize> {
    start[key.index()] as usize..start[key.index() + 1] as usize
}

/// `from` ended before a reader of what `to` wrote began, wrote the same key, and overlaps `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Overlap {
    pub from: TxnId,
    pub to: TxnId,
    pub read: OpId,
}

/// Everything that the levels need to know.
#[derive(Debug)]
pub(crate) struct Index {
    /// Which transactions count: committed ones, and unknown ones that were read from.
    pub counts: Vec<bool>,
    pub txn_session: Vec<SessionId>,
    /// For each operation the transaction that it read from.
    pub source_txn: Vec<Source>,
    pub versions: Versions,
    pub reads: Reads,
    pub faults: Vec<Fault>,
    pub unrepeated: Vec<Unrepeated>,
    /// Reads whose value several transactions wrote.
    pub ambiguous: Vec<OpId>,
    /// What the lists of list-append histories tell.
    pub lists: ListFacts,
    /// Where real time counts: edges that it shows between writers that overlap.
    pub overlaps: Vec<Overlap>,
    /// Reads that are reported already.
    pub told: Vec<OpId>,
}

impl Index {
    /// The session of `txn`, in constant time.
    #[inline]
    pub fn session_of(&self, txn: TxnId) -> SessionId {
        self.txn_session[txn.index()]
    }

    /// Where `op` read from.
    #[inline]
    pub fn source_of(&self, op: OpId) -> Source {
        self.source_txn[op.index()]
    }

    /// The transactions that the operations of `txn` read from, the initial one left out.
    #[inline]
    pub fn sources_of(&self, history: &History, txn: TxnId) -> impl Iterator<Item = TxnId> + '_ {
        let ops = history.ops_of(txn);
        let sources = &self.source_txn[ops.start as usize..ops.end as usize];
        sources.iter().filter_map(|source| source.txn())
    }

    /// The transaction before `txn` in its session, among those that count.
    #[inline]
    pub fn session_predecessor(&self, history: &History, txn: TxnId) -> Option<TxnId> {
        let first = history.session_bounds()[self.session_of(txn).index()];
        (first..txn.0).rev().map(TxnId).find(|earlier| self.counts[earlier.index()])
    }
}
