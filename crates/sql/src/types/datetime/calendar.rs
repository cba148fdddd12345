//! The proleptic Gregorian calendar, as days since 2000-01-01.
//!
//! Years are astronomical: 0 is 1 BC. All arithmetic is in 64 bits, so that no year of a date or
//! timestamp overflows.

/// Days from 4714-11-24 BC, where Julian days begin, to 2000-01-01.
pub const JULIAN_OF_2000: i64 = 2_451_545;
/// Days from 0000-03-01 to 2000-01-01.
const MARCH_OF_ZERO: i64 = 730_425;
/// Days of 400 years.
const CYCLE: i64 = 146_097;

/// A day of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Civil {
    /// Astronomical year.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

impl Civil {
    /// A day; month and day may be out of range, then they count on.
    pub fn new(year: i64, month: i64, day: i64) -> Civil {
        Civil { year, month, day }
    }

    /// Days since 2000-01-01. Years begin in March, so that the leap day is the last one.
    pub fn days(self) -> i64 {
        let months = self.year * 12 + self.month - 1;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let year = if month <= 2 { year - 1 } else { year };
        let month_from_march = (month + 9) % 12;
        let cycle = year.div_euclid(400);
        let year_of_cycle = year.rem_euclid(400);
        let day_of_year = (153 * month_from_march + 2) / 5 + self.day - 1;
        let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100;
        cycle * CYCLE + day_of_cycle + day_of_year - MARCH_OF_ZERO
    }

    /// The day that is so many days after 2000-01-01.
    pub fn from_days(days: i64) -> Civil {
        let shifted = days + MARCH_OF_ZERO;
        let cycle = shifted.div_euclid(CYCLE);
        let day = shifted.rem_euclid(CYCLE);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year + year / 4 - year / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year + cycle * 400 + i64::from(month <= 2);
        Civil { year, month, day }
    }

    /// The day of the year from 1.
    pub fn day_of_year(self) -> i64 {
        self.days() - Civil::new(self.year, 1, 1).days() + 1
    }

    /// Week and year by ISO 8601: weeks begin on Monday, the first one has a Thursday.
    pub fn iso_week(self) -> (i64, i64) {
        let days = self.days();
        let thursday = days - i64::from(iso_weekday(days)) + 4;
        let year = Civil::from_days(thursday).year;
        let first = Civil::new(year, 1, 1).days();
        (year, (thursday - first) / 7 + 1)
    }
}

/// The Monday of a week by ISO 8601, as days since 2000-01-01.
pub fn iso_week_start(year: i64, week: i64) -> i64 {
    let fourth = Civil::new(year, 1, 4).days();
    fourth - i64::from(iso_weekday(fourth)) + 1 + (week - 1) * 7
}

/// 0 for Sunday to 6; 2000-01-01 was a Saturday.
pub fn weekday(days: i64) -> u8 {
    (days + 6).rem_euclid(7) as u8
}

/// 1 for Monday to 7 for Sunday.
pub fn iso_weekday(days: i64) -> u8 {
    match weekday(days) {
        0 => 7,
        other => other,
    }
}

/// Whether a year has a leap day.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a month has; 0 if there is no such month.
pub fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_civil_are_inverse() {
        for days in (-3_000_000..110_000_000).step_by(9_973) {
            let civil = Civil::from_days(days);
            assert_eq!(civil.days(), days);
            assert!((1..=month_days(civil.year, civil.month)).contains(&civil.day));
        }
        assert_eq!(Civil::new(2000, 1, 1).days(), 0);
        assert_eq!(Civil::new(1970, 1, 1).days(), -10_957);
        assert_eq!(Civil::new(-4713, 11, 24).days(), -JULIAN_OF_2000);
    }

    #[test]
    fn weeks_by_iso() {
        assert_eq!(Civil::new(2005, 1, 1).iso_week(), (2004, 53));
        assert_eq!(Civil::new(2012, 12, 31).iso_week(), (2013, 1));
        assert_eq!(weekday(Civil::new(2024, 2, 29).days()), 4);
    }
}
