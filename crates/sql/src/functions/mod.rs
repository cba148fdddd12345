//! What PostgreSQL's functions do, by the name that they have inside of PostgreSQL (`prosrc`, as in
//! `data/procs.tsv`): operators, casts and functions are all found there by their arguments' types
//! first, so that an implementation knows the types of what it is given.
//!
//! Each file has a table of what it implements. A function that is in no table exists but is not
//! supported: SQLSTATE 0A000. Functions that look at the session or the catalog are with the
//! executor.

#[macro_use]
mod arguments;
pub mod aggregates;
mod array;
mod bits;
mod bool;
mod bytea;
mod datetime;
mod encoding;
mod enums;
mod float;
mod float_degrees;
mod float_math;
mod format;
mod format_datetime;
mod hash;
mod inet;
mod int;
mod json;
mod jsonpath;
mod like;
mod misc;
mod normal_forms;
mod numeric;
mod oid;
mod pgcrypto;
mod quote;
mod random;
mod record;
mod regex;
mod registry;
mod series;
mod sizes;
mod text;
mod text_array;
mod text_compare;
mod uuid;
mod uuid_ossp;
mod values;

pub use quote::{quote_ident, quote_literal};
pub use random::seed_random;
pub use registry::{aggregate, function, set_function};

pub use crate::types::{Call, DateOrder, DateStyle, IntervalStyle, Style};

use crate::error::Result;
use crate::types::Datum;

/// An implementation. Arguments of a strict function (`proisstrict`) are never null: the caller
/// has looked.
pub type Function = fn(&Call<'_>, &[Datum]) -> Result<Datum>;

/// Rows that a set-returning function returns, each with the columns of its result.
pub type Rows = Box<dyn Iterator<Item = Result<Vec<Datum>>> + Send>;

/// An implementation that returns a set.
pub type SetFunction = fn(&Call<'_>, &[Datum]) -> Result<Rows>;

/// What an aggregate keeps while it goes over its rows.
pub trait Accumulator: Send {
    /// One more row. Rows with a null argument are not given to it if
    /// [`AggregateKind::skips_nulls`].
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()>;
    /// The result over all rows so far; may be asked several times (windows).
    fn finish(&self, call: &Call<'_>) -> Result<Datum>;
}

/// How an aggregate is computed.
#[derive(Clone, Copy)]
pub struct AggregateKind {
    /// Whether rows with a null argument do not count.
    pub skips_nulls: bool,
    /// A new one for a group.
    pub start: fn(&Call<'_>) -> Box<dyn Accumulator>,
    /// A new one for a group of an ordered-set aggregate that has direct arguments, which are given
    /// here; used instead of `start`. The rows come in the order of WITHIN GROUP, and `Call::args`
    /// has the types of the direct arguments first.
    pub direct: Option<Direct>,
}

/// Begins an aggregate with direct arguments.
pub type Direct = fn(&Call<'_>, &[Datum]) -> Result<Box<dyn Accumulator>>;

impl std::fmt::Debug for AggregateKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AggregateKind {{ skips_nulls: {} }}", self.skips_nulls)
    }
}
