//! Certificates: what `check` found, so that `verify` can confirm it without searching. JSON Lines,
//! a header and then one line for each level. The shape is documented by
//! [`crate::schema::CERTIFICATE`].
//!
//! Everything here is data: transactions and operations are numbers, and what a history is known by
//! are counts and a fingerprint. The caller, who has the history, makes a [`Certificate`] for
//! [`render`], and judges the one that [`parse`] returns.

mod line;
mod parse;
mod render;

pub use parse::{Malformed, parse};
pub use render::render;

use crate::text::plural;
use seriatim_isolation::{Anomaly, Level, Order};

/// The certificate of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The name of the history when it was checked.
    pub input: String,
    /// The history that it is about.
    pub subject: Subject,
    /// The order that the levels are meant with.
    pub order: Order,
    /// What it says, level by level.
    pub claims: Vec<(Level, Claim)>,
}

/// What a history is known by, whatever the file and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The number that tells the history from others, as 16 hexadecimal digits.
    pub fingerprint: String,
    /// How many sessions it has.
    pub sessions: usize,
    /// How many transactions it has.
    pub transactions: usize,
    /// How many operations it has.
    pub operations: usize,
}

impl Subject {
    /// How `other` differs from the history that a certificate is for; `None` if it is that one.
    pub fn difference(&self, other: &Subject) -> Option<String> {
        let counts = [
            ("session", self.sessions, other.sessions),
            ("transaction", self.transactions, other.transactions),
            ("operation", self.operations, other.operations),
        ];
        let count = counts.into_iter().find(|(_, said, is)| said != is);
        let count = count.map(|(what, said, is)| {
            format!("that one has {}, this one {is}", plural(said as u64, what))
        });
        count.or_else(|| {
            let same = self.fingerprint == other.fingerprint;
            (!same).then(|| "it has as many transactions and operations, but others".to_owned())
        })
    }
}

/// What is said about a level. Transactions and operations are numbered from 0, session by session,
/// in an order of the sessions that does not depend on the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It holds, and this shows it, if something does.
    Holds(Option<Proof>),
    /// It is violated.
    Violated {
        /// By this anomaly, if the violation was explained.
        anomaly: Option<Anomaly>,
        /// By these operations alone.
        operations: Vec<u32>,
    },
    /// Nothing.
    Undecided,
}

impl Claim {
    /// The word of the verdict.
    pub fn word(&self) -> &'static str {
        match self {
            Claim::Holds(_) => "holds",
            Claim::Violated { .. } => "violated",
            Claim::Undecided => "undecided",
        }
    }
}

/// What shows that a level holds, by the numbers of transactions and operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Begin and commit points of the transactions.
    Points(Vec<Point>),
    /// A commit order of the transactions.
    Order {
        /// The order.
        order: Vec<u32>,
        /// Where several writes of a value may have been read: for each such read the one that was
        /// (`None`: the initial value).
        sources: Option<Vec<(u32, Option<u32>)>>,
    },
}

/// A point in the life of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The transaction takes its snapshot.
    Begin(u32),
    /// Its writes become visible.
    Commit(u32),
}
