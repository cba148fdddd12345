//! Arithmetic of intervals.

use super::values::Span;
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::Interval;
use crate::types::datetime::typmod::apply_interval_typmod;
use crate::types::datetime::{DAY, SECOND, interval_out_of_range};

const MONTH_DAYS: i32 = 30;
const DAY_SECONDS: f64 = 86_400.0;

/// With all signs changed; used where the sum is checked afterwards.
pub(super) fn negated(span: Interval) -> Interval {
    Interval {
        months: span.months.wrapping_neg(),
        days: span.days.wrapping_neg(),
        micros: span.micros.wrapping_neg(),
    }
}

fn checked(months: Option<i32>, days: Option<i32>, micros: Option<i64>) -> Result<Interval> {
    match (months, days, micros) {
        (Some(months), Some(days), Some(micros)) => Ok(Interval { months, days, micros }),
        _ => Err(interval_out_of_range()),
    }
}

fn negative(a: Interval) -> Result<Interval> {
    checked(a.months.checked_neg(), a.days.checked_neg(), a.micros.checked_neg())
}

pub(super) fn plus(a: Interval, b: Interval) -> Result<Interval> {
    checked(
        a.months.checked_add(b.months),
        a.days.checked_add(b.days),
        a.micros.checked_add(b.micros),
    )
}

pub(super) fn minus(a: Interval, b: Interval) -> Result<Interval> {
    checked(
        a.months.checked_sub(b.months),
        a.days.checked_sub(b.days),
        a.micros.checked_sub(b.micros),
    )
}

/// Rounds to microseconds, which hides errors of the last bits.
fn to_micros(seconds: f64) -> f64 {
    (seconds * 1e6).round_ties_even() / 1e6
}

fn to_i32(value: f64) -> Result<i32> {
    if value.is_nan() || value > f64::from(i32::MAX) || value < f64::from(i32::MIN) {
        return Err(interval_out_of_range());
    }
    Ok(value as i32)
}

/// Brings fractions of months and days down into days and seconds.
fn cascade(months: f64, days: f64, micros: impl Fn(f64) -> f64) -> Result<Interval> {
    let (whole_months, mut whole_days) = (to_i32(months)?, to_i32(days)?);
    let month_rest = to_micros((months - f64::from(whole_months)) * f64::from(MONTH_DAYS));
    let day_rest = days - f64::from(whole_days) + month_rest - month_rest.trunc();
    let mut seconds = to_micros(day_rest * DAY_SECONDS);
    if seconds.abs() >= DAY_SECONDS {
        let more = (seconds / DAY_SECONDS).trunc();
        whole_days = whole_days.checked_add(more as i32).ok_or_else(interval_out_of_range)?;
        seconds -= more * DAY_SECONDS;
    }
    let days = whole_days.checked_add(month_rest as i32).ok_or_else(interval_out_of_range)?;
    let micros = micros(seconds * SECOND as f64).round_ties_even();
    let limit = 9_223_372_036_854_775_808.0;
    if micros.is_nan() || micros < -limit || micros >= limit {
        return Err(interval_out_of_range());
    }
    Ok(Interval { months: whole_months, days, micros: micros as i64 })
}

fn times(span: Interval, factor: f64) -> Result<Span> {
    let (months, days) = (f64::from(span.months) * factor, f64::from(span.days) * factor);
    cascade(months, days, |rest| span.micros as f64 * factor + rest).map(Span)
}

fn divided(span: Interval, divisor: f64) -> Result<Span> {
    if divisor == 0.0 {
        return Err(SqlError::new(code::DIVISION_BY_ZERO, "division by zero"));
    }
    let (months, days) = (f64::from(span.months) / divisor, f64::from(span.days) / divisor);
    cascade(months, days, |rest| span.micros as f64 / divisor + rest).map(Span)
}

/// Whole days of the time become days, with the sign that the days have.
pub(super) fn justify_hours(span: Interval) -> Result<Interval> {
    let whole = (span.micros / DAY) as i32;
    let days = span.days.checked_add(whole).ok_or_else(interval_out_of_range)?;
    let (days, micros) = same_sign(days, span.micros % DAY);
    Ok(Interval { months: span.months, days, micros })
}

/// Days and a time of less than a day, brought to the same sign.
fn same_sign(days: i32, micros: i64) -> (i32, i64) {
    if days > 0 && micros < 0 {
        return (days - 1, micros + DAY);
    }
    if days < 0 && micros > 0 {
        return (days + 1, micros - DAY);
    }
    (days, micros)
}

/// Thirty days become a month, with the sign that the months have.
fn justify_days(span: Interval) -> Result<Interval> {
    let mut months =
        span.months.checked_add(span.days / MONTH_DAYS).ok_or_else(interval_out_of_range)?;
    let mut days = span.days % MONTH_DAYS;
    if months > 0 && days < 0 {
        (months, days) = (months - 1, days + MONTH_DAYS);
    } else if months < 0 && days > 0 {
        (months, days) = (months + 1, days - MONTH_DAYS);
    }
    Ok(Interval { months, days, micros: span.micros })
}

fn justify(span: Interval) -> Result<Interval> {
    let days = i64::from(span.days) + span.micros / DAY;
    let mut micros = span.micros % DAY;
    let whole = days / i64::from(MONTH_DAYS);
    let mut days = (days % i64::from(MONTH_DAYS)) as i32;
    let months = i64::from(span.months) + whole;
    let mut months = i32::try_from(months).map_err(|_| interval_out_of_range())?;
    if months > 0 && (days < 0 || (days == 0 && micros < 0)) {
        (months, days) = (months - 1, days + MONTH_DAYS);
    } else if months < 0 && (days > 0 || (days == 0 && micros > 0)) {
        (months, days) = (months + 1, days - MONTH_DAYS);
    }
    (days, micros) = same_sign(days, micros);
    Ok(Interval { months, days, micros })
}

pub(super) const TABLE: &[Entry] = functions! {
    "interval_um", (a: Interval) => negative(a).map(Span);
    "interval_pl", (a: Interval, b: Interval) => plus(a, b).map(Span);
    "interval_mi", (a: Interval, b: Interval) => minus(a, b).map(Span);
    "interval_mul", (a: Interval, factor: f64) => times(a, factor);
    "mul_d_interval", (factor: f64, a: Interval) => times(a, factor);
    "interval_div", (a: Interval, divisor: f64) => divided(a, divisor);
    "interval_justify_hours", (a: Interval) => justify_hours(a).map(Span);
    "interval_justify_days", (a: Interval) => justify_days(a).map(Span);
    "interval_justify_interval", (a: Interval) => justify(a).map(Span);
    "interval_scale", (a: Interval, typmod: i32) => Span(apply_interval_typmod(a, typmod));
    "interval_finite", (_a: Interval) => true;
};
