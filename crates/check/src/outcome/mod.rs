//! What a check is asked (`options.rs`) and what it answers, as data: verdicts with what shows them
//! (`verdict.rs`), explanations (`violation.rs`) with the names of the input (`references.rs`), how
//! much there was to do (`effort.rs`); `merged.rs` puts the findings of several searches together.

mod effort;
mod merged;
mod options;
mod references;
mod verdict;
mod violation;

pub use effort::Effort;
pub(crate) use merged::{merged, sort_by_kind};
pub(crate) use options::Options;
pub use references::Refs;
pub(crate) use verdict::smallest;
pub use verdict::{
    AnomalyGroup, Answer, Breach, Counted, Outcome, Proved, Report, Staleness, Timings, Undecided,
    Verdict,
};
pub use violation::{
    Age, Alternative, Edge, Element, Excluded, OpRef, Origin, Reason, TxnRef, ValueRef, Violation,
    Why,
};
