//! The rounds of guessing and mending: the loop of `strong/mod.rs`, step by step.

use super::contradiction::{Contradiction, Reason};
use super::facts::Facts;
use super::force::{Findings, Forcing, ambiguous_by_key};
use super::greedy::Greedy;
use super::guilty::{self, Knowledge};
use super::ids::{AmbiguousId, PointId, SlotId, sort_by_position};
use super::parts;
use super::point_graph::PointGraph;
use super::progress::{Pace, Progress, SLOW, SLOW_ROUND};
use super::reach::Reach;
use super::repair::Repair;
use super::sat::SatSearch;
use super::scan::{Broken, Scan};
use super::sources::Sources;
use super::theory::Acyclic;
use super::timeline::{Arc, Timeline};
use crate::index::first_guess;
use crate::limits::Limits;
use crate::outcome::Effort;
use crate::parallel;
use seriatim_history::{KeyId, TxnId};
use std::sync::Arc as Shared;
use std::time::Instant;

/// The rounds of guessing and mending.
pub(super) struct Rounds<'a> {
    facts: &'a Facts<'a>,
    reasons: Vec<Reason>,
    /// What the ambiguous reads must have read, as far as that is known.
    fixed: Sources,
    ambiguous_by_key: Shared<[(KeyId, AmbiguousId)]>,
    /// The versions of each key, in their order in the last scan.
    versions: Vec<SlotId>,
    /// The only keys to look at, in the search of a part.
    keys: Option<&'a [KeyId]>,
    reach: Option<Shared<Reach>>,
    /// How many forced edges `reach` knows.
    reached: Option<usize>,
    limits: Limits,
    threads: usize,
    pub effort: Effort,
}

pub(super) type Order = Vec<PointId>;

impl<'a> Rounds<'a> {
    pub fn new(facts: &'a Facts<'a>, limits: Limits, threads: usize) -> Rounds<'a> {
        Rounds {
            facts,
            reasons: Vec::new(),
            fixed: Sources::new(facts),
            ambiguous_by_key: ambiguous_by_key(facts).into(),
            versions: (0..facts.version_count() as u32).map(SlotId).collect(),
            keys: None,
            reach: None,
            reached: None,
            limits,
            threads,
            effort: Effort::default(),
        }
    }

    /// What was found out on the way.
    pub fn knowledge(&self) -> Knowledge<'_> {
        let reach = self.reach.as_deref();
        Knowledge { reach, reasons: &self.reasons, fixed: &self.fixed }
    }

    /// An order of the points that breaks nothing; `None` if the budget ran out.
    pub fn run(&mut self, graph: &mut PointGraph) -> Result<Option<Order>, Contradiction> {
        let mut wish = vec![0u32; self.facts.history.txn_count()];
        for (place, txn) in
            first_guess(self.facts.history, self.facts.index).into_iter().enumerate()
        {
            wish[txn.index()] = place as u32 + 1;
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
        graph: &mut PointGraph,
        order: &[PointId],
        known: usize,
        wish: &mut [u32],
    ) -> Result<Solved, Contradiction> {
        let position = match self.repair(graph, order, known)? {
            Repaired::Fits(order) => return Ok(Solved::Fits(order)),
            Repaired::OutOfBudget => return Ok(Solved::OutOfBudget),
            Repaired::MoreIsForced(position) => {
                take_wishes(wish, graph.timeline, &position);
                return Ok(Solved::MoreIsForced);
            }
            Repaired::Stuck(position) => position,
        };
        Ok(self.search(graph, position)?.map_or(Solved::OutOfBudget, Solved::Fits))
    }

    fn add_forced(&mut self, graph: &mut PointGraph, found: &Findings) {
        self.effort.forced += found.arcs.len() as u64;
        for &(arc, reason) in &found.arcs {
            graph.add(arc, reason);
        }
    }

    /// Orders the points, adds what is forced, until nothing is.
    fn prune(&mut self, graph: &mut PointGraph, wish: &mut [u32]) -> Result<Pruned, Contradiction> {
        loop {
            if self.limits.is_over() {
                return Ok(Pruned::OutOfBudget);
            }
            self.effort.rounds += 1;
            let order = Greedy::order(self.facts, graph, wish, self.fixed.slots());
            if order.len() < graph.present.iter().filter(|present| **present).count() {
                return Err(Contradiction::Cycle(guilty::cycle(graph, &order)));
            }
            let position = positions(&order, graph.points());
            let broken = self.scan_fixed(graph.timeline, &position);
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
            let found = self.force(graph.timeline, graph.forced.len() as u32, &broken)?;
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
            take_wishes(wish, graph.timeline, &position);
        }
    }

    /// Adds what was found, and what follows from it at the places that are still open; whether
    /// there was anything.
    fn force_on(
        &mut self,
        graph: &mut PointGraph,
        mut found: Findings,
    ) -> Result<bool, Contradiction> {
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
            found = self.forcing(graph.timeline, graph.forced.len() as u32, |forcing| {
                forcing.again(&found)
            })?;
        }
    }

    /// What is broken if the ambiguous reads read what they are known to, and nothing is said of
    /// the others.
    fn scan_fixed(&mut self, timeline: Timeline, position: &[u32]) -> Vec<Broken> {
        let chosen = self.fixed.slots().to_vec();
        self.scan(timeline, position, &chosen)
    }

    fn scan(&mut self, timeline: Timeline, position: &[u32], chosen: &[SlotId]) -> Vec<Broken> {
        let ambiguous_by_key = &self.ambiguous_by_key;
        Scan {
            facts: self.facts,
            timeline,
            position,
            chosen,
            ambiguous_by_key,
            keys: self.keys,
            threads: self.threads,
        }
        .run(&mut self.versions)
    }

    /// Makes sure that all known edges are in `reach`; `order` is a topological order of them.
    fn know(&mut self, graph: &PointGraph, order: &[PointId]) {
        let reach = self.reach.get_or_insert_with(|| Shared::new(Reach::new(self.facts, graph)));
        let is_known = self.reached == Some(graph.forced.len());
        if let Some(reach) = Shared::get_mut(reach).filter(|_| !is_known) {
            reach.compute(graph, order);
            self.reached = Some(graph.forced.len());
        }
    }

    fn knows_all(&self, graph: &PointGraph) -> bool {
        self.reached == Some(graph.forced.len())
    }

    /// Adds `arcs`, the newest of the graph, to `reach`, if they are few and close no cycle;
    /// whether they were added.
    fn know_more(&mut self, graph: &PointGraph, arcs: &[(Arc, u32)]) -> bool {
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
        timeline: Timeline,
        known: u32,
        work: impl FnOnce(Forcing<'_>) -> Result<Findings, Contradiction>,
    ) -> Result<Findings, Contradiction> {
        let Some(reach) = self.reach.as_deref() else { return Ok(Findings::default()) };
        work(Forcing::new(
            self.facts,
            timeline,
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
        timeline: Timeline,
        known: u32,
        broken: &[Broken],
    ) -> Result<Findings, Contradiction> {
        self.forcing(timeline, known, |forcing| forcing.run(broken))
    }

    /// Ambiguous reads that have one candidate left although nothing is broken there yet.
    fn match_all(&mut self, graph: &PointGraph) -> Result<Findings, Contradiction> {
        self.forcing(graph.timeline, graph.forced.len() as u32, |forcing| forcing.match_all())
    }

    /// Tries to mend what is left by choices that are never taken back. When that gets slow, the
    /// order that was reached may show that more is forced; then the choices start anew from there.
    /// `order` fits the first `known` forced edges.
    fn repair(
        &mut self,
        graph: &mut PointGraph,
        order: &[PointId],
        known: usize,
    ) -> Result<Repaired, Contradiction> {
        let timeline = graph.timeline;
        let position = positions(order, graph.points());
        let mut repair = Repair::new(self.facts, timeline, Acyclic::new(graph, position));
        if !repair.theory.catch_up(known) {
            return Ok(Repaired::MoreIsForced(repair.theory.position));
        }
        let mut progress = Progress::default();
        loop {
            let chosen = repair.chosen(self.fixed.slots());
            let broken = self.scan(timeline, &repair.theory.position, &chosen);
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
        let broken = self.scan_fixed(graph.timeline, &repair.theory.position);
        let found = self.force(graph.timeline, known as u32, &broken)?;
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
        graph: &mut PointGraph,
        position: Vec<u32>,
    ) -> Result<Option<Order>, Contradiction> {
        let broken = self.scan_fixed(graph.timeline, &position);
        self.effort.count_broken(broken.len());
        // Moments of real time join everything.
        let is_whole = graph.has_moments();
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
        graph: &mut PointGraph,
        position: &[u32],
        parts: &[Vec<KeyId>],
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
    fn part<'b>(&'b self, keys: &'b [KeyId]) -> Rounds<'b> {
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
        graph: &mut PointGraph,
        position: Vec<u32>,
    ) -> Result<Option<Vec<u32>>, Contradiction> {
        let timeline = graph.timeline;
        let known = graph.forced.len() as u32;
        let mut search = SatSearch::new(self.facts, graph, position, self.limits);
        let mut chosen = self.fixed.slots().to_vec();
        loop {
            let broken = self.scan(timeline, &search.theory.position, &chosen);
            if broken.is_empty() {
                return Ok(Some(search.theory.position));
            }
            let found = self.force(timeline, known, &broken)?;
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
fn take_wishes(wish: &mut [u32], timeline: Timeline, position: &[u32]) {
    for (txn, wish) in wish.iter_mut().enumerate() {
        *wish = position[timeline.begin(TxnId(txn as u32)).index()].saturating_add(1);
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
fn positions(order: &[PointId], points: usize) -> Vec<u32> {
    let mut position = vec![u32::MAX; points];
    for (place, &point) in order.iter().enumerate() {
        position[point.index()] = place as u32;
    }
    position
}

fn order_of(position: &[u32], present: &[bool]) -> Order {
    let mut points: Vec<PointId> =
        (0..position.len() as u32).map(PointId).filter(|&point| present[point.index()]).collect();
    sort_by_position(&mut points, position);
    points
}
