//! What is answered.

use crate::prediction::Prediction;
use crate::question::Effort;

/// Why a search has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// The time was up.
    Budget,
    /// The run has too many conflicting transactions for one search, and none of its parts has a
    /// prediction.
    Size,
    /// The caller, who was told of predictions, wanted no more.
    Stopped,
    /// Whether the run itself is serializable is not known: its check used up the budget.
    Observed,
    /// Whether the run itself is serializable is not known: transactions are missing of which it is
    /// not known what they did.
    UnknownContent,
}

/// What [`crate::predict()`] answers.
#[derive(Clone, Debug)]
#[must_use]
pub enum Answer {
    /// The run could have gone wrong like this.
    Found(Box<Prediction>),
    /// No history within the boundary is allowed by the level and not serializable (in mode
    /// *approx*: of the kind that it looks for), not even one that cannot go on
    /// ([`crate::Outlook::CutShort`]).
    NoneExists(Effort),
    /// Not known: the search has no answer, for this reason.
    Undecided(Open, Effort),
    /// The run itself is not serializable, so nothing needs predicting; the second says whether it
    /// even violates the level.
    AlreadyUnserializable {
        /// Whether the run violates the level that was asked for.
        violates_level: bool,
    },
}
