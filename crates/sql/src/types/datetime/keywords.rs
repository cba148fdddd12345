//! Words of dates, times and intervals. Only the first ten letters of a word count, as in
//! PostgreSQL.

/// The longest prefix that is compared.
const SIGNIFICANT: usize = 10;

/// What a word in a date or time says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// A value of its own.
    Special(Special),
    /// A month from 1.
    Month(i64),
    /// A day of the week; it is not compared with the date.
    Weekday,
    /// AM or PM.
    Meridian(Meridian),
    /// BC (`true`) or AD.
    Era(bool),
    /// `dst`: one hour more.
    DaylightModifier,
    /// What the next number is.
    Label(Label),
    /// Nothing.
    Ignored,
}

/// A word that stands for a whole date or time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Special {
    Now,
    Yesterday,
    Today,
    Tomorrow,
    Midnight,
    Epoch,
    Infinity,
    NegInfinity,
}

/// What a word says about the number behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Label {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Julian,
    /// A time follows, as `T` says in ISO 8601.
    Time,
    /// Something that no number in a date or time is.
    Other,
}

/// Half of the day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Meridian {
    Am,
    Pm,
}

/// The unit of a number in an interval, or of `extract`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Unit {
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
}

/// What a word in an interval says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntervalWord {
    /// The unit of the number before it.
    Unit(Unit),
    /// Everything is negated.
    Ago,
}

fn cut(word: &str) -> &str {
    word.get(..SIGNIFICANT).unwrap_or(word)
}

fn month(word: &str) -> Option<i64> {
    Some(match word {
        "jan" | "january" => 1,
        "feb" | "february" => 2,
        "mar" | "march" => 3,
        "apr" | "april" => 4,
        "may" => 5,
        "jun" | "june" => 6,
        "jul" | "july" => 7,
        "aug" | "august" => 8,
        "sep" | "sept" | "september" => 9,
        "oct" | "october" => 10,
        "nov" | "november" => 11,
        "dec" | "december" => 12,
        _ => return None,
    })
}

fn special(word: &str) -> Option<Special> {
    Some(match word {
        "now" => Special::Now,
        "yesterday" => Special::Yesterday,
        "today" => Special::Today,
        "tomorrow" => Special::Tomorrow,
        "allballs" => Special::Midnight,
        "epoch" => Special::Epoch,
        "infinity" => Special::Infinity,
        "-infinity" => Special::NegInfinity,
        _ => return None,
    })
}

/// What a word in small letters says in a date or time.
pub fn word(word: &str) -> Option<Word> {
    let word = cut(word);
    if let Some(month) = month(word) {
        return Some(Word::Month(month));
    }
    if let Some(special) = special(word) {
        return Some(Word::Special(special));
    }
    Some(match word {
        "ad" => Word::Era(false),
        "bc" => Word::Era(true),
        "am" => Word::Meridian(Meridian::Am),
        "pm" => Word::Meridian(Meridian::Pm),
        "at" | "on" => Word::Ignored,
        "dst" => Word::DaylightModifier,
        "t" => Word::Label(Label::Time),
        "j" | "jd" | "julian" => Word::Label(Label::Julian),
        "y" => Word::Label(Label::Year),
        "m" => Word::Label(Label::Month),
        "d" => Word::Label(Label::Day),
        "h" => Word::Label(Label::Hour),
        "mm" => Word::Label(Label::Minute),
        "s" => Word::Label(Label::Second),
        "dow" | "doy" | "isodow" | "isoyear" => Word::Label(Label::Other),
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "weds"
        | "wednesday" | "thu" | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat"
        | "saturday" => Word::Weekday,
        _ => return None,
    })
}

/// What a word in small letters says in an interval.
pub fn interval_word(word: &str) -> Option<IntervalWord> {
    Some(IntervalWord::Unit(match cut(word) {
        "ago" => return Some(IntervalWord::Ago),
        "c" | "cent" | "centuries" | "century" => Unit::Century,
        "d" | "day" | "days" => Unit::Day,
        "dec" | "decade" | "decades" | "decs" => Unit::Decade,
        "h" | "hour" | "hours" | "hr" | "hrs" => Unit::Hour,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "microsecon" | "us" | "usec" | "usecond" | "useconds" | "usecs" => Unit::Microsecond,
        "mil" | "millennia" | "millennium" | "mils" => Unit::Millennium,
        "millisecon" | "ms" | "msec" | "msecond" | "mseconds" | "msecs" => Unit::Millisecond,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "qtr" | "quarter" => Unit::Quarter,
        "s" | "sec" | "second" | "seconds" | "secs" => Unit::Second,
        "timezone" => Unit::Timezone,
        "timezone_h" => Unit::TimezoneHour,
        "timezone_m" => Unit::TimezoneMinute,
        "w" | "week" | "weeks" => Unit::Week,
        "y" | "year" | "years" | "yr" | "yrs" => Unit::Year,
        _ => return None,
    }))
}
