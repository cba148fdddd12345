//! json and jsonb: operators, construction, changes, conversion to and from rows.
//!
//! json is text: what is taken out of it is a piece of that text, spaces and all. jsonb is a value.

mod access;
mod build;
mod cast;
mod change;
mod each;
mod from_value;
mod populate;
mod strip;
mod values;

use super::SetFunction;
use super::arguments::Entry;

/// The tables of all files here.
pub(super) const TABLES: &[&[Entry]] = &[
    access::COMPARE,
    access::TABLE,
    build::TABLE,
    cast::TABLE,
    change::TABLE,
    from_value::TABLE,
    populate::TABLE,
    strip::TABLE,
];

/// Those that return sets.
pub(super) const SETS: &[&[(&str, SetFunction)]] = &[each::SETS, populate::SETS];
