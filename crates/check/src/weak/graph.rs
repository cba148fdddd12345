//! Orders of transactions that extend session order, reads and further edges; and what to do when
//! none exists.
//!
//! The predecessors of a transaction lie side by side in the index (the sources of its reads, in
//! program order), so both searches below walk backwards along predecessors and need no adjacency
//! lists. Both are iterative: a session of a million transactions is a path of a million steps.

use super::edges::{Edges, positions};
use crate::index::{INITIAL, Index, NONE};
use crate::parallel;
use seriatim_history::History;
use std::ops::Range;

/// Session order, reads and further edges, seen from the later transaction.
pub(crate) struct Graph<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    pub edges: &'a Edges,
}

/// Where a walk stands among the predecessors of a transaction: its session predecessor, then the
/// sources of its operations, then the further edges.
#[derive(Clone, Copy)]
struct Cursor {
    txn: u32,
    step: u32,
}

impl Graph<'_> {
    #[inline]
    fn session_predecessor(&self, txn: u32) -> Option<u32> {
        self.index.session_predecessor(self.history, txn)
    }

    /// The next predecessor at or after the cursor, which moves past it.
    #[inline]
    fn next_predecessor(&self, cursor: &mut Cursor) -> Option<u32> {
        let bounds = self.history.txn_bounds();
        let (first, end) = (bounds[cursor.txn as usize], bounds[cursor.txn as usize + 1]);
        if cursor.step == 0 {
            cursor.step = 1;
            if let Some(previous) = self.session_predecessor(cursor.txn) {
                return Some(previous);
            }
        }
        while cursor.step - 1 < end - first {
            let source = self.index.source_txn[(first + cursor.step - 1) as usize];
            cursor.step += 1;
            if source < INITIAL {
                return Some(source);
            }
        }
        let edges = self.edges.into(cursor.txn);
        let edge = edges.get((cursor.step - 1 - (end - first)) as usize)?;
        cursor.step += 1;
        Some(edge.from)
    }

    /// Whether `wish`, in which each transaction has this position, extends session order and reads
    /// (not the further edges). A recorder that writes transactions down as they commit makes this
    /// true, and it is cheap to see. O(n).
    pub fn is_extended_by(&self, position: &[u32], threads: usize) -> bool {
        let bounds = self.history.txn_bounds();
        let ranges = parallel::split_by_weight(bounds, threads.max(1));
        let fits = |txn: u32| {
            let place = position[txn as usize];
            let ops = bounds[txn as usize] as usize..bounds[txn as usize + 1] as usize;
            let before = |earlier: u32| position[earlier as usize] < place;
            let mut sources = self.index.source_txn[ops].iter().filter(|&&source| source < INITIAL);
            self.session_predecessor(txn).is_none_or(before)
                && sources.all(|&source| before(source))
        };
        let all_fit = |range: Range<usize>| {
            range.map(|txn| txn as u32).filter(|&txn| self.index.counts[txn as usize]).all(fits)
        };
        parallel::run(ranges, all_fit).into_iter().all(|fit| fit)
    }

    /// An order that extends session order and reads, near to `wish`; `None` if they have a cycle.
    pub fn causal_order(&self, wish: Vec<u32>, threads: usize) -> Option<Vec<u32>> {
        let position = positions(&wish, self.index.counts.len());
        if self.is_extended_by(&position, threads) { Some(wish) } else { self.topological(&wish) }
    }

    /// An order that extends the graph, near to `wish` (a permutation of the transactions that
    /// count): transactions move forward only as far as their successors need. `None` if the graph
    /// has a cycle. O(n).
    pub fn topological(&self, wish: &[u32]) -> Option<Vec<u32>> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.index.counts.len()];
        let mut order = Vec::with_capacity(wish.len());
        let mut path: Vec<Cursor> = Vec::new();
        for &root in wish {
            if state[root as usize] == DONE {
                continue;
            }
            state[root as usize] = OPEN;
            path.push(Cursor { txn: root, step: 0 });
            while let Some(cursor) = path.last_mut() {
                match self.next_predecessor(cursor) {
                    None => {
                        state[cursor.txn as usize] = DONE;
                        order.push(cursor.txn);
                        path.pop();
                    }
                    Some(next) if state[next as usize] == NEW => {
                        state[next as usize] = OPEN;
                        path.push(Cursor { txn: next, step: 0 });
                    }
                    Some(next) if state[next as usize] == OPEN => return None,
                    Some(_) => {}
                }
            }
        }
        Some(order)
    }

    /// The strongly connected components, in an order that extends the graph between them (Tarjan,
    /// iterative). O(n).
    pub fn components(&self, wish: &[u32]) -> Components {
        let txns = self.index.counts.len();
        let mut search = Tarjan {
            number: vec![NONE; txns],
            low: vec![0; txns],
            open: Vec::new(),
            next: 0,
            result: Components {
                of: vec![NONE; txns],
                order: Vec::with_capacity(wish.len()),
                start: vec![0],
            },
        };
        let mut path: Vec<Cursor> = Vec::new();
        for &root in wish {
            if search.number[root as usize] != NONE {
                continue;
            }
            search.enter(root);
            path.push(Cursor { txn: root, step: 0 });
            while let Some(cursor) = path.last_mut() {
                let txn = cursor.txn;
                match self.next_predecessor(cursor) {
                    Some(next) if search.number[next as usize] == NONE => {
                        search.enter(next);
                        path.push(Cursor { txn: next, step: 0 });
                    }
                    Some(next) => search.see(txn, next),
                    None => {
                        path.pop();
                        search.leave(txn, path.last().map(|cursor| cursor.txn));
                    }
                }
            }
        }
        search.result
    }
}

/// The strongly connected components of a graph.
#[derive(Debug)]
pub(crate) struct Components {
    /// For each transaction that counts the number of its component.
    pub of: Vec<u32>,
    /// The transactions, component by component, predecessors first.
    pub order: Vec<u32>,
    /// Component c is `order[start[c]..start[c+1]]`.
    pub start: Vec<u32>,
}

impl Components {
    /// The transactions of component `component`.
    pub fn members(&self, component: usize) -> &[u32] {
        &self.order[self.start[component] as usize..self.start[component + 1] as usize]
    }

    /// How many components there are.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether some component has more than one member. (No transaction reads from itself.)
    pub fn has_cycle(&self) -> bool {
        self.len() < self.order.len()
    }

    /// Whether two transactions are in one component.
    pub fn together(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }
}

struct Tarjan {
    number: Vec<u32>,
    low: Vec<u32>,
    open: Vec<u32>,
    next: u32,
    result: Components,
}

impl Tarjan {
    fn enter(&mut self, txn: u32) {
        self.number[txn as usize] = self.next;
        self.low[txn as usize] = self.next;
        self.next += 1;
        self.open.push(txn);
    }

    fn see(&mut self, txn: u32, next: u32) {
        // From a component that is complete the walk does not lead back to `txn`.
        if self.result.of[next as usize] == NONE {
            self.low[txn as usize] = self.low[txn as usize].min(self.number[next as usize]);
        }
    }

    fn leave(&mut self, txn: u32, parent: Option<u32>) {
        if let Some(parent) = parent {
            self.low[parent as usize] = self.low[parent as usize].min(self.low[txn as usize]);
        }
        if self.low[txn as usize] != self.number[txn as usize] {
            return;
        }
        let component = self.result.len() as u32;
        while let Some(member) = self.open.pop() {
            self.result.of[member as usize] = component;
            self.result.order.push(member);
            if member == txn {
                break;
            }
        }
        self.result.start.push(self.result.order.len() as u32);
    }
}
