//! Could this observed run have gone wrong? From one serializable run of an application, a feasible
//! history of the same application that a weak isolation level allows and that is not serializable
//! (IsoPredict, PLDI 2024).
//!
//! [`predict`] answers *found*, *none exists within the boundary* or *undecided*; [`predict_all`]
//! goes on to predictions with other cycles. [`confirm`] checks a prediction without the code that
//! found it, [`oracle`] enumerates all predictions of a tiny run.
//!
//! # What a prediction is
//!
//! Each session keeps a prefix of its events (reads from others, and last writes). What an
//! application does after a read that returns something else than observed is not known, so a
//! session ends with the read (*strict*) or the transaction (*relaxed*) in which that happens:
//!
//! - strict: a session keeps whole transactions and then, perhaps, the beginning of one that ends
//!   with a read. This last read may have another writer; all other reads are as observed.
//! - relaxed: a session keeps whole transactions. All reads of the last one may have other writers;
//!   if one has, no transaction reads from this one.
//!
//! Every kept read reads from a kept write; what a transaction wrote before a strict boundary may
//! be read, as in the paper (its tool forbids it). *None exists* means that there is nothing of
//! this kind at all.
//!
//! What is predicted is a prefix of a run, and a run must have it (the paper's footnote 2). Not
//! every strict prediction is one. A read that is as observed may end a transaction, which then
//! would have gone on. And with the writes that the boundary leaves out the level may no longer
//! hold, at any level: if `t: w(p) r(a) w(x)` is cut at its read and another transaction reads p
//! from it and an older x, RA forbids that as soon as t writes x; at SI the database may refuse the
//! write, and the transaction with it. Such predictions are looked for only after all others, and
//! their [`Outlook`] says so.
//!
//! # Lists
//!
//! A list is read from the transaction that appended its last element. The appends that are kept
//! stay in the order that they had in the run (where nothing shows it: in the serial order that was
//! found), so a read with another writer returns the elements up to that one's, without those that
//! are cut. A read is as observed only if the whole list is, for an application looks at all of it.
//! Level and serializability are judged of the history with these lists: what they show of the
//! order of versions counts, what nobody sees does not. So nothing is predicted that a store at the
//! level could not show.
//!
//! ```
//! use seriatim_isolation::Level;
//! use seriatim_history::notation;
//! use seriatim_predict::{Answer, Boundary, Options, predict};
//!
//! // Two deposits one after the other: the second reads what the first wrote.
//! let run = notation::parse("initial x=50\na: r(x,50) w(x,60)\nb: r(x,60) w(x,70)").unwrap();
//! let relaxed = Options { boundary: Boundary::Relaxed, ..Options::new(Level::Causal) };
//! let Answer::Found(prediction) = predict(&run, &relaxed).unwrap() else {
//!     panic!("one update may be lost")
//! };
//! assert_eq!(prediction.changed.len(), 1);
//! // If the second deposit reads something else, the strict boundary does not trust its write.
//! let strict = Options { boundary: Boundary::Strict, ..relaxed };
//! assert!(matches!(predict(&run, &strict).unwrap(), Answer::NoneExists(_)));
//! ```

mod candidate;
pub mod confirm;
mod encode;
mod formula;
pub mod oracle;
mod pco;
mod pivot;
mod plan;
mod predict;
mod prediction;
mod problem;
mod reduced;
mod run;
mod search;

pub use confirm::Outlook;
pub use predict::{predict, predict_all};
pub use prediction::{
    ChangedRead, Cut, Fate, Planned, PlannedTxn, Prediction, SessionEnd, ShownEvent, ShownTxn,
    TxnPlace,
};

use seriatim_isolation::Level;
use std::time::Duration;

/// The levels that histories can be predicted at, weakest first.
pub const LEVELS: [Level; 5] = [
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
];

/// Where a session ends when a read returns something else than observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Boundary {
    /// With the read.
    #[default]
    Strict,
    /// With the transaction, whose writes are taken to be those observed.
    Relaxed,
}

impl Boundary {
    /// The word on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Boundary::Strict => "strict",
            Boundary::Relaxed => "relaxed",
        }
    }
}

/// What counts as not serializable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// No commit order exists.
    #[default]
    Exact,
    /// What all commit orders have in common has a cycle: sufficient, not necessary.
    Approx,
}

impl Mode {
    /// The word on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Exact => "exact",
            Mode::Approx => "approx",
        }
    }
}

/// What to look for, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The level that the prediction satisfies; one of [`LEVELS`].
    pub level: Level,
    /// Where sessions end.
    pub boundary: Boundary,
    /// What counts as not serializable.
    pub mode: Mode,
    /// How long to search; without it as long as it takes.
    pub budget: Option<Duration>,
}

impl Options {
    /// Exact, strict, without a limit.
    pub fn new(level: Level) -> Options {
        Options { level, boundary: Boundary::default(), mode: Mode::default(), budget: None }
    }
}

/// How much there was to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Transactions with conflicting accesses.
    pub transactions: u64,
    /// Reads that could have had another writer, merged where they must have the same.
    pub reads: u64,
    /// Parts of the run that were searched by themselves.
    pub parts: u64,
    /// Variables of the formulas.
    pub variables: u64,
    /// Clauses of the formulas.
    pub clauses: u64,
    /// Conflicts of the SAT solver.
    pub conflicts: u64,
    /// Histories that were proposed.
    pub proposals: u64,
    /// Version orders, beside the observed one, that serialized a proposal.
    pub version_orders: u64,
    /// How long it took.
    pub time: Duration,
}

impl Effort {
    fn add(&mut self, (variables, clauses, conflicts): (u64, u64, u64)) {
        self.variables += variables;
        self.clauses += clauses;
        self.conflicts += conflicts;
    }
}

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

/// What [`predict`] answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The run could have gone wrong like this.
    Found(Box<Prediction>),
    /// No history within the boundary is allowed by the level and not serializable (in mode
    /// *approx*: of the kind that it looks for), not even one that cannot go on
    /// ([`Outlook::CutShort`]).
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

/// Why nothing can be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// Only levels below serializability have something to predict.
    #[error("nothing can be predicted at {0}; use rc, ra, cc, pc or si")]
    UnsupportedLevel(Level),
    /// It is not clear who read from whom.
    #[error(
        "{place}: {key}={value} was written more than once, so it is not clear who was read from; \
         record a run in which each \
         value is written once to a key, or use a format in which reads name their writers"
    )]
    Ambiguous {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// Where the read stands.
        place: String,
    },
    /// A prediction did not pass the independent checker: a mistake of ours.
    #[error("a prediction was found that does not hold: {0}")]
    Unconfirmed(confirm::Doubt),
}
