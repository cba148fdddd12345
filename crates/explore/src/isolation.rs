//! What the explorer may be asked for: the levels of the ladder up to serializability, and no level
//! at all.

use crate::error::ExploreError;
use seriatim_check::Level;
use std::fmt;

/// How isolated transactions are, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Isolation {
    /// Not at all: a read may return any committed version (the papers' level *true*).
    Nothing,
    /// [`Level::ReadCommitted`].
    ReadCommitted,
    /// [`Level::ReadAtomic`].
    ReadAtomic,
    /// [`Level::Causal`].
    Causal,
    /// [`Level::PrefixConsistency`].
    Prefix,
    /// [`Level::SnapshotIsolation`].
    Snapshot,
    /// [`Level::Serializable`].
    Serializable,
}

impl Isolation {
    /// All of them, weakest first.
    pub const ALL: [Isolation; 7] = [
        Isolation::Nothing,
        Isolation::ReadCommitted,
        Isolation::ReadAtomic,
        Isolation::Causal,
        Isolation::Prefix,
        Isolation::Snapshot,
        Isolation::Serializable,
    ];

    /// The level, unless it is one that programs cannot be explored at: cut isolation stands apart
    /// from the others, and strict serializability needs times.
    pub fn of(level: Level) -> Result<Isolation, ExploreError> {
        let known = Isolation::ALL.into_iter().find(|isolation| isolation.level() == Some(level));
        known.ok_or(ExploreError::Level(level))
    }

    /// As a level, if it is one.
    pub fn level(self) -> Option<Level> {
        match self {
            Isolation::Nothing => None,
            Isolation::ReadCommitted => Some(Level::ReadCommitted),
            Isolation::ReadAtomic => Some(Level::ReadAtomic),
            Isolation::Causal => Some(Level::Causal),
            Isolation::Prefix => Some(Level::PrefixConsistency),
            Isolation::Snapshot => Some(Level::SnapshotIsolation),
            Isolation::Serializable => Some(Level::Serializable),
        }
    }

    /// The short name used on the command line and in JSON.
    pub fn code(self) -> &'static str {
        self.level().map_or("true", Level::code)
    }

    /// Whether every pending transaction that nobody reads from can go on (Section 3.2 of the
    /// paper): so for all up to causal.
    pub fn is_causally_extensible(self) -> bool {
        self <= Isolation::Causal
    }

    /// The strongest causally extensible level that is not stronger.
    pub fn base(self) -> Isolation {
        self.min(Isolation::Causal)
    }

    /// Whether its axiom speaks of the commit order itself.
    pub(crate) fn is_strong(self) -> bool {
        !self.is_causally_extensible()
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.level().map_or("no isolation", Level::name))
    }
}
