//! A store that keeps exactly what its level promises.
//!
//! Transactions commit one after the other; the sequence of commits is the commit order that shows
//! the history valid. What differs is which versions a transaction may read:
//!
//! - *serializable*: the newest version of each key;
//! - *snapshot*: the newest as of a point in the sequence, no older than the session's last commit;
//!   a transaction that wants to overwrite something newer aborts and its session goes on;
//! - *causal*: what the session has heard of. Before each transaction it hears all that one other
//!   session knows (gossip), so what it knows is closed under causality; of what it knows it reads
//!   the newest version;
//! - *read atomic*: any old version, unless a transaction that it has read from, or an earlier one
//!   of its session, wrote a newer one; and unless reading it would make an earlier read too old;
//! - *read committed*: any old version, unless a transaction that it has read from before wrote a
//!   newer one.
//!
//! Without sessions a transaction is run as if it were of any session. With real time it begins
//! somewhere between the last commit of its session and now, and sees all that had been committed
//! when it began.
//!
//! In each case every version that the axiom's t2 could have is older in the sequence than what is
//! read: the axiom holds.

use crate::keys::Keys;
use crate::workload::{Workload, WorkloadError};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rustc_hash::FxHashMap;
use seriatim_history::{Columns, KeyId, KeyNames, OpKind, Places, Status, Value};
use seriatim_isolation::{Level, Order};

/// How far back, in versions of a key, the weak stores look for a version to read.
const STALENESS_MAX: usize = 4;
/// How far back, in commits, a snapshot may lie: this many for each session.
const SNAPSHOT_AGE_PER_SESSION: u32 = 2;

/// One version of a key.
#[derive(Clone, Copy)]
struct Version {
    /// Its writer's place in the sequence of commits.
    commit: u32,
    session: u32,
    value: u32,
}

/// The initial version, older than all others.
const INITIAL: Version = Version { commit: 0, session: 0, value: 0 };

struct Store<'w> {
    workload: &'w Workload,
    versions: Vec<Vec<Version>>,
    /// The keys written by each commit (from 1), in CSR form; read atomic and read committed look
    /// them up.
    written_start: Vec<u32>,
    written: Vec<u32>,
    next_value: Vec<u32>,
    /// Per session: its last commit.
    last_commit: Vec<u32>,
    /// Per session: for each session the last commit that it has heard of (causal only).
    heard: Vec<Vec<u32>>,
    /// Per session: the last commit that wrote each key (read atomic only).
    own_writes: Vec<FxHashMap<u32, u32>>,
    /// Per session: how many commits there were when its last transaction ended.
    last_end: Vec<u32>,
    /// Begin and end of each transaction (real time only).
    times: Vec<(i64, i64)>,
}

/// What a running transaction has done.
#[derive(Default)]
struct Running {
    session: u32,
    snapshot: u32,
    /// How many commits there were when it began; 0 unless real time counts.
    began: u32,
    /// Keys written so far, with their latest value.
    writes: Vec<(u32, u32)>,
    /// External reads so far: key and commit of the version.
    reads: Vec<(u32, u32)>,
}

/// The operations of all transactions, in the order of commits.
pub(crate) fn simulate(
    workload: &Workload,
    random: &mut Pcg64Mcg,
) -> Result<Columns, WorkloadError> {
    let keys = Keys::new(workload.key_choice, workload.keys);
    let mut store = Store::new(workload);
    let mut columns = empty_columns(workload);
    let mut waiting: Vec<(u32, u32)> =
        (0..workload.sessions).map(|s| (s, workload.txns_per_session)).collect();
    waiting.retain(|&(_, left)| left > 0);
    while !waiting.is_empty() {
        let pick = random.random_range(0..waiting.len());
        store.run_txn(waiting[pick].0, &keys, random, &mut columns);
        waiting[pick].1 -= 1;
        if waiting[pick].1 == 0 {
            waiting.swap_remove(pick);
        }
    }
    if workload.order == Order::RealTime {
        columns.txn_times = Some(store.times);
    }
    Ok(columns)
}

fn empty_columns(workload: &Workload) -> Columns {
    let operations = workload.operations() as usize;
    let mut columns = Columns {
        session_count: workload.sessions,
        key_names: KeyNames::Numbers { count: workload.keys },
        op_places: Places::None,
        ..Columns::default()
    };
    columns.initial.default = Value::small(0);
    columns.initial.yields_to_writes = true;
    columns.op_kind.reserve_exact(operations);
    columns.op_key.reserve_exact(operations);
    columns.op_value.reserve_exact(operations);
    columns.op_txn.reserve_exact(operations);
    columns
}

impl<'w> Store<'w> {
    fn new(workload: &'w Workload) -> Store<'w> {
        let sessions = workload.sessions as usize;
        let causal = workload.level == Level::Causal;
        Store {
            workload,
            versions: vec![Vec::new(); workload.keys as usize],
            written_start: vec![0, 0],
            written: Vec::new(),
            next_value: vec![1; workload.keys as usize],
            last_commit: vec![0; sessions],
            heard: if causal { vec![vec![0; sessions]; sessions] } else { Vec::new() },
            own_writes: vec![FxHashMap::default(); sessions],
            last_end: vec![0; sessions],
            times: Vec::new(),
        }
    }

    /// The number of the last commit; commit 0 is the initial transaction.
    fn commits(&self) -> u32 {
        self.written_start.len() as u32 - 2
    }

    fn run_txn(&mut self, session: u32, keys: &Keys, random: &mut Pcg64Mcg, columns: &mut Columns) {
        let node = match self.workload.order {
            Order::None => random.random_range(0..self.workload.sessions),
            Order::Sessions | Order::RealTime => session,
        };
        let mut running = self.begin(node, random);
        let began = running.began;
        let txn = columns.push_txn(session, Status::Committed);
        for _ in 0..self.workload.ops_per_txn {
            let key = keys.draw(random);
            if random.random_bool(self.workload.reads) {
                let value = self.read(&mut running, key, random);
                columns.push_op(txn, OpKind::Read, KeyId(key), small(value));
            } else {
                let value = self.next_value[key as usize];
                self.next_value[key as usize] += 1;
                running.writes.retain(|write| write.0 != key);
                running.writes.push((key, value));
                columns.push_op(txn, OpKind::Write, KeyId(key), small(value));
            }
        }
        if self.conflicts(&running) || random.random_bool(self.workload.aborts) {
            self.abort(txn, columns);
        } else {
            self.commit(running);
        }
        if self.workload.order == Order::RealTime {
            self.end(session, began, columns.txns.len());
        }
    }

    /// Notes the times of the last transaction, if it is one of the `kept` ones. Time passes by
    /// commits: what began after n of them did so between the ends of the n-th and the next one.
    fn end(&mut self, session: u32, began: u32, kept: usize) {
        let now = self.commits();
        self.last_end[session as usize] = now;
        if self.times.len() < kept {
            let begin = 4 * i64::from(began) + 2;
            self.times.push((begin, begin.max(4 * i64::from(now) + 1)));
        }
    }

    /// Marks the last transaction, or takes it away.
    fn abort(&self, txn: u32, columns: &mut Columns) {
        if !self.workload.committed_only {
            columns.txns[txn as usize].status = Status::Aborted;
            return;
        }
        let before = columns.op_kind.len() - self.workload.ops_per_txn as usize;
        columns.op_kind.truncate(before);
        columns.op_key.truncate(before);
        columns.op_value.truncate(before);
        columns.op_txn.truncate(before);
        columns.txns.truncate(txn as usize);
    }

    fn begin(&mut self, session: u32, random: &mut Pcg64Mcg) -> Running {
        let mut running = Running { session, ..Running::default() };
        if self.workload.order == Order::RealTime {
            let age = random.random_range(0..=SNAPSHOT_AGE_PER_SESSION * self.workload.sessions);
            let earliest = self.last_end[session as usize];
            running.began = self.commits().saturating_sub(age).max(earliest);
        }
        match self.workload.level {
            Level::SnapshotIsolation if self.workload.order == Order::RealTime => {
                running.snapshot = running.began;
            }
            Level::SnapshotIsolation => {
                let age =
                    random.random_range(0..=SNAPSHOT_AGE_PER_SESSION * self.workload.sessions);
                running.snapshot =
                    self.commits().saturating_sub(age).max(self.last_commit[session as usize]);
            }
            Level::Causal => {
                self.gossip(session, random);
                for heard in &mut self.heard[session as usize] {
                    *heard = (*heard).max(running.began);
                }
            }
            _ => {}
        }
        running
    }

    /// `session` hears all that another session knows.
    fn gossip(&mut self, session: u32, random: &mut Pcg64Mcg) {
        let other = random.random_range(0..self.workload.sessions) as usize;
        if other == session as usize {
            return;
        }
        let theirs = std::mem::take(&mut self.heard[other]);
        for (mine, theirs) in self.heard[session as usize].iter_mut().zip(&theirs) {
            *mine = (*mine).max(*theirs);
        }
        self.heard[other] = theirs;
    }

    fn read(&self, running: &mut Running, key: u32, random: &mut Pcg64Mcg) -> u32 {
        if let Some(&(_, value)) = running.writes.iter().find(|write| write.0 == key) {
            return value;
        }
        let version = self.choose(running, key, random);
        running.reads.push((key, version.commit));
        version.value
    }

    fn choose(&self, running: &Running, key: u32, random: &mut Pcg64Mcg) -> Version {
        let versions = &self.versions[key as usize];
        let newest = |visible: &dyn Fn(&Version) -> bool| {
            versions.iter().rev().find(|v| visible(v)).copied()
        };
        match self.workload.level {
            Level::Serializable => newest(&|_| true).unwrap_or(INITIAL),
            Level::SnapshotIsolation => {
                newest(&|version| version.commit <= running.snapshot).unwrap_or(INITIAL)
            }
            Level::Causal => {
                let heard = &self.heard[running.session as usize];
                newest(&|version| version.commit <= heard[version.session as usize])
                    .unwrap_or(INITIAL)
            }
            // Read committed and read atomic: `Workload::validate` lets no other level through.
            _ => self.choose_stale(running, key, random),
        }
    }

    /// A random recent version that the axiom allows. The oldest allowed one is what the reader has
    /// to see: reading that adds no new obligation.
    fn choose_stale(&self, running: &Running, key: u32, random: &mut Pcg64Mcg) -> Version {
        let oldest = self.oldest_allowed(running, key);
        let versions = &self.versions[key as usize];
        let from = versions.partition_point(|version| version.commit < oldest);
        let candidates = &versions[from..];
        for _ in 0..STALENESS_MAX {
            let back = random.random_range(0..STALENESS_MAX);
            let Some(version) = candidates.len().checked_sub(back + 1).map(|i| candidates[i])
            else {
                continue;
            };
            if self.workload.level == Level::ReadCommitted
                || self.keeps_reads_atomic(running, version)
            {
                return version;
            }
        }
        if oldest == 0 { INITIAL } else { candidates[0] }
    }

    /// The newest version of `key` that the transaction already has to see.
    fn oldest_allowed(&self, running: &Running, key: u32) -> u32 {
        let seen = running
            .reads
            .iter()
            .map(|&(_, commit)| commit)
            .filter(|&commit| self.wrote(commit, key));
        let own = match self.workload.level {
            Level::ReadAtomic => self.own_writes[running.session as usize].get(&key).copied(),
            _ => None,
        };
        // A key that was read before gives the same version again at read atomic.
        let again = running.reads.iter().filter(|read| read.0 == key).map(|read| read.1);
        let versions = &self.versions[key as usize];
        let ended = versions.partition_point(|version| version.commit <= running.began);
        let ended = ended.checked_sub(1).map(|last| versions[last].commit);
        seen.chain(again).chain(own).chain(ended).max().unwrap_or(0)
    }

    /// Whether reading `version` leaves no earlier read behind: its writer wrote nothing newer than
    /// what was read.
    fn keeps_reads_atomic(&self, running: &Running, version: Version) -> bool {
        running
            .reads
            .iter()
            .all(|&(key, commit)| commit >= version.commit || !self.wrote(version.commit, key))
    }

    fn wrote(&self, commit: u32, key: u32) -> bool {
        let range = self.written_start[commit as usize] as usize
            ..self.written_start[commit as usize + 1] as usize;
        self.written[range].contains(&key)
    }

    /// First committer wins.
    fn conflicts(&self, running: &Running) -> bool {
        self.workload.level == Level::SnapshotIsolation
            && running.writes.iter().any(|&(key, _)| {
                self.versions[key as usize]
                    .last()
                    .is_some_and(|version| version.commit > running.snapshot)
            })
    }

    fn commit(&mut self, running: Running) {
        let commit = self.commits() + 1;
        let session = running.session;
        for &(key, value) in &running.writes {
            self.versions[key as usize].push(Version { commit, session, value });
            self.written.push(key);
            if self.workload.level == Level::ReadAtomic {
                self.own_writes[session as usize].insert(key, commit);
            }
        }
        self.written_start.push(self.written.len() as u32);
        self.last_commit[session as usize] = commit;
        if let Some(heard) = self.heard.get_mut(session as usize) {
            heard[session as usize] = commit;
        }
    }
}

fn small(value: u32) -> Value {
    // Every 32-bit number is a small integer.
    Value::small(u64::from(value)).unwrap_or(Value::NULL)
}
