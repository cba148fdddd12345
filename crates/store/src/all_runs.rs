//! Goes through all that can happen, one run after another.
//!
//! A run is a sequence of decisions: which client goes on, and which version a read returns. The
//! explorer takes the first option of each, and in the next run the next option of the last
//! decision that has one left. Programs must do the same again if they see the same.

use crate::chooser::{Chooser, PendingRead};
use crate::run_plan::{RunPlan, hash, lock};
use crate::schedule::Schedule;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex};

/// Walks through the tree of decisions, without reduction.
///
/// ```
/// use seriatim_isolation::Level;
/// use seriatim_store::{AllRuns, Store};
///
/// let (mut explorer, mut seen) = (AllRuns::new(), Vec::new());
/// while let Some(plot) = explorer.run() {
///     let builder = Store::<i64>::builder(Level::Causal);
///     let store: Store<i64> = builder.chooser(plot.chooser).build().unwrap();
///     let (one, two) = (store.session(), store.session());
///     let mut txn = one.begin().unwrap();
///     txn.write("x", 1).unwrap();
///     txn.commit().unwrap();
///     seen.push(two.begin().unwrap().read("x").unwrap());
/// }
/// assert_eq!(seen, [None, Some(1)]);
/// ```
#[derive(Debug, Default)]
pub struct AllRuns {
    tree: Arc<Mutex<Tree>>,
    begun: bool,
}

#[derive(Debug, Default)]
struct Tree {
    /// The decisions of this run: the option taken, and how many there were.
    path: Vec<(usize, usize)>,
    /// How many decisions this run has come to.
    depth: usize,
    /// If states are merged: those from which everything has been tried, or is being tried.
    known: Option<FxHashSet<u64>>,
    /// This run has come to a known state: what is left of it makes no difference.
    is_known: bool,
    /// Stands for what was read so far, in whatever order.
    reads: u64,
    /// How many turns each client had.
    turns: FxHashMap<usize, u32>,
}

impl AllRuns {
    /// Goes through all sequences of decisions.
    pub fn new() -> AllRuns {
        AllRuns::default()
    }

    /// Goes on only once from points that clients can reach in several ways, having read the same.
    /// For read committed, read atomic and causal consistency, where what may happen depends on
    /// nothing else.
    pub fn merging() -> AllRuns {
        let tree = Tree { known: Some(FxHashSet::default()), ..Tree::default() };
        AllRuns { tree: Arc::new(Mutex::new(tree)), begun: false }
    }

    /// What to do in the next run; `None` when everything has been done. The run before must have
    /// ended.
    pub fn run(&mut self) -> Option<RunPlan> {
        if std::mem::replace(&mut self.begun, true) && !lock(&self.tree).advance() {
            return None;
        }
        let tree = Arc::clone(&self.tree);
        let schedule: Schedule = Box::new(move |alive| lock(&tree).next_client(alive));
        Some(RunPlan { chooser: Box::new(Walk(Arc::clone(&self.tree))), schedule })
    }
}

impl Tree {
    /// Prepares the next run; false if there is none.
    fn advance(&mut self) -> bool {
        (self.depth, self.is_known, self.reads) = (0, false, 0);
        self.turns.clear();
        while self.path.pop_if(|(taken, options)| *taken + 1 >= *options).is_some() {}
        let Some((taken, _)) = self.path.last_mut() else { return false };
        *taken += 1;
        true
    }

    fn decide(&mut self, options: usize) -> usize {
        if self.is_known {
            return 0;
        }
        if self.depth == self.path.len() {
            self.path.push((0, options));
        }
        self.depth += 1;
        self.path[self.depth - 1].0
    }

    fn next_client(&mut self, alive: &[usize]) -> usize {
        let is_new = self.depth == self.path.len();
        let state = self.turns.iter().fold(self.reads, |sum, turns| sum.wrapping_add(hash(&turns)));
        // The states along the old path are known because what is behind them is being tried.
        if let Some(known) = self.known.as_mut().filter(|_| is_new && !self.is_known) {
            self.is_known = !known.insert(state);
        }
        let choice = self.decide(alive.len()).min(alive.len() - 1);
        *self.turns.entry(alive[choice]).or_default() += 1;
        choice
    }
}

struct Walk(Arc<Mutex<Tree>>);

impl Chooser for Walk {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        let mut tree = lock(&self.0);
        let choice = tree.decide(read.versions.len()).min(read.versions.len() - 1);
        let event = (read.reader, read.number, read.versions[choice].writer);
        tree.reads = tree.reads.wrapping_add(hash(&event));
        choice
    }
}
