//! What an adversary remembers of earlier runs: programs do the same again.

use crate::chooser::{Ended, TxnName};
use crate::plot::hash;
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
        self.times = self.times.saturating_add(1);
        self.wrote += u32::from(wrote);
    }

    fn idle(self) -> u32 {
        self.times - self.wrote
    }
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
    /// For each transaction and key that it read, whether it wrote the key then.
    updates: FxHashMap<(TxnName, Box<str>), Outcome>,
    /// For each value that a transaction read, whether it wrote anything then.
    values: FxHashMap<u64, Outcome>,
}

/// Stands for a value that a transaction read.
pub(crate) fn seen(reader: TxnName, number: u32, key: &str, value: u64) -> u64 {
    hash(&(reader, number, key, value))
}

impl Experience {
    /// Whether `session` will write something after it has ended so many transactions, for all that is known.
    pub fn has_writes_left(&self, session: u32, ended: u32) -> bool {
        let habit = |txn: u32| self.habits.get(&TxnName { session, txn });
        if self.runs == 0 {
            // Who has just only read will probably do so again.
            return ended.checked_sub(1).and_then(habit).is_none_or(|habit| habit.wrote_last);
        }
        (ended..).map_while(habit).any(|habit| habit.wrote_last)
    }

    /// Whether `reader` mostly writes `key` after reading it; without experience: yes.
    pub fn is_updated(&self, reader: TxnName, key: &str) -> bool {
        let known = self.updates.get(&(reader, key.into()));
        known.is_none_or(|outcome| 2 * outcome.wrote >= outcome.times)
    }

    /// Whether `reader`, who sometimes writes and sometimes does not, mostly does not after seeing this.
    pub fn hinders(&self, reader: TxnName, seen: u64) -> bool {
        let wavers = self.habits.get(&reader).is_some_and(|habit| habit.outcome.wrote > 0 && habit.outcome.idle() > 0);
        let Outcome { times, wrote } = self.values.get(&seen).copied().unwrap_or_default();
        wavers && f64::from(wrote + 1) < HINDRANCE * f64::from(times + 2)
    }

    /// The keys on which it may depend whether transactions write at all: those that were read, and not written, by one that then
    /// wrote nothing. Not if it never does.
    pub fn conditions(&self) -> FxHashSet<Box<str>> {
        let is_condition = |(name, outcome): (&TxnName, &Outcome)| {
            let habit = self.habits.get(name).copied().unwrap_or_default();
            let never_writes = habit.outcome.wrote == 0 && habit.is_idle_anyway;
            outcome.wrote == 0 && habit.outcome.idle() > 0 && !never_writes
        };
        let keys = self.updates.iter().filter(|((name, _), outcome)| is_condition((name, outcome)));
        keys.map(|((_, key), _)| key.clone()).collect()
    }

    /// Notes what a transaction did that saw `seen`, all of it up to date or not.
    pub fn note(&mut self, txn: &Ended<'_>, seen: &[u64], is_up_to_date: bool) {
        let wrote = !txn.writes.is_empty();
        if self.updates.len().max(self.values.len()).max(self.habits.len()) >= KNOWN_MAX {
            return;
        }
        let habit = self.habits.entry(txn.txn).or_default();
        habit.outcome.add(wrote);
        habit.wrote_last = wrote;
        habit.is_idle_anyway |= !wrote && is_up_to_date;
        for &key in &txn.reads {
            self.updates.entry((txn.txn, key.into())).or_default().add(txn.writes.contains(&key));
        }
        for &value in seen {
            self.values.entry(value).or_default().add(wrote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: TxnName = TxnName { session: 0, txn: 0 };
    const TWO: TxnName = TxnName { session: 0, txn: 1 };

    fn note(experience: &mut Experience, txn: TxnName, value: u64, writes: &[&str], is_up_to_date: bool) {
        let (reads, writes) = (vec!["x", "y"], writes.to_vec());
        let ended = Ended { txn, committed: true, reads, writes };
        experience.note(&ended, &[seen(txn, 0, "x", value)], is_up_to_date);
    }

    #[test]
    fn a_condition_is_read_by_who_writes_only_sometimes() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, &["y"], false);
        assert!(experience.conditions().is_empty());
        note(&mut experience, ONE, 2, &[], false);
        assert_eq!(experience.conditions(), [Box::from("x")].into_iter().collect());
        assert!(experience.hinders(ONE, seen(ONE, 0, "x", 2)) && !experience.hinders(ONE, seen(ONE, 0, "x", 1)));
        assert!(!experience.hinders(ONE, seen(ONE, 0, "x", 3)));
    }

    #[test]
    fn who_never_writes_has_no_conditions() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, &[], false);
        assert_eq!(experience.conditions().len(), 2);
        note(&mut experience, ONE, 1, &[], true);
        assert!(experience.conditions().is_empty());
    }

    #[test]
    fn a_session_with_writes_to_come_is_known() {
        let mut experience = Experience::default();
        note(&mut experience, ONE, 1, &[], false);
        assert!(experience.has_writes_left(0, 0) && !experience.has_writes_left(0, 1));
        note(&mut experience, TWO, 1, &["x"], false);
        experience.runs = 1;
        assert!(experience.has_writes_left(0, 0) && experience.has_writes_left(0, 1));
        assert!(!experience.has_writes_left(0, 2) && !experience.has_writes_left(1, 0));
    }
}
