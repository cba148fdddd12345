//! The strong levels: prefix consistency, snapshot isolation, serializability, strict
//! serializability.
//!
//! Guess an order of the begin and commit points, see what it breaks, add the edges that are forced
//! there, repeat. When nothing is forced any more, the choices that are left go to a SAT solver
//! with a theory of acyclicity. An order that breaks nothing is the certificate of "holds"; a
//! contradiction names the few transactions that show the violation.
//!
//! ```text
//! guess ─► scan ─► force ─► repair ─► search ─► order: holds
//!   ▲               │        │  ▲       │
//!   └─── edges ─────┘        └──┘       └─────► contradiction ─► transactions
//! ```
//!
//! `timeline.rs` says which points a level has, `facts.rs` what is known of the history,
//! `point_graph.rs` which edges are, `sources.rs` what reads of values with several writers are
//! known to have read, `ids.rs` how all this is numbered. The steps: `greedy.rs`, `scan.rs`,
//! `force.rs` (with `reach.rs`), `repair.rs` (with `progress.rs`), `sat.rs` (with `theory.rs` and
//! `parts.rs`), `guilty.rs` (with `contradiction.rs`); `rounds.rs` is the loop, `decide.rs` the way
//! of a decision, `level.rs` knows by which algorithm a level is decided, `mutation.rs` which rules
//! make the answers right.

mod contradiction;
mod decide;
mod facts;
mod force;
mod greedy;
mod guilty;
mod ids;
mod level;
mod mutation;
mod parts;
mod point_graph;
mod progress;
mod reach;
mod repair;
mod rounds;
mod sat;
mod scan;
mod sources;
#[cfg(test)]
mod tests;
mod theory;
mod timeline;

pub(crate) use level::{StrongOutcome, Subject, decide_strong};
