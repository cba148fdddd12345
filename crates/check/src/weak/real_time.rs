//! The weak levels with real time.
//!
//! Real time joins session order in every axiom, so causal consistency with real time is that of
//! the history with moments ([`Moments`]), in which a path of reads leads from what ended to what
//! began later. At read committed and read atomic that gives what the commit order must extend; the
//! axiom asks for more: of the writers of a key that ended before a reader began, the last must
//! have been read. Those that the writer of what was read ended before make the read stale by
//! itself (`stale_reads.rs`). Those that ended before it began come before it anyway. What is left
//! are writers that overlap it: an edge from each of them, known at every level. At most as many
//! are needed for a version as run at once, so with k sessions whose transactions follow each other
//! there are O(n·k) of them.
//!
//! What is wrong is looked for in four steps. Reads that are stale by themselves and real-time
//! cycles (`time_cycles.rs`) are counted by scans of the whole history. What else violates the
//! levels that hold with sessions is found beside these. Then come the levels that do not hold with
//! sessions, without the reads that are to blame for that, as long as something is found: there is
//! a kind that only real time forbids beside every other anomaly.

use super::distinct::{Analysis, WeakLevels, commit_order};
use super::edges::Inferred;
use super::time_cycles::TimeCycles;
use crate::index::{Index, Overlap, Source, last_write};
use crate::latest_begins::LatestBegins;
use crate::limits::{Limits, memory};
use crate::outcome::{
    AnomalyGroup, Counted, Edge, OpRef, Options, Reason, Refs, ValueRef, Violation, merged,
    sort_by_kind,
};
use crate::rest::{Leftover, Rest};
use crate::stale_reads::{StaleRead, real_time_edge, stale_reads};
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, Moments, OpId, TxnId};
use seriatim_isolation::{Anomaly, Level, Order};

/// A commit order for `level` with real time, or `None` if there is none.
pub(super) fn order(
    history: &History,
    index: &Index,
    level: Level,
    threads: usize,
) -> Option<Vec<TxnId>> {
    if !stale_reads(history, index).is_empty() {
        return None;
    }
    View::new(history, threads)?.order(level, threads)
}

/// A history with moments beside it.
struct View {
    moments: Moments,
    index: Index,
}

impl View {
    /// `None` if the moments or the overlaps do not fit.
    fn new(original: &History, threads: usize) -> Option<View> {
        let moments = original.with_moments().ok()?;
        let mut index = Index::build(&moments.history, threads);
        index.told = stale_reads(&moments.history, &index).iter().map(|stale| stale.read).collect();
        index.overlaps = overlaps(&moments.history, &index)?;
        Some(View { moments, index })
    }

    fn order(&self, level: Level, threads: usize) -> Option<Vec<TxnId>> {
        let order = commit_order(&self.moments.history, &self.index, level, threads)?;
        Some(self.without_moments(order))
    }

    fn without_moments(&self, mut order: Vec<TxnId>) -> Vec<TxnId> {
        order.retain(|&txn| !self.moments.is_moment(txn));
        order
    }
}

/// The most edges that are ever made.
const OVERLAPS_MAX: u64 = 1 << 28;

/// Whether there is room for what [`overlaps`] makes: as much as transactions that all write a key
/// at once.
pub(crate) fn is_room_for_overlaps(
    history: &History,
    index: &Index,
    stale: &[StaleRead],
    options: &Options,
) -> bool {
    let told: FxHashSet<OpId> = stale.iter().map(|stale| stale.read).collect();
    let mut count = 0;
    each_overlap(history, index, &told, |writers, _, _| count += writers.len() as u64);
    // As they are, and as edges of the graph.
    let bytes = count * (size_of::<Overlap>() + size_of::<Inferred>()) as u64;
    count <= OVERLAPS_MAX && Limits::of(options).allow(bytes)
}

/// For each version that was read the writers of its key that overlap its writer and ended before
/// the last of its readers that is not stale began. Those that ended before another one of them
/// began come before that one anyway.
///
/// `None` if there are too many, which is known before a check begins but not of its parts.
fn overlaps(history: &History, index: &Index) -> Option<Vec<Overlap>> {
    let told: FxHashSet<OpId> = index.told.iter().copied().collect();
    let mut count = 0;
    each_overlap(history, index, &told, |writers, _, _| count += writers.len() as u64);
    let mut found = Vec::with_capacity(Some(count as usize).filter(|_| count <= OVERLAPS_MAX)?);
    each_overlap(history, index, &told, |writers, to, read| {
        let others = writers.iter().map(|&(_, from)| from).filter(|&from| from != to);
        found.extend(others.map(|from| Overlap { from, to, read }));
    });
    Some(found)
}

/// Calls `visit` with writers that come before the writer of a version, itself perhaps among them,
/// that writer, and the read that shows it.
fn each_overlap(
    history: &History,
    index: &Index,
    told: &FxHashSet<OpId>,
    mut visit: impl FnMut(&[(i64, TxnId)], TxnId, OpId),
) {
    let times = |txn: TxnId| {
        let (begin, end) = history.times(txn).unwrap_or((i64::MIN, i64::MAX));
        (begin, end.max(begin))
    };
    let mut begins = LatestBegins::default();
    for key in (0..index.reads.start.len().saturating_sub(1)).map(KeyId::from) {
        let (versions, reads) = (index.versions.range(key), index.reads.range(key));
        if versions.len() < 2 || reads.is_empty() {
            continue;
        }
        let writers = &index.versions.txn[versions.clone()];
        let mut ended: Vec<(i64, TxnId)> = writers.iter().map(|&txn| (times(txn).1, txn)).collect();
        ended.sort_unstable();
        begins.fill(ended.iter().map(|&(_, txn)| times(txn).0));
        // The last begin of a reader of each version, with the read.
        let mut last: Vec<Option<(i64, OpId)>> = vec![None; versions.len()];
        for read in reads {
            let Some(version) = index.reads.source[read].version() else { continue };
            let op = index.reads.op[read];
            if !told.contains(&op) {
                let version = version.index() - versions.start;
                last[version] = last[version].max(Some((times(index.reads.txn[read]).0, op)));
            }
        }
        for (&to, last) in writers.iter().zip(last) {
            let Some((begin, read)) = last else { continue };
            let first = ended.partition_point(|&(end, _)| end < times(to).0);
            let until = ended.partition_point(|&(end, _)| end < begin);
            if first < until {
                let own = ended.partition_point(|&ended| ended < (times(to).1, to));
                let before = begins.latest(first, own.clamp(first, until));
                let latest = before.max(begins.latest((own + 1).clamp(first, until), until));
                let needed = ended.partition_point(|&(end, _)| end < latest).clamp(first, until);
                visit(&ended[needed..until], to, read);
            }
        }
    }
}

/// How often what was found is left out and what is left is looked at.
const ROUNDS_MAX: usize = 4;

/// How many instances of a kind are told apart, at least.
const TOLD_APART: usize = 64;

/// All anomalies of a history that violates a weak level with real time, or may do so.
pub(super) fn analyse(
    weak: &mut WeakLevels<'_>,
    index: Index,
    strongest: Option<Level>,
) -> Analysis {
    let (history, options) = (weak.history, weak.options);
    let stale = stale_reads(history, &index);
    let cycles = TimeCycles::new(history, &index);
    let mut groups: Vec<AnomalyGroup> = by_themselves(weak, &stale).into_iter().collect();
    groups.extend(cycles.group(&Level::LADDER, options.instances));
    let (reads, out_of_step) = cycles.to_blame();
    let by_scan = !stale.is_empty() || !cycles.is_empty();
    drop(cycles);
    let counts = index.counts.clone();
    let aside = vec![false; history.op_count()];
    let used = out_of_step.iter().copied().collect();
    let mut left = Leftover { whole: history, counts: &counts, aside, used };
    left.set_aside(reads.iter().copied());
    let mut analysis = weak.analyse_with_sessions(index, strongest);
    analysis.out_of_step = out_of_step;
    analysis.blame(Level::ReadCommitted, reads);
    let mut rounds = Rounds { options, left, groups, looked: None, is_complete: true };
    let held = weak.holding.take().map(|(level, _)| level);
    if let Some(held) = held {
        rounds.within(weak, held, &mut analysis);
        rounds.looked = Some(held);
    }
    let is_open = |level: &Level| Some(*level) >= held && Some(*level) <= strongest;
    for level in Level::WEAK.into_iter().filter(is_open) {
        rounds.beyond(level, &mut analysis);
    }
    // They stay until here: what they read from is a part of other cycles.
    analysis.blame(Level::ReadCommitted, stale.iter().map(|stale| stale.read));
    if by_scan {
        weak.violated.extend(Level::LADDER);
        weak.holding = None;
    }
    let mut groups = merged(rounds.groups);
    groups.retain(|group| group.exemplar.levels.iter().any(|&level| weak.asks(level)));
    if !rounds.is_complete {
        groups.iter_mut().for_each(|group| group.counted = Counted::AtLeast);
    }
    analysis.groups.extend(groups);
    sort_by_kind(&mut analysis.groups);
    analysis
}

/// The reads that are stale by themselves; the oldest is shown.
fn by_themselves(weak: &WeakLevels<'_>, stale: &[StaleRead]) -> Option<AnomalyGroup> {
    let explain = |stale: &StaleRead| stale.violation(weak.history, &Level::LADDER);
    let exemplar = explain(stale.iter().max_by_key(|stale| stale.age)?)?;
    Some(AnomalyGroup {
        kind: Anomaly::StaleRead,
        count: stale.len() as u64,
        counted: Counted::Exactly,
        exemplar,
        instances: stale.iter().take(weak.options.instances).filter_map(explain).collect(),
    })
}

/// The search for what no scan finds, and what it has found.
struct Rounds<'a> {
    options: &'a Options,
    left: Leftover<'a>,
    groups: Vec<AnomalyGroup>,
    /// The level at which what is left was looked at last.
    looked: Option<Level>,
    /// Whether no limit ended it.
    is_complete: bool,
}

impl Rounds<'_> {
    /// What violates `level`, which holds with sessions, or weaker levels, beside what scans found.
    fn within(&mut self, weak: &mut WeakLevels<'_>, level: Level, analysis: &mut Analysis) {
        let is_whole = self.left.used.is_empty() && !self.left.aside.contains(&true);
        let rest = if is_whole { None } else { self.rest() };
        if !is_whole && rest.is_none() {
            return;
        }
        let Some(found) = self.look(rest.as_ref(), level) else { return };
        if is_whole {
            weak.violated.extend(&found.violated);
            weak.holding = found.holding;
        }
        self.groups.extend(found.groups);
        analysis.blamed.extend(found.blamed);
    }

    /// What violates `level` or weaker levels without the reads that these blame, as often as there
    /// is something new.
    fn beyond(&mut self, level: Level, analysis: &mut Analysis) {
        for _ in 0..ROUNDS_MAX {
            let blamed = analysis.blamed.iter().filter(|(by, _)| *by <= level);
            let new: Vec<OpId> = blamed
                .map(|&(_, read)| read)
                .filter(|read| !self.left.aside[read.index()])
                .collect();
            if new.is_empty() && self.looked == Some(level) {
                return;
            }
            self.looked = Some(level);
            self.left.set_aside(new);
            let Some(rest) = self.rest() else { return };
            let Some(found) = self.look(Some(&rest), level) else { break };
            self.groups.extend(found.groups);
            analysis.blamed.extend(found.blamed);
        }
        self.is_complete = false;
    }

    /// What is left, if there is room for that.
    fn rest(&mut self) -> Option<Rest> {
        let limits = Limits::of(self.options);
        let is_room = limits.allow(3 * memory::of_part(self.left.whole)) && !limits.is_over();
        self.is_complete &= is_room;
        is_room.then(|| self.left.rest(self.options))
    }

    /// What violates `level` or weaker levels with real time in a part, or in the whole.
    fn look(&self, part: Option<&Rest>, level: Level) -> Option<OfPart> {
        let (whole, threads) = (self.left.whole, self.options.threads);
        let history = part.map_or(whole, |part| &part.history);
        let mut found = OfPart::default();
        let view = View::new(history, threads)?;
        if let Some(order) = view.order(level, threads) {
            found.holding = Some((level, Some(order)));
            return Some(found);
        }
        let View { moments, index } = view;
        let instances = self.options.instances.max(TOLD_APART);
        let options = Options { order: Order::Sessions, instances, ..self.options.clone() };
        let teller = Teller::new(whole, part, &moments, &index);
        let levels = Level::WEAK.into_iter().filter(|&weaker| weaker <= level).collect();
        let mut inner = WeakLevels::new(&moments.history, &options, levels);
        let analysis = inner.analyse_with_sessions(index, Some(level));
        let real =
            |order: Vec<TxnId>| order.into_iter().filter(|&txn| !moments.is_moment(txn)).collect();
        found.violated = inner.violated;
        found.holding = inner.holding.map(|(level, order)| (level, order.map(real)));
        let original = |&(level, read): &(Level, OpId)| Some((level, teller.ops[read.index()]?));
        found.blamed = analysis.blamed.iter().filter_map(original).collect();
        for group in analysis.groups {
            found.groups.extend(teller.groups(group, self.options.instances));
        }
        Some(found)
    }
}

/// What real time forbids in a part of a history, in the words of the whole.
#[derive(Default)]
struct OfPart {
    violated: Vec<Level>,
    /// The strongest weak level that holds, with its commit order.
    holding: Option<(Level, Option<Vec<TxnId>>)>,
    blamed: Vec<(Level, OpId)>,
    groups: Vec<AnomalyGroup>,
}

/// Tells explanations of a history with moments in the words of the original.
struct Teller<'a> {
    original: &'a History,
    moments: &'a Moments,
    /// For each operation of the history with moments that of the original; `None` for those that
    /// tell of real time.
    ops: Vec<Option<OpId>>,
    /// For each transaction that is no moment that of the original.
    txns: Vec<TxnId>,
    overlaps: FxHashSet<Overlap>,
    /// For each operation of the history with moments where it reads from.
    sources: Vec<Source>,
}

impl<'a> Teller<'a> {
    /// The moments are those of a part of the original, or of all of it.
    fn new(
        original: &'a History,
        part: Option<&Rest>,
        moments: &'a Moments,
        index: &Index,
    ) -> Teller<'a> {
        let ops = moments.original.iter().map(|op| match part {
            Some(part) => op.map(|op| part.kept[op.index()]),
            None => *op,
        });
        // A part has no transactions without operations.
        let txn = |txn: TxnId| match part {
            Some(part) => {
                let first = part.history.ops_of(txn).start;
                original.txn_of(part.kept[first as usize])
            }
            None => txn,
        };
        Teller {
            original,
            moments,
            ops: ops.collect(),
            txns: (0..moments.txns).map(TxnId).map(txn).collect(),
            overlaps: index.overlaps.iter().copied().collect(),
            sources: index.source_txn.clone(),
        }
    }

    /// What can be told of a group, by kind; of each kind so many instances. What cannot is not
    /// counted: no operations would show it. What is not told apart is like the exemplar.
    fn groups(&self, group: AnomalyGroup, shown: usize) -> Vec<AnomalyGroup> {
        let told: Vec<Option<Violation>> =
            group.instances.iter().map(|instance| self.violation(instance)).collect();
        let others = group.count.saturating_sub(told.len() as u64);
        let exemplar = self.violation(&group.exemplar);
        let mut groups: Vec<AnomalyGroup> = Vec::new();
        for violation in told.into_iter().flatten() {
            match groups.iter_mut().find(|group| group.kind == violation.kind) {
                Some(group) => group.instances.push(violation),
                None => groups.push(AnomalyGroup {
                    kind: violation.kind,
                    count: 0,
                    counted: Counted::AtLeast,
                    exemplar: violation.clone(),
                    instances: vec![violation],
                }),
            }
        }
        for group in &mut groups {
            group.count = group.instances.len() as u64;
            group.instances.truncate(shown);
            if let Some(exemplar) = exemplar.iter().find(|told| told.kind == group.kind) {
                group.exemplar = exemplar.clone();
                group.count += others;
            }
        }
        groups
    }

    /// `None` if it has nothing to do with real time, or if a transaction without operations is
    /// part of it.
    fn violation(&self, violation: &Violation) -> Option<Violation> {
        let first = violation.cycle.iter().position(|edge| !self.is_moment(edge))?;
        let (tail, head) = violation.cycle.split_at(first);
        let cycle = self.edges(&[head, tail].concat())?;
        let mut ops = Vec::new();
        for op in &violation.ops {
            ops.extend(self.op(op));
        }
        let mut is_timed = false;
        for edge in all_edges(&cycle) {
            is_timed |= matches!(edge.reason, Reason::RealTime { .. });
            for txn in [&edge.from, &edge.to].into_iter().filter_map(|txn| txn.id) {
                self.add_op_of(txn, &mut ops)?;
            }
        }
        // One read that missed something is stale; several contradict each other.
        let kind = match cycle.iter().filter(|edge| has_missed(edge)).count() {
            1 => Anomaly::StaleRead,
            _ => Anomaly::RealTimeCycle,
        };
        let levels = violation.levels.clone();
        is_timed.then(|| Violation::new(kind, ops, cycle).at(levels))
    }

    /// Whether an edge begins at a moment.
    fn is_moment(&self, edge: &Edge) -> bool {
        edge.from.id.is_some_and(|txn| self.moments.is_moment(txn))
    }

    /// Edges, of which those along moments become one each. The first begins at no moment.
    fn edges(&self, edges: &[Edge]) -> Option<Vec<Edge>> {
        let mut told = Vec::new();
        let mut ended: Option<TxnId> = None;
        for edge in edges {
            let to_moment = edge.to.id.is_some_and(|txn| self.moments.is_moment(txn));
            let from = ended.or(edge.from.id);
            match (to_moment, ended) {
                (true, _) => ended = from,
                (false, Some(from)) => {
                    told.push(self.real_time(from, edge.to.id?));
                    ended = None;
                }
                (false, None) => told.push(self.edge(edge)?),
            }
        }
        Some(self.without_empty(told))
    }

    /// A path around transactions without operations, which nothing could show, where real time
    /// leads past them.
    fn without_empty(&self, edges: Vec<Edge>) -> Vec<Edge> {
        let is_empty = |txn: TxnId| self.original.ops_of(txn).is_empty();
        let mut kept: Vec<Edge> = Vec::with_capacity(edges.len());
        for edge in edges {
            let from = kept.last().and_then(|last| last.from.id);
            let around = match (from, edge.from.id, edge.to.id) {
                (Some(from), Some(empty), Some(to)) if is_empty(empty) => {
                    Some(real_time_edge(self.original, from, to)).filter(is_in_time)
                }
                _ => None,
            };
            match around {
                Some(around) => {
                    kept.pop();
                    kept.push(around);
                }
                None => kept.push(edge),
            }
        }
        kept
    }

    /// One transaction of the history with moments ended before another one began.
    fn real_time(&self, from: TxnId, to: TxnId) -> Edge {
        real_time_edge(self.original, self.txns[from.index()], self.txns[to.index()])
    }

    fn edge(&self, edge: &Edge) -> Option<Edge> {
        let txn = |txn: Option<TxnId>| {
            let refs = Refs(self.original);
            txn.map_or_else(|| refs.initial(), |txn| refs.txn(self.txns[txn.index()]))
        };
        let reason = match &edge.reason {
            Reason::WriteRead { write, read, origin } => Reason::WriteRead {
                write: self.op(write)?,
                read: self.op(read)?,
                origin: origin.clone(),
            },
            Reason::Overwritten { read, source, other, visible } => Reason::Overwritten {
                read: self.op(read)?,
                source: self.op(source)?,
                other: self.op(other)?,
                visible: self.visible(edge, read, visible)?,
            },
            Reason::VersionOrder { earlier, later, read } => Reason::VersionOrder {
                earlier: self.op(earlier)?,
                later: self.op(later)?,
                read: self.op(read)?,
            },
            other => other.clone(),
        };
        Some(Edge { from: txn(edge.from.id), to: txn(edge.to.id), reason })
    }

    /// How the transaction that `edge` leads from is visible to that of `read`.
    fn visible(&self, edge: &Edge, read: &OpRef, visible: &[Edge]) -> Option<Vec<Edge>> {
        let (Some(from), Some(to), Some(op)) = (edge.from.id, edge.to.id, read.id) else {
            return self.edges(visible);
        };
        if self.overlaps.contains(&Overlap { from, to, read: op }) {
            return Some(vec![self.real_time(from, read.txn.id?)]);
        }
        self.edges(visible)
    }

    /// An operation of the original; `None` if it tells of real time.
    fn op(&self, op: &OpRef) -> Option<OpRef> {
        match op.id {
            None => Some(OpRef { txn: Refs(self.original).initial(), ..op.clone() }),
            Some(id) => {
                let original = self.ops[id.index()]?;
                Some(OpRef { element: op.element.clone(), ..Refs(self.original).op(original) })
            }
        }
    }

    /// Adds an operation of `txn`, if there is none: without one it would not be there. A read
    /// comes with the write that it returned.
    fn add_op_of(&self, txn: TxnId, ops: &mut Vec<OpRef>) -> Option<()> {
        if ops.iter().any(|op| op.txn.id == Some(txn)) {
            return Some(());
        }
        let refs = Refs(self.original);
        let own = || self.original.ops_of(txn).map(OpId);
        let write = own().rfind(|&op| self.original.op(op).kind.is_write());
        let op = write.or_else(|| own().next())?;
        ops.push(refs.op(op));
        if write.is_none() {
            let read = self.ops.iter().position(|&at| at == Some(op))?;
            let source = self.sources[read].txn().map(|source| self.txns[source.index()]);
            let key = self.original.op(op).key;
            let write = source.and_then(|source| last_write(self.original, source, key));
            ops.extend(write.map(|op| refs.op(op)));
        }
        Some(())
    }
}

/// Whether an edge of real time holds.
fn is_in_time(edge: &Edge) -> bool {
    matches!(edge.reason, Reason::RealTime { end, begin } if end < begin)
}

/// Whether an edge is there because a read missed something: an overwritten value, or an append
/// that its list lacks.
fn has_missed(edge: &Edge) -> bool {
    match &edge.reason {
        Reason::Overwritten { .. } => true,
        Reason::VersionOrder { later, read, .. } => match (&read.value, &later.value) {
            (ValueRef::List(list), ValueRef::Scalar(element)) => !list.contains(element),
            _ => false,
        },
        _ => false,
    }
}

/// The edges of a cycle, and those by which transactions are visible.
fn all_edges(cycle: &[Edge]) -> impl Iterator<Item = &Edge> {
    cycle.iter().flat_map(|edge| std::iter::once(edge).chain(visible_by(edge)))
}

fn visible_by(edge: &Edge) -> &[Edge] {
    match &edge.reason {
        Reason::Overwritten { visible, .. } => visible,
        _ => &[],
    }
}
