//! The axioms at the causally extensible levels, as edges that a read asks of the commit order.
//!
//! If t3 reads x from t1, every other writer t2 of x that t3 has seen must commit before t1. What
//! *seen* means depends on the level of t3: at read committed what it read from before, at read
//! atomic also its session, at causal consistency its whole causal past. As a read may make t3 see
//! more, reads before it ask for edges again: from what is seen now to what they read from. No
//! transaction reads from a pending one, so its edges are all that a read adds.

use crate::closure::Closure;
use crate::ordered::Ordered;
use crate::txn_set::{INITIAL, Id, TxnSet};
use seriatim_isolation::Level;

/// A pending transaction as the axioms see it.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub id: Id,
    pub level: Level,
    /// Its causal past.
    pub past: TxnSet,
    /// Session order and reads: what directly precedes it.
    direct: TxnSet,
    /// What it read from.
    sources: TxnSet,
    /// Keys and sources of its reads.
    reads: Vec<(u32, Id)>,
    /// What they ask for.
    pub edges: Vec<(Id, Id)>,
    pub closure: Closure,
}

impl Reader {
    /// A transaction that begins where `closure` holds.
    pub fn begin<V: Clone + Default, L>(
        ordered: &Ordered<V, L>,
        id: Id,
        level: Level,
        mut closure: Closure,
    ) -> Reader {
        let previous = ordered.previous(id);
        closure.begin(id, previous);
        Reader {
            id,
            level,
            past: previous.map_or(TxnSet::NONE, |previous| ordered.past(previous).with(previous)),
            direct: ordered.session_past(id),
            sources: TxnSet::NONE,
            reads: Vec::new(),
            edges: Vec::new(),
            closure,
        }
    }

    /// Whether reading `key` from `source` keeps the history consistent.
    pub fn may_read<V: Clone + Default, L>(
        &self,
        ordered: &Ordered<V, L>,
        key: u32,
        source: Id,
    ) -> bool {
        let mut edges = Vec::new();
        if !self.demand(ordered, key, source, &mut edges) {
            return false;
        }
        if edges.is_empty() {
            return true;
        }
        let mut closure = self.closure.clone();
        closure.read_from(self.id, source);
        closure.add_all(&edges)
    }

    /// Reads `key` from `source`; false if that makes the history inconsistent.
    pub fn read<V: Clone + Default, L>(
        &mut self,
        ordered: &Ordered<V, L>,
        key: u32,
        source: Id,
    ) -> bool {
        let first = self.edges.len();
        let mut edges = std::mem::take(&mut self.edges);
        let possible = self.demand(ordered, key, source, &mut edges);
        self.edges = edges;
        self.reads.push((key, source));
        self.closure.read_from(self.id, source);
        if source != INITIAL {
            self.sources = self.sources.with(source);
            self.direct = self.direct.with(source);
            self.past = self.past.union(ordered.past(source)).with(source);
        }
        possible && self.closure.add_all(&self.edges[first..])
    }

    /// The edges that reading `key` from `source` asks for; false if no order can give them.
    fn demand<V: Clone + Default, L>(
        &self,
        ordered: &Ordered<V, L>,
        key: u32,
        source: Id,
        edges: &mut Vec<(Id, Id)>,
    ) -> bool {
        let (seen, new) = match self.level {
            // Cut isolation asks nothing of an order.
            Level::Unconstrained | Level::CutIsolation => return true,
            Level::ReadCommitted => (self.sources, TxnSet::NONE),
            Level::ReadAtomic => (self.direct, seen_by_reading(source).difference(self.direct)),
            // The strong levels ask for no less; `valid` asks for the rest.
            _ => (
                self.past,
                ordered_past(ordered, source).union(seen_by_reading(source)).difference(self.past),
            ),
        };
        if !ask(ordered.writers(key).intersection(seen), source, edges) {
            return false;
        }
        new.is_empty()
            || self
                .reads
                .iter()
                .all(|&(key, source)| ask(ordered.writers(key).intersection(new), source, edges))
    }
}

/// The initial transaction is seen by all from the beginning.
fn seen_by_reading(source: Id) -> TxnSet {
    if source == INITIAL { TxnSet::NONE } else { TxnSet::one(source) }
}

fn ordered_past<V: Clone + Default, L>(ordered: &Ordered<V, L>, source: Id) -> TxnSet {
    if source == INITIAL { TxnSet::NONE } else { ordered.past(source) }
}

/// All `writers` but `source` itself must commit before it; nothing commits before the initial
/// transaction.
fn ask(writers: TxnSet, source: Id, edges: &mut Vec<(Id, Id)>) -> bool {
    if source == INITIAL {
        return writers.is_empty();
    }
    edges.extend(writers.without(source).iter().map(|writer| (writer, source)));
    true
}
