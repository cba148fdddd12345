//! The readers of each type, with their errors.

use super::decode::{Decoder, Mode, ParseError};
use super::decode_interval::decode_interval;
use super::keywords::Special;
use super::lex::lex;
use super::typmod::{IntervalFields, apply_interval_typmod, decode_interval_typmod, round_micros};
use super::{
    DATE_INFINITY, DATE_NEG_INFINITY, SECOND, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY,
    UNIX_EPOCH_DAYS, UNIX_EPOCH_MICROS, from_parts, interval_out_of_range, is_date, is_timestamp,
};
use crate::error::{Result, SqlError, code};
use crate::types::Interval;
use crate::types::{IntervalStyle, Style};

/// How many characters the fields of a text have at most.
const LENGTH_MAX: usize = 128;

impl ParseError {
    /// The error that the client sees.
    pub fn for_type(self, ty: &str, text: &str) -> SqlError {
        let overflow = || {
            let message = format!("date/time field value out of range: \"{text}\"");
            SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
        };
        match self {
            ParseError::Other(error) => error,
            ParseError::Field => overflow(),
            ParseError::MonthDay => {
                overflow().hint("Perhaps you need a different \"datestyle\" setting.")
            }
            ParseError::Interval => {
                let message = format!("interval field value out of range: \"{text}\"");
                SqlError::new("22015", message)
            }
            ParseError::Zone => {
                let message = format!("time zone displacement out of range: \"{text}\"");
                SqlError::new(code::INVALID_TIME_ZONE_DISPLACEMENT_VALUE, message)
            }
            ParseError::Format => {
                let message = format!("invalid input syntax for type {ty}: \"{text}\"");
                SqlError::new(code::INVALID_DATETIME_FORMAT, message)
            }
        }
    }
}

fn decode<'s>(text: &str, ty: &str, mode: Mode, style: &'s Style) -> Result<Decoder<'s>> {
    let mut decoder = Decoder::new(style, mode);
    lex(text, LENGTH_MAX)
        .and_then(|fields| decoder.decode(&fields))
        .map_err(|error| error.for_type(ty, text))?;
    Ok(decoder)
}

/// Reads a date: days since 2000-01-01.
pub fn parse_date(text: &str, style: &Style) -> Result<i32> {
    let decoder = decode(text, "date", Mode::DateTime, style)?;
    match decoder.special {
        Some(Special::Epoch) => return Ok(UNIX_EPOCH_DAYS),
        Some(Special::Infinity) => return Ok(DATE_INFINITY),
        Some(Special::NegInfinity) => return Ok(DATE_NEG_INFINITY),
        _ => {}
    }
    let days = decoder.days();
    if is_date(days) {
        return Ok(days as i32);
    }
    let message = format!("date out of range: \"{text}\"");
    Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message))
}

/// Reads a time without a zone: microseconds since midnight, rounded to a precision.
pub fn parse_time(text: &str, precision: i32, style: &Style) -> Result<i64> {
    let decoder = decode(text, "time", Mode::Time, style)?;
    Ok(round_micros(decoder.time(), precision))
}

/// Reads a time with a zone: microseconds since midnight, and seconds west of UTC.
pub fn parse_timetz(text: &str, precision: i32, style: &Style) -> Result<(i64, i32)> {
    let decoder = decode(text, "time with time zone", Mode::Time, style)?;
    Ok((round_micros(decoder.time(), precision), -(decoder.offset as i32)))
}

/// Reads a timestamp; a zone in it is ignored.
pub fn parse_timestamp(text: &str, precision: i32, style: &Style) -> Result<i64> {
    timestamp(text, "timestamp", precision, style, |_| 0)
}

/// Reads a timestamp with a zone, in UTC.
pub fn parse_timestamptz(text: &str, precision: i32, style: &Style) -> Result<i64> {
    timestamp(text, "timestamp with time zone", precision, style, |decoder| decoder.offset)
}

fn timestamp(
    text: &str,
    ty: &str,
    precision: i32,
    style: &Style,
    offset: fn(&Decoder<'_>) -> i64,
) -> Result<i64> {
    let decoder = decode(text, ty, Mode::DateTime, style)?;
    match decoder.special {
        Some(Special::Epoch) => return Ok(UNIX_EPOCH_MICROS),
        Some(Special::Infinity) => return Ok(TIMESTAMP_INFINITY),
        Some(Special::NegInfinity) => return Ok(TIMESTAMP_NEG_INFINITY),
        _ => {}
    }
    let out_of_range = || {
        let message = format!("timestamp out of range: \"{text}\"");
        SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
    };
    let local = from_local(decoder.days(), decoder.time()).ok_or_else(out_of_range)?;
    let micros = local
        .checked_sub(offset(&decoder) * SECOND)
        .filter(|micros| is_timestamp(*micros))
        .ok_or_else(out_of_range)?;
    Ok(round_micros(micros, precision))
}

/// A local time may be outside of the range by an offset.
fn from_local(days: i64, time: i64) -> Option<i64> {
    from_parts(days, time).or_else(|| days.checked_mul(super::DAY)?.checked_add(time))
}

/// Reads an interval with its modifier.
pub fn parse_interval(text: &str, typmod: i32, style: &Style) -> Result<Interval> {
    let (fields, _) = decode_interval_typmod(typmod);
    let interval = interval(text, fields, style.interval_style == IntervalStyle::SqlStandard)?;
    Ok(apply_interval_typmod(interval, typmod))
}

/// Reads an interval without a session.
pub fn parse_interval_plain(text: &str) -> Result<Interval> {
    interval(text, IntervalFields::FULL, false)
}

fn interval(text: &str, fields: IntervalFields, sql_standard: bool) -> Result<Interval> {
    let sum = decode_interval(text, fields, sql_standard).map_err(|error| {
        let error = if error == ParseError::Field { ParseError::Interval } else { error };
        error.for_type("interval", text)
    })?;
    sum.finish().ok_or_else(interval_out_of_range)
}
