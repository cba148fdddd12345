//! How far a check may go: until when, and with how much memory.
//!
//! Memory is bounded in two ways. What is large and known in advance (the index, clocks) is
//! compared with the room that is left before it is allocated; what grows while it is searched is
//! noticed because a search asks [`Limits::is_over`] again and again, which looks at the resident
//! memory of the process.

pub(crate) mod memory;
mod resident;
mod search_limits;

pub(crate) use search_limits::Limits;
