//! Why a small history violates a strong level, as a person would tell it.
//!
//! The solver of the strong levels says *violated* and names a superset of the guilty operations.
//! Here that becomes an explanation: a complete decision procedure for histories of tens of
//! transactions (`refute.rs`) that keeps the reason of everything it infers; the smallest part that
//! it still refutes (`shrink.rs`); and that part's contradiction with names, reasons and the
//! anomaly that it is (`explanation.rs`). The idea is that of PolySI (VLDB 2023, section 5.3 and
//! Theorem 20): bring back what causes each edge, then drop what is not needed.
//!
//! ```text
//! ops ──► Instance ──► Saturation ──► Cycle ──► Violation
//!         matched      saturated      proof     named
//! ```
//!
//! - `disjoint.rs`: which violations are explained, and for how long (`budget.rs`).
//! - `explanation.rs`: one explanation, from operations to a `Violation`: it has the part shrunk
//!   (`shrink.rs`), refuted, named (`name.rs`) and told (`tell.rs`).
//! - `refute.rs`: decides an instance (`instance.rs`), by saturation (`state.rs`, with `links.rs`
//!   and `closure.rs`) and by cases (`cases.rs`); `ids.rs` has the numbers inside an instance,
//!   `proof.rs` the derivations, `path.rs` the
//!   cycles that are easy to follow.
//! - `witnesses.rs`: reads that show that transactions of unknown outcome committed.
//! - `duplicate.rs`: which writes of one value leave a verdict undecided.

mod budget;
mod cases;
mod closure;
mod disjoint;
mod duplicate;
mod explanation;
mod ids;
mod instance;
mod links;
mod name;
mod path;
mod proof;
mod refute;
mod shrink;
mod state;
mod tell;
#[cfg(test)]
mod tests;
mod witnesses;

pub use budget::Budget;
pub(crate) use disjoint::{Clean, Found, violations};
pub use duplicate::Duplicate;
pub use explanation::{explain, minimal_violation};
