//! Histories that one version order does not serialize: its graph has a cycle.
//!
//! The edges (Adya's): session order; reads; overwrites, from a writer to later writers of the
//! same; anti-dependencies, from a reader to the later writers of what it read. To say that there
//! is a cycle it is enough to choose some transactions and for each of them an edge to a chosen
//! one. For n transactions these are at most n² edges, and one clause for each.

use super::Encoding;
use batsat::Lit;
use rustc_hash::FxHashMap;

impl Encoding<'_> {
    /// From now on the graph of the version order in which the transactions come by `place` must
    /// have a cycle. Returns for each transaction whether it is one of those chosen.
    pub fn must_be_cyclic(&mut self, place: &[u32]) -> Vec<Lit> {
        let count = self.problem.nodes.len() as u32;
        let edges = self.edges(place);
        let chosen: Vec<Lit> = (0..count).map(|_| self.formula.unlikely()).collect();
        let mut leaving: Vec<Vec<Lit>> = vec![Vec::new(); count as usize];
        let mut backward = Vec::new();
        for ((from, to), grounds) in edges {
            let edge = self.formula.unlikely();
            self.formula.implies(&[edge], &grounds);
            self.formula.implies(&[edge], &[chosen[to as usize]]);
            leaving[from as usize].push(edge);
            if place[from as usize] > place[to as usize] {
                self.formula.implies(&[edge], &[chosen[from as usize]]);
                backward.push(edge);
            }
        }
        for (node, leaving) in leaving.iter().enumerate() {
            self.formula.implies(&[chosen[node]], leaving);
        }
        // A cycle goes back somewhere.
        self.formula.clause(&backward);
        chosen
    }

    /// For each possible edge what it may rest on, in a fixed order.
    fn edges(&mut self, place: &[u32]) -> Vec<((u32, u32), Vec<Lit>)> {
        let mut edges: FxHashMap<(u32, u32), Vec<Lit>> = FxHashMap::default();
        let problem = self.problem;
        for (number, node) in problem.nodes.iter().enumerate() {
            if let Some(next) = node.next {
                edges.entry((number as u32, next)).or_default().push(self.kept[next as usize][0]);
            }
        }
        self.add_overwrites(place, &mut edges);
        for number in 0..problem.reads.len() {
            let reader = problem.reads[number].node;
            for &(writer, selected) in &self.firm[number] {
                if let Some(writer) = writer {
                    edges.entry((writer, reader)).or_default().push(selected);
                }
            }
            self.add_anti_dependencies(number, place, &mut edges);
        }
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_unstable_by_key(|edge| edge.0);
        edges
    }

    fn add_overwrites(&mut self, place: &[u32], edges: &mut FxHashMap<(u32, u32), Vec<Lit>>) {
        let mut known: FxHashMap<(Lit, Lit), Lit> = FxHashMap::default();
        for class in &self.problem.classes {
            for &(from, from_slot) in &class.writers {
                for &(to, to_slot) in &class.writers {
                    if place[from as usize] >= place[to as usize] {
                        continue;
                    }
                    let both = (
                        self.kept[from as usize][from_slot as usize],
                        self.kept[to as usize][to_slot as usize],
                    );
                    if known.contains_key(&both) {
                        continue;
                    }
                    let written = self.formula.unlikely();
                    self.formula.implies(&[written], &[both.0]);
                    self.formula.implies(&[written], &[both.1]);
                    known.insert(both, written);
                    edges.entry((from, to)).or_default().push(written);
                }
            }
        }
    }

    /// The reader precedes a writer that comes after the one it reads from.
    fn add_anti_dependencies(
        &mut self,
        number: usize,
        place: &[u32],
        edges: &mut FxHashMap<(u32, u32), Vec<Lit>>,
    ) {
        let read = &self.problem.reads[number];
        for &(later, slot) in &self.problem.classes[read.class as usize].writers {
            if later == read.node {
                continue;
            }
            let older = |writer: Option<u32>| {
                writer.is_none_or(|writer| place[writer as usize] < place[later as usize])
            };
            let grounds: Vec<Lit> =
                self.firm[number].iter().filter(|one| older(one.0)).map(|one| one.1).collect();
            let missed = self.formula.unlikely();
            self.formula.implies(&[missed], &grounds);
            self.formula.implies(&[missed], &[self.kept[later as usize][slot as usize]]);
            edges.entry((read.node, later)).or_default().push(missed);
        }
    }
}
