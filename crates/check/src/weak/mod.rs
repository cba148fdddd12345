//! The weak levels, read committed, read atomic and causal consistency: deciding them in nearly
//! linear time, and saying what is wrong.
//!
//! - `graph.rs`, `edges.rs`: orders that extend session order, reads and further edges; strongly
//!   connected components. O(n).
//! - `clocks.rs`: how far into each session a causal past reaches. O(n·k).
//! - `infer.rs`: the axioms, as edges that an order breaks. O(n^1.5) at RC and RA, O(n·k) at CC.
//! - `decide.rs`: guess an order, look for broken edges, mend, repeat. A few rounds.
//! - `anomalies.rs`: the same past the first cycle, every read that is to blame.
//! - `shortest_cycles.rs`, `summary.rs`: shortest cycles with reasons; groups and exemplars.
//! - `distinct.rs`: these steps, one after the other; `context.rs`: what they share.
//! - `causal.rs`: the causal order for the scans of `patterns/`.
//! - `real_time.rs`: the same with real time, by moments beside the history.
//! - `time_cycles.rs`: what real time shows beside session order, reads and lists. O(n).
//! - `plain_order.rs`: commit orders of no isolation, for `no_isolation.rs`. O(n).
//! - `duplicates.rs`, `levels.rs`: values that were written twice, by a choice of sources.
//!   Exponential; bounded.

mod anomalies;
mod causal;
mod clocks;
mod context;
mod decide;
mod distinct;
mod duplicates;
mod edges;
mod graph;
mod infer;
mod levels;
mod plain_order;
mod real_time;
mod shortest_cycles;
mod summary;
mod time_cycles;

pub(crate) use causal::CausalOrder;
pub(crate) use distinct::{Analysis, WeakLevels};
pub(crate) use levels::{Chosen, Reads, undecided, undecided_lists, violated};
pub(crate) use plain_order::plain_order;
pub(crate) use real_time::is_room_for_overlaps;
pub(crate) use time_cycles::{TimeCycles, count as time_cycles};
