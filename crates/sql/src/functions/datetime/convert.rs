//! Casts between dates, times and timestamps.

use super::values::{Date, Span, Stamp, Time, TimeTz};
use crate::error::{Result, SqlError, code};
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::types::datetime::typmod::round_micros;
use crate::types::datetime::{
    DATE_INFINITY, DAY, SECOND, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY, UNIX_EPOCH_MICROS,
    from_parts, is_timestamp, timestamp_out_of_range,
};
use crate::types::{Interval, Zone};

/// The local time of an instant.
pub(crate) fn local_of(instant: i64, zone: &Zone) -> i64 {
    instant.saturating_add(i64::from(zone.offset_at(instant)) * SECOND)
}

/// The instant of a local time.
pub(crate) fn utc_of(local: i64, zone: &Zone) -> Result<i64> {
    let offset = i64::from(zone.offset_of_local(local)) * SECOND;
    local
        .checked_sub(offset)
        .filter(|instant| is_timestamp(*instant))
        .ok_or_else(timestamp_out_of_range)
}

/// The timestamp of a day and a time.
pub(super) fn stamp_of_civil(days: i64, time: i64) -> Option<i64> {
    from_parts(days, time)
}

fn date_too_late() -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")
}

/// The timestamp of an infinite date.
fn infinite(date: Date) -> Stamp {
    Stamp(if date.0 == DATE_INFINITY { TIMESTAMP_INFINITY } else { TIMESTAMP_NEG_INFINITY })
}

/// Midnight of a date; none if there is no such timestamp.
pub(super) fn midnight(date: Date) -> Option<Stamp> {
    if !date.is_finite() {
        return Some(infinite(date));
    }
    from_parts(i64::from(date.0), 0).map(Stamp)
}

pub(super) fn date_stamp(date: Date) -> Result<Stamp> {
    midnight(date).ok_or_else(date_too_late)
}

pub(super) fn date_stamptz(date: Date, style: &Style) -> Result<Stamp> {
    stamp_stamptz(date_stamp(date)?, style).map_err(|_| date_too_late())
}

pub(super) fn stamp_stamptz(stamp: Stamp, style: &Style) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    utc_of(stamp.0, &style.zone).map(Stamp)
}

fn stamptz_to_stamp(stamp: Stamp, style: &Style) -> Result<Stamp> {
    let local = stamptz_stamp(stamp, style);
    if local.is_finite() && !is_timestamp(local.0) {
        return Err(timestamp_out_of_range());
    }
    Ok(local)
}

pub(super) fn stamptz_stamp(stamp: Stamp, style: &Style) -> Stamp {
    if stamp.is_finite() { Stamp(local_of(stamp.0, &style.zone)) } else { stamp }
}

pub(super) fn stamp_date(stamp: Stamp) -> Date {
    match stamp.0 {
        TIMESTAMP_INFINITY => Date(DATE_INFINITY),
        TIMESTAMP_NEG_INFINITY => Date(i32::MIN),
        micros => Date(micros.div_euclid(DAY) as i32),
    }
}

fn stamp_time(stamp: Stamp) -> Option<Time> {
    stamp.is_finite().then(|| Time(stamp.0.rem_euclid(DAY)))
}

fn stamptz_timetz(stamp: Stamp, style: &Style) -> Option<TimeTz> {
    let time = stamp_time(stamptz_stamp(stamp, style))?;
    Some(TimeTz(time.0, -style.zone.offset_at(stamp.0)))
}

/// A date and a time.
fn date_time(date: Date, time: Time) -> Result<Stamp> {
    let midnight = date_stamp(date)?;
    if !midnight.is_finite() {
        return Ok(midnight);
    }
    let sum = midnight.0.checked_add(time.0).filter(|sum| is_timestamp(*sum));
    sum.map(Stamp).ok_or_else(timestamp_out_of_range)
}

fn date_timetz(date: Date, time: TimeTz) -> Result<Stamp> {
    if !date.is_finite() {
        return Ok(infinite(date));
    }
    let days = i64::from(date.0).checked_mul(DAY).ok_or_else(date_too_late)?;
    let sum = days.checked_add(time.0 + i64::from(time.1) * SECOND);
    sum.filter(|sum| is_timestamp(*sum)).map(Stamp).ok_or_else(date_too_late)
}

fn time_timetz(time: Time, style: &Style) -> TimeTz {
    let local = local_of(style.transaction_time, &style.zone);
    let then = local - local.rem_euclid(DAY) + time.0;
    TimeTz(time.0, -style.zone.offset_of_local(then))
}

fn round_stamp(stamp: Stamp, typmod: i32) -> Stamp {
    if stamp.is_finite() { Stamp(round_micros(stamp.0, typmod)) } else { stamp }
}

/// From seconds since 1970.
fn from_seconds(seconds: f64) -> Result<Stamp> {
    if seconds.is_infinite() {
        let infinity = if seconds > 0.0 { TIMESTAMP_INFINITY } else { TIMESTAMP_NEG_INFINITY };
        return Ok(Stamp(infinity));
    }
    if seconds.is_nan() {
        let message = "timestamp cannot be NaN";
        return Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message));
    }
    let micros = ((seconds + UNIX_EPOCH_MICROS as f64 / 1e6) * 1e6).round_ties_even();
    let limit = 9.3e18;
    if micros.abs() < limit && is_timestamp(micros as i64) {
        return Ok(Stamp(micros as i64));
    }
    let shown = crate::types::io::scalars::rounded(seconds, 6);
    let message = format!("timestamp out of range: \"{shown}\"");
    Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message))
}

pub(super) const TABLE: &[Entry] = functions! {
    "date_timestamp", (a: Date) => date_stamp(a);
    "date_timestamptz", (a: Date) [call, _all] => date_stamptz(a, call.style);
    "timestamp_date", (a: Stamp) => stamp_date(a);
    "timestamptz_date", (a: Stamp) [call, _all] => stamp_date(stamptz_stamp(a, call.style));
    "timestamp_timestamptz", (a: Stamp) [call, _all] => stamp_stamptz(a, call.style);
    "timestamptz_timestamp", (a: Stamp) [call, _all] => stamptz_to_stamp(a, call.style);
    "timestamp_time", (a: Stamp) => stamp_time(a);
    "timestamptz_time", (a: Stamp) [call, _all] => stamp_time(stamptz_stamp(a, call.style));
    "timestamptz_timetz", (a: Stamp) [call, _all] => stamptz_timetz(a, call.style);
    "time_timetz", (a: Time) [call, _all] => time_timetz(a, call.style);
    "timetz_time", (a: TimeTz) => Time(a.0);
    "time_interval", (a: Time) => Span(Interval { months: 0, days: 0, micros: a.0 });
    "interval_time", (a: Interval) => Time(a.micros.rem_euclid(DAY));
    "datetime_timestamp", (date: Date, time: Time) => date_time(date, time);
    "#1296", (time: Time, date: Date) => date_time(date, time);
    "datetimetz_timestamptz", (date: Date, time: TimeTz) => date_timetz(date, time);
    "#1298", (time: TimeTz, date: Date) => date_timetz(date, time);
    "#1176", (date: Date, time: Time) [call, _all] =>
        stamp_stamptz(date_time(date, time)?, call.style);
    "float8_timestamptz", (seconds: f64) => from_seconds(seconds);
    "timestamp_scale", (a: Stamp, typmod: i32) => round_stamp(a, typmod);
    "timestamptz_scale", (a: Stamp, typmod: i32) => round_stamp(a, typmod);
    "time_scale", (a: Time, typmod: i32) => Time(round_micros(a.0, typmod));
    "timetz_scale", (a: TimeTz, typmod: i32) => TimeTz(round_micros(a.0, typmod), a.1);
    "date_finite", (a: Date) => a.is_finite();
    "timestamp_finite", (a: Stamp) => a.is_finite();
};
