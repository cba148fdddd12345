//! The graph that decides a strong level: nodes are points in time, edges say which point must come
//! first.
//!
//! Serializability has one point for each transaction. Snapshot isolation and prefix consistency
//! have two: a transaction reads at its begin point and writes at its commit point. The history
//! satisfies the level iff the versions of each key can be ordered so that the graph has no cycle.

use super::ids::PointId;
use seriatim_history::TxnId;
use seriatim_isolation::Level;

/// Which points the transactions have at a level, and what an order of two versions means for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    /// How many points a transaction has.
    points: u32,
    /// Whether writers of one key must not overlap.
    apart: bool,
}

/// An edge between two points.
pub(crate) type Arc = (PointId, PointId);

impl Timeline {
    /// The timeline of `level`, one of [`Level::STRONG`].
    pub fn of(level: Level) -> Timeline {
        match level {
            Level::PrefixConsistency => Timeline { points: 2, apart: false },
            Level::SnapshotIsolation => Timeline { points: 2, apart: true },
            _ => Timeline { points: 1, apart: true },
        }
    }

    /// Whether a transaction has one point, at which it reads and writes.
    #[inline]
    pub fn is_serial(self) -> bool {
        self.points == 1
    }

    /// Whether transactions have two points, and those of two writers of a key must not overlap.
    #[inline]
    pub fn keeps_writers_apart(self) -> bool {
        self.apart && !self.is_serial()
    }

    /// How many points a transaction has.
    #[inline]
    pub fn points(self) -> u32 {
        self.points
    }

    /// The point at which `txn` reads.
    #[inline]
    pub fn begin(self, txn: TxnId) -> PointId {
        PointId(txn.0 * self.points)
    }

    /// The point at which `txn` writes.
    #[inline]
    pub fn commit(self, txn: TxnId) -> PointId {
        PointId(txn.0 * self.points + self.points - 1)
    }

    /// The transaction that a point belongs to.
    #[inline]
    pub fn txn(self, point: PointId) -> TxnId {
        TxnId(point.0 / self.points)
    }

    /// `earlier` comes before `later` in session order, or `later` read from it.
    #[inline]
    pub fn follows(self, earlier: TxnId, later: TxnId) -> Arc {
        (self.commit(earlier), self.begin(later))
    }

    /// The version of `earlier` comes before that of `later`.
    #[inline]
    pub fn write_write(self, earlier: TxnId, later: TxnId) -> Arc {
        let later = if self.apart { self.begin(later) } else { self.commit(later) };
        (self.commit(earlier), later)
    }

    /// `reader` did not see the version of `writer`.
    #[inline]
    pub fn read_write(self, reader: TxnId, writer: TxnId) -> Arc {
        (self.begin(reader), self.commit(writer))
    }
}
