//! The store as its users see it: sessions, names and values; `txn.rs` has the transactions.

mod asking;
mod glance;
mod history;
mod members;
mod settle;
mod timing;
mod txn;

pub use asking::{Asker, Question};
pub use glance::{Glance, Seen, SeenOp, SeenSession};
pub use settle::SettledCell;
pub use txn::Txn;

use crate::atoms::ToAtom;
use crate::builder::Builder;
use crate::chooser::{Choice, Chooser, Ended, PendingRead, TxnName, Version};
use crate::clock::RunningClock;
use crate::delay::Delay;
use crate::engine::Engine;
use crate::events::Events;
use crate::fingerprint::fingerprint;
use crate::forgetting_list::ForgettingList;
use crate::log::State;
use crate::names::Names;
use crate::node::NodeState;
use crate::past::INITIAL;
use crate::ranges::Group;
use crate::turns::Turns;
use rustc_hash::FxHashMap;
use seriatim_isolation::{Level, Order};
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
    /// Another transaction has changed what this one writes, and committed first; this one has
    /// been aborted. Only on a node.
    ConcurrentUpdate,
    /// The transaction has ended.
    Ended,
    /// The session has an open transaction.
    TransactionOpen,
    /// One transaction at a time, and the other one did not end.
    WaitedTooLong(Duration),
    /// A store has read committed, read atomic, causal consistency, prefix consistency, snapshot
    /// isolation and serializability.
    UnsupportedLevel(Level),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::SerializationFailure(level) => write!(
                f,
                "serialization failure: the transaction cannot commit at {level} any more; it has \
                 been aborted, try it again"
            ),
            StoreError::ConcurrentUpdate => f.write_str(
                "serialization failure: another transaction has changed the same key; this one has \
                 been aborted, try it again",
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
        }
    }
}

impl std::error::Error for StoreError {}

/// How often one that waits for its turn looks whether the order was given up.
const TURN_LOOK: Duration = Duration::from_millis(20);

/// The levels that a store can work at, weakest first.
pub const LEVELS: [Level; 6] = [
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

fn supported(engine: &Engine, level: Level) -> Result<(), StoreError> {
    let has_it = engine.node.as_ref().is_none_or(|state| state.node.has(level));
    if has_it && LEVELS.contains(&level) {
        Ok(())
    } else {
        Err(StoreError::UnsupportedLevel(level))
    }
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
    /// What values are called.
    shown: fn(Option<&V>) -> Option<String>,
    /// Who is asked instead of the chooser, if somebody is.
    asking: asking::Asking,
    names: Names,
    initial: Vec<Option<V>>,
    /// What each transaction did, in its order.
    events: ForgettingList<Events<V>>,
    txn_names: ForgettingList<TxnName>,
    clock: Option<RunningClock>,
    /// When each transaction began and ended, if there is a clock.
    times: ForgettingList<(i64, i64)>,
    /// The sessions.
    clients: Vec<Client>,
    /// On a node: how many commits clients know of.
    acknowledged: u32,
    choices: Vec<Chosen>,
    /// The transaction of each statement, in their order, unless old transactions are forgotten.
    statements: Vec<u32>,
    open: u32,
    /// The order in which transactions begin, if there is one.
    turns: Option<Turns>,
    horizon: Option<NonZeroU32>,
    /// How many transactions have ended since the store last settled.
    ended: u32,
    /// How many keys they have written.
    written: usize,
    /// Takes over members that nothing here has to remember.
    base: Option<settle::Base<V>>,
    delay: Option<Delay>,
    /// Asynchronous code that waits for its turn.
    waiting: Vec<Waker>,
}

/// A session, as its user sees it.
#[derive(Clone, Debug)]
struct Client {
    /// Its number in the log.
    home: u32,
    /// How many transactions it has begun.
    begun: u32,
    /// How many statements, or reads that are part of none.
    statements: u64,
    /// The one that is open.
    open: Option<u32>,
    /// The one that it began last.
    last: Option<u32>,
    /// Whether its user has dropped it.
    is_gone: bool,
    /// Whether its last transaction failed.
    failed: bool,
    /// Whether its present statement is to read the latest versions.
    reads_latest: bool,
    timing: timing::Timing,
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
        match &mut inner.turns {
            None => self.ended.notify_one(),
            // It is the turn of one of them.
            Some(turns) => {
                turns.went_on();
                self.ended.notify_all();
            }
        }
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn wait_for_turn<'s>(
        &'s self,
        session: u32,
        mut inner: MutexGuard<'s, Inner<V>>,
    ) -> Result<MutexGuard<'s, Inner<V>>, StoreError> {
        while !inner.is_turn_of(session) {
            let waited = self.ended.wait_timeout(inner, TURN_LOOK);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
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

impl<V: ToAtom> Store<V> {
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
        let mut engine = Engine::default();
        engine.node = plan.node.map(NodeState::new);
        supported(&engine, plan.level)?;
        engine.log.sessions_at_rc = plan.sessions_at_rc;
        engine.log.order = plan.order;
        let inner = Inner {
            engine,
            level: plan.level,
            chooser: plan.chooser,
            fingerprint,
            shown: shown_value,
            asking: asking::Asking::default(),
            names: Names::default(),
            initial: Vec::new(),
            events: ForgettingList::default(),
            txn_names: ForgettingList::default(),
            clock: plan.clock.map(RunningClock::start),
            times: ForgettingList::default(),
            clients: Vec::new(),
            acknowledged: 0,
            choices: Vec::new(),
            statements: Vec::new(),
            open: 0,
            turns: plan.turns,
            horizon: plan.horizon,
            ended: 0,
            written: 0,
            base: None,
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
    pub fn build<V: ToAtom>(self) -> Result<Store<V>, StoreError> {
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
        let home = inner.engine.log.open_session();
        let timing = timing::Timing::default();
        let client = Client {
            home,
            begun: 0,
            statements: 0,
            open: None,
            last: None,
            is_gone: false,
            failed: false,
            reads_latest: false,
            timing,
        };
        inner.clients.push(client);
        Session { number: inner.clients.len() as u32 - 1, shared: Arc::clone(&self.0) }
    }

    /// What members of groups, and groups, are called, in histories and for choosers. Is asked
    /// while the store is locked, and must not use it.
    pub fn set_member_names(
        &self,
        member: impl Fn(Group, u32) -> String + Send + 'static,
        group: impl Fn(Group) -> String + Send + 'static,
    ) {
        self.0.lock().names.set_namers(Box::new(member), Box::new(group));
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
        supported(&inner.engine, level)?;
        inner.level = level;
        Ok(())
    }

    /// For each of [`Store::choices`] the number of its statement in its transaction, from 0.
    pub fn choice_statements(&self) -> Vec<u32> {
        let inner = self.0.lock();
        let mut known: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let number = |chosen: &Chosen| {
            let events = || inner.events[chosen.txn as usize].statements_of_reads();
            let of_reads = known.entry(chosen.txn).or_insert_with(events);
            of_reads.get(chosen.read as usize).copied().unwrap_or(0)
        };
        inner.choices.iter().map(number).collect()
    }

    /// The transaction of each statement, in the order in which they began; empty with a horizon.
    pub fn statement_order(&self) -> Vec<TxnName> {
        let inner = self.0.lock();
        inner.statements.iter().map(|&txn| inner.txn_names[txn as usize]).collect()
    }

    /// The choices made so far, for a [`crate::Script`].
    pub fn choices(&self) -> Vec<Choice> {
        let inner = self.0.lock();
        let name = |key: u32| inner.names.shown(key).to_string();
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
    /// Whether old transactions are forgotten.
    pub fn has_horizon(&self) -> bool {
        self.0.lock().horizon.is_some()
    }

    /// Sets what `key` holds initially. Has no effect once a transaction has read or written the
    /// key.
    pub fn load(&self, key: &str, value: V) {
        let mut inner = self.0.lock();
        if inner.names.find(key).is_none() {
            let number = inner.key(key);
            inner.initial[number as usize] = Some(value);
        }
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
        let inner = self.shared.wait_for_turn(self.number, inner)?;
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
        supported(&inner.engine, level)?;
        let open = inner.clients[self.number as usize].open;
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
        if let Some(number) = self.names.find(name) {
            return number;
        }
        let number = self.names.add(name);
        self.initial.resize_with(self.names.count(), || None);
        number
    }

    /// Whether the next transaction of a session may begin, as far as there is an order for that.
    fn is_turn_of(&mut self, session: u32) -> bool {
        let Some(turns) = &mut self.turns else { return true };
        let name = TxnName { session, txn: self.clients[session as usize].begun };
        turns.take(name, self.open)
    }

    fn is_open(&self, session: u32, txn: u32) -> bool {
        self.clients[session as usize].open == Some(txn)
    }

    fn begin(&mut self, session: u32, level: Level) -> u32 {
        self.open += 1;
        self.events.push(Events::default());
        if let Some(begun) = self.time_of_begin(session) {
            self.times.push((begun, i64::MAX));
        }
        let client = &self.clients[session as usize];
        self.txn_names.push(TxnName { session, txn: client.begun });
        // Without an order of sessions every transaction is one of its own.
        let alone = self.engine.log.order == Order::None;
        let home = if alone { self.engine.log.open_session() } else { client.home };
        let txn = self.engine.begin(home, level);
        let client = &mut self.clients[session as usize];
        (client.begun, client.open, client.last) = (client.begun + 1, Some(txn), Some(txn));
        txn
    }

    /// Lets the chooser pick the version that an external read returns; `None` if there is none.
    fn choose(&mut self, txn: u32, key: u32) -> Option<u32> {
        // A client that tries again gets the latest version: a chooser that likes old ones could
        // refuse it for ever.
        self.need_snapshot(txn);
        let session = self.txn_names[txn as usize].session;
        let client = &self.clients[session as usize];
        let answer = self.asking.take(txn, key);
        let is_spared = client.failed || client.reads_latest || self.chooser.takes_latest();
        if answer.is_none() && is_spared {
            return self.latest(txn, key);
        }
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
            key: &self.names.shown(key),
            versions: &versions,
            txn,
            key_number: key,
            log,
            value: &|place| fingerprint(value(initial, events, versions[place].source, key)),
            statement: &|| events[txn as usize].last_statement().cloned(),
        };
        let place = match answer {
            Some(writer) => versions.iter().position(|version| version.writer == writer),
            None => Some(self.chooser.choose(&read)),
        };
        let place = place.map_or(last, |place| place.min(last));
        let Version { writer, source } = versions[place];
        let (reader, number) = (read.reader, read.number);
        self.choices.push(Chosen { txn, key, reader, read: number, writer, latest: place == last });
        Some(source)
    }

    /// The latest version that an external read may return, without looking for the others.
    fn latest(&mut self, txn: u32, key: u32) -> Option<u32> {
        let source = self.engine.latest(txn, key)?;
        let reader = self.txn_names[txn as usize];
        let read = self.engine.log.txn(txn).reads.len() as u32;
        let writer = (source != INITIAL).then(|| self.txn_names[source as usize]);
        self.choices.push(Chosen { txn, key, reader, read, writer, latest: true });
        Some(source)
    }

    fn note_failure(&mut self, txn: u32, failed: bool) {
        let session = self.txn_names[txn as usize].session;
        self.clients[session as usize].failed = failed;
    }

    /// Tells the chooser that `txn` ended.
    fn end(&mut self, txn: u32) {
        self.open -= 1;
        let session = self.txn_names[txn as usize].session;
        self.clients[session as usize].open = None;
        let is_untold = self.note_end(session, txn);
        if let Some(clock) = self.clock.as_mut().filter(|_| !is_untold) {
            self.times[txn as usize].1 = clock.now();
        }
        let written = self.events[txn as usize].written_keys();
        self.written += written.len();
        if !self.chooser.takes_latest() {
            self.tell_chooser(txn, &written);
        }
        self.ended += 1;
        self.settle_if_due();
    }

    fn tell_chooser(&mut self, txn: u32, written: &[u32]) {
        let record = self.engine.log.txn(txn);
        let reads: Vec<Arc<str>> =
            record.reads.iter().map(|read| self.names.shown(read.key)).collect();
        let writes: Vec<Arc<str>> = written.iter().map(|&key| self.names.shown(key)).collect();
        self.chooser.ended(&Ended {
            txn: self.txn_names[txn as usize],
            committed: record.state == State::Committed,
            reads: reads.iter().map(|name| &**name).collect(),
            writes: writes.iter().map(|name| &**name).collect(),
        });
    }
}

/// What a value is called.
fn shown_value<V: ToAtom>(value: Option<&V>) -> Option<String> {
    value.map(|value| value.to_atom().to_string())
}

/// What `source` left in `key`; what is settled is initial.
fn value<'v, V>(
    initial: &'v [Option<V>],
    events: &'v ForgettingList<Events<V>>,
    source: u32,
    key: u32,
) -> Option<&'v V> {
    let written = events.get(source as usize).and_then(|events| events.written(key));
    match written {
        Some(value) => value.as_ref(),
        None => initial[key as usize].as_ref(),
    }
}
