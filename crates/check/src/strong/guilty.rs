//! Which transactions a contradiction needs: those on the paths that it speaks of, and on the paths
//! behind every forced edge there.
//!
//! Of a run along one session only the ends are needed: session order leads from one to the other
//! without those between them. An edge that a list shows needs the reader of the list; a
//! transaction of unknown outcome needs a reader of what it wrote, because it counts only then.

use super::contradiction::{Against, Contradiction, Excluded, OpenRead, Reason, Side};
use super::facts::Facts;
use super::ids::{AmbiguousId, PointId, SlotId};
use super::point_graph::PointGraph;
use super::reach::Reach;
use super::sources::Sources;
use super::timeline::Arc;
use crate::index::read_from;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{OpId, Status, TxnId};
use std::collections::VecDeque;

/// What the rounds found out.
pub(crate) struct Knowledge<'a> {
    pub reach: Option<&'a Reach>,
    pub reasons: &'a [Reason],
    pub fixed: &'a Sources,
}

/// The transactions that a contradiction needs.
pub(crate) fn transactions(
    facts: &Facts<'_>,
    graph: &PointGraph,
    knowledge: &Knowledge<'_>,
    found: &Contradiction,
) -> Vec<TxnId> {
    let mut guilty = Guilty {
        facts,
        graph,
        reach: knowledge.reach,
        reasons: knowledge.reasons,
        fixed: knowledge.fixed,
        listed: listed(facts, graph),
        explained: FxHashSet::default(),
        todo: Vec::new(),
        txns: FxHashSet::default(),
    };
    guilty.contradiction(found);
    guilty.close();
    guilty.add_witnesses();
    let mut txns: Vec<TxnId> = guilty.txns.into_iter().collect();
    txns.sort_unstable();
    txns
}

struct Guilty<'a> {
    facts: &'a Facts<'a>,
    graph: &'a PointGraph,
    reach: Option<&'a Reach>,
    reasons: &'a [Reason],
    fixed: &'a Sources,
    /// The edges that lists show, with the reads of the lists.
    listed: FxHashMap<Arc, OpId>,
    explained: FxHashSet<u32>,
    /// Reasons whose paths are still to be found.
    todo: Vec<u32>,
    txns: FxHashSet<TxnId>,
}

impl Guilty<'_> {
    fn contradiction(&mut self, found: &Contradiction) {
        let (timeline, known) = (self.graph.timeline, self.graph.forced.len() as u32);
        match found {
            Contradiction::Cycle(points) => {
                for pair in 0..points.len() {
                    self.step(points[pair], points[(pair + 1) % points.len()], known);
                }
            }
            &Contradiction::StaleInitial { reader, writer, read } => {
                self.txns.extend([reader, writer]);
                self.matched(read);
                self.path(timeline.commit(writer), timeline.begin(reader), known);
            }
            &Contradiction::NeitherOrder { first, second, against: [forward, backward] } => {
                self.against(first, second, forward, known);
                self.against(second, first, backward, known);
            }
            Contradiction::NoSource { read, excluded } => self.no_source(*read, excluded, known),
            Contradiction::Exhausted { txns, open, matched } => {
                self.txns.extend(txns);
                for open in open {
                    self.no_source(open.read, &open.excluded, known);
                }
                for &read in matched {
                    self.matched(Some(read));
                }
                let inside: Vec<u32> = (0..self.graph.forced.len() as u32)
                    .filter(|&edge| self.is_inside(edge))
                    .collect();
                for edge in inside {
                    self.explain(self.graph.forced[edge as usize].reason);
                }
            }
        }
    }

    fn is_inside(&self, edge: u32) -> bool {
        let (from, to) = self.graph.forced[edge as usize].arc;
        let inside = |point: PointId| {
            self.graph.is_of_txn(point) && self.txns.contains(&self.graph.timeline.txn(point))
        };
        inside(from) && inside(to)
    }

    fn explain(&mut self, reason: u32) {
        if self.explained.insert(reason) {
            self.todo.push(reason);
        }
    }

    fn close(&mut self) {
        let reasons = self.reasons;
        while let Some(reason) = self.todo.pop() {
            match &reasons[reason as usize] {
                Reason::Initial { reader, writer, read } => {
                    self.txns.extend([*reader, *writer]);
                    self.matched(*read);
                }
                Reason::Replaced { read, order } => {
                    self.matched(Some(*read));
                    self.explain(*order);
                }
                Reason::Order { earlier, later, against, known } => {
                    self.against(*later, *earlier, *against, *known)
                }
                Reason::Bound { open, point, side, known } => {
                    self.bound(open, *point, *side, *known)
                }
                Reason::Match { read, excluded, known } => self.no_source(*read, excluded, *known),
            }
        }
    }

    /// `a` cannot have written before `b`.
    fn against(&mut self, a: TxnId, b: TxnId, against: Against, known: u32) {
        let timeline = self.graph.timeline;
        self.txns.extend([a, b]);
        let (from, to) = match against {
            Against::Writers => timeline.write_write(a, b),
            Against::Reader(reader) => {
                self.txns.insert(reader);
                timeline.read_write(reader, b)
            }
            Against::Matched(read) => {
                self.matched(Some(read));
                timeline.read_write(self.facts.read(read).reader, b)
            }
        };
        self.path(to, from, known);
    }

    /// `point` is on this side of all candidates.
    fn bound(&mut self, open: &OpenRead, point: PointId, side: Side, known: u32) {
        self.no_source(open.read, &open.excluded, known);
        for writer in open.candidates.iter().filter_map(|&slot| self.facts.writer(slot)) {
            let commit = self.graph.timeline.commit(writer);
            match side {
                Side::Before => self.path(point, commit, known),
                Side::After => self.path(commit, point, known),
            }
        }
    }

    fn no_source(&mut self, read: AmbiguousId, excluded: &[(SlotId, Excluded)], known: u32) {
        let timeline = self.graph.timeline;
        let read = self.facts.read(read);
        self.txns.insert(read.reader);
        self.txns.extend(self.facts.candidates(read).filter_map(|slot| self.facts.writer(slot)));
        for &(slot, why) in excluded {
            let writer = self.facts.writer(slot);
            match (why, writer) {
                (Excluded::Future, Some(writer)) => {
                    self.path(timeline.begin(read.reader), timeline.commit(writer), known)
                }
                (Excluded::ReplacedBy(other), writer) => {
                    self.txns.insert(other);
                    self.path(timeline.commit(other), timeline.begin(read.reader), known);
                    if let Some(writer) = writer {
                        self.path(timeline.commit(writer), timeline.commit(other), known);
                    }
                }
                (Excluded::NotAfter(other, against), Some(writer)) => {
                    self.path(timeline.commit(other), timeline.begin(read.reader), known);
                    self.against(other, writer, against, known);
                }
                (Excluded::Future | Excluded::NotAfter(..), None) => {}
            }
        }
    }

    /// What an ambiguous read was matched with has its own reason.
    fn matched(&mut self, read: Option<AmbiguousId>) {
        if let Some(reason) = read.and_then(|read| self.fixed.reason(read)) {
            self.explain(reason);
        }
    }

    /// A shortest path along edges of which the first `known` forced ones may be used.
    fn path(&mut self, from: PointId, to: PointId, known: u32) {
        let mut before: FxHashMap<PointId, PointId> = FxHashMap::default();
        let mut queue = VecDeque::from([to]);
        before.insert(to, to);
        while let Some(point) = queue.pop_front() {
            if point == from {
                break;
            }
            let forced = self.graph.forced_into(point).filter(|&edge| edge < known);
            let forced = forced.map(|edge| self.graph.forced[edge as usize].arc.0);
            for earlier in self.graph.sources(point).iter().copied().chain(forced) {
                // Only what the start reaches can be on the way.
                let useful =
                    earlier == from || self.reach.is_none_or(|reach| reach.reaches(from, earlier));
                if useful && !before.contains_key(&earlier) {
                    before.insert(earlier, point);
                    queue.push_back(earlier);
                }
            }
        }
        self.add_point(from);
        self.add_point(to);
        let mut point = from;
        while point != to {
            let Some(&next) = before.get(&point) else { return };
            self.step(point, next, known);
            point = next;
        }
    }

    fn add_point(&mut self, point: PointId) {
        if self.graph.is_of_txn(point) {
            self.txns.insert(self.graph.timeline.txn(point));
        }
    }

    /// An edge of a path or a cycle. Those along a session lead from the edge before them to the
    /// one after them.
    fn step(&mut self, from: PointId, to: PointId, known: u32) {
        if !self.is_along_session(from, to) {
            self.edge(from, to, known);
        }
    }

    fn is_along_session(&self, from: PointId, to: PointId) -> bool {
        if !self.graph.is_of_txn(from.max(to)) {
            return false;
        }
        let (a, b) = (self.graph.timeline.txn(from), self.graph.timeline.txn(to));
        let session = |txn: TxnId| self.facts.session(txn);
        a <= b && session(a) == session(b) && self.graph.sources(to).contains(&from)
    }

    fn edge(&mut self, from: PointId, to: PointId, known: u32) {
        self.add_point(from);
        self.add_point(to);
        if self.graph.sources(to).contains(&from) {
            if let Some(&read) = self.listed.get(&(from, to)) {
                self.txns.insert(self.facts.history.txn_of(read));
                // Without the last element the read is not a part of the part.
                self.txns.extend(self.facts.index.source_of(read).txn());
            }
            return;
        }
        let mut forced = self.graph.forced_into(to).filter(|&edge| edge < known);
        if let Some(edge) = forced.find(|&edge| self.graph.forced[edge as usize].arc.0 == from) {
            self.explain(self.graph.forced[edge as usize].reason);
        }
    }
}

impl Guilty<'_> {
    /// Adds the readers of the transactions of unknown outcome, and of those of the readers that
    /// are unknown themselves.
    fn add_witnesses(&mut self) {
        let history = self.facts.history;
        let is_unknown = |txn: &TxnId| history.status(*txn) == Status::Unknown;
        let mut waiting: Vec<TxnId> = self.txns.iter().copied().filter(is_unknown).collect();
        if waiting.is_empty() {
            return;
        }
        let witnesses = witnesses(self.facts);
        while let Some(unknown) = waiting.pop() {
            let Some(&reader) = witnesses.get(&unknown) else { continue };
            // A list is read as a whole: it needs the append of its last element too.
            let beside = if history.has_lists() { sources(self.facts, reader) } else { Vec::new() };
            for txn in beside.into_iter().chain([reader]) {
                if self.txns.insert(txn) && is_unknown(&txn) {
                    waiting.push(txn);
                }
            }
        }
    }
}

/// The edges that lists show, with the reads of the lists.
fn listed(facts: &Facts<'_>, graph: &PointGraph) -> FxHashMap<Arc, OpId> {
    let edges = &facts.index.lists.version_edges;
    edges.iter().map(|edge| (graph.timeline.write_write(edge.from, edge.to), edge.read)).collect()
}

/// The transactions that a transaction read from.
fn sources(facts: &Facts<'_>, reader: TxnId) -> Vec<TxnId> {
    facts.index.sources_of(facts.history, reader).collect()
}

/// For each transaction of unknown outcome that counts one that read from it and counts without it.
fn witnesses(facts: &Facts<'_>) -> FxHashMap<TxnId, TxnId> {
    let is_unknown = |txn: TxnId| facts.history.status(txn) == Status::Unknown;
    let mut shown: FxHashMap<TxnId, Vec<TxnId>> = FxHashMap::default();
    for (reader, writer) in read_from(facts.history).into_iter().filter(|pair| is_unknown(pair.1)) {
        shown.entry(reader).or_default().push(writer);
    }
    let committed =
        facts.history.txns().filter(|&txn| facts.history.status(txn) == Status::Committed);
    let mut readers: VecDeque<TxnId> = committed.collect();
    let mut witnesses: FxHashMap<TxnId, TxnId> = FxHashMap::default();
    while let Some(reader) = readers.pop_front() {
        let listed = shown.get(&reader).into_iter().flatten().copied();
        for writer in
            sources(facts, reader).into_iter().chain(listed).filter(|&writer| is_unknown(writer))
        {
            witnesses.entry(writer).or_insert_with(|| {
                readers.push_back(writer);
                reader
            });
        }
    }
    witnesses
}

/// The points of a cycle among those that are not in `order`, which is a topological order as far
/// as there is one.
pub(crate) fn cycle(graph: &PointGraph, order: &[PointId]) -> Vec<PointId> {
    let mut left = graph.present.clone();
    for &point in order {
        left[point.index()] = false;
    }
    let Some(start) = left.iter().position(|left| *left) else { return Vec::new() };
    // Everything that is left has a predecessor that is left: walking backwards must come round.
    let mut seen: FxHashMap<PointId, usize> = FxHashMap::default();
    let mut walk = vec![PointId(start as u32)];
    loop {
        let point = walk[walk.len() - 1];
        if let Some(&first) = seen.get(&point) {
            walk.pop();
            let mut cycle = walk.split_off(first);
            cycle.reverse();
            return cycle;
        }
        seen.insert(point, walk.len() - 1);
        match graph.predecessors(point).find(|&earlier| left[earlier.index()]) {
            Some(earlier) => walk.push(earlier),
            None => return Vec::new(),
        }
    }
}
