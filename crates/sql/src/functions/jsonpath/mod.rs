//! What paths of SQL/JSON find: [`execute`] goes through the tree of [`crate::types::jsonpath`].
//!
//! An error of a path may be suppressed (`silent`), inside of a predicate it is *unknown*; errors
//! of the limits are never suppressed.
//!
//! Not here: `.datetime()`, which is refused with 0A000.

mod execute;
mod functions;
mod method;
mod predicate;

pub(super) use functions::{SETS, TABLES};
