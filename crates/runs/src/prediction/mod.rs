//! Runs an application as a prediction says, and finds out where it leaves the prediction (sections
//! 5 and 6 of the IsoPredict paper).
//!
//! Transactions run one at a time, in an order that extends session order and who reads from whom;
//! each read returns what the prediction says if that version exists and the level allows it, else
//! the latest one. Only what the prediction needs runs: the transactions on its cycle and with
//! changed reads, and those that happen before them, each to its end; then all clients stop, so
//! that nothing else goes wrong by chance. Whether the assertion of the application breaks is known
//! only when all clients have come to their ends: for that it runs once more, and after the plan
//! the clients go on, one transaction at a time, with the latest versions.
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

mod called;
mod departure;
mod file;
mod permits;
mod plan;

pub use called::as_observed as named_as_observed;
pub use departure::PlanDeparture;
pub use file::{ObservedCommand, Predicted, PredictedRun};
pub use plan::{PlannedEvent, PlannedTxn, Writer, order as plan_order};

use crate::error::RunError;
use permits::Permits;
use seriatim_apps::{App, Db, DbError, StoreDb, Value};
use seriatim_check::{Answer, check};
use seriatim_history::History;
use seriatim_isolation::Level;
use seriatim_store::{Latest, Schedule, Script, Store, Turn, TxnName, interleave_by};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// How many turns clients get after the plan: more than any shipped application takes, and an end
/// for those that try again and again. With a workload there are more, for each transaction that it
/// attempts, of which some are several.
const TURNS_AFTER_MAX: usize = 20_000;
const TURNS_PER_ATTEMPT_MAX: usize = 8;

/// What became of a prediction.
#[derive(Debug)]
#[must_use]
pub struct Directed {
    /// What happened in the store. Transactions are called as in the observed run.
    pub history: History,
    /// The first point at which the run left the prediction.
    pub departure: Option<PlanDeparture>,
    /// Whether the run is serializable; `None` if that could not be decided.
    pub is_serializable: Option<bool>,
    /// What became of the assertion when the clients went on to their ends.
    pub assertion: Assertion,
}

/// Whether the assertion of an application held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Assertion {
    /// It did.
    Held,
    /// It did not, for this reason.
    Broke(String),
    /// That cannot be known, for this reason.
    Unknown(String),
}

/// What clients do when the plan has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Afterwards {
    /// Nothing.
    Stop,
    /// The rest, one transaction at a time.
    GoOn,
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
    let (store, _) = direct(rules, app, level, plan, Afterwards::Stop)?;
    let history = store.history();
    let departure = departure::find(plan, &store.choices(), &history);
    let is_serializable = is_serializable(&history);
    let history = called::as_observed(history, plan);
    let assertion = assertion(rules, app, level, plan)?;
    Ok(Directed { history, departure, is_serializable, assertion })
}

/// Runs the plan and all that comes after it, and asks the application.
fn assertion(
    rules: Rules,
    app: &dyn App,
    level: Level,
    plan: &[PlannedTxn],
) -> Result<Assertion, RunError> {
    let (store, seen) = direct(rules, app, level, plan, Afterwards::GoOn)?;
    let unfinished = seen.iter().position(Option::is_none);
    if let Some(client) = unfinished {
        let why = format!("client {client} did not come to its end after the predicted part");
        return Ok(Assertion::Unknown(why));
    }
    let seen: Vec<Vec<Value>> = seen.into_iter().flatten().collect();
    store.set_chooser(Latest);
    let verdict = app.verify(&seen, &mut StoreDb::new(store.session()))?;
    Ok(verdict.map_or_else(Assertion::Broke, |()| Assertion::Held))
}

/// What the user of each client saw; nothing of a client that did not come to its end.
type Seen = Vec<Option<Vec<Value>>>;

/// Runs the clients; the store, and what their users saw.
fn direct(
    rules: Rules,
    app: &dyn App,
    level: Level,
    plan: &[PlannedTxn],
    afterwards: Afterwards,
) -> Result<(Store<Value>, Seen), RunError> {
    let order = plan::order(plan)?;
    let script = Script::partial(plan.iter().filter(|txn| txn.needed).flat_map(plan::choices));
    let store: Store<Value> = Store::<Value>::builder(level).chooser(script).build()?;
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let permits = Arc::new(Permits::new(app.clients()));
    let directions = match rules {
        Rules::Helpful => Directions::of(plan),
        Rules::Plain => Directions::default(),
    };
    let client = |(number, session)| {
        let (permits, directions) = (Arc::clone(&permits), &directions);
        move |turn| {
            let mut db = DirectedDb::new(StoreDb::new(session), turn, number, permits, directions);
            let mut seen = Vec::new();
            app.run(number, &mut db, &mut |value| seen.push(value)).map(|()| seen)
        }
    };
    let clients = sessions.into_iter().enumerate().map(client).collect();
    let turns_after = match afterwards {
        Afterwards::Stop => 0,
        Afterwards::GoOn => turns_after_max(app),
    };
    let schedule = follow(&order, app.clients(), Arc::clone(&permits), turns_after);
    let mut seen = Vec::new();
    for result in interleave_by(schedule, clients).0 {
        match result {
            // The plan has ended for this client.
            Err(DbError::Closed) => seen.push(None),
            other => seen.push(Some(other?)),
        }
    }
    Ok((store, seen))
}

/// How many turns an application may take after a plan.
fn turns_after_max(app: &dyn App) -> usize {
    let attempts = app.workload().map_or(0, |of| of.sessions.saturating_mul(of.transactions));
    attempts.saturating_mul(TURNS_PER_ATTEMPT_MAX).saturating_add(TURNS_AFTER_MAX)
}

fn is_serializable(history: &History) -> Option<bool> {
    let report = check(history, Level::Serializable);
    match report.verdict(Level::Serializable)?.answer() {
        Answer::Holds => Some(true),
        Answer::Violated => Some(false),
        Answer::Undecided => None,
    }
}

/// Lets every client come to its first transaction, then those of `order` run one after the other,
/// then all stop, or go on in turn for `turns_after` turns.
fn follow(
    order: &[TxnName],
    clients: usize,
    permits: Arc<Permits>,
    turns_after: usize,
) -> Schedule {
    let mut left = turns_after;
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
        // Transactions that the plan left open come first: all others are to run one at a time.
        if let Some(place) = alive.iter().position(|&client| permits.is_open(client)) {
            return place;
        }
        if left == 0 {
            return 0;
        }
        left -= 1;
        // In turn: a client may wait for what another one does.
        let place = left % alive.len().max(1);
        permits.give(alive[place]);
        place
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
        let free = last.into_values().filter(|txn| !read_from.contains(&txn.txn()));
        let waiting = free.map(|txn| (txn.txn(), txn.reads().count())).collect();
        let aborted = plan.iter().filter(|txn| txn.aborted).map(PlannedTxn::txn).collect();
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
        // A transaction that failed has ended, whether its client said so or not.
        self.permits.end(self.txn.session as usize);
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
        self.permits.end(self.txn.session as usize);
        if self.directions.aborted.contains(&self.txn) {
            self.db.abort();
            return Err(DbError::SerializationFailure);
        }
        self.db.commit()
    }

    fn abort(&mut self) {
        self.permits.end(self.txn.session as usize);
        self.db.abort();
    }

    /// A prediction leaves aborted transactions out, so that what they read must not bind what
    /// comes after them.
    fn withdraw(&mut self) -> Result<(), DbError> {
        self.abort();
        Ok(())
    }
}
