//! What a store would hold at a frontier, with undo, and with a hash that follows every change.

use super::ids::{Element, Key, ListNumber, Version};
use super::problem::{List, Problem, ReadOf, Txn, WriteOf};
use seriatim_history::SessionId;
use seriatim_verify::Point;

/// How far all sessions have come.
pub(super) struct Store<'a> {
    problem: &'a Problem,
    /// Whether writers that have begun keep others from writing their keys (SI).
    locking: bool,
    /// For each session how many of its transactions have committed.
    committed: Vec<u32>,
    /// For each session whether its next transaction has begun.
    begun: Vec<bool>,
    /// The current version of each key.
    current: Vec<Version>,
    /// Whether a writer of the key has begun (SI).
    locked: Vec<bool>,
    /// For each version: reads of transactions that have not begun which accept it, and those which
    /// accept no other.
    pending: Vec<u32>,
    pending_only: Vec<u32>,
    /// For each version, and for each key: transactions that have not committed which write it.
    writers_left: Vec<u32>,
    key_writers_left: Vec<u32>,
    lists: Lists<'a>,
    txns_left: usize,
    hash: u128,
    events: Vec<(SessionId, Point)>,
    /// The versions that commits replaced.
    replaced: Vec<Version>,
    /// How much of its list had been appended before each append.
    progress_before: Vec<u32>,
    /// For each session and transaction the earliest end from there on.
    earliest_end: Vec<Vec<i64>>,
}

/// The earliest ends over all sessions: the smallest, in which session, and the smallest elsewhere.
#[derive(Clone, Copy)]
pub(super) struct EarliestEnds {
    first: i64,
    session: Option<SessionId>,
    second: i64,
}

impl<'a> Store<'a> {
    pub fn new(problem: &'a Problem, locking: bool) -> Store<'a> {
        let versions = problem.version_count();
        let mut store = Store {
            problem,
            locking,
            committed: vec![0; problem.session_count()],
            begun: vec![false; problem.session_count()],
            current: (0..problem.key_count as u32).map(|key| Key(key).initial()).collect(),
            locked: vec![false; problem.key_count],
            pending: vec![0; versions],
            pending_only: vec![0; versions],
            writers_left: vec![0; versions],
            key_writers_left: vec![0; problem.key_count],
            lists: Lists::new(problem),
            txns_left: problem.txns().count(),
            hash: 0,
            events: Vec::new(),
            replaced: Vec::new(),
            progress_before: Vec::new(),
            earliest_end: problem.sessions.iter().map(|txns| earliest_ends(txns)).collect(),
        };
        for txn in problem.txns() {
            store.count(txn);
        }
        store
    }

    fn count(&mut self, txn: &Txn) {
        for read in &txn.reads {
            read.versions().for_each(|version| self.pending[version.index()] += 1);
            read.only().into_iter().for_each(|version| self.pending_only[version.index()] += 1);
        }
        for write in &txn.writes {
            self.writers_left[write.version.index()] += 1;
            self.key_writers_left[write.key.index()] += 1;
        }
    }

    /// Whether all that lists show is appended at all.
    pub fn lists_can_be_completed(&self) -> bool {
        self.lists.needed.iter().zip(&self.lists.left).all(|(needed, left)| needed <= left)
    }

    pub fn is_done(&self) -> bool {
        self.txns_left == 0
    }

    pub fn into_events(self) -> Vec<Point> {
        self.events.into_iter().map(|(_, event)| event).collect()
    }

    pub fn depth(&self) -> usize {
        self.events.len()
    }

    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// All that the future depends on: how far the sessions and the lists are, and the current
    /// versions that will be read.
    pub fn snapshot(&self) -> Box<[u32]> {
        let sessions = self
            .committed
            .iter()
            .zip(&self.begun)
            .map(|(&committed, &begun)| committed << 1 | u32::from(begun));
        let live =
            self.current.iter().copied().filter(|&version| self.pending[version.index()] > 0);
        sessions
            .chain(self.lists.progress.iter().copied())
            .chain(live.map(|version| version.0))
            .collect()
    }

    /// The transaction of a session that has begun, or is to begin next.
    pub fn next_txn(&self, session: SessionId) -> Option<&'a Txn> {
        self.problem.sessions[session.index()].get(self.committed[session.index()] as usize)
    }

    pub fn has_begun(&self, session: SessionId) -> bool {
        self.begun[session.index()]
    }

    /// Whether the session's next transaction, which has not begun, reads the current versions, and
    /// may write.
    pub fn can_begin(&self, session: SessionId) -> bool {
        let Some(txn) = self.next_txn(session).filter(|_| !self.has_begun(session)) else {
            return false;
        };
        txn.reads.iter().all(|read| self.is_current(*read))
            && !txn.writes.iter().any(|write| self.locked[write.key.index()])
    }

    fn is_current(&self, read: ReadOf) -> bool {
        read.versions().any(|version| self.current[read.key.index()] == version)
    }

    /// Whether one of the versions that the session's next transaction reads now could be read
    /// later as well.
    pub fn reads_what_can_return(&self, session: SessionId) -> bool {
        let can_return = |read: &ReadOf| {
            let current = self.current[read.key.index()];
            read.only().is_none() || self.writers_left[current.index()] > 0
        };
        self.next_txn(session).is_some_and(|txn| txn.reads.iter().any(can_return))
    }

    /// Whether the next transaction of `reader` must begin before that of `writer` commits: it
    /// reads a version that is lost then.
    pub fn must_read_before(&self, reader: SessionId, writer: SessionId) -> bool {
        let (Some(reader), Some(writer)) = (self.next_txn(reader), self.next_txn(writer)) else {
            return false;
        };
        reader.reads.iter().any(|read| {
            let lost = |write: &WriteOf| write.key == read.key && self.loses(write) == read.only();
            read.only().is_some() && writer.writes.iter().any(lost)
        })
    }

    /// The version that `write` replaces for good.
    fn loses(&self, write: &WriteOf) -> Option<Version> {
        let current = self.current[write.key.index()];
        (current != write.version && self.writers_left[current.index()] == 0).then_some(current)
    }

    /// Whether a commit of the session's next transaction, which has begun or can begin, can come
    /// first in any solution from here: what it replaces is not read any more, and no later writer
    /// of the key wants to come before it.
    pub fn disturbs_nobody(&self, session: SessionId) -> bool {
        let Some(txn) = self.next_txn(session) else { return false };
        let keeps_others_out = self.locking && self.has_begun(session);
        txn.writes.iter().all(|write| {
            let current = self.current[write.key.index()];
            let own = |read: &&ReadOf| read.versions().any(|version| version == current);
            let own_reads = if self.has_begun(session) {
                0
            } else {
                txn.reads.iter().filter(own).count() as u32
            };
            let unread = current == write.version || self.pending[current.index()] == own_reads;
            let last_writer = self.key_writers_left[write.key.index()] == 1;
            let never_read =
                self.pending[write.version.index()] == 0 && !self.lists.is_list(write.key);
            unread && (keeps_others_out || last_writer || never_read)
        })
    }

    pub fn earliest_ends(&self) -> EarliestEnds {
        let mut ends = EarliestEnds { first: i64::MAX, session: None, second: i64::MAX };
        for (session, &committed) in self.committed.iter().enumerate() {
            let end = self.earliest_end[session][committed as usize];
            if end < ends.first {
                let session = Some(SessionId::from(session));
                ends = EarliestEnds { first: end, session, second: ends.first };
            } else {
                ends.second = ends.second.min(end);
            }
        }
        ends
    }

    /// Whether no other transaction that is still to come ended before the session's next
    /// transaction began.
    pub fn began_before(&self, session: SessionId, ends: EarliestEnds) -> bool {
        let Some(txn) = self.next_txn(session) else { return false };
        let elsewhere = if ends.session == Some(session) { ends.second } else { ends.first };
        let later =
            self.earliest_end[session.index()][self.committed[session.index()] as usize + 1];
        txn.times.0 <= elsewhere.min(later)
    }

    pub fn begin(&mut self, session: SessionId) {
        let Some(txn) = self.next_txn(session) else { return };
        debug_assert!(self.can_begin(session));
        self.events.push((session, Point::Begin(txn.id)));
        self.flip_session(session);
        self.begun[session.index()] = true;
        self.flip_session(session);
        for read in &txn.reads {
            for version in read.versions() {
                self.flip_if_current(version);
                self.pending[version.index()] -= 1;
                self.flip_if_current(version);
            }
            read.only().into_iter().for_each(|version| self.pending_only[version.index()] -= 1);
        }
        self.set_locks(txn, self.locking);
    }

    fn unbegin(&mut self, session: SessionId) {
        let Some(txn) = self.next_txn(session) else { return };
        self.flip_session(session);
        self.begun[session.index()] = false;
        self.flip_session(session);
        for read in &txn.reads {
            for version in read.versions() {
                self.flip_if_current(version);
                self.pending[version.index()] += 1;
                self.flip_if_current(version);
            }
            read.only().into_iter().for_each(|version| self.pending_only[version.index()] += 1);
        }
        self.set_locks(txn, false);
    }

    fn set_locks(&mut self, txn: &Txn, locked: bool) {
        for write in &txn.writes {
            self.locked[write.key.index()] = locked;
        }
    }

    /// Commits the session's transaction, which has begun; `false` if nothing good can come of it.
    pub fn commit(&mut self, session: SessionId) -> bool {
        let Some(txn) = self.next_txn(session) else { return false };
        debug_assert!(self.has_begun(session));
        let wanted = |version: Version| self.pending_only[version.index()] > 0;
        let mut fine = !txn.writes.iter().any(|write| self.loses(write).is_some_and(wanted));
        self.events.push((session, Point::Commit(txn.id)));
        for write in &txn.writes {
            self.replaced.push(self.current[write.key.index()]);
            self.set_current(write.key, write.version);
            self.writers_left[write.version.index()] -= 1;
            self.key_writers_left[write.key.index()] -= 1;
        }
        for &element in &txn.appends {
            let (list, before) = self.lists.progress_of(element);
            fine &= self.lists.append(element);
            self.flip_progress(list, before);
            self.flip_progress(list, self.lists.progress[list.index()]);
            self.progress_before.push(before);
        }
        self.set_locks(txn, false);
        self.flip_session(session);
        self.begun[session.index()] = false;
        self.committed[session.index()] += 1;
        self.flip_session(session);
        self.txns_left -= 1;
        fine
    }

    fn uncommit(&mut self, session: SessionId) {
        self.flip_session(session);
        self.begun[session.index()] = true;
        self.committed[session.index()] -= 1;
        self.flip_session(session);
        self.txns_left += 1;
        let Some(txn) = self.next_txn(session) else { return };
        self.set_locks(txn, self.locking);
        for &element in txn.appends.iter().rev() {
            let (list, after) = self.lists.progress_of(element);
            let before = self.progress_before.pop().unwrap_or(after);
            self.lists.take_back(element, before);
            self.flip_progress(list, after);
            self.flip_progress(list, before);
        }
        for write in txn.writes.iter().rev() {
            self.writers_left[write.version.index()] += 1;
            self.key_writers_left[write.key.index()] += 1;
            let before = self.replaced.pop().unwrap_or(write.version);
            self.set_current(write.key, before);
        }
    }

    /// Takes events back until `depth` are left.
    pub fn undo_to(&mut self, depth: usize) {
        while self.events.len() > depth {
            match self.events.pop() {
                Some((session, Point::Begin(_))) => self.unbegin(session),
                Some((session, Point::Commit(_))) => self.uncommit(session),
                None => return,
            }
        }
    }

    fn set_current(&mut self, key: Key, version: Version) {
        self.flip_if_current(self.current[key.index()]);
        self.current[key.index()] = version;
        self.flip_if_current(version);
    }

    /// Puts a version into the hash, or takes it out, if it is current and will be read.
    fn flip_if_current(&mut self, version: Version) {
        let key = self.problem.version_key[version.index()];
        if self.current[key.index()] == version && self.pending[version.index()] > 0 {
            self.hash ^= scatter(0, version.0, 0);
        }
    }

    fn flip_session(&mut self, session: SessionId) {
        let place = self.committed[session.index()] << 1 | u32::from(self.begun[session.index()]);
        self.hash ^= scatter(1, session.0, place);
    }

    fn flip_progress(&mut self, list: ListNumber, progress: u32) {
        self.hash ^= scatter(2, list.0, progress);
    }
}

/// How much of each list has been appended. Until a list is complete each append to its key is its
/// next element.
struct Lists<'a> {
    lists: &'a [List],
    element_list: &'a [ListNumber],
    key_has_list: Vec<bool>,
    progress: Vec<u32>,
    /// For each element: appends to come, and how often the rest of the list has it.
    left: Vec<u32>,
    needed: Vec<u32>,
}

impl<'a> Lists<'a> {
    fn new(problem: &'a Problem) -> Lists<'a> {
        let mut key_has_list = vec![false; problem.key_count];
        let mut left = vec![0; problem.element_list.len()];
        let mut needed = vec![0; problem.element_list.len()];
        for list in &problem.lists {
            key_has_list[list.key.index()] = true;
            list.elements.iter().for_each(|&element| needed[element.index()] += 1);
        }
        problem.txns().flat_map(|txn| &txn.appends).for_each(|&element| left[element.index()] += 1);
        let progress = vec![0; problem.lists.len()];
        Lists {
            lists: &problem.lists,
            element_list: &problem.element_list,
            key_has_list,
            progress,
            left,
            needed,
        }
    }

    fn is_list(&self, key: Key) -> bool {
        self.key_has_list[key.index()]
    }

    fn progress_of(&self, element: Element) -> (ListNumber, u32) {
        let list = self.element_list[element.index()];
        (list, self.progress[list.index()])
    }

    fn append(&mut self, element: Element) -> bool {
        let (list, progress) = self.progress_of(element);
        self.left[element.index()] -= 1;
        let next = self.lists[list.index()].elements.get(progress as usize);
        if next == Some(&element) {
            self.progress[list.index()] += 1;
            self.needed[element.index()] -= 1;
        }
        next.is_none_or(|&next| next == element)
    }

    fn take_back(&mut self, element: Element, progress_before: u32) {
        let (list, progress) = self.progress_of(element);
        self.left[element.index()] += 1;
        self.needed[element.index()] += progress - progress_before;
        self.progress[list.index()] = progress_before;
    }
}

/// For each place in a session the earliest end from there on; none ends after the last.
fn earliest_ends(txns: &[Txn]) -> Vec<i64> {
    let mut ends = vec![i64::MAX; txns.len() + 2];
    for (place, txn) in txns.iter().enumerate().rev() {
        ends[place] = ends[place + 1].min(txn.times.1);
    }
    ends
}

/// A number of 128 bits that looks random: two rounds of the finalizer of splitmix64.
fn scatter(tag: u64, a: u32, b: u32) -> u128 {
    let seed = u64::from(a) << 32 | u64::from(b);
    let mix = |start: u64| {
        let mut z = start.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let low = mix(mix(seed) ^ tag);
    let high = mix(mix(seed ^ 0xA5A5_A5A5_A5A5_A5A5).wrapping_add(tag));
    u128::from(high) << 64 | u128::from(low)
}
