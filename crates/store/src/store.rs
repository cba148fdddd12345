//! The store as its users see it: sessions, names and values; `txn.rs` has the transactions.

mod members;
mod txn;

pub use members::Group;
pub use txn::Txn;

use crate::builder::Builder;
use crate::chooser::{Choice, Chooser, Ended, PendingRead, TxnName, Version};
use crate::clock::RunningClock;
use crate::delay::Delay;
use crate::engine::Engine;
use crate::fingerprint::fingerprint;
use crate::forgetting_list::ForgettingList;
use crate::log::State;
use crate::past::INITIAL;
use crate::record::{self, Recorded, Told};
use crate::scanned::GroupNames;
use rustc_hash::FxHashMap;
use serde_core::Serialize;
use seriatim_history::History;
use seriatim_isolation::Level;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

/// Why the store did not do as told.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The transaction cannot commit any more at its level; it has been aborted.
    SerializationFailure(Level),
    /// The transaction has ended.
    Ended,
    /// The session has an open transaction.
    TransactionOpen,
    /// One transaction at a time, and the other one did not end.
    WaitedTooLong(Duration),
    /// A store has read committed, read atomic, causal consistency, prefix consistency, snapshot
    /// isolation and serializability.
    UnsupportedLevel(Level),
    /// At strong levels there is no version horizon.
    NoHorizon(Level),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::SerializationFailure(level) => write!(
                f,
                "serialization failure: the transaction cannot commit at {level} any more; it has \
                 been aborted, try it again"
            ),
            StoreError::Ended => f.write_str("the transaction has already ended"),
            StoreError::TransactionOpen => {
                f.write_str("the session has an open transaction; commit or abort it first")
            }
            StoreError::WaitedTooLong(time) => {
                write!(f, "waited {time:?} for the transaction of another session to end")
            }
            StoreError::UnsupportedLevel(level) => {
                write!(f, "a store cannot work at {level}; use rc, ra, cc, pc, si or ser")
            }
            StoreError::NoHorizon(level) => {
                write!(f, "a store with a version horizon works at rc, ra and cc, not at {level}")
            }
        }
    }
}

impl std::error::Error for StoreError {}

/// The levels that a store can work at, weakest first.
pub const LEVELS: [Level; 6] = [
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

fn supported(level: Level, horizon: Option<NonZeroU32>) -> Result<(), StoreError> {
    if !LEVELS.contains(&level) {
        return Err(StoreError::UnsupportedLevel(level));
    }
    if horizon.is_some() && level.is_strong() { Err(StoreError::NoHorizon(level)) } else { Ok(()) }
}

/// A database that may answer anything its isolation level allows. Clones are the same store.
///
/// ```
/// use seriatim_check::Checker;
/// use seriatim_isolation::Level;
/// use seriatim_store::Store;
///
/// let store: Store<i64> = Store::new(Level::Causal)?;
/// let (one, two) = (store.session(), store.session());
/// let mut txn = one.begin()?;
/// txn.write("x", 1)?;
/// txn.commit()?;
/// let mut txn = two.begin()?;
/// // The initial state, or what the first session wrote: both are causally consistent.
/// let x = txn.read("x")?;
/// assert!(x.is_none() || x == Some(1));
/// txn.commit()?;
/// let report = Checker::new().check(&store.history());
/// assert!(report.strongest() >= Some(Level::Causal));
/// # Ok::<(), seriatim_store::StoreError>(())
/// ```
pub struct Store<V>(Arc<Shared<V>>);

impl<V> Clone for Store<V> {
    fn clone(&self) -> Self {
        Store(Arc::clone(&self.0))
    }
}

struct Shared<V> {
    inner: Mutex<Inner<V>>,
    ended: Condvar,
    /// In serial mode, how long to wait for another transaction.
    serial: Option<Duration>,
}

struct Inner<V> {
    engine: Engine,
    level: Level,
    chooser: Box<dyn Chooser>,
    /// Gives values a number.
    fingerprint: fn(Option<&V>) -> u64,
    /// For reads and writes of one key; the names come from clients, so that the hashes are hard to
    /// guess.
    keys: HashMap<Arc<str>, u32>,
    /// For scans.
    sorted: BTreeMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
    initial: Vec<Option<V>>,
    /// The keys of members of groups.
    members: FxHashMap<(u32, u32), u32>,
    groups: HashMap<Arc<str>, u32>,
    /// What each transaction did, in its order.
    events: ForgettingList<Vec<Recorded<V>>>,
    txn_names: ForgettingList<TxnName>,
    clock: Option<RunningClock>,
    /// When each transaction began and ended, if there is a clock.
    times: ForgettingList<(i64, i64)>,
    /// How many transactions each session has begun.
    begun: Vec<u32>,
    /// Sessions whose last transaction failed.
    failed: Vec<bool>,
    choices: Vec<Chosen>,
    open: u32,
    horizon: Option<NonZeroU32>,
    /// How many transactions have ended since the store last settled.
    ended: u32,
    delay: Option<Delay>,
    /// Asynchronous code that waits for its turn.
    waiting: Vec<Waker>,
}

/// A choice that was made. There are as many as reads, so that they are small.
#[derive(Clone, Copy)]
struct Chosen {
    txn: u32,
    key: u32,
    reader: TxnName,
    read: u32,
    writer: Option<TxnName>,
    latest: bool,
}

/// A sequence of transactions, one at a time.
pub struct Session<V> {
    shared: Arc<Shared<V>>,
    number: u32,
}

impl<V> fmt::Debug for Session<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.number)
    }
}

impl<V> Shared<V> {
    /// A panic of a chooser leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the chooser and the transactions that wait that `txn` ended. Wakers run code of
    /// others, so that the store is not locked then.
    fn end(&self, mut inner: MutexGuard<'_, Inner<V>>, txn: u32) {
        inner.end(txn);
        let waiting = std::mem::take(&mut inner.waiting);
        drop(inner);
        self.ended.notify_one();
        waiting.into_iter().for_each(Waker::wake);
    }

    fn wait_for_turn<'s>(
        &'s self,
        mut inner: MutexGuard<'s, Inner<V>>,
    ) -> Result<MutexGuard<'s, Inner<V>>, StoreError> {
        let Some(patience) = self.serial else { return Ok(inner) };
        let begun = Instant::now();
        while inner.open > 0 {
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(StoreError::WaitedTooLong(patience));
            }
            inner = self.ended.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(inner)
    }
}

impl<V: Serialize> Store<V> {
    /// A store at `level`, one of [`LEVELS`], whose reads return any admissible version.
    /// [`Store::builder`] says more.
    pub fn new(level: Level) -> Result<Store<V>, StoreError> {
        Builder::new(level).build()
    }

    /// A store at `level`, to be described further.
    pub fn builder(level: Level) -> Builder {
        Builder::new(level)
    }

    fn from_builder(plan: Builder) -> Result<Store<V>, StoreError> {
        supported(plan.level, plan.horizon)?;
        let mut engine = Engine::default();
        engine.log.sessions_at_rc = plan.sessions_at_rc;
        let inner = Inner {
            engine,
            level: plan.level,
            chooser: plan.chooser,
            fingerprint,
            keys: HashMap::new(),
            sorted: BTreeMap::new(),
            names: Vec::new(),
            initial: Vec::new(),
            members: FxHashMap::default(),
            groups: HashMap::new(),
            events: ForgettingList::default(),
            txn_names: ForgettingList::default(),
            clock: plan.clock.map(RunningClock::start),
            times: ForgettingList::default(),
            begun: Vec::new(),
            failed: Vec::new(),
            choices: Vec::new(),
            open: 0,
            horizon: plan.horizon,
            ended: 0,
            delay: plan.delay,
            waiting: Vec::new(),
        };
        Ok(Store(Arc::new(Shared {
            inner: Mutex::new(inner),
            ended: Condvar::new(),
            serial: plan.serial,
        })))
    }
}

impl Builder {
    /// Makes the store.
    pub fn build<V: Serialize>(self) -> Result<Store<V>, StoreError> {
        Store::from_builder(self)
    }
}

/// Short: a store remembers every version.
impl<V> fmt::Debug for Store<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.0.lock().level)
    }
}

impl<V> Store<V> {
    /// Opens a session.
    pub fn session(&self) -> Session<V> {
        let mut inner = self.0.lock();
        inner.begun.push(0);
        inner.failed.push(false);
        Session { number: inner.engine.log.open_session(), shared: Arc::clone(&self.0) }
    }

    /// The chooser from now on.
    pub fn set_chooser(&self, chooser: impl Chooser + 'static) {
        self.0.lock().chooser = Box::new(chooser);
    }

    /// The level of transactions that do not ask for another one.
    pub fn level(&self) -> Level {
        self.0.lock().level
    }

    /// Changes the level of transactions that begin from now on and do not ask for another one.
    pub fn set_level(&self, level: Level) -> Result<(), StoreError> {
        let mut inner = self.0.lock();
        supported(level, inner.horizon)?;
        inner.level = level;
        Ok(())
    }

    /// The choices made so far, for a [`crate::Script`].
    pub fn choices(&self) -> Vec<Choice> {
        let inner = self.0.lock();
        let name = |key: u32| inner.names[key as usize].to_string();
        let choice = |&Chosen { key, reader, read, writer, latest, .. }: &Chosen| Choice {
            reader,
            read,
            key: name(key),
            writer,
            latest,
        };
        inner.choices.iter().map(choice).collect()
    }
}

impl<V: Clone> Store<V> {
    /// Sets what `key` holds initially. Has no effect once a transaction has read or written the
    /// key.
    pub fn load(&self, key: &str, value: V) {
        let mut inner = self.0.lock();
        if !inner.keys.contains_key(key) {
            let number = inner.key(key);
            inner.initial[number as usize] = Some(value);
        }
    }
}

impl<V: Serialize> Store<V> {
    /// What has happened so far. Values that were written twice to a key are told apart by a
    /// number.
    pub fn history(&self) -> History {
        let inner = self.0.lock();
        let has_clock = inner.clock.is_some();
        let txns = inner.engine.log.txns.iter().zip(inner.events.iter()).map(
            |((number, record), (_, events))| Told {
                times: has_clock.then(|| inner.times[number]),
                number: number as u32,
                session: record.session,
                state: record.state,
                events,
                // What an aborted transaction has read is not kept for its sake.
                writes_only: record.settled
                    || (inner.horizon.is_some() && record.state == State::Aborted),
            },
        );
        let unit = inner.clock.as_ref().map(RunningClock::unit).unwrap_or_default();
        let mut names: Vec<(u32, &Arc<str>)> =
            inner.groups.iter().map(|(name, &group)| (group, name)).collect();
        names.sort_unstable();
        let names: Vec<Arc<str>> = names.into_iter().map(|(_, name)| Arc::clone(name)).collect();
        let groups = GroupNames { groups: &inner.engine.log.groups, names: &names };
        record::history(&inner.names, groups, &inner.initial, inner.begun.len() as u32, txns)
            .with_time_unit(unit)
    }
}

impl<V> Session<V> {
    /// The number of the session, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Begins a transaction at the level of the store.
    pub fn begin(&self) -> Result<Txn<V>, StoreError> {
        self.begin_at(self.store_level())
    }

    /// Begins a transaction at a level of its own.
    pub fn begin_at(&self, level: Level) -> Result<Txn<V>, StoreError> {
        if let Some(time) = self.next_delay() {
            std::thread::sleep(time);
        }
        let inner = self.may_begin(level)?;
        let inner = self.shared.wait_for_turn(inner)?;
        Ok(self.begin_in(inner, level))
    }

    pub(crate) fn store_level(&self) -> Level {
        self.shared.lock().level
    }

    /// How long to wait before the next transaction.
    pub(crate) fn next_delay(&self) -> Option<Duration> {
        self.shared.lock().delay.as_mut().map(Delay::next)
    }

    /// In serial mode, how long to wait for others.
    #[cfg(feature = "async")]
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.shared.serial
    }

    /// Begins without waiting for another transaction.
    #[cfg(feature = "async")]
    pub(crate) fn begin_now(&self, level: Level) -> Result<Txn<V>, StoreError> {
        let inner = self.may_begin(level)?;
        Ok(self.begin_in(inner, level))
    }

    /// Begins if no other transaction is open; otherwise `waker` hears of the end of one.
    #[cfg(feature = "async")]
    pub(crate) fn try_begin(
        &self,
        level: Level,
        waker: &Waker,
    ) -> Option<Result<Txn<V>, StoreError>> {
        match self.may_begin(level) {
            Ok(inner) if inner.open == 0 => Some(Ok(self.begin_in(inner, level))),
            Ok(mut inner) => {
                if !inner.waiting.iter().any(|other| other.will_wake(waker)) {
                    inner.waiting.push(waker.clone());
                }
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn may_begin(&self, level: Level) -> Result<MutexGuard<'_, Inner<V>>, StoreError> {
        let inner = self.shared.lock();
        supported(level, inner.horizon)?;
        let open = inner.engine.log.sessions[self.number as usize].open;
        if open.is_some() { Err(StoreError::TransactionOpen) } else { Ok(inner) }
    }

    fn begin_in(&self, mut inner: MutexGuard<'_, Inner<V>>, level: Level) -> Txn<V> {
        let number = inner.begin(self.number, level);
        let name = inner.txn_names[number as usize];
        Txn {
            shared: Arc::clone(&self.shared),
            name,
            number,
            level,
            ended: false,
            statement: Default::default(),
        }
    }
}

impl<V> Inner<V> {
    fn key(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.keys.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.sorted.insert(Arc::clone(&name), number);
        self.keys.insert(name, number);
        self.initial.push(None);
        number
    }

    fn is_open(&self, session: u32, txn: u32) -> bool {
        self.engine.log.sessions[session as usize].open == Some(txn)
    }

    fn begin(&mut self, session: u32, level: Level) -> u32 {
        self.open += 1;
        self.events.push(Vec::new());
        self.txn_names.push(TxnName { session, txn: self.begun[session as usize] });
        if let Some(clock) = &mut self.clock {
            self.times.push((clock.now(), i64::MAX));
        }
        self.begun[session as usize] += 1;
        self.engine.begin(session, level)
    }

    /// Lets the chooser pick the version that an external read returns; `None` if there is none.
    fn choose(&mut self, txn: u32, key: u32) -> Option<u32> {
        let sources = self.engine.admissible(txn, key);
        let name = |source: u32| (source != INITIAL).then(|| self.txn_names[source as usize]);
        let versions: Vec<Version> =
            sources.iter().map(|&source| Version { writer: name(source), source }).collect();
        let last = versions.len().checked_sub(1)?;
        let (log, initial, events, fingerprint) =
            (&self.engine.log, &self.initial, &self.events, self.fingerprint);
        let read = PendingRead {
            reader: self.txn_names[txn as usize],
            number: log.txn(txn).reads.len() as u32,
            key: &self.names[key as usize],
            versions: &versions,
            txn,
            key_number: key,
            log,
            value: &|place| fingerprint(value(initial, events, versions[place].source, key)),
        };
        // A client that tries again gets the latest version: a chooser that likes old ones could
        // refuse it for ever.
        let place = if self.failed[read.reader.session as usize] {
            last
        } else {
            self.chooser.choose(&read).min(last)
        };
        let Version { writer, source } = versions[place];
        let (reader, number) = (read.reader, read.number);
        self.choices.push(Chosen { txn, key, reader, read: number, writer, latest: place == last });
        Some(source)
    }

    fn note_failure(&mut self, txn: u32, failed: bool) {
        let session = self.engine.log.txn(txn).session;
        self.failed[session as usize] = failed;
    }

    /// Tells the chooser that `txn` ended.
    fn end(&mut self, txn: u32) {
        self.open -= 1;
        if let Some(clock) = &mut self.clock {
            self.times[txn as usize].1 = clock.now();
        }
        let record = self.engine.log.txn(txn);
        let name = |key: &u32| &*self.names[*key as usize];
        self.chooser.ended(&Ended {
            txn: self.txn_names[txn as usize],
            committed: record.state == State::Committed,
            reads: record.reads.iter().map(|read| name(&read.key)).collect(),
            writes: written_keys(&self.events[txn as usize]).iter().map(name).collect(),
        });
        self.ended += 1;
        if self.horizon.is_some_and(|horizon| self.ended >= horizon.get()) {
            self.settle();
        }
    }

    /// Forgets what lies behind the horizon.
    fn settle(&mut self) {
        let count = self.horizon.map_or(0, NonZeroU32::get) as usize;
        let needed = self.engine.settle(count);
        let log = &self.engine.log;
        self.ended = 0;
        self.events.forget(count, |txn| needed.contains(&(txn as u32)));
        self.txn_names.forget(count, |txn| needed.contains(&(txn as u32)));
        if self.clock.is_some() {
            self.times.forget(count, |txn| needed.contains(&(txn as u32)));
        }
        self.choices.retain(|choice| needed.contains(&choice.txn) && !log.is_settled(choice.txn));
    }
}

/// The keys that a transaction wrote, each once, also if it took that back.
fn written_keys<V>(events: &[Recorded<V>]) -> Vec<u32> {
    let mut keys = Vec::new();
    for event in events {
        match event {
            Recorded::Write { key, .. } if !keys.contains(key) => keys.push(*key),
            _ => {}
        }
    }
    keys
}

/// What the last write of a transaction to `key` wrote; `None` if there is no such write.
fn written<V>(events: &[Recorded<V>], key: u32) -> Option<&Option<V>> {
    let mut writes = events.iter().rev().filter_map(|event| match event {
        Recorded::Write { key: other, value } if *other == key => Some(value),
        _ => None,
    });
    writes.next()
}

/// What `source` left in `key`.
fn value<'v, V>(
    initial: &'v [Option<V>],
    events: &'v ForgettingList<Vec<Recorded<V>>>,
    source: u32,
    key: u32,
) -> Option<&'v V> {
    if source == INITIAL {
        return initial[key as usize].as_ref();
    }
    written(&events[source as usize], key)?.as_ref()
}
