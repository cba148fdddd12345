//! What a check answers: a verdict for each level with what shows it, the anomalies, and how long
//! it took.

use super::effort::Effort;
use super::violation::{Age, ValueRef, Violation};
use seriatim_history::{OpId, TxnId};
use seriatim_isolation::{Anomaly, Level, Order};
use seriatim_verify::{Proof, commit_order};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The answer to whether a level holds, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Answer {
    /// A commit order exists.
    Holds,
    /// None exists.
    Violated,
    /// It is not known: see [`Undecided`].
    Undecided,
}

impl Answer {
    /// The word in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Holds => "holds",
            Answer::Violated => "violated",
            Answer::Undecided => "undecided",
        }
    }
}

/// Whether a level holds, with what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// A commit order exists, by a proof that [`seriatim_verify::verify_proof`] accepts for the
    /// level. It may be that of a stronger level, and levels share it.
    Holds(Arc<Proof>),
    /// None exists.
    Violated(Breach),
    /// It is not known.
    Undecided(Undecided),
}

/// What violates a level.
#[derive(Clone, PartialEq, Eq)]
pub enum Breach {
    /// The smallest anomaly that was found, of the level or of a weaker one on the ladder.
    Anomaly(Box<Violation>),
    /// The transactions of a contradiction, which violate the level alone; to explain it takes
    /// longer than the limits allow.
    Unexplained(Vec<TxnId>),
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
        value: ValueRef,
        /// How many reads are concerned, over all such keys and values.
        reads: u64,
    },
    /// The search was given up: the strong levels are NP-complete, and every search has a limit.
    Budget,
    /// With sessions the level is violated, and whether that is so without them is not searched for
    /// in a history of so many transactions, or of so many reads by scans.
    ManyWithoutSessions,
    /// Going on would take more memory than [`crate::Checker::memory`] allows, or more than is ever
    /// spent on one table.
    Memory,
    /// What the history has of it satisfies the level as far as is known, but transactions are
    /// missing of which it is not known what they did
    /// ([`seriatim_history::History::unknown_content`]).
    UnknownContent {
        /// How many.
        transactions: u64,
    },
    /// Real time was asked for, the history satisfies the level without it (strict serializability:
    /// is serializable) as far as is known, and it has no begin and end times.
    NoTimes,
}

/// The answer for one level.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    /// The level.
    pub level: Level,
    /// Whether it holds.
    pub outcome: Outcome,
}

impl Verdict {
    /// A verdict.
    pub fn new(level: Level, outcome: Outcome) -> Verdict {
        Verdict { level, outcome }
    }

    /// The level holds, as `proof` shows.
    pub fn proved(level: Level, proof: Arc<Proof>) -> Verdict {
        Verdict::new(level, Outcome::Holds(proof))
    }

    /// It is not known whether the level holds.
    pub fn undecided_because(level: Level, reason: Undecided) -> Verdict {
        Verdict::new(level, Outcome::Undecided(reason))
    }

    /// The answer in one word.
    pub fn answer(&self) -> Answer {
        match self.outcome {
            Outcome::Holds(_) => Answer::Holds,
            Outcome::Violated(_) => Answer::Violated,
            Outcome::Undecided(_) => Answer::Undecided,
        }
    }

    /// Whether the level is known to hold.
    pub fn holds(&self) -> bool {
        self.answer() == Answer::Holds
    }

    /// Whether the level is known to be violated.
    pub fn is_violated(&self) -> bool {
        self.answer() == Answer::Violated
    }

    /// The proof that the level holds, if there is one.
    pub fn proof(&self) -> Option<&Proof> {
        match &self.outcome {
            Outcome::Holds(proof) => Some(proof),
            _ => None,
        }
    }

    /// A commit order that shows that the level holds, if there is one.
    pub fn commit_order(&self) -> Option<Vec<TxnId>> {
        match self.proof()? {
            Proof::Points(points) => Some(commit_order(points)),
            Proof::Order { order, .. } => Some(order.clone()),
            Proof::CutIsolation => None,
        }
    }

    /// What violates the level, if that was explained.
    pub fn violation(&self) -> Option<&Violation> {
        match &self.outcome {
            Outcome::Violated(Breach::Anomaly(violation)) => Some(violation),
            _ => None,
        }
    }

    /// Why the answer is not known.
    pub fn undecided(&self) -> Option<&Undecided> {
        match &self.outcome {
            Outcome::Undecided(reason) => Some(reason),
            _ => None,
        }
    }
}

/// All anomalies of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnomalyGroup {
    /// The kind.
    pub kind: Anomaly,
    /// How many instances there are: reads that show the anomaly (cycles, for cyclic causality);
    /// of the strong levels, updates that are lost, pairs of transactions that skew, violations
    /// that share no transaction with others.
    pub count: u64,
    /// What the count means.
    pub counted: Counted,
    /// The smallest instance that was found.
    pub exemplar: Violation,
    /// Further instances, if the options ask for them, in the order of the history (the exemplar is
    /// among them). Of stale reads beyond the first thousand only the operations are named: their
    /// cycle is empty.
    pub instances: Vec<Violation>,
}

/// What the count of a group of anomalies means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All instances of the whole history.
    Exactly,
    /// Instances that share no transaction; without the transactions of those nothing was left.
    Disjoint,
    /// There may be others: a limit ended the search, or they are of several shapes of which not
    /// all are counted.
    AtLeast,
}

impl Counted {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Counted::Exactly => "exactly",
            Counted::Disjoint => "disjoint",
            Counted::AtLeast => "at-least",
        }
    }
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

/// What [`crate::check`] and [`crate::Checker::check`] return.
#[derive(Clone)]
#[must_use]
pub struct Report {
    /// The order that the levels were asked for with.
    pub order: Order,
    /// One verdict for each level that was asked for, in the order of [`Level::ALL`]; no isolation,
    /// if it was asked for, comes first.
    pub verdicts: Vec<Verdict>,
    /// The anomalies, in the order of [`Anomaly::ALL`]; only kinds that a level that was asked for
    /// forbids.
    pub anomalies: Vec<AnomalyGroup>,
    /// The one kind that was looked for, if not all.
    pub kind: Option<Anomaly>,
    /// Whether a limit ended the search for further anomalies: there may be kinds that are not
    /// among `anomalies`.
    pub search_ended_early: bool,
    /// The reads that are stale by themselves, if there are any and real time was not asked for:
    /// with real time they violate every level.
    pub stale: Option<Staleness>,
    /// How many transactions ended before one began that comes before them by sessions, reads and
    /// lists, if real time was not asked for: with real time these violate every level, too.
    pub time_cycles: u64,
    /// What was proved, also of levels that were looked at without being asked for.
    pub proved: Proved,
    /// Where the time went.
    pub timings: Timings,
    /// How many bytes the process would have had to have to go on, if it was known before that they
    /// are too many.
    pub memory_needed: Option<u64>,
}

/// What real time would say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staleness {
    /// How many reads are stale by themselves.
    pub reads: u64,
    /// The age of the oldest.
    pub age_max: Age,
    /// How old half of them are at most.
    pub age_median: Age,
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

    /// Whether `level` holds: by its own verdict, or because a level holds that implies it. False
    /// if it is violated, undecided, or if nothing that was asked for says anything about it.
    pub fn holds(&self, level: Level) -> bool {
        self.verdicts.iter().any(|verdict| verdict.level.implies(level) && verdict.holds())
    }

    /// Whether `level` is violated: by its own verdict, or because a level is violated that it
    /// implies. False if it holds, is undecided, or if nothing that was asked for says anything
    /// about it.
    pub fn violates(&self, level: Level) -> bool {
        self.verdicts.iter().any(|verdict| level.implies(verdict.level) && verdict.is_violated())
    }

    /// The strongest level of the ladder that was asked for and holds.
    pub fn strongest(&self) -> Option<Level> {
        let holds = |level: &Level| self.verdict(*level).is_some_and(Verdict::holds);
        Level::LADDER.into_iter().rev().find(holds)
    }

    /// The weakest level of the ladder that was asked for and is violated.
    pub fn weakest_violated(&self) -> Option<Level> {
        let is_violated = |level: &Level| self.verdict(*level).is_some_and(Verdict::is_violated);
        Level::LADDER.into_iter().find(is_violated)
    }

    /// The smallest violation of `level` that was found: one of the level itself, or of a weaker
    /// one on the ladder.
    pub fn exemplar(&self, level: Level) -> Option<&Violation> {
        smallest(&self.anomalies, level)
    }
}

/// The smallest exemplar that shows that `level` is violated.
pub(crate) fn smallest(anomalies: &[AnomalyGroup], level: Level) -> Option<&Violation> {
    let on_ladder = |other: &Level| {
        *other != Level::CutIsolation && level != Level::CutIsolation && *other < level
    };
    let violates = |violation: &&Violation| {
        violation.levels.iter().any(|other| *other == level || on_ladder(other))
    };
    let exemplars = anomalies.iter().map(|group| &group.exemplar);
    exemplars
        .filter(violates)
        .filter(|violation| !violation.ops.is_empty())
        .min_by_key(|violation| violation.ops.len())
}

impl Violation {
    /// The operations, without those of the initial transaction.
    pub fn op_ids(&self) -> Vec<OpId> {
        self.ops.iter().filter_map(|op| op.id).collect()
    }
}

/// Short: a report may hold an order of a million transactions.
impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report(")?;
        for (place, verdict) in self.verdicts.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}{} {}", verdict.level.code(), verdict.answer().word())?;
        }
        match self.anomalies.len() {
            0 => f.write_str(")"),
            1 => f.write_str("; 1 kind of anomaly)"),
            count => write!(f, "; {count} kinds of anomalies)"),
        }
    }
}

/// Short: a violation has its whole derivation with it.
impl fmt::Debug for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::Anomaly(violation) => {
                let (code, ops) = (violation.kind.info().code, violation.ops.len());
                write!(f, "Anomaly({code} of {ops} operations)")
            }
            Breach::Unexplained(txns) => write!(f, "Unexplained({} transactions)", txns.len()),
        }
    }
}

impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verdict({}: {:?})", self.level.code(), self.outcome)
    }
}
