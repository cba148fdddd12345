//! The way of a check: match the reads, decide the strongest level; only if that fails, look for
//! everything that is wrong.

use crate::anomalies::{self, LevelFindings};
use crate::decide::{self, Context};
use crate::index::Index;
use crate::ladder::{Strong, Subject};
use crate::limits::Limits;
use crate::matching::{self, Matched};
use crate::memory::{self, Need, Room};
use crate::order::{Components, Edges, Graph, first_guess};
use crate::outcome::{AnomalyGroup, Options, Outcome, Proved, Report, Timings, Undecided, Verdict};
use crate::refs::Refs;
use crate::summary::{Cycles, Summary};
use crate::violation::Violation;
use seriatim_history::{History, OpId, TxnId, ValueKind};
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use std::collections::BTreeSet;
use std::time::Instant;

/// Checks `history` at the levels of `options`.
pub fn check(history: &History, options: &Options) -> Report {
    let need = Need::of(history);
    let report = match need.within(Limits::of(options)) {
        Room::Enough => return check_in_full(history, options),
        Room::NoClocks => memory::without_clocks(history, options),
        Room::None => memory::nothing(history, options),
    };
    Report { memory_needed: Some(need.with_what_is_in_use()), ..report }
}

/// A check that has room for everything that is known to be needed.
pub(crate) fn check_in_full(history: &History, options: &Options) -> Report {
    let start = Instant::now();
    let index = Index::build(history, options.threads);
    let mut timings = Timings { index: start.elapsed(), ..Timings::default() };
    let start = Instant::now();
    let levels = levels_to_report(history, options);
    let ambiguous = undecided(history, &index);
    let doubt =
        ambiguous.clone().filter(|_| index.ambiguous.iter().any(|&op| is_list(history, op)));
    let ambiguous_reads = index.ambiguous.clone();
    let mut check = Check {
        history,
        options,
        levels,
        ambiguous,
        violated: Vec::new(),
        holding: Vec::new(),
        matched: Vec::new(),
    };
    let strongest = check.strongest_weak();
    let (order, index) = check.decide(index, strongest);
    timings.decide = start.elapsed();
    let start = Instant::now();
    let mut strong = Strong::default();
    let mut anomalies;
    if order.is_some() {
        // No weak level is violated, whatever the ambiguous reads read.
        let subject = Subject { history, index: &index, options };
        strong = Strong::decide(&subject, &check.strong_asked(), doubt.as_ref());
        timings.decide += start.elapsed();
        let took = start.elapsed();
        let start = Instant::now();
        anomalies = strong.violations(&subject, took);
        timings.explain = start.elapsed();
        if doubt.is_none() && check.has_open_choice(&strong) {
            strong.try_serializable(&subject);
        }
    } else {
        anomalies = check.analyse(index, strongest);
        timings.explain = start.elapsed();
    }
    let start = Instant::now();
    anomalies.extend(check.choose_sources(&ambiguous_reads, &strong));
    timings.decide += start.elapsed();
    timings.efforts = std::mem::take(&mut strong.efforts);
    check.report(order, &strong, anomalies, timings)
}

struct Check<'a> {
    history: &'a History,
    options: &'a Options,
    /// The levels that get a verdict, in the order of reports.
    levels: Vec<Level>,
    ambiguous: Option<Undecided>,
    /// What is forbidden by which level was found, whether or not an explanation of it was.
    violated: Vec<Level>,
    /// Levels of the ladder that hold although a stronger one is violated, with their commit orders
    /// if asked for.
    holding: Vec<(Level, Option<Vec<u32>>)>,
    /// Verdicts of weak levels by a choice of sources for ambiguous reads.
    matched: Vec<Verdict>,
}

impl Check<'_> {
    /// The strongest weak level that matters; `None` if only cut isolation was asked for. What
    /// violates a weak level violates the strong ones too, and is easier to find and to understand
    /// there.
    fn strongest_weak(&self) -> Option<Level> {
        let matters =
            |level: Level| self.asks(level) || self.levels.iter().any(|asked| asked.is_strong());
        Level::WEAK.into_iter().rev().find(|&level| matters(level))
    }

    /// The strong levels that nothing has been decided about.
    fn strong_asked(&self) -> Vec<Level> {
        Level::STRONG
            .into_iter()
            .filter(|&level| self.asks(level) && !self.violated.contains(&level))
            .collect()
    }

    /// A commit order for the strongest level, if there is one and no read is wrong by itself. Cut
    /// isolation is decided by the index alone.
    fn decide(&self, index: Index, strongest: Option<Level>) -> (Option<Vec<u32>>, Index) {
        let clean = index.faults.is_empty() && index.unrepeated.is_empty();
        let Some(level) = strongest else { return (clean.then(Vec::new), index) };
        let unrepeated_matters = level != Level::ReadCommitted || self.asks(Level::CutIsolation);
        if !index.faults.is_empty() || (unrepeated_matters && !index.unrepeated.is_empty()) {
            return (None, index);
        }
        let edges = Edges::new(Vec::new(), self.history.txn_count());
        let graph = Graph { history: self.history, index: &index, edges: &edges };
        let guess = first_guess(self.history, &index);
        let Some(base) = graph.causal_order(guess, self.options.threads) else {
            return (None, index);
        };
        let context = Context::new(self.history, &index, &base, self.options.threads);
        let order = decide::commit_order(&context, level);
        drop(context);
        (order, index)
    }

    fn asks(&self, level: Level) -> bool {
        self.levels.contains(&level)
    }

    /// All anomalies that the levels asked for forbid.
    fn analyse(&mut self, mut index: Index, strongest: Option<Level>) -> Vec<AnomalyGroup> {
        let no_edges = Edges::new(Vec::new(), self.history.txn_count());
        let wish = first_guess(self.history, &index);
        let causal =
            Graph { history: self.history, index: &index, edges: &no_edges }.components(&wish);
        let mut groups = self.without_levels(&index, &causal, &no_edges);
        if causal.has_cycle() {
            self.forbid(Anomaly::CyclicCausality);
            anomalies::cut_cycles(&mut index, self.history.txn_bounds(), &causal);
        }
        for kind in index.faults.iter().map(|fault| fault.kind).collect::<BTreeSet<_>>() {
            self.forbid(kind);
        }
        if !index.unrepeated.is_empty() {
            self.forbid(Anomaly::NonRepeatableRead);
        }
        let base = Graph { history: self.history, index: &index, edges: &no_edges }
            .components(&wish)
            .order;
        groups.extend(self.write_cycles(&mut index, &base));
        let context = Context::new(self.history, &index, &base, self.options.threads);
        let summary = Summary::new(&context, self.options.instances);
        let findings =
            strongest.map_or(Vec::new(), |strongest| anomalies::by_level(&context, strongest));
        groups.extend(findings.iter().flat_map(|findings| summary.level(findings)));
        self.note_levels(&context, &findings);
        groups.retain(|group| group.kind.info().forbidden_by.iter().any(|&level| self.asks(level)));
        groups.sort_by_key(|group| group.kind);
        groups
    }

    /// What is wrong whatever the level: cycles of the causal order, and reads that are wrong by
    /// themselves.
    fn without_levels(
        &self,
        index: &Index,
        causal: &Components,
        edges: &Edges,
    ) -> Vec<AnomalyGroup> {
        let context = Context::new(self.history, index, &causal.order, self.options.threads);
        let summary = Summary::new(&context, self.options.instances);
        let cycles =
            summary.cycles(&Cycles { kind: Anomaly::CyclicCausality, components: causal, edges });
        let mut groups: Vec<AnomalyGroup> = cycles.into_iter().collect();
        groups.extend(summary.faults(&index.faults));
        groups.extend(summary.unrepeated());
        groups
    }

    /// Cycles that need the version orders of lists; these version orders are then left out.
    fn write_cycles(&mut self, index: &mut Index, base: &[u32]) -> Option<AnomalyGroup> {
        if index.lists.version_edges.is_empty() {
            return None;
        }
        let edges = Edges::new(decide::known_edges(index), self.history.txn_count());
        let components = Graph { history: self.history, index, edges: &edges }.components(base);
        if !components.has_cycle() {
            return None;
        }
        self.forbid(Anomaly::WriteCycle);
        let context = Context::new(self.history, index, base, self.options.threads);
        let summary = Summary::new(&context, self.options.instances);
        let group = summary.cycles(&Cycles {
            kind: Anomaly::WriteCycle,
            components: &components,
            edges: &edges,
        });
        drop(summary);
        drop(context);
        index.lists.version_edges.retain(|edge| !components.together(edge.from, edge.to));
        group
    }

    /// The weak levels, strongest first, that depend on what the ambiguous reads read.
    fn open_weak(&self, strong: &Strong) -> Vec<Level> {
        let settled =
            |level: Level| self.violated.contains(&level) || strong.holds() >= Some(level);
        let asked = Level::WEAK.into_iter().rev().filter(|&level| self.asks(level));
        if self.ambiguous.is_none() {
            Vec::new()
        } else {
            asked.filter(|&level| !settled(level)).collect()
        }
    }

    fn has_open_choice(&self, strong: &Strong) -> bool {
        !self.open_weak(strong).is_empty()
    }

    /// Decides the weak levels that depend on what the ambiguous reads read; what is wrong whatever
    /// they read.
    fn choose_sources(&mut self, reads: &[u32], strong: &Strong) -> Vec<AnomalyGroup> {
        let mut groups = Vec::new();
        for level in self.open_weak(strong) {
            let held =
                self.matched.iter().find(|verdict| verdict.outcome == Outcome::Holds).cloned();
            let verdict = match held {
                Some(stronger) => Verdict { level, ..stronger },
                None => self.choose_sources_at(level, reads, &mut groups),
            };
            self.matched.push(verdict);
        }
        groups
    }

    fn choose_sources_at(
        &mut self,
        level: Level,
        reads: &[u32],
        groups: &mut Vec<AnomalyGroup>,
    ) -> Verdict {
        match matching::decide(self.history, reads, level, self.options) {
            Matched::Holds { sources, order } => {
                let order = order.filter(|_| self.options.keep_orders);
                Verdict { order, sources: Some(sources), ..Verdict::new(level, Outcome::Holds) }
            }
            Matched::Violated { ops, exemplar } => {
                let levels: Vec<Level> =
                    Level::LADDER.into_iter().filter(|&other| other >= level).collect();
                self.violated.extend(&levels);
                if let Some(exemplar) = exemplar {
                    groups.retain(|_| false);
                    let ops = ops.iter().map(|&op| Refs(self.history).op(op)).collect();
                    let exemplar = Violation { ops, levels, ..*exemplar };
                    groups.push(AnomalyGroup {
                        kind: exemplar.kind,
                        count: 1,
                        instances: vec![exemplar.clone()],
                        exemplar,
                    });
                }
                Verdict::new(level, Outcome::Violated)
            }
            Matched::OutOfBudget(reason) => {
                Verdict { undecided: Some(reason), ..Verdict::new(level, Outcome::Undecided) }
            }
            Matched::Unsupported => Verdict {
                undecided: self.ambiguous.clone(),
                ..Verdict::new(level, Outcome::Undecided)
            },
        }
    }

    /// Remembers that `kind` was found.
    fn forbid(&mut self, kind: Anomaly) {
        self.violated.extend(kind.info().forbidden_by);
    }

    /// Remembers the levels at which something was found, and those below them.
    fn note_levels(&mut self, context: &Context<'_>, findings: &[LevelFindings]) {
        for found in findings {
            if !found.is_empty() {
                self.forbid(found.kinds().0);
            }
            if !self.violated.contains(&found.level) {
                let order = self
                    .options
                    .keep_orders
                    .then(|| decide::commit_order(context, found.level))
                    .flatten();
                self.holding.push((found.level, order));
            }
        }
    }

    fn report(
        self,
        order: Option<Vec<u32>>,
        strong: &Strong,
        anomalies: Vec<AnomalyGroup>,
        timings: Timings,
    ) -> Report {
        let verdicts = self
            .levels
            .iter()
            .map(|&level| self.verdict(level, order.as_deref(), strong))
            .collect();
        let proved = self.proved(order.is_some(), strong);
        Report { verdicts, anomalies, proved, timings, memory_needed: None }
    }

    /// What is known of the ladder; `clean` if no weak level is violated.
    fn proved(&self, clean: bool, strong: &Strong) -> Proved {
        let on_ladder = |level: &Level| *level != Level::CutIsolation;
        let weak = if clean && self.ambiguous.is_none() { self.strongest_weak() } else { None };
        let held =
            self.holding.iter().map(|(level, _)| *level).filter(|_| self.ambiguous.is_none());
        let matched = self.matched.iter().filter(|verdict| verdict.outcome == Outcome::Holds);
        let holds =
            held.chain(matched.map(|verdict| verdict.level)).chain(weak).chain(strong.holds());
        let violated = self.violated.iter().copied().chain(strong.weakest_violated());
        Proved { holds: holds.filter(on_ladder).max(), violated: violated.filter(on_ladder).min() }
    }

    fn verdict(&self, level: Level, order: Option<&[u32]>, strong: &Strong) -> Verdict {
        if self.violated.contains(&level) {
            return Verdict::new(level, Outcome::Violated);
        }
        if level.is_strong() {
            return strong.verdict(level, self.options.keep_orders);
        }
        if let Some(matched) = self.matched.iter().find(|verdict| verdict.level == level) {
            return matched.clone();
        }
        if level != Level::CutIsolation && self.ambiguous.is_some() {
            return strong.verdict_of_ambiguous(
                level,
                self.ambiguous.as_ref(),
                self.options.keep_orders,
            );
        }
        let weaker = self
            .holding
            .iter()
            .find(|(held, _)| *held == level)
            .and_then(|(_, order)| order.as_deref());
        let order = if level == Level::CutIsolation { None } else { order.or(weaker) };
        let kept = order
            .filter(|_| self.options.keep_orders)
            .map(|order| order.iter().map(|&txn| TxnId(txn)).collect());
        Verdict { order: kept, ..Verdict::new(level, Outcome::Holds) }
    }
}

/// The levels of `options` in the order of reports. Strict serializability means nothing without
/// times, so a history that has none is only told so if the question was not simply "all levels".
pub(crate) fn levels_to_report(history: &History, options: &Options) -> Vec<Level> {
    let all = Level::ALL.iter().all(|level| options.levels.contains(level));
    let silent = |level: Level| level == Level::StrictSerializable && all && !history.has_times();
    Level::ALL
        .into_iter()
        .filter(|&level| options.levels.contains(&level) && !silent(level))
        .collect()
}

fn is_list(history: &History, op: u32) -> bool {
    matches!(history.op(OpId(op)).value.kind(), ValueKind::List(_))
}

/// Why nothing can be said to hold, if reads are ambiguous.
fn undecided(history: &History, index: &Index) -> Option<Undecided> {
    let first = OpId(*index.ambiguous.first()?);
    let op = history.op(first);
    Some(Undecided::DuplicateValue {
        key: history.key_name(op.key).to_string(),
        value: history.value_text(op.value),
        reads: index.ambiguous.len() as u64,
    })
}
