//! The isolation levels: their names and their order. What they mean is in [`crate::axioms`].

use std::fmt;
use std::str::FromStr;

/// An isolation level, weakest first.
///
/// The derived order is that of [`Level::LADDER`] with [`Level::Unconstrained`] below it.
/// [`Level::CutIsolation`] stands beside the ladder: it sorts where it does to be listed there, and
/// [`Level::implies`] says what it has to do with the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// No constraint: a read may return any committed version (the papers' level *true*).
    Unconstrained,
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
    /// All levels that forbid something, in the order in which reports list them.
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

    /// Whether a pending transaction that nothing reads from can always go on, whatever the others
    /// have done (causal extensibility): so for all up to causal consistency. At the others a read
    /// may have no admissible writer, and a commit may have to be refused.
    pub fn is_causally_extensible(self) -> bool {
        !self.is_strong()
    }

    /// Whether every history that satisfies this level satisfies `weaker`.
    pub fn implies(self, weaker: Level) -> bool {
        match (self, weaker) {
            // Cut isolation is below read atomic, and above nothing but no constraint at all.
            (Level::CutIsolation, _) => self == weaker || weaker == Level::Unconstrained,
            (_, Level::CutIsolation) => self >= Level::ReadAtomic,
            _ => self >= weaker,
        }
    }

    /// The short name used on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Level::Unconstrained => "true",
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
            Level::Unconstrained => "no isolation",
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
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = Level::ALL.map(Level::code).join(", ");
        write!(f, "unknown isolation level `{}`; expected one of {codes}", self.0)
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text.to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "true" | "no-isolation" => Ok(Level::Unconstrained),
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
    fn a_level_implies_those_below_it_and_cut_isolation_stands_apart() {
        for (index, level) in Level::LADDER.into_iter().enumerate() {
            for (other_index, other) in Level::LADDER.into_iter().enumerate() {
                assert_eq!(level.implies(other), index >= other_index, "{level}, {other}");
            }
            assert!(!Level::CutIsolation.implies(level), "{level}");
            assert_eq!(level.implies(Level::CutIsolation), level != Level::ReadCommitted);
            assert!(level.implies(Level::Unconstrained) && !Level::Unconstrained.implies(level));
        }
        assert!(Level::CutIsolation.implies(Level::CutIsolation));
        assert!(Level::CutIsolation.implies(Level::Unconstrained));
    }

    #[test]
    fn the_ladder_is_the_weak_levels_and_then_the_strong_ones() {
        assert!(Level::LADDER.is_sorted() && Level::ALL.is_sorted());
        assert_eq!(Level::LADDER.to_vec(), [&Level::WEAK[..], &Level::STRONG].concat());
    }
}
