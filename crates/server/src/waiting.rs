//! Whether the client that a thread works for still waits for its answer. What takes long, because
//! it waits for a person, looks here every now and then.
//!
//! A session of SQL has a thread of its own, and a request of HTTP that may wait gets one: so the
//! thread says who the client is, and the store in between need not know of clients.

use seriatim_sql::interrupt::Interrupt;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static CLIENT: RefCell<Option<Client>> = const { RefCell::new(None) };
}

enum Client {
    /// Its statement may be cancelled or late, and its session may be over.
    Sql(Arc<Interrupt>),
    Http(Arc<AtomicBool>),
}

/// From now on this thread works for a session of SQL.
pub(crate) fn works_for(interrupt: Arc<Interrupt>) {
    CLIENT.set(Some(Client::Sql(interrupt)));
}

/// Whether nobody waits for what this thread does.
pub(crate) fn is_in_vain() -> bool {
    CLIENT.with_borrow(|client| match client {
        None => false,
        Some(Client::Sql(interrupt)) => interrupt.check().is_err(),
        Some(Client::Http(has_left)) => has_left.load(Ordering::Relaxed),
    })
}

/// A client of HTTP that waits for an answer, until this is dropped.
#[derive(Default)]
pub(crate) struct Waits(Arc<AtomicBool>);

impl Waits {
    /// Makes what does something for this client, on any thread.
    pub fn work<T, F: FnOnce() -> T>(&self, act: F) -> impl FnOnce() -> T + use<T, F> {
        let has_left = Arc::clone(&self.0);
        move || {
            CLIENT.set(Some(Client::Http(has_left)));
            let _done = Done;
            act()
        }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The thread works for nobody when this is dropped, also after a panic.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        CLIENT.set(None);
    }
}
