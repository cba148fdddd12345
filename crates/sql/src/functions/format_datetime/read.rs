//! Takes a text apart by a template, for `to_date` and `to_timestamp`.
//!
//! Without `FX`, spaces and separators of the text are matched loosely: a separator of the template
//! takes one of the text if there is one, and spaces around fields do not count.

use super::template::{Convention, Field, Key, Node, is_separator, parse};
use super::write::{DAYS, MONTHS, ROMAN_MONTHS};
use crate::error::{Result, SqlError, code};
use crate::types::io::scalars::is_space;

/// What a text says, 0 where it says nothing.
#[derive(Default, Debug)]
pub struct Found {
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub second_of_day: i64,
    pub millis: i64,
    pub micros: i64,
    /// AM or PM was asked for, or `HH12`.
    pub clock12: bool,
    pub afternoon: i64,
    pub weekday: i64,
    pub day: i64,
    pub day_of_year: i64,
    pub month: i64,
    pub year: i64,
    /// How many digits of the year were asked for.
    pub year_digits: u32,
    pub century: i64,
    pub before_christ: i64,
    pub week: i64,
    pub week_of_month: i64,
    pub julian: i64,
    /// 1 or -1 if an offset was given.
    pub zone_sign: i64,
    pub zone_hour: i64,
    pub zone_minute: i64,
    pub iso: bool,
}

fn error(message: String) -> SqlError {
    SqlError::new(code::INVALID_DATETIME_FORMAT, message)
}

const FIXED_HINT: &str = "If your source string is not fixed-width, try using the \"FM\" modifier.";

struct Reader<'t> {
    text: &'t str,
    at: usize,
    found: Found,
    convention: Convention,
    fixed: bool,
    /// How many characters were skipped more than the template has.
    extra: i64,
}

/// Reads a text by a template.
pub fn read(text: &str, template: &str) -> Result<Found> {
    let nodes = parse(template);
    let mut reader = Reader {
        text,
        at: 0,
        found: Found::default(),
        convention: Convention::Any,
        fixed: false,
        extra: 0,
    };
    for (place, node) in nodes.iter().enumerate() {
        if reader.rest().is_empty() {
            break;
        }
        reader.node(node, nodes.get(place + 1), place == 0)?;
    }
    Ok(reader.found)
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn first(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_character(&mut self) {
        self.at += self.first().map_or(0, char::len_utf8);
    }

    fn skip_spaces(&mut self) {
        while self.first().is_some_and(is_space) {
            self.skip_character();
            self.extra += 1;
        }
    }

    fn node(&mut self, node: &Node, next: Option<&Node>, is_first: bool) -> Result<()> {
        let field = match node {
            Node::Field(field) => Some(*field),
            _ => None,
        };
        let fixes = field.is_some_and(|field| field.key == Key::FixedFormat);
        if !self.fixed && !fixes && (field.is_some() || is_first) {
            self.skip_spaces();
        }
        match node {
            Node::Field(field) => {
                self.check_convention(*field)?;
                self.field(*field, next)?;
                if !self.fixed {
                    self.extra = 0;
                    self.skip_spaces();
                }
            }
            _ if self.fixed => self.skip_character(),
            Node::Space(_) | Node::Separator(_) => {
                self.extra -= 1;
                if self.first().is_some_and(|c| is_space(c) || is_separator(c)) {
                    self.skip_character();
                    self.extra += 1;
                }
            }
            Node::Text(_) if self.extra > 0 => self.extra -= 1,
            Node::Text(_) => self.skip_character(),
        }
        Ok(())
    }

    fn check_convention(&mut self, field: Field) -> Result<()> {
        let convention = field.convention();
        if convention == Convention::Any {
            return Ok(());
        }
        if self.convention != Convention::Any && self.convention != convention {
            let hint = "Do not mix Gregorian and ISO week date conventions in a formatting \
                        template.";
            return Err(error("invalid combination of date conventions".into()).hint(hint));
        }
        self.convention = convention;
        self.found.iso = convention == Convention::Iso;
        Ok(())
    }

    fn field(&mut self, field: Field, next: Option<&Node>) -> Result<()> {
        match field.key {
            Key::FixedFormat => self.fixed = true,
            Key::Meridian { points } => {
                let words = if points { ["A.M.", "P.M."] } else { ["AM", "PM"] };
                let value = self.word(&words, field)?;
                set(&mut self.found.afternoon, value as i64, field)?;
                self.found.clock12 = true;
            }
            Key::Era { points } => {
                let words = if points { ["A.D.", "B.C."] } else { ["AD", "BC"] };
                let value = self.word(&words, field)?;
                set(&mut self.found.before_christ, value as i64, field)?;
            }
            Key::MonthName | Key::MonthShort | Key::RomanMonth => self.month(field)?,
            Key::DayName | Key::DayShort => {
                let value = match field.key {
                    Key::DayName => self.word(&DAYS, field)?,
                    _ => self.word(&DAYS.map(|day| &day[..3]), field)?,
                };
                set(&mut self.found.weekday, value as i64 + 1, field)?;
            }
            Key::Zone | Key::Offset => {
                let name = match field.letters {
                    super::template::Letters::Lower => field.name.to_lowercase(),
                    _ => field.name.to_string(),
                };
                let message = format!("formatting field \"{name}\" is only supported in to_char");
                return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
            }
            Key::ZoneHour => self.zone_hour(field, next)?,
            Key::YearWithComma => self.year_with_comma(field)?,
            _ => self.number_field(field, next)?,
        }
        Ok(())
    }

    fn month(&mut self, field: Field) -> Result<()> {
        let month = match field.key {
            Key::MonthName => self.word(&MONTHS, field)?,
            Key::MonthShort => self.word(&MONTHS.map(|month| &month[..3]), field)?,
            _ => self.roman(field)?,
        };
        set(&mut self.found.month, month as i64 + 1, field)
    }

    /// Roman months from December downwards, so that `VIII` is not taken for `V`.
    fn roman(&mut self, field: Field) -> Result<usize> {
        let mut reversed = ROMAN_MONTHS;
        reversed.reverse();
        self.word(&reversed, field).map(|at| 11 - at)
    }

    fn zone_hour(&mut self, field: Field, next: Option<&Node>) -> Result<()> {
        self.found.zone_sign = match self.first() {
            Some(c @ ('+' | '-' | ' ')) => {
                self.at += 1;
                if c == '-' { -1 } else { 1 }
            }
            // A minus may have been taken for a separator.
            _ if self.extra > 0 && self.text[..self.at].ends_with('-') => -1,
            _ => 1,
        };
        let (value, _) = self.number(field, 2, next)?;
        set(&mut self.found.zone_hour, value, field)
    }

    /// Which of some words comes next, in letters of any case.
    fn word(&mut self, words: &[&str], field: Field) -> Result<usize> {
        let rest = self.rest();
        let begins = |word: &&str| {
            rest.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        };
        if let Some(at) = words.iter().position(begins) {
            self.at += words[at].len();
            return Ok(at);
        }
        let shown = rest.split(is_space).next().unwrap_or("");
        let detail = "The given value did not match any of the allowed values for this field.";
        Err(error(format!("invalid value \"{shown}\" for \"{}\"", shown_name(field)))
            .detail(detail))
    }

    fn year_with_comma(&mut self, field: Field) -> Result<()> {
        let rest = self.rest();
        let parsed = rest.split_once(',').and_then(|(thousands, behind)| {
            let digits = behind.bytes().take(3).take_while(u8::is_ascii_digit).count();
            let thousands_value: i64 = thousands.trim_start_matches(is_space).parse().ok()?;
            let years: i64 = behind[..digits].parse().ok()?;
            Some((thousands_value * 1000 + years, thousands.len() + 1 + digits))
        });
        let Some((year, length)) = parsed else {
            return Err(error("invalid input string for \"Y,YYY\"".into()));
        };
        set(&mut self.found.year, year, field)?;
        self.found.year_digits = 4;
        self.at += length;
        self.skip_ordinal(field);
        Ok(())
    }

    fn skip_ordinal(&mut self, field: Field) {
        if field.ordinal.is_some() {
            self.skip_character();
            self.skip_character();
        }
    }

    fn number_field(&mut self, field: Field, next: Option<&Node>) -> Result<()> {
        let width = match field.key {
            Key::Hour12 | Key::Hour24 | Key::ZoneMinute => 2,
            Key::Millisecond | Key::IsoDayOfYear => 3,
            Key::Microsecond => 6,
            Key::Fraction(digits) => digits as usize,
            Key::IsoWeekday => 1,
            _ => field.name.len(),
        };
        // A quarter does not say which day; it is read and forgotten.
        if field.key == Key::Quarter {
            self.number(field, width, next)?;
            return Ok(());
        }
        let (value, length) = self.number(field, width, next)?;
        let place = match field.key {
            Key::Hour12 | Key::Hour24 => &mut self.found.hour,
            Key::Minute => &mut self.found.minute,
            Key::Second => &mut self.found.second,
            Key::Millisecond => &mut self.found.millis,
            Key::Microsecond | Key::Fraction(_) => &mut self.found.micros,
            Key::SecondOfDay => &mut self.found.second_of_day,
            Key::ZoneMinute => &mut self.found.zone_minute,
            Key::Month => &mut self.found.month,
            Key::DayOfYear | Key::IsoDayOfYear => &mut self.found.day_of_year,
            Key::Day => &mut self.found.day,
            Key::Weekday | Key::IsoWeekday => &mut self.found.weekday,
            Key::Week | Key::IsoWeek => &mut self.found.week,
            Key::WeekOfMonth => &mut self.found.week_of_month,
            Key::Century => &mut self.found.century,
            Key::Julian => &mut self.found.julian,
            _ => &mut self.found.year,
        };
        set(place, value, field)?;
        self.adjust(field, length);
        self.skip_ordinal(field);
        Ok(())
    }

    /// What follows from how a number was given.
    fn adjust(&mut self, field: Field, length: usize) {
        let missing = |width: usize| 10i64.pow(width.saturating_sub(length) as u32);
        match field.key {
            Key::Hour12 => self.found.clock12 = true,
            Key::Millisecond => self.found.millis *= missing(3),
            Key::Microsecond | Key::Fraction(_) => self.found.micros *= missing(6),
            Key::ZoneMinute if self.found.zone_sign == 0 => self.found.zone_sign = 1,
            // Days of the week are counted from Sunday.
            Key::IsoWeekday => {
                self.found.weekday += 1;
                if self.found.weekday > 7 {
                    self.found.weekday = 1;
                }
            }
            Key::Year(digits) | Key::IsoYear(digits) => {
                self.found.year_digits = digits;
                if digits < 4 && length < 4 {
                    self.found.year = near_2020(self.found.year);
                }
            }
            _ => {}
        }
    }

    /// A number of so many digits, or of as many as there are if something else follows; with the
    /// length that it had.
    fn number(&mut self, field: Field, width: usize, next: Option<&Node>) -> Result<(i64, usize)> {
        let start = self.at;
        while self.first().is_some_and(is_space) {
            self.skip_character();
        }
        let shown: String = self.rest().chars().take(width).collect();
        let name = shown_name(field);
        let digits = if field.fill || field.ordinal.is_some() || ends_number(next) {
            integer_length(self.rest())
        } else {
            let available = self.rest().len();
            if available < width {
                let detail =
                    format!("Field requires {width} characters, but only {available} remain.");
                let message = format!("source string too short for \"{name}\" formatting field");
                return Err(error(message).detail(detail).hint(FIXED_HINT));
            }
            let used = integer_length(&shown);
            if used > 0 && used < width {
                let detail =
                    format!("Field requires {width} characters, but only {used} could be parsed.");
                let message = format!("invalid value \"{shown}\" for \"{name}\"");
                return Err(error(message).detail(detail).hint(FIXED_HINT));
            }
            used
        };
        let text = &self.rest()[..digits];
        self.at += digits;
        if digits == 0 {
            let message = format!("invalid value \"{shown}\" for \"{name}\"");
            return Err(error(message).detail("Value must be an integer."));
        }
        match text.parse::<i32>() {
            Ok(value) => Ok((i64::from(value), self.at - start)),
            Err(_) => {
                let message = format!("value for \"{name}\" in source string is out of range");
                let detail = format!("Value must be in the range {} to {}.", i32::MIN, i32::MAX);
                Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message).detail(detail))
            }
        }
    }
}

/// The keyword as it was written.
fn shown_name(field: Field) -> String {
    match field.letters {
        super::template::Letters::Lower => field.name.to_lowercase(),
        _ => field.name.to_string(),
    }
}

/// Whether a number ends where the next part of the template begins.
fn ends_number(next: Option<&Node>) -> bool {
    match next {
        None => true,
        Some(Node::Field(field)) => !field.is_digits(),
        Some(Node::Space(c) | Node::Separator(c) | Node::Text(c)) => !c.is_ascii_digit(),
    }
}

/// The length of the integer that a text begins with, with its sign; 0 if there is none.
fn integer_length(text: &str) -> usize {
    let sign = usize::from(text.starts_with(['-', '+']));
    match text[sign..].bytes().take_while(u8::is_ascii_digit).count() {
        0 => 0,
        digits => sign + digits,
    }
}

fn set(place: &mut i64, value: i64, field: Field) -> Result<()> {
    if *place != 0 && *place != value {
        let name = shown_name(field);
        let message = format!("conflicting values for \"{name}\" field in formatting string");
        let detail = "This value contradicts a previous setting for the same field type.";
        return Err(error(message).detail(detail));
    }
    *place = value;
    Ok(())
}

/// Years of one to three digits are near 2020.
fn near_2020(year: i64) -> i64 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}
