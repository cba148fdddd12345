//! Why a small history violates a strong level, as a person would tell it.
//!
//! The solver of the strong levels says *violated* and names a superset of the guilty operations.
//! Here that becomes an explanation: a complete decision procedure for histories of tens of
//! transactions ([`refute`]) that keeps the reason of everything it infers; the smallest part that
//! it still refutes ([`shrink`]); and that part's contradiction with names, reasons and the anomaly
//! that it is ([`explain`]). The idea is that of PolySI (VLDB 2023, section 5.3 and Theorem 20):
//! bring back what causes each edge, then drop what is not needed.
//!
//! ```text
//! ops ──► Instance ──► State ──► Cycle ──► Violation
//!         matched      saturated  proof     named
//! ```

mod budget;
mod graph;
mod instance;
mod name;
mod path;
mod proof;
mod reach;
mod search;
mod shrink;
mod state;
mod tell;

pub use budget::Budget;
pub(crate) use shrink::shrink;

use crate::checker::check;
use crate::limits::Limits;
use crate::outcome::{Options, Outcome};
use crate::refs::Refs;
use crate::violation::Violation;
use instance::{Instance, Read, Source};
use seriatim_history::{History, OpId, OpKind, Status};
use seriatim_isolation::Level;
use seriatim_verify::known_to_have_committed;
use state::State;

/// The most transactions that are looked at: reachability is kept as bits of pairs.
const TXNS_MAX: usize = 2000;

/// How many lost updates are tried.
const LOST_UPDATES_MAX: usize = 16;

/// Whether a small history contradicts a level.
pub(crate) enum Refutation {
    /// It does, by this proof.
    Violated(Proof),
    /// It does not (reads that are wrong by themselves are passed over).
    Consistent,
    /// The budget was not enough to tell.
    OutOfBudget,
}

/// A contradiction.
pub(crate) struct Proof {
    cycle: proof::Cycle,
}

/// Decides PC, SI, SER or SSER for a small history; weaker levels are decided as if they were SER.
#[cfg_attr(not(test), allow(dead_code))] // For the solver of the strong levels.
pub(crate) fn refute(history: &History, level: Level, budget: &mut Budget) -> Refutation {
    let ops: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    refute_instance(&Instance::new(history, &ops), level, budget)
}

fn refute_instance(instance: &Instance<'_>, level: Level, budget: &mut Budget) -> Refutation {
    if instance.txns.len() > TXNS_MAX {
        return Refutation::OutOfBudget;
    }
    match State::new(instance, level, budget).and_then(|state| search::solve(state, budget)) {
        Ok(Some(cycle)) => Refutation::Violated(Proof { cycle }),
        Ok(None) => Refutation::Consistent,
        Err(budget::Exhausted) => Refutation::OutOfBudget,
    }
}

/// Explains why `ops` violate `level`, a strong one: the smallest part of them that does, its
/// contradiction, its name. `None` if they do not, or if that is too hard to see. If the budget
/// ends early, the part is not the smallest.
pub fn explain(
    full: &History,
    ops: &[OpId],
    level: Level,
    budget: &mut Budget,
) -> Option<Violation> {
    let (ops, proof) = minimal_proof(full, ops, level, budget)?;
    let instance = Instance::new(full, &ops);
    let levels = violated_levels(&instance, &ops, level, budget);
    // Real time is not needed to refute what is not serializable anyway.
    let shown_at =
        if levels.contains(&Level::Serializable) { level.min(Level::Serializable) } else { level };
    let proof = match refute_instance(&instance, shown_at, budget) {
        Refutation::Violated(proof) => proof,
        Refutation::Consistent | Refutation::OutOfBudget => proof,
    };
    Some(Violation {
        kind: name::kind(&instance, &proof.cycle, &levels),
        ops: ops.iter().map(|&op| Refs(full).op(op)).collect(),
        levels,
        cycle: tell::Teller::new(&instance).contradiction(&proof.cycle),
    })
}

/// The levels that an instance, which violates `known`, violates, as far as one knows.
fn violated_levels(
    instance: &Instance<'_>,
    ops: &[OpId],
    known: Level,
    budget: &mut Budget,
) -> Vec<Level> {
    let weak = Level::ALL.into_iter().filter(|level| !level.is_strong()).collect();
    let Limits { deadline, memory } = budget.limits();
    let options = Options { levels: weak, threads: 1, deadline, memory, ..Options::default() };
    let verdicts = check(&part(instance.history, ops), &options).verdicts;
    let weak = verdicts
        .iter()
        .filter(|verdict| verdict.outcome == Outcome::Violated)
        .map(|verdict| verdict.level);
    let mut levels: Vec<Level> = weak.collect();
    for level in Level::STRONG {
        let above = level >= known || levels.iter().any(|&weaker| weaker != Level::CutIsolation);
        if above || matches!(refute_instance(instance, level, budget), Refutation::Violated(_)) {
            levels.push(level);
        }
    }
    levels
}

/// The history of `ops` alone. A transaction of unknown outcome that need not have committed stays
/// one: what it read may excuse nobody and accuse nobody.
fn part(history: &History, ops: &[OpId]) -> History {
    if ops.iter().all(|&op| history.status(history.txn_of(op)) != Status::Unknown) {
        return history.restricted_to(ops);
    }
    let counts = known_to_have_committed(history);
    history.restricted_with(ops, |txn| {
        if counts[txn.index()] { Status::Committed } else { history.status(txn) }
    })
}

/// The operations of a smallest part of `ops` that violates `level`, sorted; none if `ops` do not
/// violate it, or if that is too hard to see. Smallest means that nothing can be left out: a read
/// is left out together with a write that it may have come from.
pub fn minimal_violation(
    history: &History,
    ops: &[OpId],
    level: Level,
    budget: &mut Budget,
) -> Option<Vec<OpId>> {
    minimal_proof(history, ops, level, budget).map(|(ops, _)| ops)
}

/// The same with the proof of an instance of these operations.
fn minimal_proof(
    history: &History,
    ops: &[OpId],
    level: Level,
    budget: &mut Budget,
) -> Option<(Vec<OpId>, Proof)> {
    let ops = match lost_update(history, ops, level, budget) {
        Some(ops) => ops,
        None => shrink(history, ops, level, &mut budget.half()),
    };
    match refute_instance(&Instance::new(history, &ops), level, budget) {
        Refutation::Violated(proof) => Some((ops, proof)),
        Refutation::Consistent | Refutation::OutOfBudget => None,
    }
}

/// The operations of a lost update among `ops`, sorted. It is looked for first, because people know
/// it, and because what is left out one by one may leave something else of it: whoever updates two
/// keys at once loses updates of both.
fn lost_update(
    history: &History,
    ops: &[OpId],
    level: Level,
    budget: &mut Budget,
) -> Option<Vec<OpId>> {
    let instance = Instance::new(history, ops);
    // What was appended to a list is not lost: a list that shows both says which is the order.
    let appends = |read: &Read| {
        let write = instance.txns[read.txn].write(read.key);
        write.is_none_or(|write| history.op(write).kind == OpKind::Append)
    };
    let all = name::lost_updates(&instance).filter(|(one, other)| !appends(one) && !appends(other));
    let parts = all.take(LOST_UPDATES_MAX).map(|(one, other)| {
        let write = |txn: usize| instance.txns[txn].write(one.key);
        let source = one.candidates.iter().filter_map(|&source| match source {
            Source::Txn(writer) => write(writer),
            Source::Initial => None,
        });
        let mut part: Vec<OpId> = [one.op, other.op].into_iter().chain(source).collect();
        part.extend([one.txn, other.txn].into_iter().filter_map(write));
        part.sort_unstable();
        part
    });
    let is_violated = |part: &[OpId], budget: &mut Budget| {
        matches!(
            refute_instance(&Instance::new(history, part), level, budget),
            Refutation::Violated(_)
        )
    };
    parts.into_iter().find(|part| is_violated(part, budget))
}

#[cfg(test)]
mod tests;
