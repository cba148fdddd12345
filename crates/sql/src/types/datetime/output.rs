//! Dates, times and intervals as text, in each style.

use super::calendar::weekday;
use super::{
    Civil, DATE_INFINITY, DATE_NEG_INFINITY, SECOND, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY,
    clock, parts,
};
use crate::types::Interval;
use crate::types::zone::ZoneInfo;
use crate::types::{DateOrder, DateStyle, IntervalStyle, Style};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// The year as it is counted from 1, and ` BC` if it is before that.
fn era(year: i64) -> (i64, &'static str) {
    if year > 0 { (year, "") } else { (1 - year, " BC") }
}

/// Seconds with their fraction, without zeros at its end.
fn seconds(second: i64, micros: i64) -> String {
    let whole = format!("{:02}", second.abs());
    with_fraction(whole, micros)
}

fn with_fraction(whole: String, micros: i64) -> String {
    if micros == 0 {
        return whole;
    }
    let fraction = format!("{:06}", micros.abs());
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// A date.
pub fn date(days: i32, style: &Style) -> String {
    match days {
        DATE_INFINITY => "infinity".into(),
        DATE_NEG_INFINITY => "-infinity".into(),
        _ => civil(Civil::from_days(i64::from(days)), style),
    }
}

fn civil(date: Civil, style: &Style) -> String {
    let (year, era) = era(date.year);
    format!("{}{era}", day_of(date, year, style))
}

/// Day, month and year of a date in the order and with the separators of a style.
fn day_of(Civil { month, day, .. }: Civil, year: i64, style: &Style) -> String {
    let day_first = style.date_order == DateOrder::Dmy;
    match style.date_style {
        DateStyle::Iso => format!("{year:04}-{month:02}-{day:02}"),
        DateStyle::German => format!("{day:02}.{month:02}.{year:04}"),
        DateStyle::Sql if day_first => format!("{day:02}/{month:02}/{year:04}"),
        DateStyle::Sql => format!("{month:02}/{day:02}/{year:04}"),
        DateStyle::Postgres if day_first => format!("{day:02}-{month:02}-{year:04}"),
        DateStyle::Postgres => format!("{month:02}-{day:02}-{year:04}"),
    }
}

/// A time of day.
pub fn time(micros: i64) -> String {
    let (hour, minute, second, fraction) = clock(micros);
    format!("{hour:02}:{minute:02}:{}", seconds(second, fraction))
}

/// An offset, in seconds east of UTC.
pub fn offset(east: i32) -> String {
    let (sign, total) = (if east < 0 { '-' } else { '+' }, east.unsigned_abs());
    let (hour, minute, second) = (total / 3600, total / 60 % 60, total % 60);
    match (minute, second) {
        (0, 0) => format!("{sign}{hour:02}"),
        (_, 0) => format!("{sign}{hour:02}:{minute:02}"),
        _ => format!("{sign}{hour:02}:{minute:02}:{second:02}"),
    }
}

/// A time with its offset, in seconds west of UTC.
pub fn timetz(micros: i64, west: i32) -> String {
    format!("{}{}", time(micros), offset(-west))
}

fn infinity(timestamp: i64) -> Option<String> {
    match timestamp {
        TIMESTAMP_INFINITY => Some("infinity".into()),
        TIMESTAMP_NEG_INFINITY => Some("-infinity".into()),
        _ => None,
    }
}

/// A timestamp without a zone.
pub fn timestamp(micros: i64, style: &Style) -> String {
    infinity(micros).unwrap_or_else(|| date_time(micros, None, style))
}

/// A timestamp with a zone, as local time of the session.
pub fn timestamptz(micros: i64, style: &Style) -> String {
    infinity(micros).unwrap_or_else(|| {
        let zone = style.zone.at(micros);
        let local = micros.saturating_add(i64::from(zone.offset) * SECOND);
        date_time(local, Some(&zone), style)
    })
}

fn date_time(local: i64, zone: Option<&ZoneInfo>, style: &Style) -> String {
    let parts = parts(local);
    let (year, era) = era(parts.date.year);
    let time = time(parts.time);
    let zone = zone.map_or(String::new(), |zone| zone_text(zone, style.date_style));
    if style.date_style != DateStyle::Postgres {
        return format!("{} {time}{zone}{era}", day_of(parts.date, year, style));
    }
    let Civil { month, day, .. } = parts.date;
    let weekday = WEEKDAYS[usize::from(weekday(parts.date.days()))];
    let month = MONTHS[(month - 1) as usize % 12];
    let day = match style.date_order {
        DateOrder::Dmy => format!("{day:02} {month}"),
        _ => format!("{month} {day:02}"),
    };
    format!("{weekday} {day} {time} {year:04}{zone}{era}")
}

fn zone_text(zone: &ZoneInfo, style: DateStyle) -> String {
    if style == DateStyle::Iso || zone.abbreviation.is_empty() {
        let separator = if style == DateStyle::Postgres { " " } else { "" };
        return format!("{separator}{}", offset(zone.offset));
    }
    format!(" {}", zone.abbreviation)
}

/// An interval in parts, each with its own sign.
struct Spread {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl Spread {
    fn of(interval: Interval) -> Spread {
        let months = i64::from(interval.months);
        let (hours, minutes, seconds, micros) = clock(interval.micros);
        let (years, days) = (months / 12, i64::from(interval.days));
        Spread { years, months: months % 12, days, hours, minutes, seconds, micros }
    }

    fn all(&self) -> [i64; 7] {
        let Spread { years, months, days, hours, minutes, seconds, micros } = *self;
        [years, months, days, hours, minutes, seconds, micros]
    }

    fn time(&self) -> [i64; 4] {
        [self.hours, self.minutes, self.seconds, self.micros]
    }

    fn any(parts: &[i64]) -> bool {
        parts.iter().any(|part| *part != 0)
    }

    fn negative(parts: &[i64]) -> bool {
        parts.iter().any(|part| *part < 0)
    }
}

/// An interval.
pub fn interval(interval: Interval, style: IntervalStyle) -> String {
    let spread = Spread::of(interval);
    match style {
        IntervalStyle::Postgres => postgres(&spread),
        IntervalStyle::PostgresVerbose => verbose(&spread),
        IntervalStyle::SqlStandard => sql_standard(&spread),
        IntervalStyle::Iso8601 => iso(&spread),
    }
}

fn plural(value: i64) -> &'static str {
    if value == 1 { "" } else { "s" }
}

fn postgres(spread: &Spread) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut after_negative = false;
    let named = [(spread.years, "year"), (spread.months, "mon"), (spread.days, "day")];
    for (value, name) in named.into_iter().filter(|(value, _)| *value != 0) {
        let sign = if after_negative && value > 0 { "+" } else { "" };
        parts.push(format!("{sign}{value} {name}{}", plural(value)));
        after_negative = value < 0;
    }
    if parts.is_empty() || Spread::any(&spread.time()) {
        let sign = match Spread::negative(&spread.time()) {
            true => "-",
            false if after_negative => "+",
            false => "",
        };
        parts.push(format!("{sign}{}", time_of(spread, 2)));
    }
    parts.join(" ")
}

/// Hours with so many digits, minutes and seconds, without a sign.
fn time_of(spread: &Spread, width: usize) -> String {
    let (hours, minutes) = (spread.hours.abs(), spread.minutes.abs());
    format!("{hours:0width$}:{minutes:02}:{}", seconds(spread.seconds, spread.micros))
}

fn verbose(spread: &Spread) -> String {
    let mut text = String::from("@");
    let mut ago = None;
    let named = [
        (spread.years, "year"),
        (spread.months, "mon"),
        (spread.days, "day"),
        (spread.hours, "hour"),
        (spread.minutes, "min"),
    ];
    for (value, name) in named.into_iter().filter(|(value, _)| *value != 0) {
        // The first field decides about `ago`; the others have signs relative to it.
        let value = if *ago.get_or_insert(value < 0) { -value } else { value };
        text.push_str(&format!(" {value} {name}{}", plural(value)));
    }
    if spread.seconds != 0 || spread.micros != 0 {
        let negative = spread.seconds < 0 || spread.micros < 0;
        let flipped = *ago.get_or_insert(negative) != negative;
        let number = with_fraction(spread.seconds.abs().to_string(), spread.micros);
        let one = spread.seconds.abs() == 1 && spread.micros == 0;
        let (sign, plural) = (if flipped { "-" } else { "" }, if one { "" } else { "s" });
        text.push_str(&format!(" {sign}{number} sec{plural}"));
    }
    match ago {
        None => text.push_str(" 0"),
        Some(true) => text.push_str(" ago"),
        Some(false) => {}
    }
    text
}

fn sql_standard(spread: &Spread) -> String {
    let all = spread.all();
    if !Spread::any(&all) {
        return "0".into();
    }
    let (year_month, day_time) = (&all[..2], &all[2..]);
    let negative = Spread::negative(&all);
    let mixed = negative && all.iter().any(|part| *part > 0);
    if mixed || (Spread::any(year_month) && Spread::any(day_time)) {
        let sign = |parts: &[i64]| if Spread::negative(parts) { '-' } else { '+' };
        let Spread { years, months, days, .. } = spread;
        let (years, months, days_abs) = (years.abs(), months.abs(), days.abs());
        let (year_sign, day_sign) = (sign(year_month), sign(&[*days]));
        let time_sign = sign(&spread.time());
        let time = time_of(spread, 1);
        return format!("{year_sign}{years}-{months} {day_sign}{days_abs} {time_sign}{time}");
    }
    let sign = if negative { "-" } else { "" };
    if Spread::any(year_month) {
        return format!("{sign}{}-{}", spread.years.abs(), spread.months.abs());
    }
    if spread.days != 0 {
        return format!("{sign}{} {}", spread.days.abs(), time_of(spread, 1));
    }
    format!("{sign}{}", time_of(spread, 1))
}

fn iso(spread: &Spread) -> String {
    if !Spread::any(&spread.all()) {
        return "PT0S".into();
    }
    let mut text = String::from("P");
    let mut part = |value: i64, unit: char| {
        if value != 0 {
            text.push_str(&format!("{value}{unit}"));
        }
    };
    part(spread.years, 'Y');
    part(spread.months, 'M');
    part(spread.days, 'D');
    if Spread::any(&spread.time()) {
        text.push('T');
    }
    let mut part = |value: i64, unit: char| {
        if value != 0 {
            text.push_str(&format!("{value}{unit}"));
        }
    };
    part(spread.hours, 'H');
    part(spread.minutes, 'M');
    if spread.seconds != 0 || spread.micros != 0 {
        let sign = if spread.seconds < 0 || spread.micros < 0 { "-" } else { "" };
        let number = with_fraction(spread.seconds.abs().to_string(), spread.micros);
        text.push_str(&format!("{sign}{number}S"));
    }
    text
}
