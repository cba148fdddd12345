//! Dates and times: what their text means and how they are written.
//!
//! Text is cut into `lex`emes, which `decode`, `decode_time` and `decode_interval` give a
//! meaning; these follow the rules of the appendix "Date/Time Support" of PostgreSQL's manual, in
//! the same order, because which strings are accepted depends on it. [`output`] writes each style.

pub mod abbreviations;
pub mod calendar;
mod decode;
mod decode_interval;
mod decode_iso;
mod decode_number;
mod decode_time;
mod field;
mod fields;
mod keywords;
mod lex;
pub mod output;
mod parse;
#[cfg(test)]
mod tests;
pub mod typmod;

use crate::error::{SqlError, code};
pub use calendar::Civil;
pub(crate) use decode::ParseError;
pub(crate) use decode_time::parse_offset;
pub use field::Field;
pub use parse::{
    parse_date, parse_interval, parse_interval_plain, parse_time, parse_timestamp,
    parse_timestamptz, parse_timetz,
};
use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds of an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Microseconds of a day.
pub const DAY: i64 = 24 * HOUR;

/// The date before all others.
pub const DATE_NEG_INFINITY: i32 = i32::MIN;
/// The date after all others.
pub const DATE_INFINITY: i32 = i32::MAX;
/// The timestamp before all others.
pub const TIMESTAMP_NEG_INFINITY: i64 = i64::MIN;
/// The timestamp after all others.
pub const TIMESTAMP_INFINITY: i64 = i64::MAX;
/// Days of 1970-01-01.
pub const UNIX_EPOCH_DAYS: i32 = -10_957;
/// Microseconds of 1970-01-01.
pub const UNIX_EPOCH_MICROS: i64 = UNIX_EPOCH_DAYS as i64 * DAY;

/// What time it is, in microseconds since 2000-01-01 UTC.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64 + UNIX_EPOCH_MICROS
}

/// Days of the first date, 4714-11-24 BC.
const DATE_MIN: i64 = -calendar::JULIAN_OF_2000;
/// Days after the last date, 5874897-12-31.
const DATE_END: i64 = 2_147_483_494 - calendar::JULIAN_OF_2000;
/// The first timestamp, 4714-11-24 BC.
const TIMESTAMP_MIN: i64 = -211_813_488_000_000_000;
/// The end of timestamps, 294277-01-01.
const TIMESTAMP_END: i64 = 9_223_371_331_200_000_000;

/// Whether so many days since 2000-01-01 are a date.
pub fn is_date(days: i64) -> bool {
    (DATE_MIN..DATE_END).contains(&days)
}

/// Whether so many microseconds since 2000-01-01 are a finite timestamp.
pub fn is_timestamp(micros: i64) -> bool {
    (TIMESTAMP_MIN..TIMESTAMP_END).contains(&micros)
}

/// Whether a timestamp is not one of the infinities.
pub fn is_finite(timestamp: i64) -> bool {
    timestamp != TIMESTAMP_INFINITY && timestamp != TIMESTAMP_NEG_INFINITY
}

/// Whether a date is not one of the infinities.
pub fn is_finite_date(date: i32) -> bool {
    date != DATE_INFINITY && date != DATE_NEG_INFINITY
}

/// The error of a timestamp that is too early or too late.
pub fn timestamp_out_of_range() -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

/// The error of a date that is too early or too late.
pub fn date_out_of_range() -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, "date out of range")
}

/// The error of an interval that does not fit.
pub fn interval_out_of_range() -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, "interval out of range")
}

/// A timestamp in parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    /// The day.
    pub date: Civil,
    /// Microseconds since midnight.
    pub time: i64,
}

/// The day and time of a finite timestamp.
pub fn parts(timestamp: i64) -> Parts {
    Parts { date: Civil::from_days(timestamp.div_euclid(DAY)), time: timestamp.rem_euclid(DAY) }
}

/// The timestamp of a day and a time, if there is one.
pub fn from_parts(days: i64, time: i64) -> Option<i64> {
    let micros = days.checked_mul(DAY)?.checked_add(time)?;
    is_timestamp(micros).then_some(micros)
}

/// Hours, minutes, seconds and microseconds of a time of day, or of the time in an interval.
pub fn clock(micros: i64) -> (i64, i64, i64, i64) {
    (micros / HOUR, micros / MINUTE % 60, micros / SECOND % 60, micros % SECOND)
}
