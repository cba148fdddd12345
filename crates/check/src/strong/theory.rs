//! Acyclicity as a theory of the SAT solver: literals stand for edges, and no set of true literals
//! may close a cycle with the known edges.
//!
//! A dynamic topological order (Pearce and Kelly) sees most edges to be harmless without looking at
//! anything else; where an edge points backwards, only points between its ends are visited. A cycle
//! becomes the clause of the literals on it, with a path that has as few of them as possible.
//! Undoing removes edges and leaves the order as it is: it still fits.

use super::ids::{PointId, sort_by_position};
use super::mutation::{Rule, holds};
use super::point_graph::PointGraph;
use super::timeline::Arc;
use batsat::Lit;
use batsat::theory::{Theory, TheoryArg};
use std::collections::VecDeque;

const NO_LABEL: u32 = u32::MAX;

/// An edge that a literal stands for.
#[derive(Clone, Copy)]
struct Labelled {
    from: PointId,
    to: PointId,
    literal: Lit,
    next_in: u32,
    next_out: u32,
}

pub(crate) struct Acyclic<'g> {
    pub graph: &'g mut PointGraph,
    /// For each literal (by index) its edges.
    edges: Vec<Vec<Arc>>,
    stack: Vec<Labelled>,
    in_head: Vec<u32>,
    out_head: Vec<u32>,
    /// For each level the length of the stack and how much of the trail had been looked at.
    levels: Vec<(usize, usize)>,
    looked_at: usize,
    /// The place of each point; a topological order of all edges.
    pub position: Vec<u32>,
    mark: Vec<u32>,
    round: u32,
    /// Points on the cycles that were found.
    pub involved: Vec<PointId>,
    pub cycles: u64,
}

/// A step of a path: the point before, and the literal of the edge or none.
#[derive(Clone, Copy)]
struct Step {
    before: PointId,
    label: u32,
}

impl<'g> Acyclic<'g> {
    /// Forgets all marks.
    fn next_round(&mut self) {
        if self.round == u32::MAX {
            self.mark.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    pub fn new(graph: &'g mut PointGraph, position: Vec<u32>) -> Acyclic<'g> {
        let points = graph.points();
        Acyclic {
            graph,
            edges: Vec::new(),
            stack: Vec::new(),
            in_head: vec![NO_LABEL; points],
            out_head: vec![NO_LABEL; points],
            levels: Vec::new(),
            looked_at: 0,
            position,
            mark: vec![0; points],
            round: 0,
            involved: Vec::new(),
            cycles: 0,
        }
    }

    /// `literal` stands for `arcs`.
    pub fn define(&mut self, literal: Lit, arcs: Vec<Arc>) {
        let place = literal.idx() as usize;
        if self.edges.len() <= place {
            self.edges.resize_with(place + 1, Vec::new);
        }
        self.edges[place] = arcs;
    }

    /// How far the arcs point backwards at most.
    pub fn farthest(&self, arcs: &[Arc]) -> u32 {
        let at = |point: PointId| self.position[point.index()];
        arcs.iter().map(|&(from, to)| at(from).saturating_sub(at(to))).max().unwrap_or(0)
    }

    /// Whether `arc` is one of the edges of `literal`.
    pub fn stands_for(&self, literal: Lit, arc: Arc) -> bool {
        self.edges.get(literal.idx() as usize).is_some_and(|arcs| arcs.contains(&arc))
    }

    /// Adds a known edge; `false` if it closes a cycle of known edges. No literal may be true.
    pub fn add_known(&mut self, arc: Arc, reason: u32) -> bool {
        debug_assert!(self.levels.is_empty());
        let fits = self.make_room(arc);
        if !fits {
            let path = self.lightest_path(arc.1, arc.0);
            self.involved.extend(path.iter().map(|step| step.0));
            self.involved.extend([arc.0, arc.1]);
        }
        self.graph.add(arc, reason);
        fits
    }

    /// Changes the order so that the forced edges of the graph but the first `known` fit; `false`
    /// if there is a cycle.
    pub fn catch_up(&mut self, known: usize) -> bool {
        let newer = self.graph.take_back(known);
        newer.into_iter().fold(true, |fits, (arc, reason)| self.add_known(arc, reason) && fits)
    }

    /// Takes back all that was tried. The order stays: it fits fewer edges too.
    pub fn forget(&mut self) {
        self.undo_to(0);
    }

    /// Adds all of `arcs` or, if one of them closes a cycle, none.
    pub fn try_arcs(&mut self, arcs: &[Arc]) -> bool {
        let before = self.stack.len();
        for &arc in arcs {
            if !self.make_room(arc) {
                self.undo_to(before);
                return false;
            }
            self.push(arc, Lit::UNDEF);
        }
        true
    }

    fn undo_to(&mut self, length: usize) {
        while self.stack.len() > length {
            // Edges go in the reverse order in which they came, so each is the head of its lists.
            if let Some(edge) = self.stack.pop() {
                self.in_head[edge.to.index()] = edge.next_in;
                self.out_head[edge.from.index()] = edge.next_out;
            }
        }
    }

    fn labelled_out_of(&self, point: PointId) -> impl Iterator<Item = u32> + '_ {
        let some = |edge: u32| (edge != NO_LABEL).then_some(edge);
        let first = some(self.out_head[point.index()]);
        std::iter::successors(first, move |&edge| some(self.stack[edge as usize].next_out))
    }

    fn labelled_into(&self, point: PointId) -> impl Iterator<Item = u32> + '_ {
        let some = |edge: u32| (edge != NO_LABEL).then_some(edge);
        let first = some(self.in_head[point.index()]);
        std::iter::successors(first, move |&edge| some(self.stack[edge as usize].next_in))
    }

    /// Adds the edges of a true literal; `false` if one of them closes a cycle, whose clause is put
    /// into `clause`.
    fn assert(&mut self, literal: Lit, clause: &mut Vec<Lit>) -> bool {
        let place = literal.idx() as usize;
        let count = self.edges.get(place).map_or(0, Vec::len);
        for number in 0..count {
            let arc = self.edges[place][number];
            if !self.make_room(arc) {
                self.explain(arc, literal, clause);
                return false;
            }
            self.push(arc, literal);
        }
        true
    }

    fn push(&mut self, (from, to): Arc, literal: Lit) {
        let number = self.stack.len() as u32;
        let (next_in, next_out) = (self.in_head[to.index()], self.out_head[from.index()]);
        self.stack.push(Labelled { from, to, literal, next_in, next_out });
        self.in_head[to.index()] = number;
        self.out_head[from.index()] = number;
    }

    /// Changes the order so that `arc` fits; `false` if it closes a cycle.
    fn make_room(&mut self, (from, to): Arc) -> bool {
        let (low, high) = (self.position[to.index()], self.position[from.index()]);
        if high < low {
            return true;
        }
        if from == to {
            return false;
        }
        let Some(after) = self.reached_from(to, from, high) else {
            return !holds(Rule::CycleCheck);
        };
        let before = self.reaching(from, low);
        self.reorder(before, after);
        true
    }

    /// The points from `start` on up to position `high`; `None` if `goal` is one of them.
    fn reached_from(&mut self, start: PointId, goal: PointId, high: u32) -> Option<Vec<PointId>> {
        self.next_round();
        let mut found = vec![start];
        self.mark[start.index()] = self.round;
        let mut next = 0;
        while next < found.len() {
            let point = found[next];
            next += 1;
            let labelled = self.labelled_out_of(point).map(|edge| self.stack[edge as usize].to);
            let successors: Vec<PointId> = self.graph.successors(point).chain(labelled).collect();
            for successor in successors {
                if successor == goal {
                    return None;
                }
                if self.position[successor.index()] < high
                    && self.mark[successor.index()] != self.round
                {
                    self.mark[successor.index()] = self.round;
                    found.push(successor);
                }
            }
        }
        Some(found)
    }

    fn reaching(&mut self, start: PointId, low: u32) -> Vec<PointId> {
        self.next_round();
        let mut found = vec![start];
        self.mark[start.index()] = self.round;
        let mut next = 0;
        while next < found.len() {
            let point = found[next];
            next += 1;
            let labelled = self.labelled_into(point).map(|edge| self.stack[edge as usize].from);
            let predecessors: Vec<PointId> =
                self.graph.predecessors(point).chain(labelled).collect();
            for predecessor in predecessors {
                if self.position[predecessor.index()] > low
                    && self.mark[predecessor.index()] != self.round
                {
                    self.mark[predecessor.index()] = self.round;
                    found.push(predecessor);
                }
            }
        }
        found
    }

    /// Gives the places of both groups to `before`, then `after`, each in its old order.
    fn reorder(&mut self, mut before: Vec<PointId>, mut after: Vec<PointId>) {
        sort_by_position(&mut before, &self.position);
        sort_by_position(&mut after, &self.position);
        before.append(&mut after);
        let mut places: Vec<u32> =
            before.iter().map(|&point| self.position[point.index()]).collect();
        places.sort_unstable();
        for (point, place) in before.into_iter().zip(places) {
            self.position[point.index()] = place;
        }
    }

    /// The clause that forbids the cycle which `arc` of `literal` closes: a path back with the
    /// fewest literals.
    fn explain(&mut self, (from, to): Arc, literal: Lit, clause: &mut Vec<Lit>) {
        self.cycles += 1;
        let path = self.lightest_path(to, from);
        clause.clear();
        clause.push(!literal);
        for &(point, label) in &path {
            self.involved.push(point);
            if label != NO_LABEL && holds(Rule::ConflictClause) {
                let other = !self.stack[label as usize].literal;
                if !clause.contains(&other) {
                    clause.push(other);
                }
            }
        }
        self.involved.extend([from, to]);
    }

    /// A path from `start` to `goal` with as few labelled edges as possible (0-1 breadth-first
    /// search), as the points after the first with the label of the edge into each.
    fn lightest_path(&self, start: PointId, goal: PointId) -> Vec<(PointId, u32)> {
        let high = self.position[goal.index()];
        let mut steps: rustc_hash::FxHashMap<PointId, (u32, Step)> =
            rustc_hash::FxHashMap::default();
        let mut queue = VecDeque::from([(0u32, start)]);
        steps.insert(start, (0, Step { before: start, label: NO_LABEL }));
        while let Some((weight, point)) = queue.pop_front() {
            if steps[&point].0 < weight {
                continue;
            }
            if point == goal {
                break;
            }
            let plain = self.graph.successors(point).map(|to| (to, NO_LABEL));
            let labelled =
                self.labelled_out_of(point).map(|edge| (self.stack[edge as usize].to, edge));
            for (to, label) in plain.chain(labelled) {
                // The order fits all edges that are in, so no path comes back from behind the goal.
                if self.position[to.index()] > high {
                    continue;
                }
                let cost = weight + u32::from(label != NO_LABEL);
                if steps.get(&to).is_none_or(|step| cost < step.0) {
                    steps.insert(to, (cost, Step { before: point, label }));
                    if label == NO_LABEL {
                        queue.push_front((cost, to))
                    } else {
                        queue.push_back((cost, to))
                    }
                }
            }
        }
        let mut path = Vec::new();
        let mut point = goal;
        while point != start {
            let Some((_, step)) = steps.get(&point) else { break };
            path.push((point, step.label));
            point = step.before;
        }
        path
    }

    fn look(&mut self, acts: &mut TheoryArg<'_>) {
        let mut clause = Vec::new();
        while self.looked_at < acts.model().len() {
            let literal = acts.model()[self.looked_at];
            self.looked_at += 1;
            if !self.assert(literal, &mut clause) {
                acts.raise_conflict(&clause, true);
                return;
            }
        }
    }
}

impl Theory for Acyclic<'_> {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.look(acts);
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.look(acts);
    }

    fn create_level(&mut self) {
        self.levels.push((self.stack.len(), self.looked_at));
    }

    fn pop_levels(&mut self, n: usize) {
        let left = self.levels.len() - n;
        let Some(&(stack, looked_at)) = self.levels.get(left) else { return };
        self.levels.truncate(left);
        self.undo_to(stack);
        self.looked_at = looked_at;
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _: Lit) -> &[Lit] {
        &[]
    }
}
