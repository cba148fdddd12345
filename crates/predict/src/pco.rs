//! What every commit order has in common (the partial order pco of the paper, section 4.2.2): the
//! least relation that contains session order and reads and is closed under the rules
//!
//! - a writer that precedes a reader of another version precedes the writer of that version,
//! - a reader precedes a writer that comes after the version that it reads,
//!
//! and under transitivity. A cycle in it refutes serializability; without one, serializability is
//! nearly certain but not proved. The rules are applied until nothing changes, at O(n²/64) for each
//! new edge.

use crate::encode::Assignment;
use crate::problem::Problem;

/// Sets of transactions that each one precedes.
struct Relation {
    words: usize,
    bits: Vec<u64>,
}

impl Relation {
    fn new(count: usize) -> Relation {
        let words = count.div_ceil(64);
        Relation { words, bits: vec![0; words * count] }
    }

    fn has(&self, a: u32, b: u32) -> bool {
        self.bits[a as usize * self.words + b as usize / 64] >> (b % 64) & 1 == 1
    }

    /// Adds `a` before `b` and what follows by transitivity; whether it is new.
    fn add(&mut self, a: u32, b: u32) -> bool {
        if self.has(a, b) {
            return false;
        }
        let row = b as usize * self.words;
        let mut after: Vec<u64> = self.bits[row..row + self.words].to_vec();
        after[b as usize / 64] |= 1 << (b % 64);
        let count = (self.bits.len() / self.words.max(1)) as u32;
        for x in (0..count).filter(|&x| x == a || self.has(x, a)).collect::<Vec<_>>() {
            let row = x as usize * self.words;
            for (word, more) in self.bits[row..row + self.words].iter_mut().zip(&after) {
                *word |= more;
            }
        }
        true
    }
}

/// The least fixpoint.
pub(crate) enum Common {
    Cyclic,
    /// The kept transactions in an order that extends it, near to the observed one.
    Order(Vec<u32>),
}

/// What the commit orders of a history have in common.
pub(crate) fn common(problem: &Problem, history: &Assignment) -> Common {
    let kept: Vec<u32> =
        (0..problem.nodes.len() as u32).filter(|&node| history.kept[node as usize] > 0).collect();
    let mut relation = Relation::new(problem.nodes.len());
    for &node in &kept {
        if let Some(prev) = problem.nodes[node as usize].prev {
            relation.add(prev, node);
        }
    }
    loop {
        let mut changed = false;
        for (read, source) in problem.reads.iter().zip(&history.source) {
            let Some(source) = *source else { continue };
            let t = read.node;
            changed |= source.is_some_and(|writer| relation.add(writer, t));
            for &(x, slot) in &problem.classes[read.class as usize].writers {
                if x == t || Some(x) == source || slot >= history.kept[x as usize] {
                    continue;
                }
                match source {
                    None if relation.has(x, t) => return Common::Cyclic,
                    None => changed |= relation.add(t, x),
                    Some(writer) => {
                        changed |= relation.has(x, t) && relation.add(x, writer);
                        changed |= relation.has(writer, x) && relation.add(t, x);
                    }
                }
            }
        }
        if kept.iter().any(|&node| relation.has(node, node)) {
            return Common::Cyclic;
        }
        if !changed {
            return Common::Order(extension(problem, &relation, kept));
        }
    }
}

/// The transactions one after the other, always the first in the observed order that nothing left
/// precedes.
fn extension(problem: &Problem, relation: &Relation, mut left: Vec<u32>) -> Vec<u32> {
    left.sort_unstable_by_key(|&node| problem.place[node as usize]);
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let free =
            left.iter().position(|&node| !left.iter().any(|&other| relation.has(other, node)));
        // Acyclic relations always have one.
        let Some(next) = free else { break };
        order.push(left.remove(next));
    }
    order
}

/// Whether the order is a commit order: each kept read returns the last version before it.
pub(crate) fn serializes(problem: &Problem, history: &Assignment, order: &[u32]) -> bool {
    let mut place = vec![u32::MAX; problem.nodes.len()];
    for (rank, &node) in order.iter().enumerate() {
        place[node as usize] = rank as u32;
    }
    problem.reads.iter().zip(&history.source).all(|(read, source)| {
        let Some(source) = *source else { return true };
        let before = |node: u32| place[node as usize] < place[read.node as usize];
        let writers = problem.classes[read.class as usize].writers.iter();
        let kept = writers
            .filter(|&&(x, slot)| slot < history.kept[x as usize] && x != read.node && before(x));
        kept.map(|&(x, _)| x).max_by_key(|&x| place[x as usize]) == source
    })
}
