//! Whether a value is within an offset of another one, for windows with RANGE.

use super::add::{stamp_plus, stamptz_plus};
use super::convert::date_stamp;
use super::interval::{minus, negated, plus};
use super::values::{Date, Stamp, Time, TimeTz};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::Interval;
use std::cmp::Ordering;

fn check(negative: bool) -> Result<()> {
    if !negative {
        return Ok(());
    }
    let message = "invalid preceding or following size in window function";
    Err(SqlError::new(code::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message))
}

fn holds(order: Ordering, less: bool) -> bool {
    if less { order.is_le() } else { order.is_ge() }
}

fn directed(offset: Interval, before: bool) -> Result<Interval> {
    check(offset.span() < 0)?;
    Ok(if before { negated(offset) } else { offset })
}

fn of_stamps(
    value: Stamp,
    base: Stamp,
    offset: Interval,
    before: bool,
    less: bool,
) -> Result<bool> {
    let bound = stamp_plus(base, directed(offset, before)?)?;
    Ok(holds(value.cmp(&bound), less))
}

fn of_intervals(
    value: Interval,
    base: Interval,
    offset: Interval,
    before: bool,
    less: bool,
) -> Result<bool> {
    check(offset.span() < 0)?;
    let bound = if before { minus(base, offset)? } else { plus(base, offset)? };
    Ok(holds(value.span().cmp(&bound.span()), less))
}

/// Times do not go around the clock here.
fn time_bound(base: i64, offset: Interval, before: bool) -> Result<i64> {
    check(offset.micros < 0)?;
    Ok(if before { base - offset.micros } else { base.wrapping_add(offset.micros) })
}

fn of_times(value: Time, base: Time, offset: Interval, before: bool, less: bool) -> Result<bool> {
    Ok(holds(value.0.cmp(&time_bound(base.0, offset, before)?), less))
}

fn of_timetzs(
    value: TimeTz,
    base: TimeTz,
    offset: Interval,
    before: bool,
    less: bool,
) -> Result<bool> {
    let bound = TimeTz(time_bound(base.0, offset, before)?, base.1);
    Ok(holds(value.cmp(bound), less))
}

pub(super) const TABLE: &[Entry] = functions! {
    "in_range_date_interval", (a: Date, base: Date, offset: Interval, before: bool, less: bool) =>
        of_stamps(date_stamp(a)?, date_stamp(base)?, offset, before, less);
    "in_range_timestamp_interval",
        (a: Stamp, base: Stamp, offset: Interval, before: bool, less: bool) =>
        of_stamps(a, base, offset, before, less);
    "in_range_timestamptz_interval",
        (a: Stamp, base: Stamp, offset: Interval, before: bool, less: bool) [call, _all] => {
            let bound = stamptz_plus(base, directed(offset, before)?, call.style)?;
            Ok(holds(a.cmp(&bound), less))
        };
    "in_range_interval_interval",
        (a: Interval, base: Interval, offset: Interval, before: bool, less: bool) =>
        of_intervals(a, base, offset, before, less);
    "in_range_time_interval", (a: Time, base: Time, offset: Interval, before: bool, less: bool) =>
        of_times(a, base, offset, before, less);
    "in_range_timetz_interval",
        (a: TimeTz, base: TimeTz, offset: Interval, before: bool, less: bool) =>
        of_timetzs(a, base, offset, before, less);
};
