//! `make_date` and its like: values from numbers.

use super::convert::utc_of;
use super::values::{Date, Span, Stamp, Time};
use super::zone::Named;
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::Interval;
use crate::types::datetime::{
    Civil, DAY, HOUR, MINUTE, ParseError, SECOND, calendar::month_days, interval_out_of_range,
    is_date, is_timestamp, parse_offset, timestamp_out_of_range,
};
use crate::types::io::scalars::rounded;

fn out_of_range(message: String) -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
}

/// As C's `%02g`.
pub(crate) fn part_text(seconds: f64) -> String {
    format!("{:0>2}", rounded(seconds, 6))
}

/// Why numbers are no date.
enum Wrong {
    Field,
    Range,
}

/// Days since 2000-01-01; a negative year is before Christ.
fn days(year: i32, month: i32, day: i32) -> std::result::Result<i64, Wrong> {
    let astronomical = if year < 0 { i64::from(year) + 1 } else { i64::from(year) };
    let (wide_month, wide_day) = (i64::from(month), i64::from(day));
    let valid = year != 0
        && (1..=12).contains(&month)
        && (1..=month_days(astronomical, wide_month)).contains(&wide_day);
    if !valid {
        return Err(Wrong::Field);
    }
    let days = Civil::new(astronomical, wide_month, wide_day).days();
    if is_date(days) {
        return Ok(days);
    }
    Err(Wrong::Range)
}

fn date(year: i32, month: i32, day: i32) -> Result<Date> {
    // A negative year is shown as it is counted inside.
    let shown = if year < 0 { year + 1 } else { year };
    days(year, month, day).map(|days| Date(days as i32)).map_err(|wrong| {
        let what = match wrong {
            Wrong::Field => "date field value",
            Wrong::Range => "date",
        };
        out_of_range(format!("{what} out of range: {shown}-{month:02}-{day:02}"))
    })
}

fn time(hour: i32, minute: i32, second: f64) -> Result<i64> {
    let in_range = (0..=24).contains(&hour) && (0..60).contains(&minute);
    let micros = (second * SECOND as f64).round_ties_even();
    let micros_in_range = (0.0..=60.0 * SECOND as f64).contains(&micros);
    if in_range && micros_in_range {
        let time = i64::from(hour) * HOUR + i64::from(minute) * MINUTE + micros as i64;
        if time <= DAY {
            return Ok(time);
        }
    }
    let second = part_text(second);
    Err(out_of_range(format!("time field value out of range: {hour}:{minute:02}:{second}")))
}

struct Fields(i32, i32, i32, i32, i32, f64);

/// A timestamp; it may be out of range by an offset.
fn stamp(Fields(year, month, day, hour, minute, second): Fields) -> Result<i64> {
    let days = days(year, month, day).map_err(|wrong| {
        let what = match wrong {
            Wrong::Field => "date field value",
            Wrong::Range => "date",
        };
        out_of_range(format!("{what} out of range: {year}-{month:02}-{day:02}"))
    })?;
    let time = time(hour, minute, second)?;
    let stamp = days.checked_mul(DAY).and_then(|days| days.checked_add(time));
    stamp.filter(|stamp| is_timestamp(*stamp)).ok_or_else(|| {
        let second = part_text(second);
        out_of_range(format!(
            "timestamp out of range: {year}-{month:02}-{day:02} {hour}:{minute:02}:{second}"
        ))
    })
}

/// The offset of a zone that is a name, an abbreviation, or a number with a sign.
fn offset(zone: &str, local: i64) -> Result<i32> {
    let invalid = |message: String| SqlError::new(code::INVALID_PARAMETER_VALUE, message);
    if zone.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!("invalid input syntax for type numeric time zone: \"{zone}\"");
        return Err(invalid(message)
            .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    match parse_offset(zone) {
        Ok(offset) => Ok(offset as i32),
        Err(ParseError::Zone) => Err(invalid(format!("numeric time zone \"{zone}\" out of range"))),
        Err(_) => Ok(Named::find(zone)?.offset_of_local(local)),
    }
}

fn stamp_at(fields: Fields, zone: &str) -> Result<Stamp> {
    let local = stamp(fields)?;
    let offset = i64::from(offset(zone, local)?) * SECOND;
    let instant = local.checked_sub(offset).filter(|instant| is_timestamp(*instant));
    instant.map(Stamp).ok_or_else(timestamp_out_of_range)
}

/// Years, months, weeks, days, hours, minutes.
fn interval(numbers: [i32; 6], seconds: f64) -> Result<Span> {
    let [years, months, weeks, days, hours, minutes] = numbers.map(i64::from);
    let micros = (seconds * SECOND as f64).round_ties_even();
    if !micros.is_finite() || micros.abs() >= 9.2e18 {
        return Err(interval_out_of_range());
    }
    let fits = |value: i64| i32::try_from(value).map_err(|_| interval_out_of_range());
    let time = (hours * HOUR).checked_add(minutes * MINUTE + micros as i64);
    Ok(Span(Interval {
        months: fits(years * 12 + months)?,
        days: fits(weeks * 7 + days)?,
        micros: time.ok_or_else(interval_out_of_range)?,
    }))
}

pub(super) const TABLE: &[Entry] = functions! {
    "make_date", (year: i32, month: i32, day: i32) =>
        date(year, month, day);
    "make_time", (hour: i32, minute: i32, second: f64) => time(hour, minute, second).map(Time);
    "make_timestamp", (y: i32, mo: i32, d: i32, h: i32, mi: i32, s: f64) =>
        stamp(Fields(y, mo, d, h, mi, s)).map(Stamp);
    "make_timestamptz", (y: i32, mo: i32, d: i32, h: i32, mi: i32, s: f64) [call, _all] =>
        utc_of(stamp(Fields(y, mo, d, h, mi, s))?, &call.style.zone).map(Stamp);
    "make_timestamptz_at_timezone",
        (y: i32, mo: i32, d: i32, h: i32, mi: i32, s: f64, zone: &str) =>
        stamp_at(Fields(y, mo, d, h, mi, s), zone);
    "make_interval", (y: i32, mo: i32, w: i32, d: i32, h: i32, mi: i32, s: f64) =>
        interval([y, mo, w, d, h, mi], s);
};
