//! Cheapest paths and cycles, by Dijkstra's algorithm. A cycle that is easy to follow has few steps
//! with short derivations.

use super::budget::{Budget, Exhausted};
use super::links::{Link, LinkGraph, NodeId};
use super::proof::{Cycle, Step};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What makes a path good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Preference {
    /// The smallest derivation as a whole.
    Simple,
    /// The fewest transactions, then the fewest inferred steps, then the smallest derivation.
    Short,
}

/// Larger than any sum of costs that matters; costs are cut there.
const COST_BITS: u32 = 36;
const INFERRED_BITS: u32 = 12;

impl Preference {
    fn weight(self, link: &Link) -> u64 {
        match link {
            Link::Inside => 0,
            Link::Step(step) => self.weight_of(Step::is_observed(step), step.cost),
            Link::Session | Link::RealTime => self.weight_of(true, 1),
        }
    }

    fn weight_of(self, observed: bool, cost: u32) -> u64 {
        let cost = u64::from(cost.min(1 << 20));
        match self {
            Preference::Simple => cost,
            Preference::Short => {
                (1 << (COST_BITS + INFERRED_BITS)) | (u64::from(!observed) << COST_BITS) | cost
            }
        }
    }
}

/// The cheapest path from `from` to `to` of at least one edge; edges inside a transaction cost
/// nothing and are left out.
pub(super) fn cheapest(
    graph: &LinkGraph,
    from: NodeId,
    to: NodeId,
    preference: Preference,
    budget: &mut Budget,
) -> Result<Option<Cycle>, Exhausted> {
    let found = PathSearch::new(graph, from, preference).run(to, u64::MAX, budget)?;
    Ok(found.map(|(_, path)| path))
}

/// The cheapest cycle through one of `nodes`; if the budget ends, the cheapest so far.
pub(super) fn best_cycle(
    graph: &LinkGraph,
    nodes: impl Iterator<Item = NodeId>,
    preference: Preference,
    budget: &mut Budget,
) -> Result<Option<Cycle>, Exhausted> {
    let mut best: Option<(u64, Cycle)> = None;
    for node in nodes {
        let below = best.as_ref().map_or(u64::MAX, |(weight, _)| *weight);
        match PathSearch::new(graph, node, preference).run(node, below, budget) {
            Ok(found) => best = found.or(best),
            Err(Exhausted) if best.is_some() => break,
            Err(Exhausted) => return Err(Exhausted),
        }
    }
    Ok(best.map(|(_, cycle)| cycle))
}

struct PathSearch<'g> {
    graph: &'g LinkGraph,
    from: NodeId,
    preference: Preference,
    best: Vec<u64>,
    /// How each node was reached.
    origin: Vec<Option<(NodeId, &'g Link)>>,
    heap: BinaryHeap<Reverse<(u64, NodeId)>>,
}

impl<'g> PathSearch<'g> {
    fn new(graph: &'g LinkGraph, from: NodeId, preference: Preference) -> PathSearch<'g> {
        let nodes = graph.len();
        PathSearch {
            graph,
            from,
            preference,
            best: vec![u64::MAX; nodes],
            origin: vec![None; nodes],
            heap: BinaryHeap::new(),
        }
    }

    /// The cheapest path to `to`, if it weighs less than `below`.
    fn run(
        mut self,
        to: NodeId,
        below: u64,
        budget: &mut Budget,
    ) -> Result<Option<(u64, Cycle)>, Exhausted> {
        budget.spend(self.best.len() as u64)?;
        self.expand(self.from, 0, budget)?;
        while let Some(Reverse((weight, node))) = self.heap.pop() {
            if weight >= below {
                break;
            }
            if node == to {
                return Ok(Some((weight, self.unwind(to))));
            }
            if weight == self.best[node.0] {
                self.expand(node, weight, budget)?;
            }
        }
        Ok(None)
    }

    fn expand(&mut self, node: NodeId, weight: u64, budget: &mut Budget) -> Result<(), Exhausted> {
        let links = self.graph.links(node);
        // A visit costs about as much as following ten edges would in a row of bits.
        budget.spend(10 * (1 + links.len() as u64))?;
        for (next, link) in links {
            let weight = weight + self.preference.weight(link);
            if weight < self.best[next.0] {
                self.best[next.0] = weight;
                self.origin[next.0] = Some((node, link));
                self.heap.push(Reverse((weight, *next)));
            }
        }
        Ok(())
    }

    fn unwind(&self, to: NodeId) -> Cycle {
        let mut walk = Vec::new();
        let mut node = to;
        while let Some((before, link)) = self.origin[node.0] {
            walk.push((link, node));
            node = before;
            if node == self.from {
                break;
            }
        }
        walk.reverse();
        self.graph.steps(self.from, &walk)
    }
}
