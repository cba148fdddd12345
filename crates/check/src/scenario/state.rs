//! A graph of what must precede what, with all that follows from it by itself.
//!
//! SER and SSER have one node a transaction. SI and PC have two, begin and commit: session order, reads and real time lead
//! from a commit to a begin, read-write edges from a begin to a commit, write-write edges from a commit to a begin at SI and
//! to a commit at PC. A history satisfies the level iff the versions of each key can be put into an order (and each read
//! given a source) such that this graph is acyclic.
//!
//! Saturation: if one order of two writers of a key would close a cycle, the other one holds. It works in rounds, and each
//! round looks only at what was known before it, which keeps derivations shallow.

use super::budget::{Budget, Exhausted};
use super::instance::{Instance, Source};
use super::path::{self, Preference};
use super::proof::{self, Cycle, Label, Order, OrderWhy, Origin, OriginWhy, Step, cost};
use super::reach::Reach;
use crate::level::Level;
use seriatim_history::KeyId;
use std::rc::Rc;

/// Which nodes the edges of a level join.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Whole,
    /// Two nodes a transaction; whether write-write edges lead to the begin.
    Split {
        ww_to_begin: bool,
    },
}

/// Edges out of a node; the edge from begin to commit of a transaction has no step.
pub(super) type Outgoing = Vec<Vec<(usize, Option<Rc<Step>>)>>;

/// Something that is known.
enum Fact {
    /// The transaction counts.
    Counts(usize),
    Origin(Rc<Origin>),
    Order(Rc<Order>),
}

/// What is known so far.
#[derive(Clone)]
pub(super) struct State<'i> {
    pub instance: &'i Instance<'i>,
    shape: Shape,
    reach: Reach,
    outgoing: Outgoing,
    /// Place a·n+b: the versions of a precede those of b.
    orders: Vec<Option<Rc<Order>>>,
    /// For each read where it comes from, if that is known and its transaction counts.
    origins: Vec<Option<Rc<Origin>>>,
    /// For each read the candidates that are refuted, with the cycles that they close.
    refuted: Vec<Vec<(Source, Cycle)>>,
    counts: Vec<bool>,
    cyclic: bool,
}

impl<'i> State<'i> {
    /// What the input says; not saturated.
    pub fn new(instance: &'i Instance<'i>, level: Level) -> State<'i> {
        let shape = match level {
            Level::PrefixConsistency => Shape::Split { ww_to_begin: false },
            Level::SnapshotIsolation => Shape::Split { ww_to_begin: true },
            _ => Shape::Whole,
        };
        let n = instance.txns.len();
        let nodes = if shape == Shape::Whole { n } else { 2 * n };
        let mut state = State {
            instance,
            shape,
            reach: Reach::new(nodes),
            outgoing: vec![Vec::new(); nodes],
            orders: vec![None; n * n],
            origins: vec![None; instance.reads.len()],
            refuted: vec![Vec::new(); instance.reads.len()],
            counts: vec![false; n],
            cyclic: false,
        };
        state.add_input(level == Level::StrictSerializable);
        state
    }

    fn add_input(&mut self, real_time: bool) {
        let n = self.instance.txns.len();
        if self.shape != Shape::Whole {
            (0..n).for_each(|txn| self.add_edge(2 * txn, 2 * txn + 1, None));
        }
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            if self.instance.precedes_in_session(a, b) {
                self.add_step(Step::new(a, b, Label::Session));
            } else if real_time && self.instance.precedes_in_time(a, b) {
                self.add_step(Step::new(a, b, Label::RealTime));
            }
        }
        let certain = (0..n).filter(|&txn| !self.instance.txns[txn].optional);
        self.learn(certain.map(Fact::Counts).collect());
    }

    fn begin(&self, txn: usize) -> usize {
        if self.shape == Shape::Whole { txn } else { 2 * txn }
    }

    fn commit(&self, txn: usize) -> usize {
        if self.shape == Shape::Whole { txn } else { 2 * txn + 1 }
    }

    /// The nodes that a step joins.
    fn ends(&self, step: &Step) -> (usize, usize) {
        match (&step.label, self.shape) {
            (Label::ReadWrite { .. }, _) => (self.begin(step.from), self.commit(step.to)),
            (Label::WriteWrite(_), Shape::Split { ww_to_begin: false }) => {
                (self.commit(step.from), self.commit(step.to))
            }
            _ => (self.commit(step.from), self.begin(step.to)),
        }
    }

    fn add_step(&mut self, step: Rc<Step>) {
        let (from, to) = self.ends(&step);
        self.add_edge(from, to, Some(step));
    }

    fn add_edge(&mut self, from: usize, to: usize, step: Option<Rc<Step>>) {
        self.cyclic |= self.reach.has(to, from);
        self.outgoing[from].push((to, step));
        self.reach.insert(from, to);
    }

    /// Takes over facts and what follows from each alone.
    fn learn(&mut self, mut facts: Vec<Fact>) {
        while let Some(fact) = facts.pop() {
            match fact {
                Fact::Counts(txn) if !self.counts[txn] => self.learn_counts(txn, &mut facts),
                Fact::Origin(origin) if self.origins[origin.read].is_none() => self.learn_origin(origin, &mut facts),
                Fact::Order(order) if self.order(order.earlier, order.later).is_none() => self.learn_order(order),
                _ => {}
            }
        }
    }

    fn learn_counts(&mut self, txn: usize, facts: &mut Vec<Fact>) {
        self.counts[txn] = true;
        let instance = self.instance;
        for &read in &instance.txns[txn].reads {
            if let [source] = instance.reads[read].candidates[..] {
                facts.push(Fact::Origin(Origin::new(read, source, OriginWhy::Only)));
            }
        }
        for (number, listed) in instance.listed.iter().enumerate().filter(|(_, listed)| listed.reader == txn) {
            let key = instance.history.op(listed.read).key;
            let order = Order::new(listed.from, listed.to, key, OrderWhy::Listed(number));
            facts.extend([Fact::Counts(listed.from), Fact::Counts(listed.to), Fact::Order(order)]);
        }
        let initial: Vec<Rc<Origin>> = self.known_origins().filter(|o| o.source == Source::Initial).cloned().collect();
        for origin in initial {
            self.add_overwrite(&origin, txn, None);
        }
    }

    fn learn_origin(&mut self, origin: Rc<Origin>, facts: &mut Vec<Fact>) {
        let reader = self.instance.reads[origin.read].txn;
        self.origins[origin.read] = Some(origin.clone());
        let others = 0..self.instance.txns.len();
        match origin.source {
            Source::Txn(writer) => {
                facts.push(Fact::Counts(writer));
                self.add_step(Step::new(writer, reader, Label::WriteRead(origin.clone())));
                for other in others {
                    if let Some(order) = self.order(writer, other).cloned() {
                        self.add_overwrite(&origin, other, Some(order));
                    }
                }
            }
            Source::Initial => {
                let counting: Vec<usize> = others.filter(|&other| self.counts[other]).collect();
                counting.into_iter().for_each(|other| self.add_overwrite(&origin, other, None));
            }
        }
    }

    fn learn_order(&mut self, order: Rc<Order>) {
        let (earlier, later) = (order.earlier, order.later);
        self.orders[earlier * self.instance.txns.len() + later] = Some(order.clone());
        for step in self.consequences(&order) {
            self.add_step(step);
        }
    }

    /// The edges that an order of versions means: write-write, and read-write from the readers of the earlier version.
    fn consequences(&self, order: &Rc<Order>) -> Vec<Rc<Step>> {
        let write_write = Step::new(order.earlier, order.later, Label::WriteWrite(order.clone()));
        let readers = self.known_origins().filter(|origin| origin.source == Source::Txn(order.earlier));
        let overwrites = readers.filter_map(|origin| self.overwrite(origin, order.later, Some(order.clone())));
        std::iter::once(write_write).chain(overwrites).collect()
    }

    /// The edge from a reader to a transaction that overwrote what it read.
    fn overwrite(&self, origin: &Rc<Origin>, by: usize, order: Option<Rc<Order>>) -> Option<Rc<Step>> {
        let read = &self.instance.reads[origin.read];
        self.instance.txns[by].write(read.key).filter(|_| by != read.txn)?;
        Some(Step::new(read.txn, by, Label::ReadWrite { origin: origin.clone(), order }))
    }

    fn add_overwrite(&mut self, origin: &Rc<Origin>, by: usize, order: Option<Rc<Order>>) {
        if let Some(step) = self.overwrite(origin, by, order) {
            self.add_step(step);
        }
    }

    fn known_origins(&self) -> impl Iterator<Item = &Rc<Origin>> {
        self.origins.iter().flatten()
    }

    fn order(&self, earlier: usize, later: usize) -> Option<&Rc<Order>> {
        self.orders[earlier * self.instance.txns.len() + later].as_ref()
    }

    /// Infers orders until nothing more follows; the contradiction, if there is one.
    pub fn saturate(&mut self, preference: Preference, budget: &mut Budget) -> Result<Option<Cycle>, Exhausted> {
        loop {
            budget.spend(1 + self.outgoing.len() as u64)?;
            if self.cyclic {
                return Ok(path::best_cycle(&self.outgoing, preference));
            }
            let mut forced = Vec::new();
            for (a, b, key) in self.open_pairs() {
                budget.spend(1)?;
                forced.extend(one_side(self.forced(a, b, key), self.forced(b, a, key)));
            }
            if forced.is_empty() {
                return Ok(None);
            }
            budget.spend(forced.len() as u64 * 4)?;
            self.learn(forced.into_iter().map(Fact::Order).collect());
        }
    }

    /// Pairs of transactions that count and write a common key, in an order that is not known.
    pub fn open_pairs(&self) -> Vec<(usize, usize, KeyId)> {
        let n = self.instance.txns.len();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let counting = pairs.filter(|&(a, b)| self.counts[a] && self.counts[b]);
        let open = counting.filter(|&(a, b)| self.order(a, b).is_none() && self.order(b, a).is_none());
        open.filter_map(|(a, b)| Some((a, b, self.instance.common_keys(a, b).next()?))).collect()
    }

    /// The order of `earlier` before `later`, if the opposite closes a cycle.
    fn forced(&self, earlier: usize, later: usize, key: KeyId) -> Option<Rc<Order>> {
        let opposite = Order::new(later, earlier, key, OrderWhy::Supposed);
        let closing = self.consequences(&opposite).into_iter().filter(|step| {
            let (from, to) = self.ends(step);
            self.reach.has(to, from)
        });
        let cycles = closing.filter_map(|step| {
            let (from, to) = self.ends(&step);
            let path = path::cheapest(&self.outgoing, to, from, Preference::Simple)?;
            Some(std::iter::once(step).chain(path).collect::<Cycle>())
        });
        let cycle = cycles.min_by_key(|cycle| cost(cycle))?;
        // The order is shown with the key of the edge that refutes the opposite.
        let key = match &cycle[0].label {
            Label::ReadWrite { origin, .. } => self.instance.reads[origin.read].key,
            _ => key,
        };
        Some(Order::new(earlier, later, key, OrderWhy::Otherwise(cycle)))
    }

    /// Reads of transactions that count whose source is not known, with the candidates that are left.
    pub fn open_reads(&self) -> Vec<(usize, Vec<Source>)> {
        let reads = self.instance.reads.iter().enumerate();
        let open = reads.filter(|(number, read)| self.counts[read.txn] && self.origins[*number].is_none());
        open.map(|(number, read)| {
            let gone = |source: &Source| self.refuted[number].iter().any(|(refuted, _)| refuted == source);
            (number, read.candidates.iter().copied().filter(|source| !gone(source)).collect())
        })
        .collect()
    }

    /// The same with an order that is supposed.
    pub fn suppose_order(&self, earlier: usize, later: usize, key: KeyId) -> State<'i> {
        let mut state = self.clone();
        state.learn(vec![Fact::Order(Order::new(earlier, later, key, OrderWhy::Supposed))]);
        state
    }

    /// The same with a source that is supposed.
    pub fn suppose_origin(&self, read: usize, source: Source) -> State<'i> {
        let mut state = self.clone();
        state.learn(vec![Fact::Origin(Origin::new(read, source, OriginWhy::Supposed))]);
        state
    }

    /// Takes over an order whose opposite was refuted by `cycle`.
    pub fn conclude_order(&mut self, earlier: usize, later: usize, key: KeyId, cycle: Cycle) {
        self.learn(vec![Fact::Order(Order::new(earlier, later, key, OrderWhy::Otherwise(cycle)))]);
    }

    /// Excludes a candidate that was refuted by `cycle`; the last one left is the source.
    pub fn exclude(&mut self, read: usize, source: Source, cycle: Cycle) {
        self.refuted[read].push((source, cycle));
        let gone = |source: &Source| self.refuted[read].iter().any(|(refuted, _)| refuted == source);
        let mut left = self.instance.reads[read].candidates.iter().copied().filter(|source| !gone(source));
        if let (Some(last), None) = (left.next(), left.next()) {
            let why = OriginWhy::Others(self.refuted[read].clone());
            self.learn(vec![Fact::Origin(Origin::new(read, last, why))]);
        }
    }
}

/// If both orders of two writers of a key are impossible, one of the two conclusions is taken, and the other's refutation is
/// the contradiction: that can be followed, "neither can be first" could not. If different keys ask for the two orders, that
/// is what went wrong: the writes are interleaved.
fn one_side(one: Option<Rc<Order>>, other: Option<Rc<Order>>) -> Vec<Rc<Order>> {
    let rank = |order: &Order| match &order.why {
        OrderWhy::Otherwise(cycle) => proof::as_conclusion(cycle),
        _ => Default::default(),
    };
    match (one, other) {
        (Some(one), Some(other)) if one.key == other.key => vec![if rank(&other) < rank(&one) { other } else { one }],
        (one, other) => one.into_iter().chain(other).collect(),
    }
}
