//! Does a history satisfy an isolation level, and if not, why.

mod level;
mod outcome;
mod violation;

pub use level::{Level, UnknownLevel};
pub use outcome::{AnomalyGroup, Options, Outcome, Report, Timings, Undecided, Verdict};
pub use violation::{Edge, Kind, KindInfo, OpRef, Reason, TxnRef, Violation};

use seriatim_history::History;

/// Checks `history` at the levels of `options`.
pub fn check(history: &History, options: &Options) -> Report {
    let _ = history;
    let verdicts = options.levels.iter().map(|&level| Verdict {
        level,
        outcome: Outcome::Undecided,
        undecided: Some(Undecided::Interrupted),
        order: None,
    });
    Report { verdicts: verdicts.collect(), anomalies: Vec::new(), timings: Timings::default() }
}
