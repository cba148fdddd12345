//! The question as a formula: a history within the boundary (`bounds`), that the level allows
//! (`level`), and that is serializable by no version order of a growing list (`cycle`).
//!
//! The paper (section 4) asks for *all commit orders are cyclic* with a quantifier, or for a cycle
//! that every commit order has in common with ranks. Here the quantifier ranges over version
//! orders: a history is serializable iff for some order of the writers the graph of session order,
//! reads, overwrites and anti-dependencies is acyclic. For one version order *it has a cycle* needs
//! no quantifier, and rules out every history that this order would serialize, whatever is read
//! from which writer. In applications that read what they overwrite, the observed order is the only
//! one that matters, so that the search mostly ends after one round.

mod bounds;
mod cycle;
mod level;

use crate::formula::{Formula, Solved};
use crate::problem::Problem;
use crate::question::Boundary;
use batsat::Lit;
use std::time::Instant;

/// The candidates of a read with their literals.
pub(crate) type Selectors = Vec<(Option<u32>, Lit)>;

/// A formula whose models are histories.
pub(crate) struct Encoding<'p> {
    problem: &'p Problem,
    formula: Formula,
    /// For each node and slot whether it is kept.
    kept: Vec<Vec<Lit>>,
    /// For each read the transaction that it reads from; none if it is cut.
    select: Vec<Selectors>,
    /// For each read whether it is kept and has another writer than observed.
    changed: Vec<Lit>,
    /// Literal `k` is true if more than `k` transactions are on the cycle of the observed version
    /// order.
    sizes: Vec<Lit>,
    /// If this is true the history can go on: only changed reads end transactions early, and the
    /// level allows what transactions that are cut write next, as far as it was observed.
    settled: Lit,
    /// If this is true the history is one that is likely to come true: it can go on, no read is
    /// risky, and the cycle does not rest on what a transaction reads after a changed read.
    calm: Lit,
    /// For each read the transaction that it reads from in a way that a cycle may rest on.
    firm: Vec<Selectors>,
}

/// A history: how many slots of each node are kept, and which transactions the kept reads read
/// from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub kept: Vec<u32>,
    /// For each read its writer; `None` if it is cut.
    pub source: Vec<Option<Option<u32>>>,
}

/// What is wished of a history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    /// The most transactions on its cycle.
    pub size: Option<usize>,
    /// Reads that, if they are kept, have the writers that they had.
    pub as_observed: Vec<usize>,
    /// Slots of nodes that are kept.
    pub kept: Vec<(u32, u32)>,
    /// Whether it must be able to go on.
    pub settled: bool,
    /// Whether it must be likely that the application comes that far.
    pub calm: bool,
}

impl Assignment {
    /// The kept reads that have another writer than observed.
    pub fn changed(&self, problem: &Problem) -> Vec<usize> {
        let differs = |&read: &usize| {
            self.source[read].is_some_and(|source| source != problem.reads[read].observed)
        };
        (0..problem.reads.len()).filter(differs).collect()
    }

    /// Where the sessions end.
    pub fn ends(&self, problem: &Problem) -> Ends {
        let mut ends = Ends::default();
        for (number, node) in problem.nodes.iter().enumerate() {
            let (kept, slots) = (self.kept[number], node.slots.len() as u32);
            let is_reached = node.prev.is_none_or(|prev| self.is_whole(problem, prev));
            let goes_on =
                kept == slots && node.next.is_some_and(|next| self.kept[next as usize] > 0);
            if kept > 0 && !goes_on {
                ends.last.push((number as u32, kept - 1));
            }
            if is_reached && kept < slots {
                ends.next.push((number as u32, kept));
            }
        }
        ends
    }

    fn is_whole(&self, problem: &Problem, node: u32) -> bool {
        self.kept[node as usize] as usize == problem.nodes[node as usize].slots.len()
    }
}

/// For each session the last slot that is kept, and the first that is not, where there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    pub last: Vec<(u32, u32)>,
    pub next: Vec<(u32, u32)>,
}

impl<'p> Encoding<'p> {
    /// All histories within the boundary that the level allows and that the observed version order
    /// does not serialize.
    pub fn new(problem: &'p Problem, deadline: Option<Instant>) -> Encoding<'p> {
        let mut formula = Formula::new(deadline);
        let (settled, calm) = (formula.unlikely(), formula.unlikely());
        formula.implies(&[calm], &[settled]);
        let bounds::Bounds { kept, select, changed } =
            bounds::encode(problem, &mut formula, settled);
        let (sizes, firm) = (Vec::new(), Vec::new());
        let mut encoding =
            Encoding { problem, formula, kept, select, changed, sizes, settled, calm, firm };
        encoding.calm();
        encoding.firm();
        level::encode(&mut encoding);
        let on_cycle = encoding.must_be_cyclic(&problem.place);
        encoding.sizes = encoding.formula.count(&on_cycle, SIZES_MAX);
        encoding
    }

    fn calm(&mut self) {
        for &(read, source) in &self.problem.risky {
            let selected = self.select[read].iter().find(|one| one.0 == source).map(|one| one.1);
            self.formula.implies(
                &[self.calm],
                &selected.map(|selected| !selected).into_iter().collect::<Vec<_>>(),
            );
        }
    }

    /// A transaction that has read something else may read other keys afterwards. Under the strict
    /// boundary nothing is afterwards.
    fn firm(&mut self) {
        if self.problem.boundary == Boundary::Strict {
            self.firm = self.select.clone();
            return;
        }
        for node in 0..self.problem.nodes.len() as u32 {
            let mut moved: Option<Lit> = None;
            for read in self.problem.reads_of(node) {
                let firm = (0..self.select[read].len())
                    .map(|one| self.firm_selector(read, one, moved))
                    .collect();
                self.firm.push(firm);
                let now = self.formula.unlikely();
                self.formula.implies(&[self.changed[read]], &[now]);
                moved.into_iter().for_each(|before| self.formula.implies(&[before], &[now]));
                moved = Some(now);
            }
        }
    }

    fn firm_selector(&mut self, read: usize, one: usize, moved: Option<Lit>) -> (Option<u32>, Lit) {
        let (writer, selected) = self.select[read][one];
        let Some(moved) = moved else { return (writer, selected) };
        let firm = self.formula.unlikely();
        self.formula.implies(&[firm], &[selected]);
        self.formula.implies(&[firm, self.calm], &[!moved]);
        (writer, firm)
    }

    /// When a write counts for the level, as alternative premises. That of a transaction that is
    /// cut before it happens is no part of the prediction, but will most likely follow: a
    /// prediction that can go on goes well with it too.
    fn counts(&self, node: u32, slot: u32) -> Vec<Vec<Lit>> {
        let (there, written) =
            (self.kept[node as usize][0], self.kept[node as usize][slot as usize]);
        match self.problem.boundary {
            Boundary::Strict if slot > 0 => vec![vec![written], vec![self.settled, there]],
            _ => vec![vec![written]],
        }
    }

    /// Looks for a history as it is wished.
    pub fn solve(&mut self, wishes: &Wishes) -> Solved {
        let size = wishes.size.and_then(|size| self.sizes.get(size)).copied();
        let changed = wishes.as_observed.iter().map(|&read| self.changed[read]);
        let kept = wishes.kept.iter().map(|&(node, slot)| self.kept[node as usize][slot as usize]);
        let settled = wishes.settled.then_some(self.settled);
        let calm = wishes.calm.then_some(self.calm);
        let assumptions: Vec<Lit> = size
            .into_iter()
            .chain(changed)
            .map(|literal| !literal)
            .chain(kept)
            .chain(settled)
            .chain(calm)
            .collect();
        self.formula.solve(&assumptions)
    }

    /// The history that was found.
    pub fn assignment(&self) -> Assignment {
        let kept = |slots: &Vec<Lit>| {
            slots.iter().take_while(|&&slot| self.formula.is_true(slot)).count() as u32
        };
        let source = |select: &Selectors| {
            select.iter().find(|(_, lit)| self.formula.is_true(*lit)).map(|one| one.0)
        };
        Assignment {
            kept: self.kept.iter().map(kept).collect(),
            source: self.select.iter().map(source).collect(),
        }
    }

    /// Histories in which all of `facts` (a read and its writer) are true are no longer looked for.
    pub fn forbid(&mut self, facts: &[(usize, Option<u32>)]) {
        let literal = |&(read, source): &(usize, Option<u32>)| {
            let select = &self.select[read];
            select.iter().find(|one| one.0 == source).map(|one| !one.1)
        };
        let clause: Vec<Lit> = facts.iter().filter_map(literal).collect();
        self.formula.clause(&clause);
    }

    /// This history is no longer looked for.
    pub fn forbid_assignment(&mut self, assignment: &Assignment) {
        let mut clause = Vec::new();
        for (slots, &kept) in self.kept.iter().zip(&assignment.kept) {
            clause.extend(
                slots
                    .iter()
                    .enumerate()
                    .map(|(i, &slot)| if (i as u32) < kept { !slot } else { slot }),
            );
        }
        for (select, source) in self.select.iter().zip(&assignment.source) {
            clause.extend(select.iter().filter(|one| Some(one.0) == *source).map(|one| !one.1));
        }
        self.formula.clause(&clause);
    }

    /// Variables, clauses and conflicts so far.
    pub fn effort(&self) -> (u64, u64, u64) {
        let (variables, conflicts) = self.formula.effort();
        (variables, self.formula.clauses(), conflicts)
    }
}

/// The largest cycle that can be asked for.
pub(crate) const SIZES_MAX: usize = 8;
