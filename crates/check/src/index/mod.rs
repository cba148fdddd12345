//! The reads of a history matched to their writes: what all levels work on.
//!
//! `build.rs` makes the [`Index`] (`tables.rs`): it sorts the operations by key and has
//! `match_reads.rs` resolve each key by itself; `lists.rs` adds what list-append histories tell.
//! Reads that are wrong by themselves are in `faults.rs`; `first_guess.rs` guesses at the commit
//! order; `ids.rs` has the types of versions and sources. O(n) time and memory.

mod build;
mod faults;
mod first_guess;
mod ids;
mod lists;
mod match_reads;
mod tables;
mod writes;

pub(crate) use faults::{Fault, Unrepeated};
pub(crate) use first_guess::first_guess;
pub(crate) use ids::{Source, SourceVersion, VersionId};
pub(crate) use lists::{VersionEdge, last_element, read_from};
pub(crate) use tables::{Index, Overlap};
pub(crate) use writes::{last_write, source_write};
