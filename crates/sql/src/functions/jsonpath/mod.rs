//! jsonpath: the path language of SQL/JSON.
//!
//! A path is kept as its canonical text; [`parse()`] makes the tree that [`execute`] goes through.
//! An error of a path may be suppressed (`silent`), inside of a predicate it is *unknown*; errors
//! of
//! the limits are never suppressed.
//!
//! Not here: `.datetime()`, which is refused with 0A000.

mod ast;
mod execute;
mod functions;
mod lex;
mod method;
mod parse;
mod predicate;
mod print;
#[cfg(test)]
mod tests;

pub(super) use functions::{SETS, TABLES};
pub use parse::parse;
