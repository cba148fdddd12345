//! Why an order, or points, do not show that a level holds.

use crate::labels::Labels;
use seriatim_history::{History, KeyId, OpId, TxnId};
use std::fmt;

/// Why an order is not a commit order for a level.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A transaction is missing, comes twice, or must not be there.
    NotAPermutation(TxnId),
    /// Session order is broken.
    SessionOrder(TxnId, TxnId),
    /// A read has no legal source before it.
    Source(OpId),
    /// A list shows its elements in another order than they were appended in.
    ListOrder(OpId),
    /// An axiom instance is broken.
    Axiom {
        /// t3.
        reader: TxnId,
        /// Its read of x.
        read: OpId,
        /// t1; `None` for the initial transaction.
        source_txn: Option<TxnId>,
        /// t2.
        other: TxnId,
    },
    /// The points of a transaction are not one begin and one later commit, or others stand between
    /// them that must not.
    Points(TxnId),
    /// A read did not return what was current when its transaction began.
    NotCurrent(OpId),
    /// Two transactions that write a common key overlap.
    Conflict(TxnId, KeyId),
    /// Real time is broken.
    RealTime(TxnId, TxnId),
    /// The history is too large to have moments of real time beside it.
    TooLarge,
}

impl std::error::Error for Rejection {}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tell(Labels(None)))
    }
}

impl Rejection {
    /// The same in the names of the input.
    pub fn told(&self, history: &History) -> String {
        self.tell(Labels(Some(history)))
    }

    fn tell(&self, names: Labels<'_>) -> String {
        let (txn, op) = (|id: &TxnId| names.txn(*id), |id: &OpId| names.op(*id));
        match self {
            Rejection::NotAPermutation(id) => {
                format!(
                    "the order is not a permutation of the transactions that count (at {})",
                    txn(id)
                )
            }
            Rejection::SessionOrder(later, earlier) => {
                format!(
                    "{} comes after {} in its session but not in the order",
                    txn(later),
                    txn(earlier)
                )
            }
            Rejection::Source(read) => format!("{} has no legal source before it", op(read)),
            Rejection::ListOrder(read) => {
                format!("{} returned a list that this order does not explain", op(read))
            }
            Rejection::Axiom { read, source_txn, other, .. } => {
                let source =
                    source_txn.as_ref().map_or_else(|| "the initial transaction".to_owned(), txn);
                let other = txn(other);
                format!(
                    "{} comes from {source} although it saw {other}, which is later in the order",
                    op(read)
                )
            }
            Rejection::Points(id) => {
                format!(
                    "the points of {} are not a begin and its commit as the level asks for them",
                    txn(id)
                )
            }
            Rejection::NotCurrent(read) => {
                format!(
                    "{} did not return the version that was current at the begin point of its \
                     transaction",
                    op(read)
                )
            }
            Rejection::Conflict(id, key) => {
                format!(
                    "{} commits, and between its points another writer of {} committed",
                    txn(id),
                    names.key(*key)
                )
            }
            Rejection::TooLarge => {
                "the history is too large to be looked at with real time".to_owned()
            }
            Rejection::RealTime(earlier, later) => {
                format!("{} ended before {} began, but comes after it", txn(earlier), txn(later))
            }
        }
    }
}
