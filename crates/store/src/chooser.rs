//! Choosers: they pick among the versions that a read may return.
//!
//! All choosers are seeded or need no chance at all: the same program in the same order of steps
//! sees the same values again.

use crate::log::Log;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use seriatim_history::StatementContent;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A transaction, by its session and its number among all that the session began, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TxnName {
    /// The number of the session.
    pub session: u32,
    /// The number of the transaction in its session.
    pub txn: u32,
}

/// A version of a key that a read may return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// The transaction that wrote it; `None` for the initial version.
    pub writer: Option<TxnName>,
    pub(crate) source: u32,
}

/// A read that waits for its version.
pub struct PendingRead<'a> {
    /// The transaction that reads.
    pub reader: TxnName,
    /// How many external reads it has done before.
    pub number: u32,
    /// The key.
    pub key: &'a str,
    /// What it may read, never empty, in the order of the commits, the initial version first.
    pub versions: &'a [Version],
    pub(crate) txn: u32,
    pub(crate) key_number: u32,
    pub(crate) log: &'a Log,
    /// Stands for the value of a version, by its place.
    pub(crate) value: &'a dyn Fn(usize) -> u64,
    /// The statement that reads.
    pub(crate) statement: &'a dyn Fn() -> Option<Arc<StatementContent>>,
}

impl PendingRead<'_> {
    /// A number that stands for the value of version number `place`: the same for values that are
    /// serialised in the same way. (Maps without an order may be serialised in several ways; with
    /// them a seed does not fix what the adversary does.)
    pub fn value(&self, place: usize) -> u64 {
        (self.value)(place)
    }

    /// The statement that the read is of, if the transaction is divided into statements.
    pub fn statement(&self) -> Option<Arc<StatementContent>> {
        (self.statement)()
    }
}

/// Picks the version that a read returns.
pub trait Chooser: Send {
    /// The index of a version in [`PendingRead::versions`]; the last one is taken if there is none
    /// of that number.
    fn choose(&mut self, read: &PendingRead<'_>) -> usize;

    /// Hears of each transaction that ended.
    fn ended(&mut self, _txn: &Ended<'_>) {}

    /// Whether it takes the last version whatever is asked, and listens to nothing: then it is not
    /// asked at all, and the other versions are not looked for.
    fn takes_latest(&self) -> bool {
        false
    }
}

/// A transaction that ended.
#[derive(Debug)]
pub struct Ended<'a> {
    /// Its name.
    pub txn: TxnName,
    /// Whether it committed.
    pub committed: bool,
    /// The keys that it read from others, in order.
    pub reads: Vec<&'a str>,
    /// The keys that it wrote, each once.
    pub writes: Vec<&'a str>,
}

impl<C: Chooser + ?Sized> Chooser for Box<C> {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        (**self).choose(read)
    }

    fn ended(&mut self, txn: &Ended<'_>) {
        (**self).ended(txn);
    }

    fn takes_latest(&self) -> bool {
        (**self).takes_latest()
    }
}

/// Any version, each as likely as the others.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// The same seed makes the same choices.
    pub fn new(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }
}

impl Chooser for Random {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        self.0.random_range(0..read.versions.len())
    }
}

/// The version that committed last: what a database without concurrency returns. Transactions that
/// run one at a time are serializable with it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Latest;

impl Chooser for Latest {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        read.versions.len() - 1
    }

    fn takes_latest(&self) -> bool {
        true
    }
}

/// Of each session only its latest version, and any of these: for transactions that check what an
/// application left behind.
#[derive(Clone, Debug)]
pub struct LatestPerSession(Pcg64Mcg);

impl LatestPerSession {
    /// The same seed makes the same choices.
    pub fn new(seed: u64) -> LatestPerSession {
        LatestPerSession(Pcg64Mcg::seed_from_u64(seed))
    }
}

impl Chooser for LatestPerSession {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        let session = |version: &Version| version.writer.map(|writer| writer.session);
        let mut latest: HashMap<Option<u32>, usize> = HashMap::new();
        for (place, version) in read.versions.iter().enumerate() {
            latest.insert(session(version), place);
        }
        if latest.len() > 1 {
            latest.remove(&None);
        }
        let mut places: Vec<usize> = latest.into_values().collect();
        places.sort_unstable();
        places[self.0.random_range(0..places.len())]
    }
}

/// Any version, the older the likelier: each is twice as likely as the next newer one.
#[derive(Clone, Debug)]
pub struct Stale(Pcg64Mcg);

impl Stale {
    /// The same seed makes the same choices.
    pub fn new(seed: u64) -> Stale {
        Stale(Pcg64Mcg::seed_from_u64(seed))
    }
}

impl Chooser for Stale {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        let last = read.versions.len() - 1;
        (0..last).find(|_| self.0.random_bool(0.5)).unwrap_or(last)
    }
}

/// A choice that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Choice {
    /// The transaction that read.
    pub reader: TxnName,
    /// How many external reads it had done before.
    pub read: u32,
    /// The key.
    pub key: String,
    /// Whose version it got; `None` for the initial one.
    pub writer: Option<TxnName>,
    /// Whether that was the version that committed last of all that it might have got.
    pub latest: bool,
}

/// Where a run left its script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// The script says nothing about this read.
    UnknownRead {
        /// The transaction that reads.
        reader: TxnName,
        /// The number of the read in it.
        read: u32,
        /// The key.
        key: String,
    },
    /// The script has another key there.
    OtherKey {
        /// The transaction that reads.
        reader: TxnName,
        /// The key.
        key: String,
        /// The key in the script.
        expected: String,
    },
    /// What the script wants may not be read here.
    NotAdmissible {
        /// The transaction that reads.
        reader: TxnName,
        /// The key.
        key: String,
        /// The writer in the script.
        writer: Option<TxnName>,
    },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Divergence::UnknownRead { reader, read, key } => write!(
                f,
                "transaction {} of session {} reads {key} as its external read {read}, which the \
                 script does not know",
                reader.txn, reader.session
            ),
            Divergence::OtherKey { reader, key, expected } => write!(
                f,
                "transaction {} of session {} reads {key} where the script has {expected}",
                reader.txn, reader.session
            ),
            Divergence::NotAdmissible { reader, key, writer } => write!(
                f,
                "transaction {} of session {} may not read {key} from {} here",
                reader.txn,
                reader.session,
                writer_name(writer)
            ),
        }
    }
}

impl std::error::Error for Divergence {}

fn writer_name(writer: &Option<TxnName>) -> String {
    match writer {
        Some(name) => format!("transaction {} of session {}", name.txn, name.session),
        None => "the initial state".to_owned(),
    }
}

/// Makes recorded choices again, and remembers where the run first left them. A read whose choice
/// is unknown or not possible returns the latest version.
#[derive(Debug)]
pub struct Script {
    choices: HashMap<(TxnName, u32), Choice>,
    /// Whether reads that it does not mention are meant to return the latest version.
    partial: bool,
    divergence: Arc<Mutex<Option<Divergence>>>,
}

/// Tells where a [`Script`] was left, also after the store has taken it.
#[derive(Clone, Debug)]
pub struct Track(Arc<Mutex<Option<Divergence>>>);

impl Track {
    /// The first read at which the run left the script.
    pub fn divergence(&self) -> Option<Divergence> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Script {
    /// A script of these choices.
    pub fn new(choices: impl IntoIterator<Item = Choice>) -> Script {
        let choices =
            choices.into_iter().map(|choice| ((choice.reader, choice.read), choice)).collect();
        Script { choices, partial: false, divergence: Arc::default() }
    }

    /// A script of these choices, in which all other reads return the latest version.
    pub fn partial(choices: impl IntoIterator<Item = Choice>) -> Script {
        Script { partial: true, ..Script::new(choices) }
    }

    /// What tells where the run left the script.
    pub fn track(&self) -> Track {
        Track(Arc::clone(&self.divergence))
    }

    fn follow(&self, read: &PendingRead<'_>) -> Result<usize, Divergence> {
        let (reader, key) = (read.reader, read.key.to_owned());
        let Some(choice) = self.choices.get(&(reader, read.number)) else {
            if self.partial {
                return Ok(read.versions.len() - 1);
            }
            return Err(Divergence::UnknownRead { reader, read: read.number, key });
        };
        if choice.key != key {
            return Err(Divergence::OtherKey { reader, key, expected: choice.key.clone() });
        }
        let place = read.versions.iter().position(|version| version.writer == choice.writer);
        place.ok_or(Divergence::NotAdmissible { reader, key, writer: choice.writer })
    }
}

impl Chooser for Script {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        self.follow(read).unwrap_or_else(|divergence| {
            self.divergence
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(divergence);
            read.versions.len() - 1
        })
    }
}

impl fmt::Debug for PendingRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, count) = (self.key, self.versions.len());
        write!(f, "PendingRead({:?} of {key}, {count} versions)", self.reader)
    }
}
