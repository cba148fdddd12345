//! What a store would hold at a frontier, with undo, and with a hash that follows every change.

use super::problem::{List, NONE, Problem, ReadOf, Txn, WriteOf};
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
    current: Vec<u32>,
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
    events: Vec<(u32, Point)>,
    /// Versions that commits replaced, and whether their appends were the next of their list.
    replaced: Vec<u32>,
    /// For each session and transaction the earliest end from there on.
    earliest_end: Vec<Vec<i64>>,
}

/// The earliest ends over all sessions: the smallest, in which session, and the smallest elsewhere.
#[derive(Clone, Copy)]
pub(super) struct EarliestEnds {
    first: i64,
    session: u32,
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
            current: (0..problem.key_count as u32).collect(),
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
            earliest_end: problem.sessions.iter().map(|txns| earliest_ends(txns)).collect(),
        };
        for txn in problem.txns() {
            store.count(txn);
        }
        store
    }

    fn count(&mut self, txn: &Txn) {
        for read in &txn.reads {
            read.versions().for_each(|version| self.pending[version as usize] += 1);
            read.only().into_iter().for_each(|version| self.pending_only[version as usize] += 1);
        }
        for write in &txn.writes {
            self.writers_left[write.version as usize] += 1;
            self.key_writers_left[write.key as usize] += 1;
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
            self.current.iter().copied().filter(|&version| self.pending[version as usize] > 0);
        sessions.chain(self.lists.progress.iter().copied()).chain(live).collect()
    }

    /// The transaction of a session that has begun, or is to begin next.
    pub fn next_txn(&self, session: u32) -> Option<&'a Txn> {
        self.problem.sessions[session as usize].get(self.committed[session as usize] as usize)
    }

    pub fn has_begun(&self, session: u32) -> bool {
        self.begun[session as usize]
    }

    /// Whether the session's next transaction, which has not begun, reads the current versions, and
    /// may write.
    pub fn can_begin(&self, session: u32) -> bool {
        let Some(txn) = self.next_txn(session).filter(|_| !self.has_begun(session)) else {
            return false;
        };
        txn.reads.iter().all(|read| self.is_current(*read))
            && !txn.writes.iter().any(|write| self.locked[write.key as usize])
    }

    fn is_current(&self, read: ReadOf) -> bool {
        read.versions().any(|version| self.current[read.key as usize] == version)
    }

    /// Whether one of the versions that the session's next transaction reads now could be read
    /// later as well.
    pub fn reads_what_can_return(&self, session: u32) -> bool {
        let can_return = |read: &ReadOf| {
            let current = self.current[read.key as usize];
            read.only().is_none() || self.writers_left[current as usize] > 0
        };
        self.next_txn(session).is_some_and(|txn| txn.reads.iter().any(can_return))
    }

    /// Whether the next transaction of `reader` must begin before that of `writer` commits: it
    /// reads a version that is lost then.
    pub fn must_read_before(&self, reader: u32, writer: u32) -> bool {
        let (Some(reader), Some(writer)) = (self.next_txn(reader), self.next_txn(writer)) else {
            return false;
        };
        reader.reads.iter().any(|read| {
            let lost = |write: &WriteOf| write.key == read.key && self.loses(write) == read.only();
            read.only().is_some() && writer.writes.iter().any(lost)
        })
    }

    /// The version that `write` replaces for good.
    fn loses(&self, write: &WriteOf) -> Option<u32> {
        let current = self.current[write.key as usize];
        (current != write.version && self.writers_left[current as usize] == 0).then_some(current)
    }

    /// Whether a commit of the session's next transaction, which has begun or can begin, can come
    /// first in any solution from here: what it replaces is not read any more, and no later writer
    /// of the key wants to come before it.
    pub fn disturbs_nobody(&self, session: u32) -> bool {
        let Some(txn) = self.next_txn(session) else { return false };
        let keeps_others_out = self.locking && self.has_begun(session);
        txn.writes.iter().all(|write| {
            let current = self.current[write.key as usize];
            let own = |read: &&ReadOf| read.versions().any(|version| version == current);
            let own_reads = if self.has_begun(session) {
                0
            } else {
                txn.reads.iter().filter(own).count() as u32
            };
            let unread = current == write.version || self.pending[current as usize] == own_reads;
            let last_writer = self.key_writers_left[write.key as usize] == 1;
            let never_read =
                self.pending[write.version as usize] == 0 && !self.lists.is_list(write.key);
            unread && (keeps_others_out || last_writer || never_read)
        })
    }

    pub fn earliest_ends(&self) -> EarliestEnds {
        let mut ends = EarliestEnds { first: i64::MAX, session: NONE, second: i64::MAX };
        for (session, &committed) in self.committed.iter().enumerate() {
            let end = self.earliest_end[session][committed as usize];
            if end < ends.first {
                ends = EarliestEnds { first: end, session: session as u32, second: ends.first };
            } else {
                ends.second = ends.second.min(end);
            }
        }
        ends
    }

    /// Whether no other transaction that is still to come ended before the session's next
    /// transaction began.
    pub fn began_before(&self, session: u32, ends: EarliestEnds) -> bool {
        let Some(txn) = self.next_txn(session) else { return false };
        let elsewhere = if ends.session == session { ends.second } else { ends.first };
        let later =
            self.earliest_end[session as usize][self.committed[session as usize] as usize + 1];
        txn.times.0 <= elsewhere.min(later)
    }

    pub fn begin(&mut self, session: u32) {
        let Some(txn) = self.next_txn(session) else { return };
        debug_assert!(self.can_begin(session));
        self.events.push((session, Point::Begin(txn.id)));
        self.flip_session(session);
        self.begun[session as usize] = true;
        self.flip_session(session);
        for read in &txn.reads {
            for version in read.versions() {
                self.flip_if_current(version);
                self.pending[version as usize] -= 1;
                self.flip_if_current(version);
            }
            read.only().into_iter().for_each(|version| self.pending_only[version as usize] -= 1);
        }
        self.set_locks(txn, self.locking);
    }

    fn unbegin(&mut self, session: u32) {
        let Some(txn) = self.next_txn(session) else { return };
        self.flip_session(session);
        self.begun[session as usize] = false;
        self.flip_session(session);
        for read in &txn.reads {
            for version in read.versions() {
                self.flip_if_current(version);
                self.pending[version as usize] += 1;
                self.flip_if_current(version);
            }
            read.only().into_iter().for_each(|version| self.pending_only[version as usize] += 1);
        }
        self.set_locks(txn, false);
    }

    fn set_locks(&mut self, txn: &Txn, locked: bool) {
        for write in &txn.writes {
            self.locked[write.key as usize] = locked;
        }
    }

    /// Commits the session's transaction, which has begun; `false` if nothing good can come of it.
    pub fn commit(&mut self, session: u32) -> bool {
        let Some(txn) = self.next_txn(session) else { return false };
        debug_assert!(self.has_begun(session));
        let wanted = |version: u32| self.pending_only[version as usize] > 0;
        let mut fine = !txn.writes.iter().any(|write| self.loses(write).is_some_and(wanted));
        self.events.push((session, Point::Commit(txn.id)));
        for write in &txn.writes {
            self.replaced.push(self.current[write.key as usize]);
            self.set_current(write.key, write.version);
            self.writers_left[write.version as usize] -= 1;
            self.key_writers_left[write.key as usize] -= 1;
        }
        for &element in &txn.appends {
            let (list, before) = self.lists.progress_of(element);
            fine &= self.lists.append(element);
            self.flip_progress(list, before);
            self.flip_progress(list, self.lists.progress[list as usize]);
            self.replaced.push(before);
        }
        self.set_locks(txn, false);
        self.flip_session(session);
        self.begun[session as usize] = false;
        self.committed[session as usize] += 1;
        self.flip_session(session);
        self.txns_left -= 1;
        fine
    }

    fn uncommit(&mut self, session: u32) {
        self.flip_session(session);
        self.begun[session as usize] = true;
        self.committed[session as usize] -= 1;
        self.flip_session(session);
        self.txns_left += 1;
        let Some(txn) = self.next_txn(session) else { return };
        self.set_locks(txn, self.locking);
        for &element in txn.appends.iter().rev() {
            let (list, after) = self.lists.progress_of(element);
            let before = self.replaced.pop().unwrap_or(after);
            self.lists.take_back(element, before);
            self.flip_progress(list, after);
            self.flip_progress(list, before);
        }
        for write in txn.writes.iter().rev() {
            self.writers_left[write.version as usize] += 1;
            self.key_writers_left[write.key as usize] += 1;
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

    fn set_current(&mut self, key: u32, version: u32) {
        self.flip_if_current(self.current[key as usize]);
        self.current[key as usize] = version;
        self.flip_if_current(version);
    }

    /// Puts a version into the hash, or takes it out, if it is current and will be read.
    fn flip_if_current(&mut self, version: u32) {
        let key = self.problem.version_key[version as usize];
        if self.current[key as usize] == version && self.pending[version as usize] > 0 {
            self.hash ^= scatter(0, version, 0);
        }
    }

    fn flip_session(&mut self, session: u32) {
        let place = self.committed[session as usize] << 1 | u32::from(self.begun[session as usize]);
        self.hash ^= scatter(1, session, place);
    }

    fn flip_progress(&mut self, list: u32, progress: u32) {
        self.hash ^= scatter(2, list, progress);
    }
}

/// How much of each list has been appended. Until a list is complete each append to its key is its
/// next element.
struct Lists<'a> {
    lists: &'a [List],
    element_list: &'a [u32],
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
            key_has_list[list.key as usize] = true;
            list.elements.iter().for_each(|&element| needed[element as usize] += 1);
        }
        problem
            .txns()
            .flat_map(|txn| &txn.appends)
            .for_each(|&element| left[element as usize] += 1);
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

    fn is_list(&self, key: u32) -> bool {
        self.key_has_list[key as usize]
    }

    fn progress_of(&self, element: u32) -> (u32, u32) {
        let list = self.element_list[element as usize];
        (list, self.progress[list as usize])
    }

    fn append(&mut self, element: u32) -> bool {
        let (list, progress) = self.progress_of(element);
        self.left[element as usize] -= 1;
        let next = self.lists[list as usize].elements.get(progress as usize);
        if next == Some(&element) {
            self.progress[list as usize] += 1;
            self.needed[element as usize] -= 1;
        }
        next.is_none_or(|&next| next == element)
    }

    fn take_back(&mut self, element: u32, progress_before: u32) {
        let (list, progress) = self.progress_of(element);
        self.left[element as usize] += 1;
        self.needed[element as usize] += progress - progress_before;
        self.progress[list as usize] = progress_before;
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
