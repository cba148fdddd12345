//! What has happened in the store so far, with what the axioms ask about it: who wrote a key, and what is in whose causal past.
//!
//! Transactions are numbered as they begin. Those of a session that committed form a chain, so that a causal past is one number
//! for each session: how many of its transactions belong to it.

use seriatim_check::Level;

/// The source of reads that nobody's write explains: the initial transaction.
pub(crate) const INITIAL: u32 = u32::MAX;

/// How a transaction stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Open,
    Committed,
    Aborted,
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
    /// Its place among the committed transactions of its session: what it is, or will be if it commits.
    pub number: u32,
    pub level: Level,
    pub state: State,
    pub past: Past,
    pub reads: Vec<Read>,
    /// Keys written, in the order of their first write.
    pub writes: Vec<u32>,
    /// Edges of the commit order that its reads force.
    pub forced: Vec<(u32, u32)>,
    /// Transactions that read from it.
    pub readers: Vec<u32>,
    /// How many transactions committed before it, once it has.
    pub commit: u32,
}

/// A causal past: for each session how many of its committed transactions are in it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Past(Vec<u32>);

impl Past {
    #[inline]
    pub fn of(&self, session: u32) -> u32 {
        self.0.get(session as usize).copied().unwrap_or(0)
    }

    /// Adds another past; whether that is something new.
    pub fn join(&mut self, other: &Past) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= *mine < *theirs;
            *mine = (*mine).max(*theirs);
        }
        new
    }

    /// How many transactions are in it.
    pub fn size(&self) -> u64 {
        self.0.iter().map(|&count| u64::from(count)).sum()
    }

    /// Adds the first `count` transactions of `session`.
    pub fn reach(&mut self, session: u32, count: u32) {
        if self.0.len() <= session as usize {
            self.0.resize(session as usize + 1, 0);
        }
        self.0[session as usize] = self.0[session as usize].max(count);
    }
}

/// The committed writers of one key.
#[derive(Clone, Default, Debug)]
pub(crate) struct Writers {
    /// In the order of their commits.
    pub all: Vec<u32>,
    /// By session: (number in the session, transaction), ascending.
    pub by_session: Vec<(u32, Vec<(u32, u32)>)>,
}

impl Writers {
    fn add(&mut self, session: u32, number: u32, txn: u32) {
        self.all.push(txn);
        match self.by_session.iter_mut().find(|(other, _)| *other == session) {
            Some((_, list)) => list.push((number, txn)),
            None => self.by_session.push((session, vec![(number, txn)])),
        }
    }

    /// The last writer of each session that is in `past`.
    pub fn seen<'w>(&'w self, past: &'w Past) -> impl Iterator<Item = u32> + 'w {
        self.by_session.iter().filter_map(|(session, list)| {
            let count = list.partition_point(|&(number, _)| number < past.of(*session));
            count.checked_sub(1).map(|last| list[last].1)
        })
    }

    /// The last writer of `session`.
    pub fn last_of(&self, session: u32) -> Option<u32> {
        let (_, list) = self.by_session.iter().find(|(other, _)| *other == session)?;
        list.last().map(|&(_, txn)| txn)
    }
}

/// One session.
#[derive(Clone, Default, Debug)]
pub(crate) struct SessionLog {
    pub committed: Vec<u32>,
    pub open: Option<u32>,
}

/// Everything that has happened.
#[derive(Clone, Default, Debug)]
pub(crate) struct Log {
    pub txns: Vec<Record>,
    pub sessions: Vec<SessionLog>,
    pub keys: Vec<Writers>,
    /// How many transactions have committed.
    pub commits: u32,
}

impl Log {
    pub fn open_session(&mut self) -> u32 {
        self.sessions.push(SessionLog::default());
        self.sessions.len() as u32 - 1
    }

    pub fn begin(&mut self, session: u32, level: Level) -> u32 {
        let txn = self.txns.len() as u32;
        let number = self.sessions[session as usize].committed.len() as u32;
        let mut past = Past::default();
        if let Some(&last) = self.sessions[session as usize].committed.last() {
            past = self.txn(last).past.clone();
            past.reach(session, number);
        }
        self.sessions[session as usize].open = Some(txn);
        self.txns.push(Record {
            session,
            number,
            level,
            state: State::Open,
            past,
            reads: Vec::new(),
            writes: Vec::new(),
            forced: Vec::new(),
            readers: Vec::new(),
            commit: 0,
        });
        txn
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

    pub fn writes(&self, txn: u32, key: u32) -> bool {
        self.txn(txn).writes.contains(&key)
    }

    /// Whether anything of another session is in the causal past of `txn`.
    pub fn knows_others(&self, txn: u32) -> bool {
        let record = self.txn(txn);
        (0..self.sessions.len() as u32).any(|session| session != record.session && record.past.of(session) > 0)
    }

    /// Whether a committed transaction of `session` wrote something.
    pub fn has_written(&self, session: u32) -> bool {
        self.sessions[session as usize].committed.iter().any(|&txn| !self.txn(txn).writes.is_empty())
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
            self.txns[txn as usize].past = self.past_with(txn, read.source);
            self.txns[read.source as usize].readers.push(txn);
        }
        self.txns[txn as usize].reads.push(read);
    }

    pub fn add_write(&mut self, txn: u32, key: u32) {
        let writes = &mut self.txns[txn as usize].writes;
        if !writes.contains(&key) {
            writes.push(key);
        }
    }

    pub fn commit(&mut self, txn: u32) {
        let record = &mut self.txns[txn as usize];
        record.state = State::Committed;
        record.commit = self.commits;
        self.commits += 1;
        let (session, number, writes) = (record.session, record.number, record.writes.clone());
        self.sessions[session as usize].committed.push(txn);
        self.sessions[session as usize].open = None;
        for key in writes {
            if self.keys.len() <= key as usize {
                self.keys.resize_with(key as usize + 1, Writers::default);
            }
            self.keys[key as usize].add(session, number, txn);
        }
    }

    pub fn abort(&mut self, txn: u32) {
        let record = &mut self.txns[txn as usize];
        record.state = State::Aborted;
        let (session, reads) = (record.session, record.reads.clone());
        self.sessions[session as usize].open = None;
        for read in reads.into_iter().filter(|read| read.source != INITIAL) {
            let readers = &mut self.txns[read.source as usize].readers;
            if let Some(place) = readers.iter().rposition(|&reader| reader == txn) {
                readers.swap_remove(place);
            }
        }
    }

    /// The transaction before `txn` in its session.
    pub fn previous(&self, txn: u32) -> Option<u32> {
        let record = self.txn(txn);
        let before = record.number.checked_sub(1)?;
        self.sessions[record.session as usize].committed.get(before as usize).copied()
    }

    /// Calls `visit` with what comes right before `txn` in its session, and with what it read from.
    pub fn predecessors(&self, txn: u32, mut visit: impl FnMut(u32)) {
        self.previous(txn).into_iter().for_each(&mut visit);
        let sources = self.txn(txn).reads.iter().map(|read| read.source);
        sources.filter(|&source| source != INITIAL).for_each(visit);
    }

    /// Calls `visit` with what comes right behind committed `txn` in its session, and with what read from it, if it has committed.
    pub fn successors(&self, txn: u32, mut visit: impl FnMut(u32)) {
        let record = self.txn(txn);
        let next = self.sessions[record.session as usize].committed.get(record.number as usize + 1);
        next.copied().into_iter().for_each(&mut visit);
        let readers = record.readers.iter().copied();
        readers.filter(|&reader| self.txn(reader).state == State::Committed).for_each(visit);
    }
}
