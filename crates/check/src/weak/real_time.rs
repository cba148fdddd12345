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
//! What only real time forbids is found in a history that satisfies the level with sessions; so all
//! that is found there is a stale read.

use super::distinct::{Analysis, WeakLevels, commit_order};
use super::edges::Inferred;
use crate::index::{Index, Overlap, Source, source_write};
use crate::latest_begins::LatestBegins;
use crate::limits::Limits;
use crate::outcome::{AnomalyGroup, Counted, Edge, OpRef, Options, Reason, Refs, Violation};
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
struct View<'a> {
    original: &'a History,
    moments: Moments,
    index: Index,
}

impl<'a> View<'a> {
    /// `None` if the moments or the overlaps do not fit.
    fn new(original: &'a History, threads: usize) -> Option<View<'a>> {
        let moments = original.with_moments().ok()?;
        let mut index = Index::build(&moments.history, threads);
        index.told = stale_reads(&moments.history, &index).iter().map(|stale| stale.read).collect();
        index.overlaps = overlaps(&moments.history, &index)?;
        Some(View { original, moments, index })
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

/// All anomalies of a history that violates a weak level with real time, or may do so.
pub(super) fn analyse(
    weak: &mut WeakLevels<'_>,
    index: Index,
    strongest: Option<Level>,
) -> Analysis {
    let stale = stale_reads(weak.history, &index);
    let mut analysis = weak.analyse_with_sessions(index, strongest);
    let held = std::mem::take(&mut weak.holding);
    let mut groups: Vec<AnomalyGroup> = by_themselves(weak, &stale).into_iter().collect();
    analysis.blamed.extend(stale.iter().map(|stale| stale.read));
    if let Some((level, _)) = held {
        groups.extend(beyond_sessions(weak, level, &mut analysis.blamed));
    }
    if !stale.is_empty() {
        weak.violated.extend(Level::LADDER);
        weak.holding = None;
    }
    groups.retain(|group| group.exemplar.levels.iter().any(|&level| weak.asks(level)));
    analysis.groups.extend(together(groups));
    analysis.groups.sort_by_key(|group| group.kind);
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

/// What violates `level` or weaker levels with real time, where they hold with sessions.
fn beyond_sessions(
    weak: &mut WeakLevels<'_>,
    level: Level,
    blamed: &mut Vec<OpId>,
) -> Vec<AnomalyGroup> {
    let Some(view) = View::new(weak.history, weak.options.threads) else { return Vec::new() };
    let levels: Vec<Level> = Level::WEAK.into_iter().filter(|&weaker| weaker <= level).collect();
    if let Some(order) = view.order(level, weak.options.threads) {
        weak.holding = Some((level, Some(order)));
        return Vec::new();
    }
    let View { original, moments, index } = view;
    let options = Options { order: Order::Sessions, ..weak.options.clone() };
    let teller = Teller {
        original,
        moments: &moments,
        overlaps: index.overlaps.iter().copied().collect(),
        sources: index.source_txn.clone(),
    };
    let mut inner = WeakLevels::new(&moments.history, &options, levels);
    let analysis = inner.analyse_with_sessions(index, Some(level));
    weak.violated.extend(&inner.violated);
    let real =
        |order: Vec<TxnId>| order.into_iter().filter(|&txn| !moments.is_moment(txn)).collect();
    weak.holding = inner.holding.map(|(level, order)| (level, order.map(real)));
    let reads = analysis.blamed.iter().filter_map(|&op| moments.original[op.index()]);
    blamed.extend(reads);
    analysis.groups.into_iter().filter_map(|group| teller.group(group)).collect()
}

/// One group of stale reads. Its exemplar violates as much as any.
fn together(groups: Vec<AnomalyGroup>) -> Option<AnomalyGroup> {
    groups.into_iter().reduce(|mut all, group| {
        all.count += group.count;
        all.counted = Counted::AtLeast;
        all.instances.extend(group.instances);
        if group.exemplar.levels.len() > all.exemplar.levels.len() {
            all.exemplar = group.exemplar;
        }
        all
    })
}

/// Tells explanations of a history with moments in the words of the original.
struct Teller<'a> {
    original: &'a History,
    moments: &'a Moments,
    overlaps: FxHashSet<Overlap>,
    /// For each operation of the history with moments where it reads from.
    sources: Vec<Source>,
}

impl Teller<'_> {
    /// What can be told of a group. What cannot is not counted: no operations would show it.
    fn group(&self, group: AnomalyGroup) -> Option<AnomalyGroup> {
        let untold = |violation: &&Violation| self.violation(violation).is_none();
        let untold = group.instances.iter().filter(untold).count() as u64;
        let instances = group.instances.iter().filter_map(|instance| self.violation(instance));
        let instances: Vec<Violation> = instances.collect();
        let exemplar = self.violation(&group.exemplar).or_else(|| instances.first().cloned())?;
        let count = group.count.saturating_sub(untold).max(1);
        let counted = if untold > 0 { Counted::AtLeast } else { group.counted };
        Some(AnomalyGroup { kind: Anomaly::StaleRead, count, counted, exemplar, instances })
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
        let (kind, levels) = (Anomaly::StaleRead, violation.levels.clone());
        is_timed.then_some(Violation { kind, ops, levels, cycle, age: None })
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
                    told.push(real_time_edge(self.original, from, edge.to.id?));
                    ended = None;
                }
                (false, None) => told.push(self.edge(edge)?),
            }
        }
        Some(told)
    }

    fn edge(&self, edge: &Edge) -> Option<Edge> {
        let txn = |txn: Option<TxnId>| {
            txn.map_or_else(|| Refs(self.original).initial(), |txn| Refs(self.original).txn(txn))
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
            return Some(vec![real_time_edge(self.original, from, read.txn.id?)]);
        }
        self.edges(visible)
    }

    /// An operation of the original; `None` if it tells of real time.
    fn op(&self, op: &OpRef) -> Option<OpRef> {
        match op.id {
            None => Some(OpRef { txn: Refs(self.original).initial(), ..op.clone() }),
            Some(id) => {
                let original = self.moments.original[id.index()]?;
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
            let mut inside = self.moments.history.ops_of(txn).map(OpId);
            let read = inside.find(|at| self.moments.original[at.index()] == Some(op))?;
            let (source, key) = (self.sources[read.index()], self.original.op(op).key);
            ops.extend(source_write(self.original, source, key).map(|op| refs.op(op)));
        }
        Some(())
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
