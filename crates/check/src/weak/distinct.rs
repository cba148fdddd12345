//! The weak levels of a history, as far as they do not depend on ambiguous reads: decide the
//! strongest; only if that fails, look for everything that is wrong.

use super::anomalies::{self, LevelFindings};
use super::context::Context;
use super::decide;
use super::edges::{Edges, known_edges};
use super::graph::{Components, Graph};
use super::real_time;
use super::summary::{Cycles, Summary};
use crate::index::{Fault, Index, VersionEdge, first_guess};
use crate::outcome::{AnomalyGroup, Options, sort_by_kind};
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId};
use seriatim_isolation::{Anomaly, Level, Order};
use std::collections::BTreeSet;

/// What is known about the weak levels of a history.
pub(crate) struct WeakLevels<'a> {
    pub history: &'a History,
    pub options: &'a Options,
    /// The levels that get a verdict, in the order of reports.
    pub levels: Vec<Level>,
    /// The levels that forbid something that was found, whether or not there is an explanation of
    /// it.
    pub violated: Vec<Level>,
    /// The strongest level of the ladder that holds although a stronger one is violated, with its
    /// commit order, if one was to be made.
    pub holding: Option<(Level, Option<Vec<TxnId>>)>,
}

impl<'a> WeakLevels<'a> {
    /// Nothing is known yet.
    pub fn new(history: &'a History, options: &'a Options, levels: Vec<Level>) -> WeakLevels<'a> {
        WeakLevels { history, options, levels, violated: Vec::new(), holding: None }
    }
}

impl WeakLevels<'_> {
    /// The levels that were asked for and are not known to be violated, strongest first.
    pub fn open(&self) -> impl Iterator<Item = Level> + '_ {
        let asked = Level::WEAK.into_iter().rev().filter(|&level| self.asks(level));
        asked.filter(|level| !self.violated.contains(level))
    }

    /// The strongest weak level that matters; `None` if only cut isolation was asked for. What
    /// violates a weak level violates the strong ones too, and is easier to find and to understand
    /// there.
    pub fn strongest(&self) -> Option<Level> {
        let matters =
            |level: Level| self.asks(level) || self.levels.iter().any(|asked| asked.is_strong());
        Level::WEAK.into_iter().rev().find(|&level| matters(level))
    }

    /// A commit order for the strongest level, if there is one and no read is wrong by itself. Cut
    /// isolation is decided by the index alone.
    pub fn decide(&self, index: Index, strongest: Option<Level>) -> (Option<Vec<TxnId>>, Index) {
        let clean = index.faults.is_empty() && index.unrepeated.is_empty();
        let Some(level) = strongest else { return (clean.then(Vec::new), index) };
        let unrepeated_matters = level != Level::ReadCommitted || self.asks(Level::CutIsolation);
        if !index.faults.is_empty() || (unrepeated_matters && !index.unrepeated.is_empty()) {
            return (None, index);
        }
        let order = match self.options.order {
            Order::RealTime => real_time::order(self.history, &index, level, self.options.threads),
            _ => commit_order(self.history, &index, level, self.options.threads),
        };
        (order, index)
    }

    /// The strong levels that were asked for.
    pub fn strong_levels(&self) -> Vec<Level> {
        Level::STRONG.into_iter().filter(|&level| self.asks(level)).collect()
    }

    pub fn asks(&self, level: Level) -> bool {
        self.levels.contains(&level)
    }

    /// All anomalies that the levels asked for forbid, and the reads that are to blame for them.
    pub fn analyse(&mut self, index: Index, strongest: Option<Level>) -> Analysis {
        match self.options.order {
            Order::RealTime => real_time::analyse(self, index, strongest),
            _ => self.analyse_with_sessions(index, strongest),
        }
    }

    /// The same if what ended before something else began does not count.
    pub(super) fn analyse_with_sessions(
        &mut self,
        mut index: Index,
        strongest: Option<Level>,
    ) -> Analysis {
        // Whatever the level.
        let mut blamed: Vec<OpId> = index.faults.iter().map(Fault::reader).collect();
        let unrepeated = index.unrepeated.iter().flat_map(|pair| [pair.first, pair.second]);
        let unrepeated: Vec<OpId> = unrepeated.collect();
        let no_edges = Edges::new(Vec::new(), self.history.txn_count());
        let wish = first_guess(self.history, &index);
        let causal =
            Graph { history: self.history, index: &index, edges: &no_edges }.components(&wish);
        let mut groups = self.without_levels(&index, &causal, &no_edges);
        if causal.has_cycle() {
            self.forbid(Anomaly::CyclicCausality);
            blamed.extend(anomalies::cut_cycles(self.history, &mut index, &causal));
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
        let (cycles, told) = self.write_cycles(&mut index, &base, &mut blamed);
        groups.extend(cycles);
        let context = Context::new(self.history, &index, &base, self.options.threads);
        let summary = Summary::new(&context, self.options.instances);
        let mut findings =
            strongest.map_or(Vec::new(), |strongest| anomalies::by_level(&context, strongest));
        for found in &mut findings {
            found.leave_out_told(&told);
        }
        groups.extend(findings.iter().flat_map(|findings| summary.level(findings)));
        self.note_levels(&context, &findings);
        groups.retain(|group| group.kind.info().forbidden_by.iter().any(|&level| self.asks(level)));
        sort_by_kind(&mut groups);
        let mut analysis = Analysis { groups, blamed: Vec::new(), out_of_step: Vec::new() };
        analysis.blame(Level::ReadCommitted, blamed);
        analysis.blame(Level::ReadAtomic, unrepeated);
        for found in &findings {
            analysis.blame(found.level, found.reads());
        }
        analysis
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

    /// Cycles that need the version orders of lists; these version orders are then left out, and
    /// the reads of their keys are to blame: any of them may show the order. Those that the
    /// elements of lists show come first, then those that need an element that a list lacks. Also
    /// the components that these cycles are in.
    fn write_cycles(
        &mut self,
        index: &mut Index,
        base: &[TxnId],
        blamed: &mut Vec<OpId>,
    ) -> (Vec<AnomalyGroup>, Vec<Components>) {
        let missing: Vec<VersionEdge> =
            index.lists.version_edges.extract_if(.., |edge| edge.is_missing).collect();
        let mut found = Vec::from_iter(self.cycles_of(index, base, blamed, Anomaly::WriteCycle));
        if !missing.is_empty() {
            index.lists.version_edges.extend(missing);
            found.extend(self.cycles_of(index, base, blamed, Anomaly::LostElement));
        }
        found.into_iter().unzip()
    }

    /// The cycles of one of these kinds.
    fn cycles_of(
        &mut self,
        index: &mut Index,
        base: &[TxnId],
        blamed: &mut Vec<OpId>,
        kind: Anomaly,
    ) -> Option<(AnomalyGroup, Components)> {
        if index.lists.version_edges.is_empty() && index.overlaps.is_empty() {
            return None;
        }
        let edges = Edges::new(known_edges(index), self.history.txn_count());
        let components = Graph { history: self.history, index, edges: &edges }.components(base);
        if !components.has_cycle() {
            return None;
        }
        self.forbid(kind);
        let context = Context::new(self.history, index, base, self.options.threads);
        let summary = Summary::new(&context, self.options.instances);
        let cycles = Cycles { kind, components: &components, edges: &edges };
        let group = match kind {
            Anomaly::LostElement => summary.lost_elements(&cycles),
            _ => summary.cycles(&cycles),
        };
        drop(summary);
        drop(context);
        leave_out_cycles(self.history, index, &components, blamed);
        group.map(|group| (group, components))
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
        }
        let holds = |level: &Level| !self.violated.contains(level);
        // Weaker levels hold by the same order.
        self.holding = findings.iter().map(|found| found.level).filter(holds).max().map(|level| {
            let order = self.options.orders.then(|| decide::commit_order(context, level));
            (level, order.flatten())
        });
    }
}

/// Leaves out of the index what orders writers in a cycle, and blames the reads that show it.
fn leave_out_cycles(
    history: &History,
    index: &mut Index,
    components: &Components,
    blamed: &mut Vec<OpId>,
) {
    // What real time shows of two writers is shown by the read of one of them alone.
    let timed = index.overlaps.extract_if(.., |edge| components.together(edge.from, edge.to));
    blamed.extend(timed.map(|edge| edge.read));
    let edges = &mut index.lists.version_edges;
    let cyclic = edges.extract_if(.., |edge| components.together(edge.from, edge.to));
    let keys: FxHashSet<KeyId> = cyclic.map(|edge| history.op(edge.read).key).collect();
    let of_keys = history.keys().iter().zip((0..).map(OpId)).filter(|(key, _)| keys.contains(key));
    let is_read = |op: &OpId| history.op(*op).kind == OpKind::Read;
    blamed.extend(of_keys.map(|(_, op)| op).filter(is_read));
}

/// A commit order for `level`, if there is one, of a history whose reads are not wrong by
/// themselves.
pub(super) fn commit_order(
    history: &History,
    index: &Index,
    level: Level,
    threads: usize,
) -> Option<Vec<TxnId>> {
    let edges = Edges::new(Vec::new(), history.txn_count());
    let graph = Graph { history, index, edges: &edges };
    let base = graph.causal_order(first_guess(history, index), threads)?;
    decide::commit_order(&Context::new(history, index, &base, threads), level)
}

/// What is wrong with a history at the weak levels.
pub(crate) struct Analysis {
    pub groups: Vec<AnomalyGroup>,
    /// Reads, by operation, without which nothing of it would be wrong, each with the weakest level
    /// that blames it. Some stand twice.
    pub blamed: Vec<(Level, OpId)>,
    /// Transactions that are to blame themselves: their times contradict their session.
    pub out_of_step: Vec<TxnId>,
}

impl Analysis {
    /// Blames `reads` from `level` on.
    pub fn blame(&mut self, level: Level, reads: impl IntoIterator<Item = OpId>) {
        self.blamed.extend(reads.into_iter().map(|read| (level, read)));
    }

    /// All reads that are to blame.
    pub fn reads(&self) -> impl Iterator<Item = OpId> + '_ {
        self.blamed.iter().map(|(_, read)| *read)
    }
}

/// What is known about one level that was looked at by itself.
pub(crate) struct LevelAlone {
    /// Whether it is violated; it holds otherwise.
    pub is_violated: bool,
    /// A commit order, if it holds and one was made.
    pub order: Option<Vec<TxnId>>,
    pub anomalies: Vec<AnomalyGroup>,
}

/// Decides one weak level of a history without ambiguous reads.
pub(crate) fn decide_alone(history: &History, level: Level, options: &Options) -> LevelAlone {
    let mut weak = WeakLevels::new(history, options, vec![level]);
    let index = Index::build(history, options.threads);
    debug_assert!(index.ambiguous.is_empty());
    let strongest = weak.strongest();
    let (order, index) = weak.decide(index, strongest);
    let anomalies =
        if order.is_some() { Vec::new() } else { weak.analyse(index, strongest).groups };
    let is_violated = weak.violated.contains(&level);
    let order = order.or_else(|| weak.holding.and_then(|(_, order)| order));
    LevelAlone { is_violated, order, anomalies }
}
