//! The violations of the strong levels: one that explains each violated level, then others that
//! share no transaction with those before, as long as there are some and it does not take too long.

use super::budget::Budget;
use super::explanation::explain;
use crate::index::{INITIAL, Index, NONE};
use crate::limits::{Limits, memory};
use crate::outcome::{AnomalyGroup, Options, Violation};
use crate::strong::{StrongOutcome, Subject, decide_strong};
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId, Value};
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How many violations are looked for.
const VIOLATIONS_MAX: usize = 10;
/// How long the search for further ones may take, at least; it may always take as long as deciding
/// took.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the explanations of the violated levels may take.
const EXPLAINING_MAX: Duration = Duration::from_secs(3);
/// How long they may take although the time of the caller is over: a verdict is worth little
/// without one.
const GRACE: Duration = Duration::from_millis(500);

/// Explains the violated levels, which come weakest first, each with transactions that alone
/// violate it; `took` is how long it took to find them. Also returns how long the explanation of
/// each took.
pub(crate) fn violations(
    subject: &Subject<'_>,
    violated: &[(Level, Vec<TxnId>)],
    took: Duration,
) -> (Vec<AnomalyGroup>, Vec<(Level, Duration)>) {
    let (now, asked) = (Instant::now(), subject.options.deadline);
    let deadline =
        asked.map_or(now + EXPLAINING_MAX, |asked| asked.clamp(now + GRACE, now + EXPLAINING_MAX));
    let mut times = Vec::new();
    let mut finder = Finder { subject, used: FxHashSet::default(), found: Vec::new() };
    for (place, (level, txns)) in violated.iter().enumerate() {
        if txns.iter().all(|txn| !finder.used.contains(txn)) {
            let start = Instant::now();
            // One that is hard to explain must not use up the time of the others.
            let share = deadline.saturating_duration_since(start) / (violated.len() - place) as u32;
            finder.explain(subject.index, txns, *level, None, start + share);
            times.push((*level, start.elapsed()));
        }
    }
    if let Some((strongest, _)) = violated.last() {
        let deadline = Instant::now() + took.max(PATIENCE);
        finder.others(*strongest, asked.map_or(deadline, |asked| asked.min(deadline)));
    }
    (grouped(finder.found), times)
}

struct Finder<'a> {
    subject: &'a Subject<'a>,
    /// Transactions of the violations so far.
    used: FxHashSet<TxnId>,
    found: Vec<Violation>,
}

impl Finder<'_> {
    /// Looks for further violations, if there was one.
    fn others(&mut self, level: Level, deadline: Instant) {
        let limits = Limits { deadline: Some(deadline), memory: self.subject.options.memory };
        let over = |found: usize| found >= VIOLATIONS_MAX || limits.is_over();
        while !self.found.is_empty() && !over(self.found.len()) && self.another(level, deadline) {}
    }

    /// Explains what `txns` violate; they are those of a part of the history that consists of
    /// `kept`, if that is given.
    fn explain(
        &mut self,
        index: &Index,
        txns: &[TxnId],
        level: Level,
        part: Option<(&History, &[OpId])>,
        deadline: Instant,
    ) -> bool {
        let history = part.map_or(self.subject.history, |(part, _)| part);
        let ops = ops_of(history, index, txns);
        let original = |op: OpId| part.map_or(op, |(_, kept)| kept[op.index()]);
        let ops: Vec<OpId> = ops.into_iter().map(original).collect();
        let limits = Limits { deadline: Some(deadline), memory: self.subject.options.memory };
        let violation = explain(self.subject.history, &ops, level, &mut Budget::within(limits));
        let Some(violation) = violation else { return false };
        self.used.extend(violation.ops.iter().filter_map(|op| op.txn.id));
        self.found.push(violation);
        true
    }

    /// Looks for a violation without the transactions of those so far; whether there is one.
    fn another(&mut self, level: Level, deadline: Instant) -> bool {
        let Subject { history, options, .. } = *self.subject;
        let kept = self.rest();
        if !Limits::of(options).allow(memory::of_part(history)) {
            return false;
        }
        let part = history.restricted_to(&kept);
        let index = Index::build(&part, options.threads);
        if !index.faults.is_empty() || !index.unrepeated.is_empty() {
            return false;
        }
        let options = Options { deadline: Some(deadline), ..options.clone() };
        let subject = Subject { history: &part, index: &index, options: &options };
        match decide_strong(&subject, level, &mut Vec::new()) {
            StrongOutcome::Violated(txns) => {
                let deadline = deadline.min(Instant::now() + EXPLAINING_MAX);
                self.explain(&index, &txns, level, Some((&part, &kept)), deadline)
            }
            _ => false,
        }
    }

    /// The operations of all other transactions, without reads of what the used ones wrote.
    fn rest(&self) -> Vec<OpId> {
        let history = self.subject.history;
        let writes =
            self.used.iter().flat_map(|&txn| history.ops_of(txn)).map(|op| history.op(OpId(op)));
        let gone: FxHashSet<(KeyId, Value)> =
            writes.filter(|op| op.kind == OpKind::Write).map(|op| (op.key, op.value)).collect();
        let others = history
            .txns()
            .filter(|txn| !self.used.contains(txn) && self.subject.index.counts[txn.index()]);
        let ops = others.flat_map(|txn| history.ops_of(txn)).map(OpId);
        let stays = |op: &OpId| {
            let op = history.op(*op);
            op.kind != OpKind::Read || !gone.contains(&(op.key, op.value))
        };
        ops.filter(stays).collect()
    }
}

/// The operations of `txns` that need no others: writes, and reads of what these transactions
/// wrote or of initial values. Each has at least one: its place in its session or in time may be
/// what counts.
fn ops_of(history: &History, index: &Index, txns: &[TxnId]) -> Vec<OpId> {
    let inside: FxHashSet<TxnId> = txns.iter().copied().collect();
    let stays = |op: &OpId| match index.source_txn[op.index()] {
        // Writes, own reads, ambiguous reads: the explanation brings back what they need.
        NONE | INITIAL => true,
        source => inside.contains(&TxnId(source)),
    };
    let of_txn = |&txn: &TxnId| {
        let all = history.ops_of(txn).map(OpId);
        let kept: Vec<OpId> = all.clone().filter(stays).collect();
        if kept.is_empty() { all.take(1).collect() } else { kept }
    };
    txns.iter().flat_map(of_txn).collect()
}

/// The violations by kind, the smallest first.
fn grouped(found: Vec<Violation>) -> Vec<AnomalyGroup> {
    let mut kinds: BTreeMap<Anomaly, Vec<Violation>> = BTreeMap::new();
    for violation in found {
        kinds.entry(violation.kind).or_default().push(violation);
    }
    let group = |(kind, mut instances): (Anomaly, Vec<Violation>)| {
        instances.sort_by_key(|violation| (violation.txn_count(), violation.ops.len()));
        let exemplar = instances.first().cloned()?;
        Some(AnomalyGroup { kind, count: instances.len() as u64, exemplar, instances })
    };
    kinds.into_iter().filter_map(group).collect()
}
