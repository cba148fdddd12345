//! What a generated history looks like.

use seriatim_history::{ColumnsError, TXNS_MAX};
use seriatim_isolation::{Anomaly, Level, Order};

/// A key takes some 30 bytes before anything is written to it: 2 GiB.
const KEYS_MAX: u64 = 1 << 26;
/// A session takes less than a hundred bytes: 2 GiB.
const SESSIONS_MAX: u64 = 1 << 24;
/// Each session of a causal store keeps four bytes about each other one: 1 GiB.
const CAUSAL_SESSIONS_MAX: u64 = 1 << 14;
/// The values of a key are numbers of 32 bits.
const OPERATIONS_MAX: u64 = (u32::MAX / 2) as u64;

/// The levels that a history can be generated at, weakest first. At causal consistency the store
/// converges; at snapshot isolation transactions that conflict abort; at serializability one
/// transaction runs after the other.
pub const LEVELS: [Level; 5] = [
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::Causal,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// How operations choose their keys.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum KeyChoice {
    /// All keys alike.
    Uniform,
    /// Key i with a frequency that falls with i to this power.
    Zipfian {
        /// The power; 0.99 is the usual choice.
        exponent: f64,
    },
    /// A share of the keys gets a share of the operations.
    Hotspot {
        /// Share of the keys that is hot, for example 0.2.
        keys: f64,
        /// Share of the operations that goes there, for example 0.8.
        operations: f64,
    },
}

/// How large, how contended, how strong.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many sessions run at once.
    pub sessions: u32,
    /// How many transactions each session runs.
    pub txns_per_session: u32,
    /// How many operations each transaction has.
    pub ops_per_txn: u32,
    /// How many keys there are.
    pub keys: u32,
    /// Share of the operations that are reads, from 0 to 1.
    pub reads: f64,
    /// How keys are chosen.
    pub key_choice: KeyChoice,
    /// What the store promises: one of [`LEVELS`].
    pub level: Level,
    /// The order that it promises the level with. With real time the history has begin and end
    /// times (those of what is planted are not known).
    pub order: Order,
    /// Share of the transactions that abort, from 0 to 1 (conflicts at snapshot isolation come on
    /// top).
    pub aborts: f64,
    /// Anomalies to plant, each once, in sessions and on keys of their own.
    pub plant: Vec<Anomaly>,
    /// Whether transactions that abort are left out of the history: for formats that cannot say so.
    pub committed_only: bool,
    /// Whether the initial values are written by a first transaction, in a session of its own: for
    /// formats in which every value that is read must be written.
    pub initial_writes: bool,
    /// What decides everything that is random.
    pub seed: u64,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            sessions: 10,
            txns_per_session: 100,
            ops_per_txn: 8,
            keys: 1000,
            reads: 0.5,
            key_choice: KeyChoice::Uniform,
            level: Level::Serializable,
            order: Order::Sessions,
            aborts: 0.0,
            plant: Vec::new(),
            committed_only: false,
            initial_writes: false,
            seed: 0,
        }
    }
}

/// What is wrong with a workload.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A number must be at least one.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// A share must be between 0 and 1.
    #[error("{name} must be between 0 and 1, not {value}")]
    NotAShare {
        /// Which share.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The exponent of a zipfian choice must be a number of at least 0.
    #[error("the zipfian exponent must be a number from 0 up, not {0}")]
    Exponent(f64),
    /// More than the store has room for.
    #[error("{what}: {count} are more than the {limit} that can be generated")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// Too large with what was planted.
    #[error("{0}")]
    TooLarge(#[from] ColumnsError),
    /// No history can be generated at this level.
    #[error("histories cannot be generated at {0}; choose rc, ra, cc, si or ser")]
    Level(Level),
    /// Some kinds have no register history that shows them.
    #[error(
        "`{0}` cannot be planted: it needs lists or times, and generated histories have neither"
    )]
    NotPlantable(&'static str),
}

impl Workload {
    /// How many operations the history will have, planted ones aside.
    pub fn operations(&self) -> u64 {
        let txns = u64::from(self.sessions) * u64::from(self.txns_per_session);
        txns.saturating_mul(u64::from(self.ops_per_txn))
    }

    pub(crate) fn validate(&self) -> Result<(), WorkloadError> {
        for (name, number) in [("sessions", self.sessions), ("keys", self.keys)] {
            if number == 0 {
                return Err(WorkloadError::Zero(name));
            }
        }
        let mut shares =
            vec![("the share of reads", self.reads), ("the share of aborts", self.aborts)];
        match self.key_choice {
            KeyChoice::Hotspot { keys, operations } => {
                shares.extend([
                    ("the share of hot keys", keys),
                    ("the share of hot operations", operations),
                ]);
            }
            KeyChoice::Zipfian { exponent } if !(exponent >= 0.0 && exponent.is_finite()) => {
                return Err(WorkloadError::Exponent(exponent));
            }
            _ => {}
        }
        if let Some(&(name, value)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share))
        {
            return Err(WorkloadError::NotAShare { name, value });
        }
        if let Some(kind) = self.plant.iter().find(|&&kind| !crate::plant::can_be_planted(kind)) {
            return Err(WorkloadError::NotPlantable(kind.info().code));
        }
        if !LEVELS.contains(&self.level) {
            return Err(WorkloadError::Level(self.level));
        }
        self.check_sizes()
    }

    /// Refuses what would only end when the memory does.
    fn check_sizes(&self) -> Result<(), WorkloadError> {
        let txns = u64::from(self.sessions) * u64::from(self.txns_per_session);
        let causal = self.level == Level::Causal;
        let sizes = [
            ("operations", self.operations(), OPERATIONS_MAX),
            ("keys", u64::from(self.keys), KEYS_MAX),
            ("sessions", u64::from(self.sessions), SESSIONS_MAX),
            (
                "sessions of a causal store",
                if causal { self.sessions.into() } else { 0 },
                CAUSAL_SESSIONS_MAX,
            ),
            ("transactions", txns, TXNS_MAX as u64),
        ];
        match sizes.into_iter().find(|(_, count, limit)| count > limit) {
            Some((what, count, limit)) => Err(WorkloadError::TooMany { what, count, limit }),
            None => Ok(()),
        }
    }
}
