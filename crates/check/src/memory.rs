//! What a check needs that can be known in advance, and what it answers if there is no room for it.
//!
//! The numbers are rough and on the large side: they were measured on histories of a few million
//! operations.

use crate::checker::{check_in_full, levels_to_report};
use crate::limits::Limits;
use crate::outcome::{Options, Outcome, Report, Timings, Undecided, Verdict};
use crate::resident;
use seriatim_history::History;
use seriatim_isolation::Level;

/// Matching the reads to the writes, and the orders of the weak levels, for each operation.
const INDEX_BYTES: u64 = 32;
/// The graph of a strong level, for each operation and for each transaction.
const GRAPH_BYTES: (u64, u64) = (32, 64);
/// A second history, for each operation.
const HISTORY_BYTES: u64 = 32;
/// Clocks of the weak levels for each operation at most, and the fewest operations that they are
/// sized for.
const CLOCK_BYTES: u64 = 64;
const CLOCK_OPS_MIN: u64 = 1 << 20;

/// What a check needs beside the history.
pub(crate) struct Need {
    index: u64,
    /// The clocks of causal consistency, and thereby of everything above.
    clocks: u64,
}

/// What there is room for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// Not for the clocks.
    NoClocks,
    /// Not even for the index.
    None,
}

impl Need {
    pub fn of(history: &History) -> Need {
        let (ops, txns) = (history.op_count() as u64, history.txn_count() as u64);
        let all_columns = txns.saturating_mul(history.session_count() as u64).saturating_mul(4);
        Need {
            index: ops * INDEX_BYTES,
            clocks: all_columns.min(ops.max(CLOCK_OPS_MIN) * CLOCK_BYTES),
        }
    }

    /// The resident memory that the process would have.
    pub fn with_what_is_in_use(&self) -> u64 {
        resident::now().saturating_add(self.index).saturating_add(self.clocks)
    }

    pub fn within(&self, limits: Limits) -> Room {
        match () {
            () if limits.allow(self.index + self.clocks) => Room::Enough,
            () if limits.allow(self.index) => Room::NoClocks,
            () => Room::None,
        }
    }
}

/// What deciding a strong level needs before it looks at the limits itself.
pub(crate) fn of_strong(history: &History) -> u64 {
    history.op_count() as u64 * GRAPH_BYTES.0 + history.txn_count() as u64 * GRAPH_BYTES.1
}

/// What a copy of the history, or of nearly all of it, needs with its index.
pub(crate) fn of_part(history: &History) -> u64 {
    history.op_count() as u64 * (HISTORY_BYTES + INDEX_BYTES)
}

/// Read committed, cut isolation and read atomic only; what is violated there is violated above.
pub(crate) fn without_clocks(history: &History, options: &Options) -> Report {
    let levels = vec![Level::ReadCommitted, Level::CutIsolation, Level::ReadAtomic];
    let report = check_in_full(history, &Options { levels, ..options.clone() });
    let verdict = |level: Level| match report.verdict(level) {
        Some(verdict) => verdict.clone(),
        None if report.weakest_violated().is_some() => Verdict::new(level, Outcome::Violated),
        None => undecided(level),
    };
    let asked = levels_to_report(history, options);
    let verdicts = asked.iter().map(|&level| verdict(level)).collect();
    let forbidden = |level: &Level| asked.contains(level);
    let mut anomalies = report.anomalies;
    anomalies.retain(|group| group.kind.info().forbidden_by.iter().any(forbidden));
    Report { verdicts, anomalies, ..report }
}

/// Nothing is known.
pub(crate) fn nothing(history: &History, options: &Options) -> Report {
    let verdicts = levels_to_report(history, options).into_iter().map(undecided).collect();
    Report {
        verdicts,
        anomalies: Vec::new(),
        proved: Default::default(),
        timings: Timings::default(),
        memory_needed: None,
    }
}

fn undecided(level: Level) -> Verdict {
    Verdict { undecided: Some(Undecided::Memory), ..Verdict::new(level, Outcome::Undecided) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;

    #[test]
    fn without_clocks_what_is_violated_below_is_violated_above() {
        let fractured = notation::parse("a: w(x,1) w(y,1)\nb: r(x,0) r(y,1)").unwrap();
        let report = without_clocks(
            &fractured,
            &Options { levels: vec![Level::Causal], ..Options::default() },
        );
        assert_eq!(report.verdict(Level::Causal).unwrap().outcome, Outcome::Violated);
        assert_eq!(report.anomalies.len(), 1);
        assert_eq!(report.proved.holds, Some(Level::ReadCommitted));
    }

    #[test]
    fn without_clocks_nothing_above_read_atomic_holds() {
        let good = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
        let report = without_clocks(&good, &Options::default());
        assert_eq!(report.strongest(), Some(Level::ReadAtomic));
        let open = report.verdict(Level::Serializable).unwrap();
        assert_eq!(open.undecided, Some(Undecided::Memory));
        assert_eq!(nothing(&good, &Options::default()).strongest(), None);
    }

    #[test]
    fn what_there_is_room_for() {
        let need = Need { index: 1 << 40, clocks: 1 << 40 };
        assert_eq!(need.within(Limits::default()), Room::Enough);
        let memory = |memory: u64| Limits { memory: Some(memory), ..Limits::default() };
        assert_eq!(need.within(memory(3 << 40)), Room::Enough);
        assert_eq!(need.within(memory(3 << 39)), Room::NoClocks);
        assert_eq!(need.within(memory(1 << 39)), Room::None);
    }
}
