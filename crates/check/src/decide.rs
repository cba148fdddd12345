//! Does a commit order exist? Guess one, look for edges that it breaks, mend it, repeat.
//!
//! Every broken edge is one that all commit orders of the level must respect, so a cycle of session order, reads and such
//! edges refutes the level; and an order that breaks none satisfies the level's axiom for every read, so it is the
//! certificate. Edges that the orders never break are never stored: memory stays linear in the history.
//!
//! Each round costs O(n) for the order and the cost of [`crate::infer`] for the search; every round adds at least one
//! edge, in practice the first few rounds add all.

use crate::clocks::{self, LazyClocks};
use crate::index::{INITIAL, Index};
use crate::infer::{Scope, Search};
use crate::level::Level;
use crate::order::{Edges, Graph, Inferred};
use seriatim_history::History;
use std::sync::OnceLock;

/// Everything that deciding needs besides the level.
pub(crate) struct Context<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    /// An order of the transactions that count that extends session order and reads.
    pub base: &'a [u32],
    pub threads: usize,
    /// The clocks, one block of sessions at a time; kept if one block holds them all.
    blocks: Vec<LazyClocks<'a>>,
}

impl<'a> Context<'a> {
    pub fn new(history: &'a History, index: &'a Index, base: &'a [u32], threads: usize) -> Context<'a> {
        let lazy = |sessions| LazyClocks { history, index, base, sessions, threads, clocks: OnceLock::new() };
        let blocks = clocks::blocks(history).into_iter().map(lazy).collect();
        Context { history, index, base, threads, blocks }
    }

    /// Calls `visit` with the clocks of each block of sessions.
    pub fn each_block(&self, mut visit: impl FnMut(&LazyClocks<'_>)) {
        if let [only] = self.blocks.as_slice() {
            return visit(only);
        }
        for block in &self.blocks {
            // A copy, so that its clocks are freed before those of the next block are computed.
            visit(&LazyClocks { sessions: block.sessions.clone(), clocks: OnceLock::new(), ..*block });
        }
    }

    /// Inferred edges of `level` in `scope`, given the places of the transactions in an order.
    pub fn infer(&self, level: Level, scope: Scope<'_>, position: &[u32], excluded: Option<&[bool]>) -> Vec<Inferred> {
        let Context { history, index, threads, .. } = *self;
        let search = |clocks: Option<&LazyClocks<'_>>| {
            Search { scope, history, index, level, position, clocks, excluded, threads }.find()
        };
        if level != Level::Causal {
            return search(None);
        }
        let mut found = Vec::new();
        self.each_block(|clocks| found.extend(search(Some(clocks))));
        found
    }

    /// Session order, reads and `edges`.
    pub fn graph<'g>(&'g self, edges: &'g Edges) -> Graph<'g> {
        Graph { history: self.history, index: self.index, edges }
    }
}

/// A commit order for `level`, or `None` if there is none.
pub(crate) fn commit_order(context: &Context<'_>, level: Level) -> Option<Vec<u32>> {
    let txns = context.history.txn_count();
    let mut edges = Edges::new(known_edges(context.index), txns);
    let mut order = context.base.to_vec();
    if edges.len() > 0 {
        order = context.graph(&edges).topological(&order)?;
    }
    loop {
        let position = positions(&order, txns);
        let broken = context.infer(level, Scope::Broken, &position, None);
        if broken.is_empty() {
            return Some(order);
        }
        // The initial transaction precedes every other.
        if broken.iter().any(|edge| edge.to == INITIAL) {
            return None;
        }
        let mut all = edges.take();
        all.extend(broken);
        edges = Edges::new(all, txns);
        order = context.graph(&edges).topological(&order)?;
    }
}

/// Edges between writers that lists show, at every level.
pub(crate) fn known_edges(index: &Index) -> Vec<Inferred> {
    index.lists.version_edges.iter().map(|edge| Inferred { from: edge.from, to: edge.to, read: edge.read }).collect()
}

/// The place of each transaction in `order`; transactions that do not count come last.
pub(crate) fn positions(order: &[u32], txns: usize) -> Vec<u32> {
    let mut position = vec![u32::MAX; txns];
    for (place, &txn) in order.iter().enumerate() {
        position[txn as usize] = place as u32;
    }
    position
}
