//! Edges that every commit order of a level must respect, and places of transactions in an order.

use crate::index::{Index, Source};
use seriatim_history::{OpId, TxnId};

/// `from` must come before `to`; `read` is the operation that the edge was inferred from, or that
/// shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inferred {
    /// The initial transaction comes before all others: an edge to it contradicts by itself.
    pub to: Source,
    pub from: TxnId,
    pub read: OpId,
}

impl Inferred {
    pub fn new(from: TxnId, to: TxnId, read: OpId) -> Inferred {
        Inferred { from, to: to.into(), read }
    }
}

/// Inferred edges, grouped by their target.
#[derive(Default, Debug)]
pub(crate) struct Edges {
    sorted: Vec<Inferred>,
    start: Vec<u32>,
}

impl Edges {
    /// Groups `edges`; of several edges between the same transactions the one with the smallest
    /// read is kept.
    pub fn new(mut edges: Vec<Inferred>, txns: usize) -> Edges {
        edges.sort_unstable();
        edges.dedup_by_key(|edge| (edge.to, edge.from));
        let mut start = vec![0u32; txns + 1];
        for edge in &edges {
            // An edge to the initial transaction is a contradiction, and no part of a graph.
            debug_assert!(!edge.to.is_initial());
            if let Some(to) = edge.to.txn() {
                start[to.index() + 1] += 1;
            }
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        Edges { sorted: edges, start }
    }

    /// The edges into `txn`.
    #[inline]
    pub fn into(&self, txn: TxnId) -> &[Inferred] {
        &self.sorted[self.start[txn.index()] as usize..self.start[txn.index() + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn take(self) -> Vec<Inferred> {
        self.sorted
    }
}

/// Edges between writers that lists or, where it counts, real time show, at every level.
pub(crate) fn known_edges(index: &Index) -> Vec<Inferred> {
    let lists = index.lists.version_edges.iter();
    let listed = lists.map(|edge| Inferred::new(edge.from, edge.to, edge.read));
    let overlaps = index.overlaps.iter();
    let timed = overlaps.map(|edge| Inferred::new(edge.from, edge.to, edge.read));
    listed.chain(timed).collect()
}

/// The place of each transaction in `order`; transactions that do not count come last.
pub(crate) fn positions(order: &[TxnId], txns: usize) -> Vec<u32> {
    let mut position = vec![u32::MAX; txns];
    for (place, &txn) in order.iter().enumerate() {
        position[txn.index()] = place as u32;
    }
    position
}
