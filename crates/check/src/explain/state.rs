//! A graph of what must precede what, with all that follows from it by itself.
//!
//! SER and SSER have one node a transaction. SI and PC have two, begin and commit: session order,
//! reads and real time lead from a commit to a begin, read-write edges from a begin to a commit,
//! write-write edges from a commit to a begin at SI and to a commit at PC. A history satisfies the
//! level iff the versions of each key can be put into an order (and each read given a source) such
//! that this graph is acyclic.
//!
//! Saturation: if one order of two writers of a key would close a cycle, the other one holds. It
//! works in rounds, and each round looks only at what was known before it, which keeps derivations
//! shallow.

use super::budget::{Budget, Exhausted};
use super::closure::Closure;
use super::ids::{ListedId, LocalRead, LocalTxn};
use super::instance::{Instance, Source};
use super::links::{Link, LinkGraph, NodeId};
use super::path::{self, Preference};
use super::proof::{self, Cycle, Label, Order, OrderWhy, Origin, OriginWhy, Step, cost};
use rustc_hash::FxHashMap;
use seriatim_history::KeyId;
use seriatim_isolation::{Guarantee, Level};
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

/// Two transactions that write a common key, and the first such key.
type Pair = (LocalTxn, LocalTxn, KeyId);

/// Something that is known.
enum Fact {
    /// The transaction counts.
    Counts(LocalTxn),
    Origin(Rc<Origin>),
    Order(Rc<Order>),
}

/// What is known so far.
#[derive(Clone)]
pub(super) struct Saturation<'i> {
    pub instance: &'i Instance<'i>,
    shape: Shape,
    /// Between the nodes of transactions and moments of real time; sessions need no nodes of their
    /// own here.
    reach: Closure,
    graph: LinkGraph,
    /// Pairs (earlier, later) of transactions that write a common key.
    orders: FxHashMap<(LocalTxn, LocalTxn), Rc<Order>>,
    /// All pairs of transactions that write a common key.
    pairs: Rc<[Pair]>,
    /// For each read where it comes from, if that is known and its transaction counts.
    origins: Vec<Option<Rc<Origin>>>,
    /// For each read the candidates that are refuted, with the cycles that they close.
    refuted: Vec<Vec<(Source, Cycle)>>,
    counts: Vec<bool>,
    /// For each transaction the last moment before it began, if real time counts. It leads to the
    /// transaction only if that counts: otherwise it says nothing about what follows in the
    /// session.
    arrivals: Rc<[Option<NodeId>]>,
    cyclic: bool,
}

impl<'i> Saturation<'i> {
    /// What the input says; not saturated.
    pub fn new(
        instance: &'i Instance<'i>,
        asked: Guarantee,
        budget: &mut Budget,
    ) -> Result<Saturation<'i>, Exhausted> {
        let shape = match asked.level {
            Level::PrefixConsistency => Shape::Split { ww_to_begin: false },
            Level::SnapshotIsolation => Shape::Split { ww_to_begin: true },
            _ => Shape::Whole,
        };
        let (n, per_txn) = (instance.txns.len(), if shape == Shape::Whole { 1 } else { 2 });
        let moments = if asked.keeps_real_time() { instance.moments() } else { Vec::new() };
        let nodes = n * per_txn + moments.len();
        budget.spend((nodes * nodes / 32) as u64)?;
        let sessions =
            instance.txns.iter().map(|txn| instance.history.session_of(txn.id)).collect();
        let mut state = Saturation {
            instance,
            shape,
            reach: Closure::new(nodes),
            graph: LinkGraph::new(sessions, per_txn, moments.len() + n),
            orders: FxHashMap::default(),
            pairs: pairs(instance, budget)?,
            origins: vec![None; instance.reads.len()],
            refuted: vec![Vec::new(); instance.reads.len()],
            counts: vec![false; n],
            arrivals: Rc::new([]),
            cyclic: false,
        };
        let first_moment = state.txn_nodes();
        let mut arrivals = vec![None; n];
        for &(txn, before) in moments.iter().filter(|(_, before)| *before > 0) {
            arrivals[txn.0] = Some(NodeId(first_moment + before - 1));
        }
        state.arrivals = arrivals.into();
        state.add_input(&moments, budget)?;
        Ok(state)
    }

    fn add_input(
        &mut self,
        moments: &[(LocalTxn, usize)],
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        if self.shape != Shape::Whole {
            for txn in self.txns() {
                self.add_edge(self.begin(txn), self.commit(txn), Link::Inside, budget)?;
            }
        }
        let first_moment = self.txn_nodes();
        self.add_sessions(first_moment + moments.len(), budget)?;
        self.add_moments(first_moment, moments, budget)?;
        let certain = self.txns().filter(|&txn| !self.instance.txn(txn).optional);
        self.learn(certain.map(Fact::Counts).collect(), budget)
    }

    /// A chain for each session; that of a transaction begins at `first` and its number.
    fn add_sessions(&mut self, first: usize, budget: &mut Budget) -> Result<(), Exhausted> {
        for txn in self.txns() {
            let following = LocalTxn(txn.0 + 1);
            let (commit, next) = (self.commit(txn), self.begin(following));
            let chain = NodeId(first + txn.0);
            if txn.0 > 0 && self.instance.are_neighbours(LocalTxn(txn.0 - 1), txn) {
                self.graph.add(NodeId(chain.0 - 1), chain, Link::Inside);
            }
            if self.instance.are_neighbours(txn, following) {
                // Of two reasons alike the one that is found first is told: what the session says
                // needs no reading of values.
                self.graph.add(commit, next, Link::Session);
                self.graph.add(commit, chain, Link::Inside);
                self.graph.add(chain, next, Link::Session);
                self.add_reach(commit, next, budget)?;
            }
        }
        Ok(())
    }

    /// A chain of moments, one for each end of a transaction.
    fn add_moments(
        &mut self,
        first: usize,
        ends: &[(LocalTxn, usize)],
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        for (moment, &(txn, _)) in ends.iter().enumerate() {
            self.add_edge(self.commit(txn), NodeId(first + moment), Link::Inside, budget)?;
            if moment > 0 {
                self.add_edge(
                    NodeId(first + moment - 1),
                    NodeId(first + moment),
                    Link::Inside,
                    budget,
                )?;
            }
        }
        Ok(())
    }

    /// The transactions.
    fn txns(&self) -> impl Iterator<Item = LocalTxn> + use<> {
        (0..self.instance.txns.len()).map(LocalTxn)
    }

    /// How many nodes belong to transactions; they come first.
    fn txn_nodes(&self) -> usize {
        self.begin(LocalTxn(self.instance.txns.len())).0
    }

    fn begin(&self, txn: LocalTxn) -> NodeId {
        NodeId(if self.shape == Shape::Whole { txn.0 } else { 2 * txn.0 })
    }

    fn commit(&self, txn: LocalTxn) -> NodeId {
        NodeId(if self.shape == Shape::Whole { txn.0 } else { 2 * txn.0 + 1 })
    }

    /// The nodes that a step joins.
    fn ends(&self, step: &Step) -> (NodeId, NodeId) {
        match (&step.label, self.shape) {
            (Label::ReadWrite { .. }, _) => (self.begin(step.from), self.commit(step.to)),
            (Label::WriteWrite(_), Shape::Split { ww_to_begin: false }) => {
                (self.commit(step.from), self.commit(step.to))
            }
            _ => (self.commit(step.from), self.begin(step.to)),
        }
    }

    fn add_step(&mut self, step: Rc<Step>, budget: &mut Budget) -> Result<(), Exhausted> {
        let (from, to) = self.ends(&step);
        self.add_edge(from, to, Link::Step(step), budget)
    }

    fn add_edge(
        &mut self,
        from: NodeId,
        to: NodeId,
        link: Link,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        self.graph.add(from, to, link);
        self.add_reach(from, to, budget)
    }

    fn add_reach(
        &mut self,
        from: NodeId,
        to: NodeId,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        self.cyclic |= from == to || self.reach.has(to, from);
        budget.spend(self.reach.insert(from, to))
    }

    /// Takes over facts and what follows from each alone.
    fn learn(&mut self, mut facts: Vec<Fact>, budget: &mut Budget) -> Result<(), Exhausted> {
        while let Some(fact) = facts.pop() {
            match fact {
                Fact::Counts(txn) if !self.counts[txn.0] => {
                    self.learn_counts(txn, &mut facts, budget)?
                }
                Fact::Origin(origin) if self.origins[origin.read.0].is_none() => {
                    self.learn_origin(origin, &mut facts, budget)?;
                }
                Fact::Order(order) if self.order(order.earlier, order.later).is_none() => {
                    self.learn_order(order, budget)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn learn_counts(
        &mut self,
        txn: LocalTxn,
        facts: &mut Vec<Fact>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        self.counts[txn.0] = true;
        if let Some(moment) = self.arrivals[txn.0] {
            self.add_edge(moment, self.begin(txn), Link::RealTime, budget)?;
        }
        let instance = self.instance;
        for &read in &instance.txn(txn).reads {
            if let [source] = instance.read(read).candidates[..] {
                facts.push(Fact::Origin(Origin::new(read, source, OriginWhy::Only)));
            }
        }
        for &number in &instance.txn(txn).listed {
            facts.extend(self.listed_facts(number));
        }
        for read in instance.initial_reads(txn) {
            let initial =
                self.origins[read.0].clone().filter(|origin| origin.source == Source::Initial);
            if let Some(origin) = initial {
                self.add_overwrite(&origin, txn, None, budget)?;
            }
        }
        Ok(())
    }

    /// What a list of a transaction that counts shows. An element counts; one that is missing is
    /// later if it does.
    fn listed_facts(&self, number: ListedId) -> Vec<Fact> {
        let listed = self.instance.listed(number);
        let key = self.instance.history.op(listed.read).key;
        let order =
            || Fact::Order(Order::new(listed.from, listed.to, key, OrderWhy::Listed(number)));
        match listed.is_missing {
            false => vec![Fact::Counts(listed.from), Fact::Counts(listed.to), order()],
            true if self.counts[listed.reader.0] && self.counts[listed.to.0] => {
                vec![Fact::Counts(listed.from), order()]
            }
            true => Vec::new(),
        }
    }

    fn learn_origin(
        &mut self,
        origin: Rc<Origin>,
        facts: &mut Vec<Fact>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let instance = self.instance;
        let read = instance.read(origin.read);
        self.origins[origin.read.0] = Some(origin.clone());
        let others = instance.writers(read.key);
        budget.spend(1 + others.len() as u64)?;
        match origin.source {
            Source::Txn(writer) => {
                facts.push(Fact::Counts(writer));
                self.add_step(
                    Step::new(writer, read.txn, Label::WriteRead(origin.clone())),
                    budget,
                )?;
                for &other in others {
                    if let Some(order) = self.order(writer, other).cloned() {
                        self.add_overwrite(&origin, other, Some(order), budget)?;
                    }
                }
            }
            Source::Initial => {
                for &other in others {
                    if self.counts[other.0] {
                        self.add_overwrite(&origin, other, None, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn learn_order(&mut self, order: Rc<Order>, budget: &mut Budget) -> Result<(), Exhausted> {
        self.orders.insert((order.earlier, order.later), order.clone());
        for step in self.consequences(&order) {
            self.add_step(step, budget)?;
        }
        Ok(())
    }

    /// The edges that an order of versions means: write-write, and read-write from the readers of
    /// the earlier version.
    fn consequences(&self, order: &Rc<Order>) -> Vec<Rc<Step>> {
        let write_write = Step::new(order.earlier, order.later, Label::WriteWrite(order.clone()));
        let readers = self
            .instance
            .txn(order.earlier)
            .readers
            .iter()
            .filter_map(|&read| self.origins[read.0].as_ref());
        let readers = readers.filter(|origin| origin.source == Source::Txn(order.earlier));
        let overwrites =
            readers.filter_map(|origin| self.overwrite(origin, order.later, Some(order.clone())));
        std::iter::once(write_write).chain(overwrites).collect()
    }

    /// The edge from a reader to a transaction that overwrote what it read.
    fn overwrite(
        &self,
        origin: &Rc<Origin>,
        by: LocalTxn,
        order: Option<Rc<Order>>,
    ) -> Option<Rc<Step>> {
        let read = self.instance.read(origin.read);
        self.instance.txn(by).write(read.key).filter(|_| by != read.txn)?;
        Some(Step::new(read.txn, by, Label::ReadWrite { origin: origin.clone(), order }))
    }

    fn add_overwrite(
        &mut self,
        origin: &Rc<Origin>,
        by: LocalTxn,
        order: Option<Rc<Order>>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        self.overwrite(origin, by, order).map_or(Ok(()), |step| self.add_step(step, budget))
    }

    fn order(&self, earlier: LocalTxn, later: LocalTxn) -> Option<&Rc<Order>> {
        self.orders.get(&(earlier, later))
    }

    /// Infers orders until nothing more follows; the contradiction, if there is one.
    pub fn saturate(
        &mut self,
        preference: Preference,
        budget: &mut Budget,
    ) -> Result<Option<Cycle>, Exhausted> {
        loop {
            if self.cyclic {
                let nodes =
                    (0..self.txn_nodes()).map(NodeId).filter(|&node| self.reach.has(node, node));
                return path::best_cycle(&self.graph, nodes, preference, budget);
            }
            let mut forced = Vec::new();
            for (a, b, key) in self.open_pairs(budget)? {
                forced.extend(one_side(
                    self.forced(a, b, key, budget)?,
                    self.forced(b, a, key, budget)?,
                ));
            }
            if forced.is_empty() {
                return Ok(None);
            }
            self.learn(forced.into_iter().map(Fact::Order).collect(), budget)?;
        }
    }

    /// Pairs of transactions that count and write a common key, in an order that is not known.
    pub fn open_pairs(&self, budget: &mut Budget) -> Result<Vec<Pair>, Exhausted> {
        budget.spend(1 + 4 * self.pairs.len() as u64)?;
        let counting = self.pairs.iter().filter(|&&(a, b, _)| self.counts[a.0] && self.counts[b.0]);
        let open =
            counting.filter(|&&(a, b, _)| self.order(a, b).is_none() && self.order(b, a).is_none());
        Ok(open.copied().collect())
    }

    /// The order of `earlier` before `later`, if the opposite closes a cycle.
    fn forced(
        &self,
        earlier: LocalTxn,
        later: LocalTxn,
        key: KeyId,
        budget: &mut Budget,
    ) -> Result<Option<Rc<Order>>, Exhausted> {
        let opposite = Order::new(later, earlier, key, OrderWhy::Supposed);
        let steps = self.consequences(&opposite);
        budget.spend(20 * (1 + steps.len() + self.instance.txn(later).readers.len()) as u64)?;
        let mut best: Option<Cycle> = None;
        for step in steps {
            let (from, to) = self.ends(&step);
            if !self.reach.has(to, from) {
                continue;
            }
            let Some(path) = path::cheapest(&self.graph, to, from, Preference::Simple, budget)?
            else {
                continue;
            };
            let cycle: Cycle = std::iter::once(step).chain(path).collect();
            if best.as_deref().is_none_or(|best| cost(&cycle) < cost(best)) {
                best = Some(cycle);
            }
        }
        // The order is shown with the key of the edge that refutes the opposite.
        let key_of = |cycle: &Cycle| match &cycle[0].label {
            Label::ReadWrite { origin, .. } => self.instance.read(origin.read).key,
            _ => key,
        };
        Ok(best.map(|cycle| Order::new(earlier, later, key_of(&cycle), OrderWhy::Otherwise(cycle))))
    }

    /// Reads of transactions that count whose source is not known, with the candidates that are
    /// left.
    pub fn open_reads(&self) -> Vec<(LocalRead, Vec<Source>)> {
        let reads = (0..).map(LocalRead).zip(&self.instance.reads);
        let open = reads
            .filter(|(number, read)| self.counts[read.txn.0] && self.origins[number.0].is_none());
        open.map(|(number, read)| {
            let gone = |source: &Source| {
                self.refuted[number.0].iter().any(|(refuted, _)| refuted == source)
            };
            (number, read.candidates.iter().copied().filter(|source| !gone(source)).collect())
        })
        .collect()
    }

    /// The same with an order that is supposed.
    pub fn suppose_order(
        &self,
        earlier: LocalTxn,
        later: LocalTxn,
        key: KeyId,
        budget: &mut Budget,
    ) -> Result<Saturation<'i>, Exhausted> {
        self.suppose(Fact::Order(Order::new(earlier, later, key, OrderWhy::Supposed)), budget)
    }

    /// The same with a source that is supposed.
    pub fn suppose_origin(
        &self,
        read: LocalRead,
        source: Source,
        budget: &mut Budget,
    ) -> Result<Saturation<'i>, Exhausted> {
        self.suppose(Fact::Origin(Origin::new(read, source, OriginWhy::Supposed)), budget)
    }

    fn suppose(&self, fact: Fact, budget: &mut Budget) -> Result<Saturation<'i>, Exhausted> {
        let facts = (self.orders.len() + self.origins.len()) as u64;
        budget.spend(self.reach.size() + 10 * (self.graph.size() + facts))?;
        let mut state = self.clone();
        state.learn(vec![fact], budget)?;
        Ok(state)
    }

    /// Takes over an order whose opposite was refuted by `cycle`.
    pub fn conclude_order(
        &mut self,
        earlier: LocalTxn,
        later: LocalTxn,
        key: KeyId,
        cycle: Cycle,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        self.learn(
            vec![Fact::Order(Order::new(earlier, later, key, OrderWhy::Otherwise(cycle)))],
            budget,
        )
    }

    /// Excludes a candidate that was refuted by `cycle`; the last one left is the source.
    pub fn exclude(
        &mut self,
        read: LocalRead,
        source: Source,
        cycle: Cycle,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        self.refuted[read.0].push((source, cycle));
        let gone =
            |source: &Source| self.refuted[read.0].iter().any(|(refuted, _)| refuted == source);
        let mut left =
            self.instance.read(read).candidates.iter().copied().filter(|source| !gone(source));
        let (Some(last), None) = (left.next(), left.next()) else { return Ok(()) };
        let why = OriginWhy::Others(self.refuted[read.0].clone());
        self.learn(vec![Fact::Origin(Origin::new(read, last, why))], budget)
    }
}

/// All pairs of transactions that write a common key, each with the first such key.
fn pairs(instance: &Instance<'_>, budget: &mut Budget) -> Result<Rc<[Pair]>, Exhausted> {
    let mut pairs = Vec::new();
    for (key, writers) in instance.writers_by_key() {
        budget.spend((1 + writers.len() * writers.len()) as u64)?;
        for (place, &a) in writers.iter().enumerate() {
            pairs.extend(writers[place + 1..].iter().map(|&b| (a, b, key)));
        }
    }
    budget.spend(10 * pairs.len() as u64)?;
    pairs.sort_unstable();
    pairs.dedup_by_key(|&mut (a, b, _)| (a, b));
    Ok(pairs.into())
}

/// If both orders of two writers of a key are impossible, one of the two conclusions is taken, and
/// the other's refutation is the contradiction: that can be followed, "neither can be first" could
/// not. If different keys ask for the two orders, that is what went wrong: the writes are
/// interleaved.
fn one_side(one: Option<Rc<Order>>, other: Option<Rc<Order>>) -> Vec<Rc<Order>> {
    let rank = |order: &Order| match &order.why {
        OrderWhy::Otherwise(cycle) => proof::as_conclusion(cycle),
        _ => Default::default(),
    };
    match (one, other) {
        (Some(one), Some(other)) if one.key == other.key => {
            vec![if rank(&other) < rank(&one) { other } else { one }]
        }
        (one, other) => one.into_iter().chain(other).collect(),
    }
}
