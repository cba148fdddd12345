//! What a store would hold after some begin and commit points, with undo.

use super::tables::{Key, ReadOf, Tables, Transaction, Version};
use crate::certificate::Point;
use seriatim_isolation::{Guarantee, Level};

/// What may happen next in a session.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The next transaction begins.
    Begin(usize),
    /// The transaction that has begun commits.
    Commit(usize),
    /// The next transaction begins and commits at once.
    Whole(usize),
    /// The next transaction, whose outcome is not known, did not commit.
    Skip(usize),
}

/// A step that was taken, with what it replaced.
struct Taken {
    step: Step,
    /// Versions, in the order of the transaction's writes.
    versions: Vec<Version>,
    /// Lengths of lists, in the order of its appends.
    lengths: Vec<usize>,
    latest_begin: i64,
}

pub(super) struct Store<'t> {
    tables: &'t Tables,
    level: Level,
    in_real_time: bool,
    /// For each session how many of its transactions have committed or are left out.
    passed: Vec<usize>,
    /// For each session whether its next transaction has begun.
    begun: Vec<bool>,
    /// For each key its version.
    current: Vec<Version>,
    /// For each key how much of its longest list has been appended.
    lengths: Vec<usize>,
    /// The latest begin time of the transactions that have begun.
    latest_begin: i64,
    /// For each version the reads of transactions that have not begun which accept it, and those of
    /// transactions that must commit which accept no other.
    waiting: Vec<usize>,
    waiting_only: Vec<usize>,
    /// For each version, and for each key, the writers that have not been passed.
    version_writers: Vec<usize>,
    key_writers: Vec<usize>,
    taken: Vec<Taken>,
    points: Vec<Point>,
}

impl<'t> Store<'t> {
    pub fn new(tables: &'t Tables, asked: Guarantee) -> Store<'t> {
        let mut store = Store {
            tables,
            level: asked.level,
            in_real_time: asked.keeps_real_time(),
            passed: vec![0; tables.sessions.len()],
            begun: vec![false; tables.sessions.len()],
            current: (0..tables.key_count).collect(),
            lengths: vec![0; tables.key_count],
            latest_begin: i64::MIN,
            waiting: vec![0; tables.version_count],
            waiting_only: vec![0; tables.version_count],
            version_writers: vec![0; tables.version_count],
            key_writers: vec![0; tables.key_count],
            taken: Vec::new(),
            points: Vec::new(),
        };
        for txn in tables.sessions.iter().flatten() {
            store.expect_reads(txn);
            store.expect_writes(txn);
        }
        store
    }

    /// Everything has happened, and the lists are as they were read.
    pub fn is_done(&self) -> bool {
        let complete = |(key, length): (Key, &usize)| *length == self.tables.lists[key].len();
        self.sessions().all(|session| self.next(session).is_none())
            && self.lengths.iter().enumerate().all(complete)
    }

    pub fn into_points(self) -> Vec<Point> {
        self.points
    }

    /// All that the future depends on. A version that no read waits for is like any other.
    pub fn snapshot(&self) -> Box<[u32]> {
        let sessions = self
            .sessions()
            .map(|session| (self.passed[session] << 1 | usize::from(self.begun[session])) as u32);
        let versions = self
            .current
            .iter()
            .map(|&version| if self.waiting[version] > 0 { version as u32 } else { u32::MAX });
        let lengths = self.lengths.iter().map(|&length| length as u32);
        let time = self.latest_begin as u64;
        let time = [time as u32, (time >> 32) as u32];
        sessions.chain(versions).chain(lengths).chain(time).collect()
    }

    /// The steps to try: one, if it can come first in any solution from here.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for session in self.sessions() {
            let Some(txn) = self.next(session) else { continue };
            let step = match self.begun[session] {
                true => Some(Step::Commit(session)),
                false if !self.can_begin(txn) => None,
                false if self.is_serial() => Some(Step::Whole(session)),
                false => Some(Step::Begin(session)),
            };
            if let Some(step) = step.filter(|&step| self.is_harmless(txn, step)) {
                return vec![step];
            }
            steps.extend(step);
            if txn.is_optional && !self.begun[session] {
                steps.push(Step::Skip(session));
            }
        }
        steps
    }

    fn sessions(&self) -> std::ops::Range<usize> {
        0..self.tables.sessions.len()
    }

    fn is_serial(&self) -> bool {
        matches!(self.level, Level::Serializable | Level::StrictSerializable)
    }

    fn next(&self, session: usize) -> Option<&'t Transaction> {
        self.tables.sessions[session].get(self.passed[session])
    }

    /// Whether `txn` reads what is current, and may begin.
    fn can_begin(&self, txn: &Transaction) -> bool {
        let is_current = |read: &ReadOf| read.versions.contains(&self.current[read.key]);
        txn.reads.iter().all(is_current)
            && !(self.level == Level::SnapshotIsolation && self.is_kept_out(txn))
            && (!self.in_real_time || self.is_in_time(txn))
    }

    /// Whether another transaction that has begun writes a key that `txn` writes.
    fn is_kept_out(&self, txn: &Transaction) -> bool {
        let begun = self.sessions().filter(|&session| self.begun[session]);
        let others = begun.filter_map(|session| self.next(session));
        let mut keys = others.flat_map(|other| &other.writes).map(|(key, _)| key);
        keys.any(|key| txn.writes.iter().any(|(own, _)| own == key))
    }

    /// Whether no transaction before `txn` began after it had ended, and no transaction that must
    /// still come ended before `txn` began.
    fn is_in_time(&self, txn: &Transaction) -> bool {
        let to_come = self
            .sessions()
            .flat_map(|session| self.tables.sessions[session][self.passed[session]..].iter());
        let mut must_come = to_come.filter(|other| !other.is_optional && other.id != txn.id);
        txn.times.1 >= self.latest_begin && must_come.all(|other| other.times.1 >= txn.times.0)
    }

    /// Whether `step` of `txn` can come first in any solution from here.
    fn is_harmless(&self, txn: &Transaction, step: Step) -> bool {
        match step {
            // Whether it happens at all is a choice, and so it is before others that depend on
            // real time.
            Step::Begin(_) | Step::Whole(_) if txn.is_optional => false,
            _ if self.in_real_time && self.has_choices() => false,
            // A snapshot is not in the way, unless its writer keeps others out.
            Step::Begin(_) => self.level == Level::PrefixConsistency || txn.writes.is_empty(),
            Step::Commit(_) | Step::Whole(_) => {
                txn.writes.iter().all(|&write| self.is_harmless_write(txn, step, write))
            }
            Step::Skip(_) => false,
        }
    }

    fn has_choices(&self) -> bool {
        self.tables.sessions.iter().flatten().any(|txn| txn.is_optional)
    }

    /// No read waits for the version that is replaced, and no other write to the key has to come
    /// before: others are kept out, or there are none, or this version is overwritten unread.
    fn is_harmless_write(&self, txn: &Transaction, step: Step, write: (Key, Version)) -> bool {
        let (key, version) = write;
        let current = self.current[key];
        let own = match step {
            Step::Whole(_) => {
                txn.reads.iter().filter(|read| read.versions.contains(&current)).count()
            }
            _ => 0,
        };
        let is_unread = current == version || self.waiting[current] == own;
        let is_alone = self.level == Level::SnapshotIsolation || self.key_writers[key] == 1;
        let is_hidden = self.waiting[version] == 0 && self.tables.lists[key].is_empty();
        is_unread && (is_alone || is_hidden)
    }

    /// Takes a step, which [`Store::undo`] takes back; `false` if it leads to no solution.
    pub fn take(&mut self, step: Step) -> bool {
        let mut taken = Taken {
            step,
            versions: Vec::new(),
            lengths: Vec::new(),
            latest_begin: self.latest_begin,
        };
        let (Step::Begin(session)
        | Step::Commit(session)
        | Step::Whole(session)
        | Step::Skip(session)) = step;
        let Some(txn) = self.next(session) else { return false };
        let fits = match step {
            Step::Begin(_) => {
                self.begin(session, txn);
                true
            }
            Step::Commit(_) => self.commit(session, txn, &mut taken),
            Step::Whole(_) => {
                self.begin(session, txn);
                self.commit(session, txn, &mut taken)
            }
            Step::Skip(_) => {
                self.forget_reads(txn);
                self.forget_writes(txn);
                self.passed[session] += 1;
                true
            }
        };
        self.taken.push(taken);
        fits
    }

    fn begin(&mut self, session: usize, txn: &Transaction) {
        self.points.push(Point::Begin(txn.id));
        self.begun[session] = true;
        if self.in_real_time {
            self.latest_begin = self.latest_begin.max(txn.times.0);
        }
        self.forget_reads(txn);
    }

    fn commit(&mut self, session: usize, txn: &Transaction, taken: &mut Taken) -> bool {
        self.points.push(Point::Commit(txn.id));
        self.forget_writes(txn);
        let mut fits = true;
        for &(key, version) in &txn.writes {
            let replaced = std::mem::replace(&mut self.current[key], version);
            taken.versions.push(replaced);
            // The reads that wait for it would wait forever.
            let lost = replaced != version && self.version_writers[replaced] == 0;
            fits &= !(lost && self.waiting_only[replaced] > 0);
        }
        for &(key, value) in &txn.appends {
            taken.lengths.push(self.lengths[key]);
            let next = self.tables.lists[key].get(self.lengths[key]);
            // What is not in the list comes after all that is.
            fits &= next.is_none_or(|&next| next == value);
            self.lengths[key] += usize::from(next == Some(&value));
        }
        self.begun[session] = false;
        self.passed[session] += 1;
        fits && self.lists_can_be_completed(txn)
    }

    /// Whether the keys that `txn` appended to still have a writer to come if their lists are not
    /// complete.
    fn lists_can_be_completed(&self, txn: &Transaction) -> bool {
        txn.appends.iter().all(|&(key, _)| {
            self.lengths[key] == self.tables.lists[key].len() || self.key_writers[key] > 0
        })
    }

    /// Takes the last step back, if there is one.
    pub fn undo(&mut self) {
        let Some(taken) = self.taken.pop() else { return };
        match taken.step {
            Step::Begin(session) => self.unbegin(session),
            Step::Commit(session) => self.uncommit(session, &taken),
            Step::Whole(session) => {
                self.uncommit(session, &taken);
                self.unbegin(session);
            }
            Step::Skip(session) => {
                self.passed[session] -= 1;
                if let Some(txn) = self.next(session) {
                    self.expect_reads(txn);
                    self.expect_writes(txn);
                }
            }
        }
        self.latest_begin = taken.latest_begin;
    }

    fn unbegin(&mut self, session: usize) {
        self.points.pop();
        self.begun[session] = false;
        if let Some(txn) = self.next(session) {
            self.expect_reads(txn);
        }
    }

    fn uncommit(&mut self, session: usize, taken: &Taken) {
        self.points.pop();
        self.begun[session] = true;
        self.passed[session] -= 1;
        let Some(txn) = self.next(session) else { return };
        for (&(key, _), &length) in txn.appends.iter().zip(&taken.lengths).rev() {
            self.lengths[key] = length;
        }
        for (&(key, _), &version) in txn.writes.iter().zip(&taken.versions).rev() {
            self.current[key] = version;
        }
        self.expect_writes(txn);
    }

    fn expect_reads(&mut self, txn: &Transaction) {
        for read in &txn.reads {
            read.versions.iter().for_each(|&version| self.waiting[version] += 1);
            if let Some(only) = read.only().filter(|_| !txn.is_optional) {
                self.waiting_only[only] += 1;
            }
        }
    }

    fn forget_reads(&mut self, txn: &Transaction) {
        for read in &txn.reads {
            read.versions.iter().for_each(|&version| self.waiting[version] -= 1);
            if let Some(only) = read.only().filter(|_| !txn.is_optional) {
                self.waiting_only[only] -= 1;
            }
        }
    }

    fn expect_writes(&mut self, txn: &Transaction) {
        for &(key, version) in &txn.writes {
            self.version_writers[version] += 1;
            self.key_writers[key] += 1;
        }
    }

    fn forget_writes(&mut self, txn: &Transaction) {
        for &(key, version) in &txn.writes {
            self.version_writers[version] -= 1;
            self.key_writers[key] -= 1;
        }
    }
}
