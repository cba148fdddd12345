//! When statements run and when they are answered. One statement runs at a time, except for those
//! that wait for locks, so that a run is told by the order of its steps, and repeats if the order
//! is kept ([`StepScript`]).
//!
//! Statements are held before they run, or their answers after they have run, for a short time, so
//! that other clients overlap with them: what a server under load does by itself. A [`Holder`]
//! decides whom, where and for how long. A statement is held for a bounded time, all places
//! together, and never when no other client could use it: when each of them waits for a lock, is
//! held itself, or has sent nothing for a while.

mod at_one;
mod by_chance;
mod steps;

pub use at_one::AtOne;
pub use by_chance::{ByChance, Holder, Never, Point};
pub use steps::{NoStep, Step, StepScript};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use steps::Turn;

/// How long one statement is held at most, unless said otherwise.
pub const HOLD_MAX: Duration = Duration::from_millis(20);
/// A client that sends nothing for this long is idle: those who are busy answer sooner.
const IDLE_MIN: Duration = Duration::from_millis(2);
/// How often one that holds looks at the others.
const LOOK: Duration = Duration::from_millis(1);
/// How long a statement waits for another one that runs: one that sleeps, say, must not stop all.
const RUNNING_WAIT_MAX: Duration = Duration::from_millis(50);
/// How long the first statements wait for all clients that are to come.
const GATHER_MAX: Duration = Duration::from_millis(1500);
/// So many steps are remembered.
const STEPS_MAX: usize = 1 << 20;

/// Where a statement can be held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// It has arrived, and nothing of it has happened.
    Before,
    /// It has run, and its client was not told.
    After,
}

/// What a client is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    Idle,
    Works,
    IsHeld,
}

#[derive(Clone, Copy, Debug)]
struct Client {
    /// What it is called in steps: its number in the store, which histories know.
    name: u32,
    doing: Doing,
    since: Instant,
    /// How many statements it has sent.
    statements: u32,
    /// For how long its statement may still be held.
    left: Duration,
    /// Whether a statement of it has begun to run and was not answered.
    is_unanswered: bool,
}

/// Is told the name of a client, and may take its time.
pub type OnSwitch = Arc<dyn Fn(u32) + Send + Sync>;

struct Inner {
    holder: Box<dyn Holder>,
    /// The order that is to be kept, if there is one.
    script: Option<StepScript>,
    steps: Vec<Step>,
    clients: BTreeMap<u32, Client>,
    /// What applications call their connections, by their names in steps.
    called: BTreeMap<u32, String>,
    /// The client whose statement runs.
    running: Option<u32>,
    /// Is told of each client that goes on where another one was.
    on_switch: Option<OnSwitch>,
    /// How many clients are to come before the first statement runs, and until when.
    gathering: Option<(usize, Option<Instant>)>,
}

/// Holds the statements of all clients of a server.
pub struct Holding {
    most: Duration,
    idle_after: Duration,
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl fmt::Debug for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Holding(at most {:?})", self.most)
    }
}

impl Holding {
    /// Holds each statement for at most `most`, as `holder` decides.
    pub fn new(holder: impl Holder + 'static, most: Duration) -> Holding {
        let idle_after = holder.idle_after();
        let inner = Inner {
            holder: Box::new(holder),
            script: None,
            steps: Vec::new(),
            clients: BTreeMap::new(),
            called: BTreeMap::new(),
            running: None,
            on_switch: None,
            gathering: None,
        };
        Holding { most, idle_after, inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// Keeps an order, and holds nothing else.
    pub fn following(script: StepScript) -> Holding {
        let holding = Holding::new(Never, Duration::ZERO);
        holding.lock().script = Some(script);
        holding
    }

    /// Calls this before a client goes on where another one was; everything waits meanwhile.
    pub fn pausing(self, on_switch: OnSwitch) -> Holding {
        self.lock().on_switch = Some(on_switch);
        self
    }

    /// Lets no statement run until so many clients are there, or until they do not come for a
    /// while: processes that are started together are not ready together.
    pub fn gathering(self, clients: usize) -> Holding {
        self.lock().gathering = (clients > 1).then_some((clients, None));
        self
    }

    /// From now on nothing is held and no order is kept.
    pub fn release(&self) {
        let mut inner = self.lock();
        inner.holder = Box::new(Never);
        (inner.script, inner.on_switch, inner.gathering) = (None, None, None);
        self.changed.notify_all();
    }

    /// The steps that were done so far.
    pub fn steps(&self) -> Vec<Step> {
        self.lock().steps.clone()
    }

    /// How many steps of the order that is to be kept did not come when they should have.
    pub fn passed_over(&self) -> u32 {
        self.lock().script.as_ref().map_or(0, StepScript::passed_over)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'h>(&self, inner: MutexGuard<'h, Inner>, time: Duration) -> MutexGuard<'h, Inner> {
        let waited = self.changed.wait_timeout(inner, time.min(LOOK));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn note(&self, session: u32, doing: Doing) {
        let mut inner = self.lock();
        let left = self.most;
        let client = inner.clients.entry(session).or_insert_with(|| Client {
            name: session,
            doing,
            since: Instant::now(),
            statements: 0,
            left,
            is_unanswered: false,
        });
        (client.doing, client.since) = (doing, Instant::now());
        self.changed.notify_all();
    }

    /// A client is there, and is called `name` in steps.
    pub fn joins(&self, session: u32, name: u32) {
        self.note(session, Doing::Works);
        if let Some(client) = self.lock().clients.get_mut(&session) {
            client.name = name;
        }
    }

    /// The application calls the connection of a client like this.
    pub fn calls(&self, session: u32, called: String) {
        let mut inner = self.lock();
        let name = inner.name(session);
        if !called.is_empty() {
            inner.called.insert(name, called);
        }
    }

    /// What applications call their connections, by their names in steps.
    pub fn called(&self) -> BTreeMap<u32, String> {
        self.lock().called.clone()
    }

    /// The client was answered: what it does next is up to it.
    pub fn idles(&self, session: u32) {
        self.note(session, Doing::Idle);
    }

    /// Something of the client has arrived.
    pub fn works(&self, session: u32) {
        self.note(session, Doing::Works);
    }

    /// A statement of the client has arrived; returns when it may run. `waits` says of sessions
    /// whether they wait for a lock.
    pub fn begin_statement(&self, session: u32, text: &str, waits: &dyn Fn(u32) -> bool) {
        self.works(session);
        let mut inner = self.lock();
        if let Some(client) = inner.clients.get_mut(&session) {
            (client.statements, client.left) = (client.statements + 1, self.most);
        }
        let name = inner.name(session);
        if let Some(script) = &mut inner.script {
            script.joins(name);
        }
        self.gather(inner);
        self.hold(session, Place::Before, text, waits);
        self.run(session, waits);
    }

    /// A statement of the client has run; returns when it may be answered.
    pub fn end_statement(&self, session: u32, waits: &dyn Fn(u32) -> bool) {
        let mut inner = self.lock();
        inner.stops(session);
        let is_unanswered = inner.clients.get(&session).is_some_and(|it| it.is_unanswered);
        drop(inner);
        self.changed.notify_all();
        if !is_unanswered {
            return;
        }
        self.hold(session, Place::After, "", waits);
        let step = Step { session: self.lock().name(session), place: Place::After };
        let mut inner = self.turn(step);
        if let Some(client) = inner.clients.get_mut(&session) {
            client.is_unanswered = false;
        }
        inner.done(step);
    }

    /// The client is gone.
    pub fn leaves(&self, session: u32) {
        let mut inner = self.lock();
        let name = inner.name(session);
        inner.clients.remove(&session);
        inner.stops(session);
        if let Some(script) = &mut inner.script {
            script.leaves(name);
        }
        self.changed.notify_all();
    }

    fn gather(&self, mut inner: MutexGuard<'_, Inner>) {
        while let Some((expected, until)) = inner.gathering {
            let until = until.unwrap_or_else(|| Instant::now() + GATHER_MAX);
            if inner.clients.len() >= expected || Instant::now() >= until {
                inner.gathering = None;
                self.changed.notify_all();
                return;
            }
            inner.gathering = Some((expected, Some(until)));
            inner = self.wait(inner, LOOK);
        }
    }

    /// Waits until no other statement runs, except for those that wait for locks.
    fn run(&self, session: u32, waits: &dyn Fn(u32) -> bool) {
        let step = Step { session: self.lock().name(session), place: Place::Before };
        let mut inner = self.turn(step);
        let begun = Instant::now();
        while let Some(other) = inner.running.filter(|&other| other != session) {
            if begun.elapsed() >= RUNNING_WAIT_MAX || waits(other) {
                break;
            }
            inner = self.wait(inner, LOOK);
        }
        inner.running = Some(session);
        if let Some(client) = inner.clients.get_mut(&session) {
            client.is_unanswered = true;
        }
        inner.done(step);
    }

    /// Waits until a step is the next one of the order that is to be kept.
    fn turn(&self, step: Step) -> MutexGuard<'_, Inner> {
        let mut inner = self.lock();
        while inner.script.as_mut().is_some_and(|script| script.take(step) == Turn::Wait) {
            inner = self.wait(inner, LOOK);
        }
        let is_switch = inner.steps.last().is_none_or(|last| last.session != step.session);
        if let Some(on_switch) = inner.on_switch.clone().filter(|_| is_switch) {
            on_switch(step.session);
            // Nobody is late because of that.
            inner.script.iter_mut().for_each(StepScript::went_on);
        }
        self.changed.notify_all();
        inner
    }

    /// Holds the statement of a session as long as that is decided, and as long as another client
    /// could overlap with it.
    fn hold(&self, session: u32, place: Place, text: &str, waits: &dyn Fn(u32) -> bool) {
        let Some(time) = self.decide(session, place, text) else { return };
        let begun = Instant::now();
        self.note(session, Doing::IsHeld);
        let mut inner = self.lock();
        loop {
            let left = time.saturating_sub(begun.elapsed());
            if left.is_zero() || !inner.has_active(session, self.idle_after, waits) {
                break;
            }
            inner = self.wait(inner, left);
        }
        drop(inner);
        self.note(session, Doing::Works);
    }

    /// For how long the statement is to be held, if at all.
    fn decide(&self, session: u32, place: Place, text: &str) -> Option<Duration> {
        let mut inner = self.lock();
        let Inner { holder, clients, .. } = &mut *inner;
        let client = clients.get_mut(&session)?;
        let point = Point { session, statement: client.statements.checked_sub(1)?, place };
        let time = holder.hold(point, text, client.left).min(client.left);
        client.left -= time;
        (!time.is_zero()).then_some(time)
    }
}

impl Inner {
    /// What a client is called in steps.
    fn name(&self, session: u32) -> u32 {
        self.clients.get(&session).map_or(session, |client| client.name)
    }

    fn done(&mut self, step: Step) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push(step);
        }
    }

    /// The statement of a client runs no more.
    fn stops(&mut self, session: u32) {
        if self.running == Some(session) {
            self.running = None;
        }
    }

    /// Whether another client does something, or has done so lately.
    fn has_active(&self, session: u32, idle_after: Duration, waits: &dyn Fn(u32) -> bool) -> bool {
        self.clients.iter().any(|(&number, client)| {
            let is_active = match client.doing {
                Doing::IsHeld => false,
                Doing::Idle => client.since.elapsed() < idle_after,
                Doing::Works => !waits(number),
            };
            number != session && is_active
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds everything for as long as it may.
    struct Always;

    impl Holder for Always {
        fn hold(&mut self, _: Point, _: &str, most: Duration) -> Duration {
            most
        }
    }

    const LONG: Duration = Duration::from_secs(5);

    fn held_for(holding: &Holding, session: u32, waits: &dyn Fn(u32) -> bool) -> Duration {
        let begun = Instant::now();
        holding.begin_statement(session, "", waits);
        holding.end_statement(session, &|_| true);
        holding.idles(session);
        begun.elapsed()
    }

    #[test]
    fn nobody_is_held_when_all_others_wait_or_are_idle_or_held() {
        let holding = Arc::new(Holding::new(Always, LONG));
        assert!(held_for(&holding, 1, &|_| false) < LONG / 10);
        holding.works(2);
        assert!(held_for(&holding, 1, &|session| session == 2) < LONG / 10);
        holding.idles(2);
        assert!(held_for(&holding, 1, &|_| false) < LONG / 10);
        // Two that are held do not hold each other.
        let other = Arc::clone(&holding);
        let thread = std::thread::spawn(move || held_for(&other, 2, &|_| false));
        assert!(held_for(&holding, 1, &|_| false) < LONG / 10);
        assert!(thread.join().unwrap() < LONG / 10);
    }

    #[test]
    fn one_is_held_for_a_bounded_time_while_another_works() {
        let most = Duration::from_millis(30);
        let holding = Holding::new(Always, most);
        holding.works(2);
        let begun = Instant::now();
        holding.begin_statement(1, "", &|_| false);
        let time = begun.elapsed();
        assert!(time >= most && time < LONG, "{time:?}");
        // Nothing is left of the time of this statement.
        let begun = Instant::now();
        holding.end_statement(1, &|_| false);
        assert!(begun.elapsed() < most);
    }

    #[test]
    fn one_statement_runs_at_a_time() {
        let holding = Arc::new(Holding::new(Never, LONG));
        holding.begin_statement(1, "", &|_| false);
        let other = Arc::clone(&holding);
        let thread = std::thread::spawn(move || {
            other.begin_statement(2, "", &|_| false);
            other.steps()
        });
        while !holding.lock().clients.contains_key(&2) {
            std::thread::yield_now();
        }
        holding.end_statement(1, &|_| false);
        let steps: Vec<String> = thread.join().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!((steps[0].as_str(), steps.contains(&"2+".to_owned())), ("1+", true));
        assert!(holding.lock().running == Some(2), "{steps:?}");
    }

    #[test]
    fn an_order_is_kept_whoever_comes_first() {
        let order = ["2+", "2-", "1+", "1-"].map(|step| step.parse::<Step>().unwrap());
        let holding = Arc::new(Holding::following(StepScript::new(order)));
        let statement = |session| {
            let holding = Arc::clone(&holding);
            std::thread::spawn(move || {
                holding.begin_statement(session, "", &|_| false);
                holding.end_statement(session, &|_| false);
            })
        };
        let first = statement(1);
        while !holding.lock().clients.contains_key(&1) {
            std::thread::yield_now();
        }
        let second = statement(2);
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!((holding.steps(), holding.passed_over()), (order.to_vec(), 0));
    }
}
