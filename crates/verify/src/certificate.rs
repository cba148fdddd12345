//! What a certificate says: data, of which nothing is believed.

use seriatim_history::{OpId, TxnId};
use seriatim_isolation::{Guarantee, Level, Order};
use std::fmt;

/// A point in the life of a transaction, as certificates of the strong levels list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// It takes its snapshot: from here on it reads what has been committed before.
    Begin(TxnId),
    /// Its writes become visible.
    Commit(TxnId),
}

impl Point {
    /// The transaction whose point this is.
    pub fn txn(self) -> TxnId {
        match self {
            Point::Begin(txn) | Point::Commit(txn) => txn,
        }
    }

    /// The transaction, if this is where it commits.
    pub fn commit(self) -> Option<TxnId> {
        match self {
            Point::Begin(_) => None,
            Point::Commit(txn) => Some(txn),
        }
    }
}

/// A read, and the write that it comes from (`None`: the initial value).
pub type ReadSource = (OpId, Option<OpId>);

/// What shows that a level holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// Begin and commit points of the transactions that count.
    Points(Vec<Point>),
    /// A commit order of the transactions that count; the initial transaction, which comes first,
    /// is left out.
    Order {
        /// The order.
        order: Vec<TxnId>,
        /// Where several writes of a value may have been read: the one that was, for each such
        /// read. `None` if that is clear.
        sources: Option<Vec<ReadSource>>,
    },
    /// Cut isolation needs none: the reads of each transaction show it.
    CutIsolation,
}

impl Proof {
    /// A commit order of a history in which every read has one possible source.
    pub fn order(order: Vec<TxnId>) -> Proof {
        Proof::Order { order, sources: None }
    }
}

/// What is claimed about a level.
#[derive(Clone, PartialEq, Eq)]
pub enum Claim {
    /// It holds.
    Holds(Proof),
    /// It is violated, by these operations alone.
    Violated(Vec<OpId>),
}

/// A claim about one level of one history.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The level.
    pub level: Level,
    /// The order that it is meant with.
    pub order: Order,
    /// What is said about it.
    pub claim: Claim,
}

impl Certificate {
    /// A level, with sessions unless an order is named, holds, as `proof` shows.
    pub fn holds(asked: impl Into<Guarantee>, proof: Proof) -> Certificate {
        Certificate::new(asked.into(), Claim::Holds(proof))
    }

    /// A level, with sessions unless an order is named, is violated by `ops` alone.
    pub fn violated(asked: impl Into<Guarantee>, ops: Vec<OpId>) -> Certificate {
        Certificate::new(asked.into(), Claim::Violated(ops))
    }

    fn new(Guarantee { level, order }: Guarantee, claim: Claim) -> Certificate {
        Certificate { level, order, claim }
    }

    /// The level with its order.
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::new(self.level, self.order)
    }
}

/// The transactions in the order in which `points` commit them.
pub fn commit_order(points: &[Point]) -> Vec<TxnId> {
    points.iter().filter_map(|point| point.commit()).collect()
}

/// How many entries of a list are shown when it is debugged: an order may be one of a million
/// transactions.
const SHOWN_MAX: usize = 8;

/// A list of which the first entries are shown.
struct Short<'l, T>(&'l [T]);

impl<T: fmt::Debug> fmt::Debug for Short<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(SHOWN_MAX)];
        let mut list = f.debug_list();
        list.entries(shown);
        match self.0.len() - shown.len() {
            0 => list.finish(),
            more => list.entry(&format_args!("… {more} more")).finish(),
        }
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Points(points) => f.debug_tuple("Points").field(&Short(points)).finish(),
            Proof::Order { order, sources } => f
                .debug_struct("Order")
                .field("order", &Short(order))
                .field("sources", &sources.as_deref().map(Short))
                .finish(),
            Proof::CutIsolation => f.write_str("CutIsolation"),
        }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Holds(proof) => f.debug_tuple("Holds").field(proof).finish(),
            Claim::Violated(ops) => f.debug_tuple("Violated").field(&Short(ops)).finish(),
        }
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({}: {:?})", self.guarantee(), self.claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_of_a_long_history_is_debugged_in_a_line() {
        let order = |count: u32| Proof::order((0..count).map(TxnId).collect());
        let shown = |count| format!("{:?}", Certificate::holds(Level::Causal, order(count)));
        assert_eq!(
            shown(1),
            "Certificate(causal consistency: Holds(Order { order: [TxnId(0)], sources: None }))"
        );
        assert!(shown(1_000_000).contains("TxnId(7), … 999992 more]"), "{}", shown(1_000_000));
    }
}
