//! What a check needs that can be known in advance.
//!
//! The numbers are rough and on the large side: they were measured on histories of a few million
//! operations.

use super::resident;
use super::search_limits::Limits;
use seriatim_history::History;

/// Matching the reads to the writes, and the orders of the weak levels, for each operation.
const INDEX_BYTES: u64 = 32;
/// The graph of a strong level, for each operation and for each transaction.
const GRAPH_BYTES: (u64, u64) = (32, 64);
/// A second history, for each operation.
const HISTORY_BYTES: u64 = 32;
/// Clocks of the weak levels for each operation at most, and the fewest operations that they are
/// sized for.
const CLOCK_BYTES: u64 = 64;
const CLOCK_OPS_MIN: u64 = 1 << 20;

/// What a check needs beside the history.
pub(crate) struct Need {
    index: u64,
    /// The clocks of causal consistency, and thereby of everything above.
    clocks: u64,
}

/// What there is room for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// Not for the clocks.
    NoClocks,
    /// Not even for the index.
    None,
}

impl Need {
    pub fn of(history: &History) -> Need {
        let (ops, txns) = (history.op_count() as u64, history.txn_count() as u64);
        let all_columns = txns.saturating_mul(history.session_count() as u64).saturating_mul(4);
        Need {
            index: ops * INDEX_BYTES,
            clocks: all_columns.min(ops.max(CLOCK_OPS_MIN) * CLOCK_BYTES),
        }
    }

    /// The resident memory that the process would have.
    pub fn with_what_is_in_use(&self) -> u64 {
        resident::now().saturating_add(self.index).saturating_add(self.clocks)
    }

    pub fn within(&self, limits: Limits) -> Room {
        if limits.allow(self.index + self.clocks) {
            Room::Enough
        } else if limits.allow(self.index) {
            Room::NoClocks
        } else {
            Room::None
        }
    }
}

/// What deciding a strong level needs before it looks at the limits itself.
pub(crate) fn of_strong(history: &History) -> u64 {
    history.op_count() as u64 * GRAPH_BYTES.0 + history.txn_count() as u64 * GRAPH_BYTES.1
}

/// What a copy of the history, or of nearly all of it, needs with its index.
pub(crate) fn of_part(history: &History) -> u64 {
    history.op_count() as u64 * (HISTORY_BYTES + INDEX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_room_for() {
        let need = Need { index: 1 << 40, clocks: 1 << 40 };
        assert_eq!(need.within(Limits::default()), Room::Enough);
        let memory = |memory: u64| Limits { memory: Some(memory), ..Limits::default() };
        assert_eq!(need.within(memory(3 << 40)), Room::Enough);
        assert_eq!(need.within(memory(3 << 39)), Room::NoClocks);
        assert_eq!(need.within(memory(1 << 39)), Room::None);
    }
}
