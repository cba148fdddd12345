//! Which client may begin a transaction, and which is in one: what the schedule of a plan and the
//! connections of the clients tell each other.

use std::sync::{Mutex, PoisonError};

/// What a client may do, and what it does.
#[derive(Clone, Copy, Default)]
struct Permit {
    /// How many transactions it may still begin.
    left: u32,
    /// Whether it is in one.
    is_open: bool,
}

/// The permits of all clients.
pub(super) struct Permits(Mutex<Vec<Permit>>);

impl Permits {
    pub fn new(clients: usize) -> Permits {
        Permits(Mutex::new(vec![Permit::default(); clients]))
    }

    fn of<T>(&self, client: usize, act: impl FnOnce(&mut Permit) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)[client])
    }

    pub fn give(&self, client: usize) {
        self.of(client, |permit| permit.left += 1);
    }

    /// Whether it may begin another transaction, which is open then.
    pub fn take(&self, client: usize) -> bool {
        self.of(client, |permit| {
            permit.is_open = permit.left > 0;
            permit.left = permit.left.saturating_sub(1);
            permit.is_open
        })
    }

    pub fn end(&self, client: usize) {
        self.of(client, |permit| permit.is_open = false);
    }

    pub fn is_open(&self, client: usize) -> bool {
        self.of(client, |permit| permit.is_open)
    }
}
