//! Does a history satisfy an isolation level, and if not, why.
//!
//! [`check`] answers for one level, [`Checker`] for several and within limits: read committed, cut
//! isolation, read atomic, causal consistency, prefix consistency, snapshot isolation and (strict)
//! serializability. A "violated" comes with the anomalies behind it, a "holds" with a commit order
//! or begin and commit points that [`seriatim_verify`] accepts. [`seriatim_isolation::oracle`] is
//! the definition itself, for histories of a few transactions; [`frontier`] is a second algorithm
//! for the strong levels.
//!
//! ```
//! use seriatim_check::Checker;
//! use seriatim_isolation::{Anomaly, Level};
//! use seriatim_history::notation;
//!
//! // Session b sees the new y of t1, but the old x, although t1 wrote both.
//! let history = notation::parse("a: w(x,1) w(y,1)\nb: r(x,0) r(y,1)").unwrap();
//! let report = Checker::new().check(&history);
//! assert_eq!(report.strongest(), Some(Level::ReadCommitted));
//! assert!(report.violates(Level::ReadAtomic));
//! assert_eq!(report.anomalies[0].kind, Anomaly::FracturedReadCausal);
//! ```

mod appended_twice;
mod beyond;
mod builder;
mod checker;
mod explain;
pub mod frontier;
mod index;
mod ladder;
mod latest_begins;
mod limits;
mod no_isolation;
mod orders;
mod outcome;
mod parallel;
mod patterns;
mod rest;
mod stale_reads;
mod strong;
mod weak;

pub use builder::{Checker, check};
pub use explain::{Budget, Duplicate, explain as explain_violation, minimal_violation};
pub use outcome::{
    Age, Alternative, AnomalyGroup, Answer, Breach, Counted, Edge, Effort, Element, Excluded,
    OpRef, Origin, Outcome, Proved, Reason, Refs, Report, Staleness, Timings, TxnRef, Undecided,
    ValueRef, Verdict, Violation, Why,
};
pub use seriatim_verify::{Point, Proof};
