//! Why a small history violates a strong level, as a person would tell it.
//!
//! The solver of the strong levels says *violated* and names a superset of the guilty operations. Here that becomes an
//! explanation: a complete decision procedure for histories of tens of transactions ([`refute`]) that keeps the reason of
//! everything it infers; the smallest part that it still refutes ([`shrink`]); and that part's contradiction with names,
//! reasons and the anomaly that it is ([`explain`]). The idea is that of PolySI (VLDB 2023, section 5.3 and Theorem 20):
//! bring back what causes each edge, then drop what is not needed.
//!
//! ```text
//! ops ──► Instance ──► State ──► Cycle ──► Violation
//!         matched      saturated  proof     named
//! ```

mod budget;
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
use crate::confirm;
use crate::level::Level;
use crate::outcome::{Options, Outcome};
use crate::refs::Refs;
use crate::violation::Violation;
use instance::Instance;
use seriatim_history::{History, OpId, Status};
use state::State;

/// The most transactions that are looked at: reachability is kept as bits of pairs.
const TXNS_MAX: usize = 2000;

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
    match search::solve(State::new(instance, level), budget) {
        Ok(Some(cycle)) => Refutation::Violated(Proof { cycle }),
        Ok(None) => Refutation::Consistent,
        Err(budget::Exhausted) => Refutation::OutOfBudget,
    }
}

/// Explains why `ops` violate `level`, a strong one: the smallest part of them that does, its contradiction, its name.
/// `None` if they do not, or if that is too hard to see.
pub fn explain(full: &History, ops: &[OpId], level: Level, budget: &mut Budget) -> Option<Violation> {
    let ops = minimal_violation(full, ops, level, budget)?;
    let instance = Instance::new(full, &ops);
    let levels = violated_levels(&instance, &ops, budget);
    // Real time is not needed to refute what is not serializable anyway.
    let shown_at = if levels.contains(&Level::Serializable) { level.min(Level::Serializable) } else { level };
    let Refutation::Violated(proof) = refute_instance(&instance, shown_at, budget) else { return None };
    Some(Violation {
        kind: name::kind(&instance, &proof.cycle, &levels),
        ops: ops.iter().map(|&op| Refs(full).op(op)).collect(),
        levels,
        cycle: tell::Teller::new(&instance).contradiction(&proof.cycle),
    })
}

/// The levels that an instance violates, as far as one knows.
fn violated_levels(instance: &Instance<'_>, ops: &[OpId], budget: &mut Budget) -> Vec<Level> {
    let weak = Level::ALL.into_iter().filter(|level| !level.is_strong()).collect();
    let options = Options { levels: weak, threads: 1, ..Options::default() };
    let verdicts = check(&part(instance.history, ops), &options).verdicts;
    let weak = verdicts.iter().filter(|verdict| verdict.outcome == Outcome::Violated).map(|verdict| verdict.level);
    let mut levels: Vec<Level> = weak.collect();
    for level in Level::STRONG {
        let above = levels.iter().any(|&weaker| weaker != Level::CutIsolation);
        if above || matches!(refute_instance(instance, level, budget), Refutation::Violated(_)) {
            levels.push(level);
        }
    }
    levels
}

/// The history of `ops` alone. A transaction of unknown outcome that need not have committed stays one: what it read may excuse
/// nobody and accuse nobody.
fn part(history: &History, ops: &[OpId]) -> History {
    if ops.iter().all(|&op| history.status(history.txn_of(op)) != Status::Unknown) {
        return history.restricted_to(ops);
    }
    let counts = confirm::counting(history);
    history.restricted_with(ops, |txn| if counts[txn.index()] { Status::Committed } else { history.status(txn) })
}

/// The operations of a smallest part of `ops` that violates `level`, sorted; none if `ops` do not violate it, or if that is
/// too hard to see. Smallest means that nothing can be left out: a read is left out together with a write that it may have
/// come from.
pub fn minimal_violation(history: &History, ops: &[OpId], level: Level, budget: &mut Budget) -> Option<Vec<OpId>> {
    let ops = shrink(history, ops, level, &mut budget.half());
    let instance = Instance::new(history, &ops);
    matches!(refute_instance(&instance, level, budget), Refutation::Violated(_)).then_some(ops)
}

#[cfg(test)]
mod tests;
