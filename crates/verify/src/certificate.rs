//! What a certificate says: data, of which nothing is believed.

use seriatim_history::{OpId, TxnId};
use seriatim_isolation::{Guarantee, Level, Order};

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It holds.
    Holds(Proof),
    /// It is violated, by these operations alone.
    Violated(Vec<OpId>),
}

/// A claim about one level of one history.
#[derive(Clone, Debug, PartialEq, Eq)]
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
