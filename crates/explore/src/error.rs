//! What can go wrong in an exploration, with the place and what to do.

use crate::txn_set::TXNS_MAX;
use seriatim_isolation::Level;

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

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "session {}, transaction {}, operation {}", self.session, self.txn, self.op)
    }
}

/// Why an exploration came to no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// No program can be explored at this level.
    #[error("programs cannot be explored at {0}; choose rc, ra, cc, pc, si or ser")]
    Level(Level),
    /// The base of an exploration must be causally extensible.
    #[error("{0} cannot be the base of an exploration; choose true, rc, ra or cc")]
    Base(Level),
    /// A transaction did something else when it was run again with the same reads.
    #[error(
        "the program is not deterministic: {place}: with the same reads it did `{before}` the \
         first time and `{now}` the second; \
         transactions may depend on what they read and on their session's local state, and on \
         nothing else"
    )]
    NotDeterministic {
        /// Where.
        place: Place,
        /// What it did first.
        before: String,
        /// What it did when it was run again.
        now: String,
    },
    /// A behaviour was another one when it was run again.
    #[error(
        "the program is not deterministic: when it is run again, {0}; transactions may depend on \
         what they read and on their session's local state, and on nothing else"
    )]
    NotRepeatable(String),
    /// A client used its connection in a way that no database allows.
    #[error("{place}: {problem}")]
    Client {
        /// Where.
        place: Place,
        /// What is wrong.
        problem: &'static str,
    },
    /// More transactions than the explorer keeps track of.
    #[error(
        "a behaviour has more than {TXNS_MAX} transactions, which is far more than can be \
         explored; make the program smaller"
    )]
    TooManyTransactions,
    /// More operations than a transaction may have.
    #[error("{place}: a transaction has more than {OPS_MAX} operations; make it smaller")]
    TooManyOperations {
        /// Where.
        place: Place,
    },
    /// A replay token that does not fit the program.
    #[error("the token does not fit this program: {0}")]
    Token(String),
    /// A replay token of a behaviour that the level does not allow.
    #[error("the token is no behaviour at {level}: {problem}; was it found at another --level?")]
    TokenLevel {
        /// The level.
        level: Level,
        /// What the level does not allow.
        problem: String,
    },
    /// A checkpoint that does not fit.
    #[error("the checkpoint does not fit: {0}")]
    Checkpoint(String),
}
