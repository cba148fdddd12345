//! Edges that every commit order of a level must respect, and places of transactions in an order.

use crate::index::Index;

/// `from` must come before `to`; `read` is the operation that the edge was inferred from, or that
/// shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inferred {
    pub to: u32,
    pub from: u32,
    pub read: u32,
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
            start[edge.to as usize + 1] += 1;
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        Edges { sorted: edges, start }
    }

    /// The edges into `txn`.
    #[inline]
    pub fn into(&self, txn: u32) -> &[Inferred] {
        &self.sorted[self.start[txn as usize] as usize..self.start[txn as usize + 1] as usize]
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
    let listed = lists.map(|edge| Inferred { from: edge.from, to: edge.to, read: edge.read });
    let overlaps = index.overlaps.iter();
    let timed = overlaps.map(|edge| Inferred { from: edge.from, to: edge.to, read: edge.read });
    listed.chain(timed).collect()
}

/// The place of each transaction in `order`; transactions that do not count come last.
pub(crate) fn positions(order: &[u32], txns: usize) -> Vec<u32> {
    let mut position = vec![u32::MAX; txns];
    for (place, &txn) in order.iter().enumerate() {
        position[txn as usize] = place as u32;
    }
    position
}
