//! What an exploration visited, counted by how histories begin, for its page: small whatever the
//! number of histories is.

use seriatim_report::explored::Branch;
use std::collections::HashMap;

/// Transactions from the beginning of a history that are told apart.
const DEPTH_MAX: usize = 8;
/// Beginnings that are told apart; histories that begin otherwise count for what they have in
/// common with these.
const NODES_MAX: usize = 5_000;

/// Histories by how they begin.
#[derive(Debug, Default)]
pub struct Coverage {
    nodes: Vec<Node>,
    /// The child of a node by what its transaction does.
    children: HashMap<(usize, String), usize>,
}

#[derive(Debug, Default)]
struct Node {
    /// What the transaction does, as replay tokens write it.
    part: String,
    histories: u64,
    counterexamples: u64,
    below: Vec<usize>,
}

impl Coverage {
    /// Counts a history by its token.
    pub fn count(&mut self, token: &str, is_counterexample: bool) {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        self.nodes[at].add(is_counterexample);
        for part in token.split(',').filter(|part| !part.is_empty()).take(DEPTH_MAX) {
            let key = (at, part.to_owned());
            at = match self.children.get(&key) {
                Some(&child) => child,
                None if self.nodes.len() < NODES_MAX => {
                    let child = self.nodes.len();
                    self.nodes.push(Node { part: part.to_owned(), ..Node::default() });
                    self.nodes[at].below.push(child);
                    self.children.insert(key, child);
                    child
                }
                None => return,
            };
            self.nodes[at].add(is_counterexample);
        }
    }

    /// The tree, the widest branches first; `sessions` are the names of the sessions.
    pub fn tree(&self, sessions: &[&str]) -> Option<Branch> {
        (!self.nodes.is_empty()).then(|| self.branch(0, &mut Vec::new(), sessions))
    }

    /// A node with what is below it; `path` has the names of the transactions up to it. No deeper
    /// than `DEPTH_MAX`.
    fn branch(&self, at: usize, path: &mut Vec<String>, sessions: &[&str]) -> Branch {
        let node = &self.nodes[at];
        let mut below = node.below.clone();
        below.sort_by_key(|&child| std::cmp::Reverse(self.nodes[child].histories));
        let below = below.into_iter().map(|child| {
            let (name, reads) = told(&self.nodes[child].part, path, sessions);
            path.push(name.clone());
            let told = self.branch(child, path, sessions);
            path.pop();
            let reads = if reads.is_empty() { String::new() } else { format!(" reads {reads}") };
            Branch { name: name + &reads, ..told }
        });
        let below = below.collect();
        let (histories, counterexamples) = (node.histories, node.counterexamples);
        Branch { name: String::new(), histories, counterexamples, below }
    }
}

impl Node {
    fn add(&mut self, is_counterexample: bool) {
        self.histories += 1;
        self.counterexamples += u64::from(is_counterexample);
    }
}

/// The name of a transaction, by its session and its place in it, and what it reads from.
fn told(part: &str, path: &[String], sessions: &[&str]) -> (String, String) {
    let (session, sources) = part.split_once(':').unwrap_or((part, ""));
    let session = session.parse().ok().and_then(|it: usize| sessions.get(it)).copied();
    let session = session.unwrap_or("?");
    let is_own = |name: &&String| name.rsplit_once('.').is_some_and(|(of, _)| of == session);
    let name = format!("{session}.{}", path.iter().filter(is_own).count() + 1);
    let source = |place: &str| match place.parse::<usize>().ok().map(|it| it.checked_sub(1)) {
        Some(None) => "initial".to_owned(),
        Some(Some(place)) => path.get(place).cloned().unwrap_or_default(),
        None => String::new(),
    };
    let sources: Vec<String> = sources.split('.').filter(|it| !it.is_empty()).map(source).collect();
    (name, sources.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_are_counted_by_how_they_begin() {
        let mut coverage = Coverage::default();
        coverage.count("0:0,1:0.1", true);
        coverage.count("0:0,1:1.0", false);
        coverage.count("0:0,0:1,1:0.2", false);
        let tree = coverage.tree(&["a", "b"]).unwrap();
        assert_eq!((tree.histories, tree.counterexamples), (3, 1));
        let first = &tree.below[0];
        assert_eq!((first.name.as_str(), first.histories), ("a.1 reads initial", 3));
        let names: Vec<&str> = first.below.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["b.1 reads initial, a.1", "b.1 reads a.1, initial", "a.2 reads a.1"]);
        assert_eq!(first.below[2].below[0].name, "b.1 reads initial, a.2");
    }

    #[test]
    fn a_large_exploration_has_a_small_tree() {
        let mut coverage = Coverage::default();
        for number in 0..20_000 {
            coverage.count(&format!("0:{},1:{number}", number % 100), false);
        }
        assert!(coverage.nodes.len() <= NODES_MAX);
        assert_eq!(coverage.tree(&["a", "b"]).unwrap().histories, 20_000);
    }
}
