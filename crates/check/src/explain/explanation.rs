//! An explanation of a violation: the smallest part that violates the level, its contradiction, its
//! name.

use super::budget::Budget;
use super::ids::LocalTxn;
use super::instance::{Instance, InstanceRead, Source};
use super::name;
use super::refute::{Proof, Refutation, refute_instance};
use super::shrink::shrink;
use super::tell;
use crate::limits::Limits;
use crate::outcome::{Options, Refs, Violation};
use crate::weak;
use seriatim_history::{History, OpId, OpKind, Status};
use seriatim_isolation::{Guarantee, Level};
use seriatim_verify::{completed, known_to_have_committed};

/// How many lost updates are tried.
const LOST_UPDATES_MAX: usize = 16;

/// Explains why `ops` violate what is asked, a strong level: the smallest part of them that does,
/// its contradiction, its name. `None` if they do not, or if that is too hard to see. If the budget
/// ends early, the part is not the smallest.
pub fn explain(
    full: &History,
    ops: &[OpId],
    asked: impl Into<Guarantee>,
    budget: &mut Budget,
) -> Option<Violation> {
    let asked = asked.into();
    let (ops, proof) = minimal_proof(full, ops, asked, budget)?;
    let instance = Instance::new(full, &ops);
    let levels = violated_levels(&instance, &ops, asked, budget);
    // Real time is not needed to refute what is not serializable anyway.
    let is_serial = levels.contains(&Level::Serializable);
    let level = if is_serial { asked.level.min(Level::Serializable) } else { asked.level };
    let shown_at = Guarantee { level, ..asked };
    let proof = match refute_instance(&instance, shown_at, budget) {
        Refutation::Violated(proof) => proof,
        Refutation::Consistent | Refutation::OutOfBudget => proof,
    };
    let kind = name::kind(&instance, &proof.cycle, &levels);
    let ops = ops.iter().map(|&op| Refs(full).op(op)).collect();
    let cycle = tell::Teller::new(&instance).contradiction(&proof.cycle);
    Some(Violation::new(kind, ops, cycle).at(levels))
}

/// The levels that an instance, which violates `known`, violates, as far as one knows.
fn violated_levels(
    instance: &Instance<'_>,
    ops: &[OpId],
    known: Guarantee,
    budget: &mut Budget,
) -> Vec<Level> {
    let weak = Level::ALL.into_iter().filter(|level| !level.is_strong()).collect();
    let Limits { deadline, memory } = budget.limits();
    let order = known.order;
    let options =
        Options { levels: weak, order, threads: 1, deadline, memory, ..Options::default() };
    let mut levels = weak::violated(&part(instance.history, ops), &options);
    for level in Level::STRONG {
        let above =
            level >= known.level || levels.iter().any(|&weaker| weaker != Level::CutIsolation);
        let asked = Guarantee { level, ..known };
        if above || matches!(refute_instance(instance, asked, budget), Refutation::Violated(_)) {
            levels.push(level);
        }
    }
    levels
}

/// The history of `ops` alone. A transaction of unknown outcome that need not have committed stays
/// one: its reads show nothing about the others.
fn part(history: &History, ops: &[OpId]) -> History {
    if ops.iter().all(|&op| history.status(history.txn_of(op)) != Status::Unknown) {
        return history.restricted_to(ops);
    }
    let counts = known_to_have_committed(history);
    history.restricted_with(ops, |txn| {
        if counts[txn.index()] { Status::Committed } else { history.status(txn) }
    })
}

/// The operations of a smallest part of `ops` that violates what is asked, sorted; none if `ops` do
/// not violate it, or if that is too hard to see. Smallest means that nothing can be left out: a
/// read is left out together with a write that it may have come from.
pub fn minimal_violation(
    history: &History,
    ops: &[OpId],
    asked: impl Into<Guarantee>,
    budget: &mut Budget,
) -> Option<Vec<OpId>> {
    minimal_proof(history, ops, asked.into(), budget).map(|(ops, _)| ops)
}

/// The same with the proof of an instance of these operations.
fn minimal_proof(
    history: &History,
    ops: &[OpId],
    asked: Guarantee,
    budget: &mut Budget,
) -> Option<(Vec<OpId>, Proof)> {
    let ops = match lost_update(history, ops, asked, budget) {
        Some(ops) => ops,
        None => shrink(history, ops, asked, &mut budget.half()),
    };
    match refute_instance(&Instance::new(history, &ops), asked, budget) {
        Refutation::Violated(proof) => Some((ops, proof)),
        Refutation::Consistent | Refutation::OutOfBudget => None,
    }
}

/// The operations of a lost update among `ops`, sorted. It is looked for first, because people know
/// it, and because what is left out one by one may leave something else of it: a transaction that
/// updates two keys at once loses updates of both.
fn lost_update(
    history: &History,
    ops: &[OpId],
    asked: Guarantee,
    budget: &mut Budget,
) -> Option<Vec<OpId>> {
    let instance = Instance::new(history, ops);
    // What was appended to a list is not lost: a list that shows both says which is the order.
    let appends = |read: &InstanceRead| {
        let write = instance.txn(read.txn).write(read.key);
        write.is_none_or(|write| history.op(write).kind == OpKind::Append)
    };
    let all = name::lost_updates(&instance).filter(|(one, other)| !appends(one) && !appends(other));
    let parts = all.take(LOST_UPDATES_MAX).map(|(one, other)| {
        let write = |txn: LocalTxn| instance.txn(txn).write(one.key);
        let source = one.candidates.iter().filter_map(|&source| match source {
            Source::Txn(writer) => write(writer),
            Source::Initial => None,
        });
        let mut part: Vec<OpId> = [one.op, other.op].into_iter().chain(source).collect();
        part.extend([one.txn, other.txn].into_iter().filter_map(write));
        part.sort_unstable();
        // That a transaction of unknown outcome committed is shown by a read from it.
        let is_unknown = |op: &OpId| history.status(history.txn_of(*op)) == Status::Unknown;
        if part.iter().any(is_unknown) { completed(history, &part) } else { part }
    });
    let is_violated = |part: &[OpId], budget: &mut Budget| {
        matches!(
            refute_instance(&Instance::new(history, part), asked, budget),
            Refutation::Violated(_)
        )
    };
    parts.into_iter().find(|part| is_violated(part, budget))
}
