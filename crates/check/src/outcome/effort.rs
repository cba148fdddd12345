//! What deciding a strong level took.

use std::time::Duration;

/// Where the time went, and how much there was to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Orders that were tried before the search.
    pub rounds: u64,
    /// Edges that were found to be forced.
    pub forced: u64,
    /// Constraints that the first order broke.
    pub broken_first: u64,
    /// Constraints that were still broken when nothing more was forced: those that the search was
    /// left with.
    pub broken_last: u64,
    /// How often a repaired order showed that more is forced.
    pub restarts: u64,
    /// Passes of repairs by choices that are never taken back.
    pub repairs: u64,
    /// Choices that went to the SAT solver.
    pub choices: u64,
    /// Orders that were tried in the search.
    pub models: u64,
    /// Conflicts of the SAT solver.
    pub conflicts: u64,
    /// Decisions of the SAT solver.
    pub decisions: u64,
    /// Preparing the graph.
    pub build: Duration,
    /// Trying orders and adding forced edges.
    pub prune: Duration,
    /// Searching.
    pub solve: Duration,
    /// Explaining the violation.
    pub explain: Duration,
}

impl Effort {
    /// Takes note of how many constraints the latest order breaks.
    pub(crate) fn count_broken(&mut self, broken: usize) {
        self.broken_last = broken as u64;
        if self.rounds == 1 && self.repairs == 0 {
            self.broken_first = broken as u64;
        }
    }

    /// Adds what the search of a part took.
    pub(crate) fn add_search(&mut self, part: &Effort) {
        self.forced += part.forced;
        self.choices += part.choices;
        self.models += part.models;
        self.conflicts += part.conflicts;
        self.decisions += part.decisions;
    }
}
