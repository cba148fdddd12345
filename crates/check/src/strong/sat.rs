//! Choosing between orders that are both possible so far, with a SAT solver.
//!
//! The solver is given only what the present order of the points breaks, and decides in the
//! direction of that order first. Its model gives a new order; what that breaks is handed over in
//! turn, until an order breaks nothing or no choice is left. Most choices never come here.
//!
//! The solver is `batsat`: plain Rust that builds in seconds, and lets a theory propagate, explain
//! and raise conflicts. CaDiCaL with an external propagator was as fast in a trial, but is C++ with
//! a long build and unsafe glue; Z3's difference logic was far slower on this problem and ran out
//! of memory at ten thousand transactions; the other solvers in Rust that were looked at have no
//! place for a theory.

use super::contradiction::{Contradiction, OpenRead};
use super::facts::Facts;
use super::force::{Findings, Pair, PairSet, order_arcs, replaced_reads};
use super::ids::{AmbiguousId, SlotId};
use super::mutation::{Rule, holds};
use super::point_graph::PointGraph;
use super::sources::Sources;
use super::theory::Acyclic;
use super::timeline::{Arc, Timeline};
use crate::limits::Limits;
use batsat::{Callbacks, Lit, Solver, SolverInterface, lbool};
use rustc_hash::FxHashMap;
use seriatim_history::TxnId;

/// Stops the solver when the budget is used up.
pub(crate) struct Watch(pub Limits);

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        self.0.is_over()
    }
}

/// How many choices the solver may be given: some hundred bytes each.
const CHOICES_MAX: u64 = 4_000_000;

/// Of so many candidates it pays to say that at most one is chosen.
const FEW: usize = 16;

/// A candidate of an ambiguous read that the search may choose.
struct Selector {
    slot: SlotId,
    literal: Lit,
}

pub(crate) struct SatSearch<'a> {
    facts: &'a Facts<'a>,
    timeline: Timeline,
    solver: Solver<Watch>,
    pub theory: Acyclic<'a>,
    limits: Limits,
    /// For each pair (smaller transaction first) the variable that orders it.
    pairs: PairSet,
    /// For each ambiguous read that the search decides, its candidates.
    selectors: FxHashMap<AmbiguousId, Vec<Selector>>,
    /// Which reads were told to begin before which writers: the literal of the edge.
    before: FxHashMap<(TxnId, TxnId), Lit>,
    clauses: FxHashMap<(AmbiguousId, SlotId, SlotId), ()>,
    open: Vec<OpenRead>,
    /// Ambiguous reads that were matched before and are part of a clause.
    matched: Vec<AmbiguousId>,
}

impl<'a> SatSearch<'a> {
    pub fn new(
        facts: &'a Facts<'a>,
        graph: &'a mut PointGraph,
        position: Vec<u32>,
        limits: Limits,
    ) -> SatSearch<'a> {
        let timeline = graph.timeline;
        SatSearch {
            facts,
            timeline,
            solver: Solver::new(batsat::SolverOpts::default(), Watch(limits)),
            theory: Acyclic::new(graph, position),
            limits,
            pairs: PairSet::default(),
            selectors: FxHashMap::default(),
            before: FxHashMap::default(),
            clauses: FxHashMap::default(),
            open: Vec::new(),
            matched: Vec::new(),
        }
    }

    /// Hands over what is open; whether anything of it is new.
    pub fn add(&mut self, found: &Findings, chosen: &[SlotId], fixed: &Sources) -> bool {
        let known = (self.pairs.len(), self.selectors.len(), self.clauses.len());
        for &pair in &found.open {
            self.pair(pair, fixed);
        }
        // Those are as many variables as candidates: the budget may end here.
        for open in &found.open_reads {
            if self.is_full() || self.limits.is_over() {
                break;
            }
            self.read(open);
        }
        for &(read, version) in &found.open_choices {
            self.choice(read, version, chosen[read.index()], fixed);
        }
        known != (self.pairs.len(), self.selectors.len(), self.clauses.len())
    }

    /// Whether the solver has been given as much as it may have.
    pub fn is_full(&self) -> bool {
        self.choices() > CHOICES_MAX
    }

    /// The literal for `pair.hint` before `pair.other`.
    fn pair(&mut self, pair: Pair, fixed: &Sources) -> Lit {
        let key = (pair.hint.min(pair.other), pair.hint.max(pair.other));
        let hint_is_smaller = pair.hint < pair.other;
        if let Some(&code) = self.pairs.get(&key) {
            // The code says for which of the two `false` puts it first.
            let (variable, smaller_first_if_false) = (code >> 1, code & 1 == 1);
            let literal = Lit::new(self.solver.var_of_int(variable), !smaller_first_if_false);
            return if hint_is_smaller { literal } else { !literal };
        }
        // The solver tries `false` first: the way that has to move less.
        let variable = self.solver.new_var(lbool::UNDEF, true);
        let (forward, backward) =
            (self.arcs(pair.hint, pair.other, fixed), self.arcs(pair.other, pair.hint, fixed));
        let hint_is_nearer = self.theory.farthest(&forward) <= self.theory.farthest(&backward);
        let hinted = Lit::new(variable, !hint_is_nearer);
        self.theory.define(hinted, forward);
        self.theory.define(!hinted, backward);
        self.pairs.insert(key, variable.idx() << 1 | u32::from(hint_is_smaller == hint_is_nearer));
        hinted
    }

    /// What follows if `earlier` writes before `later`, also for the reads that were matched by
    /// now.
    fn arcs(&mut self, earlier: TxnId, later: TxnId, fixed: &Sources) -> Vec<Arc> {
        let mut arcs = order_arcs(self.facts, self.timeline, earlier, later);
        let reads = replaced_reads(self.facts, fixed, earlier, later);
        arcs.extend(
            reads.iter().map(|&read| self.timeline.read_write(self.facts.read(read).reader, later)),
        );
        self.matched.extend(reads);
        arcs
    }

    /// One of the candidates of an ambiguous read.
    fn read(&mut self, open: &OpenRead) {
        if self.selectors.contains_key(&open.read) {
            return;
        }
        let read = self.facts.read(open.read);
        let preferred = self.preferred(read.reader, &open.candidates);
        let mut selectors = Vec::new();
        for &slot in &open.candidates {
            let variable = self.solver.new_var(lbool::UNDEF, true);
            let literal = Lit::new(variable, slot != preferred);
            if let Some(writer) = self.facts.writer(slot) {
                self.theory.define(literal, vec![self.timeline.follows(writer, read.reader)]);
            }
            selectors.push(Selector { slot, literal });
        }
        let mut clause: Vec<Lit> = selectors.iter().map(|selector| selector.literal).collect();
        if holds(Rule::OneSource) {
            self.solver.add_clause_reuse(&mut clause);
        }
        // One is enough; so the others need no decision. Of many that would take too many clauses.
        let few = if selectors.len() <= FEW { &selectors[..] } else { &[] };
        for (place, one) in few.iter().enumerate() {
            for other in &few[..place] {
                self.solver.add_clause_reuse(&mut vec![!one.literal, !other.literal]);
            }
        }
        self.selectors.insert(open.read, selectors);
        self.open.push(open.clone());
    }

    /// The candidate that is the last one before the reader in the present order, or else the first
    /// one.
    fn preferred(&self, reader: TxnId, candidates: &[SlotId]) -> SlotId {
        let begin = self.theory.position[self.timeline.begin(reader).index()];
        let place = |slot: SlotId| match self.facts.writer(slot) {
            Some(writer) => self.theory.position[self.timeline.commit(writer).index()] + 1,
            None => 0,
        };
        let before = candidates
            .iter()
            .copied()
            .filter(|&slot| place(slot) <= begin)
            .max_by_key(|&slot| place(slot));
        before
            .or_else(|| candidates.iter().copied().min_by_key(|&slot| place(slot)))
            .unwrap_or(SlotId::NONE)
    }

    /// If the read reads `slot`, then the version came before it, or the reader began before the
    /// version.
    fn choice(&mut self, number: AmbiguousId, version: SlotId, slot: SlotId, fixed: &Sources) {
        if self.clauses.insert((number, slot, version), ()).is_some() {
            return;
        }
        let reader = self.facts.read(number).reader;
        let writer = self.facts.version_writer(version);
        let source = self
            .facts
            .writer(slot)
            .map(|source| self.pair(Pair { hint: source, other: writer }, fixed));
        let is_fixed = fixed.of(number) == slot;
        let arc = self.timeline.read_write(reader, writer);
        if is_fixed && source.is_some_and(|source| self.theory.stands_for(source, arc)) {
            return;
        }
        // What the solver tries first should satisfy the clause.
        let is_tried = source.is_none_or(|source| !source.sign());
        let mut clause = vec![self.begins_before(reader, writer, is_tried)];
        clause.extend(source.map(|source| !source));
        if is_fixed {
            self.matched.push(number);
        } else {
            let selectors = self.selectors.get(&number).into_iter().flatten();
            clause.extend(
                selectors
                    .filter(|selector| selector.slot == slot)
                    .map(|selector| !selector.literal),
            );
        }
        self.solver.add_clause_reuse(&mut clause);
    }

    fn begins_before(&mut self, reader: TxnId, writer: TxnId, is_tried: bool) -> Lit {
        if let Some(&literal) = self.before.get(&(reader, writer)) {
            return literal;
        }
        let literal = Lit::new(self.solver.new_var(lbool::UNDEF, true), !is_tried);
        self.theory.define(literal, vec![self.timeline.read_write(reader, writer)]);
        self.before.insert((reader, writer), literal);
        literal
    }

    /// Looks for a choice: `Some(true)` if there is one, `None` if the budget ran out.
    pub fn solve(&mut self) -> Option<bool> {
        let result = self.solver.solve_limited_th(&mut self.theory, &[]);
        if result == lbool::TRUE {
            Some(true)
        } else if result == lbool::FALSE {
            Some(false)
        } else {
            None
        }
    }

    /// Writes down what the model chose for the reads.
    pub fn choose(&self, chosen: &mut [SlotId]) {
        for (&number, selectors) in &self.selectors {
            let selected = selectors
                .iter()
                .find(|selector| self.solver.value_lit(selector.literal) == lbool::TRUE);
            if let Some(selector) = selected {
                chosen[number.index()] = selector.slot;
            }
        }
    }

    /// How many choices the solver was given.
    pub fn choices(&self) -> u64 {
        u64::from(self.solver.num_vars())
    }

    pub fn conflicts(&self) -> u64 {
        self.solver.num_conflicts()
    }

    pub fn decisions(&self) -> u64 {
        self.solver.num_decisions()
    }

    /// No choice is left: the transactions that were on a cycle, and the ambiguous reads that were
    /// asked about.
    pub fn exhausted(&self) -> Contradiction {
        let points =
            self.theory.involved.iter().filter(|&&point| self.theory.graph.is_of_txn(point));
        let mut txns: Vec<TxnId> = points.map(|&point| self.timeline.txn(point)).collect();
        txns.sort_unstable();
        txns.dedup();
        Contradiction::Exhausted { txns, open: self.open.clone(), matched: self.matched.clone() }
    }
}
