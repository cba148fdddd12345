//! The isolation levels, as `isolation.md` of the specification defines them.

use std::fmt;
use std::str::FromStr;

/// An isolation level that can be checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Read committed: only committed, final values; reads inside a transaction never go back in time.
    ReadCommitted,
    /// Cut isolation: a key that is read twice in a transaction has the same value both times. Stands apart from the ladder.
    CutIsolation,
    /// Read atomic: all or none of a transaction's writes are visible to another.
    ReadAtomic,
    /// Transactional causal consistency.
    Causal,
    /// Prefix consistency: every transaction sees a prefix of one commit order.
    PrefixConsistency,
    /// Snapshot isolation: prefix consistency in which of two concurrent writers of a key only one commits.
    SnapshotIsolation,
    /// Serializability.
    Serializable,
    /// Serializability in an order that agrees with real time.
    StrictSerializable,
}

impl Level {
    /// All levels, in the order in which reports list them.
    pub const ALL: [Level; 4] = [Level::ReadCommitted, Level::CutIsolation, Level::ReadAtomic, Level::Causal];
    /// The ladder, weakest first: each level forbids all that the levels before it forbid.
    pub const LADDER: [Level; 3] = [Level::ReadCommitted, Level::ReadAtomic, Level::Causal];

    /// The short name used on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Level::ReadCommitted => "rc",
            Level::CutIsolation => "ci",
            Level::ReadAtomic => "ra",
            Level::Causal => "cc",
            Level::PrefixConsistency => "pc",
            Level::SnapshotIsolation => "si",
            Level::Serializable => "ser",
            Level::StrictSerializable => "sser",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Level::ReadCommitted => "read committed",
            Level::CutIsolation => "cut isolation",
            Level::ReadAtomic => "read atomic",
            Level::Causal => "causal consistency",
            Level::PrefixConsistency => "prefix consistency",
            Level::SnapshotIsolation => "snapshot isolation",
            Level::Serializable => "serializability",
            Level::StrictSerializable => "strict serializability",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A level's name was not recognised.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown isolation level `{0}`; expected one of rc, ci, ra, cc")]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text.to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "rc" | "read-committed" => Ok(Level::ReadCommitted),
            "ci" | "cut-isolation" | "item-cut-isolation" => Ok(Level::CutIsolation),
            "ra" | "read-atomic" => Ok(Level::ReadAtomic),
            "cc" | "tcc" | "causal" | "causal-consistency" => Ok(Level::Causal),
            _ => Err(UnknownLevel(text.to_owned())),
        }
    }
}
