//! What is asked: the level, the boundary, what counts as wrong, and for how long to search.

use seriatim_history::History;
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
    /// Whether a session sees what it committed itself at read committed, too, which its axiom does
    /// not ask for but every SQL server gives ([`is_of_sql`]).
    pub sessions_at_rc: bool,
    /// How long to search; without it as long as it takes.
    pub budget: Option<Duration>,
}

impl Options {
    /// Exact, strict, without a limit.
    pub fn new(level: Level) -> Options {
        Options {
            level,
            boundary: Boundary::default(),
            mode: Mode::default(),
            sessions_at_rc: false,
            budget: None,
        }
    }

    /// Whether session order has to be told to a checker of the level.
    pub(crate) fn tells_sessions(&self) -> bool {
        self.sessions_at_rc && self.level == Level::ReadCommitted
    }
}

/// Whether a run was recorded from clients of SQL: it has statements.
pub fn is_of_sql(history: &History) -> bool {
    !history.statements().is_empty()
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
    pub(crate) fn add(&mut self, (variables, clauses, conflicts): (u64, u64, u64)) {
        self.variables += variables;
        self.clauses += clauses;
        self.conflicts += conflicts;
    }
}
