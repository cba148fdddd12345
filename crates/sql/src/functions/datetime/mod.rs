//! Dates, times and intervals: comparison, arithmetic, parts, zones.

mod add;
mod compare;
mod convert;
mod interval;
mod make;
mod now;
mod overlap;
mod part;
mod range;
mod trunc;
mod values;
mod zone;

use super::arguments::Entry;
pub(super) use convert::{local_of, utc_of};
use values::Span;
pub(super) use values::{Date, Stamp};

/// The tables of all files here.
pub(super) const TABLES: &[&[Entry]] = &[
    add::TABLE,
    compare::DATE,
    compare::TIME,
    compare::TIMETZ,
    compare::STAMP,
    compare::INTERVAL,
    compare::DATE_STAMP,
    compare::STAMP_DATE,
    compare::DATE_STAMPTZ,
    compare::STAMPTZ_DATE,
    compare::STAMP_STAMPTZ,
    compare::STAMPTZ_STAMP,
    compare::TABLE,
    convert::TABLE,
    interval::TABLE,
    make::TABLE,
    now::TABLE,
    overlap::TABLE,
    part::TABLE,
    range::TABLE,
    trunc::TABLE,
    zone::TABLE,
];
