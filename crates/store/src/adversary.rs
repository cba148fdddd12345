//! Picks versions so that things go wrong.
//!
//! A history is unserializable if session order, reads and overwrites close a cycle. Reading a version that somebody has overwritten
//! puts the reader before whoever overwrote it; if that one must also come before the reader, the cycle is closed. So a version that
//! closes one is taken if there is any. So is one that will close it as soon as the transaction writes the key, if those who read
//! this key usually write it: that is a lost update. If there is none, a session that has neither seen anything of the others nor
//! written anything reads what is new, and any other session reads what is old: the first puts somebody before the reader, the second
//! puts the reader before somebody, and a cycle needs both. Chance decides the rest, and everything once the history is unserializable, with a preference for what no
//! earlier run has done at this point.

use crate::chooser::{Chooser, Ended, PendingRead, TxnName};
use crate::log::{Log, State};
use crate::schedule::Schedule;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many transactions a search for a cycle looks at.
const REACH_MAX: usize = 1000;
/// How often chance decides although a cycle could be closed: some assertions break only in runs that look harmless first.
const WHIM: f64 = 0.1;
/// The same once the history is unserializable: what breaks the assertion may be something else.
const WHIM_WHEN_BROKEN: f64 = 0.5;

/// What is known from all runs so far.
#[derive(Default, Debug)]
struct Memory {
    /// What was done at which point of a run, as hashes.
    done: FxHashSet<u64>,
    /// For each transaction whether it wrote something when it last ran.
    writes: FxHashMap<TxnName, bool>,
    /// For each transaction and key how often it read the key, and how often it wrote it then: programs do the same again.
    updates: FxHashMap<(TxnName, Box<str>), (u32, u32)>,
}

/// Makes a chooser for each run; all of them share what they have seen.
#[derive(Clone, Debug)]
pub struct Adversary {
    memory: Arc<Mutex<Memory>>,
    seed: u64,
}

impl Adversary {
    /// An adversary without experience.
    pub fn new(seed: u64) -> Adversary {
        Adversary { memory: Arc::default(), seed }
    }

    /// What to do in run number `run`.
    pub fn run(&self, run: u64) -> Plot {
        let seed = self.seed ^ run.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let ended: Arc<Mutex<FxHashMap<u32, u32>>> = Arc::default();
        Plot {
            schedule: writers_first(Arc::clone(&self.memory), Arc::clone(&ended), seed),
            chooser: Box::new(Opponent {
                memory: Arc::clone(&self.memory),
                random: Pcg64Mcg::seed_from_u64(seed),
                context: 0,
                last_read: FxHashMap::default(),
                ended,
                broken: false,
            }),
        }
    }
}

/// What the adversary does in one run.
pub struct Plot {
    /// Picks the versions.
    pub chooser: Box<dyn Chooser>,
    /// Picks who goes on, if the clients take turns; client 0 is session 0, and so on.
    pub schedule: Schedule,
}

/// Lets those go on whose next transaction writes something, as far as earlier runs tell: the more versions there are, the more can
/// go wrong for those who come later.
fn writers_first(memory: Arc<Mutex<Memory>>, ended: Arc<Mutex<FxHashMap<u32, u32>>>, seed: u64) -> Schedule {
    let mut random = Pcg64Mcg::seed_from_u64(seed.rotate_left(32));
    Box::new(move |alive| {
        let (memory, ended) = (lock(&memory), lock(&ended));
        let writes = |client: u32| {
            let next = TxnName { session: client, txn: ended.get(&client).copied().unwrap_or(0) };
            memory.writes.get(&next).copied().unwrap_or(true)
        };
        let writers: Vec<usize> = (0..alive.len()).filter(|&place| writes(alive[place] as u32)).collect();
        if writers.is_empty() || random.random_bool(WHIM) {
            return random.random_range(0..alive.len());
        }
        writers[random.random_range(0..writers.len())]
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The adversary in one run.
struct Opponent {
    memory: Arc<Mutex<Memory>>,
    random: Pcg64Mcg,
    /// Stands for everything that was chosen so far, in whatever order sessions took turns.
    context: u64,
    /// What each session read of each key last.
    last_read: FxHashMap<(u32, u32), u32>,
    /// How many transactions of each session have ended.
    ended: Arc<Mutex<FxHashMap<u32, u32>>>,
    /// Whether the history is unserializable already.
    broken: bool,
}

impl Chooser for Opponent {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        self.broken = self.broken || is_broken(read.log);
        let wishes = self.wishes(read);
        let choice = self.something_new(read, &wishes);
        let writer = read.versions[choice].writer;
        let done = self.hash(read, writer);
        lock(&self.memory).done.insert(done);
        self.last_read.insert((read.reader.session, read.key_number), read.versions[choice].source);
        // A sum, so that the order of turns does not matter.
        self.context = self.context.wrapping_add(hash(&(read.reader, read.number, writer)));
        choice
    }

    fn ended(&mut self, txn: &Ended<'_>) {
        *lock(&self.ended).entry(txn.txn.session).or_default() += 1;
        let mut memory = lock(&self.memory);
        memory.writes.insert(txn.txn, !txn.writes.is_empty());
        for &key in &txn.reads {
            let (reads, updates) = memory.updates.entry((txn.txn, key.into())).or_default();
            *reads += 1;
            *updates += u32::from(txn.writes.contains(&key));
        }
    }
}

impl Opponent {
    /// The versions that serve the purpose; never none.
    fn wishes(&mut self, read: &PendingRead<'_>) -> Vec<usize> {
        let all: Vec<usize> = (0..read.versions.len()).collect();
        if self.random.random_bool(if self.broken { WHIM_WHEN_BROKEN } else { WHIM }) {
            return all;
        }
        let updated = self.is_usually_updated(read);
        let source = |place: &usize| read.versions[*place].source;
        let closing: Vec<usize> = all.iter().copied().filter(|place| closes(read, source(place), updated)).collect();
        // What the session has just read is what its next step goes by.
        let known = self.last_read.get(&(read.reader.session, read.key_number));
        if let Some(place) = closing.iter().copied().find(|place| Some(&source(place)) == known) {
            return vec![place];
        }
        if !closing.is_empty() {
            return closing;
        }
        let is_old = |place: &usize| !overwriters(read.log, read.key_number, source(place), read.txn).is_empty();
        let has_part = read.log.knows_others(read.txn) || read.log.has_written(read.reader.session);
        let wanted: Vec<usize> = all.iter().copied().filter(|place| is_old(place) == has_part).collect();
        if wanted.is_empty() { all } else { wanted }
    }

    /// Without experience: yes.
    fn is_usually_updated(&self, read: &PendingRead<'_>) -> bool {
        let memory = lock(&self.memory);
        let known = memory.updates.get(&(read.reader, read.key.into()));
        known.is_none_or(|&(reads, updates)| 2 * updates >= reads)
    }

    /// One of `from` that was not done at this point before, if there is one.
    fn something_new(&mut self, read: &PendingRead<'_>, from: &[usize]) -> usize {
        let memory = lock(&self.memory);
        let is_new = |&place: &usize| !memory.done.contains(&self.hash(read, read.versions[place].writer));
        let new: Vec<usize> = from.iter().copied().filter(is_new).collect();
        drop(memory);
        let from = if new.is_empty() { from } else { &new };
        from[self.random.random_range(0..from.len())]
    }

    fn hash(&self, read: &PendingRead<'_>, writer: Option<TxnName>) -> u64 {
        hash(&(self.context, read.reader, read.number, writer))
    }
}

fn hash(item: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    hasher.finish()
}

/// Whether reading from `source` closes a cycle, at once or when the key is written.
fn closes(read: &PendingRead<'_>, source: u32, updated: bool) -> bool {
    let over = overwriters(read.log, read.key_number, source, read.txn);
    let update = |&writer: &u32| {
        let mut reads = read.log.txn(writer).reads.iter();
        reads.any(|other| other.key == read.key_number && other.source == source)
    };
    (updated && over.iter().any(update)) || reaches(read.log, over, read.txn)
}

/// Who wrote `key` behind `source` for certain, beside `txn`.
fn overwriters(log: &Log, key: u32, source: u32, txn: u32) -> Vec<u32> {
    let writers = log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all);
    let behind =
        |&&writer: &&u32| writer != txn && writer != source && (log.is_settled(source) || log.precedes(source, writer));
    writers.iter().filter(behind).copied().collect()
}

/// Whether one of `start` must come before `target` in every serial order, as far as it is easily seen.
fn reaches(log: &Log, start: Vec<u32>, target: u32) -> bool {
    let mut seen: FxHashSet<u32> = start.iter().copied().collect();
    let mut waiting = start;
    while let Some(txn) = waiting.pop() {
        let mut next = Vec::new();
        successors(log, txn, &mut next);
        for later in next {
            if later == target {
                return true;
            }
            if seen.len() < REACH_MAX && seen.insert(later) {
                waiting.push(later);
            }
        }
    }
    false
}

/// Whom `txn` must come before: the next of its session, its readers, and those who overwrote what it read.
fn successors(log: &Log, txn: u32, next: &mut Vec<u32>) {
    let record = log.txn(txn);
    if record.state == State::Committed {
        let session = &log.sessions[record.session as usize];
        next.extend(session.get(record.number + 1).or(session.open));
    }
    next.extend(&record.readers);
    for read in &record.reads {
        next.extend(overwriters(log, read.key, read.source, txn));
    }
}

/// Whether some committed transaction must come before itself. Looks at those that ended last.
fn is_broken(log: &Log) -> bool {
    let lasts = log.sessions.iter().filter_map(|session| session.committed.back().copied());
    lasts.into_iter().any(|txn| {
        let mut next = Vec::new();
        successors(log, txn, &mut next);
        next.contains(&txn) || reaches(log, next, txn)
    })
}
