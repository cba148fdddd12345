//! The strong levels: prefix consistency, snapshot isolation, serializability, strict
//! serializability.
//!
//! Guess an order of the begin and commit points, see what it breaks, add the edges that are forced
//! there, repeat. When nothing is forced any more, the choices that are left go to a SAT solver
//! with a theory of acyclicity. An order that breaks nothing is the certificate of "holds"; a
//! contradiction names the few transactions that show the violation.

mod core;
mod facts;
mod force;
mod graph;
mod greedy;
mod model;
mod mutation;
mod parts;
mod progress;
mod reach;
mod repair;
mod scan;
mod search;
mod sources;
#[cfg(test)]
mod tests;
mod theory;

use crate::index::Index;
pub(crate) use crate::limits::Limits;
use crate::order::first_guess;
use crate::parallel;
use facts::Facts;
use force::{Contradiction, Findings, Forcing, Reason, ambiguous_by_key};
use graph::Graph;
use greedy::Greedy;
use model::Arc;
pub(crate) use model::Model;
use progress::{Pace, Progress, SLOW, SLOW_ROUND};
use reach::Reach;
use repair::Repair;
use scan::{Broken, Scan};
use search::Search;
use seriatim_history::History;
use sources::Sources;
use std::sync::Arc as Shared;
use std::time::{Duration, Instant};
use theory::Acyclic;

/// What to decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub model: Model,
    /// Whether the order of the points must extend real time.
    pub real_time: bool,
}

/// The answer for a strong level.
#[derive(Debug)]
pub(crate) enum Decision {
    /// The points of the transactions in an order that satisfies the level: (transaction, whether
    /// it is its commit).
    Holds(Vec<(u32, bool)>),
    /// These transactions alone violate the level.
    Violated(Vec<u32>),
    /// The time or the memory ran out; [`Limits::reason`] knows which.
    OutOfBudget,
    /// Beyond what this search can do: an ambiguous read may come from a transaction that perhaps
    /// did not commit.
    Unsupported,
}

/// Where the time went, and how much there was to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Orders that were tried before the search.
    pub rounds: u64,
    /// Edges that were found to be forced.
    pub forced: u64,
    /// Constraints that the first order broke.
    pub broken_first: u64,
    /// Constraints that were still broken when nothing more was forced: those that the search was
    /// left with.
    pub broken_last: u64,
    /// How often a repaired order showed that more is forced.
    pub restarts: u64,
    /// Passes of repairs by choices that are never taken back.
    pub repairs: u64,
    /// Choices that went to the SAT solver.
    pub choices: u64,
    /// Orders that were tried in the search.
    pub models: u64,
    /// Conflicts of the SAT solver.
    pub conflicts: u64,
    /// Decisions of the SAT solver.
    pub decisions: u64,
    /// Preparing the graph.
    pub build: Duration,
    /// Trying orders and adding forced edges.
    pub prune: Duration,
    /// Searching.
    pub solve: Duration,
    /// Explaining the violation.
    pub explain: Duration,
}

impl Effort {
    /// Takes note of how many constraints the latest order breaks.
    fn count_broken(&mut self, broken: usize) {
        self.broken_last = broken as u64;
        if self.rounds == 1 && self.repairs == 0 {
            self.broken_first = broken as u64;
        }
    }

    /// Adds what the search of a part took.
    fn add_search(&mut self, part: &Effort) {
        self.forced += part.forced;
        self.choices += part.choices;
        self.models += part.models;
        self.conflicts += part.conflicts;
        self.decisions += part.decisions;
    }
}

/// Decides a strong level of a history whose reads are all well formed.
pub(crate) fn decide(
    history: &History,
    index: &Index,
    target: Target,
    limits: Limits,
    threads: usize,
) -> (Decision, Effort) {
    let start = Instant::now();
    let facts = Facts::new(history, index);
    if facts.doubtful {
        return (Decision::Unsupported, Effort::default());
    }
    let mut graph = Graph::new(&facts, target.model, target.real_time);
    let mut rounds = Rounds::new(&facts, limits, threads);
    rounds.effort.build = start.elapsed();
    let result = rounds.run(&mut graph);
    let decision = match result {
        Ok(Some(order)) => Decision::Holds(as_points(&graph, &order)),
        Ok(None) => Decision::OutOfBudget,
        Err(contradiction) => {
            Decision::Violated(core::transactions(&facts, &graph, &rounds, &contradiction))
        }
    };
    (decision, rounds.effort)
}

fn as_points(graph: &Graph, order: &[u32]) -> Vec<(u32, bool)> {
    let model = graph.model;
    let points = order.iter().filter(|&&point| point < graph.txn_points);
    points
        .flat_map(|&point| {
            let txn = model.txn(point);
            let both = if model == Model::Serial { &[false, true][..] } else { &[][..] };
            let one = [point == model.commit(txn)];
            let which = if both.is_empty() { one.to_vec() } else { both.to_vec() };
            which.into_iter().map(move |commit| (txn, commit))
        })
        .collect()
}

/// The rounds of guessing and mending.
struct Rounds<'a> {
    facts: &'a Facts<'a>,
    reasons: Vec<Reason>,
    /// What the ambiguous reads must have read, as far as that is known.
    fixed: Sources,
    ambiguous_by_key: Shared<[(u32, u32)]>,
    /// The versions of each key, in their order in the last scan.
    versions: Vec<u32>,
    /// The only keys to look at, in the search of a part.
    keys: Option<&'a [u32]>,
    reach: Option<Shared<Reach>>,
    /// How many forced edges `reach` knows.
    reached: Option<usize>,
    limits: Limits,
    threads: usize,
    effort: Effort,
}

type Order = Vec<u32>;

impl<'a> Rounds<'a> {
    fn new(facts: &'a Facts<'a>, limits: Limits, threads: usize) -> Rounds<'a> {
        Rounds {
            facts,
            reasons: Vec::new(),
            fixed: Sources::new(facts),
            ambiguous_by_key: ambiguous_by_key(facts).into(),
            versions: (0..facts.version_key.len() as u32).collect(),
            keys: None,
            reach: None,
            reached: None,
            limits,
            threads,
            effort: Effort::default(),
        }
    }

    /// An order of the points that breaks nothing; `None` if the budget ran out.
    fn run(&mut self, graph: &mut Graph) -> Result<Option<Order>, Contradiction> {
        let mut wish = vec![0u32; self.facts.history.txn_count()];
        for (place, txn) in
            first_guess(self.facts.history, self.facts.index).into_iter().enumerate()
        {
            wish[txn as usize] = place as u32 + 1;
        }
        loop {
            let start = Instant::now();
            let pruned = self.prune(graph, &mut wish);
            self.effort.prune += start.elapsed();
            let (order, known) = match pruned? {
                Pruned::Fits(order) => return Ok(Some(order)),
                Pruned::OutOfBudget => return Ok(None),
                Pruned::Open { order, known } => (order, known),
            };
            let start = Instant::now();
            let solved = self.solve(graph, &order, known, &mut wish);
            self.effort.solve += start.elapsed();
            match solved? {
                Solved::Fits(order) => return Ok(Some(order)),
                Solved::OutOfBudget => return Ok(None),
                Solved::MoreIsForced => {}
            }
        }
    }

    /// Repairs the order or, if that does not do, searches; unless the repaired order shows that
    /// more is forced.
    fn solve(
        &mut self,
        graph: &mut Graph,
        order: &[u32],
        known: usize,
        wish: &mut [u32],
    ) -> Result<Solved, Contradiction> {
        let position = match self.repair(graph, order, known)? {
            Repaired::Fits(order) => return Ok(Solved::Fits(order)),
            Repaired::OutOfBudget => return Ok(Solved::OutOfBudget),
            Repaired::MoreIsForced(position) => {
                take_wishes(wish, graph.model, &position);
                return Ok(Solved::MoreIsForced);
            }
            Repaired::Stuck(position) => position,
        };
        Ok(self.search(graph, position)?.map_or(Solved::OutOfBudget, Solved::Fits))
    }

    fn add_forced(&mut self, graph: &mut Graph, found: &Findings) {
        self.effort.forced += found.arcs.len() as u64;
        for &(arc, reason) in &found.arcs {
            graph.add(arc, reason);
        }
    }

    /// Orders the points, adds what is forced, until nothing is.
    fn prune(&mut self, graph: &mut Graph, wish: &mut [u32]) -> Result<Pruned, Contradiction> {
        loop {
            if self.limits.is_over() {
                return Ok(Pruned::OutOfBudget);
            }
            self.effort.rounds += 1;
            let order = Greedy::order(self.facts, graph, wish, self.fixed.slots());
            if order.len() < graph.present.iter().filter(|present| **present).count() {
                return Err(Contradiction::Cycle(core::cycle(graph, &order)));
            }
            let position = positions(&order, graph.points());
            let broken = self.scan_fixed(graph.model, &position);
            self.effort.count_broken(broken.len());
            if broken.is_empty() {
                return Ok(Pruned::Fits(order));
            }
            if self.reach.is_none()
                && !Reach::fits(graph.points(), self.facts.history.session_count(), &self.limits)
            {
                return Ok(Pruned::OutOfBudget);
            }
            self.know(graph, &order);
            let found = self.force(graph.model, graph.forced.len() as u32, &broken)?;
            let is_slow =
                found.is_empty() || found.arcs.len() + found.matched < broken.len() / SLOW_ROUND;
            let known = graph.forced.len();
            self.force_on(graph, found)?;
            if is_slow && self.knows_all(graph) {
                let matched = self.match_all(graph)?;
                let more = matched.arcs.len() > broken.len() / SLOW;
                self.force_on(graph, matched)?;
                if !more {
                    return Ok(Pruned::Open { order, known });
                }
            }
            take_wishes(wish, graph.model, &position);
        }
    }

    /// Adds what was found, and what follows from it at the places that are still open; whether
    /// there was anything.
    fn force_on(&mut self, graph: &mut Graph, mut found: Findings) -> Result<bool, Contradiction> {
        let mut any = false;
        loop {
            if found.is_empty() {
                return Ok(any);
            }
            any = true;
            self.add_forced(graph, &found);
            if !self.know_more(graph, &found.arcs) {
                return Ok(true);
            }
            found = self
                .forcing(graph.model, graph.forced.len() as u32, |forcing| forcing.again(&found))?;
        }
    }

    /// What is broken if the ambiguous reads read what they are known to, and nothing is said of
    /// the others.
    fn scan_fixed(&mut self, model: Model, position: &[u32]) -> Vec<Broken> {
        let chosen = self.fixed.slots().to_vec();
        self.scan(model, position, &chosen)
    }

    fn scan(&mut self, model: Model, position: &[u32], chosen: &[u32]) -> Vec<Broken> {
        let ambiguous_by_key = &self.ambiguous_by_key;
        Scan {
            facts: self.facts,
            model,
            position,
            chosen,
            ambiguous_by_key,
            keys: self.keys,
            threads: self.threads,
        }
        .run(&mut self.versions)
    }

    /// Makes sure that all known edges are in `reach`; `order` is a topological order of them.
    fn know(&mut self, graph: &Graph, order: &[u32]) {
        let reach = self.reach.get_or_insert_with(|| Shared::new(Reach::new(self.facts, graph)));
        let is_known = self.reached == Some(graph.forced.len());
        if let Some(reach) = Shared::get_mut(reach).filter(|_| !is_known) {
            reach.compute(graph, order);
            self.reached = Some(graph.forced.len());
        }
    }

    fn knows_all(&self, graph: &Graph) -> bool {
        self.reached == Some(graph.forced.len())
    }

    /// Adds `arcs`, the newest of the graph, to `reach`, if they are few and close no cycle;
    /// whether they were added.
    fn know_more(&mut self, graph: &Graph, arcs: &[(Arc, u32)]) -> bool {
        let Some(reach) = self.reach.as_mut().and_then(Shared::get_mut) else { return false };
        let mut left = graph.points();
        for &(arc, _) in arcs {
            match reach.extend(graph, arc) {
                Some(changed) if changed < left => left -= changed,
                _ => return false,
            }
        }
        self.reached = Some(graph.forced.len());
        true
    }

    fn forcing(
        &mut self,
        model: Model,
        known: u32,
        work: impl FnOnce(Forcing<'_>) -> Result<Findings, Contradiction>,
    ) -> Result<Findings, Contradiction> {
        let Some(reach) = self.reach.as_deref() else { return Ok(Findings::default()) };
        work(Forcing::new(
            self.facts,
            model,
            reach,
            &mut self.reasons,
            &mut self.fixed,
            known,
            self.limits,
        ))
    }

    /// What is forced where the order is broken.
    fn force(
        &mut self,
        model: Model,
        known: u32,
        broken: &[Broken],
    ) -> Result<Findings, Contradiction> {
        self.forcing(model, known, |forcing| forcing.run(broken))
    }

    /// Ambiguous reads that have one candidate left although nothing is broken there yet.
    fn match_all(&mut self, graph: &Graph) -> Result<Findings, Contradiction> {
        self.forcing(graph.model, graph.forced.len() as u32, |forcing| forcing.match_all())
    }

    /// Tries to mend what is left by choices that are never taken back. When that gets slow, the
    /// order that was reached may show that more is forced; then the choices start anew from there.
    /// `order` fits the first `known` forced edges.
    fn repair(
        &mut self,
        graph: &mut Graph,
        order: &[u32],
        known: usize,
    ) -> Result<Repaired, Contradiction> {
        let model = graph.model;
        let position = positions(order, graph.points());
        let mut repair = Repair::new(self.facts, model, Acyclic::new(graph, position));
        if !repair.theory.catch_up(known) {
            return Ok(Repaired::MoreIsForced(repair.theory.position));
        }
        let mut progress = Progress::default();
        loop {
            let chosen = repair.chosen(self.fixed.slots());
            let broken = self.scan(model, &repair.theory.position, &chosen);
            self.effort.count_broken(broken.len());
            if broken.is_empty() {
                let (position, present) = (&repair.theory.position, &repair.theory.graph.present);
                return Ok(Repaired::Fits(order_of(position, present)));
            }
            if self.limits.is_over() {
                return Ok(Repaired::OutOfBudget);
            }
            let pace = progress.pace(broken.len());
            if pace != Pace::Good && !progress.is_vain() {
                match self.force_repaired(&mut repair, pace, broken.len())? {
                    Forced::Nothing => {}
                    Forced::Kept => {
                        self.effort.restarts += 1;
                        progress.restart();
                        continue;
                    }
                    Forced::NotKept => return Ok(Repaired::MoreIsForced(repair.theory.position)),
                }
            }
            self.effort.repairs += 1;
            if pace == Pace::Stalled || !repair.mend(&broken, &self.fixed) {
                repair.forget();
                return Ok(Repaired::Stuck(repair.theory.position));
            }
        }
    }

    /// Adds what the repaired order shows to be forced, if it is worth it to start anew.
    fn force_repaired(
        &mut self,
        repair: &mut Repair<'_>,
        pace: Pace,
        open: usize,
    ) -> Result<Forced, Contradiction> {
        let graph = &mut *repair.theory.graph;
        let known = graph.forced.len();
        let broken = self.scan_fixed(graph.model, &repair.theory.position);
        let found = self.force(graph.model, known as u32, &broken)?;
        let is_enough = pace == Pace::Stalled || found.arcs.len() > open / SLOW;
        if !is_enough && found.matched == 0 || !self.force_on(graph, found)? {
            return Ok(Forced::Nothing);
        }
        let is_known = self.knows_all(graph);
        repair.forget();
        Ok(if is_known && repair.theory.catch_up(known) { Forced::Kept } else { Forced::NotKept })
    }

    /// Searches from the order that is given by the places of its points, the parts of the history
    /// on all threads.
    fn search(
        &mut self,
        graph: &mut Graph,
        position: Vec<u32>,
    ) -> Result<Option<Order>, Contradiction> {
        let broken = self.scan_fixed(graph.model, &position);
        self.effort.count_broken(broken.len());
        // Moments of real time join everything.
        let is_whole = graph.points() > graph.txn_points as usize;
        let parts =
            if is_whole { Vec::new() } else { parts::split(self.facts, &broken, self.threads) };
        let found = match parts.len() {
            0 | 1 => self.search_part(graph, position)?,
            _ => self.search_parts(graph, &position, &parts)?,
        };
        Ok(found.map(|position| order_of(&position, &graph.present)))
    }

    /// Searches the parts, which are given by their keys. Each moves points of its own only, so
    /// their places fit together.
    fn search_parts(
        &mut self,
        graph: &mut Graph,
        position: &[u32],
        parts: &[Vec<u32>],
    ) -> Result<Option<Vec<u32>>, Contradiction> {
        let searched = parallel::run_each(parts, self.threads, |keys| {
            let (mut rounds, mut graph) = (self.part(keys), graph.clone());
            let found = rounds.search_part(&mut graph, position.to_vec());
            (found, rounds.effort, rounds.reasons, rounds.fixed, graph)
        });
        let mut together = Some(position.to_vec());
        for (found, effort, reasons, fixed, its_graph) in searched {
            self.effort.add_search(&effort);
            match found {
                Err(contradiction) => {
                    (self.reasons, self.fixed, *graph) = (reasons, fixed, its_graph);
                    return Err(contradiction);
                }
                Ok(None) => together = None,
                Ok(Some(found)) => {
                    for (place, (new, old)) in
                        together.iter_mut().flatten().zip(found.into_iter().zip(position))
                    {
                        if new != *old {
                            *place = new;
                        }
                    }
                }
            }
        }
        Ok(together)
    }

    /// The same knowledge, to search a part of the history on one thread.
    fn part<'b>(&'b self, keys: &'b [u32]) -> Rounds<'b> {
        Rounds {
            facts: self.facts,
            reasons: self.reasons.clone(),
            fixed: self.fixed.clone(),
            ambiguous_by_key: Shared::clone(&self.ambiguous_by_key),
            versions: self.versions.clone(),
            keys: Some(keys),
            reach: self.reach.clone(),
            reached: self.reached,
            limits: self.limits,
            threads: 1,
            effort: Effort::default(),
        }
    }

    /// Hands what is broken to the SAT solver, model by model; returns the places of the points in
    /// an order that breaks nothing.
    fn search_part(
        &mut self,
        graph: &mut Graph,
        position: Vec<u32>,
    ) -> Result<Option<Vec<u32>>, Contradiction> {
        let model = graph.model;
        let known = graph.forced.len() as u32;
        let mut search = Search::new(self.facts, graph, position, self.limits);
        let mut chosen = self.fixed.slots().to_vec();
        loop {
            let broken = self.scan(model, &search.theory.position, &chosen);
            if broken.is_empty() {
                return Ok(Some(search.theory.position));
            }
            let found = self.force(model, known, &broken)?;
            if found.is_cut {
                return Ok(None);
            }
            let new = search.add(&found, &chosen, &self.fixed);
            let forced_fit =
                found.arcs.iter().all(|&(arc, reason)| search.theory.add_known(arc, reason));
            self.effort.forced += found.arcs.len() as u64;
            self.effort.choices = search.choices();
            if search.is_full() || self.limits.is_over() {
                return Ok(None);
            }
            if !forced_fit {
                return Err(search.exhausted());
            }
            if !new && found.is_empty() {
                debug_assert!(false, "the search makes no progress");
                return Ok(None);
            }
            self.effort.models += 1;
            let answer = search.solve();
            (self.effort.conflicts, self.effort.decisions) =
                (search.conflicts(), search.decisions());
            match answer {
                None => return Ok(None),
                Some(false) => return Err(search.exhausted()),
                Some(true) => {}
            }
            chosen.copy_from_slice(self.fixed.slots());
            search.choose(&mut chosen);
        }
    }
}

enum Solved {
    Fits(Order),
    /// Edges were added; the rounds go on with the repaired order.
    MoreIsForced,
    OutOfBudget,
}

/// Each transaction wants to keep its place.
fn take_wishes(wish: &mut [u32], model: Model, position: &[u32]) {
    for (txn, wish) in wish.iter_mut().enumerate() {
        *wish = position[model.begin(txn as u32) as usize].saturating_add(1);
    }
}

/// What became of that which a repaired order shows to be forced.
enum Forced {
    Nothing,
    /// It was added, and the order changed so that it fits.
    Kept,
    /// It was added, and does not fit.
    NotKept,
}

enum Repaired {
    Fits(Order),
    /// The places of the points in an order that still breaks something.
    Stuck(Vec<u32>),
    /// Edges were added that this order does not fit.
    MoreIsForced(Vec<u32>),
    OutOfBudget,
}

enum Pruned {
    Fits(Order),
    /// Little or nothing is forced any more; the order fits the first `known` forced edges.
    Open {
        order: Order,
        known: usize,
    },
    OutOfBudget,
}

/// The place of each point in `order`; points that are not there come last.
fn positions(order: &[u32], points: usize) -> Vec<u32> {
    let mut position = vec![u32::MAX; points];
    for (place, &point) in order.iter().enumerate() {
        position[point as usize] = place as u32;
    }
    position
}

fn order_of(position: &[u32], present: &[bool]) -> Order {
    let mut points: Vec<u32> =
        (0..position.len() as u32).filter(|&point| present[point as usize]).collect();
    points.sort_unstable_by_key(|&point| position[point as usize]);
    points
}
