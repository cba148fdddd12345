//! Does a small history contradict a strong level? A complete decision procedure that keeps the
//! reason of everything that it infers.

use super::budget::{Budget, Exhausted};
use super::cases;
use super::instance::Instance;
use super::proof::Cycle;
use super::state::Saturation;
#[cfg(test)]
use seriatim_history::{History, OpId};
use seriatim_isolation::Guarantee;

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
    pub cycle: Cycle,
}

/// Decides PC, SI, SER or SSER for a small history; weaker levels are decided as if they were SER.
#[cfg(test)]
pub(crate) fn refute(
    history: &History,
    asked: impl Into<Guarantee>,
    budget: &mut Budget,
) -> Refutation {
    let ops: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    refute_instance(&Instance::new(history, &ops), asked.into(), budget)
}

pub(super) fn refute_instance(
    instance: &Instance<'_>,
    asked: Guarantee,
    budget: &mut Budget,
) -> Refutation {
    if instance.txns.len() > TXNS_MAX {
        return Refutation::OutOfBudget;
    }
    match Saturation::new(instance, asked, budget)
        .and_then(|saturation| cases::solve(saturation, budget))
    {
        Ok(Some(cycle)) => Refutation::Violated(Proof { cycle }),
        Ok(None) => Refutation::Consistent,
        Err(Exhausted) => Refutation::OutOfBudget,
    }
}
