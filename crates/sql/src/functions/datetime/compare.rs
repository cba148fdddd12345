//! Comparison, also between types: a date is its midnight, a timestamp without a zone is local.

use super::convert::{midnight, stamp_stamptz};
use super::values::{Date, Stamp, Time, TimeTz};
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::types::Interval;
use std::cmp::Ordering;

/// A date that is too late for a timestamp is after all finite ones.
fn date_and_stamp(date: Date, stamp: Stamp) -> Ordering {
    match midnight(date) {
        Some(midnight) => midnight.cmp(&stamp),
        None if stamp.0 == i64::MAX => Ordering::Less,
        None => Ordering::Greater,
    }
}

fn date_and_stamptz(date: Date, stamp: Stamp, style: &Style) -> Ordering {
    let Some(midnight) = midnight(date) else { return date_and_stamp(date, stamp) };
    stamp_and_stamptz(midnight, stamp, style)
}

fn stamp_and_stamptz(local: Stamp, stamp: Stamp, style: &Style) -> Ordering {
    match stamp_stamptz(local, style) {
        Ok(instant) => instant.cmp(&stamp),
        // Out of range by an offset: before or after all finite ones.
        Err(_) if stamp.is_finite() => local.0.cmp(&0),
        Err(_) => 0.cmp(&stamp.0),
    }
}

fn span(interval: Interval) -> i128 {
    interval.span()
}

fn smaller_interval(a: Interval, b: Interval) -> super::Span {
    super::Span(if span(a) < span(b) { a } else { b })
}

fn larger_interval(a: Interval, b: Interval) -> super::Span {
    super::Span(if span(a) > span(b) { a } else { b })
}

pub(super) const DATE: &[Entry] = comparisons!("date_"; a: Date, b: Date => a.cmp(&b));
pub(super) const TIME: &[Entry] = comparisons!("time_"; a: Time, b: Time => a.cmp(&b));
pub(super) const TIMETZ: &[Entry] = comparisons!("timetz_"; a: TimeTz, b: TimeTz => a.cmp(b));
pub(super) const STAMP: &[Entry] = comparisons!("timestamp_"; a: Stamp, b: Stamp => a.cmp(&b));
pub(super) const INTERVAL: &[Entry] =
    comparisons!("interval_"; a: Interval, b: Interval => span(a).cmp(&span(b)));

pub(super) const DATE_STAMP: &[Entry] = comparisons!(
    "date_lt_timestamp", "date_le_timestamp", "date_eq_timestamp",
    "date_ge_timestamp", "date_gt_timestamp", "date_ne_timestamp";
    a: Date, b: Stamp => date_and_stamp(a, b)
);
pub(super) const STAMP_DATE: &[Entry] = comparisons!(
    "timestamp_lt_date", "timestamp_le_date", "timestamp_eq_date",
    "timestamp_ge_date", "timestamp_gt_date", "timestamp_ne_date";
    a: Stamp, b: Date => date_and_stamp(b, a).reverse()
);

/// The six comparisons and the order of two types that need the session's zone.
macro_rules! zoned {
    ($lt:literal, $le:literal, $eq:literal, $ge:literal, $gt:literal, $ne:literal, $cmp:literal;
     $a:ident: $ta:ty, $b:ident: $tb:ty, $style:ident => $order:expr) => {
        functions! {
            $lt, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order.is_lt() };
            $le, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order.is_le() };
            $eq, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order.is_eq() };
            $ge, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order.is_ge() };
            $gt, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order.is_gt() };
            $ne, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order.is_ne() };
            $cmp, ($a: $ta, $b: $tb) [call, _all] => { let $style = call.style; $order as i32 };
        }
    };
}

pub(super) const DATE_STAMPTZ: &[Entry] = zoned!(
    "date_lt_timestamptz", "date_le_timestamptz", "date_eq_timestamptz",
    "date_ge_timestamptz", "date_gt_timestamptz", "date_ne_timestamptz", "date_cmp_timestamptz";
    a: Date, b: Stamp, style => date_and_stamptz(a, b, style)
);
pub(super) const STAMPTZ_DATE: &[Entry] = zoned!(
    "timestamptz_lt_date", "timestamptz_le_date", "timestamptz_eq_date",
    "timestamptz_ge_date", "timestamptz_gt_date", "timestamptz_ne_date", "timestamptz_cmp_date";
    a: Stamp, b: Date, style => date_and_stamptz(b, a, style).reverse()
);
pub(super) const STAMP_STAMPTZ: &[Entry] = zoned!(
    "timestamp_lt_timestamptz", "timestamp_le_timestamptz", "timestamp_eq_timestamptz",
    "timestamp_ge_timestamptz", "timestamp_gt_timestamptz", "timestamp_ne_timestamptz",
    "timestamp_cmp_timestamptz";
    a: Stamp, b: Stamp, style => stamp_and_stamptz(a, b, style)
);
pub(super) const STAMPTZ_STAMP: &[Entry] = zoned!(
    "timestamptz_lt_timestamp", "timestamptz_le_timestamp", "timestamptz_eq_timestamp",
    "timestamptz_ge_timestamp", "timestamptz_gt_timestamp", "timestamptz_ne_timestamp",
    "timestamptz_cmp_timestamp";
    a: Stamp, b: Stamp, style => stamp_and_stamptz(b, a, style).reverse()
);

pub(super) const TABLE: &[Entry] = functions! {
    "date_cmp", (a: Date, b: Date) => a.cmp(&b) as i32;
    "time_cmp", (a: Time, b: Time) => a.cmp(&b) as i32;
    "timetz_cmp", (a: TimeTz, b: TimeTz) => a.cmp(b) as i32;
    "timestamp_cmp", (a: Stamp, b: Stamp) => a.cmp(&b) as i32;
    "interval_cmp", (a: Interval, b: Interval) => span(a).cmp(&span(b)) as i32;
    "date_cmp_timestamp", (a: Date, b: Stamp) => date_and_stamp(a, b) as i32;
    "timestamp_cmp_date", (a: Stamp, b: Date) => date_and_stamp(b, a).reverse() as i32;
    "date_smaller", (a: Date, b: Date) => a.min(b);
    "date_larger", (a: Date, b: Date) => a.max(b);
    "time_smaller", (a: Time, b: Time) => a.min(b);
    "time_larger", (a: Time, b: Time) => a.max(b);
    "timetz_smaller", (a: TimeTz, b: TimeTz) => if a.cmp(b).is_lt() { a } else { b };
    "timetz_larger", (a: TimeTz, b: TimeTz) => if a.cmp(b).is_gt() { a } else { b };
    "timestamp_smaller", (a: Stamp, b: Stamp) => a.min(b);
    "timestamp_larger", (a: Stamp, b: Stamp) => a.max(b);
    "interval_smaller", (a: Interval, b: Interval) => smaller_interval(a, b);
    "interval_larger", (a: Interval, b: Interval) => larger_interval(a, b);
};
