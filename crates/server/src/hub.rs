//! What all protocols share: the store, its sessions, and settings that can change while clients
//! are connected.
//!
//! Locks are taken in this order: the hub's, a session's, the store's. None is held while something
//! is awaited.

use crate::cells::StoreCells;
use crate::config::Config;
use crate::contained::{Panicked, contained};
use crate::error::{End, HubError};
use crate::picks::Picks;
use crate::questions::Questions;
use crate::session::Slot;
use crate::waiting::Waits;
use serde_json::{Value, json};
use seriatim_history::History;
use seriatim_isolation::{Level, Order};
use seriatim_store::{
    Asker, Chooser, ChooserKind, Clock, Delay, Glance, Store, StoreError, TxnName,
};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many ended sessions are remembered with the reason of their end.
const ENDED_MAX: usize = 4096;

/// A session that was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opened {
    /// What clients call it; never used again.
    pub id: u64,
    /// Its number in the history, which begins anew when the store is reset.
    pub number: u32,
}

/// The store and the sessions of its clients.
pub(crate) struct Hub {
    sessions_max: usize,
    pub body_bytes_max: usize,
    idle_max: Duration,
    turn_wait_max: Duration,
    order: Order,
    horizon: Option<NonZeroU32>,
    /// Who is asked instead of the chooser, if somebody is.
    questions: Option<Arc<Questions>>,
    /// The store of SQL, if that is what people look at.
    watched: OnceLock<Arc<StoreCells>>,
    /// Random waits before transactions.
    delay: Option<Mutex<Delay>>,
    /// Closed when the server stops.
    going: Semaphore,
    /// One permit if transactions run one at a time. Not left to the store: waiting there would
    /// block a thread.
    turns: Option<Arc<Semaphore>>,
    inner: Mutex<Inner>,
}

struct Inner {
    store: Store<Value>,
    picks: Picks,
    slots: BTreeMap<u64, Arc<Slot>>,
    next: u64,
    /// The last sessions that ended, and why.
    ended: BTreeMap<u64, End>,
    closed: bool,
}

impl Inner {
    fn remember(&mut self, id: u64, end: End) {
        self.ended.insert(id, end);
        if self.ended.len() > ENDED_MAX {
            self.ended.pop_first();
        }
    }

    /// What it takes to have the same choices again, as the history keeps it.
    fn settings(&self) -> Value {
        json!({
            "source": "serve",
            "level": self.store.level().code(),
            "chooser": self.picks.kind().code(),
            "seed": self.picks.seed(),
            "resets": self.picks.resets(),
        })
    }

    fn end_all(&mut self, end: End) {
        for (id, slot) in std::mem::take(&mut self.slots) {
            slot.end(end);
            self.remember(id, end);
        }
    }
}

fn new_store(
    level: Level,
    chooser: Box<dyn Chooser>,
    order: Order,
    horizon: Option<NonZeroU32>,
    questions: Option<&Arc<Questions>>,
) -> Result<Store<Value>, StoreError> {
    let builder =
        Store::<Value>::builder(level).chooser(chooser).order(order).clock(Clock::Monotonic);
    let store = match horizon {
        Some(commits) => builder.horizon(commits).build(),
        None => builder.build(),
    }?;
    if let Some(questions) = questions {
        store.set_asker(Arc::clone(questions) as Arc<dyn Asker>);
    }
    Ok(store)
}

impl Hub {
    pub fn new(config: &Config) -> Result<Hub, StoreError> {
        let mut picks = Picks::new(config.chooser, config.seed);
        let questions = config.questions.clone();
        let (order, horizon) = (config.order, config.horizon);
        let store = new_store(config.level, picks.chooser(), order, horizon, questions.as_ref())?;
        let inner = Inner {
            store,
            picks,
            slots: BTreeMap::new(),
            next: 0,
            ended: BTreeMap::new(),
            closed: false,
        };
        Ok(Hub {
            sessions_max: config.sessions_max,
            body_bytes_max: config.body_bytes_max,
            idle_max: config.idle_max,
            turn_wait_max: config.turn_wait_max,
            order,
            horizon,
            questions,
            watched: OnceLock::new(),
            delay: (!config.delay_max.is_zero())
                .then(|| Mutex::new(Delay::new(config.delay_max, config.seed))),
            going: Semaphore::new(0),
            turns: config.serial.then(|| Arc::new(Semaphore::new(1))),
            inner: Mutex::new(inner),
        })
    }

    /// A panic leaves at worst a session that ends when it is idle.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn open_session(&self) -> Result<Opened, HubError> {
        let mut inner = self.lock();
        if inner.closed {
            return Err(HubError::ShuttingDown);
        }
        if inner.slots.len() >= self.sessions_max {
            return Err(HubError::TooManySessions { max: self.sessions_max, idle: self.idle_max });
        }
        let session = inner.store.session();
        let opened = Opened { id: inner.next, number: session.number() };
        inner.next += 1;
        inner.slots.insert(opened.id, Arc::new(Slot::new(opened.id, session)));
        Ok(opened)
    }

    /// Ends a session; its open transaction aborts.
    pub fn close_session(&self, id: u64) -> Result<(), HubError> {
        let slot = self.slot(id)?;
        slot.end(End::Closed);
        let mut inner = self.lock();
        if inner.slots.remove(&id).is_some() {
            inner.remember(id, End::Closed);
        }
        Ok(())
    }

    pub fn slot(&self, id: u64) -> Result<Arc<Slot>, HubError> {
        let inner = self.lock();
        if let Some(slot) = inner.slots.get(&id) {
            return Ok(Arc::clone(slot));
        }
        if id >= inner.next {
            return Err(HubError::UnknownSession(id.to_string()));
        }
        let end = inner.ended.get(&id).copied().unwrap_or(End::Forgotten);
        Err(HubError::SessionEnded { session: id, end })
    }

    pub async fn begin(
        self: &Arc<Self>,
        id: u64,
        level: Option<Level>,
    ) -> Result<(TxnName, Level), HubError> {
        let slot = self.slot(id)?;
        // Before the wait: a session that waits for its own transaction would wait in vain. A read
        // of the same session may wait for a person.
        let own = Arc::clone(&slot);
        self.patiently(move |_| own.expect_no_transaction()).await?;
        if let Some(delay) = &self.delay {
            let time = delay.lock().unwrap_or_else(PoisonError::into_inner).next();
            // No request gets a permit: the wait is over when the time is, or when the server
            // stops.
            if tokio::time::timeout(time, self.going.acquire()).await.is_ok() {
                return Err(HubError::ShuttingDown);
            }
        }
        let turn = self.turn().await?;
        self.patiently(move |_| slot.begin(level, turn)).await
    }

    async fn turn(&self) -> Result<Option<OwnedSemaphorePermit>, HubError> {
        let Some(turns) = &self.turns else { return Ok(None) };
        match tokio::time::timeout(self.turn_wait_max, Arc::clone(turns).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(Some(turn)),
            Ok(Err(_)) => Err(HubError::ShuttingDown),
            Err(_) => Err(StoreError::WaitedTooLong(self.turn_wait_max).into()),
        }
    }

    /// Does what may wait for a person on a thread of its own, so that other requests go on. If the
    /// client leaves meanwhile, the person is not asked any longer.
    pub async fn patiently<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Hub) -> Result<T, HubError> + Send + 'static,
    ) -> Result<T, HubError> {
        if self.questions.is_none() {
            return act(self);
        }
        let (hub, client) = (Arc::clone(self), Waits::default());
        let work = client.work(move || act(&hub));
        match tokio::task::spawn_blocking(move || contained(work)).await {
            Ok(Ok(done)) => done,
            // It ends the connection that has asked.
            Ok(Err(Panicked)) => std::panic::resume_unwind(Box::new(())),
            Err(_) => Err(HubError::ShuttingDown),
        }
    }

    /// The reads that wait for a person, if one is asked.
    pub fn questions(&self) -> Option<&Questions> {
        self.questions.as_deref()
    }

    /// From now on people look at the store of SQL.
    pub fn watch(&self, cells: Arc<StoreCells>) {
        // Only the first one is looked at; there is one.
        let _ = self.watched.set(cells);
    }

    /// Whether people look at the store of SQL.
    pub fn is_watching(&self) -> bool {
        self.watched.get().is_some()
    }

    /// What clients of SQL have done so far, as far as it is remembered; nothing without them.
    pub fn history_of_sql(&self) -> Option<History> {
        self.watched.get().map(|cells| cells.history())
    }

    /// What goes on right now, of the last transactions.
    pub fn glance(&self, txns_max: usize, ops_max: usize) -> Glance {
        match self.watched.get() {
            Some(cells) => cells.glance(txns_max, ops_max),
            None => {
                let store = self.lock().store.clone();
                store.glance(txns_max, ops_max)
            }
        }
    }

    pub fn session_count(&self) -> usize {
        self.lock().slots.len()
    }

    /// Ends the sessions that no client has used for long enough.
    pub fn end_idle(&self) {
        let mut inner = self.lock();
        let idle = inner.slots.iter().filter(|(_, slot)| slot.end_if_idle(self.idle_max));
        let idle: Vec<u64> = idle.map(|(&id, _)| id).collect();
        for id in idle {
            inner.slots.remove(&id);
            inner.remember(id, End::Idle(self.idle_max));
        }
    }

    /// How often to call [`Hub::end_idle`]: a session may live a quarter longer than it should.
    pub fn idle_rounds(&self) -> Duration {
        (self.idle_max / 4).clamp(Duration::from_millis(5), Duration::from_secs(5))
    }

    pub fn level(&self) -> Level {
        self.lock().store.level()
    }

    pub fn set_level(&self, level: Level) -> Result<(), HubError> {
        Ok(self.lock().store.set_level(level)?)
    }

    pub fn chooser(&self) -> ChooserKind {
        self.lock().picks.kind()
    }

    pub fn set_chooser(&self, kind: ChooserKind) {
        self.change_picks(|picks| picks.set_kind(kind));
    }

    pub fn seed(&self) -> u64 {
        self.lock().picks.seed()
    }

    pub fn set_seed(&self, seed: u64) {
        self.change_picks(|picks| picks.set_seed(seed));
    }

    fn change_picks(&self, change: impl FnOnce(&mut Picks)) {
        let mut inner = self.lock();
        change(&mut inner.picks);
        let chooser = inner.picks.chooser();
        inner.store.set_chooser(chooser);
    }

    /// Ends all sessions and begins with an empty store, or with one that holds `values`. The
    /// chooser goes on with other numbers, or begins with those of `seed`.
    pub fn reset(
        &self,
        values: impl IntoIterator<Item = (String, Value)>,
        seed: Option<u64>,
    ) -> Result<(), HubError> {
        // A session that waits for a person cannot end, nor one that asks again meanwhile.
        let _nobody_is_asked = self.questions.as_ref().map(|questions| questions.pause());
        let mut inner = self.lock();
        seed.into_iter().for_each(|seed| inner.picks.set_seed(seed));
        let chooser = inner.picks.chooser();
        let (level, questions) = (inner.store.level(), self.questions.as_ref());
        let store = new_store(level, chooser, self.order, self.horizon, questions)?;
        values.into_iter().for_each(|(key, value)| store.load(&key, value));
        inner.end_all(End::Reset);
        inner.store = store;
        Ok(())
    }

    /// A request that waits to begin is told at once that the server stops.
    pub fn stop_waiting(&self) {
        self.questions.iter().for_each(|questions| questions.close());
        self.going.close();
        if let Some(turns) = &self.turns {
            turns.close();
        }
    }

    /// Ends all sessions for good: what the history says after this stays true.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.end_all(End::Shutdown);
        if let Some(turns) = &self.turns {
            turns.close();
        }
    }

    /// What has happened since the last reset, with the settings as they are now. The hub is not
    /// locked meanwhile, the store is.
    pub fn history(&self) -> History {
        let (store, settings) = {
            let inner = self.lock();
            (inner.store.clone(), inner.settings())
        };
        store.history().with_extra(&settings.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::Status;

    fn hub(config: Config) -> Arc<Hub> {
        Arc::new(Hub::new(&config).unwrap())
    }

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn a_session_has_one_transaction_at_a_time() {
        let hub = hub(Config::default());
        let id = hub.open_session().unwrap().id;
        assert_eq!(hub.slot(id).unwrap().commit(), Err(HubError::NoTransaction));
        wait(hub.begin(id, None)).unwrap();
        assert_eq!(wait(hub.begin(id, None)), Err(StoreError::TransactionOpen.into()));
        hub.slot(id).unwrap().in_transaction(|txn| txn.write("x", json!(1))).unwrap();
        hub.slot(id).unwrap().commit().unwrap();
        assert_eq!(hub.slot(id).unwrap().abort(), Ok(false));
        assert_eq!(hub.history().txn_count(), 1);
    }

    #[test]
    fn ended_sessions_say_why() {
        let hub = hub(Config { idle_max: Duration::ZERO, ..Config::default() });
        let ids: Vec<u64> = (0..3).map(|_| hub.open_session().unwrap().id).collect();
        hub.close_session(ids[0]).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        hub.end_idle();
        let late = hub.open_session().unwrap().id;
        hub.reset([], None).unwrap();
        let end = |id| match hub.slot(id) {
            Err(HubError::SessionEnded { end, .. }) => end,
            _ => panic!("session {id} lives"),
        };
        assert_eq!(
            [ids[0], ids[1], late].map(end),
            [End::Closed, End::Idle(Duration::ZERO), End::Reset]
        );
        assert!(matches!(hub.slot(99), Err(HubError::UnknownSession(_))));
        assert_eq!(hub.session_count(), 0);
    }

    #[test]
    fn whoever_waits_to_begin_is_told_when_the_server_stops() {
        let minute = Duration::from_secs(60);
        let serial = Config { serial: true, turn_wait_max: minute, ..Config::default() };
        for config in [serial, Config { delay_max: minute * 60, ..Config::default() }] {
            let hub = Arc::new(Hub::new(&config).unwrap());
            let (one, two) = (hub.open_session().unwrap().id, hub.open_session().unwrap().id);
            if config.serial {
                wait(hub.begin(one, None)).unwrap();
            }
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| wait(hub.begin(two, None)));
                std::thread::sleep(Duration::from_millis(20));
                hub.stop_waiting();
                assert_eq!(waiting.join().unwrap(), Err(HubError::ShuttingDown));
            });
        }
    }

    #[test]
    fn an_end_aborts_the_open_transaction_and_frees_its_turn() {
        let config =
            Config { serial: true, turn_wait_max: Duration::from_millis(20), ..Config::default() };
        let hub = hub(config);
        let (one, two) = (hub.open_session().unwrap().id, hub.open_session().unwrap().id);
        wait(hub.begin(one, None)).unwrap();
        let waited = wait(hub.begin(two, None));
        assert_eq!(waited, Err(StoreError::WaitedTooLong(Duration::from_millis(20)).into()));
        let slot = hub.slot(one).unwrap();
        hub.close_session(one).unwrap();
        assert!(matches!(slot.commit(), Err(HubError::SessionEnded { end: End::Closed, .. })));
        wait(hub.begin(two, None)).unwrap();
        hub.close();
        assert_eq!(hub.open_session(), Err(HubError::ShuttingDown));
        let history = hub.history();
        assert!(history.txns().all(|txn| history.status(txn) == Status::Aborted));
    }

    #[test]
    fn sessions_have_a_limit() {
        let hub = hub(Config { sessions_max: 1, ..Config::default() });
        let id = hub.open_session().unwrap().id;
        assert!(matches!(hub.open_session(), Err(HubError::TooManySessions { max: 1, .. })));
        hub.close_session(id).unwrap();
        assert!(hub.open_session().is_ok());
    }

    #[test]
    fn a_seed_repeats_the_choices_and_a_reset_goes_on_with_others() {
        let hub = hub(Config { level: Level::ReadCommitted, ..Config::default() });
        let run = |seed: Option<u64>| {
            hub.reset([("x".to_owned(), json!(0))], seed).unwrap();
            let id = hub.open_session().unwrap().id;
            let slot = hub.slot(id).unwrap();
            (1..30).for_each(|value| {
                slot.begin(None, None).unwrap();
                slot.in_transaction(|txn| txn.write("x", json!(value))).unwrap();
                slot.commit().unwrap();
            });
            let read = |_| {
                slot.begin(None, None).unwrap();
                let value = slot.in_transaction(|txn| txn.read("x")).unwrap();
                slot.commit().unwrap();
                value.unwrap().as_u64().unwrap()
            };
            (0..20).map(read).collect::<Vec<u64>>()
        };
        for kind in [ChooserKind::Random, ChooserKind::Stale, ChooserKind::LatestPerSession] {
            hub.set_chooser(kind);
            let cases: Vec<_> = [Some(0), None, None].map(run).into();
            assert_eq!([Some(0), None, None].map(run).to_vec(), cases, "{kind:?}");
            hub.set_seed(1);
            assert_eq!(hub.seed(), 1);
            // One session has one latest version.
            if kind != ChooserKind::LatestPerSession {
                assert!(cases[0] != cases[1] && cases[1] != cases[2], "{kind:?}: {cases:?}");
                assert_ne!(run(None), cases[0]);
            }
        }
        hub.set_chooser(ChooserKind::Latest);
        assert_eq!(run(None), vec![29; 20]);
        assert_eq!((hub.chooser(), hub.seed()), (ChooserKind::Latest, 1));
    }
}
