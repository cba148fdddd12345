//! What came of an audit.

use crate::fault::FaultDone;
use crate::lost::LostWrite;
use crate::round::Tally;
use crate::workload::Workload;
use seriatim_check::Report;
use seriatim_history::Counts;
use seriatim_isolation::Level;
use std::collections::BTreeMap;
use std::time::Duration;

/// The levels that are told of, weakest first.
pub(crate) const TOLD: [Level; 7] = [
    Level::ReadCommitted,
    Level::CutIsolation,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// What came of it.
#[derive(Debug)]
#[must_use]
pub struct Audited {
    /// The database.
    pub product: String,
    /// What transactions asked for, as the database calls it.
    pub setting: String,
    /// What the database promises at that, or what was asked for instead.
    pub promise: Level,
    /// What was done.
    pub tally: Tally,
    /// How long it took.
    pub time: Duration,
    /// What each level of the ladder came to, over all rounds.
    pub levels: Vec<(Level, Kept)>,
    /// How often each anomaly was seen.
    pub anomalies: BTreeMap<&'static str, u64>,
    /// Reads that missed what had been acknowledged before their transactions began.
    pub stale_reads: u64,
    /// How long before, at most, in nanoseconds.
    pub stale_age_max: u64,
    /// Of each round, the median of that and how many there were.
    pub(crate) stale_ages: Vec<(u64, u64)>,
    /// How many writes were acknowledged and are gone.
    pub lost_count: u64,
    /// The first of them.
    pub lost: Vec<LostWrite>,
    /// What was done to the servers.
    pub faults: Vec<FaultDone>,
    /// When each round ended and what it showed.
    pub timeline: Vec<Moment>,
    /// How long it took until something was seen that is not promised.
    pub first_violation: Option<Duration>,
    /// The first round that violates the weakest level that any violates, explained.
    pub exemplar: Option<Exemplar>,
    /// How many bytes of the recording have been checked.
    pub bytes_checked: u64,
    /// How many rounds there were.
    pub rounds: u64,
    /// How many of them were decided in the end.
    pub decided_late: u64,
    /// How many of them are not decided.
    pub left_open: u64,
    /// Why not all of the recording is on disk.
    pub unwritten: Option<String>,
    /// Why it ended early, or is not tidied up.
    pub problem: Option<String>,
}

/// Whether a level was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In all rounds.
    Yes,
    /// Not in all.
    No,
    /// Nobody could tell.
    Unknown,
}

/// A round in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// When it ended, from the beginning of the audit.
    pub at: Duration,
    /// What its sessions did.
    pub workload: Workload,
    /// How many transactions committed.
    pub committed: u64,
    /// How many anomalies it shows.
    pub anomalies: u64,
    /// How many of them the database promises not to show.
    pub forbidden: u64,
}

/// A round that shows something.
#[derive(Debug)]
pub struct Exemplar {
    /// What its sessions did.
    pub workload: Workload,
    /// What the checker says.
    pub report: Report,
    /// How large it is.
    pub counts: Counts,
    pub(crate) level: Level,
}

impl Audited {
    pub(crate) fn new(product: String, setting: String, promise: Level) -> Audited {
        Audited {
            product,
            setting,
            promise,
            tally: Tally::default(),
            time: Duration::ZERO,
            levels: TOLD.map(|level| (level, Kept::Yes)).to_vec(),
            anomalies: BTreeMap::new(),
            stale_reads: 0,
            stale_age_max: 0,
            stale_ages: Vec::new(),
            lost_count: 0,
            lost: Vec::new(),
            faults: Vec::new(),
            timeline: Vec::new(),
            first_violation: None,
            exemplar: None,
            bytes_checked: 0,
            rounds: 0,
            decided_late: 0,
            left_open: 0,
            unwritten: None,
            problem: None,
        }
    }

    /// Whether the database keeps its promise. A write that was acknowledged and is gone breaks
    /// every promise.
    pub fn keeps_promise(&self) -> Kept {
        if self.lost_count > 0 { Kept::No } else { self.kept(self.promise) }
    }

    /// Whether anything was seen at all.
    pub fn is_empty(&self) -> bool {
        self.tally.committed == 0
    }

    /// Whether a level was kept.
    pub fn kept(&self, level: Level) -> Kept {
        let found = self.levels.iter().find(|(other, _)| *other == level);
        found.map_or(Kept::Yes, |(_, kept)| *kept)
    }

    /// The weakest level that was not kept.
    pub fn weakest_violated(&self) -> Option<Level> {
        let mut broken = self.levels.iter().filter(|(_, kept)| *kept == Kept::No);
        broken.next().map(|(level, _)| *level)
    }

    /// The age of stale reads, in nanoseconds: about the median of all, from those of the rounds.
    pub fn stale_age_median(&self) -> Option<u64> {
        let mut ages = self.stale_ages.clone();
        ages.sort_unstable();
        let mut left = ages.iter().map(|(_, reads)| reads).sum::<u64>() / 2;
        for (age, reads) in ages {
            match left.checked_sub(reads) {
                Some(rest) if rest > 0 => left = rest,
                _ => return Some(age),
            }
        }
        None
    }
}

/// Is told of each round that was checked.
pub trait Watcher: Sync {
    /// So much has been done so far.
    fn round(&self, so_far: &Audited);
}

impl<F: Fn(&Audited) + Sync> Watcher for F {
    fn round(&self, so_far: &Audited) {
        self(so_far);
    }
}
