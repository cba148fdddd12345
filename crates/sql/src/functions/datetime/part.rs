//! `extract` (numeric) and `date_part` (double precision).

use super::convert::{date_stamp, local_of};
use super::values::{Date, Stamp, Time, TimeTz};
use crate::error::{Result, SqlError, code};
use crate::functions::Style;
use crate::functions::arguments::{Entry, Outcome};
use crate::types::datetime::calendar::{JULIAN_OF_2000, iso_weekday, weekday};
use crate::types::datetime::{
    Civil, DATE_INFINITY, DAY, Field, HOUR, MINUTE, Parts, SECOND, TIMESTAMP_INFINITY,
    UNIX_EPOCH_DAYS, UNIX_EPOCH_MICROS, clock, parts,
};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Interval};

/// A part of a date or time.
enum Part {
    /// An integer.
    Whole(i64),
    /// `number / 10^digits`.
    Scaled(i128, u32),
    /// Microseconds and seconds, which double precision adds up in this order.
    Seconds { micros: i64, seconds: i128 },
    /// A day and the microseconds since its midnight.
    DayAndTime(i64, i64),
    /// Of something that has no end.
    Infinite { negative: bool },
    /// Nothing.
    Null,
}

/// Which of the two functions is asked.
#[derive(Clone, Copy)]
enum Asked {
    Extract,
    DatePart,
}

impl Part {
    fn datum(self, asked: Asked) -> Result<Datum> {
        match asked {
            Asked::Extract => self.numeric()?.datum(),
            Asked::DatePart => self.float().datum(),
        }
    }

    fn numeric(self) -> Result<Option<Numeric>> {
        Ok(Some(match self {
            Part::Null => return Ok(None),
            Part::Whole(number) => Numeric::from_i64(number),
            Part::Scaled(number, digits) => Numeric::from_i128_scaled(number, digits),
            Part::Seconds { micros, seconds } => {
                let micros = seconds * i128::from(SECOND) + i128::from(micros);
                Numeric::from_i128_scaled(micros, 6)
            }
            Part::DayAndTime(day, time) => {
                let time = Numeric::from_i64(time).div(&Numeric::from_i64(DAY))?;
                Numeric::from_i64(day).add(&time)?
            }
            Part::Infinite { negative: true } => Numeric::NegInfinity,
            Part::Infinite { negative: false } => Numeric::PosInfinity,
        }))
    }

    fn float(self) -> Option<f64> {
        Some(match self {
            Part::Null => return None,
            Part::Whole(number) => number as f64,
            Part::Scaled(number, digits) => number as f64 / 10f64.powi(digits as i32),
            Part::Seconds { micros, seconds } => micros as f64 / 1e6 + seconds as f64,
            Part::DayAndTime(day, time) => day as f64 + time as f64 / DAY as f64,
            Part::Infinite { negative: true } => f64::NEG_INFINITY,
            Part::Infinite { negative: false } => f64::INFINITY,
        })
    }
}

pub(super) fn not_recognized(unit: &str, ty: &str) -> SqlError {
    let message = format!("unit \"{unit}\" not recognized for type {ty}");
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

pub(super) fn not_supported(unit: &str, ty: &str) -> SqlError {
    let message = format!("unit \"{unit}\" not supported for type {ty}");
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
}

/// The field that a word names, with the word in small letters.
pub(super) fn field_of(unit: &str, ty: &str) -> Result<(Field, String)> {
    let lowercase = unit.to_lowercase();
    match Field::parse(&lowercase) {
        Some(field) => Ok((field, lowercase)),
        None => Err(not_recognized(&lowercase, ty)),
    }
}

/// Years, decades, centuries and millennia have no 0.
fn year_part(field: Field, date: Civil) -> Option<i64> {
    let year = date.year;
    let counted = |size: i64| match year > 0 {
        true => (year + size - 1) / size,
        false => -((size - 1 - (year - 1)) / size),
    };
    Some(match field {
        Field::Year => without_zero(year),
        Field::Decade if year >= 0 => year / 10,
        Field::Decade => -((8 - (year - 1)) / 10),
        Field::Century => counted(100),
        Field::Millennium => counted(1000),
        Field::IsoYear => without_zero(date.iso_week().0),
        _ => return None,
    })
}

fn without_zero(year: i64) -> i64 {
    if year > 0 { year } else { year - 1 }
}

/// Parts that a date has.
fn date_part(field: Field, date: Civil) -> Option<i64> {
    let days = date.days();
    Some(match field {
        Field::Day => date.day,
        Field::Month => date.month,
        Field::Quarter => (date.month - 1) / 3 + 1,
        Field::Week => date.iso_week().1,
        Field::Weekday => i64::from(weekday(days)),
        Field::IsoWeekday => i64::from(iso_weekday(days)),
        Field::DayOfYear => date.day_of_year(),
        _ => return year_part(field, date),
    })
}

/// Parts that a time has.
fn time_part(field: Field, time: i64) -> Option<Part> {
    let (hour, minute, second, micros) = clock(time);
    let fine = i128::from(second * SECOND + micros);
    Some(match field {
        Field::Microsecond => Part::Whole(fine as i64),
        Field::Millisecond => Part::Scaled(fine, 3),
        Field::Second => Part::Scaled(fine, 6),
        Field::Minute => Part::Whole(minute),
        Field::Hour => Part::Whole(hour),
        _ => return None,
    })
}

/// Parts of an offset in seconds east of UTC.
fn zone_part(field: Field, offset: i32) -> Option<Part> {
    let offset = i64::from(offset);
    Some(Part::Whole(match field {
        Field::Timezone => offset,
        Field::TimezoneHour => offset / 3600,
        Field::TimezoneMinute => offset / 60 % 60,
        _ => return None,
    }))
}

/// Of an infinity, what grows with time is infinite; what repeats is null.
fn infinite_part(field: Field, negative: bool) -> Part {
    match field {
        Field::Year
        | Field::Decade
        | Field::Century
        | Field::Millennium
        | Field::Julian
        | Field::IsoYear
        | Field::Epoch => Part::Infinite { negative },
        _ => Part::Null,
    }
}

fn epoch(stamp: i64) -> Part {
    Part::Scaled(i128::from(stamp) - i128::from(UNIX_EPOCH_MICROS), 6)
}

/// Parts of a local time.
fn local_part(field: Field, Parts { date, time }: Parts) -> Option<Part> {
    if field == Field::Julian {
        return Some(Part::DayAndTime(date.days() + JULIAN_OF_2000, time));
    }
    time_part(field, time).or_else(|| date_part(field, date).map(Part::Whole))
}

const STAMP: &str = "timestamp without time zone";
const STAMPTZ: &str = "timestamp with time zone";

fn of_stamp(unit: &str, stamp: Stamp, asked: Asked) -> Result<Datum> {
    let (field, unit) = field_of(unit, STAMP)?;
    let zoned = matches!(field, Field::Timezone | Field::TimezoneHour | Field::TimezoneMinute);
    let part = match field {
        _ if !stamp.is_finite() => Some(infinite_part(field, stamp.0 != TIMESTAMP_INFINITY)),
        _ if zoned => None,
        Field::Epoch => Some(epoch(stamp.0)),
        _ => local_part(field, parts(stamp.0)),
    };
    part.ok_or_else(|| not_supported(&unit, STAMP))?.datum(asked)
}

fn of_stamptz(unit: &str, stamp: Stamp, asked: Asked, style: &Style) -> Result<Datum> {
    let (field, unit) = field_of(unit, STAMPTZ)?;
    let part = match field {
        _ if !stamp.is_finite() => Some(infinite_part(field, stamp.0 != TIMESTAMP_INFINITY)),
        Field::Epoch => Some(epoch(stamp.0)),
        _ => zone_part(field, style.zone.offset_at(stamp.0))
            .or_else(|| local_part(field, parts(local_of(stamp.0, &style.zone)))),
    };
    part.ok_or_else(|| not_supported(&unit, STAMPTZ))?.datum(asked)
}

/// `extract` from a date; times of day are refused.
fn of_date(unit: &str, date: Date) -> Result<Datum> {
    let (field, unit) = field_of(unit, "date")?;
    let timed = time_part(field, 0).is_some() || zone_part(field, 0).is_some();
    let days = i64::from(date.0);
    let part = match field {
        _ if timed => None,
        _ if !date.is_finite() => Some(infinite_part(field, date.0 != DATE_INFINITY)),
        Field::Epoch => Some(Part::Whole((days - i64::from(UNIX_EPOCH_DAYS)) * 86_400)),
        Field::Julian => Some(Part::Whole(days + JULIAN_OF_2000)),
        _ => date_part(field, Civil::from_days(days)).map(Part::Whole),
    };
    part.ok_or_else(|| not_supported(&unit, "date"))?.datum(Asked::Extract)
}

fn of_time(unit: &str, time: Time, asked: Asked) -> Result<Datum> {
    let ty = "time without time zone";
    let (field, unit) = field_of(unit, ty)?;
    let part = match field {
        Field::Epoch => Some(Part::Scaled(i128::from(time.0), 6)),
        _ => time_part(field, time.0),
    };
    part.ok_or_else(|| not_supported(&unit, ty))?.datum(asked)
}

fn of_timetz(unit: &str, TimeTz(time, west): TimeTz, asked: Asked) -> Result<Datum> {
    let ty = "time with time zone";
    let (field, unit) = field_of(unit, ty)?;
    let part = match field {
        Field::Epoch => Some(Part::Seconds { micros: time, seconds: i128::from(west) }),
        _ => zone_part(field, -west).or_else(|| time_part(field, time)),
    };
    part.ok_or_else(|| not_supported(&unit, ty))?.datum(asked)
}

/// A year has 365.25 days here.
fn interval_epoch(span: Interval) -> Part {
    let months = i128::from(span.months);
    let quarter_days = months / 12 * 1461 + months % 12 * 120 + i128::from(span.days) * 4;
    Part::Seconds { micros: span.micros, seconds: quarter_days * 21_600 }
}

fn of_interval(unit: &str, span: Interval, asked: Asked) -> Result<Datum> {
    let (field, unit) = field_of(unit, "interval")?;
    let months = i64::from(span.months);
    let (hours, minutes) = (span.micros / HOUR, span.micros / MINUTE % 60);
    let part = match field {
        Field::Epoch => Some(interval_epoch(span)),
        Field::Hour => Some(Part::Whole(hours)),
        Field::Minute => Some(Part::Whole(minutes)),
        Field::Day => Some(Part::Whole(i64::from(span.days))),
        Field::Month => Some(Part::Whole(months % 12)),
        Field::Quarter => Some(Part::Whole(months % 12 / 3 + 1)),
        Field::Year => Some(Part::Whole(months / 12)),
        Field::Decade => Some(Part::Whole(months / 120)),
        Field::Century => Some(Part::Whole(months / 1200)),
        Field::Millennium => Some(Part::Whole(months / 12_000)),
        _ => time_part(field, span.micros),
    };
    part.ok_or_else(|| not_supported(&unit, "interval"))?.datum(asked)
}

pub(super) const TABLE: &[Entry] = functions! {
    "extract_date", (unit: &str, a: Date) => of_date(unit, a);
    "extract_time", (unit: &str, a: Time) => of_time(unit, a, Asked::Extract);
    "extract_timetz", (unit: &str, a: TimeTz) => of_timetz(unit, a, Asked::Extract);
    "extract_timestamp", (unit: &str, a: Stamp) => of_stamp(unit, a, Asked::Extract);
    "extract_timestamptz", (unit: &str, a: Stamp) [call, _all] =>
        of_stamptz(unit, a, Asked::Extract, call.style);
    "extract_interval", (unit: &str, a: Interval) => of_interval(unit, a, Asked::Extract);
    "#1384", (unit: &str, a: Date) => of_stamp(unit, date_stamp(a)?, Asked::DatePart);
    "time_part", (unit: &str, a: Time) => of_time(unit, a, Asked::DatePart);
    "timetz_part", (unit: &str, a: TimeTz) => of_timetz(unit, a, Asked::DatePart);
    "timestamp_part", (unit: &str, a: Stamp) => of_stamp(unit, a, Asked::DatePart);
    "timestamptz_part", (unit: &str, a: Stamp) [call, _all] =>
        of_stamptz(unit, a, Asked::DatePart, call.style);
    "interval_part", (unit: &str, a: Interval) => of_interval(unit, a, Asked::DatePart);
};
