//! `to_char` of timestamps and intervals.

use super::ordinal;
use super::template::{Field, Key, Letters, Node, parse};
use crate::error::{Result, SqlError, code};
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::functions::datetime::{Stamp, local_of};
use crate::types::datetime::calendar::{JULIAN_OF_2000, iso_week_start, iso_weekday, weekday};
use crate::types::datetime::{Civil, clock, parts};
use crate::types::{Interval, ZoneInfo};

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
pub(super) const ROMAN_MONTHS: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// What is written: a moment or an interval.
struct Moment {
    date: Civil,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    /// The day of the year; of an interval all days that it has, roughly.
    day_of_year: i64,
    zone: Option<ZoneInfo>,
    is_interval: bool,
}

impl Moment {
    fn of_stamp(local: i64, zone: Option<ZoneInfo>) -> Moment {
        let parts = parts(local);
        let (hour, minute, second, micros) = clock(parts.time);
        let day_of_year = parts.date.day_of_year();
        let is_interval = false;
        Moment { date: parts.date, hour, minute, second, micros, day_of_year, zone, is_interval }
    }

    fn of_interval(span: Interval) -> Moment {
        let (months, day) = (i64::from(span.months), i64::from(span.days));
        let (hour, minute, second, micros) = clock(span.micros);
        Moment {
            date: Civil::new(months / 12, months % 12, day),
            hour,
            minute,
            second,
            micros,
            day_of_year: months * 30 + day,
            zone: None,
            is_interval: true,
        }
    }

    /// Only moments have this.
    fn dated(&self) -> Result<&Moment> {
        if !self.is_interval {
            return Ok(self);
        }
        let message = "invalid format specification for an interval value";
        Err(SqlError::new(code::INVALID_DATETIME_FORMAT, message)
            .hint("Intervals are not tied to specific calendar dates."))
    }

    /// Years BC are counted upwards; those of an interval have a sign.
    fn shown_year(&self, year: i64) -> i64 {
        if self.is_interval || year > 0 { year } else { 1 - year }
    }

    fn weekday(&self) -> usize {
        usize::from(weekday(self.date.days()))
    }
}

fn letters(text: &str, letters: Letters) -> String {
    match letters {
        Letters::Upper => text.to_uppercase(),
        Letters::Lower => text.to_lowercase(),
        Letters::Capital => text.to_string(),
    }
}

/// A word, filled with blanks to a width.
fn word(text: &str, width: usize, field: Field) -> String {
    let text = letters(text, field.letters);
    if field.fill { text } else { format!("{text:<width$}") }
}

/// A number with leading zeros, one more place for a sign.
fn number(value: i64, width: usize, field: Field) -> String {
    number_like(value, value, width, field)
}

/// A number with one more place if another one has a sign.
fn number_like(value: i64, sign: i64, width: usize, field: Field) -> String {
    let width = if sign < 0 { width + 1 } else { width };
    let text = if field.fill { value.to_string() } else { format!("{value:0width$}") };
    match field.ordinal {
        Some(case) => {
            let ending = letters(ordinal(&text), case);
            format!("{text}{ending}")
        }
        None => text,
    }
}

fn field(field: Field, moment: &Moment) -> Result<String> {
    let Moment { date, hour, minute, second, micros, .. } = moment;
    Ok(match field.key {
        Key::Meridian { points } => meridian(*hour, points, field.letters),
        Key::Hour12 if hour % 12 == 0 => number(12, 2, field),
        Key::Hour12 => number_like(hour % 12, *hour, 2, field),
        Key::Hour24 => number(*hour, 2, field),
        Key::Minute => number(*minute, 2, field),
        Key::Second => number(*second, 2, field),
        Key::Fraction(digits) => {
            let value = micros / 10i64.pow(6 - digits);
            number(value, digits as usize, Field { fill: false, ..field })
        }
        Key::Millisecond => number(micros / 1000, 3, Field { fill: false, ..field }),
        Key::Microsecond => number(*micros, 6, Field { fill: false, ..field }),
        Key::SecondOfDay => number(hour * 3600 + minute * 60 + second, 0, field),
        Key::Zone | Key::ZoneHour | Key::ZoneMinute | Key::Offset => zone(field, moment)?,
        _ => date_field(field, *date, moment)?,
    })
}

fn meridian(hour: i64, points: bool, case: Letters) -> String {
    let afternoon = hour % 24 >= 12;
    let text = match (afternoon, points) {
        (false, false) => "AM",
        (true, false) => "PM",
        (false, true) => "A.M.",
        (true, true) => "P.M.",
    };
    letters(text, case)
}

fn zone(field: Field, moment: &Moment) -> Result<String> {
    let zone = moment.dated()?.zone.as_ref();
    let offset = zone.map_or(0, |zone| zone.offset);
    let (sign, size) = (if offset < 0 { '-' } else { '+' }, offset.abs());
    let (hours, minutes) = (size / 3600, size % 3600 / 60);
    Ok(match field.key {
        Key::Zone => zone.map_or(String::new(), |zone| letters(&zone.abbreviation, field.letters)),
        Key::ZoneHour => format!("{sign}{hours:02}"),
        Key::ZoneMinute => format!("{minutes:02}"),
        _ => {
            let hours = if field.fill { hours.to_string() } else { format!("{hours:02}") };
            let minutes = if minutes == 0 { String::new() } else { format!(":{minutes:02}") };
            format!("{sign}{hours}{minutes}")
        }
    })
}

fn date_field(field: Field, date: Civil, moment: &Moment) -> Result<String> {
    let month_name = |month: i64| MONTHS.get((month - 1) as usize).copied().unwrap_or("");
    Ok(match field.key {
        Key::Era { points } => {
            let before = moment.dated()?.date.year <= 0;
            let text = match (before, points) {
                (false, false) => "AD",
                (true, false) => "BC",
                (false, true) => "A.D.",
                (true, true) => "B.C.",
            };
            letters(text, field.letters)
        }
        Key::MonthName => word(month_name(moment.dated()?.date.month), 9, field),
        Key::MonthShort => word(&month_name(moment.dated()?.date.month)[..3], 0, field),
        Key::Month => number(date.month, 2, field),
        Key::DayName => word(DAYS[moment.dated()?.weekday()], 9, field),
        Key::DayShort => word(&DAYS[moment.dated()?.weekday()][..3], 0, field),
        Key::DayOfYear => number(moment.day_of_year, 3, field),
        Key::IsoDayOfYear => {
            let first = iso_week_start(date.iso_week().0, 1);
            number(date.days() - first + 1, 3, field)
        }
        Key::Day => number(date.day, 2, field),
        Key::Weekday => number(moment.dated()?.weekday() as i64 + 1, 0, field),
        Key::IsoWeekday => number(i64::from(iso_weekday(moment.dated()?.date.days())), 0, field),
        Key::Week => number((moment.day_of_year - 1) / 7 + 1, 2, field),
        Key::IsoWeek => number(date.iso_week().1, 2, field),
        Key::WeekOfMonth => number((date.day - 1) / 7 + 1, 0, field),
        Key::Quarter if date.month == 0 => String::new(),
        Key::Quarter => number((date.month - 1) / 3 + 1, 0, field),
        Key::Century => century(date.year, moment.is_interval, field),
        Key::Julian => number(date.days() + JULIAN_OF_2000, 0, field),
        Key::RomanMonth => roman_month(date, field),
        _ => year_field(field, date, moment),
    })
}

fn century(year: i64, is_interval: bool, field: Field) -> String {
    let century = match year {
        _ if is_interval => year / 100,
        1.. => (year - 1) / 100 + 1,
        _ => year / 100 - 1,
    };
    let width = if century.abs() <= 99 { 2 } else { 0 };
    number(century, width, field)
}

/// Of an interval, negative months count from December downwards.
fn roman_month(date: Civil, field: Field) -> String {
    let month = match (date.month, date.year) {
        (0, 0) => return String::new(),
        (0, year) => {
            if year >= 0 {
                12
            } else {
                1
            }
        }
        (month, _) if month < 0 => month + 13,
        (month, _) => month,
    };
    word(ROMAN_MONTHS[(month - 1) as usize % 12], 4, field)
}

fn year_field(field: Field, date: Civil, moment: &Moment) -> String {
    let shown = match field.key {
        Key::IsoYear(_) => moment.shown_year(date.iso_week().0),
        _ => moment.shown_year(date.year),
    };
    let sign = moment.shown_year(date.year);
    match field.key {
        Key::YearWithComma => {
            let text = format!("{},{:03}", shown / 1000, shown % 1000);
            match field.ordinal {
                Some(case) => format!("{text}{}", letters(ordinal(&text), case)),
                None => text,
            }
        }
        Key::IsoYear(4) | Key::Year(4) => number_like(shown, sign, 4, field),
        Key::IsoYear(digits) | Key::Year(digits) => {
            number_like(shown % 10i64.pow(digits), sign, digits as usize, field)
        }
        _ => String::new(),
    }
}

fn to_char(moment: &Moment, template: &str) -> Result<String> {
    let mut text = String::new();
    for node in parse(template) {
        match node {
            Node::Field(node) => text.push_str(&field(node, moment)?),
            Node::Space(c) | Node::Separator(c) | Node::Text(c) => text.push(c),
        }
    }
    Ok(text)
}

fn stamp(stamp: Stamp, template: &str) -> Result<Option<String>> {
    if template.is_empty() || !stamp.is_finite() {
        return Ok(None);
    }
    to_char(&Moment::of_stamp(stamp.0, None), template).map(Some)
}

fn stamptz(stamp: Stamp, template: &str, style: &Style) -> Result<Option<String>> {
    if template.is_empty() || !stamp.is_finite() {
        return Ok(None);
    }
    let zone = style.zone.at(stamp.0);
    let moment = Moment::of_stamp(local_of(stamp.0, &style.zone), Some(zone));
    to_char(&moment, template).map(Some)
}

fn interval(span: Interval, template: &str) -> Result<Option<String>> {
    if template.is_empty() {
        return Ok(None);
    }
    to_char(&Moment::of_interval(span), template).map(Some)
}

pub(super) const TABLE: &[Entry] = functions! {
    "timestamp_to_char", (a: Stamp, template: &str) => stamp(a, template);
    "timestamptz_to_char", (a: Stamp, template: &str) [call, _all] =>
        stamptz(a, template, call.style);
    "interval_to_char", (a: Interval, template: &str) => interval(a, template);
};
