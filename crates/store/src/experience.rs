//! What an adversary remembers of earlier runs: programs do the same again.

use crate::chooser::{Ended, TxnName};
use crate::run_plan::hash;
use crate::tried::Tried;
use rustc_hash::{FxHashMap, FxHashSet};

/// How much is remembered of each kind.
pub(crate) const KNOWN_MAX: usize = 1 << 18;
/// A value after which a transaction writes less often than this keeps it from writing.
const HINDRANCE: f64 = 0.4;

/// How often something happened, and how often the transaction wrote something then.
#[derive(Clone, Copy, Default, Debug)]
struct Outcome {
    times: u32,
    wrote: u32,
}

impl Outcome {
    fn add(&mut self, wrote: bool) {
        // Both stop together: more would tell nothing more.
        if self.times < u32::MAX {
            self.times += 1;
            self.wrote += u32::from(wrote);
        }
    }

    fn idle(self) -> u32 {
        self.times - self.wrote
    }

    /// Whether something was written less often here than there.
    fn is_rarer_than(self, other: Outcome) -> bool {
        u64::from(self.wrote) * u64::from(other.times)
            < u64::from(other.wrote) * u64::from(self.times)
    }
}

/// What came of reading a key.
#[derive(Clone, Copy, Default, Debug)]
struct Uses {
    /// Whether the key was written then.
    update: Outcome,
    /// Whether anything was written after an old version was read.
    old: Outcome,
    /// The same for the latest version.
    latest: Outcome,
}

impl Uses {
    /// Whether old versions seem to keep the transaction from writing.
    fn is_condition(&self) -> bool {
        let may_be = self.latest.times == 0 || self.old.is_rarer_than(self.latest);
        self.update.wrote == 0 && self.old.idle() > 0 && may_be
    }
}

/// A read of a transaction.
#[derive(Debug)]
pub(crate) struct Sight {
    pub key: Box<str>,
    /// Stands for the value.
    pub seen: u64,
    pub is_old: bool,
}

#[derive(Clone, Copy, Default, Debug)]
struct Habit {
    outcome: Outcome,
    /// Whether it wrote something when it last ran.
    wrote_last: bool,
    /// Whether it wrote nothing although all that it read was up to date.
    is_idle_anyway: bool,
}

/// What is known from all runs so far.
#[derive(Default, Debug)]
pub(crate) struct Experience {
    /// What was tried where.
    pub tried: Tried,
    /// How many runs have ended.
    pub runs: u32,
    habits: FxHashMap<TxnName, Habit>,
    /// For each transaction and key that it read.
    uses: FxHashMap<(TxnName, Box<str>), Uses>,
    /// For each value that a transaction read, whether it wrote anything then.
    values: FxHashMap<u64, Outcome>,
}

/// Stands for a value that a transaction read.
pub(crate) fn seen(reader: TxnName, number: u32, key: &str, value: u64) -> u64 {
    hash(&(reader, number, key, value))
}

impl Experience {
    /// Whether `session` will write something after it has ended so many transactions, for all that
    /// is known.
    pub fn has_writes_left(&self, session: u32, ended: u32) -> bool {
        let habit = |txn: u32| self.habits.get(&TxnName { session, txn });
        if self.runs == 0 {
            // A session that has just only read will probably do so again.
            return ended.checked_sub(1).and_then(habit).is_none_or(|habit| habit.wrote_last);
        }
        (ended..).map_while(habit).any(|habit| habit.wrote_last)
    }

    /// Whether `reader` mostly writes `key` after reading it; without experience: yes.
    pub fn is_updated(&self, reader: TxnName, key: &str) -> bool {
        let known = self.uses.get(&(reader, key.into()));
        known.is_none_or(|uses| uses.update.wrote >= uses.update.idle())
    }

    /// Whether `reader`, which sometimes writes and sometimes does not, mostly does not after
    /// seeing this.
    pub fn hinders(&self, reader: TxnName, seen: u64) -> bool {
        let wavers = self
            .habits
            .get(&reader)
            .is_some_and(|habit| habit.outcome.wrote > 0 && habit.outcome.idle() > 0);
        let Outcome { times, wrote } = self.values.get(&seen).copied().unwrap_or_default();
        wavers && f64::from(wrote) + 1.0 < HINDRANCE * (f64::from(times) + 2.0)
    }

    /// The keys on which it may depend whether transactions write at all: those of which one read
    /// an old version, and wrote nothing, although it wrote more often after reading the latest
    /// one, or might. Not if it never writes.
    pub fn conditions(&self) -> FxHashSet<Box<str>> {
        let never_writes = |name: &TxnName| {
            self.habits
                .get(name)
                .is_some_and(|habit| habit.outcome.wrote == 0 && habit.is_idle_anyway)
        };
        let keys =
            self.uses.iter().filter(|((name, _), uses)| uses.is_condition() && !never_writes(name));
        keys.map(|((_, key), _)| key.clone()).collect()
    }

    /// Notes what a transaction did after these reads.
    pub fn note(&mut self, txn: &Ended<'_>, reads: Vec<Sight>) {
        let wrote = !txn.writes.is_empty();
        if self.uses.len().max(self.values.len()).max(self.habits.len()) >= KNOWN_MAX {
            return;
        }
        let habit = self.habits.entry(txn.txn).or_default();
        habit.outcome.add(wrote);
        habit.wrote_last = wrote;
        habit.is_idle_anyway |= !wrote && reads.iter().all(|read| !read.is_old);
        for read in reads {
            self.values.entry(read.seen).or_default().add(wrote);
            let is_update = txn.writes.contains(&&*read.key);
            let uses = self.uses.entry((txn.txn, read.key)).or_default();
            uses.update.add(is_update);
            if read.is_old { &mut uses.old } else { &mut uses.latest }.add(wrote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: TxnName = TxnName { session: 0, txn: 0 };
    const TWO: TxnName = TxnName { session: 0, txn: 1 };

    /// The transaction reads a value of x, and y.
    fn note(experience: &mut Experience, txn: TxnName, value: u64, is_old: bool, writes: &[&str]) {
        let ended = Ended { txn, committed: true, reads: vec!["x", "y"], writes: writes.to_vec() };
        let x = Sight { key: "x".into(), seen: seen(txn, 0, "x", value), is_old };
        let y = Sight { key: "y".into(), seen: seen(txn, 1, "y", 0), is_old: false };
        experience.note(&ended, vec![x, y]);
    }

    #[test]
    fn a_condition_is_a_key_whose_old_versions_keep_somebody_from_writing() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, false, &["y"]);
        assert!(experience.conditions().is_empty());
        note(&mut experience, ONE, 2, true, &[]);
        assert_eq!(experience.conditions(), [Box::from("x")].into_iter().collect());
        assert!(
            experience.hinders(ONE, seen(ONE, 0, "x", 2))
                && !experience.hinders(ONE, seen(ONE, 0, "x", 1))
        );
        assert!(!experience.hinders(ONE, seen(ONE, 0, "x", 3)));
    }

    #[test]
    fn a_key_whose_latest_version_keeps_somebody_from_writing_is_no_condition() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, false, &[]);
        note(&mut experience, ONE, 2, true, &["z"]);
        note(&mut experience, ONE, 3, true, &[]);
        assert!(experience.conditions().is_empty());
    }

    #[test]
    fn who_never_writes_has_no_conditions() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, true, &[]);
        assert_eq!(experience.conditions().len(), 1);
        note(&mut experience, ONE, 1, false, &[]);
        assert!(experience.conditions().is_empty());
    }

    #[test]
    fn a_session_with_writes_to_come_is_known() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, false, &[]);
        assert!(experience.has_writes_left(0, 0) && !experience.has_writes_left(0, 1));
        note(&mut experience, TWO, 1, false, &["x"]);
        experience.runs = 1;
        assert!(experience.has_writes_left(0, 0) && experience.has_writes_left(0, 1));
        assert!(!experience.has_writes_left(0, 2) && !experience.has_writes_left(1, 0));
    }
}
