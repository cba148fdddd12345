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
mod inet;
mod int;
mod json;
pub(crate) mod jsonpath;
mod like;
mod misc;
mod numeric;
mod oid;
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
mod values;

pub use quote::{quote_ident, quote_literal};
pub use random::seed_random;
pub use registry::{aggregate, function, set_function};

use crate::error::Result;
use crate::types::{Datum, Oid, TypeLookup};

/// What a function may know besides its arguments.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// The types of the arguments.
    pub args: &'c [Oid],
    /// The type of the result, resolved if the declared one is polymorphic.
    pub result: Oid,
    /// What decides how values are read and written.
    pub style: &'c Style,
    /// User-defined types.
    pub types: &'c dyn TypeLookup,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Call({:?} -> {:?})", self.args, self.result)
    }
}

/// The settings of a session that decide how values are read and written, and what time it is.
#[derive(Clone, Debug)]
pub struct Style {
    /// `TimeZone`.
    pub zone: crate::types::Zone,
    /// `DateStyle`: the order of day, month and year, and the style of output.
    pub date_order: DateOrder,
    /// `DateStyle`: the style of output.
    pub date_style: DateStyle,
    /// `IntervalStyle`.
    pub interval_style: IntervalStyle,
    /// `bytea_output` is `escape`.
    pub bytea_escape: bool,
    /// `extra_float_digits`.
    pub extra_float_digits: i32,
    /// When the transaction began: microseconds since 2000-01-01 UTC. What `now()` is.
    pub transaction_time: i64,
    /// When the statement began.
    pub statement_time: i64,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            zone: crate::types::Zone::utc(),
            date_order: DateOrder::default(),
            date_style: DateStyle::default(),
            interval_style: IntervalStyle::default(),
            bytea_escape: false,
            extra_float_digits: 1,
            transaction_time: 0,
            statement_time: 0,
        }
    }
}

/// The order of day, month and year in dates that are ambiguous.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DateOrder {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// How dates are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs)]
pub enum DateStyle {
    #[default]
    Iso,
    Sql,
    Postgres,
    German,
}

/// How intervals are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs)]
pub enum IntervalStyle {
    #[default]
    Postgres,
    PostgresVerbose,
    SqlStandard,
    Iso8601,
}

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
