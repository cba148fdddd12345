//! One session of a client: at most one open transaction, and an end that comes exactly once.
//!
//! The locks here and in the store are held only for as long as the store takes to answer, never
//! while something is awaited, so that requests call them directly.

use crate::error::{End, HubError};
use serde_json::Value;
use seriatim_isolation::Level;
use seriatim_store::{Session, StoreError, Txn, TxnName};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// An open transaction. The transaction is dropped before its turn, so that the next one finds it
/// ended.
struct Open {
    txn: Txn<Value>,
    turn: Option<OwnedSemaphorePermit>,
}

struct Live {
    open: Option<Open>,
    session: Session<Value>,
    used: Instant,
}

enum State {
    Live(Live),
    Ended(End),
}

/// A session that clients name by its id. Requests that come at the same time take turns.
pub(crate) struct Slot {
    id: u64,
    state: Mutex<State>,
}

impl Slot {
    pub fn new(id: u64, session: Session<Value>) -> Slot {
        let live = Live { open: None, session, used: Instant::now() };
        Slot { id, state: Mutex::new(State::Live(live)) }
    }

    /// Nothing is half done if another thread panicked: the store has a lock of its own.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Live) -> Result<T, HubError>) -> Result<T, HubError> {
        match &mut *self.lock() {
            State::Ended(end) => Err(HubError::SessionEnded { session: self.id, end: *end }),
            State::Live(live) => {
                live.used = Instant::now();
                act(live)
            }
        }
    }

    pub fn expect_no_transaction(&self) -> Result<(), HubError> {
        self.with(|live| match live.open {
            Some(_) => Err(StoreError::TransactionOpen.into()),
            None => Ok(()),
        })
    }

    /// Begins a transaction at `level`, or at that of the store.
    pub fn begin(
        &self,
        level: Option<Level>,
        turn: Option<OwnedSemaphorePermit>,
    ) -> Result<(TxnName, Level), HubError> {
        self.with(|live| {
            let txn = match level {
                Some(level) => live.session.begin_at(level)?,
                None => live.session.begin()?,
            };
            let begun = (txn.name(), txn.level());
            live.open = Some(Open { txn, turn });
            Ok(begun)
        })
    }

    /// Does something in the open transaction; if that fails, the transaction is over.
    pub fn in_transaction<T>(
        &self,
        act: impl FnOnce(&mut Txn<Value>) -> Result<T, StoreError>,
    ) -> Result<T, HubError> {
        self.with(|live| {
            let open = live.open.as_mut().ok_or(HubError::NoTransaction)?;
            let result = act(&mut open.txn);
            if result.is_err() {
                live.open = None;
            }
            Ok(result?)
        })
    }

    pub fn commit(&self) -> Result<(), HubError> {
        self.with(|live| {
            let Open { txn, turn } = live.open.take().ok_or(HubError::NoTransaction)?;
            let result = txn.commit();
            drop(turn);
            Ok(result?)
        })
    }

    /// Whether there was something to abort.
    pub fn abort(&self) -> Result<bool, HubError> {
        self.with(|live| Ok(live.open.take().is_some()))
    }

    /// Ends the session; an open transaction aborts.
    pub fn end(&self, end: End) {
        let mut state = self.lock();
        if let State::Live(_) = *state {
            *state = State::Ended(end);
        }
    }

    /// Ends the session if no client used it for `limit`; whether it did.
    pub fn end_if_idle(&self, limit: Duration) -> bool {
        // A session that does something is not idle, and a read of it may wait for a person.
        let mut state = match self.state.try_lock() {
            Err(TryLockError::WouldBlock) => return false,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Ok(state) => state,
        };
        let idle = matches!(&*state, State::Live(live) if live.used.elapsed() > limit);
        if idle {
            *state = State::Ended(End::Idle(limit));
        }
        idle
    }
}
