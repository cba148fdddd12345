//! From findings to explanations: the shortest cycle through an edge, each step with its reason,
//! names and places.
//!
//! Paths are searched backwards along predecessors with a 0-1 breadth-first search, in which any
//! number of consecutive steps along a session counts as one (session order is transitive, so a
//! person needs to see only its ends).

use super::context::Context;
use super::edges::{Edges, Inferred};
use super::graph::Components;
use crate::index::{Fault, Source, Unrepeated, VersionEdge, last_write};
use crate::outcome::{Edge, Element, OpRef, Origin, Reason, Refs, TxnRef, Violation};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, TxnId, Value, ValueKind, list_of_others};
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use std::collections::VecDeque;

/// Makes explanations of one history.
pub(crate) struct Explainer<'a> {
    pub context: &'a Context<'a>,
    /// The place of each transaction in the base order.
    pub position: &'a [u32],
    /// How many transactions one search may look at before it gives up.
    pub search_limit: usize,
}

/// A step of a path, from an earlier transaction to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Session,
    /// The operation of the later transaction that read from the earlier one.
    Read(OpId),
    /// The read that the edge was inferred from.
    Inferred(OpId),
}

/// A path of transactions; `steps[i]` leads from `txns[i]` to `txns[i+1]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub txns: Vec<TxnId>,
    pub steps: Vec<Step>,
}

/// What a path may use besides session order and reads, and where it may go.
#[derive(Clone, Copy)]
pub(crate) enum Terrain<'a> {
    /// Session order and reads only.
    Causal,
    /// Inside the component of the start, with these inferred edges.
    Component(&'a Components, &'a Edges),
}

/// A transaction and whether it was reached by a step along its session.
type Reached = (TxnId, bool);

impl<'a> Explainer<'a> {
    fn history(&self) -> &'a History {
        self.context.history
    }

    /// The path with the fewest steps from `from` to `to`, of at least one step; `None` also if the
    /// search gives up.
    pub fn path(&self, from: TxnId, to: TxnId, terrain: Terrain<'_>) -> Option<Path> {
        let mut reached: FxHashMap<Reached, Option<(Reached, Step)>> = FxHashMap::default();
        let mut queue: VecDeque<(Reached, Option<(Reached, Step)>)> =
            VecDeque::from([((to, false), None)]);
        while let Some((state, origin)) = queue.pop_front() {
            if reached.contains_key(&state) {
                continue;
            }
            let first = origin.is_none();
            // The start is not marked, so that a cycle can come back to it.
            if !first {
                reached.insert(state, origin);
            }
            if state.0 == from && !first {
                return Some(unwind(&reached, state, to));
            }
            if reached.len() > self.search_limit {
                return None;
            }
            self.push_predecessors(state, from, terrain, &mut queue);
        }
        None
    }

    fn push_predecessors(
        &self,
        (txn, along_session): Reached,
        from: TxnId,
        terrain: Terrain<'_>,
        queue: &mut VecDeque<(Reached, Option<(Reached, Step)>)>,
    ) {
        // The base order extends causality: no path from `from` leads in front of it.
        let allowed = |earlier: TxnId| match terrain {
            Terrain::Causal => self.position[earlier.index()] >= self.position[from.index()],
            Terrain::Component(components, _) => components.together(earlier, from),
        };
        let previous = self.context.index.session_predecessor(self.history(), txn);
        if let Some(previous) = previous.filter(|&earlier| allowed(earlier)) {
            let item = ((previous, true), Some(((txn, along_session), Step::Session)));
            if along_session { queue.push_front(item) } else { queue.push_back(item) }
        }
        for op in self.history().ops_of(txn).map(OpId) {
            let source = self.context.index.source_of(op).txn();
            if let Some(source) = source.filter(|&source| allowed(source)) {
                queue.push_back(((source, false), Some(((txn, along_session), Step::Read(op)))));
            }
        }
        if let Terrain::Component(_, edges) = terrain {
            for edge in edges.into(txn).iter().filter(|edge| allowed(edge.from)) {
                queue.push_back((
                    (edge.from, false),
                    Some(((txn, along_session), Step::Inferred(edge.read))),
                ));
            }
        }
    }

    /// The violation that an inferred edge shows: `from` must precede `to`, but a path leads from
    /// `to` to `from`.
    pub fn edge_violation(
        &self,
        kind: Anomaly,
        level: Level,
        edge: Inferred,
        terrain: Terrain<'_>,
    ) -> Option<Violation> {
        let mut cycle = match edge.to.txn() {
            Some(to) => self.edges_of(&self.path(to, edge.from, terrain)?, level)?,
            None => {
                let (from, to) = (self.initial_ref(), self.txn_ref(edge.from));
                vec![Edge { from, to, reason: Reason::Initial }]
            }
        };
        cycle.push(self.inferred_edge(edge, level)?);
        Some(Violation::new(kind, ops_of(&cycle), cycle))
    }

    /// The same without the search for the cycle: the read, the write that it returned, and the
    /// write that it missed.
    pub fn edge_named(&self, kind: Anomaly, edge: Inferred) -> Option<Violation> {
        let key = self.history().op(edge.read).key;
        let source = self.source_write(edge.to, key)?;
        let ops =
            vec![source, self.op_ref(self.last_write(edge.from, key)?), self.op_ref(edge.read)];
        Some(Violation::new(kind, ops, Vec::new()))
    }

    /// The violation of a list that lacks an append: a path leads from there to an append that the
    /// list has.
    pub fn lost_element(
        &self,
        kind: Anomaly,
        edge: &VersionEdge,
        terrain: Terrain<'_>,
    ) -> Option<Violation> {
        let path = self.path(edge.to, edge.from, terrain)?;
        let mut cycle = self.edges_of(&path, Level::ReadCommitted)?;
        let (from, to) = (self.txn_ref(edge.from), self.txn_ref(edge.to));
        cycle.push(Edge { from, to, reason: self.version_reason(edge) });
        Some(Violation::new(kind, ops_of(&cycle), cycle))
    }

    /// A cycle of session order, reads and known version orders inside a component.
    pub fn cycle_violation(
        &self,
        kind: Anomaly,
        components: &Components,
        edges: &Edges,
        member: TxnId,
    ) -> Option<Violation> {
        let path = self.path(member, member, Terrain::Component(components, edges))?;
        let cycle = self.edges_of(&path, Level::ReadCommitted)?;
        Some(Violation::new(kind, ops_of(&cycle), cycle))
    }

    fn edges_of(&self, path: &Path, level: Level) -> Option<Vec<Edge>> {
        let ends = path.txns.windows(2);
        ends.zip(&path.steps)
            .map(|(ends, step)| self.edge(ends[0], ends[1], *step, level))
            .collect()
    }

    fn edge(&self, from: TxnId, to: TxnId, step: Step, level: Level) -> Option<Edge> {
        let reason = match step {
            Step::Session => Reason::SessionOrder,
            Step::Read(read) => {
                let key = self.history().op(read).key;
                let write = self.op_ref(self.last_write(from, key)?);
                Reason::WriteRead { write, read: self.op_ref(read), origin: Origin::Only }
            }
            Step::Inferred(read) => {
                return self.inferred_edge(Inferred::new(from, to, read), level);
            }
        };
        Some(Edge { from: self.txn_ref(from), to: self.txn_ref(to), reason })
    }

    /// The edge with its reason: a version order that a list shows, or the axiom of the level.
    fn inferred_edge(&self, edge: Inferred, level: Level) -> Option<Edge> {
        let to = edge.to.txn().map_or_else(|| self.initial_ref(), |to| self.txn_ref(to));
        let from = self.txn_ref(edge.from);
        if let Some(reason) = self.version_order(edge) {
            return Some(Edge { from, to, reason });
        }
        let key = self.history().op(edge.read).key;
        let source = self.source_write(edge.to, key)?;
        let reader = self.history().txn_of(edge.read);
        let visible = self.visibility(edge.from, reader, edge.read, level)?;
        let other = self.op_ref(self.last_write(edge.from, key)?);
        let reason = Reason::Overwritten { read: self.op_ref(edge.read), source, other, visible };
        Some(Edge { from, to, reason })
    }

    fn version_order(&self, edge: Inferred) -> Option<Reason> {
        let known = &self.context.index.lists.version_edges;
        let found = known.iter().find(|k| Inferred::new(k.from, k.to, k.read) == edge)?;
        Some(self.version_reason(found))
    }

    fn version_reason(&self, edge: &VersionEdge) -> Reason {
        Reason::VersionOrder {
            earlier: self.op_ref(edge.earlier),
            later: self.op_ref(edge.later),
            read: self.op_ref(edge.read),
        }
    }

    /// How `writer` is visible to `reader` at `level`, for its operation `read`.
    fn visibility(
        &self,
        writer: TxnId,
        reader: TxnId,
        read: OpId,
        level: Level,
    ) -> Option<Vec<Edge>> {
        let ops = self.history().ops_of(reader);
        let index = self.context.index;
        let mut before =
            if level == Level::ReadCommitted { ops.start..read.0 } else { ops }.map(OpId);
        if let Some(op) = before.find(|&op| index.source_of(op) == writer.into()) {
            return Some(vec![self.edge(writer, reader, Step::Read(op), level)?]);
        }
        if level != Level::ReadCommitted
            && index.session_of(writer) == index.session_of(reader)
            && writer < reader
        {
            return Some(vec![self.edge(writer, reader, Step::Session, level)?]);
        }
        self.edges_of(&self.path(writer, reader, Terrain::Causal)?, level)
    }

    /// A read that is wrong by itself.
    pub fn fault_violation(&self, fault: &Fault) -> Violation {
        let mut ops: Vec<OpRef> = fault.ops.iter().map(|&op| self.op_ref(op)).collect();
        if let (Anomaly::ThinAirRead, [read]) = (fault.kind, ops.as_mut_slice()) {
            read.element = self.element_to_blame(fault);
        }
        Violation::new(fault.kind, ops, Vec::new())
    }

    /// The element of a list that was not appended.
    fn element_to_blame(&self, fault: &Fault) -> Option<Element> {
        let ValueKind::List(number) = self.history().op(fault.reader()).value.kind() else {
            return None;
        };
        let list = self.history().list(number);
        let at = fault.element.map_or(list.len().checked_sub(1)?, |at| at as usize);
        Some(Element { position: at as u64 + 1, value: self.history().value_text(*list.get(at)?) })
    }

    /// Two reads of one key with different values.
    pub fn unrepeated_violation(&self, pair: Unrepeated) -> Violation {
        let mut ops = vec![self.op_ref(pair.first), self.op_ref(pair.second)];
        for read in [pair.first, pair.second] {
            let key = self.history().op(read).key;
            ops.extend(self.source_write(self.context.index.source_of(read), key));
        }
        let own = self.own_appends(pair);
        for append in self.first_difference(pair, &own).into_iter().chain(own) {
            if !ops.iter().any(|op| op.id == Some(append)) {
                ops.push(self.op_ref(append));
            }
        }
        Violation::new(Anomaly::NonRepeatableRead, ops, Vec::new())
    }

    /// What the transaction of two reads of a key appended to it in between.
    fn own_appends(&self, pair: Unrepeated) -> Vec<OpId> {
        let key = self.history().op(pair.first).key;
        let is_own = |op: &OpId| {
            let op = self.history().op(*op);
            op.kind.is_write() && op.key == key
        };
        (pair.first.0..pair.second.0).map(OpId).filter(is_own).collect()
    }

    /// The appends of the first elements in which two lists differ, without `own` appends in the
    /// second; lists without these elements would show nothing.
    fn first_difference(&self, pair: Unrepeated, own: &[OpId]) -> Vec<OpId> {
        let history = self.history();
        let list = |read: OpId| match history.op(read).value.kind() {
            ValueKind::List(number) => Some(history.list(number)),
            _ => None,
        };
        let (first, second) =
            (list(pair.first).unwrap_or_default(), list(pair.second).unwrap_or_default());
        let own: Vec<Value> = own.iter().map(|&op| history.op(op).value).collect();
        let second = list_of_others(second, &own);
        let Some(at) = (0..first.len().max(second.len())).find(|&i| first.get(i) != second.get(i))
        else {
            return vec![];
        };
        let differing = [first.get(at), second.get(at)];
        let key = history.op(pair.first).key;
        let appended = |value: &Value| {
            let is_it = |op: &OpId| {
                let op = history.op(*op);
                op.kind.is_write() && op.key == key && op.value == *value
            };
            (0..history.op_count()).map(OpId::from).find(is_it)
        };
        differing.into_iter().flatten().filter_map(appended).collect()
    }

    /// The last write of `txn` to `key`.
    fn last_write(&self, txn: TxnId, key: KeyId) -> Option<OpId> {
        last_write(self.history(), txn, key)
    }

    /// The write to `key` of what was read from; none if that is not known.
    fn source_write(&self, source: Source, key: KeyId) -> Option<OpRef> {
        if source.is_initial() {
            return Some(self.initial_write(key));
        }
        self.last_write(source.txn()?, key).map(|write| self.op_ref(write))
    }

    fn refs(&self) -> Refs<'a> {
        Refs(self.history())
    }

    fn txn_ref(&self, txn: TxnId) -> TxnRef {
        self.refs().txn(txn)
    }

    fn initial_ref(&self) -> TxnRef {
        self.refs().initial()
    }

    fn op_ref(&self, op: OpId) -> OpRef {
        self.refs().op(op)
    }

    fn initial_write(&self, key: KeyId) -> OpRef {
        self.refs().initial_write(key)
    }
}

/// The path from `start` forwards to `end`, from the links of a backward search.
fn unwind(
    reached: &FxHashMap<Reached, Option<(Reached, Step)>>,
    start: Reached,
    end: TxnId,
) -> Path {
    let mut path = Path { txns: vec![start.0], steps: Vec::new() };
    let mut state = start;
    while let Some(Some((next, step))) = reached.get(&state) {
        if *step == Step::Session && path.steps.last() == Some(&Step::Session) {
            if let Some(last) = path.txns.last_mut() {
                *last = next.0;
            }
        } else {
            path.txns.push(next.0);
            path.steps.push(*step);
        }
        // The end has a link of its own if a cycle came back to it.
        if next.0 == end && !next.1 {
            break;
        }
        state = *next;
    }
    path
}

/// The operations behind the edges, each once. Both ends of a session-order edge are ends of other
/// edges too, so these operations alone show the whole cycle.
fn ops_of(cycle: &[Edge]) -> Vec<OpRef> {
    let mut ops = Vec::new();
    for edge in cycle {
        collect_ops(&edge.reason, &mut ops);
    }
    let mut seen = FxHashSet::default();
    ops.retain(|op| seen.insert((op.id, op.id.is_none().then(|| op.key.clone()))));
    ops
}

fn collect_ops(reason: &Reason, ops: &mut Vec<OpRef>) {
    match reason {
        // The last three are of strong levels only, whose explanations are made elsewhere.
        Reason::SessionOrder
        | Reason::Initial
        | Reason::RealTime { .. }
        | Reason::WriteWrite { .. }
        | Reason::ReadWrite { .. } => {}
        Reason::WriteRead { write, read, .. } => ops.extend([write.clone(), read.clone()]),
        Reason::Overwritten { read, source, other, visible } => {
            ops.extend([source.clone(), other.clone()]);
            for edge in visible {
                collect_ops(&edge.reason, ops);
            }
            ops.push(read.clone());
        }
        Reason::VersionOrder { earlier, later, read } => {
            ops.extend([earlier.clone(), later.clone(), read.clone()])
        }
    }
}
