//! The known edges between points: session order, reads, real time, and what was found to be
//! forced.

use super::facts::{Facts, Lists};
use super::ids::PointId;
use super::mutation::{Rule, holds};
use super::timeline::{Arc, Timeline};
use seriatim_history::TxnId;
use seriatim_isolation::Guarantee;

pub(crate) const NO_EDGE: u32 = u32::MAX;

/// An edge that was found to be forced.
#[derive(Clone)]
pub(crate) struct Forced {
    pub arc: Arc,
    /// Index into the reasons of [`super::contradiction`].
    pub reason: u32,
    next_in: u32,
    next_out: u32,
}

/// The known edges, from both sides.
#[derive(Clone)]
pub(crate) struct PointGraph {
    pub timeline: Timeline,
    /// Points of transactions that do not count are not part of the graph.
    pub present: Vec<bool>,
    sources: Lists<PointId, PointId>,
    targets: Lists<PointId, PointId>,
    pub forced: Vec<Forced>,
    in_head: Vec<u32>,
    out_head: Vec<u32>,
    /// How many points belong to transactions; the points after them stand for moments of real
    /// time.
    txn_points: u32,
}

impl PointGraph {
    pub fn new(facts: &Facts<'_>, asked: Guarantee) -> PointGraph {
        let timeline = Timeline::of(asked.level);
        let txn_points = facts.history.txn_count() as u32 * timeline.points();
        let mut arcs = Vec::new();
        let mut present = vec![false; txn_points as usize];
        for txn in facts.history.txns().filter(|txn| facts.index.counts[txn.index()]) {
            present[timeline.begin(txn).index()] = true;
            present[timeline.commit(txn).index()] = true;
            txn_arcs(facts, timeline, txn, &mut arcs);
        }
        arcs.extend(
            facts
                .index
                .lists
                .version_edges
                .iter()
                .map(|edge| timeline.write_write(edge.from, edge.to)),
        );
        if asked.keeps_real_time() {
            real_time_arcs(facts, timeline, txn_points, &mut present, &mut arcs);
        }
        PointGraph::from_arcs(timeline, present, txn_points, &arcs)
    }

    fn from_arcs(
        timeline: Timeline,
        present: Vec<bool>,
        txn_points: u32,
        arcs: &[Arc],
    ) -> PointGraph {
        let points = present.len();
        PointGraph {
            timeline,
            present,
            sources: Lists::new(points, arcs.iter().map(|&(from, to)| (to, from))),
            targets: Lists::new(points, arcs.iter().copied()),
            forced: Vec::new(),
            in_head: vec![NO_EDGE; points],
            out_head: vec![NO_EDGE; points],
            txn_points,
        }
    }

    /// Whether `point` belongs to a transaction, and is no moment of real time.
    #[inline]
    pub fn is_of_txn(&self, point: PointId) -> bool {
        point.0 < self.txn_points
    }

    /// Whether there are moments of real time.
    pub fn has_moments(&self) -> bool {
        self.points() > self.txn_points as usize
    }

    pub fn points(&self) -> usize {
        self.present.len()
    }

    pub fn add(&mut self, arc: Arc, reason: u32) {
        let number = self.forced.len() as u32;
        let (from, to) = (arc.0.index(), arc.1.index());
        self.forced.push(Forced {
            arc,
            reason,
            next_in: self.in_head[to],
            next_out: self.out_head[from],
        });
        self.in_head[to] = number;
        self.out_head[from] = number;
    }

    /// Removes the forced edges but the first `known`, and returns them in their order with their
    /// reasons.
    pub fn take_back(&mut self, known: usize) -> Vec<(Arc, u32)> {
        let newer = self.forced.split_off(known);
        for edge in newer.iter().rev() {
            self.in_head[edge.arc.1.index()] = edge.next_in;
            self.out_head[edge.arc.0.index()] = edge.next_out;
        }
        newer.into_iter().map(|edge| (edge.arc, edge.reason)).collect()
    }

    /// The static edges into `point`.
    #[inline]
    pub fn sources(&self, point: PointId) -> &[PointId] {
        self.sources.of(point)
    }

    /// The static edges out of `point`.
    #[inline]
    pub fn targets(&self, point: PointId) -> &[PointId] {
        self.targets.of(point)
    }

    /// The forced edges into `point`, newest first, by number.
    #[inline]
    pub fn forced_into(&self, point: PointId) -> impl Iterator<Item = u32> + '_ {
        chain(self.in_head[point.index()], |edge| self.forced[edge as usize].next_in)
    }

    /// The forced edges out of `point`, newest first, by number.
    #[inline]
    pub fn forced_out_of(&self, point: PointId) -> impl Iterator<Item = u32> + '_ {
        chain(self.out_head[point.index()], |edge| self.forced[edge as usize].next_out)
    }

    /// All predecessors of `point`.
    #[inline]
    pub fn predecessors(&self, point: PointId) -> impl Iterator<Item = PointId> + '_ {
        let forced = self.forced_into(point).map(|edge| self.forced[edge as usize].arc.0);
        self.sources(point).iter().copied().chain(forced)
    }

    /// All successors of `point`.
    #[inline]
    pub fn successors(&self, point: PointId) -> impl Iterator<Item = PointId> + '_ {
        let forced = self.forced_out_of(point).map(|edge| self.forced[edge as usize].arc.1);
        self.targets(point).iter().copied().chain(forced)
    }
}

fn chain(head: u32, next: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let some = |edge: u32| (edge != NO_EDGE).then_some(edge);
    std::iter::successors(some(head), move |&edge| some(next(edge)))
}

fn txn_arcs(facts: &Facts<'_>, timeline: Timeline, txn: TxnId, arcs: &mut Vec<Arc>) {
    if !timeline.is_serial() && holds(Rule::BeginCommit) {
        arcs.push((timeline.begin(txn), timeline.commit(txn)));
    }
    let previous = facts.index.session_predecessor(facts.history, txn);
    if let Some(previous) = previous.filter(|_| holds(Rule::Session)) {
        arcs.push(timeline.follows(previous, txn));
    }
    let first = arcs.len();
    if holds(Rule::ReadFrom) {
        let sources = facts.index.sources_of(facts.history, txn);
        arcs.extend(sources.map(|source| timeline.follows(source, txn)));
    }
    arcs[first..].sort_unstable();
    let mut kept = first;
    for place in first..arcs.len() {
        if place == first || arcs[place] != arcs[kept - 1] {
            arcs[kept] = arcs[place];
            kept += 1;
        }
    }
    arcs.truncate(kept);
}

/// Real time by a chain of moments, one for each end: a transaction comes before the moment of its
/// end, and after the last moment before its begin. So n transactions need O(n) edges.
fn real_time_arcs(
    facts: &Facts<'_>,
    timeline: Timeline,
    first: u32,
    present: &mut Vec<bool>,
    arcs: &mut Vec<Arc>,
) {
    let counted = facts.history.txns().filter(|txn| facts.index.counts[txn.index()]);
    let mut timed: Vec<(i64, TxnId, i64)> = counted
        .filter_map(|txn| facts.history.times(txn).map(|(begin, end)| (end, txn, begin)))
        .collect();
    timed.sort_unstable();
    present.resize(present.len() + timed.len(), true);
    for (moment, &(_, txn, begin)) in timed.iter().enumerate() {
        let moment = moment as u32;
        arcs.push((timeline.commit(txn), PointId(first + moment)));
        if moment > 0 {
            arcs.push((PointId(first + moment - 1), PointId(first + moment)));
        }
        let before = timed.partition_point(|other| other.0 < begin) as u32;
        if before > 0 && holds(Rule::RealTime) {
            arcs.push((PointId(first + before - 1), timeline.begin(txn)));
        }
    }
}
