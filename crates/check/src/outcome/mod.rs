//! What a check is asked and what it answers, as data: options, verdicts, violations.

mod effort;
mod options;
mod references;
mod verdict;
mod violation;

pub use effort::Effort;
pub(crate) use options::Options;
pub use references::Refs;
pub(crate) use verdict::smallest;
pub use verdict::{
    AnomalyGroup, Answer, Breach, Counted, Evidence, Outcome, Proved, Report, Timings, Undecided,
    Verdict,
};
pub use violation::{
    Edge, Element, Excluded, OpRef, Origin, Reason, TxnRef, ValueRef, Violation, Why,
};
