//! The cycle of dependencies because of which a behaviour is not serializable, found quickly:
//! counterexamples are grouped by it.
//!
//! Starting from session order and reads, what every serial order must respect is added until a
//! cycle closes. If t3 reads x from t1 and t2 writes x as well, then t2 before t3 puts t2 before t1
//! (ww), and t1 before t2 puts t3 before t2 (rw). That decides most behaviours; those that need a
//! case distinction are left to the checker.

use crate::ordered::Ordered;
use crate::program::{Local, Value};
use crate::txn_set::{INITIAL, Id, TxnSet};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Why one transaction comes before another; with the key, where there is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Label {
    Session,
    WriteRead(u32),
    WriteWrite(u32),
    ReadWrite(u32),
}

/// An edge of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Edge {
    pub from: Id,
    pub to: Id,
    pub label: Label,
}

/// What every serial order must respect.
struct Graph {
    edges: Vec<Edge>,
    known: FxHashSet<Edge>,
    /// By transaction: all that must come before it.
    before: Vec<TxnSet>,
}

impl Graph {
    /// Adds an edge; the cycle that it closes, if it does. Edges that follow from others with the
    /// same ends are kept: they may make a shorter cycle.
    fn add(&mut self, edge: Edge) -> Option<Vec<Edge>> {
        if !self.known.insert(edge) {
            return None;
        }
        self.edges.push(edge);
        if edge.from == edge.to || self.before[usize::from(edge.from)].has(edge.to) {
            let mut cycle = self.shortest(edge.to, edge.from);
            cycle.push(edge);
            return Some(cycle);
        }
        let new = self.before[usize::from(edge.from)].with(edge.from);
        for (id, before) in self.before.iter_mut().enumerate() {
            if id == usize::from(edge.to) || before.has(edge.to) {
                *before = before.union(new);
            }
        }
        None
    }

    /// The shortest path between two transactions.
    fn shortest(&self, from: Id, to: Id) -> Vec<Edge> {
        let mut came: Vec<Option<Edge>> = vec![None; self.before.len()];
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for &edge in self.edges.iter().filter(|edge| edge.from == at) {
                if edge.to != from && came[usize::from(edge.to)].is_none() {
                    came[usize::from(edge.to)] = Some(edge);
                    open.push_back(edge.to);
                }
            }
        }
        let (mut path, mut at) = (Vec::new(), to);
        while at != from
            && let Some(edge) = came[usize::from(at)]
        {
            path.push(edge);
            at = edge.from;
        }
        path.reverse();
        path
    }
}

/// A cycle of a behaviour, from its first transaction on; `None` if none was found, which proves
/// nothing.
pub(crate) fn find<V: Value, L: Local>(history: &Ordered<V, L>) -> Option<Vec<Edge>> {
    let mut records: Vec<_> = history.order().to_vec();
    // By name: the same cycle is found first, however the behaviour was come to.
    records.sort_by_key(|record| (record.session, record.index));
    let size = records.iter().map(|record| usize::from(record.id) + 1).max()?;
    let mut graph =
        Graph { edges: Vec::new(), known: FxHashSet::default(), before: vec![TxnSet::NONE; size] };
    for record in &records {
        let previous = history.previous(record.id).map(|from| (from, Label::Session));
        let sources = record.reads.iter().filter(|read| read.source != INITIAL);
        let reads = sources.map(|read| (read.source, Label::WriteRead(read.key)));
        for (from, label) in previous.into_iter().chain(reads) {
            graph.add(Edge { from, to: record.id, label });
        }
    }
    loop {
        let count = graph.edges.len();
        for record in &records {
            for read in &record.reads {
                for writer in sorted(history, history.writers(read.key).without(record.id)) {
                    if let Some(cycle) = infer(&mut graph, record.id, read.key, read.source, writer)
                    {
                        return Some(rotated(history, cycle));
                    }
                }
            }
        }
        if graph.edges.len() == count {
            return None;
        }
    }
}

fn sorted<V: Value, L: Local>(history: &Ordered<V, L>, ids: TxnSet) -> Vec<Id> {
    let mut ids: Vec<Id> = ids.iter().collect();
    ids.sort_by_key(|&id| history.name(id));
    ids
}

/// What follows for another writer of a key that `reader` read from `source`.
fn infer(graph: &mut Graph, reader: Id, key: u32, source: Id, writer: Id) -> Option<Vec<Edge>> {
    if writer == source {
        return None;
    }
    if source == INITIAL || graph.before[usize::from(writer)].has(source) {
        return graph.add(Edge { from: reader, to: writer, label: Label::ReadWrite(key) });
    }
    if graph.before[usize::from(reader)].has(writer) {
        return graph.add(Edge { from: writer, to: source, label: Label::WriteWrite(key) });
    }
    None
}

/// The cycle from its smallest transaction on.
fn rotated<V: Value, L: Local>(history: &Ordered<V, L>, mut cycle: Vec<Edge>) -> Vec<Edge> {
    let first = (0..cycle.len()).min_by_key(|&at| history.name(cycle[at].from)).unwrap_or_default();
    cycle.rotate_left(first);
    cycle
}
