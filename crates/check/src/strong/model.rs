//! The graph that decides a strong level: nodes are points in time, edges say which point must come
//! first.
//!
//! Serializability has one point for each transaction. Snapshot isolation and prefix consistency
//! have two: a transaction reads at its begin point and writes at its commit point. The history
//! satisfies the level iff the versions of each key can be ordered so that the graph has no cycle.

/// Which points there are, and what an order of two versions means for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Model {
    /// One point a transaction.
    Serial,
    /// Begin and commit points; writers of one key do not overlap.
    Snapshot,
    /// Begin and commit points; writers of one key may overlap.
    Prefix,
}

/// An edge between two points.
pub(crate) type Arc = (u32, u32);

impl Model {
    /// How many points a transaction has.
    #[inline]
    pub fn points(self) -> u32 {
        if self == Model::Serial { 1 } else { 2 }
    }

    /// The point at which `txn` reads.
    #[inline]
    pub fn begin(self, txn: u32) -> u32 {
        txn * self.points()
    }

    /// The point at which `txn` writes.
    #[inline]
    pub fn commit(self, txn: u32) -> u32 {
        txn * self.points() + self.points() - 1
    }

    /// The transaction that a point belongs to.
    #[inline]
    pub fn txn(self, point: u32) -> u32 {
        point / self.points()
    }

    /// `earlier` comes before `later` in session order, or `later` read from it.
    #[inline]
    pub fn follows(self, earlier: u32, later: u32) -> Arc {
        (self.commit(earlier), self.begin(later))
    }

    /// The version of `earlier` comes before that of `later`.
    #[inline]
    pub fn write_write(self, earlier: u32, later: u32) -> Arc {
        match self {
            Model::Serial | Model::Snapshot => (self.commit(earlier), self.begin(later)),
            Model::Prefix => (self.commit(earlier), self.commit(later)),
        }
    }

    /// `reader` did not see the version of `writer`.
    #[inline]
    pub fn read_write(self, reader: u32, writer: u32) -> Arc {
        (self.begin(reader), self.commit(writer))
    }
}
