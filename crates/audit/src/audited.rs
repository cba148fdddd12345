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
    /// Of rounds, the medians of that, about, and how many reads there were.
    stale_ages: BTreeMap<u64, u64>,
    /// How many writes were acknowledged and are gone.
    pub lost_count: u64,
    /// The first of them.
    pub lost: Vec<LostWrite>,
    /// How many rounds ended in a way that leaves open whether a write is lost.
    pub unread_ends: u64,
    /// What was done to the servers.
    pub faults: Vec<FaultDone>,
    /// When each round ended and what it showed; after very many rounds several are one.
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
    /// How many sessions there were; recordings of earlier versions do not say.
    pub sessions: Option<u32>,
    /// What decided what they did; likewise.
    pub seed: Option<u64>,
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

/// How many moments there may be: an audit of days needs no more memory than one of an hour.
const MOMENTS_MAX: usize = 4096;

/// A round in numbers, or several that followed each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// When the last of them ended, from the beginning of the audit.
    pub at: Duration,
    /// What its sessions did; none if that was not always the same.
    pub workload: Option<Workload>,
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

impl Moment {
    /// This one and the next one as one.
    fn with(self, next: Moment) -> Moment {
        Moment {
            at: next.at,
            workload: self.workload.filter(|it| Some(*it) == next.workload),
            committed: self.committed + next.committed,
            anomalies: self.anomalies + next.anomalies,
            forbidden: self.forbidden + next.forbidden,
        }
    }
}

impl Audited {
    /// A round has ended.
    pub(crate) fn pass(&mut self, moment: Moment) {
        self.timeline.push(moment);
        if self.timeline.len() >= MOMENTS_MAX {
            let pairs = self.timeline.chunks(2);
            let one = |pair: &[Moment]| pair[1..].iter().fold(pair[0], |it, next| it.with(*next));
            self.timeline = pairs.map(one).collect();
        }
    }

    /// A round that ended then showed so many anomalies more, which took long to be found.
    pub(crate) fn see_late(&mut self, ended: Duration, anomalies: u64, forbidden: u64) {
        if forbidden > 0 {
            let first = self.first_violation.map_or(ended, |first| first.min(ended));
            self.first_violation = Some(first);
        }
        let place = self.timeline.partition_point(|moment| moment.at < ended);
        if let Some(moment) = self.timeline.get_mut(place) {
            moment.anomalies += anomalies;
            moment.forbidden += forbidden;
        }
    }

    /// So many reads of a round were stale, by this median.
    pub(crate) fn note_stale(&mut self, age_median: u64, reads: u64) {
        // Six digits of a binary number say it well enough.
        let digits = u64::BITS - age_median.leading_zeros();
        let rounded = age_median >> digits.saturating_sub(6) << digits.saturating_sub(6);
        *self.stale_ages.entry(rounded).or_default() += reads;
    }

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
            stale_ages: BTreeMap::new(),
            lost_count: 0,
            lost: Vec::new(),
            unread_ends: 0,
            faults: Vec::new(),
            timeline: Vec::new(),
            first_violation: None,
            exemplar: None,
            bytes_checked: 0,
            rounds: 0,
            decided_late: 0,
            left_open: 0,
            sessions: None,
            seed: None,
            unwritten: None,
            problem: None,
        }
    }

    /// Whether the database keeps its promise. A write that was acknowledged and is gone breaks
    /// every promise.
    pub fn keeps_promise(&self) -> Kept {
        match self.kept(self.promise) {
            _ if self.lost_count > 0 => Kept::No,
            Kept::Yes if self.unread_ends > 0 => Kept::Unknown,
            kept => kept,
        }
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
        let mut left = self.stale_ages.values().sum::<u64>() / 2;
        for (&age, &reads) in &self.stale_ages {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_of_days_is_told_in_as_much_room_as_one_of_an_hour() {
        let (product, setting) = ("a database".to_owned(), "SERIALIZABLE".to_owned());
        let mut audited = Audited::new(product, setting, Level::Serializable);
        for round in 1..=100_000 {
            let workload = if round % 3 == 0 { Workload::General } else { Workload::Bank };
            let (at, workload) = (Duration::from_secs(round), Some(workload));
            audited.pass(Moment { at, workload, committed: 2, anomalies: 1, forbidden: 0 });
            audited.note_stale(round * 1000, 1);
        }
        assert!(audited.timeline.len() < MOMENTS_MAX);
        assert!(audited.stale_ages.len() < MOMENTS_MAX);
        assert_eq!(audited.timeline.iter().map(|it| it.committed).sum::<u64>(), 200_000);
        assert!(audited.timeline.is_sorted_by_key(|it| it.at));
        assert_eq!(audited.timeline.last().unwrap().at, Duration::from_secs(100_000));
        let median = audited.stale_age_median().unwrap();
        assert!((48_000_000..=50_000_000).contains(&median), "{median}");
    }

    #[test]
    fn few_rounds_are_told_one_by_one() {
        let (product, setting) = ("a database".to_owned(), "SERIALIZABLE".to_owned());
        let mut audited = Audited::new(product, setting, Level::Serializable);
        let workload = Some(Workload::Bank);
        let at = Duration::from_secs(1);
        let moment = Moment { at, workload, committed: 2, anomalies: 1, forbidden: 0 };
        audited.pass(moment);
        audited.pass(moment);
        assert_eq!(audited.timeline, [moment, moment]);
        assert_eq!(audited.stale_age_median(), None);
        audited.note_stale(7, 1);
        assert_eq!(audited.stale_age_median(), Some(7));
    }
}
