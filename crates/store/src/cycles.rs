//! Cycles of session order, reads and overwrites in what has happened so far: what makes a history
//! unserializable.
//!
//! Looking for them costs the more the longer the history is, so that a look has a limit; what lies
//! beyond is not seen.

use crate::chooser::PendingRead;
use crate::log::{Log, State};
use crate::past::INITIAL;
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// How many steps a look may take: some tenths of a millisecond.
const STEPS_MAX: usize = 10_000;

/// A look at what has happened, at one read.
pub(crate) struct Look<'l> {
    log: &'l Log,
    /// How many steps are left.
    steps: Cell<usize>,
}

impl<'l> Look<'l> {
    pub fn new(log: &'l Log) -> Look<'l> {
        Look { log, steps: Cell::new(STEPS_MAX) }
    }

    /// Takes so many steps; false if there are not that many left.
    fn spend(&self, steps: usize) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(steps));
        left >= steps
    }

    /// Whether reading from `source` closes a cycle, at once or when the key is written.
    pub fn closes(&self, read: &PendingRead<'_>, source: u32, updated: bool) -> bool {
        let over = self.overwriters(read.key_number, source, read.txn);
        let update = |&writer: &u32| {
            let mut reads = self.log.txn(writer).reads.iter();
            reads.any(|other| other.key == read.key_number && other.source == source)
        };
        // A lost update: both read this version, and both overwrite it.
        (updated && over.iter().any(update))
            || self.reaches(over, |txn| txn == read.txn)
            || self.overtakes(read, source)
    }

    /// Whether a version that the reader knows of must come behind `source`: reading from `source`
    /// puts it before.
    fn overtakes(&self, read: &PendingRead<'_>, source: u32) -> bool {
        let log = self.log;
        if source == INITIAL {
            return false;
        }
        let writers = self.writers(read.key_number).iter();
        let known: FxHashSet<u32> = writers
            .copied()
            .filter(|&writer| writer != source && log.precedes(writer, read.txn))
            .collect();
        !known.is_empty() && self.reaches(self.successors(source), |txn| known.contains(&txn))
    }

    fn writers(&self, key: u32) -> &'l [u32] {
        self.log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all)
    }

    /// The transactions, beside `txn`, that wrote `key` behind `source` for certain.
    pub fn overwriters(&self, key: u32, source: u32, txn: u32) -> Vec<u32> {
        let (log, writers) = (self.log, self.writers(key));
        if !self.spend(writers.len()) {
            return Vec::new();
        }
        let is_behind = |writer: u32| source == INITIAL || log.precedes(source, writer);
        let others = writers.iter().copied().filter(|&writer| writer != txn && writer != source);
        others.filter(|&writer| is_behind(writer)).collect()
    }

    /// Whether one of `start`, or a transaction that one of them must come before in every serial
    /// order, is wanted.
    fn reaches(&self, start: Vec<u32>, is_wanted: impl Fn(u32) -> bool) -> bool {
        let mut seen: FxHashSet<u32> = start.iter().copied().collect();
        let mut waiting = start;
        while let Some(txn) = waiting.pop() {
            if is_wanted(txn) {
                return true;
            }
            if !self.spend(1) {
                return false;
            }
            waiting.extend(self.successors(txn).into_iter().filter(|&later| seen.insert(later)));
        }
        false
    }

    /// The transactions that `txn` must come before: the next of its session, its readers, and
    /// those that overwrote what it read. One that took its writes back has a place, too: clients
    /// know what it read.
    fn successors(&self, txn: u32) -> Vec<u32> {
        let record = self.log.txn(txn);
        let mut next = Vec::new();
        if record.state != State::Open {
            let session = &self.log.sessions[record.session as usize];
            next.extend(session.get(record.number + 1).or(session.open));
        }
        next.extend(&record.readers);
        for read in &record.reads {
            next.extend(self.overwriters(read.key, read.source, txn));
        }
        next
    }

    /// Whether the transaction that committed last must come before itself.
    pub fn is_broken(&self, last: u32) -> bool {
        self.reaches(self.successors(last), |txn| txn == last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Read;
    use seriatim_isolation::Level;

    fn commit(log: &mut Log, session: u32, reads: &[(u32, u32)], writes: &[u32]) -> u32 {
        let txn = log.begin(session, Level::Causal);
        reads.iter().for_each(|&(key, source)| log.add_read(txn, Read { key, source }));
        writes.iter().for_each(|&key| log.add_write(txn, key));
        log.end(txn, State::Committed);
        txn
    }

    #[test]
    fn a_write_skew_is_a_cycle_and_a_chain_is_none() {
        let mut log = Log::default();
        let (one, two) = (log.open_session(), log.open_session());
        let first = commit(&mut log, one, &[(0, INITIAL)], &[1]);
        assert!(!Look::new(&log).is_broken(first));
        let second = commit(&mut log, two, &[(1, INITIAL)], &[0]);
        assert!(Look::new(&log).is_broken(second));
        let mut chain = Log::default();
        let (one, two) = (chain.open_session(), chain.open_session());
        let first = commit(&mut chain, one, &[(0, INITIAL)], &[1]);
        let second = commit(&mut chain, two, &[(1, first)], &[0]);
        assert!(!Look::new(&chain).is_broken(second));
    }

    #[test]
    fn a_look_ends() {
        let mut log = Log::default();
        let sessions: Vec<u32> = (0..4).map(|_| log.open_session()).collect();
        let mut last = INITIAL;
        for number in 0..20_000 {
            last = commit(&mut log, sessions[number % 4], &[(0, INITIAL)], &[0]);
        }
        let look = Look::new(&log);
        look.is_broken(last);
        assert_eq!(look.steps.get(), 0);
    }
}
