//! A history with its index and its clocks: what deciding and explaining the weak levels share.

use super::clocks::{self, LazyClocks};
use super::edges::{Edges, Inferred};
use super::graph::Graph;
use super::infer::{EdgeSearch, Scope};
use crate::index::Index;
use seriatim_history::{History, SessionId, TxnId};
use seriatim_isolation::Level;
use std::ops::Range;
use std::sync::OnceLock;

/// Everything that deciding needs besides the level.
pub(crate) struct Context<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    /// An order of the transactions that count that extends session order and reads.
    pub base: &'a [TxnId],
    pub threads: usize,
    /// The clocks, one block of sessions at a time; kept if one block holds them all.
    blocks: Vec<LazyClocks<'a>>,
}

impl<'a> Context<'a> {
    pub fn new(
        history: &'a History,
        index: &'a Index,
        base: &'a [TxnId],
        threads: usize,
    ) -> Context<'a> {
        Context::with_blocks(history, index, base, threads, clocks::blocks(history))
    }

    pub fn with_blocks(
        history: &'a History,
        index: &'a Index,
        base: &'a [TxnId],
        threads: usize,
        blocks: Vec<Range<SessionId>>,
    ) -> Context<'a> {
        let lazy = |sessions| LazyClocks {
            history,
            index,
            base,
            sessions,
            threads,
            clocks: OnceLock::new(),
        };
        let blocks = blocks.into_iter().map(lazy).collect();
        Context { history, index, base, threads, blocks }
    }

    /// Whether the clocks of all sessions are held at once.
    pub fn has_one_block(&self) -> bool {
        self.blocks.len() == 1
    }

    /// Calls `visit` with the clocks of each block of sessions.
    pub fn each_block(&self, mut visit: impl FnMut(&LazyClocks<'_>)) {
        if let [only] = self.blocks.as_slice() {
            return visit(only);
        }
        for block in &self.blocks {
            // A copy, so that its clocks are freed before those of the next block are computed.
            visit(&LazyClocks {
                sessions: block.sessions.clone(),
                clocks: OnceLock::new(),
                ..*block
            });
        }
    }

    /// Inferred edges of `level` in `scope`, given the places of the transactions in an order.
    pub fn infer(
        &self,
        level: Level,
        scope: Scope<'_>,
        position: &[u32],
        excluded: Option<&[bool]>,
    ) -> Vec<Inferred> {
        let Context { history, index, threads, .. } = *self;
        let search = |clocks: Option<&LazyClocks<'_>>| {
            EdgeSearch { scope, history, index, level, position, clocks, excluded, threads }.find()
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
