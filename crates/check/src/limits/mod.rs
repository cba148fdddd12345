//! How far a check may go: until when, and with how much memory.
//!
//! Memory is bounded in two ways. What is large and known in advance (the index, clocks) is
//! compared with the room that is left before it is allocated; what grows while it is searched is
//! noticed because a search asks [`Limits::is_over`] again and again, which looks at the resident
//! memory of the process.
//!
//! - `memory.rs`: what can be known in advance, and whether there is room for it.
//! - `search_limits.rs`: until when and with how much memory a search may go on.
//! - `resident.rs`: how much memory the process has.
//!
//! Without a limit of the caller memory is linear in the history, because of the inferred edges
//! only those that a tried order breaks are stored, and the reasons of the weak levels are computed
//! again for the exemplars that are shown. The strong levels also keep one number for each point
//! and session (`strong/reach.rs`), up to 2 GiB: a history that needs more, and that no guessed
//! order fits, stays undecided there.

pub(crate) mod memory;
mod resident;
mod search_limits;

pub(crate) use search_limits::Limits;
