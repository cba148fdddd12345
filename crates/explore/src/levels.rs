//! The levels that programs can be explored at.

use crate::error::ExploreError;
use seriatim_isolation::Level;

/// The levels that programs can be explored at, weakest first.
pub const LEVELS: [Level; 7] = [
    Level::Unconstrained,
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// Refuses levels that programs cannot be explored at: cut isolation stands apart from the others,
/// and strict serializability needs times.
pub(crate) fn supported(level: Level) -> Result<(), ExploreError> {
    if LEVELS.contains(&level) { Ok(()) } else { Err(ExploreError::Level(level)) }
}
