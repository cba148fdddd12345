//! The fields that `extract` and `date_trunc` know.

use super::keywords::{IntervalWord, Unit, interval_word};

/// A field of a date, time or interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Field {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
    Epoch,
    Julian,
    Weekday,
    IsoWeekday,
    DayOfYear,
    IsoYear,
}

impl Field {
    /// The field that a word in small letters names.
    pub fn parse(word: &str) -> Option<Field> {
        if let Some(IntervalWord::Unit(unit)) = interval_word(word) {
            return Some(Field::of(unit));
        }
        Some(match word {
            "epoch" => Field::Epoch,
            "j" | "jd" | "julian" => Field::Julian,
            "dow" => Field::Weekday,
            "isodow" => Field::IsoWeekday,
            "doy" => Field::DayOfYear,
            "isoyear" => Field::IsoYear,
            _ => return None,
        })
    }

    fn of(unit: Unit) -> Field {
        match unit {
            Unit::Microsecond => Field::Microsecond,
            Unit::Millisecond => Field::Millisecond,
            Unit::Second => Field::Second,
            Unit::Minute => Field::Minute,
            Unit::Hour => Field::Hour,
            Unit::Day => Field::Day,
            Unit::Week => Field::Week,
            Unit::Month => Field::Month,
            Unit::Quarter => Field::Quarter,
            Unit::Year => Field::Year,
            Unit::Decade => Field::Decade,
            Unit::Century => Field::Century,
            Unit::Millennium => Field::Millennium,
            Unit::Timezone => Field::Timezone,
            Unit::TimezoneHour => Field::TimezoneHour,
            Unit::TimezoneMinute => Field::TimezoneMinute,
        }
    }
}
