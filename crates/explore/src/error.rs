//! What can go wrong in an exploration, with the place and what to do.

use crate::txn_set::TXNS_MAX;
use seriatim_isolation::Level;
use std::fmt;

/// The most operations of a transaction: each of them may look at all before it.
pub(crate) const OPS_MAX: usize = 10_000;

/// A place in a program: an operation of a transaction of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name of the session.
    pub session: String,
    /// The transaction in its session, from 1.
    pub txn: usize,
    /// The operation in its transaction, from 1.
    pub op: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}, transaction {}, operation {}", self.session, self.txn, self.op)
    }
}

/// What a program may depend on, for those that depend on something else.
const ALLOWED: &str = "transactions may depend on what they read and on their session's local \
                       state, and on nothing else";

/// Why an exploration came to no result.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ExploreError {
    /// No program can be explored at this level.
    Level(Level),
    /// The base of an exploration must be causally extensible.
    Base(Level),
    /// A transaction did something else when it was run again with the same reads.
    NotDeterministic {
        /// Where.
        place: Place,
        /// What it did first.
        before: String,
        /// What it did when it was run again.
        now: String,
    },
    /// A behaviour was another one when it was run again.
    NotRepeatable(String),
    /// A client used its connection in a way that no database allows.
    Client {
        /// Where.
        place: Place,
        /// What is wrong.
        problem: &'static str,
    },
    /// More transactions than the explorer keeps track of.
    TooManyTransactions,
    /// More operations than a transaction may have.
    TooManyOperations {
        /// Where.
        place: Place,
    },
    /// A replay token that does not fit the program.
    Token(String),
    /// A replay token of a behaviour that the level does not allow.
    TokenLevel {
        /// The level.
        level: Level,
        /// What the level does not allow.
        problem: String,
    },
    /// A checkpoint that does not fit.
    Checkpoint(String),
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploreError::Level(level) => write!(
                f,
                "programs cannot be explored at {level}; choose rc, ra, cc, pc, si or ser"
            ),
            ExploreError::Base(level) => {
                write!(f, "{level} cannot be the base of an exploration; choose true, rc, ra or cc")
            }
            ExploreError::NotDeterministic { place, before, now } => write!(
                f,
                "the program is not deterministic: {place}: with the same reads it did `{before}` \
                 the first time and `{now}` the second; {ALLOWED}"
            ),
            ExploreError::NotRepeatable(how) => write!(
                f,
                "the program is not deterministic: when it is run again, {how}; {ALLOWED}"
            ),
            ExploreError::Client { place, problem } => write!(f, "{place}: {problem}"),
            ExploreError::TooManyTransactions => write!(
                f,
                "a behaviour has more than {TXNS_MAX} transactions, which is far more than can be \
                 explored; make the program smaller"
            ),
            ExploreError::TooManyOperations { place } => write!(
                f,
                "{place}: a transaction has more than {OPS_MAX} operations; make it smaller"
            ),
            ExploreError::Token(problem) => {
                write!(f, "the token does not fit this program: {problem}")
            }
            ExploreError::TokenLevel { level, problem } => write!(
                f,
                "the token is no behaviour at {level}: {problem}; was it found at another --level?"
            ),
            ExploreError::Checkpoint(problem) => {
                write!(f, "the checkpoint does not fit: {problem}")
            }
        }
    }
}

impl std::error::Error for ExploreError {}
