//! Transactional programs: sessions of transactions, written as closures.
//!
//! A transaction is a closure over a [`Tx`] (read, write, abort) and the local state of its
//! session, which is carried from one transaction to the next. It is run many times, with other
//! values read each time, so it may depend on nothing but what it reads and on that local state. A
//! session may also be one closure over a [`Client`] that begins and ends its transactions itself.

use rustc_hash::FxHashMap;
use seriatim_isolation::Level;
use std::collections::BTreeMap;
use std::fmt;

/// What keys hold. Implemented for everything that can be.
pub trait Value:
    Clone + PartialEq + Default + fmt::Display + fmt::Debug + Send + Sync + 'static
{
}
impl<T: Clone + PartialEq + Default + fmt::Display + fmt::Debug + Send + Sync + 'static> Value
    for T
{
}

/// The local state of a session. Implemented for everything that can be.
pub trait Local: Clone + Default + fmt::Debug + 'static {}
impl<T: Clone + Default + fmt::Debug + 'static> Local for T {}

/// Ends a transaction early: pass it on with `?`.
#[derive(Debug)]
pub struct Stop(pub(crate) ());

/// What a [`Tx`] and a [`Client`] talk to.
pub(crate) trait Access<V> {
    fn begin(&mut self) -> Result<(), Stop>;
    fn read(&mut self, key: &str) -> Result<V, Stop>;
    fn write(&mut self, key: &str, value: V) -> Result<(), Stop>;
    fn commit(&mut self) -> Result<(), Stop>;
    fn abort(&mut self);
}

/// A transaction that is running. It commits when its closure returns.
pub struct Tx<'a, V> {
    pub(crate) access: &'a mut dyn Access<V>,
}

impl<V> Tx<'_, V> {
    /// What `key` holds: what the transaction itself wrote last, else a version that the isolation
    /// level allows.
    pub fn read(&mut self, key: &str) -> Result<V, Stop> {
        self.access.read(key)
    }

    /// Sets what `key` holds.
    pub fn write(&mut self, key: &str, value: V) -> Result<(), Stop> {
        self.access.write(key, value)
    }

    /// Takes back what the transaction wrote, and ends it. What it read stays read.
    pub fn abort<T>(&mut self) -> Result<T, Stop> {
        self.access.abort();
        Err(Stop(()))
    }
}

/// The connection of a client that begins and ends its transactions itself.
pub struct Client<'a, V> {
    pub(crate) access: &'a mut dyn Access<V>,
}

impl<V> Client<'_, V> {
    /// Begins a transaction.
    pub fn begin(&mut self) -> Result<(), Stop> {
        self.access.begin()
    }

    /// What `key` holds, see [`Tx::read`].
    pub fn read(&mut self, key: &str) -> Result<V, Stop> {
        self.access.read(key)
    }

    /// Sets what `key` holds.
    pub fn write(&mut self, key: &str, value: V) -> Result<(), Stop> {
        self.access.write(key, value)
    }

    /// Commits the transaction.
    pub fn commit(&mut self) -> Result<(), Stop> {
        self.access.commit()
    }

    /// Takes the transaction back.
    pub fn abort(&mut self) {
        self.access.abort();
    }
}

/// The code of a transaction.
pub(crate) type Body<V, L> = Box<dyn Fn(&mut Tx<'_, V>, &mut L) -> Result<(), Stop> + Send + Sync>;
/// The code of a whole session.
type ClientBody<V, L> = Box<dyn Fn(&mut Client<'_, V>, &mut L) -> Result<(), Stop> + Send + Sync>;

/// A transaction of a session.
pub(crate) struct Transaction<V, L> {
    pub level: Option<Level>,
    pub body: Body<V, L>,
}

/// Transactions that depend on the local state.
pub(crate) struct Steps<V, L> {
    pub goes_on: Box<dyn Fn(&L) -> bool + Send + Sync>,
    pub body: Body<V, L>,
}

/// What a session does.
pub(crate) enum Code<V, L> {
    Transactions(Vec<Transaction<V, L>>),
    Steps(Steps<V, L>),
    Client(ClientBody<V, L>),
}

/// A session of a program that is being described.
pub struct Session<V, L> {
    pub(crate) name: String,
    pub(crate) code: Code<V, L>,
}

impl<V: Value, L: Local> Session<V, L> {
    /// Adds a transaction at the level of the exploration.
    pub fn transaction(
        &mut self,
        body: impl Fn(&mut Tx<'_, V>, &mut L) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(None, Box::new(body))
    }

    /// Adds a transaction with a level of its own.
    pub fn transaction_at(
        &mut self,
        level: Level,
        body: impl Fn(&mut Tx<'_, V>, &mut L) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(Some(level), Box::new(body))
    }

    fn add(&mut self, level: Option<Level>, body: Body<V, L>) -> &mut Self {
        if let Code::Transactions(all) = &mut self.code {
            all.push(Transaction { level, body });
        }
        self
    }
}

/// Sessions that run at the same time, and what is in the database before.
///
/// `V` is what keys hold; a key without an initial value holds `V::default()`. `L` is the local
/// state of a session; it starts as `L::default()`.
#[must_use = "a program does nothing until it is explored"]
pub struct Program<V = i64, L = i64> {
    pub(crate) initial: Vec<(String, V)>,
    /// Where keys are in `initial`.
    places: FxHashMap<String, usize>,
    pub(crate) sessions: Vec<Session<V, L>>,
}

impl<V: Value, L: Local> Default for Program<V, L> {
    fn default() -> Self {
        Program { initial: Vec::new(), places: FxHashMap::default(), sessions: Vec::new() }
    }
}

impl<V: Value, L: Local> Program<V, L> {
    /// A program without sessions.
    pub fn new() -> Self {
        Program::default()
    }

    /// Gives `key` an initial value.
    pub fn initial(&mut self, key: &str, value: V) -> &mut Self {
        match self.places.get(key) {
            Some(&place) => self.initial[place].1 = value,
            None => {
                self.places.insert(key.to_owned(), self.initial.len());
                self.initial.push((key.to_owned(), value));
            }
        }
        self
    }

    /// Adds a session, to which transactions can be added.
    pub fn session(&mut self) -> &mut Session<V, L> {
        let name = format!("s{}", self.sessions.len() + 1);
        self.named_session(&name)
    }

    /// Adds a session with a name.
    pub fn named_session(&mut self, name: &str) -> &mut Session<V, L> {
        self.push(name, Code::Transactions(Vec::new()))
    }

    /// Adds a session whose local state says what comes next: `body` is its next transaction, as
    /// long as it `goes_on`. A client runs from its beginning for each transaction; this one does
    /// not, so that it is faster. Its transactions are at the level of the exploration, and as it
    /// is not known how many there are, they share with clients what others leave of 128: a
    /// behaviour with more is cut.
    pub fn steps(
        &mut self,
        name: &str,
        goes_on: impl Fn(&L) -> bool + Send + Sync + 'static,
        body: impl Fn(&mut Tx<'_, V>, &mut L) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> &mut Self {
        self.push(name, Code::Steps(Steps { goes_on: Box::new(goes_on), body: Box::new(body) }));
        self
    }

    /// Adds a session that begins and ends its transactions itself. The closure runs from its
    /// beginning for each transaction.
    pub fn client(
        &mut self,
        name: &str,
        body: impl Fn(&mut Client<'_, V>, &mut L) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> &mut Self {
        self.push(name, Code::Client(Box::new(body)));
        self
    }

    fn push(&mut self, name: &str, code: Code<V, L>) -> &mut Session<V, L> {
        self.sessions.push(Session { name: name.to_owned(), code });
        let last = self.sessions.len() - 1;
        &mut self.sessions[last]
    }

    /// The names of the sessions, in order.
    pub fn session_names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(|session| session.name.as_str())
    }

    /// The levels that transactions were given, weakest first, with how many have each.
    pub fn own_levels(&self) -> Vec<(Level, usize)> {
        let own = |session: &Session<V, L>| match &session.code {
            Code::Transactions(all) => all.iter().filter_map(|txn| txn.level).collect(),
            Code::Steps(_) | Code::Client(_) => Vec::new(),
        };
        let mut counts = BTreeMap::new();
        self.sessions.iter().flat_map(own).for_each(|level| *counts.entry(level).or_insert(0) += 1);
        counts.into_iter().collect()
    }

    /// The level that a transaction was given, if it was.
    pub(crate) fn level_of(&self, session: usize, index: usize) -> Option<Level> {
        match &self.sessions[session].code {
            Code::Transactions(all) => all.get(index)?.level,
            Code::Steps(_) | Code::Client(_) => None,
        }
    }
}

/// What a transaction does is a closure.
impl<V> fmt::Debug for Tx<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tx")
    }
}

impl<V> fmt::Debug for Client<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

impl<V, L> fmt::Debug for Session<V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Code::Transactions(all) => {
                write!(f, "Session({}, {} transactions)", self.name, all.len())
            }
            Code::Steps(_) | Code::Client(_) => write!(f, "Session({}, a client)", self.name),
        }
    }
}

impl<V, L> fmt::Debug for Program<V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program")?;
        f.debug_list().entries(&self.sessions).finish()
    }
}
