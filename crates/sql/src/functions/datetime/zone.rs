//! `AT TIME ZONE`: the zone is a name, an abbreviation, or an interval.

use super::add::time_plus;
use super::values::{Stamp, TimeTz};
use crate::error::{Result, SqlError, code};
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::types::datetime::abbreviations::{self, Meaning};
use crate::types::datetime::output;
use crate::types::datetime::{SECOND, is_timestamp, timestamp_out_of_range};
use crate::types::{Interval, Zone};

/// A zone as `AT TIME ZONE` names it.
pub(super) enum Named {
    /// Seconds east of UTC.
    Fixed(i32),
    /// An abbreviation whose meaning has changed, and the zone that used it.
    Abbreviation(String, Zone),
    /// A zone.
    Zone(Zone),
}

impl Named {
    /// Abbreviations come before names.
    pub(super) fn find(name: &str) -> Result<Named> {
        let lowercase = name.to_lowercase();
        let found = match abbreviations::find(&lowercase) {
            Some(Meaning::Fixed(seconds, _)) => Some(Named::Fixed(seconds)),
            Some(Meaning::Zone(zone)) => {
                Zone::named(zone).map(|zone| Named::Abbreviation(lowercase, zone))
            }
            None => Zone::named(name).map(Named::Zone),
        };
        found.ok_or_else(|| {
            let message = format!("time zone \"{name}\" not recognized");
            SqlError::new(code::INVALID_PARAMETER_VALUE, message)
        })
    }

    /// Seconds east of UTC at an instant.
    pub(super) fn offset_at(&self, instant: i64) -> i32 {
        match self {
            Named::Fixed(seconds) => *seconds,
            Named::Abbreviation(name, zone) => zone.offset_of_abbreviation(name, instant).0,
            Named::Zone(zone) => zone.offset_at(instant),
        }
    }

    /// Seconds east of UTC at a local time.
    pub(super) fn offset_of_local(&self, local: i64) -> i32 {
        match self {
            Named::Fixed(seconds) => *seconds,
            Named::Abbreviation(name, zone) => {
                let guess = i64::from(zone.offset_of_local(local)) * SECOND;
                zone.offset_of_abbreviation(name, local.saturating_sub(guess)).0
            }
            Named::Zone(zone) => zone.offset_of_local(local),
        }
    }
}

/// Seconds east of UTC that an interval means.
fn offset_of_interval(interval: Interval, style: &Style) -> Result<i32> {
    if interval.months != 0 || interval.days != 0 {
        let shown = output::interval(interval, style.interval_style);
        let message = format!("interval time zone \"{shown}\" must not include months or days");
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    Ok((interval.micros / SECOND) as i32)
}

fn moved(stamp: Stamp, seconds: i64) -> Result<Stamp> {
    let sum = stamp.0.checked_add(seconds * SECOND).filter(|sum| is_timestamp(*sum));
    sum.map(Stamp).ok_or_else(timestamp_out_of_range)
}

/// The instant of a local time in a zone.
fn to_instant(zone: &str, local: Stamp) -> Result<Stamp> {
    if !local.is_finite() {
        return Ok(local);
    }
    moved(local, -i64::from(Named::find(zone)?.offset_of_local(local.0)))
}

/// The local time of an instant in a zone.
fn to_local(zone: &str, instant: Stamp) -> Result<Stamp> {
    if !instant.is_finite() {
        return Ok(instant);
    }
    moved(instant, i64::from(Named::find(zone)?.offset_at(instant.0)))
}

fn to_instant_by(interval: Interval, local: Stamp, style: &Style) -> Result<Stamp> {
    if !local.is_finite() {
        return Ok(local);
    }
    moved(local, -i64::from(offset_of_interval(interval, style)?))
}

fn to_local_by(interval: Interval, instant: Stamp, style: &Style) -> Result<Stamp> {
    if !instant.is_finite() {
        return Ok(instant);
    }
    moved(instant, i64::from(offset_of_interval(interval, style)?))
}

/// The same time of day in a zone that is so many seconds east.
fn time_at(time: TimeTz, east: i32) -> TimeTz {
    let shift = i64::from(time.1) + i64::from(east);
    TimeTz(time_plus(time.0, shift * SECOND), -east)
}

fn timetz_zone(zone: &str, time: TimeTz, style: &Style) -> Result<TimeTz> {
    Ok(time_at(time, Named::find(zone)?.offset_at(style.transaction_time)))
}

pub(super) const TABLE: &[Entry] = functions! {
    "timestamp_zone", (zone: &str, a: Stamp) => to_instant(zone, a);
    "timestamptz_zone", (zone: &str, a: Stamp) => to_local(zone, a);
    "timestamp_izone", (zone: Interval, a: Stamp) [call, _all] =>
        to_instant_by(zone, a, call.style);
    "timestamptz_izone", (zone: Interval, a: Stamp) [call, _all] =>
        to_local_by(zone, a, call.style);
    "timetz_zone", (zone: &str, a: TimeTz) [call, _all] => timetz_zone(zone, a, call.style);
    "timetz_izone", (zone: Interval, a: TimeTz) [call, _all] =>
        Ok(time_at(a, offset_of_interval(zone, call.style)?));
};
