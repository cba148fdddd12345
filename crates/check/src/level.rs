//! The isolation levels, as `isolation.md` of the specification defines them.

use std::fmt;
use std::str::FromStr;

/// An isolation level that can be checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Read committed: only committed, final values; reads inside a transaction never go back in
    /// time.
    ReadCommitted,
    /// Cut isolation: a key that is read twice in a transaction has the same value both times.
    /// Stands apart from the ladder.
    CutIsolation,
    /// Read atomic: all or none of a transaction's writes are visible to another.
    ReadAtomic,
    /// Transactional causal consistency.
    Causal,
    /// Prefix consistency: every transaction reads from a prefix of one commit order.
    PrefixConsistency,
    /// Snapshot isolation, the strong-session variant: prefix consistency, and of two concurrent
    /// writers of a key one must fail.
    SnapshotIsolation,
    /// Serializability: as if the transactions ran one after the other.
    Serializable,
    /// Strict serializability: serializability in an order that agrees with real time.
    StrictSerializable,
}

impl Level {
    /// All levels, in the order in which reports list them.
    pub const ALL: [Level; 8] = [
        Level::ReadCommitted,
        Level::CutIsolation,
        Level::ReadAtomic,
        Level::Causal,
        Level::PrefixConsistency,
        Level::SnapshotIsolation,
        Level::Serializable,
        Level::StrictSerializable,
    ];
    /// The ladder, weakest first: each level forbids all that the levels before it forbid.
    pub const LADDER: [Level; 7] = [
        Level::ReadCommitted,
        Level::ReadAtomic,
        Level::Causal,
        Level::PrefixConsistency,
        Level::SnapshotIsolation,
        Level::Serializable,
        Level::StrictSerializable,
    ];
    /// The levels of the ladder that take polynomial time, weakest first.
    pub const WEAK: [Level; 3] = [Level::ReadCommitted, Level::ReadAtomic, Level::Causal];
    /// The levels of the ladder that are NP-complete, weakest first.
    pub const STRONG: [Level; 4] = [
        Level::PrefixConsistency,
        Level::SnapshotIsolation,
        Level::Serializable,
        Level::StrictSerializable,
    ];

    /// Whether this is one of [`Level::STRONG`].
    pub fn is_strong(self) -> bool {
        Level::STRONG.contains(&self)
    }

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
#[error("unknown isolation level `{0}`; expected one of {codes}", codes = Level::ALL.map(Level::code).join(", "))]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text.to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "rc" | "read-committed" => Ok(Level::ReadCommitted),
            "ci" | "cut-isolation" | "item-cut-isolation" => Ok(Level::CutIsolation),
            "ra" | "read-atomic" => Ok(Level::ReadAtomic),
            "cc" | "tcc" | "causal" | "causal-consistency" => Ok(Level::Causal),
            "pc" | "prefix" | "prefix-consistency" => Ok(Level::PrefixConsistency),
            "si" | "snapshot" | "snapshot-isolation" => Ok(Level::SnapshotIsolation),
            "ser" | "serializable" | "serializability" => Ok(Level::Serializable),
            "sser" | "strict" | "strict-serializable" | "strict-serializability" => {
                Ok(Level::StrictSerializable)
            }
            _ => Err(UnknownLevel(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_known_by_its_names() {
        for level in Level::ALL {
            assert_eq!(level.code().parse(), Ok(level));
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert_eq!("Snapshot Isolation".parse(), Ok(Level::SnapshotIsolation));
        assert_eq!("strict_serializable".parse(), Ok(Level::StrictSerializable));
        assert!("serial".parse::<Level>().unwrap_err().to_string().contains("sser"));
    }

    #[test]
    fn the_ladder_is_the_weak_levels_and_then_the_strong_ones() {
        assert!(Level::LADDER.is_sorted() && Level::ALL.is_sorted());
        assert_eq!(Level::LADDER.to_vec(), [&Level::WEAK[..], &Level::STRONG].concat());
    }
}
