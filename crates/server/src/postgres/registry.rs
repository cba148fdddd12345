//! All connections: who may cancel what, how many there may be, and how they end with the server.
//!
//! A connection has a thread of its own that waits for its client, so ending it from outside means
//! to end that wait: reading is shut down at the socket, and a statement that runs is interrupted.

use super::stream::Socket;
use crate::waiting;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use seriatim_sql::interrupt::Interrupt;
use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many more than have a session may be on their way to one, or cancel something.
const STARTING_MAX: usize = 64;
/// How often connections are looked at.
const ROUND: Duration = Duration::from_secs(1);

/// The connections of a server.
pub(crate) struct Registry {
    sessions_max: usize,
    startup_wait_max: Duration,
    inner: Mutex<Inner>,
    /// A connection has ended, or the server stops.
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    connections: BTreeMap<u64, Entry>,
    next: u64,
    sessions: usize,
    /// How many have had a session since the server began.
    served: u64,
    is_stopping: bool,
}

struct Entry {
    socket: Socket,
    since: Instant,
    has_place: bool,
    seat: Option<Seat>,
}

/// A session, as others see it.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The number that clients name it by.
    pub number: u32,
    /// What a client has to know to cancel its statement.
    pub secret: i32,
    /// What ends its statement.
    pub interrupt: Arc<Interrupt>,
    /// Whether it works, and does not wait for its client.
    pub is_busy: Arc<AtomicBool>,
}

/// A connection that was let in; forgotten when dropped.
pub(crate) struct Admitted {
    registry: Arc<Registry>,
    id: u64,
    pub socket: Socket,
}

impl Registry {
    pub fn new(sessions_max: usize, startup_wait_max: Duration) -> Registry {
        Registry {
            sessions_max,
            startup_wait_max,
            inner: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a connection in, unless there are far too many or the server stops.
    pub fn admit(self: &Arc<Self>, stream: TcpStream) -> Option<Admitted> {
        let mut inner = self.lock();
        let most = self.sessions_max.saturating_add(STARTING_MAX);
        if inner.is_stopping || inner.connections.len() >= most {
            return None;
        }
        let (id, socket) = (inner.next, Socket(Arc::new(stream)));
        inner.next += 1;
        let entry =
            Entry { socket: socket.clone(), since: Instant::now(), has_place: false, seat: None };
        inner.connections.insert(id, entry);
        Some(Admitted { registry: Arc::clone(self), id, socket })
    }

    /// Ends the statement of a session, if the secret is right.
    pub fn cancel(&self, number: u32, secret: i32) {
        let inner = self.lock();
        let mut seats = inner.connections.values().filter_map(|entry| entry.seat.as_ref());
        if let Some(seat) = seats.find(|seat| seat.number == number && seat.secret == secret) {
            seat.interrupt.cancel();
        }
    }

    /// How many have had a session since the server began.
    pub fn served(&self) -> u64 {
        self.lock().served
    }

    pub fn is_stopping(&self) -> bool {
        self.lock().is_stopping
    }

    /// Ends all sessions; waits for that, but not for longer than `wait`.
    pub fn stop(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut inner = self.lock();
        inner.is_stopping = true;
        for entry in inner.connections.values() {
            entry.seat.iter().for_each(|seat| seat.interrupt.terminate());
            let _ = entry.socket.0.shutdown(Shutdown::Read);
        }
        self.changed.notify_all();
        while !inner.connections.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inner = self.changed.wait_timeout(inner, left).unwrap_or_else(|it| it.into_inner()).0;
        }
        for entry in inner.connections.values() {
            let _ = entry.socket.0.shutdown(Shutdown::Both);
        }
    }

    /// Looks after connections until the server stops: a client that has left while its statement
    /// runs, one that never gets to a session, a session that another one has ended.
    pub fn watch(&self) {
        let mut inner = self.lock();
        while !inner.is_stopping {
            inner.connections.values().for_each(|entry| self.look_at(entry));
            inner = self.changed.wait_timeout(inner, ROUND).unwrap_or_else(|it| it.into_inner()).0;
        }
    }

    fn look_at(&self, entry: &Entry) {
        match &entry.seat {
            None if entry.since.elapsed() > self.startup_wait_max + ROUND => {
                let _ = entry.socket.0.shutdown(Shutdown::Both);
            }
            None => {}
            Some(seat) if seat.interrupt.is_terminated() => {
                let _ = entry.socket.0.shutdown(Shutdown::Read);
            }
            Some(seat) if seat.is_busy.load(Ordering::Relaxed) && has_left(&entry.socket.0) => {
                seat.interrupt.terminate();
            }
            Some(_) => {}
        }
    }
}

/// Whether the other side has closed its half of the connection.
fn has_left(stream: &TcpStream) -> bool {
    let mut polled = [PollFd::new(stream.as_fd(), left_flags())];
    match poll(&mut polled, PollTimeout::ZERO) {
        Ok(found) => found > 0,
        Err(_) => false,
    }
}

/// POLLRDHUP, which `nix` has no name for; errors and hang-ups are always told.
#[cfg(target_os = "linux")]
fn left_flags() -> PollFlags {
    PollFlags::from_bits_retain(0x2000)
}

#[cfg(not(target_os = "linux"))]
fn left_flags() -> PollFlags {
    PollFlags::empty()
}

impl Admitted {
    /// Takes the place of a session; false if there is none left.
    pub fn take_place(&self) -> bool {
        let mut inner = self.registry.lock();
        if inner.sessions >= self.registry.sessions_max {
            return false;
        }
        if let Some(entry) = inner.connections.get_mut(&self.id) {
            entry.has_place = true;
            inner.sessions += 1;
            inner.served += 1;
        }
        true
    }

    /// The session has begun, on the thread that calls this.
    pub fn sit(&self, seat: Seat) {
        waiting::works_for(Arc::clone(&seat.interrupt));
        let mut inner = self.registry.lock();
        if inner.is_stopping {
            seat.interrupt.terminate();
        }
        if let Some(entry) = inner.connections.get_mut(&self.id) {
            entry.seat = Some(seat);
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut inner = self.registry.lock();
        if inner.connections.remove(&self.id).is_some_and(|entry| entry.has_place) {
            inner.sessions -= 1;
        }
        self.registry.changed.notify_all();
    }
}
