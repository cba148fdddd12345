//! Regular expressions as PostgreSQL has them (its "advanced" ones): read ([`parse`]), translated
//! for a library that finds fast whether and where a match begins ([`translate`]), and gone through
//! by an automaton of their own that knows where it ends ([`exact`]). Functions of SQL around them
//! are elsewhere.

mod bracket;
mod compiled;
mod exact;
mod parse;
mod syntax;
mod translate;

pub(crate) use compiled::{Match, Matches, Regex, Text, compiled};
pub(crate) use parse::Options;
