//! What has happened in the store so far, with what the axioms ask about it: which transactions
//! wrote a key, and what is in whose causal past.
//!
//! Transactions are numbered as they begin. Those of a session that committed form a chain, so that
//! a causal past is one number for each session: how many of its transactions belong to it. One
//! that took its writes back counts as committed here: what it read is in its session's past.
//!
//! With a version horizon, old transactions are *settled*: they precede all others in the commit
//! order for good, and what they left behind is the initial version of each key from then on.

use crate::forgetting_list::ForgettingList;
use crate::key_set::KeySet;
use crate::past::{INITIAL, Past};
use crate::ranges::{Groups, Range};
use crate::writers::{Writer, Writers};
use rustc_hash::FxHashSet;
use seriatim_isolation::{Level, Order};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// How a transaction stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Open,
    Committed,
    /// Took its writes back; what it read obeys the level, as if it had committed.
    Withdrawn,
    /// As if it had never been.
    Aborted,
    /// Committed or took its writes back, and precedes all that is remembered.
    Settled,
}

/// An external read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub key: u32,
    /// The transaction that wrote what was read, or [`INITIAL`].
    pub source: u32,
}

/// One transaction.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub session: u32,
    /// Its place among the committed transactions of its session: what it is, or will be if it
    /// commits.
    pub number: u32,
    pub level: Level,
    pub state: State,
    pub past: Past,
    pub reads: Vec<Read>,
    /// Reads of keys that were yet to come.
    pub ranges: Vec<Range>,
    /// Keys written, in the order of their first write.
    pub writes: KeySet,
    /// Edges of the commit order that its reads force.
    pub forced: Vec<(u32, u32)>,
    /// Transactions that read from it.
    pub readers: Vec<u32>,
    /// How many transactions committed before it, once it has.
    pub commit: u32,
    /// How many transactions had committed when it began; at read committed its last statement.
    pub begun: u32,
}

/// One session.
#[derive(Clone, Default, Debug)]
pub(crate) struct SessionLog {
    /// Those that are not settled.
    pub committed: VecDeque<u32>,
    /// How many are settled, all before the others.
    pub settled: u32,
    /// What the last committed transaction has seen, itself included.
    past: Past,
    pub open: Option<u32>,
    /// Whether a committed transaction wrote something.
    has_written: bool,
}

impl SessionLog {
    /// The committed transaction of this number, unless it is settled.
    pub fn get(&self, number: u32) -> Option<u32> {
        self.committed.get(number.checked_sub(self.settled)? as usize).copied()
    }
}

/// Everything that has happened.
#[derive(Clone, Default, Debug)]
pub(crate) struct Log {
    pub txns: ForgettingList<Record>,
    pub sessions: Vec<SessionLog>,
    pub keys: Vec<Writers>,
    /// Keys that are read together.
    pub groups: Groups,
    /// Whether read committed sees what its own session committed, which its axiom does not ask
    /// for.
    pub sessions_at_rc: bool,
    /// What a transaction must see, beside what it read from.
    pub order: Order,
    /// How many transactions have committed.
    pub commits: u32,
    /// Those that are open.
    open: Vec<u32>,
}

impl Log {
    pub fn open_session(&mut self) -> u32 {
        self.sessions.push(SessionLog::default());
        self.sessions.len() as u32 - 1
    }

    pub fn begin(&mut self, session: u32, level: Level) -> u32 {
        let txn = self.txns.next() as u32;
        let home = &mut self.sessions[session as usize];
        let number = home.settled + home.committed.len() as u32;
        home.open = Some(txn);
        let past = if self.order == Order::RealTime && level == Level::Causal {
            self.all_ended()
        } else {
            home.past.clone()
        };
        self.open.push(txn);
        self.txns.push(Record {
            session,
            number,
            level,
            state: State::Open,
            past,
            reads: Vec::new(),
            ranges: Vec::new(),
            writes: KeySet::default(),
            forced: Vec::new(),
            readers: Vec::new(),
            commit: 0,
            begun: self.commits,
        });
        txn
    }

    /// The past of a transaction that has seen all that have ended.
    fn all_ended(&self) -> Past {
        let mut past = Past::default();
        for (session, home) in self.sessions.iter().enumerate() {
            if !home.committed.is_empty() {
                past.reach(session as u32, home.settled + home.committed.len() as u32);
            }
        }
        past
    }

    /// A statement begins, or a read that is part of none: at read committed it sees what has ended
    /// by now, if time matters.
    pub fn begin_statement(&mut self, txn: u32) {
        if self.txn(txn).level == Level::ReadCommitted {
            self.txns[txn as usize].begun = self.commits;
        }
    }

    /// Whether one committed transaction had ended before another one began.
    pub fn ended_before(&self, earlier: u32, later: u32) -> bool {
        self.order == Order::RealTime && self.txn(earlier).commit < self.txn(later).begun
    }

    /// The last writer of a key that a transaction must see because it had ended before.
    pub fn last_ended(&self, writers: &Writers, txn: u32) -> Option<u32> {
        if self.order != Order::RealTime {
            return None;
        }
        let begun = self.txn(txn).begun;
        let ended = writers.all.partition_point(|&writer| self.txn(writer).commit < begun);
        writers.all[..ended].last().copied()
    }

    #[inline]
    pub fn txn(&self, txn: u32) -> &Record {
        &self.txns[txn as usize]
    }

    /// Whether `earlier`, which committed, is in the causal past of `later`.
    #[inline]
    pub fn precedes(&self, earlier: u32, later: u32) -> bool {
        let earlier = self.txn(earlier);
        earlier.number < self.txn(later).past.of(earlier.session)
    }

    /// The writers in `past`, without those that are in the causal past of another one.
    pub fn last_seen(&self, writers: &Writers, past: &Past) -> Vec<u32> {
        let mut seen: Vec<Writer> = writers.seen(past).collect();
        // A writer that has seen another one committed later, and the last one has mostly seen all
        // of them.
        seen.sort_unstable_by_key(|writer| Reverse(writer.commit));
        let mut last: Vec<u32> = Vec::new();
        for writer in seen {
            if !last.iter().any(|&later| writer.number < self.txn(later).past.of(writer.session)) {
                last.push(writer.txn);
            }
        }
        last
    }

    pub fn writes(&self, txn: u32, key: u32) -> bool {
        self.txn(txn).writes.contains(&key)
    }

    /// Whether anything of another session is in the causal past of `txn`.
    pub fn knows_others(&self, txn: u32) -> bool {
        let record = self.txn(txn);
        record.past.has_others(record.session)
    }

    /// Whether a committed transaction of `session` wrote something.
    pub fn has_written(&self, session: u32) -> bool {
        self.sessions[session as usize].has_written
    }

    /// The causal past of an open transaction, once it has read from `source` too.
    pub fn past_with(&self, txn: u32, source: u32) -> Past {
        let mut past = self.txn(txn).past.clone();
        let source = self.txn(source);
        past.join(&source.past);
        past.reach(source.session, source.number + 1);
        past
    }

    pub fn add_read(&mut self, txn: u32, read: Read) {
        if read.source != INITIAL {
            // A past is all that is before something in it, so that there is nothing new in one
            // that is known.
            if !self.precedes(read.source, txn) {
                self.txns[txn as usize].past = self.past_with(txn, read.source);
            }
            self.txns[read.source as usize].readers.push(txn);
        }
        self.txns[txn as usize].reads.push(read);
    }

    pub fn add_write(&mut self, txn: u32, key: u32) {
        self.txns[txn as usize].writes.insert(key);
    }

    /// Ends a transaction that committed or took its writes back.
    pub fn end(&mut self, txn: u32, state: State) {
        let record = &mut self.txns[txn as usize];
        record.state = state;
        record.commit = self.commits;
        self.commits += 1;
        let (session, number, commit, writes) =
            (record.session, record.number, record.commit, record.writes.clone());
        let mut past = record.past.clone();
        past.reach(session, number + 1);
        let home = &mut self.sessions[session as usize];
        home.committed.push_back(txn);
        home.open = None;
        self.open.retain(|&other| other != txn);
        home.past = past;
        home.has_written |= !writes.is_empty();
        for &key in writes.iter() {
            if self.keys.len() <= key as usize {
                self.keys.resize_with(key as usize + 1, Writers::default);
            }
            self.keys[key as usize].add(Writer { session, number, txn, commit });
        }
    }

    pub fn abort(&mut self, txn: u32) {
        let record = &mut self.txns[txn as usize];
        record.state = State::Aborted;
        let (session, reads) = (record.session, record.reads.clone());
        self.sessions[session as usize].open = None;
        self.open.retain(|&other| other != txn);
        for read in reads.into_iter().filter(|read| read.source != INITIAL) {
            let readers = &mut self.txns[read.source as usize].readers;
            // Readers are added as they read, so one that was open until now is near the end.
            if let Some(place) = readers.iter().rposition(|&reader| reader == txn) {
                readers.swap_remove(place);
            }
        }
    }

    /// The transaction before `txn` in its session, unless it is settled.
    pub fn previous(&self, txn: u32) -> Option<u32> {
        let record = self.txn(txn);
        let before = record.number.checked_sub(1)?;
        self.sessions[record.session as usize].get(before)
    }

    /// Calls `visit` with what comes right before `txn` in its session, and with what it read from,
    /// unless it is settled.
    pub fn predecessors(&self, txn: u32, mut visit: impl FnMut(u32)) {
        self.previous(txn).into_iter().for_each(&mut visit);
        let sources = self.txn(txn).reads.iter().map(|read| read.source);
        sources.filter(|&source| source != INITIAL).for_each(visit);
    }

    /// Calls `visit` with what comes right behind committed `txn` in its session, and with what
    /// read from it, if it has ended.
    pub fn successors(&self, txn: u32, mut visit: impl FnMut(u32)) {
        let record = self.txn(txn);
        let next = self.sessions[record.session as usize].get(record.number + 1);
        next.into_iter().for_each(&mut visit);
        let readers = record.readers.iter().copied();
        readers.filter(|&reader| self.txn(reader).state != State::Open).for_each(visit);
    }

    /// The open transactions.
    pub fn open(&self) -> impl Iterator<Item = u32> + '_ {
        self.open.iter().copied()
    }

    /// The committed transactions that are not settled.
    pub fn unsettled(&self) -> impl Iterator<Item = u32> + '_ {
        self.sessions.iter().flat_map(|session| session.committed.iter().copied())
    }

    /// Settles these transactions, in this order, which fits all edges: what was read from them was
    /// read from the initial state.
    pub fn settle(&mut self, order: &[u32]) {
        let mut keys = FxHashSet::default();
        for &txn in order {
            let record = &mut self.txns[txn as usize];
            record.state = State::Settled;
            keys.extend(record.writes.iter().copied());
            (record.reads, record.ranges) = Default::default();
            (record.readers, record.forced) = Default::default();
            record.writes.clear();
            let home = &mut self.sessions[record.session as usize];
            // The order extends session order, so this is the first of its session.
            home.committed.pop_front();
            home.settled += 1;
        }
        let settled: FxHashSet<u32> = order.iter().copied().collect();
        for key in keys {
            self.keys[key as usize].retain(|writer| !settled.contains(&writer));
        }
        for txn in self.remembered() {
            let record = &mut self.txns[txn as usize];
            record.forced.retain(|(from, _)| !settled.contains(from));
            let reads = record.reads.iter_mut().filter(|read| settled.contains(&read.source));
            reads.for_each(|read| read.source = INITIAL);
        }
    }

    /// The transactions that may still be asked about: those that are open, and those that have
    /// committed and are not settled.
    pub fn remembered(&self) -> Vec<u32> {
        self.unsettled().chain(self.open()).collect()
    }

    /// Whether a past has to tell how much of `session` is in it: not of what is settled.
    pub fn is_alive(&self, session: u32) -> bool {
        !self.sessions[session as usize].committed.is_empty()
    }

    /// Leaves out of all pasts what does not matter any more.
    pub fn trim(&mut self) {
        let alive: FxHashSet<u32> =
            (0..self.sessions.len() as u32).filter(|&session| self.is_alive(session)).collect();
        let records = self.txns.iter_mut().map(|record| &mut record.past);
        for past in records.chain(self.sessions.iter_mut().map(|session| &mut session.past)) {
            past.retain(|session| alive.contains(&session));
        }
    }

    /// Whether `txn` has read the initial version of `key` by a range.
    pub fn has_in_range(&self, txn: u32, key: u32) -> bool {
        self.txn(txn).ranges.iter().any(|range| self.groups.covers(range, key))
    }

    /// The keys whose initial version `txn` has read by ranges, so far.
    pub fn in_ranges(&self, txn: u32) -> impl Iterator<Item = u32> + '_ {
        self.txn(txn).ranges.iter().flat_map(|range| self.groups.later(range))
    }
}
