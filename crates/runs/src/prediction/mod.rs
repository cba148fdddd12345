//! Runs an application as a prediction says, and finds out where it leaves the prediction (sections
//! 5 and 6 of the IsoPredict paper).
//!
//! Transactions run one at a time, in an order that extends session order and who reads from whom;
//! each read returns what the prediction says if that version exists and the level allows it, else
//! the latest one. Only what the prediction needs runs: the transactions on its cycle and with
//! changed reads, and those that happen before them, each to its end; then all clients stop, so
//! that nothing else goes wrong by chance.
//!
//! Two things are not as in the paper, because runs that it allows went wrong for no reason of the
//! application's:
//!
//! - What a transaction does after its last predicted read is not known. It must not bind the
//!   transactions that come later, so a transaction that no other has to wait for stays open there
//!   until all others have read what they should.
//! - A transaction that aborted in the observed run keeps its place and reads what it read then, if
//!   that is there. Without it, it might commit and bring in something that was not predicted; the
//!   database refuses that commit, as a database may.

mod departure;
mod file;
mod plan;

pub use departure::PlanDeparture;
pub use file::{Predicted, PredictedRun};
pub use plan::{PlanError, PlannedEvent, PlannedTxn, Writer};

use crate::run::RunError;
use seriatim_apps::{App, Db, DbError, StoreDb, Value};
use seriatim_check::{Answer, check};
use seriatim_history::History;
use seriatim_isolation::Level;
use seriatim_store::{Schedule, Script, Store, Turn, TxnName, interleave_by};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// What became of a prediction.
pub struct Directed {
    /// What happened in the store.
    pub history: History,
    /// The first point at which the run left the prediction.
    pub departure: Option<PlanDeparture>,
    /// Whether the run is serializable; `None` if that could not be decided.
    pub is_serializable: Option<bool>,
}

/// What a run does beside reading what is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rules {
    /// Transactions that no other has to wait for stay open until all others have read, and those
    /// that aborted abort again.
    #[default]
    Helpful,
    /// Neither: every transaction runs to its end when it is its turn.
    Plain,
}

/// Runs `app` at `level` as `plan` says.
pub fn run_directed(
    app: &dyn App,
    level: Level,
    plan: &[PlannedTxn],
) -> Result<Directed, RunError> {
    run_directed_by(Rules::Helpful, app, level, plan)
}

/// Runs `app` at `level` as `plan` says, by these rules.
pub fn run_directed_by(
    rules: Rules,
    app: &dyn App,
    level: Level,
    plan: &[PlannedTxn],
) -> Result<Directed, RunError> {
    plan::check(plan, app.clients())?;
    let order = plan::order(plan)?;
    let script = Script::partial(plan.iter().filter(|txn| txn.needed).flat_map(plan::choices));
    let store: Store<Value> = Store::<Value>::builder(level).chooser(script).build()?;
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let permits = Arc::new(Permits(Mutex::new(vec![0; app.clients()])));
    let directions = match rules {
        Rules::Helpful => Directions::of(plan),
        Rules::Plain => Directions::default(),
    };
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
            // The plan has ended for this client.
            Err(DbError::Closed) => {}
            other => other?,
        }
    }
    let history = store.history();
    let departure = departure::find(plan, &store.choices(), &history);
    let is_serializable = is_serializable(&history);
    Ok(Directed { history, departure, is_serializable })
}

fn is_serializable(history: &History) -> Option<bool> {
    let report = check(history, Level::Serializable);
    match report.verdict(Level::Serializable)?.answer() {
        Answer::Holds => Some(true),
        Answer::Violated => Some(false),
        Answer::Undecided => None,
    }
}

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

/// Lets every client come to its first transaction, then those of `order` run one after the other,
/// then all stop.
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
#[derive(Default)]
struct Directions {
    /// Those that are not to commit.
    aborted: HashSet<TxnName>,
    /// Those that wait for all others after this many reads from others.
    waiting: HashMap<TxnName, usize>,
}

impl Directions {
    fn of(plan: &[PlannedTxn]) -> Directions {
        let needed = || plan.iter().filter(|txn| txn.needed);
        let read_from: HashSet<TxnName> =
            needed().flat_map(PlannedTxn::reads).filter_map(|read| read.1).collect();
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
    fn new(
        db: StoreDb,
        turn: Turn,
        number: usize,
        permits: Arc<Permits>,
        directions: &'d Directions,
    ) -> Self {
        let txn = TxnName { session: number as u32, txn: 0 };
        DirectedDb {
            db,
            turn,
            permits,
            directions,
            txn,
            begun: 0,
            reads: 0,
            written: HashSet::new(),
        }
    }
}

impl Db for DirectedDb<'_> {
    fn begin(&mut self) -> Result<(), DbError> {
        self.turn.next();
        if !self.permits.take(self.txn.session as usize) {
            return Err(DbError::Closed);
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

    /// A prediction leaves aborted transactions out, so that what they read must not bind what
    /// comes after them.
    fn withdraw(&mut self) -> Result<(), DbError> {
        self.db.abort();
        Ok(())
    }
}
