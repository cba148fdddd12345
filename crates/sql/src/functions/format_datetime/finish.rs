//! `to_date` and `to_timestamp`: the day and time that the fields of a text mean.

use super::read::{Found, read};
use crate::error::{Result, SqlError, code};
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::functions::datetime::{Date, Stamp, utc_of};
use crate::types::datetime::calendar::{Civil, JULIAN_OF_2000, iso_week_start, month_days};
use crate::types::datetime::{
    DAY, HOUR, MINUTE, SECOND, is_date, is_timestamp, timestamp_out_of_range,
};

/// The day and time of a text.
struct Moment {
    date: Civil,
    time: i64,
    /// Seconds east of UTC, if they were given.
    offset: Option<i64>,
}

fn out_of_range(text: &str) -> SqlError {
    let message = format!("date/time field value out of range: \"{text}\"");
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_DATETIME_FORMAT, message)
}

/// The parts of a date, and which of them were given.
struct DateParts {
    date: Civil,
    month_given: bool,
    day_given: bool,
}

fn year(found: &Found) -> i64 {
    let before = found.before_christ != 0;
    let century = if before { -found.century } else { found.century };
    if found.year != 0 && (found.century == 0 || found.year_digits > 2) {
        let year = if before { -found.year } else { found.year };
        return if year < 0 { year + 1 } else { year };
    }
    if found.year != 0 {
        return match (found.year % 100, century >= 0) {
            (0, true) => century * 100,
            (0, false) => century * 100 + 1,
            (year, true) => year + (century - 1) * 100,
            (year, false) => (century + 1) * 100 - year + 1,
        };
    }
    match century {
        0 => 0,
        1.. => (century - 1) * 100 + 1,
        _ => century * 100 + 1,
    }
}

/// The date that was given, by whichever fields.
fn date_parts(found: &Found) -> Result<DateParts> {
    let mut parts =
        DateParts { date: Civil::new(year(found), 1, 1), month_given: false, day_given: false };
    if found.julian != 0 {
        parts.whole(found.julian - JULIAN_OF_2000);
    }
    let mut day_of_year = found.day_of_year;
    if found.week != 0 && found.iso {
        let monday = iso_week_start(parts.date.year, found.week);
        let later = match found.weekday {
            0 => 0,
            1 => 6,
            weekday => weekday - 2,
        };
        parts.whole(monday + later);
    } else if found.week != 0 {
        day_of_year = (found.week - 1) * 7 + 1;
    }
    let day = if found.week_of_month != 0 { (found.week_of_month - 1) * 7 + 1 } else { found.day };
    if day != 0 {
        (parts.date.day, parts.day_given) = (day, true);
    }
    if found.month != 0 {
        (parts.date.month, parts.month_given) = (found.month, true);
    }
    if day_of_year != 0 && (parts.date.month <= 1 || parts.date.day <= 1) {
        parts.set_day_of_year(day_of_year, found)?;
    }
    Ok(parts)
}

impl DateParts {
    fn whole(&mut self, days: i64) {
        self.date = Civil::from_days(days);
        (self.month_given, self.day_given) = (true, true);
    }

    fn set_day_of_year(&mut self, day_of_year: i64, found: &Found) -> Result<()> {
        if self.date.year == 0 && found.before_christ == 0 {
            return Err(invalid("cannot calculate day of year without year information"));
        }
        if found.iso {
            self.whole(iso_week_start(self.date.year, 1) - 1 + day_of_year);
            return Ok(());
        }
        let (mut month, mut before) = (1, 0);
        while month < 13 && day_of_year > before + month_days(self.date.year, month) {
            before += month_days(self.date.year, month);
            month += 1;
        }
        if self.date.month <= 1 {
            self.date.month = month;
        }
        if self.date.day <= 1 {
            self.date.day = day_of_year - before;
        }
        (self.month_given, self.day_given) = (true, true);
        Ok(())
    }

    fn is_valid(&self) -> bool {
        let Civil { year, month, day } = self.date;
        if self.month_given && !(1..=12).contains(&month) {
            return false;
        }
        if self.day_given && !(1..=31).contains(&day) {
            return false;
        }
        day <= month_days(year, month)
    }
}

fn time(found: &Found, text: &str) -> Result<i64> {
    let total = found.second_of_day;
    let (mut hour, mut minute, mut second) = (total / 3600, total / 60 % 60, total % 60);
    for (given, part) in
        [(found.second, &mut second), (found.minute, &mut minute), (found.hour, &mut hour)]
    {
        if given != 0 {
            *part = given;
        }
    }
    if found.clock12 {
        if !(1..=12).contains(&hour) {
            let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
            let hint = "Use the 24-hour clock, or give an hour between 1 and 12.";
            return Err(invalid(message).hint(hint));
        }
        hour = hour % 12 + if found.afternoon != 0 { 12 } else { 0 };
    }
    let micros = found.millis * 1000 + found.micros;
    let valid = (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second)
        && (0..SECOND).contains(&micros);
    if !valid {
        return Err(out_of_range(text));
    }
    Ok(hour * HOUR + minute * MINUTE + second * SECOND + micros)
}

fn moment(text: &str, template: &str) -> Result<Moment> {
    let found = read(text, template)?;
    // The 12-hour clock is looked at before the date, other times of day after it.
    let clock = time(&found, text);
    if let Err(error) = &clock
        && error.code() == code::INVALID_DATETIME_FORMAT
    {
        return Err(error.clone());
    }
    let parts = date_parts(&found)?;
    if !parts.is_valid() {
        return Err(out_of_range(text));
    }
    let time = clock?;
    let offset = (found.zone_sign != 0).then(|| {
        let valid = (0..=15).contains(&found.zone_hour) && (0..60).contains(&found.zone_minute);
        let seconds = found.zone_hour * 3600 + found.zone_minute * 60;
        valid.then_some(seconds * found.zone_sign).ok_or_else(|| {
            let message = format!("time zone displacement out of range: \"{text}\"");
            SqlError::new(code::INVALID_TIME_ZONE_DISPLACEMENT_VALUE, message)
        })
    });
    Ok(Moment { date: parts.date, time, offset: offset.transpose()? })
}

fn to_timestamp(text: &str, template: &str, style: &Style) -> Result<Stamp> {
    let moment = moment(text, template)?;
    let local = moment.date.days().checked_mul(DAY).and_then(|days| days.checked_add(moment.time));
    let local = local.ok_or_else(timestamp_out_of_range)?;
    let Some(offset) = moment.offset else {
        return utc_of(local, &style.zone).map(Stamp);
    };
    let instant = local.checked_sub(offset * SECOND).filter(|instant| is_timestamp(*instant));
    instant.map(Stamp).ok_or_else(timestamp_out_of_range)
}

fn to_date(text: &str, template: &str) -> Result<Date> {
    let days = moment(text, template)?.date.days();
    if is_date(days) {
        return Ok(Date(days as i32));
    }
    let message = format!("date out of range: \"{text}\"");
    Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message))
}

pub(super) const TABLE: &[Entry] = functions! {
    "to_timestamp", (text: &str, template: &str) [call, _all] =>
        to_timestamp(text, template, call.style);
    "to_date", (text: &str, template: &str) => to_date(text, template);
};
