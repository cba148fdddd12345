//! Picks versions so that things go wrong.
//!
//! A history is unserializable if session order, reads and overwrites close a cycle. Reading a version that somebody has overwritten
//! puts the reader before whoever overwrote it; if that one must also come before the reader, the cycle is closed. So a version that
//! closes one is taken if there is any. So is one that will close it as soon as the transaction writes the key, if those who read
//! this key usually write it: that is a lost update. If there is none, a session that has neither seen anything of the others nor
//! written anything reads what is new, and any other session reads what is old: the first puts somebody before the reader, the second
//! puts the reader before somebody, and a cycle needs both. Chance decides the rest, and everything once the history is
//! unserializable.
//!
//! That is an attack. It is not the only way in which things can go wrong, so that the longer nothing does, the more runs explore
//! instead: they do what was tried least. A run avoids what earlier ones have done, as far as it can see.

use crate::chooser::{Chooser, Ended, PendingRead, TxnName};
use crate::cycles::Look;
use crate::plot::{Plot, hash, lock};
use crate::schedule::Schedule;
use crate::tried::{Decision, Tried};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// How often chance decides although a cycle could be closed: some assertions break only in runs that look harmless first.
const WHIM: f64 = 0.05;
/// The same once the history is unserializable: what breaks the assertion may be something else.
const WHIM_WHEN_BROKEN: f64 = 0.25;
/// After so many runs half of them explore.
const PATIENCE: f64 = 20.0;

/// How much is remembered: of decisions in a run, and of what transactions do.
const KNOWN_MAX: usize = 1 << 18;

/// What is known from all runs so far.
#[derive(Default, Debug)]
struct Memory {
    /// What was tried where.
    tried: Tried,
    /// How many runs have ended.
    runs: u32,
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
        let mut random = Pcg64Mcg::seed_from_u64(self.seed ^ run.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let runs = f64::from(lock(&self.memory).runs);
        let explores = random.random_bool(runs / (runs + PATIENCE));
        let opponent = Arc::new(Mutex::new(Opponent {
            memory: Arc::clone(&self.memory),
            random,
            explores,
            point: 0,
            decisions: Vec::new(),
            turns: FxHashMap::default(),
            last_read: FxHashMap::default(),
            ended: FxHashMap::default(),
            committed: Vec::new(),
            broken: false,
        }));
        let scheduler = Arc::clone(&opponent);
        let schedule: Schedule = Box::new(move |alive| lock(&scheduler).next_client(alive));
        Plot { chooser: Box::new(Hand(opponent)), schedule }
    }
}

/// The adversary in one run.
struct Opponent {
    memory: Arc<Mutex<Memory>>,
    random: Pcg64Mcg,
    /// Whether this run explores.
    explores: bool,
    /// Stands for everything that was decided so far, in whatever order.
    point: u64,
    decisions: Vec<Decision>,
    /// How many turns each client had.
    turns: FxHashMap<usize, u32>,
    /// What each session read of each key last.
    last_read: FxHashMap<(u32, u32), u32>,
    /// How many transactions of each session have ended.
    ended: FxHashMap<u32, u32>,
    /// Sessions that have committed since the last read.
    committed: Vec<u32>,
    /// Whether the history is unserializable already.
    broken: bool,
}

/// Something that can be decided.
struct Choosable {
    name: u64,
    /// The state that it leads to.
    next: u64,
}

/// The adversary as the store sees it.
struct Hand(Arc<Mutex<Opponent>>);

impl Chooser for Hand {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        lock(&self.0).choose(read)
    }

    fn ended(&mut self, txn: &Ended<'_>) {
        lock(&self.0).note(txn);
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        let opponent = lock(&self.0);
        let mut memory = lock(&opponent.memory);
        memory.tried.end_run(&opponent.decisions, opponent.point);
        memory.runs = memory.runs.saturating_add(1);
    }
}

impl Opponent {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        // Only who has committed since may have closed a cycle.
        for session in std::mem::take(&mut self.committed) {
            let last = read.log.sessions[session as usize].committed.back();
            self.broken = self.broken || last.is_some_and(|&last| Look::new(read.log).is_broken(last));
        }
        let wishes = if self.explores { Vec::new() } else { self.wishes(read) };
        let asked = hash(&(self.point, read.reader, read.number));
        // Sums, so that the order of turns does not matter.
        let after = |writer| self.point.wrapping_add(hash(&(read.reader, read.number, writer)));
        let options: Vec<Choosable> = read
            .versions
            .iter()
            .map(|version| Choosable { name: hash(&version.writer), next: after(version.writer) })
            .collect();
        let choice = self.decide(asked, &options, &wishes);
        self.last_read.insert((read.reader.session, read.key_number), read.versions[choice].source);
        choice
    }

    /// Lets those go on whose next transaction writes something, as far as earlier runs tell: the more versions there are, the
    /// more can go wrong for those who come later.
    fn next_client(&mut self, alive: &[usize]) -> usize {
        let wishes = if self.explores || self.random.random_bool(WHIM) { Vec::new() } else { self.writers(alive) };
        let turns = |client: usize| self.turns.get(&client).copied().unwrap_or(0);
        let had = |client: usize, turns: u32| hash(&(client, turns, "turns"));
        let after =
            |client| self.point.wrapping_sub(had(client, turns(client))).wrapping_add(had(client, turns(client) + 1));
        let options: Vec<Choosable> =
            alive.iter().map(|&client| Choosable { name: client as u64, next: after(client) }).collect();
        let choice = self.decide(hash(&(self.point, "turn")), &options, &wishes);
        *self.turns.entry(alive[choice]).or_default() += 1;
        choice
    }

    /// The places of clients whose next transaction probably writes something.
    fn writers(&self, alive: &[usize]) -> Vec<usize> {
        let memory = lock(&self.memory);
        let writes = |client: usize| {
            let session = client as u32;
            let txn = self.ended.get(&session).copied().unwrap_or(0);
            let known = |txn: u32| memory.writes.get(&TxnName { session, txn }).copied();
            // Who has just only read will probably do so again.
            known(txn).or_else(|| known(txn.checked_sub(1)?)).unwrap_or(true)
        };
        (0..alive.len()).filter(|&place| writes(alive[place])).collect()
    }

    /// Takes one of `wishes`, or of all options if there are none: what leads to something new if possible, and, to explore, what
    /// was tried least.
    fn decide(&mut self, point: u64, options: &[Choosable], wishes: &[usize]) -> usize {
        let memory = lock(&self.memory);
        let is_fresh = |place: &usize| !memory.tried.is_spent(point, options[*place].name, options[*place].next);
        let all: Vec<usize> = (0..options.len()).collect();
        let fresh: Vec<usize> = all.iter().copied().filter(is_fresh).collect();
        let wished: Vec<usize> = wishes.iter().copied().filter(is_fresh).collect();
        let mut from = if !wished.is_empty() {
            wished
        } else if !fresh.is_empty() {
            fresh
        } else if !wishes.is_empty() {
            wishes.to_vec()
        } else {
            all
        };
        if self.explores {
            let count = |place: &usize| memory.tried.count(point, options[*place].name);
            let least = from.iter().map(count).min().unwrap_or(0);
            from.retain(|place| count(place) == least);
        }
        drop(memory);
        let choice = from[self.random.random_range(0..from.len())];
        if self.decisions.len() < KNOWN_MAX {
            let (state, option) = (self.point, options[choice].name);
            self.decisions.push(Decision { state, point, option, options: options.len() });
        }
        self.point = options[choice].next;
        choice
    }

    /// The versions that serve the purpose; none if any will do.
    fn wishes(&mut self, read: &PendingRead<'_>) -> Vec<usize> {
        if self.random.random_bool(if self.broken { WHIM_WHEN_BROKEN } else { WHIM }) {
            return Vec::new();
        }
        let all = 0..read.versions.len();
        let updated = self.is_usually_updated(read);
        let look = Look::new(read.log);
        let source = |place: &usize| read.versions[*place].source;
        let closing: Vec<usize> = all.clone().filter(|place| look.closes(read, source(place), updated)).collect();
        if closing.is_empty() {
            let is_old = |place: &usize| !look.overwriters(read.key_number, source(place), read.txn).is_empty();
            let has_part = read.log.knows_others(read.txn) || read.log.has_written(read.reader.session);
            return all.filter(|place| is_old(place) == has_part).collect();
        }
        // Who is about to write goes by what the session has just read; who only looks would see nothing new.
        let known = self.last_read.get(&(read.reader.session, read.key_number));
        let (again, others): (Vec<usize>, Vec<usize>) =
            closing.into_iter().partition(|place| Some(&source(place)) == known);
        if others.is_empty() || (updated && !again.is_empty()) { again } else { others }
    }

    /// Without experience: yes.
    fn is_usually_updated(&self, read: &PendingRead<'_>) -> bool {
        let memory = lock(&self.memory);
        let known = memory.updates.get(&(read.reader, read.key.into()));
        known.is_none_or(|&(reads, updates)| 2 * updates >= reads)
    }

    fn note(&mut self, txn: &Ended<'_>) {
        *self.ended.entry(txn.txn.session).or_default() += 1;
        if txn.committed && !self.broken && !self.committed.contains(&txn.txn.session) {
            self.committed.push(txn.txn.session);
        }
        let mut memory = lock(&self.memory);
        if memory.updates.len() >= KNOWN_MAX {
            return;
        }
        memory.writes.insert(txn.txn, !txn.writes.is_empty());
        for &key in &txn.reads {
            let (reads, updates) = memory.updates.entry((txn.txn, key.into())).or_default();
            *reads += 1;
            *updates += u32::from(txn.writes.contains(&key));
        }
    }
}
