//! Everything that the strong levels forbid in a history whose weak levels hold, level by level,
//! the weakest first: patterns of two transactions by scans of the whole history; then a violation
//! that explains the level, if none does; then others that share no transaction with those before,
//! until nothing is left or a limit ends it.

use super::budget::Budget;
use super::explanation::explain;
use super::witnesses::Witnesses;
use crate::index::Index;
use crate::limits::{Limits, memory};
use crate::outcome::{AnomalyGroup, Counted, Options, Refs, Violation, merged};
use crate::patterns::{LostUpdates, Pair, write_skews};
use crate::rest::{Leftover, Rest};
use crate::stale_reads::StaleRead;
use crate::strong::{StrongOutcome, Subject, decide_strong};
use crate::weak::{CausalOrder, TimeCycles};
use rustc_hash::FxHashSet;
use seriatim_history::{History, OpId, Status, TxnId};
use seriatim_isolation::{Anomaly, Guarantee, Level, Order};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How many violations are looked for one by one.
const VIOLATIONS_MAX: usize = 100;
/// How long the search for further ones may take, at least; it may always take as long as deciding
/// took.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the explanations of the violated levels may take.
const EXPLAINING_MAX: Duration = Duration::from_secs(3);
/// How long they may take although the time of the caller is over: a verdict is worth little
/// without one.
const GRACE: Duration = Duration::from_millis(500);
/// How many pairs of a pattern are tried as the one that is shown.
const EXEMPLARS_TRIED: usize = 16;
/// How many instances of a pattern are explained at most.
const INSTANCES_MAX: usize = 1000;

/// A history whose weak levels hold: a whole one, or what is left of one without the reads that
/// violate them.
pub(crate) struct Clean<'a> {
    pub whole: &'a History,
    /// Which transactions of the whole count.
    pub counts: &'a [bool],
    /// Levels that the whole is known to violate already.
    pub violated: Vec<Level>,
    /// For each operation of the whole whether it is a read that is left out; empty if none is.
    pub aside: Vec<bool>,
    /// Transactions of the whole that are left out.
    pub left_out: FxHashSet<TxnId>,
    pub part: Subject<'a>,
    /// For each operation of the part the same operation of the whole, if they differ.
    pub kept: Option<&'a [OpId]>,
    /// A commit order of the part at causal consistency.
    pub order: &'a [TxnId],
    /// The lost updates of the whole.
    pub lost_updates: &'a LostUpdates,
    /// The stale reads of the whole.
    pub stale: &'a [StaleRead],
}

impl<'a> Clean<'a> {
    /// A whole history.
    pub fn whole(
        subject: Subject<'a>,
        order: &'a [TxnId],
        lost_updates: &'a LostUpdates,
        stale: &'a [StaleRead],
    ) -> Clean<'a> {
        let Subject { history: whole, index, .. } = subject;
        let counts = &index.counts;
        let aside = Vec::new();
        let violated = Vec::new();
        Clean {
            whole,
            counts,
            violated,
            aside,
            left_out: FxHashSet::default(),
            part: subject,
            kept: None,
            order,
            lost_updates,
            stale,
        }
    }

    fn original(&self, op: OpId) -> OpId {
        self.kept.map_or(op, |kept| kept[op.index()])
    }
}

/// What was found.
pub(crate) struct Found {
    pub groups: Vec<AnomalyGroup>,
    /// Whether nothing else is left: no limit ended the search.
    pub is_complete: bool,
    /// How long the explanation of each violated level took.
    pub times: Vec<(Level, Duration)>,
}

impl Found {
    /// Nothing was found; `is_complete` says whether anything could be.
    pub fn nothing(is_complete: bool) -> Found {
        Found { groups: Vec::new(), is_complete, times: Vec::new() }
    }
}

/// Finds and explains what is wrong. The violated levels come weakest first, each with transactions
/// of the part that alone violate it; `took` is how long it took to find them.
pub(crate) fn violations(
    clean: Clean<'_>,
    violated: &[(Level, Vec<TxnId>)],
    took: Duration,
) -> Found {
    let of_part = violated.iter().map(|(level, _)| *level);
    let of_whole: Vec<Level> = clean.violated.iter().copied().chain(of_part).collect();
    let mut finder = Finder::new(&clean);
    let deadline = Instant::now() + took.max(PATIENCE);
    let asked = clean.part.options.deadline;
    let deadline = asked.map_or(deadline, |asked| asked.min(deadline));
    let (mut end, mut times) = (End::NothingLeft, Vec::new());
    // A level is searched without the reads that are to blame for what it forbids itself, and with
    // those of stronger levels: a stale read may be a part of a read skew.
    for (place, (level, txns)) in violated.iter().enumerate() {
        finder.scan(&clean, *level, &of_whole);
        times.extend(finder.explain_level(&clean, *level, txns, violated.len() - place));
        let levels = violated.len() - place;
        if finder.others(*level, levels, deadline) == End::Limit {
            end = End::Limit;
        }
    }
    // In what is left nothing may be wrong, although scans find something in the whole.
    if let Some(&strongest) = of_whole.iter().max() {
        finder.scan(&clean, strongest, &of_whole);
    }
    let is_complete = end == End::NothingLeft;
    let counted = if is_complete { Counted::Disjoint } else { Counted::AtLeast };
    let mut groups = finder.patterns;
    groups.extend(grouped(finder.found, counted));
    Found { groups: merged(groups), is_complete, times }
}

/// How the search for further violations ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    NothingLeft,
    Limit,
}

struct Finder<'a> {
    options: &'a Options,
    left: Leftover<'a>,
    patterns: Vec<AnomalyGroup>,
    /// The patterns that were scanned for.
    scanned: Vec<Anomaly>,
    found: Vec<Violation>,
    /// Made when it is asked for.
    of_whole: OnceCell<OfWhole>,
}

/// What is known of the whole history.
struct OfWhole {
    index: Index,
    witnesses: Witnesses,
}

impl<'a> Finder<'a> {
    fn new(clean: &Clean<'a>) -> Finder<'a> {
        let mut aside = clean.aside.clone();
        aside.resize(clean.whole.op_count(), false);
        let left = Leftover {
            whole: clean.whole,
            counts: clean.counts,
            aside,
            used: clean.left_out.clone(),
        };
        let options = clean.part.options;
        Finder {
            options,
            left,
            patterns: Vec::new(),
            scanned: Vec::new(),
            found: Vec::new(),
            of_whole: OnceCell::new(),
        }
    }

    fn of_whole(&self) -> &OfWhole {
        self.of_whole.get_or_init(|| {
            let index = Index::build(self.left.whole, self.options.threads);
            let witnesses = Witnesses::new(self.left.whole, &index);
            OfWhole { index, witnesses }
        })
    }

    fn limits(&self, deadline: Instant) -> Limits {
        Limits { deadline: Some(deadline), memory: self.options.memory }
    }

    /// Counts what `level` forbids and a look at all shows, unless that was done: lost updates and
    /// stale reads of the whole, write skews of the part. Leaves out the reads that are to blame. A
    /// pattern is explained at the weakest of the violated levels that forbid it.
    fn scan(&mut self, clean: &Clean<'_>, level: Level, violated: &[Level]) {
        let weakest =
            |least: Level| violated.iter().copied().filter(|&violated| violated >= least).min();
        let is_due = |this: &Self, kind: Anomaly| !this.scanned.contains(&kind);
        if level >= Level::SnapshotIsolation && is_due(self, Anomaly::LostUpdate) {
            self.scanned.push(Anomaly::LostUpdate);
            weakest(Level::SnapshotIsolation)
                .into_iter()
                .for_each(|at| self.lost_updates(clean, at));
        }
        if level >= Level::Serializable && is_due(self, Anomaly::WriteSkew) {
            self.scanned.push(Anomaly::WriteSkew);
            weakest(Level::Serializable).into_iter().for_each(|at| self.write_skews(clean, at));
        }
        let is_strict = violated.contains(&Level::StrictSerializable);
        if level == Level::StrictSerializable && is_due(self, Anomaly::StaleRead) {
            self.scanned.push(Anomaly::StaleRead);
            if is_strict && clean.part.options.order != Order::RealTime {
                self.stale_reads(clean.stale);
                self.time_cycles();
            }
        }
    }

    fn lost_updates(&mut self, clean: &Clean<'_>, level: Level) {
        let lost = clean.lost_updates;
        let count = (lost.count(), Counted::Exactly);
        if lost.count() > 0
            && self.pattern(Anomaly::LostUpdate, level, count, || lost.pairs(clean.whole))
        {
            self.left.set_aside(lost.to_blame());
        }
    }

    fn write_skews(&mut self, clean: &Clean<'_>, level: Level) {
        let Subject { history, index, options } = clean.part;
        let order = CausalOrder::new(history, index, clean.order, options.threads);
        let skews = write_skews(history, index, &order);
        let counted = if skews.is_cut { Counted::AtLeast } else { Counted::Exactly };
        let original =
            |Pair(ops): Pair| Pair(ops.into_iter().map(|op| clean.original(op)).collect());
        let pairs = || skews.pairs(history, index).map(original);
        if self.pattern(Anomaly::WriteSkew, level, (skews.count(), counted), pairs) {
            self.left.set_aside(skews.to_blame().map(|read| clean.original(read)));
        }
    }

    /// Counts the reads that are stale by themselves, which strict serializability forbids; with
    /// real time weaker levels have told of them.
    fn stale_reads(&mut self, stale: &[StaleRead]) {
        let limits = self.limits(Instant::now() + EXPLAINING_MAX);
        let (whole, level) = (self.left.whole, Level::StrictSerializable);
        let asked = Guarantee::new(level, self.options.order);
        let explained = |stale: &StaleRead| {
            let alone = stale.violation(whole, &[level])?;
            let mut ops = alone.op_ids();
            ops.sort_unstable();
            let told = explain(whole, &ops, asked, &mut Budget::within(limits));
            let told = told.filter(|told| told.kind == Anomaly::StaleRead);
            Some(told.map_or(alone.clone(), |told| Violation { age: alone.age, ..told }))
        };
        let mut oldest: Vec<StaleRead> = stale.to_vec();
        oldest.sort_by_key(|stale| Reverse(stale.age));
        let Some(exemplar) = oldest.iter().take(EXEMPLARS_TRIED).find_map(explained) else {
            return;
        };
        let shown = self.options.instances.min(INSTANCES_MAX);
        let instances = stale.iter().take(shown).filter_map(explained).collect();
        let (kind, count) = (Anomaly::StaleRead, stale.len() as u64);
        let counted = Counted::Exactly;
        self.patterns.push(AnomalyGroup { kind, count, counted, exemplar, instances });
        self.left.set_aside(stale.iter().map(|stale| stale.read));
    }

    /// Counts the transactions that ended before one began that comes before them.
    fn time_cycles(&mut self) {
        let cycles = TimeCycles::new(self.left.whole, &self.of_whole().index);
        let group = cycles.group(&[Level::StrictSerializable], self.options.instances);
        let Some(group) = group else { return };
        let (reads, out_of_step) = cycles.to_blame();
        self.patterns.push(group);
        self.left.set_aside(reads);
        self.left.used.extend(out_of_step);
    }

    /// Adds a pattern with its exemplar, if one of the first pairs can be explained; whether so.
    fn pattern<P: Iterator<Item = Pair>>(
        &mut self,
        kind: Anomaly,
        level: Level,
        (count, counted): (u64, Counted),
        pairs: impl Fn() -> P,
    ) -> bool {
        let deadline = Instant::now() + EXPLAINING_MAX;
        let (whole, limits) = (self.left.whole, self.limits(deadline));
        let asked = Guarantee::new(level, self.options.order);
        let is_unknown = |op: &OpId| whole.status(whole.txn_of(*op)) == Status::Unknown;
        let of_whole = self.of_whole();
        let with_witnesses = |Pair(ops): Pair| of_whole.witnesses.beside(whole, &ops);
        let explained = |ops: Vec<OpId>| {
            explain(whole, &ops, asked, &mut Budget::within(limits))
                .filter(|violation| violation.kind == kind)
        };
        // A pair that is another anomaly too, and is explained as that, is named only.
        let named = |ops: &[OpId]| {
            let ops = ops.iter().map(|&op| Refs(whole).op(op)).collect();
            Violation::new(kind, ops, Vec::new())
        };
        let tried = || pairs().take(EXEMPLARS_TRIED).map(with_witnesses);
        let told = tried().find_map(explained);
        let certain = || tried().find(|ops| !ops.iter().any(is_unknown));
        let Some(exemplar) = told.or_else(|| certain().map(|ops| named(&ops))) else {
            return false;
        };
        let shown = self.options.instances.min(INSTANCES_MAX);
        let instance = |ops: Vec<OpId>| explained(ops.clone()).unwrap_or_else(|| named(&ops));
        let instances = pairs().take(shown).map(with_witnesses).map(instance).collect();
        self.patterns.push(AnomalyGroup { kind, count, counted, exemplar, instances });
        true
    }

    /// Explains a violated level by `txns`, which alone violate it, unless something that was found
    /// explains it; how long that took. `levels` are still to be explained, and share the time: one
    /// that is hard to explain must not use up that of the others.
    fn explain_level(
        &mut self,
        clean: &Clean<'_>,
        level: Level,
        txns: &[TxnId],
        levels: usize,
    ) -> Option<(Level, Duration)> {
        if self.is_explained(level) || txns.iter().any(|txn| self.is_used(clean, *txn)) {
            return None;
        }
        let start = Instant::now();
        let latest = start + EXPLAINING_MAX;
        let deadline = self.options.deadline;
        let deadline = deadline.map_or(latest, |asked| asked.clamp(start + GRACE, latest));
        let share = deadline.saturating_duration_since(start) / levels.max(1) as u32;
        let ops = ops_of(clean.part.history, clean.part.index, txns);
        let ops: Vec<OpId> = ops.into_iter().map(|op| clean.original(op)).collect();
        self.explain(&ops, level, start + share);
        Some((level, start.elapsed()))
    }

    fn is_explained(&self, level: Level) -> bool {
        let patterns = self.patterns.iter().map(|group| &group.exemplar);
        patterns.chain(&self.found).any(|violation| violation.levels.contains(&level))
    }

    /// Whether a transaction of the part is in a violation that was found one by one.
    fn is_used(&self, clean: &Clean<'_>, txn: TxnId) -> bool {
        let first = clean.part.history.ops_of(txn).next();
        let original = first.map(|op| self.left.whole.txn_of(clean.original(OpId(op))));
        original.is_some_and(|txn| self.left.used.contains(&txn))
    }

    /// Explains what `ops` violate; whether that could be done.
    fn explain(&mut self, ops: &[OpId], level: Level, deadline: Instant) -> bool {
        let mut budget = Budget::within(self.limits(deadline));
        let asked = Guarantee::new(level, self.options.order);
        let ops = self.of_whole().witnesses.beside(self.left.whole, ops);
        let Some(violation) = explain(self.left.whole, &ops, asked, &mut budget) else {
            return false;
        };
        self.left.used.extend(violation.ops.iter().filter_map(|op| op.txn.id));
        self.found.push(violation);
        true
    }

    /// Looks for further violations, as long as there are some and the limits allow. So many
    /// `levels` still share what is left of these.
    fn others(&mut self, level: Level, levels: usize, deadline: Instant) -> End {
        let now = Instant::now();
        let deadline = now + deadline.saturating_duration_since(now) / levels as u32;
        let limits = self.limits(deadline);
        let found = self.found.len();
        let most = found + VIOLATIONS_MAX.saturating_sub(found).div_ceil(levels);
        loop {
            if self.found.len() >= most || limits.is_over() {
                return End::Limit;
            }
            if let Some(end) = self.another(level, deadline) {
                return end;
            }
        }
    }

    /// Looks for a violation without what is left out so far; how the search ends if there is none.
    fn another(&mut self, level: Level, deadline: Instant) -> Option<End> {
        if !Limits::of(self.options).allow(memory::of_part(self.left.whole)) {
            return Some(End::Limit);
        }
        let Rest { history, index, kept } = self.left.rest(self.options);
        if !index.faults.is_empty() || !index.unrepeated.is_empty() {
            return Some(End::Limit);
        }
        let options = Options { deadline: Some(deadline), ..self.options.clone() };
        let subject = Subject { history: &history, index: &index, options: &options };
        match decide_strong(&subject, level, &mut Vec::new()) {
            StrongOutcome::Holds(_) => Some(End::NothingLeft),
            StrongOutcome::Undecided(_) => Some(End::Limit),
            StrongOutcome::Violated(txns) => {
                let deadline = deadline.min(Instant::now() + EXPLAINING_MAX);
                let ops = ops_of(&history, &index, &txns);
                let ops: Vec<OpId> = ops.into_iter().map(|op| kept[op.index()]).collect();
                (!self.explain(&ops, level, deadline)).then_some(End::Limit)
            }
        }
    }
}

/// The operations of `txns` that need no others: writes, and reads of what these transactions
/// wrote or of initial values. Each has at least one: its place in its session or in time may be
/// what counts.
fn ops_of(history: &History, index: &Index, txns: &[TxnId]) -> Vec<OpId> {
    let inside: FxHashSet<TxnId> = txns.iter().copied().collect();
    // What writes, own reads and ambiguous reads need the explanation brings back.
    let stays =
        |op: &OpId| index.source_of(*op).txn().is_none_or(|source| inside.contains(&source));
    let of_txn = |&txn: &TxnId| {
        let all = history.ops_of(txn).map(OpId);
        let kept: Vec<OpId> = all.clone().filter(stays).collect();
        if kept.is_empty() { all.take(1).collect() } else { kept }
    };
    txns.iter().flat_map(of_txn).collect()
}

/// The violations by kind, the smallest first.
fn grouped(found: Vec<Violation>, counted: Counted) -> Vec<AnomalyGroup> {
    let mut kinds: BTreeMap<Anomaly, Vec<Violation>> = BTreeMap::new();
    for violation in found {
        kinds.entry(violation.kind).or_default().push(violation);
    }
    let group = |(kind, mut instances): (Anomaly, Vec<Violation>)| {
        instances.sort_by_key(|violation| (violation.txn_count(), violation.ops.len()));
        let exemplar = instances.first().cloned()?;
        Some(AnomalyGroup { kind, count: instances.len() as u64, counted, exemplar, instances })
    };
    kinds.into_iter().filter_map(group).collect()
}
