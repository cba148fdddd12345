//! `date_trunc` and `date_bin`.

use super::convert::{local_of, utc_of};
use super::part::{field_of, not_recognized, not_supported};
use super::values::{Span, Stamp};
use super::zone::Named;
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::datetime::calendar::iso_weekday;
use crate::types::datetime::{
    Civil, DAY, Field, HOUR, MINUTE, Parts, SECOND, interval_out_of_range, is_timestamp, parts,
    timestamp_out_of_range,
};
use crate::types::{Interval, Zone};

/// The size of units within a day.
fn small_unit(field: Field) -> Option<i64> {
    Some(match field {
        Field::Microsecond => 1,
        Field::Millisecond => 1000,
        Field::Second => SECOND,
        Field::Minute => MINUTE,
        Field::Hour => HOUR,
        _ => return None,
    })
}

/// The first day of the unit that a day is in.
fn first_day(field: Field, date: Civil) -> Option<Civil> {
    let Civil { year, month, .. } = date;
    // Centuries begin with the year 1, 101, …; there is no year 0.
    let counted = |size: i64| match year > 0 {
        true => (year + size - 1) / size * size - (size - 1),
        false => -((size - 1 - (year - 1)) / size) * size + 1,
    };
    Some(match field {
        Field::Day => date,
        Field::Week => {
            let days = date.days();
            Civil::from_days(days - i64::from(iso_weekday(days)) + 1)
        }
        Field::Month => Civil::new(year, month, 1),
        Field::Quarter => Civil::new(year, (month - 1) / 3 * 3 + 1, 1),
        Field::Year => Civil::new(year, 1, 1),
        Field::Decade if year > 0 => Civil::new(year / 10 * 10, 1, 1),
        Field::Decade => Civil::new(-((8 - (year - 1)) / 10) * 10, 1, 1),
        Field::Century => Civil::new(counted(100), 1, 1),
        Field::Millennium => Civil::new(counted(1000), 1, 1),
        _ => return None,
    })
}

/// Midnight of the first day of the unit; it may be out of range.
fn first_midnight(field: Field, Parts { date, .. }: Parts) -> Option<i64> {
    first_day(field, date).map(|first| first.days().saturating_mul(DAY))
}

/// The unit, which is one of those that an interval has.
fn unit_of(unit: &str, ty: &str) -> Result<(Field, String)> {
    let (field, lowercase) = field_of(unit, ty)?;
    match field {
        Field::Epoch
        | Field::Julian
        | Field::Weekday
        | Field::IsoWeekday
        | Field::DayOfYear
        | Field::IsoYear => Err(not_recognized(&lowercase, ty)),
        _ => Ok((field, lowercase)),
    }
}

fn of_stamp(unit: &str, stamp: Stamp) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    let ty = "timestamp without time zone";
    let (field, unit) = unit_of(unit, ty)?;
    if let Some(size) = small_unit(field) {
        return Ok(Stamp(stamp.0 - stamp.0.rem_euclid(DAY) % size));
    }
    let midnight = first_midnight(field, parts(stamp.0));
    let midnight = midnight.ok_or_else(|| not_supported(&unit, ty))?;
    if is_timestamp(midnight) { Ok(Stamp(midnight)) } else { Err(timestamp_out_of_range()) }
}

/// In a zone: from days on the offset is that of the result, below that of the argument.
fn of_stamptz(unit: &str, stamp: Stamp, zone: &Zone) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    let ty = "timestamp with time zone";
    let (field, unit) = unit_of(unit, ty)?;
    let local = local_of(stamp.0, zone);
    if let Some(size) = small_unit(field) {
        return Ok(Stamp(stamp.0 - local.rem_euclid(DAY) % size));
    }
    let midnight = first_midnight(field, parts(local)).ok_or_else(|| not_supported(&unit, ty))?;
    utc_of(midnight, zone).map(Stamp)
}

fn of_stamptz_in(unit: &str, stamp: Stamp, zone: &str) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    let zone = match Named::find(zone)? {
        Named::Zone(zone) => zone,
        other => {
            let offset = other.offset_at(stamp.0);
            Zone::fixed(offset).ok_or_else(timestamp_out_of_range)?
        }
    };
    of_stamptz(unit, stamp, &zone)
}

fn of_interval(unit: &str, span: Interval) -> Result<Span> {
    let (field, unit) = unit_of(unit, "interval")?;
    if let Some(size) = small_unit(field) {
        return Ok(Span(Interval { micros: span.micros - span.micros % size, ..span }));
    }
    let whole =
        |size: i32| Span(Interval { months: span.months / size * size, days: 0, micros: 0 });
    Ok(match field {
        Field::Day => Span(Interval { micros: 0, ..span }),
        Field::Month => whole(1),
        Field::Quarter => whole(3),
        Field::Year => whole(12),
        Field::Decade => whole(120),
        Field::Century => whole(1200),
        Field::Millennium => whole(12_000),
        Field::Week => {
            let error = not_supported(&unit, "interval");
            return Err(error.detail("Months usually have fractional weeks."));
        }
        _ => return Err(not_supported(&unit, "interval")),
    })
}

/// The beginning of the bin of a width that a timestamp is in, counted from an origin.
fn bin(stride: Interval, stamp: Stamp, origin: Stamp) -> Result<Stamp> {
    if !stamp.is_finite() {
        return Ok(stamp);
    }
    let overflow = |message: &str| SqlError::new(code::DATETIME_FIELD_OVERFLOW, message);
    if !origin.is_finite() {
        return Err(overflow("origin out of range"));
    }
    if stride.months != 0 {
        let message = "timestamps cannot be binned into intervals containing months or years";
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let days = i64::from(stride.days).checked_mul(DAY);
    let width = days.and_then(|days| days.checked_add(stride.micros));
    let width = width.ok_or_else(interval_out_of_range)?;
    if width <= 0 {
        return Err(overflow("stride must be greater than zero"));
    }
    let difference = stamp.0.checked_sub(origin.0).ok_or_else(interval_out_of_range)?;
    let start = stamp.0.checked_sub(difference.rem_euclid(width));
    start.filter(|start| is_timestamp(*start)).map(Stamp).ok_or_else(timestamp_out_of_range)
}

pub(super) const TABLE: &[Entry] = functions! {
    "timestamp_trunc", (unit: &str, a: Stamp) => of_stamp(unit, a);
    "timestamptz_trunc", (unit: &str, a: Stamp) [call, _all] =>
        of_stamptz(unit, a, &call.style.zone);
    "timestamptz_trunc_zone", (unit: &str, a: Stamp, zone: &str) => of_stamptz_in(unit, a, zone);
    "interval_trunc", (unit: &str, a: Interval) => of_interval(unit, a);
    "timestamp_bin", (stride: Interval, a: Stamp, origin: Stamp) => bin(stride, a, origin);
    "timestamptz_bin", (stride: Interval, a: Stamp, origin: Stamp) => bin(stride, a, origin);
};
