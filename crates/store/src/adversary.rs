//! Picks versions so that things go wrong.
//!
//! A history is unserializable if session order, reads and overwrites close a cycle. Reading a
//! version that has been overwritten puts the reader before the transaction that overwrote it; if
//! that one must also come before the reader, the cycle is closed. So a version that closes one is
//! taken if there is any. So is one that will close it as soon as the transaction writes the key,
//! if transactions that read this key usually write it: that is a lost update. If there is none, a
//! session that has neither seen anything of the others nor written anything reads what is new, and
//! any other session reads what is old: the first puts another transaction before the reader, the
//! second puts the reader before another transaction, and a cycle needs both. Chance decides the
//! rest, and everything once in a while.
//!
//! An attack on what an application needs first (that a user is registered) may keep it from doing
//! anything that could go wrong. So values after which a transaction did not write are avoided, and
//! some runs are patient: what seems to be a condition of writing is up to date in them, and only
//! the rest is attacked.
//!
//! Attacks are not the only way in which things can go wrong, so that the longer nothing does, the
//! more runs explore instead: they do what was tried least. A run avoids what earlier ones have
//! done, as far as it can see: what clients do next depends on the values that they have read, not
//! on which transactions wrote these.

use crate::chooser::{Chooser, Ended, PendingRead, TxnName};
use crate::cycles::Look;
use crate::experience::{Experience, KNOWN_MAX, Sight, seen};
use crate::log::State;
use crate::run_plan::{RunPlan, hash, lock};
use crate::schedule::Schedule;
use crate::tried::Decision;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex};

/// How often chance decides on a version although a cycle could be closed: some assertions break
/// only in runs that look harmless first.
const WHIM: f64 = 0.05;
/// The same once the history is unserializable: what breaks the assertion may be something else.
const WHIM_WHEN_BROKEN: f64 = 0.15;
/// How often chance decides whose turn it is.
const WHIM_OF_TURNS: f64 = 0.3;
/// After so many runs half of them explore.
const PATIENCE: f64 = 200.0;
/// The share of runs that are patient in the long run, and how many more the second one is.
const PATIENT: (f64, f64) = (0.3, 0.3);

/// Makes a chooser for each run; all of them share what they have seen.
#[derive(Clone, Debug)]
pub struct Adversary {
    experience: Arc<Mutex<Experience>>,
    seed: u64,
}

impl Adversary {
    /// An adversary without experience.
    pub fn new(seed: u64) -> Adversary {
        Adversary { experience: Arc::default(), seed }
    }

    /// What to do in run number `run`.
    pub fn run(&self, run: u64) -> RunPlan {
        let mut random =
            Pcg64Mcg::seed_from_u64(self.seed ^ run.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let experience = lock(&self.experience);
        let runs = f64::from(experience.runs);
        let explores = random.random_bool(runs / (runs + PATIENCE));
        let is_patient = runs > 0.0 && random.random_bool(PATIENT.0 + PATIENT.1 / runs);
        let spared = if is_patient { experience.conditions() } else { FxHashSet::default() };
        drop(experience);
        let opponent = Arc::new(Mutex::new(Opponent {
            experience: Arc::clone(&self.experience),
            random,
            explores,
            spared,
            point: 0,
            decisions: Vec::new(),
            turns: FxHashMap::default(),
            last_read: FxHashMap::default(),
            ended: FxHashMap::default(),
            open: FxHashMap::default(),
            committed: Vec::new(),
            broken: false,
        }));
        let scheduler = Arc::clone(&opponent);
        let schedule: Schedule = Box::new(move |alive| lock(&scheduler).next_client(alive));
        RunPlan { chooser: Box::new(Hand(opponent)), schedule }
    }
}

/// The adversary in one run.
struct Opponent {
    experience: Arc<Mutex<Experience>>,
    random: Pcg64Mcg,
    /// Whether this run explores.
    explores: bool,
    /// Keys of which every reader gets the latest version in this run.
    spared: FxHashSet<Box<str>>,
    /// Stands for everything that was decided so far, in whatever order.
    point: u64,
    decisions: Vec<Decision>,
    /// How many turns each client had.
    turns: FxHashMap<usize, u32>,
    /// What each session read of each key last.
    last_read: FxHashMap<(u32, u32), u32>,
    /// How many transactions of each session have ended.
    ended: FxHashMap<u32, u32>,
    /// What open transactions have read.
    open: FxHashMap<TxnName, Vec<Sight>>,
    /// Sessions that have committed since the last read.
    committed: Vec<u32>,
    /// Whether the history is unserializable already.
    broken: bool,
}

/// Something that can be decided. Options of the same name are the same to the client.
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
        let mut experience = lock(&opponent.experience);
        experience.tried.end_run(&opponent.decisions, opponent.point);
        experience.runs = experience.runs.saturating_add(1);
    }
}

impl Opponent {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        // Only a transaction that has committed since may have closed a cycle.
        for session in std::mem::take(&mut self.committed) {
            let mut ended = read.log.sessions[session as usize].committed.iter().rev();
            let last = ended.find(|&&txn| read.log.txn(txn).state == State::Committed);
            self.broken =
                self.broken || last.is_some_and(|&last| Look::new(read.log).is_broken(last));
        }
        let values: Vec<u64> = (0..read.versions.len()).map(|place| read.value(place)).collect();
        let wishes = self.wishes(read, &values);
        let asked = hash(&(self.point, read.reader, read.number));
        // Sums, so that the order of turns does not matter.
        let after = |value: u64| self.point.wrapping_add(hash(&(read.reader, read.number, value)));
        let options: Vec<Choosable> =
            values.iter().map(|&value| Choosable { name: value, next: after(value) }).collect();
        let choice = self.decide(asked, &options, &wishes);
        self.last_read.insert((read.reader.session, read.key_number), read.versions[choice].source);
        let seen = seen(read.reader, read.number, read.key, values[choice]);
        let is_old = choice + 1 < read.versions.len();
        self.open.entry(read.reader).or_default().push(Sight {
            key: read.key.into(),
            seen,
            is_old,
        });
        choice
    }

    /// Lets a client go on that will write something, as far as earlier runs tell: the more
    /// versions there are, the more can go wrong for the readers that come later.
    fn next_client(&mut self, alive: &[usize]) -> usize {
        let wishes = if self.explores || self.random.random_bool(WHIM_OF_TURNS) {
            Vec::new()
        } else {
            self.writers(alive)
        };
        let turns = |client: usize| self.turns.get(&client).copied().unwrap_or(0);
        let had = |client: usize, turns: u32| hash(&(client, turns, "turns"));
        // A state has one term for each client, made of its number of turns: that term is replaced.
        let after = |client| {
            self.point
                .wrapping_sub(had(client, turns(client)))
                .wrapping_add(had(client, turns(client) + 1))
        };
        let options: Vec<Choosable> = alive
            .iter()
            .map(|&client| Choosable { name: client as u64, next: after(client) })
            .collect();
        let choice = self.decide(hash(&(self.point, "turn")), &options, &wishes);
        *self.turns.entry(alive[choice]).or_default() += 1;
        choice
    }

    /// The places of clients that will probably write something.
    fn writers(&self, alive: &[usize]) -> Vec<usize> {
        let experience = lock(&self.experience);
        let ended = |client: usize| self.ended.get(&(client as u32)).copied().unwrap_or(0);
        let writes = |client: usize| experience.has_writes_left(client as u32, ended(client));
        (0..alive.len()).filter(|&place| writes(alive[place])).collect()
    }

    /// Takes one of `wishes`, or of all options if there are none: what leads to something new if
    /// possible, and, to explore, what was tried least.
    fn decide(&mut self, point: u64, options: &[Choosable], wishes: &[usize]) -> usize {
        let experience = lock(&self.experience);
        let tried = &experience.tried;
        let is_fresh =
            |place: &usize| !tried.is_spent(point, options[*place].name, options[*place].next);
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
            let count = |place: &usize| tried.count(point, options[*place].name);
            let least = from.iter().map(count).min().unwrap_or(0);
            from.retain(|place| count(place) == least);
        }
        drop(experience);
        let choice = self.any_of(from, options);
        if self.decisions.len() < KNOWN_MAX {
            let (state, option) = (self.point, options[choice].name);
            self.decisions.push(Decision {
                state,
                point,
                option,
                options: names(0..options.len(), options).len(),
            });
        }
        self.point = options[choice].next;
        choice
    }

    /// One of the options at these places, each name as likely as the others.
    fn any_of(&mut self, mut places: Vec<usize>, options: &[Choosable]) -> usize {
        let names = names(places.iter().copied(), options);
        let name = names[self.random.random_range(0..names.len())];
        places.retain(|&place| options[place].name == name);
        places[self.random.random_range(0..places.len())]
    }

    /// The versions that serve the purpose; none if any will do.
    fn wishes(&mut self, read: &PendingRead<'_>, values: &[u64]) -> Vec<usize> {
        if self.explores
            || self.random.random_bool(if self.broken { WHIM_WHEN_BROKEN } else { WHIM })
        {
            return Vec::new();
        }
        if self.spared.contains(read.key) {
            return vec![read.versions.len() - 1];
        }
        let attack = self.attack(read);
        let experience = lock(&self.experience);
        let helps = |&place: &usize| {
            !experience
                .hinders(read.reader, seen(read.reader, read.number, read.key, values[place]))
        };
        let helpful: Vec<usize> = attack.iter().copied().filter(helps).collect();
        if helpful.is_empty() { (0..values.len()).filter(helps).collect() } else { helpful }
    }

    /// The versions that close a cycle, or bring one closer.
    fn attack(&self, read: &PendingRead<'_>) -> Vec<usize> {
        let all = 0..read.versions.len();
        let updated = lock(&self.experience).is_updated(read.reader, read.key);
        let look = Look::new(read.log);
        let source = |place: &usize| read.versions[*place].source;
        let closing: Vec<usize> =
            all.clone().filter(|place| look.closes(read, source(place), updated)).collect();
        if closing.is_empty() {
            let is_old = |place: &usize| {
                !look.overwriters(read.key_number, source(place), read.txn).is_empty()
            };
            let has_part =
                read.log.knows_others(read.txn) || read.log.has_written(read.reader.session);
            return all.filter(|place| is_old(place) == has_part).collect();
        }
        // A transaction that is about to write goes by what the session has just read; one that
        // only looks would see nothing new.
        let known = self.last_read.get(&(read.reader.session, read.key_number));
        let (again, others): (Vec<usize>, Vec<usize>) =
            closing.into_iter().partition(|place| Some(&source(place)) == known);
        if others.is_empty() || (updated && !again.is_empty()) { again } else { others }
    }

    fn note(&mut self, txn: &Ended<'_>) {
        *self.ended.entry(txn.txn.session).or_default() += 1;
        if txn.committed && !self.broken && !self.committed.contains(&txn.txn.session) {
            self.committed.push(txn.txn.session);
        }
        let reads = self.open.remove(&txn.txn).unwrap_or_default();
        lock(&self.experience).note(txn, reads);
    }
}

/// The names of the options at these places, each once.
fn names(places: impl Iterator<Item = usize>, options: &[Choosable]) -> Vec<u64> {
    let mut names: Vec<u64> = places.map(|place| options[place].name).collect();
    names.sort_unstable();
    names.dedup();
    names
}
