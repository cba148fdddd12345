//! What a check answers: a verdict for each level, the anomalies behind it, and how long it took.

use super::effort::Effort;
use super::violation::Violation;
use seriatim_history::{OpId, TxnId};
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use seriatim_verify::Point;
use std::time::Duration;

/// Whether a level holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A commit order exists.
    Holds,
    /// None exists.
    Violated,
    /// Nobody knows: see [`Verdict::undecided`].
    Undecided,
}

impl Outcome {
    /// The word in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::Violated => "violated",
            Outcome::Undecided => "undecided",
        }
    }
}

/// Why a verdict is undecided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undecided {
    /// Several transactions wrote the same value to a key, and it was read: the reads may come from
    /// any of them.
    DuplicateValue {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// How many reads are concerned, over all such keys and values.
        reads: u64,
    },
    /// The search was given up: the strong levels are NP-complete, and every search has a limit.
    Budget,
    /// Going on would take more memory than [`Options::memory`] allows, or more than is ever spent
    /// on one table.
    Memory,
    /// Strict serializability was asked for, the history is serializable as far as we know, and it
    /// has no begin and end times.
    NoTimes,
}

/// The answer for one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The level.
    pub level: Level,
    /// The answer.
    pub outcome: Outcome,
    /// Why the answer is not known; present iff `outcome` is [`Outcome::Undecided`].
    pub undecided: Option<Undecided>,
    /// A commit order of the transactions that count (the initial transaction, which comes first,
    /// is left out) that [`seriatim_verify::verify_order`] accepts for the level; kept for `Holds` if the options
    /// ask for it. A history with ambiguous reads has `points` only.
    pub order: Option<Vec<TxnId>>,
    /// Begin and commit points that [`seriatim_verify::verify_points`] accepts for the level; kept for a
    /// strong level that holds if the options ask for it, and for a weak level that is known to
    /// hold only because a strong one does.
    pub points: Option<Vec<Point>>,
    /// For a weak level of a history with ambiguous reads that holds by a choice: the write that
    /// each of these reads comes from (`None`: the initial value). `order` is then a commit order
    /// of [`seriatim_history::History::rematched`].
    pub sources: Option<Vec<(OpId, Option<OpId>)>>,
}

impl Verdict {
    /// A verdict without a certificate.
    pub fn new(level: Level, outcome: Outcome) -> Verdict {
        Verdict { level, outcome, undecided: None, order: None, points: None, sources: None }
    }
}

/// All anomalies of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnomalyGroup {
    /// The kind.
    pub kind: Anomaly,
    /// How many instances there are: reads that show the anomaly (cycles, for cyclic causality).
    pub count: u64,
    /// The smallest instance that was found.
    pub exemplar: Violation,
    /// Further instances, if the options ask for them, in the order of the history (the exemplar is
    /// among them). Of stale reads beyond the first thousand only the operations are named: their
    /// cycle is empty.
    pub instances: Vec<Violation>,
}

/// Where the time went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Matching reads to writes.
    pub index: Duration,
    /// Deciding the levels.
    pub decide: Duration,
    /// Finding, counting and explaining the anomalies.
    pub explain: Duration,
    /// What the strong levels that were looked at needed.
    pub efforts: Vec<(Level, Effort)>,
}

/// What [`crate::check`] returns.
#[derive(Clone, Debug)]
pub struct Report {
    /// One verdict for each level that was asked for, in the order of [`Level::ALL`].
    pub verdicts: Vec<Verdict>,
    /// The anomalies, in the order of [`Anomaly::ALL`]; only kinds that a level that was asked for
    /// forbids.
    pub anomalies: Vec<AnomalyGroup>,
    /// What was proved, also of levels that were looked at although nobody asked.
    pub proved: Proved,
    /// Where the time went.
    pub timings: Timings,
    /// How many bytes the process would have had to have to go on, if it was known before that they
    /// are too many.
    pub memory_needed: Option<u64>,
}

/// What is known of the ladder of levels, whichever of them were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// The strongest level that is known to hold.
    pub holds: Option<Level>,
    /// The weakest level that is known to be violated.
    pub violated: Option<Level>,
}

impl Report {
    /// The verdict for `level`, if it was asked for.
    pub fn verdict(&self, level: Level) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.level == level)
    }

    /// The strongest level of the ladder that holds.
    pub fn strongest(&self) -> Option<Level> {
        Level::LADDER.into_iter().rev().find(|&level| self.is(level, Outcome::Holds))
    }

    /// The weakest level of the ladder that is violated.
    pub fn weakest_violated(&self) -> Option<Level> {
        Level::LADDER.into_iter().find(|&level| self.is(level, Outcome::Violated))
    }

    fn is(&self, level: Level, outcome: Outcome) -> bool {
        self.verdict(level).is_some_and(|verdict| verdict.outcome == outcome)
    }
}
