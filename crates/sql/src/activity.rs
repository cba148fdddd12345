//! The sessions of a server: what each is doing, and how it is told to stop.

use crate::interrupt::Interrupt;
use crate::locks::Owner;
use crate::types::Oid;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session, as others see it.
#[derive(Debug)]
pub struct SessionEntry {
    /// Its number, the process identifier to clients.
    pub number: u32,
    /// Its database.
    pub database: Oid,
    /// The name of that.
    pub database_name: String,
    /// Its user.
    pub user: Arc<str>,
    /// When it began: microseconds since 2000-01-01.
    pub started: i64,
    /// What ends its statements early.
    pub interrupt: Arc<Interrupt>,
    transaction: AtomicU64,
    activity: Mutex<Activity>,
}

/// What a session is doing.
#[derive(Clone, Default, Debug)]
pub struct Activity {
    /// The statement that runs, or the last one.
    pub query: String,
    /// When that began.
    pub query_started: i64,
    /// Whether it runs.
    pub running: bool,
    /// When its transaction began, if one is open.
    pub begun: Option<i64>,
    /// What the client calls itself.
    pub application: String,
}

impl SessionEntry {
    /// A session that begins.
    pub fn new(
        number: u32,
        (database, database_name): (Oid, &str),
        user: Arc<str>,
        interrupt: Arc<Interrupt>,
        started: i64,
    ) -> SessionEntry {
        SessionEntry {
            number,
            database,
            database_name: database_name.to_owned(),
            user,
            started,
            interrupt,
            transaction: AtomicU64::new(0),
            activity: Mutex::new(Activity { query_started: started, ..Activity::default() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it is doing.
    pub fn activity(&self) -> Activity {
        self.lock().clone()
    }

    /// Who holds the locks of its transaction.
    pub fn transaction(&self) -> Owner {
        Owner(self.transaction.load(Ordering::Relaxed))
    }

    /// A transaction begins.
    pub fn begin(&self, owner: Owner, now: i64) {
        self.transaction.store(owner.0, Ordering::Relaxed);
        self.lock().begun = Some(now);
    }

    /// No transaction is open any more.
    pub fn end(&self) {
        self.transaction.store(0, Ordering::Relaxed);
        self.lock().begun = None;
    }

    /// A statement begins; it ends when the guard is dropped.
    pub fn run(self: &Arc<Self>, query: &str, application: &str, now: i64) -> Running {
        let mut activity = self.lock();
        activity.query.clear();
        activity.query.push_str(shown(query));
        if activity.application != application {
            application.clone_into(&mut activity.application);
        }
        activity.query_started = now;
        activity.running = true;
        drop(activity);
        Running(Arc::clone(self))
    }
}

/// How much of a statement is shown to other sessions, in bytes.
const QUERY_MAX: usize = 1023;

fn shown(query: &str) -> &str {
    let mut end = query.len().min(QUERY_MAX);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    &query[..end]
}

/// A statement that runs.
#[derive(Debug)]
pub struct Running(Arc<SessionEntry>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.lock().running = false;
    }
}

/// All sessions of a server.
#[derive(Default, Debug)]
pub struct Sessions(Mutex<BTreeMap<u32, Arc<SessionEntry>>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<SessionEntry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session begins.
    pub fn add(&self, entry: &Arc<SessionEntry>) {
        self.lock().insert(entry.number, Arc::clone(entry));
    }

    /// A session is over.
    pub fn remove(&self, number: u32) {
        self.lock().remove(&number);
    }

    /// A session by its number.
    pub fn get(&self, number: u32) -> Option<Arc<SessionEntry>> {
        self.lock().get(&number).cloned()
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<SessionEntry>> {
        self.lock().values().cloned().collect()
    }
}
