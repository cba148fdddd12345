//! What a check is asked and what it answers, as data: options, verdicts, violations.

mod effort;
mod options;
mod references;
mod verdict;
mod violation;

pub use effort::Effort;
pub use options::Options;
pub use references::Refs;
pub use verdict::{AnomalyGroup, Outcome, Proved, Report, Timings, Undecided, Verdict};
pub use violation::{
    Edge, Element, Excluded, OpRef, Origin, Reason, TxnRef, ValueRef, Violation, Why,
};
