//! Orders of transactions that extend session order, reads and further edges; and what to do when
//! none exists.
//!
//! The predecessors of a transaction lie side by side in the index (the sources of its reads, in
//! program order), so both searches below walk backwards along predecessors and need no adjacency
//! lists. Both are iterative: a session of a million transactions is a path of a million steps.

use super::edges::{Edges, positions};
use crate::index::Index;
use crate::parallel;
use seriatim_history::{History, TxnId};
use std::ops::Range;

/// The number of what has none yet.
const UNNUMBERED: u32 = u32::MAX;

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
    txn: TxnId,
    step: u32,
}

impl Graph<'_> {
    #[inline]
    fn session_predecessor(&self, txn: TxnId) -> Option<TxnId> {
        self.index.session_predecessor(self.history, txn)
    }

    /// The next predecessor at or after the cursor, which moves past it.
    #[inline]
    fn next_predecessor(&self, cursor: &mut Cursor) -> Option<TxnId> {
        let Range { start: first, end } = self.history.ops_of(cursor.txn);
        if cursor.step == 0 {
            cursor.step = 1;
            if let Some(previous) = self.session_predecessor(cursor.txn) {
                return Some(previous);
            }
        }
        while cursor.step - 1 < end - first {
            let source = self.index.source_txn[(first + cursor.step - 1) as usize];
            cursor.step += 1;
            if let Some(source) = source.txn() {
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
        let ranges = parallel::split_by_weight(self.history.txn_bounds(), threads.max(1));
        let fits = |txn: TxnId| {
            let place = position[txn.index()];
            let before = |earlier: TxnId| position[earlier.index()] < place;
            let mut sources = self.index.sources_of(self.history, txn);
            self.session_predecessor(txn).is_none_or(before) && sources.all(before)
        };
        let all_fit = |range: Range<usize>| {
            range.map(TxnId::from).filter(|txn| self.index.counts[txn.index()]).all(fits)
        };
        parallel::run(ranges, all_fit).into_iter().all(|fit| fit)
    }

    /// An order that extends session order and reads, near to `wish`; `None` if they have a cycle.
    pub fn causal_order(&self, wish: Vec<TxnId>, threads: usize) -> Option<Vec<TxnId>> {
        let position = positions(&wish, self.index.counts.len());
        if self.is_extended_by(&position, threads) { Some(wish) } else { self.topological(&wish) }
    }

    /// An order that extends the graph, near to `wish` (a permutation of the transactions that
    /// count): transactions move forward only as far as their successors need. `None` if the graph
    /// has a cycle. O(n).
    pub fn topological(&self, wish: &[TxnId]) -> Option<Vec<TxnId>> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.index.counts.len()];
        let mut order = Vec::with_capacity(wish.len());
        let mut path: Vec<Cursor> = Vec::new();
        for &root in wish {
            if state[root.index()] == DONE {
                continue;
            }
            state[root.index()] = OPEN;
            path.push(Cursor { txn: root, step: 0 });
            while let Some(cursor) = path.last_mut() {
                match self.next_predecessor(cursor) {
                    None => {
                        state[cursor.txn.index()] = DONE;
                        order.push(cursor.txn);
                        path.pop();
                    }
                    Some(next) if state[next.index()] == NEW => {
                        state[next.index()] = OPEN;
                        path.push(Cursor { txn: next, step: 0 });
                    }
                    Some(next) if state[next.index()] == OPEN => return None,
                    Some(_) => {}
                }
            }
        }
        Some(order)
    }

    /// The strongly connected components, in an order that extends the graph between them (Tarjan,
    /// iterative). O(n).
    pub fn components(&self, wish: &[TxnId]) -> Components {
        let txns = self.index.counts.len();
        let mut search = Tarjan {
            number: vec![UNNUMBERED; txns],
            low: vec![0; txns],
            open: Vec::new(),
            next: 0,
            result: Components {
                of: vec![UNNUMBERED; txns],
                order: Vec::with_capacity(wish.len()),
                start: vec![0],
            },
        };
        let mut path: Vec<Cursor> = Vec::new();
        for &root in wish {
            if search.number[root.index()] != UNNUMBERED {
                continue;
            }
            search.enter(root);
            path.push(Cursor { txn: root, step: 0 });
            while let Some(cursor) = path.last_mut() {
                let txn = cursor.txn;
                match self.next_predecessor(cursor) {
                    Some(next) if search.number[next.index()] == UNNUMBERED => {
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
    pub order: Vec<TxnId>,
    /// Component c is `order[start[c]..start[c+1]]`.
    pub start: Vec<u32>,
}

impl Components {
    /// The transactions of component `component`.
    pub fn members(&self, component: usize) -> &[TxnId] {
        &self.order[self.start[component] as usize..self.start[component + 1] as usize]
    }

    /// How many components there are.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The order of the components, the members of each by their numbers.
    pub fn by_number(&self) -> Vec<TxnId> {
        let mut order = self.order.clone();
        for component in self.start.windows(2) {
            order[component[0] as usize..component[1] as usize].sort_unstable();
        }
        order
    }

    /// Whether some component has more than one member. (No transaction reads from itself.)
    pub fn has_cycle(&self) -> bool {
        self.len() < self.order.len()
    }

    /// Whether two transactions are in one component.
    pub fn together(&self, a: TxnId, b: TxnId) -> bool {
        self.of[a.index()] == self.of[b.index()]
    }
}

struct Tarjan {
    number: Vec<u32>,
    low: Vec<u32>,
    open: Vec<TxnId>,
    next: u32,
    result: Components,
}

impl Tarjan {
    fn enter(&mut self, txn: TxnId) {
        self.number[txn.index()] = self.next;
        self.low[txn.index()] = self.next;
        self.next += 1;
        self.open.push(txn);
    }

    fn see(&mut self, txn: TxnId, next: TxnId) {
        // From a component that is complete the walk does not lead back to `txn`.
        if self.result.of[next.index()] == UNNUMBERED {
            self.low[txn.index()] = self.low[txn.index()].min(self.number[next.index()]);
        }
    }

    fn leave(&mut self, txn: TxnId, parent: Option<TxnId>) {
        if let Some(parent) = parent {
            self.low[parent.index()] = self.low[parent.index()].min(self.low[txn.index()]);
        }
        if self.low[txn.index()] != self.number[txn.index()] {
            return;
        }
        let component = self.result.len() as u32;
        while let Some(member) = self.open.pop() {
            self.result.of[member.index()] = component;
            self.result.order.push(member);
            if member == txn {
                break;
            }
        }
        self.result.start.push(self.result.order.len() as u32);
    }
}
