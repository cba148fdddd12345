//! The smallest part of a history that still violates a level, found by leaving things out.
//!
//! Leaving something out must not make a consistent history inconsistent. Operations of a
//! consistent history alone are consistent, with one condition: a read needs every write that it
//! may have come from. Otherwise leaving out one of two writes of a value would decide a choice
//! that the history leaves open. A list needs the append of its last element, and all appends of
//! elements that were appended several times; other elements vanish from it with their appends.

use super::budget::Budget;
use super::ids::LocalTxn;
use super::instance::{Instance, Listed, Source, elements, internal_reads};
use super::proof::{self, Label, Step};
use super::refute::{Proof, Refutation, refute_instance};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value};
use seriatim_isolation::Guarantee;
use std::rc::Rc;

/// The operations of a violating part of `history`, sorted. If `ops` with the writes that their
/// reads need do not violate the level, or the budget does not suffice to see it, these are
/// returned as they are.
pub(crate) fn shrink(
    history: &History,
    ops: &[OpId],
    asked: Guarantee,
    budget: &mut Budget,
) -> Vec<OpId> {
    let part = Part::new(history, ops);
    let Some(core) = part.used(&part.ops, asked, budget) else { return part.ops };
    let forwards = part.delete(core.clone(), asked, budget, Direction::Forwards);
    let backwards = part.delete(core, asked, budget, Direction::Backwards);
    let size = |ops: &Vec<OpId>| (part.txns(ops).len(), ops.len());
    if size(&backwards) < size(&forwards) { backwards } else { forwards }
}

/// In which order things are left out: what can go depends on what went before.
#[derive(Clone, Copy)]
enum Direction {
    Forwards,
    Backwards,
}

impl Direction {
    fn of<T>(self, mut items: Vec<T>) -> Vec<T> {
        if let Direction::Backwards = self {
            items.reverse();
        }
        items
    }
}

/// A part of a history that holds all that its reads need.
struct Part<'h> {
    history: &'h History,
    ops: Vec<OpId>,
    /// For each read the writes that it needs.
    needs: FxHashMap<OpId, Vec<OpId>>,
}

impl<'h> Part<'h> {
    fn new(history: &'h History, ops: &[OpId]) -> Part<'h> {
        let mut kept = ops.to_vec();
        kept.sort_unstable();
        let internal = internal_reads(history, &kept);
        let live = |op: &OpId| history.status(history.txn_of(*op)) != Status::Aborted;
        let useful = |op: &OpId| {
            let operation = history.op(*op);
            // What a transaction reads of itself tells nothing, except for the rest of a list.
            let tells = || elements(history, operation.value).is_some() || !internal.contains(op);
            operation.kind.is_write() || tells()
        };
        kept.retain(|op| live(op) && useful(op));
        let writers = writers(history, &wanted(history, &kept));
        let needs: FxHashMap<OpId, Vec<OpId>> = kept
            .iter()
            .filter(|&&op| history.op(op).kind == OpKind::Read)
            .map(|&read| (read, needs_of(history, read, &writers)))
            .collect();
        kept.extend(needs.values().flatten());
        kept.sort_unstable();
        kept.dedup();
        Part { history, ops: kept, needs }
    }

    fn txns(&self, ops: &[OpId]) -> Vec<TxnId> {
        let mut txns: Vec<TxnId> = ops.iter().map(|&op| self.history.txn_of(op)).collect();
        txns.dedup();
        txns
    }

    /// The part of `ops` that their proof speaks of, and what the reads in it need, again and again
    /// while that is smaller and violates the level too; `None` if `ops` do not violate it.
    fn used(&self, ops: &[OpId], asked: Guarantee, budget: &mut Budget) -> Option<Vec<OpId>> {
        let mut verified: Option<Vec<OpId>> = None;
        let mut current = ops.to_vec();
        loop {
            // Making an instance takes some look-ups for each operation.
            if budget.spend(50 * current.len() as u64).is_err() {
                return verified;
            }
            let instance = Instance::new(self.history, &current);
            let Refutation::Violated(proof) = refute_instance(&instance, asked, budget) else {
                return verified;
            };
            let used = self.with_needs(proof.ops(&instance));
            let smaller = used.len() < current.len();
            verified = Some(current);
            if !smaller {
                return verified;
            }
            current = used;
        }
    }

    fn with_needs(&self, mut ops: Vec<OpId>) -> Vec<OpId> {
        let needed: Vec<OpId> =
            ops.iter().filter_map(|op| self.needs.get(op)).flatten().copied().collect();
        ops.extend(needed);
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    /// Leaves out transactions, then operations, one by one, until none can go.
    fn delete(
        &self,
        mut ops: Vec<OpId>,
        asked: Guarantee,
        budget: &mut Budget,
        direction: Direction,
    ) -> Vec<OpId> {
        loop {
            let before = ops.len();
            for txn in direction.of(self.txns(&ops)) {
                self.try_without(&mut ops, |op| self.history.txn_of(op) == txn, asked, budget);
            }
            for gone in direction.of(ops.clone()) {
                self.try_without(&mut ops, |op| op == gone, asked, budget);
            }
            if ops.len() == before || budget.is_spent() {
                return ops;
            }
        }
    }

    fn try_without(
        &self,
        ops: &mut Vec<OpId>,
        gone: impl Fn(OpId) -> bool,
        asked: Guarantee,
        budget: &mut Budget,
    ) {
        if budget.is_spent() || !ops.iter().any(|&op| gone(op)) {
            return;
        }
        if let Some(smaller) = self.used(&self.without(ops, gone), asked, budget) {
            *ops = smaller;
        }
    }

    /// `ops` without those that are `gone`, and without the reads that need one of them.
    fn without(&self, ops: &[OpId], gone: impl Fn(OpId) -> bool) -> Vec<OpId> {
        let unfounded = |op: &OpId| {
            self.needs.get(op).is_some_and(|needs| needs.iter().any(|&need| gone(need)))
        };
        ops.iter().copied().filter(|op| !gone(*op) && !unfounded(op)).collect()
    }
}

/// The values that the reads among `ops` returned, with their keys; of lists all elements.
fn wanted(history: &History, ops: &[OpId]) -> FxHashSet<(KeyId, Value)> {
    let reads = ops.iter().map(|&op| history.op(op)).filter(|op| op.kind == OpKind::Read);
    let values = reads.flat_map(|op| {
        let items = elements(history, op.value).map_or(vec![op.value], <[Value]>::to_vec);
        items.into_iter().map(move |value| (op.key, value))
    });
    values.collect()
}

/// The writes of these values by transactions that did not abort: the last to their key, and all
/// appends.
fn writers(
    history: &History,
    wanted: &FxHashSet<(KeyId, Value)>,
) -> FxHashMap<(KeyId, Value), Vec<OpId>> {
    let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
    let fits = |op: &usize| kinds[*op].is_write() && wanted.contains(&(keys[*op], values[*op]));
    let found: Vec<OpId> = (0..history.op_count()).filter(fits).map(OpId::from).collect();
    let mut writers: FxHashMap<(KeyId, Value), Vec<OpId>> = FxHashMap::default();
    for of_txn in found.chunk_by(|a, b| history.txn_of(*a) == history.txn_of(*b)) {
        if history.status(history.txn_of(of_txn[0])) == Status::Aborted {
            continue;
        }
        let last = last_writes(history, of_txn);
        for &op in
            of_txn.iter().filter(|op| kinds[op.index()] == OpKind::Append || last.contains(op))
        {
            writers.entry((keys[op.index()], values[op.index()])).or_default().push(op);
        }
    }
    writers
}

/// Those of `writes` of one transaction, which are sorted, to whose key it does not write again.
fn last_writes(history: &History, writes: &[OpId]) -> FxHashSet<OpId> {
    let ops = history.ops_of(history.txn_of(writes[0]));
    let mut later: FxHashSet<KeyId> = FxHashSet::default();
    let written =
        (writes[0].0..ops.end).rev().map(OpId).filter(|&op| history.op(op).kind.is_write());
    written.filter(|&op| later.insert(history.op(op).key)).collect()
}

fn needs_of(
    history: &History,
    read: OpId,
    writers: &FxHashMap<(KeyId, Value), Vec<OpId>>,
) -> Vec<OpId> {
    let operation = history.op(read);
    let of = |value: &Value| writers.get(&(operation.key, *value)).map_or(&[][..], Vec::as_slice);
    let Some(items) = elements(history, operation.value) else {
        return of(&operation.value).to_vec();
    };
    let several = items.iter().map(of).filter(|writers| writers.len() > 1);
    let last = items.last().map(of);
    several.chain(last).flatten().copied().collect()
}

impl Proof {
    /// The operations that the proof speaks of, each transaction in it with at least one.
    pub(super) fn ops(&self, instance: &Instance<'_>) -> Vec<OpId> {
        let steps = proof::all_steps(&self.cycle);
        let mut ops: Vec<OpId> = steps.iter().flat_map(|step| step_ops(instance, step)).collect();
        let involved: FxHashSet<LocalTxn> =
            steps.iter().flat_map(|step| [step.from, step.to]).collect();
        ops.extend(witnesses(instance, &involved));
        let shown: FxHashSet<TxnId> = ops.iter().map(|&op| instance.history.txn_of(op)).collect();
        let silent = involved
            .into_iter()
            .map(|txn| instance.txn(txn))
            .filter(|txn| !shown.contains(&txn.id));
        ops.extend(silent.filter_map(|txn| txn.ops.first().copied()).collect::<Vec<_>>());
        ops.sort_unstable();
        ops.dedup();
        ops
    }
}

/// Reads that show that transactions of unknown outcome committed.
fn witnesses(instance: &Instance<'_>, involved: &FxHashSet<LocalTxn>) -> Vec<OpId> {
    let mut seen = involved.clone();
    let mut waiting: Vec<LocalTxn> = involved.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(txn) = waiting.pop() {
        if !instance.txn(txn).optional {
            continue;
        }
        let reads = instance.reads.iter().filter(|read| read.candidates == [Source::Txn(txn)]);
        let shows =
            |listed: &&Listed| listed.from == txn || (listed.to == txn && !listed.is_missing);
        let lists = instance.listed.iter().filter(shows);
        let all = reads
            .map(|read| (read.txn, read.op))
            .chain(lists.map(|listed| (listed.reader, listed.read)));
        for (reader, op) in all {
            found.push(op);
            if seen.insert(reader) {
                waiting.push(reader);
            }
        }
    }
    found
}

/// The operations behind one step.
fn step_ops(instance: &Instance<'_>, step: &Rc<Step>) -> Vec<OpId> {
    let write = |txn: LocalTxn, key: KeyId| instance.txn(txn).write(key);
    match &step.label {
        Label::Session | Label::RealTime => Vec::new(),
        Label::WriteRead(origin) => {
            let read = instance.read(origin.read);
            write(step.from, read.key).into_iter().chain([read.op]).collect()
        }
        Label::WriteWrite(order) => {
            let listed = listed_ops(instance, order);
            [write(step.from, order.key), write(step.to, order.key)]
                .into_iter()
                .flatten()
                .chain(listed)
                .collect()
        }
        Label::ReadWrite { origin, order } => {
            let read = instance.read(origin.read);
            let source = match origin.source {
                Source::Txn(txn) => write(txn, read.key),
                Source::Initial => None,
            };
            let listed = order.iter().flat_map(|order| listed_ops(instance, order));
            write(step.to, read.key)
                .into_iter()
                .chain(source)
                .chain([read.op])
                .chain(listed)
                .collect()
        }
    }
}

/// The read whose list shows an order, and the appends that it shows.
fn listed_ops(instance: &Instance<'_>, order: &proof::Order) -> Vec<OpId> {
    match order.why {
        proof::OrderWhy::Listed(number) => {
            let listed = instance.listed(number);
            vec![listed.earlier, listed.later, listed.read]
        }
        _ => Vec::new(),
    }
}
