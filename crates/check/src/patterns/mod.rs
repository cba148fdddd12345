//! Anomalies of two transactions that one scan of the history finds, all of them: lost updates and
//! write skews. (Stale reads, which the weak levels need too, are in `stale_reads.rs`.)
//!
//! The searches of `strong/` and `explain/` find one contradiction at a time and explain it; a
//! database that loses updates shows thousands. What two transactions do to each other can be seen
//! from their own operations, so it is counted here exactly, in time that is nearly linear in the
//! history. Whatever needs more transactions is left to the search.

mod lost_updates;
mod pair;
#[cfg(test)]
mod tests;
mod write_skews;

pub(crate) use lost_updates::{LostUpdates, lost_updates};
pub(crate) use pair::Pair;
pub(crate) use write_skews::write_skews;
