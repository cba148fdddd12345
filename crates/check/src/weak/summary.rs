//! From findings to what people get: anomalies grouped by kind, counted, with the smallest exemplar
//! of each.

use super::anomalies::LevelFindings;
use super::context::Context;
use super::edges::{Edges, Inferred, positions};
use super::graph::Components;
use super::shortest_cycles::{Explainer, Terrain};
use crate::index::{Fault, Source, VersionEdge};
use crate::outcome::{AnomalyGroup, Counted, Violation};
use rustc_hash::FxHashMap;
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use std::time::{Duration, Instant};

/// How many candidates for the exemplar of a kind are tried, smallest estimate first.
const CANDIDATES_MAX: usize = 64;
/// How long the search for a smaller exemplar of a kind may go on after the first one.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How many transactions a search for a candidate may look at.
const CANDIDATE_LIMIT: usize = 1 << 20;

/// How many instances of a kind are explained with their cycle; further ones are named by their
/// operations only, since a search for each of hundreds of thousands would take hours.
const EXPLAINED_MAX: usize = 1000;

/// Every read, pair of reads or component is looked at.
const COUNTED: Counted = Counted::Exactly;

/// Makes groups of anomalies of one history.
pub(crate) struct Summary<'a> {
    context: &'a Context<'a>,
    position: Vec<u32>,
    /// How many instances of each kind to explain besides the exemplar.
    instances: usize,
}

/// Cycles found before any level is looked at: of session order and reads, or of these and version
/// orders of lists.
pub(crate) struct Cycles<'a> {
    pub kind: Anomaly,
    pub components: &'a Components,
    pub edges: &'a Edges,
}

impl<'a> Summary<'a> {
    pub fn new(context: &'a Context<'a>, instances: usize) -> Summary<'a> {
        let position = positions(context.base, context.history.txn_count());
        Summary { context, position, instances }
    }

    fn explainer(&self, search_limit: usize) -> Explainer<'_> {
        Explainer { context: self.context, position: &self.position, search_limit }
    }

    /// Reads that are wrong by themselves.
    pub fn faults(&self, faults: &[Fault]) -> Vec<AnomalyGroup> {
        let explainer = self.explainer(usize::MAX);
        let groups = faults.chunk_by(|a, b| a.kind == b.kind);
        let explain = |fault: &Fault| Some(explainer.fault_violation(fault));
        groups.filter_map(|group| self.group(group[0].kind, group, explain)).collect()
    }

    /// Non-repeatable reads.
    pub fn unrepeated(&self) -> Option<AnomalyGroup> {
        let explainer = self.explainer(usize::MAX);
        let pairs = &self.context.index.unrepeated;
        self.group(Anomaly::NonRepeatableRead, pairs, |&pair| {
            Some(explainer.unrepeated_violation(pair))
        })
    }

    /// One cycle for each component with more than one member, smallest components first.
    pub fn cycles(&self, cycles: &Cycles<'_>) -> Option<AnomalyGroup> {
        let Cycles { kind, components, edges } = *cycles;
        let mut members: Vec<u32> = (0..components.len())
            .filter(|&component| components.members(component).len() > 1)
            .map(|component| component as u32)
            .collect();
        members.sort_by_key(|&component| components.members(component as usize).len());
        let explain = |&component: &u32, limit: usize| {
            let explainer = self.explainer(limit);
            let starts = components.members(component as usize).iter().take(CANDIDATES_MAX);
            smallest(starts.map(|&start| explainer.cycle_violation(kind, components, edges, start)))
        };
        self.group(kind, &members, |component| {
            explain(component, CANDIDATE_LIMIT).or_else(|| explain(component, usize::MAX))
        })
    }

    /// One for each append that a list lacks although it comes before an element of the list.
    pub fn lost_elements(&self, cycles: &Cycles<'_>) -> Option<AnomalyGroup> {
        let Cycles { kind, components, edges } = *cycles;
        let lost = self
            .context
            .index
            .lists
            .version_edges
            .iter()
            .filter(|edge| edge.is_missing && components.together(edge.from, edge.to));
        let lost: Vec<VersionEdge> = lost.copied().collect();
        let explain = |edge: &VersionEdge, limit: usize| {
            let terrain = Terrain::Component(components, edges);
            self.explainer(limit).lost_element(kind, edge, terrain)
        };
        self.group(kind, &lost, |edge| {
            explain(edge, CANDIDATE_LIMIT).or_else(|| explain(edge, usize::MAX))
        })
    }

    /// What one level adds: edges against the causal order, and edges on cycles of inferred edges.
    pub fn level(&self, findings: &LevelFindings) -> Vec<AnomalyGroup> {
        let (causal_kind, commit_kind) = findings.kinds();
        let causal =
            self.edges(causal_kind, findings.level, &findings.against_causality, Terrain::Causal);
        let terrain = Terrain::Component(&findings.components, &findings.edges);
        let commit =
            self.edges(commit_kind, findings.level, &without_mirrors(&findings.in_cycle), terrain);
        causal.into_iter().chain(commit).collect()
    }

    fn edges(
        &self,
        kind: Anomaly,
        level: Level,
        edges: &[Inferred],
        terrain: Terrain<'_>,
    ) -> Option<AnomalyGroup> {
        let mut by_size = edges.to_vec();
        by_size.sort_by_key(|edge| (self.estimate(edge, terrain), edge.read));
        let explain = |edge: &Inferred| {
            let try_with =
                |limit| self.explainer(limit).edge_violation(kind, level, *edge, terrain);
            try_with(CANDIDATE_LIMIT).or_else(|| try_with(usize::MAX))
        };
        let exemplar = smallest(by_size.iter().take(CANDIDATES_MAX).map(explain))?;
        let explained = edges.iter().take(self.instances.min(EXPLAINED_MAX)).filter_map(explain);
        let named = edges.iter().take(self.instances).skip(EXPLAINED_MAX);
        let named = named.filter_map(|edge| self.explainer(usize::MAX).edge_named(kind, *edge));
        let instances = explained.chain(named).collect();
        Some(AnomalyGroup {
            kind,
            count: edges.len() as u64,
            counted: COUNTED,
            exemplar,
            instances,
        })
    }

    /// A guess at the size of the explanation, cheap enough for every edge: how far apart things
    /// are.
    fn estimate(&self, edge: &Inferred, terrain: Terrain<'_>) -> u32 {
        if let Terrain::Component(components, _) = terrain {
            // The target of an edge inside a component is not the initial transaction.
            let target = edge.to.txn().unwrap_or(edge.from);
            return components.members(components.of[target.index()] as usize).len() as u32;
        }
        let reader = self.context.history.txn_of(edge.read);
        let source = edge.to.txn().unwrap_or(edge.from);
        self.position[reader.index()].saturating_sub(self.position[source.index()])
    }

    /// A group of instances that all explain alike; the first explanation with the fewest
    /// operations is the exemplar.
    fn group<T>(
        &self,
        kind: Anomaly,
        items: &[T],
        explain: impl Fn(&T) -> Option<Violation>,
    ) -> Option<AnomalyGroup> {
        let exemplar = smallest(items.iter().take(CANDIDATES_MAX).map(&explain))?;
        let instances = items.iter().take(self.instances).filter_map(&explain).collect();
        Some(AnomalyGroup {
            kind,
            count: items.len() as u64,
            counted: COUNTED,
            exemplar,
            instances,
        })
    }
}

/// Two edges between the same transactions in opposite directions are one contradiction, seen from
/// its two reads: the later of them is left out. Every read is still on a cycle that counts.
fn without_mirrors(edges: &[Inferred]) -> Vec<Inferred> {
    let mut unmatched: FxHashMap<(Source, Source), u32> = FxHashMap::default();
    let mut kept = Vec::with_capacity(edges.len());
    for edge in edges {
        match unmatched.get_mut(&(edge.to, edge.from.into())) {
            Some(count) if *count > 0 => *count -= 1,
            _ => {
                *unmatched.entry((edge.from.into(), edge.to)).or_default() += 1;
                kept.push(*edge);
            }
        }
    }
    kept
}

/// The violation with the fewest transactions, then operations, among those found before patience
/// ends.
fn smallest(candidates: impl Iterator<Item = Option<Violation>>) -> Option<Violation> {
    let start = Instant::now();
    let mut best: Option<((usize, usize), Violation)> = None;
    for violation in candidates.flatten() {
        let size = (violation.txn_count(), violation.ops.len());
        if best.as_ref().is_none_or(|(best_size, _)| size < *best_size) {
            best = Some((size, violation));
        }
        if start.elapsed() > PATIENCE {
            break;
        }
    }
    best.map(|(_, violation)| violation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::{OpId, TxnId};

    #[test]
    fn opposite_edges_are_one_contradiction_and_no_read_is_forgotten() {
        let edges = |ends: &[(u32, u32)]| -> Vec<Inferred> {
            let edge = |((from, to), read)| Inferred::new(TxnId(from), TxnId(to), OpId(read));
            ends.iter().copied().zip(0..).map(edge).collect()
        };
        let kept = |ends: &[(u32, u32)]| {
            without_mirrors(&edges(ends)).iter().map(|edge| edge.read.0).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[(1, 2), (2, 1)]), [0]);
        assert_eq!(kept(&[(1, 2), (1, 2), (2, 1)]), [0, 1]);
        assert_eq!(kept(&[(1, 2), (2, 1), (1, 2)]), [0, 2]);
        assert_eq!(kept(&[(1, 2), (2, 3), (3, 1)]), [0, 1, 2]);
    }
}
