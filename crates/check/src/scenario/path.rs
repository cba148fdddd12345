//! Cheapest paths and cycles, by Dijkstra's algorithm. A cycle that is easy to follow has few steps with short derivations.

use super::proof::{Cycle, Step};
use super::state::Outgoing;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

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
    fn weight(self, step: &Step) -> u64 {
        let cost = u64::from(step.cost.min(1 << 20));
        match self {
            Preference::Simple => cost,
            Preference::Short => {
                (1 << (COST_BITS + INFERRED_BITS)) | (u64::from(!step.is_observed()) << COST_BITS) | cost
            }
        }
    }
}

/// The cheapest path from `from` to `to` of at least one edge; edges inside a transaction cost nothing and are left out.
pub(super) fn cheapest(graph: &Outgoing, from: usize, to: usize, preference: Preference) -> Option<Cycle> {
    search(graph, from, to, preference).map(|(_, path)| path)
}

/// The cheapest cycle.
pub(super) fn best_cycle(graph: &Outgoing, preference: Preference) -> Option<Cycle> {
    let cycles = (0..graph.len()).filter_map(|node| search(graph, node, node, preference));
    cycles.min_by_key(|(weight, _)| *weight).map(|(_, cycle)| cycle)
}

/// How a node was reached.
type Origin = (usize, Option<Rc<Step>>);

fn search(graph: &Outgoing, from: usize, to: usize, preference: Preference) -> Option<(u64, Cycle)> {
    let mut best = vec![u64::MAX; graph.len()];
    let mut origin: Vec<Option<Origin>> = vec![None; graph.len()];
    let mut heap = BinaryHeap::new();
    let mut expand = |node: usize, weight: u64, heap: &mut BinaryHeap<_>, best: &mut [u64]| {
        for (next, step) in &graph[node] {
            let weight = weight + step.as_ref().map_or(0, |step| preference.weight(step));
            if weight < best[*next] {
                best[*next] = weight;
                origin[*next] = Some((node, step.clone()));
                heap.push(Reverse((weight, *next)));
            }
        }
    };
    expand(from, 0, &mut heap, &mut best);
    while let Some(Reverse((weight, node))) = heap.pop() {
        if node == to {
            return Some((weight, unwind(&origin, from, to)));
        }
        if weight == best[node] {
            expand(node, weight, &mut heap, &mut best);
        }
    }
    None
}

fn unwind(origin: &[Option<Origin>], from: usize, to: usize) -> Cycle {
    let mut path = Vec::new();
    let mut node = to;
    while let Some((before, step)) = &origin[node] {
        path.extend(step.clone());
        node = *before;
        if node == from {
            break;
        }
    }
    path.reverse();
    path
}
