//! Sums and differences of dates, times and intervals.

use super::convert::{date_stamp, local_of, stamp_of_civil, utc_of};
use super::interval::{justify_hours, negated};
use super::values::{Date, Span, Stamp, Time, TimeTz};
use crate::error::{Result, SqlError, code};
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::types::Interval;
use crate::types::datetime::{
    Civil, DAY, calendar::month_days, clock, date_out_of_range, is_date, is_timestamp, parts,
    timestamp_out_of_range,
};

fn invalid(message: &str) -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
}

/// A date so many days later; infinities stay.
fn date_plus(date: Date, days: i64) -> Result<Date> {
    if !date.is_finite() {
        return Ok(date);
    }
    let sum = i64::from(date.0) + days;
    if is_date(sum) { Ok(Date(sum as i32)) } else { Err(date_out_of_range()) }
}

fn date_minus(a: Date, b: Date) -> Result<i32> {
    if !a.is_finite() || !b.is_finite() {
        return Err(invalid("cannot subtract infinite dates"));
    }
    Ok(a.0 - b.0)
}

/// The day so many months and days later; a day that the month does not have is its last one.
fn moved_day(date: Civil, span: Interval) -> Option<i64> {
    let mut days = date.days();
    if span.months != 0 {
        let months = date.year * 12 + date.month - 1 + i64::from(span.months);
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        days = Civil::new(year, month, date.day.min(month_days(year, month))).days();
    }
    let moved = days + i64::from(span.days);
    is_date(moved).then_some(moved)
}

/// Adds the months and days of an interval to a local time.
fn plus_days(stamp: i64, span: Interval) -> Option<i64> {
    if span.months == 0 && span.days == 0 {
        return Some(stamp);
    }
    let parts = parts(stamp);
    stamp_of_civil(moved_day(parts.date, span)?, parts.time)
}

fn plus_micros(stamp: i64, micros: i64) -> Result<Stamp> {
    let sum = stamp.checked_add(micros).filter(|sum| is_timestamp(*sum));
    sum.map(Stamp).ok_or_else(timestamp_out_of_range)
}

/// A timestamp and an interval.
pub(crate) fn stamp_plus(stamp: Stamp, span: Interval) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    let moved = plus_days(stamp.0, span).ok_or_else(timestamp_out_of_range)?;
    plus_micros(moved, span.micros)
}

/// A timestamp with a zone and an interval: months and days are those of the session's zone.
pub(crate) fn stamptz_plus(stamp: Stamp, span: Interval, style: &Style) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    if span.months == 0 && span.days == 0 {
        return plus_micros(stamp.0, span.micros);
    }
    let local = local_of(stamp.0, &style.zone);
    let moved = plus_days(local, span).ok_or_else(timestamp_out_of_range)?;
    plus_micros(utc_of(moved, &style.zone)?, span.micros)
}

fn stamp_minus(a: Stamp, b: Stamp) -> Result<Span> {
    if !a.is_finite() || !b.is_finite() {
        return Err(invalid("cannot subtract infinite timestamps"));
    }
    // PostgreSQL does not look at an overflow here, which takes 292,000 years.
    let micros = a.0.wrapping_sub(b.0);
    justify_hours(Interval { months: 0, days: 0, micros }).map(Span)
}

fn date_plus_interval(date: Date, span: Interval) -> Result<Stamp> {
    stamp_plus(date_stamp(date)?, span)
}

/// A time of day and the time of an interval, around the clock.
pub(super) fn time_plus(time: i64, micros: i64) -> i64 {
    time.wrapping_add(micros).rem_euclid(DAY)
}

fn time_minus(a: Time, b: Time) -> Span {
    Span(Interval { months: 0, days: 0, micros: a.0 - b.0 })
}

/// The parts of a timestamp whose differences are an age.
fn age_parts(stamp: i64) -> [i64; 7] {
    let parts = parts(stamp);
    let (hour, minute, second, micros) = clock(parts.time);
    [parts.date.year, parts.date.month, parts.date.day, hour, minute, second, micros]
}

/// The difference in years, months and days, as people count an age.
fn age(a: Stamp, b: Stamp, local: impl Fn(i64) -> i64) -> Span {
    let negative = a < b;
    let (earlier, later) = if negative { (a, b) } else { (b, a) };
    let (from, to) = (age_parts(local(earlier.0)), age_parts(local(later.0)));
    let mut difference: [i64; 7] = std::array::from_fn(|at| to[at] - from[at]);
    // What is negative is borrowed from the next larger part, days from the earlier month.
    let sizes = [0, 12, month_days(from[0], from[1]), 24, 60, 60, 1_000_000];
    for at in (1..7).rev() {
        while difference[at] < 0 {
            difference[at] += sizes[at];
            difference[at - 1] -= 1;
        }
    }
    let [years, months, days, hours, minutes, seconds, micros] = difference;
    let time = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
    let sign = if negative { -1 } else { 1 };
    let months = (years * 12 + months) * sign;
    Span(Interval { months: months as i32, days: (days * sign) as i32, micros: time * sign })
}

fn stamptz_age(a: Stamp, b: Stamp, style: &Style) -> Span {
    age(a, b, |stamp| local_of(stamp, &style.zone))
}

/// Midnight of the day on which the transaction began, in the session's zone.
fn today(style: &Style) -> Stamp {
    let local = local_of(style.transaction_time, &style.zone);
    Stamp(local - local.rem_euclid(DAY))
}

fn age_today_tz(stamp: Stamp, style: &Style) -> Result<Span> {
    let today = Stamp(utc_of(today(style).0, &style.zone)?);
    Ok(stamptz_age(today, stamp, style))
}

pub(super) const TABLE: &[Entry] = functions! {
    "date_pli", (a: Date, days: i32) => date_plus(a, i64::from(days));
    "#2550", (days: i32, a: Date) => date_plus(a, i64::from(days));
    "date_mii", (a: Date, days: i32) => date_plus(a, -i64::from(days));
    "date_mi", (a: Date, b: Date) => date_minus(a, b);
    "date_pl_interval", (a: Date, span: Interval) => date_plus_interval(a, span);
    "#2546", (span: Interval, a: Date) => date_plus_interval(a, span);
    "date_mi_interval", (a: Date, span: Interval) => date_plus_interval(a, negated(span));
    "timestamp_pl_interval", (a: Stamp, span: Interval) => stamp_plus(a, span);
    "#2548", (span: Interval, a: Stamp) => stamp_plus(a, span);
    "timestamp_mi_interval", (a: Stamp, span: Interval) => stamp_plus(a, negated(span));
    "timestamptz_pl_interval", (a: Stamp, span: Interval) [call, _all] =>
        stamptz_plus(a, span, call.style);
    "#2549", (span: Interval, a: Stamp) [call, _all] => stamptz_plus(a, span, call.style);
    "timestamptz_mi_interval", (a: Stamp, span: Interval) [call, _all] =>
        stamptz_plus(a, negated(span), call.style);
    "timestamp_mi", (a: Stamp, b: Stamp) => stamp_minus(a, b);
    "timestamp_age", (a: Stamp, b: Stamp) => age(a, b, |stamp| stamp);
    "timestamptz_age", (a: Stamp, b: Stamp) [call, _all] => stamptz_age(a, b, call.style);
    "#1386", (a: Stamp) [call, _all] => age_today_tz(a, call.style);
    "#2059", (a: Stamp) [call, _all] => age(today(call.style), a, |stamp| stamp);
    "time_pl_interval", (a: Time, span: Interval) => Time(time_plus(a.0, span.micros));
    "#1848", (span: Interval, a: Time) => Time(time_plus(a.0, span.micros));
    "time_mi_interval", (a: Time, span: Interval) =>
        Time(time_plus(a.0, span.micros.wrapping_neg()));
    "timetz_pl_interval", (a: TimeTz, span: Interval) =>
        TimeTz(time_plus(a.0, span.micros), a.1);
    "#2547", (span: Interval, a: TimeTz) => TimeTz(time_plus(a.0, span.micros), a.1);
    "timetz_mi_interval", (a: TimeTz, span: Interval) =>
        TimeTz(time_plus(a.0, span.micros.wrapping_neg()), a.1);
    "time_mi_time", (a: Time, b: Time) => time_minus(a, b);
};
