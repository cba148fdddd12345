//! LISTEN and NOTIFY: what sessions tell each other when their transactions commit.
//!
//! What a transaction asks for is kept in it (`TxnState::letters`), so that a savepoint or a
//! rollback takes it back. At its commit it is posted to everybody who listens, in one order for
//! all; whoever connects a session to a client is woken and delivers when no transaction is open.

use crate::error::{Result, SqlError, code};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many notifications may wait for a session that does not take them.
const WAITING_MAX: usize = 1 << 16;
/// The names of channels are names of PostgreSQL, which have so many bytes.
const NAME_BYTES_MAX: usize = 63;
/// A payload is shorter than this.
const PAYLOAD_BYTES: usize = 8000;

/// What a transaction does to channels when it commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Letter {
    /// LISTEN
    Listen(Arc<str>),
    /// UNLISTEN, of all channels if it names none.
    Unlisten(Option<Arc<str>>),
    /// NOTIFY
    Notify {
        /// The channel.
        channel: Arc<str>,
        /// What is told.
        payload: Arc<str>,
    },
}

/// What a session is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The number of the session that tells it.
    pub sender: u32,
    /// The channel.
    pub channel: Arc<str>,
    /// What is told.
    pub payload: Arc<str>,
}

impl Letter {
    /// NOTIFY, if PostgreSQL allows such names and payloads.
    pub fn notify(channel: &str, payload: &str) -> Result<Letter> {
        let message = if channel.is_empty() {
            "channel name cannot be empty"
        } else if channel.len() > NAME_BYTES_MAX {
            "channel name too long"
        } else if payload.len() >= PAYLOAD_BYTES {
            "payload string too long"
        } else {
            return Ok(Letter::Notify { channel: channel.into(), payload: payload.into() });
        };
        Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message))
    }
}

/// Adds a letter to those of a transaction, unless it would be the same notification once more.
pub fn add(letters: &mut Vec<Letter>, letter: Letter) -> Result<()> {
    if letters.last() == Some(&letter) && matches!(letter, Letter::Notify { .. }) {
        return Ok(());
    }
    if letters.len() >= WAITING_MAX {
        let message = "too many notifications in the NOTIFY queue";
        return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message));
    }
    letters.push(letter);
    Ok(())
}

type Alarm = Box<dyn Fn() + Send + Sync>;

/// A session that listens.
#[derive(Default)]
struct Listener {
    channels: BTreeSet<Arc<str>>,
    waiting: VecDeque<Notification>,
    alarm: Option<Alarm>,
}

/// Who listens to what in a database.
#[derive(Default)]
pub struct Channels {
    listeners: Mutex<BTreeMap<u32, Listener>>,
    /// Held while a transaction with letters commits, so that all see commits in one order.
    order: Mutex<()>,
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channels({} listeners)", self.lock().len())
    }
}

impl Channels {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits a transaction of a session with its letters: they are posted if it succeeds.
    pub fn commit<T>(
        &self,
        session: u32,
        letters: &[Letter],
        commit: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if letters.is_empty() {
            return commit();
        }
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        self.check_room(letters)?;
        let committed = commit()?;
        self.post(session, letters);
        Ok(committed)
    }

    fn check_room(&self, letters: &[Letter]) -> Result<()> {
        let is_notify = |letter: &&Letter| matches!(letter, Letter::Notify { .. });
        let more = letters.iter().filter(is_notify).count();
        let is_full = |it: &Listener| more > 0 && it.waiting.len() + more > WAITING_MAX;
        match self.lock().values().any(is_full) {
            true => Err(SqlError::new(
                code::PROGRAM_LIMIT_EXCEEDED,
                "too many notifications in the NOTIFY queue",
            )),
            false => Ok(()),
        }
    }

    /// Those who begin to listen hear what the same transaction tells. Of equal notifications of a
    /// transaction the first is told.
    fn post(&self, session: u32, letters: &[Letter]) {
        let mut listeners = self.lock();
        for letter in letters {
            match letter {
                Letter::Listen(channel) => {
                    let listener = listeners.entry(session).or_default();
                    listener.channels.insert(Arc::clone(channel));
                }
                Letter::Unlisten(channel) => {
                    let Some(listener) = listeners.get_mut(&session) else { continue };
                    listener.channels.retain(|it| channel.as_ref().is_some_and(|of| of != it));
                }
                Letter::Notify { .. } => {}
            }
        }
        let mut told = FxHashSet::default();
        let mut woken = BTreeSet::new();
        for letter in letters {
            let Letter::Notify { channel, payload } = letter else { continue };
            if !told.insert((channel, payload)) {
                continue;
            }
            for (number, listener) in listeners.iter_mut() {
                if listener.channels.contains(channel) {
                    let (channel, payload) = (Arc::clone(channel), Arc::clone(payload));
                    let notification = Notification { sender: session, channel, payload };
                    listener.waiting.push_back(notification);
                    woken.insert(*number);
                }
            }
        }
        let alarms = woken.iter().filter_map(|number| listeners.get(number)?.alarm.as_ref());
        alarms.for_each(|alarm| alarm());
    }

    /// The channels that a session listens to.
    pub fn heard_by(&self, session: u32) -> Vec<Arc<str>> {
        let listeners = self.lock();
        listeners.get(&session).map_or_else(Vec::new, |it| it.channels.iter().cloned().collect())
    }

    /// Whether a session listens to anything, or has something waiting.
    pub fn has_listener(&self, session: u32) -> bool {
        let listeners = self.lock();
        let listener = listeners.get(&session);
        listener.is_some_and(|it| !it.channels.is_empty() || !it.waiting.is_empty())
    }

    /// What waits for a session, which has it now.
    pub fn take(&self, session: u32) -> VecDeque<Notification> {
        let mut listeners = self.lock();
        listeners.get_mut(&session).map(|it| std::mem::take(&mut it.waiting)).unwrap_or_default()
    }

    /// From now on the alarm is called whenever something is put for a session that listens.
    pub fn set_alarm(&self, session: u32, alarm: impl Fn() + Send + Sync + 'static) {
        if let Some(listener) = self.lock().get_mut(&session) {
            listener.alarm = Some(Box::new(alarm));
        }
    }

    /// A session is over.
    pub fn forget(&self, session: u32) {
        self.lock().remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn notify(channel: &str, payload: &str) -> Letter {
        Letter::notify(channel, payload).unwrap()
    }

    fn taken(channels: &Channels, session: u32) -> Vec<(u32, String, String)> {
        let all = channels.take(session).into_iter();
        all.map(|it| (it.sender, it.channel.to_string(), it.payload.to_string())).collect()
    }

    #[test]
    fn a_commit_tells_everybody_who_listens_once() {
        let channels = Channels::default();
        channels.commit(1, &[Letter::Listen("a".into())], || Ok(())).unwrap();
        channels.commit(2, &[Letter::Listen("b".into())], || Ok(())).unwrap();
        let rung = Arc::new(AtomicUsize::new(0));
        let ringing = Arc::clone(&rung);
        channels.set_alarm(1, move || {
            ringing.fetch_add(1, Ordering::Relaxed);
        });
        let letters = [notify("a", "x"), notify("a", "y"), notify("a", "x"), notify("c", "")];
        channels.commit(3, &letters, || Ok(())).unwrap();
        let told = |payload: &str| (3, "a".to_owned(), payload.to_owned());
        assert_eq!(taken(&channels, 1), [told("x"), told("y")]);
        assert_eq!(taken(&channels, 1), []);
        assert_eq!(taken(&channels, 2), []);
        assert_eq!(rung.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_commit_that_fails_tells_nobody() {
        let channels = Channels::default();
        channels.commit(1, &[Letter::Listen("a".into())], || Ok(())).unwrap();
        let failed = || Err::<(), _>(SqlError::internal("no"));
        assert!(channels.commit(2, &[notify("a", "x")], failed).is_err());
        assert!(channels.commit(1, &[Letter::Unlisten(None)], failed).is_err());
        assert_eq!(channels.heard_by(1), ["a".into()]);
        assert_eq!(taken(&channels, 1), []);
    }

    #[test]
    fn who_begins_to_listen_hears_itself_and_who_ends_hears_nothing_more() {
        let channels = Channels::default();
        let both = [notify("a", "x"), Letter::Listen("a".into())];
        channels.commit(1, &both, || Ok(())).unwrap();
        assert_eq!(taken(&channels, 1).len(), 1);
        channels.commit(1, &[Letter::Unlisten(Some("a".into()))], || Ok(())).unwrap();
        channels.commit(1, &[notify("a", "y")], || Ok(())).unwrap();
        assert!(!channels.has_listener(1));
        channels.forget(1);
        assert_eq!(taken(&channels, 1), []);
    }

    #[test]
    fn names_and_payloads_have_limits() {
        let refused = |channel: &str, payload: &str| {
            Letter::notify(channel, payload).unwrap_err().message().to_owned()
        };
        assert_eq!(refused("", ""), "channel name cannot be empty");
        assert_eq!(refused(&"x".repeat(64), ""), "channel name too long");
        assert_eq!(refused("x", &"y".repeat(8000)), "payload string too long");
        assert!(Letter::notify(&"x".repeat(63), &"y".repeat(7999)).is_ok());
    }
}
