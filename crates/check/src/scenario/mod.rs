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
mod path;
mod proof;
mod reach;
mod search;
mod shrink;
mod state;

pub use budget::Budget;
pub(crate) use shrink::shrink;

use crate::level::Level;
use instance::Instance;
use seriatim_history::{History, OpId};
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

#[cfg(test)]
mod tests;
