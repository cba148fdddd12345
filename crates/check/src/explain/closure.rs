//! Which node reaches which, as one row of bits a node, kept closed while edges are added.

use super::links::NodeId;

/// The transitive closure of a graph of few nodes.
#[derive(Clone)]
pub(super) struct Closure {
    words: usize,
    /// Row u: the nodes that u reaches.
    ahead: Vec<u64>,
    /// Row u: the nodes that reach u.
    behind: Vec<u64>,
}

impl Closure {
    pub fn new(nodes: usize) -> Closure {
        let words = nodes.div_ceil(64);
        Closure { words, ahead: vec![0; words * nodes], behind: vec![0; words * nodes] }
    }

    /// Whether a path of at least one edge leads from `u` to `v`.
    pub fn has(&self, u: NodeId, v: NodeId) -> bool {
        self.ahead[u.0 * self.words + v.0 / 64] >> (v.0 % 64) & 1 == 1
    }

    /// How many words it takes.
    pub fn size(&self) -> u64 {
        (self.ahead.len() + self.behind.len()) as u64
    }

    /// Adds the edge `u` → `v` and all that follows from it; how many words that took.
    pub fn insert(&mut self, u: NodeId, v: NodeId) -> u64 {
        if self.has(u, v) {
            return 1;
        }
        let sources = self.with_itself(&self.behind, u);
        let targets = self.with_itself(&self.ahead, v);
        let mut rows = 2;
        for node in members(&sources) {
            unite(&mut self.ahead[node * self.words..][..self.words], &targets);
            rows += 1;
        }
        for node in members(&targets) {
            unite(&mut self.behind[node * self.words..][..self.words], &sources);
            rows += 1;
        }
        rows * self.words as u64
    }

    fn with_itself(&self, rows: &[u64], NodeId(node): NodeId) -> Vec<u64> {
        let mut row = rows[node * self.words..][..self.words].to_vec();
        row[node / 64] |= 1 << (node % 64);
        row
    }
}

fn unite(row: &mut [u64], other: &[u64]) {
    for (word, more) in row.iter_mut().zip(other) {
        *word |= more;
    }
}

fn members(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(i, &word)| {
        let bits = std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)));
        bits.take_while(|&rest| rest != 0).map(move |rest| i * 64 + rest.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_closed_whatever_the_order_of_the_edges() {
        let mut reach = Closure::new(130);
        reach.insert(NodeId(70), NodeId(129));
        reach.insert(NodeId(0), NodeId(3));
        reach.insert(NodeId(3), NodeId(70));
        assert!(
            reach.has(NodeId(0), NodeId(129))
                && reach.has(NodeId(0), NodeId(70))
                && reach.has(NodeId(3), NodeId(129))
        );
        assert!(!reach.has(NodeId(129), NodeId(0)) && !reach.has(NodeId(0), NodeId(0)));
        reach.insert(NodeId(129), NodeId(0));
        assert!(reach.has(NodeId(0), NodeId(0)) && reach.has(NodeId(70), NodeId(3)));
    }
}
