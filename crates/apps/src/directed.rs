//! Runs an application as a prediction says, and finds out where it leaves the prediction (sections 5 and 6 of the IsoPredict paper).
//!
//! Transactions run one at a time, in an order that extends session order and who reads from whom; each read returns what the prediction
//! says if that version exists and the level allows it, else the latest one. Only what the prediction needs runs: the
//! transactions on its cycle and with changed reads, and those that happen before them, each to its end; then everybody stops, so
//! that nothing else goes wrong by chance.
//!
//! Two things are not as in the paper, because runs that it allows went wrong for no reason of the application's:
//!
//! - What a transaction does after its last predicted read is not known. It must not bind the transactions that come later, so a
//!   transaction that nobody has to wait for stays open there until all others have read what they should.
//! - A transaction that aborted in the observed run keeps its place and reads what it read then, if that is there. Without it, it might
//!   commit and bring in something that nobody predicted; the database refuses that commit, as a database may.

use crate::app::{App, RunError};
use crate::db::{Db, DbError, StoreDb};
use crate::value::Value;
use serde::Deserialize;
use seriatim_check::{Level, Options, Outcome, check};
use seriatim_history::{History, OpId, OpKind, Status, TxnId};
use seriatim_store::{Choice, Schedule, Script, Store, Turn, TxnName, interleave_by};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// A transaction of a prediction, as `seriatim predict` writes it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct PlannedTxn {
    /// The number of its session.
    pub session: u32,
    /// Its place in the session, aborted transactions included.
    pub index: u32,
    /// Whether all of it is predicted.
    pub whole: bool,
    /// Whether the prediction needs it to run.
    pub needed: bool,
    /// Whether it aborted in the observed run.
    pub aborted: bool,
    /// What it reads and writes.
    pub events: Vec<PlannedEvent>,
}

/// An event of a prediction.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum PlannedEvent {
    /// A read.
    Read {
        /// The key.
        read: String,
        /// Whom it reads from; nothing for the initial state.
        from: Option<Writer>,
    },
    /// A write.
    Write {
        /// The key.
        write: String,
    },
}

impl PlannedEvent {
    /// Whom it reads from, if it reads from a transaction.
    pub fn writer_mut(&mut self) -> Option<&mut Writer> {
        match self {
            PlannedEvent::Read { from, .. } => from.as_mut(),
            PlannedEvent::Write { .. } => None,
        }
    }
}

/// A transaction that is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Writer {
    /// The number of its session.
    pub session: u32,
    /// Its place in the session.
    pub index: u32,
}

impl From<Writer> for TxnName {
    fn from(writer: Writer) -> TxnName {
        TxnName { session: writer.session, txn: writer.index }
    }
}

impl PlannedTxn {
    fn name(&self) -> TxnName {
        TxnName { session: self.session, txn: self.index }
    }

    fn reads(&self) -> impl Iterator<Item = (&str, Option<TxnName>)> {
        self.events.iter().filter_map(|event| match event {
            PlannedEvent::Read { read, from } => Some((read.as_str(), from.map(TxnName::from))),
            PlannedEvent::Write { .. } => None,
        })
    }

    fn writes(&self) -> BTreeSet<&str> {
        let writes = self.events.iter().filter_map(|event| match event {
            PlannedEvent::Write { write } => Some(write.as_str()),
            PlannedEvent::Read { .. } => None,
        });
        writes.collect()
    }
}

/// Where a run left a prediction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Left {
    /// It reads something else.
    #[error("{} reads {found} where {expected} was predicted", shown(.txn))]
    OtherKey {
        /// The transaction.
        txn: TxnName,
        /// What it reads.
        found: String,
        /// What was predicted.
        expected: String,
    },
    /// It reads from somebody else.
    #[error("{} reads {key} from {} instead of {}", shown(.txn), writer(.found), writer(.expected))]
    OtherWriter {
        /// The transaction.
        txn: TxnName,
        /// What it reads.
        key: String,
        /// From whom.
        found: Option<TxnName>,
        /// From whom it was predicted.
        expected: Option<TxnName>,
    },
    /// It reads more or less than predicted.
    #[error("{} reads {found} times from others, and {expected} reads were predicted", shown(.txn))]
    OtherReads {
        /// The transaction.
        txn: TxnName,
        /// How often it reads.
        found: usize,
        /// How often was predicted.
        expected: usize,
    },
    /// It writes other keys.
    #[error("{} writes other keys than predicted, among them {key}", shown(.txn))]
    OtherWrites {
        /// The transaction.
        txn: TxnName,
        /// A key that only one of them writes.
        key: String,
    },
    /// It aborted, or did not run at all.
    #[error("{} does not commit", shown(.txn))]
    NotCommitted {
        /// The transaction.
        txn: TxnName,
    },
}

fn shown(txn: &TxnName) -> String {
    format!("transaction {} of session {}", txn.txn, txn.session)
}

fn writer(txn: &Option<TxnName>) -> String {
    txn.as_ref().map_or("the initial state".to_owned(), shown)
}

/// What became of a prediction.
pub struct Directed {
    /// What happened in the store.
    pub history: History,
    /// The first point at which the run left the prediction.
    pub left: Option<Left>,
    /// Whether the run is serializable; `None` if that could not be decided.
    pub is_serializable: Option<bool>,
}

/// Runs `app` at `level` as `plan` says.
pub fn run_directed(app: &dyn App, level: Level, plan: &[PlannedTxn]) -> Result<Directed, RunError> {
    let order = order(plan);
    let script = Script::partial(plan.iter().filter(|txn| txn.needed).flat_map(choices));
    let store: Store<Value> = Store::<Value>::builder(level).chooser(script).build()?;
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let permits = Arc::new(Permits(Mutex::new(vec![0; app.clients()])));
    let directions = Directions::of(plan);
    let client = |(number, session)| {
        let (permits, directions) = (Arc::clone(&permits), &directions);
        move |turn| {
            let mut db = DirectedDb::new(StoreDb::new(session), turn, number, permits, directions);
            app.run(number, &mut db, &mut |_| {})
        }
    };
    let clients = sessions.into_iter().enumerate().map(client).collect();
    let results = interleave_by(follow(&order, app.clients(), Arc::clone(&permits)), clients).0;
    for result in results {
        match result {
            Err(DbError::Failed(reason)) if reason == STOP => {}
            other => other?,
        }
    }
    let history = store.history();
    let left = left(plan, &store.choices(), &history);
    let is_serializable = is_serializable(&history);
    Ok(Directed { history, left, is_serializable })
}

fn is_serializable(history: &History) -> Option<bool> {
    let report = check(history, &Options { levels: vec![Level::Serializable], ..Options::default() });
    match report.verdict(Level::Serializable)?.outcome {
        Outcome::Holds => Some(true),
        Outcome::Violated => Some(false),
        Outcome::Undecided => None,
    }
}

/// The choices that the reads of a transaction should make.
fn choices(txn: &PlannedTxn) -> Vec<Choice> {
    let choice = |(number, (key, writer)): (usize, (&str, Option<TxnName>))| Choice {
        reader: txn.name(),
        read: number as u32,
        key: key.to_owned(),
        writer,
        latest: false,
    };
    txn.reads().enumerate().map(choice).collect()
}

/// The needed transactions in an order that extends session order and who reads from whom; the first that may come is the one of the
/// session that is furthest behind, so that the order is always the same.
fn order(plan: &[PlannedTxn]) -> Vec<TxnName> {
    let needed: Vec<&PlannedTxn> = plan.iter().filter(|txn| txn.needed).collect();
    let names: BTreeSet<TxnName> = needed.iter().map(|txn| txn.name()).collect();
    let mut sessions: HashMap<u32, VecDeque<&PlannedTxn>> = HashMap::new();
    for &txn in &needed {
        sessions.entry(txn.session).or_default().push_back(txn);
    }
    for txns in sessions.values_mut() {
        txns.make_contiguous().sort_by_key(|txn| txn.index);
    }
    let mut done: BTreeSet<TxnName> = BTreeSet::new();
    let mut order = Vec::with_capacity(needed.len());
    while order.len() < needed.len() {
        let is_ready = |txn: &PlannedTxn| {
            let writers = txn.reads().filter_map(|read| read.1);
            writers.filter(|writer| names.contains(writer)).all(|writer| done.contains(&writer))
        };
        let mut heads: Vec<&PlannedTxn> = sessions.values().filter_map(|txns| txns.front().copied()).collect();
        heads.sort_by_key(|txn| (txn.index, txn.session));
        // What aborts waits for its writers only if they do not wait for what follows it.
        let ready = heads.iter().find(|txn| is_ready(txn)).or_else(|| heads.iter().find(|txn| txn.aborted));
        // A plan whose reads are in a circle is no history; the rest does not run.
        let Some(next) = ready.map(|txn| txn.name()) else { break };
        if let Some(txns) = sessions.get_mut(&next.session) {
            txns.pop_front();
        }
        done.insert(next);
        order.push(next);
    }
    order
}

/// Why a client stops.
const STOP: &str = "the plan ends here";

/// How many transactions each client may still begin.
struct Permits(Mutex<Vec<u32>>);

impl Permits {
    fn give(&self, client: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[client] += 1;
    }

    fn take(&self, client: usize) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let may = left[client] > 0;
        left[client] = left[client].saturating_sub(1);
        may
    }
}

/// Lets every client come to its first transaction, then those of `order` run one after the other, then all stop.
fn follow(order: &[TxnName], clients: usize, permits: Arc<Permits>) -> Schedule {
    let mut first: VecDeque<usize> = (0..clients).collect();
    let mut order: VecDeque<TxnName> = order.iter().copied().collect();
    Box::new(move |alive| {
        let place = |client: usize| alive.iter().position(|&other| other == client);
        while let Some(client) = first.pop_front() {
            if let Some(place) = place(client) {
                return place;
            }
        }
        while let Some(next) = order.pop_front() {
            if let Some(place) = place(next.session as usize) {
                permits.give(next.session as usize);
                return place;
            }
        }
        0
    })
}

/// What is asked of single transactions beside what they read.
struct Directions {
    /// Those that are not to commit.
    aborted: HashSet<TxnName>,
    /// Those that wait for all others after this many reads from others.
    waiting: HashMap<TxnName, usize>,
}

impl Directions {
    fn of(plan: &[PlannedTxn]) -> Directions {
        let needed = || plan.iter().filter(|txn| txn.needed);
        let read_from: HashSet<TxnName> = needed().flat_map(PlannedTxn::reads).filter_map(|read| read.1).collect();
        let mut last: HashMap<u32, &PlannedTxn> = HashMap::new();
        for txn in needed().filter(|txn| !txn.aborted) {
            let known = last.entry(txn.session).or_insert(txn);
            if known.index < txn.index {
                *known = txn;
            }
        }
        let free = last.into_values().filter(|txn| !read_from.contains(&txn.name()));
        let waiting = free.map(|txn| (txn.name(), txn.reads().count())).collect();
        let aborted = plan.iter().filter(|txn| txn.aborted).map(PlannedTxn::name).collect();
        Directions { aborted, waiting }
    }
}

/// A connection that begins a transaction only when it is its turn in the plan.
struct DirectedDb<'d> {
    db: StoreDb,
    turn: Turn,
    permits: Arc<Permits>,
    directions: &'d Directions,
    /// The transaction that began last.
    txn: TxnName,
    /// How many transactions have begun.
    begun: u32,
    /// How often it has read from others.
    reads: usize,
    written: HashSet<String>,
}

impl<'d> DirectedDb<'d> {
    fn new(db: StoreDb, turn: Turn, number: usize, permits: Arc<Permits>, directions: &'d Directions) -> Self {
        let txn = TxnName { session: number as u32, txn: 0 };
        DirectedDb { db, turn, permits, directions, txn, begun: 0, reads: 0, written: HashSet::new() }
    }
}

impl Db for DirectedDb<'_> {
    fn begin(&mut self) -> Result<(), DbError> {
        self.turn.next();
        if !self.permits.take(self.txn.session as usize) {
            return Err(DbError::Failed(STOP.to_owned()));
        }
        self.txn.txn = self.begun;
        self.begun += 1;
        self.reads = 0;
        self.written.clear();
        self.db.begin()
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        let value = self.db.read(key)?;
        if !self.written.contains(key) {
            self.reads += 1;
            if self.directions.waiting.get(&self.txn) == Some(&self.reads) {
                self.turn.next();
            }
        }
        Ok(value)
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        self.written.insert(key.to_owned());
        self.db.write(key, value)
    }

    fn commit(&mut self) -> Result<(), DbError> {
        if self.directions.aborted.contains(&self.txn) {
            self.db.abort();
            return Err(DbError::SerializationFailure);
        }
        self.db.commit()
    }

    fn abort(&mut self) {
        self.db.abort();
    }
}

/// The first point at which a run left its plan: a read, else what a transaction wrote or how it ended.
fn left(plan: &[PlannedTxn], choices: &[Choice], history: &History) -> Option<Left> {
    // What a transaction read that aborts again does not matter.
    let lasting = plan.iter().filter(|txn| !txn.aborted);
    let planned: HashMap<TxnName, &PlannedTxn> = lasting.map(|txn| (txn.name(), txn)).collect();
    let by_read = choices.iter().find_map(|choice| wrong_read(planned.get(&choice.reader)?, choice));
    let mut needed = plan.iter().filter(|txn| txn.needed);
    by_read.or_else(|| needed.find_map(|txn| wrong_end(txn, choices, history)))
}

fn wrong_read(txn: &PlannedTxn, choice: &Choice) -> Option<Left> {
    let Some((key, writer)) = txn.reads().nth(choice.read as usize) else {
        let (found, expected) = (choice.read as usize + 1, txn.reads().count());
        return txn.whole.then_some(Left::OtherReads { txn: txn.name(), found, expected });
    };
    if key != choice.key {
        let (found, expected) = (choice.key.clone(), key.to_owned());
        return Some(Left::OtherKey { txn: txn.name(), found, expected });
    }
    let (found, expected) = (choice.writer, writer);
    (found != expected).then(|| Left::OtherWriter { txn: txn.name(), key: key.to_owned(), found, expected })
}

fn wrong_end(txn: &PlannedTxn, choices: &[Choice], history: &History) -> Option<Left> {
    let name = txn.name();
    let session = history.session_bounds().get(name.session as usize..name.session as usize + 2)?;
    let id = Some(TxnId(session[0] + name.txn)).filter(|id| id.0 < session[1]);
    let committed = id.filter(|&id| history.status(id) == Status::Committed);
    match (committed, txn.aborted) {
        (_, true) => return None,
        (None, false) => return Some(Left::NotCommitted { txn: name }),
        (Some(_), false) => {}
    }
    let (found, expected) = (choices.iter().filter(|choice| choice.reader == name).count(), txn.reads().count());
    if !txn.whole {
        return (found < expected).then_some(Left::OtherReads { txn: name, found, expected });
    }
    if found != expected {
        return Some(Left::OtherReads { txn: name, found, expected });
    }
    let ops = history.ops_of(committed?).map(|op| history.op(OpId(op))).filter(|op| op.kind != OpKind::Read);
    let written: BTreeSet<String> = ops.map(|op| history.key_name(op.key).to_string()).collect();
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    let key = written.symmetric_difference(&txn.writes()).next().map(|key| (*key).to_owned());
    key.map(|key| Left::OtherWrites { txn: name, key })
}
