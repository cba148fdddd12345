//! Intervals: numbers with units, from right to left, because a unit stands behind its number.

use super::decode::ParseError;
use super::decode_iso::decode_iso;
use super::decode_time::{decode_time, fraction, leading_integer, leading_wide};
use super::fields::Fields;
use super::keywords::{IntervalWord, Unit, Word, interval_word, word};
use super::lex::{Field, Kind, lex};
use super::typmod::IntervalFields;
use super::{DAY, HOUR, MINUTE, SECOND};
use crate::types::Interval;

type Step = Result<(), ParseError>;

/// An interval that is being added up. Years become months at the end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sum {
    years: i64,
    months: i64,
    days: i64,
    micros: i64,
}

impl Sum {
    fn micros(&mut self, value: i64, fraction: f64, scale: i64) -> Step {
        let whole = value.checked_mul(scale).ok_or(ParseError::Field)?;
        self.micros = self.micros.checked_add(whole).ok_or(ParseError::Field)?;
        self.fraction_micros(fraction, scale)
    }

    /// A fraction of a unit of so many microseconds; a half is dropped.
    fn fraction_micros(&mut self, fraction: f64, scale: i64) -> Step {
        let exact = fraction * scale as f64;
        let mut whole = exact as i64;
        let rest = exact - whole as f64;
        if rest > 0.5 {
            whole += 1;
        } else if rest < -0.5 {
            whole -= 1;
        }
        self.micros = self.micros.checked_add(whole).ok_or(ParseError::Field)?;
        Ok(())
    }

    fn days(&mut self, value: i64, scale: i64) -> Step {
        let days = value.checked_mul(scale).and_then(|days| self.days.checked_add(days));
        self.days = in_range(days)?;
        Ok(())
    }

    fn fraction_days(&mut self, fraction: f64, scale: i64) -> Step {
        let exact = fraction * scale as f64;
        self.days(exact as i64, 1)?;
        self.fraction_micros(exact - exact.trunc(), DAY)
    }

    fn months(&mut self, value: i64) -> Step {
        self.months = in_range(self.months.checked_add(value))?;
        Ok(())
    }

    fn years(&mut self, value: i64, fraction: f64, scale: i64) -> Step {
        let years = value.checked_mul(scale).and_then(|years| self.years.checked_add(years));
        self.years = in_range(years)?;
        self.months((fraction * scale as f64 * 12.0).round_ties_even() as i64)
    }

    /// So many of a unit.
    pub fn add(&mut self, value: i64, fraction: f64, unit: Unit) -> Step {
        match unit {
            Unit::Microsecond => self.micros(value, fraction, 1),
            Unit::Millisecond => self.micros(value, fraction, 1000),
            Unit::Second => self.micros(value, fraction, SECOND),
            Unit::Minute => self.micros(value, fraction, MINUTE),
            Unit::Hour => self.micros(value, fraction, HOUR),
            Unit::Day => {
                self.days(value, 1)?;
                self.fraction_micros(fraction, DAY)
            }
            Unit::Week => {
                self.days(value, 7)?;
                self.fraction_days(fraction, 7)
            }
            Unit::Month => {
                self.months(in_range(Some(value))?)?;
                self.fraction_days(fraction, 30)
            }
            Unit::Year => self.years(value, fraction, 1),
            Unit::Decade => self.years(value, fraction, 10),
            Unit::Century => self.years(value, fraction, 100),
            Unit::Millennium => self.years(value, fraction, 1000),
            _ => Err(ParseError::Format),
        }
    }

    /// The interval, if its parts fit.
    pub fn finish(self) -> Option<Interval> {
        let months = i32::try_from(self.years * 12 + self.months).ok()?;
        Some(Interval { months, days: i32::try_from(self.days).ok()?, micros: self.micros })
    }

    fn negate(&mut self) -> Step {
        self.years = in_range(Some(-self.years))?;
        self.months = in_range(Some(-self.months))?;
        self.days = in_range(Some(-self.days))?;
        self.micros = self.micros.checked_neg().ok_or(ParseError::Field)?;
        Ok(())
    }
}

/// Days, months and years are 32 bits wide.
fn in_range(value: Option<i64>) -> Result<i64, ParseError> {
    value.filter(|value| i32::try_from(*value).is_ok()).ok_or(ParseError::Field)
}

struct IntervalDecoder {
    sum: Sum,
    given: Fields,
    /// The unit of the next number to the left.
    unit: Option<Unit>,
    default_unit: Unit,
    minutes_first: bool,
    force_negative: bool,
    ago: bool,
}

/// Reads an interval in any of the ways of writing one.
pub fn decode_interval(
    text: &str,
    fields: IntervalFields,
    sql_standard: bool,
) -> Result<Sum, ParseError> {
    let decoded = lex(text, 256).and_then(|lexed| decode_fields(&lexed, fields, sql_standard));
    match decoded {
        Err(ParseError::Format) => decode_iso(text),
        other => other,
    }
}

fn decode_fields(
    lexed: &[Field],
    fields: IntervalFields,
    sql_standard: bool,
) -> Result<Sum, ParseError> {
    let signed = |field: &Field| field.text.starts_with(['-', '+']);
    let force_negative = sql_standard
        && lexed.first().is_some_and(|field| field.text.starts_with('-'))
        && !lexed.iter().skip(1).any(signed);
    let mut decoder = IntervalDecoder {
        sum: Sum::default(),
        given: Fields::NONE,
        unit: None,
        default_unit: fields.default_unit(),
        minutes_first: fields == IntervalFields::MINUTE_TO_SECOND,
        force_negative,
        ago: false,
    };
    for field in lexed.iter().rev() {
        let given = decoder.field(field)?;
        if decoder.given.any_of(given) {
            return Err(ParseError::Format);
        }
        decoder.given |= given;
    }
    if decoder.given.is_empty() {
        return Err(ParseError::Format);
    }
    if decoder.ago {
        decoder.sum.negate()?;
    }
    Ok(decoder.sum)
}

impl IntervalDecoder {
    fn field(&mut self, field: &Field) -> Result<Fields, ParseError> {
        let text = field.text.as_str();
        match field.kind {
            Kind::Time => self.time(text, false),
            Kind::Signed if text[1..].contains(':') => self.time(&text[1..], text.starts_with('-')),
            Kind::Signed | Kind::Date | Kind::Number => self.number(text),
            Kind::Word | Kind::SignedWord => self.word(text),
        }
    }

    fn time(&mut self, text: &str, negative: bool) -> Result<Fields, ParseError> {
        let time = decode_time(text, self.minutes_first)?;
        let clock = time.minute * MINUTE + time.second * SECOND + time.micros;
        let micros = time.hour.checked_mul(HOUR).and_then(|hours| hours.checked_add(clock));
        let mut micros = micros.ok_or(ParseError::Field)?;
        if negative || (self.force_negative && micros > 0) {
            micros = -micros;
        }
        self.sum.micros = micros;
        self.unit = Some(Unit::Day);
        Ok(Fields::TIME)
    }

    fn number(&mut self, text: &str) -> Result<Fields, ParseError> {
        let mut unit = *self.unit.get_or_insert(self.default_unit);
        let (mut value, rest) = leading_wide(text)?;
        let mut part = 0.0;
        if let Some(months) = rest.strip_prefix('-') {
            value = years_and_months(value, months, text.starts_with('-'))?;
            unit = Unit::Month;
        } else if rest.starts_with('.') {
            part = fraction(rest)?;
            if text.starts_with('-') {
                part = -part;
            }
        } else if !rest.is_empty() {
            return Err(ParseError::Format);
        }
        if self.force_negative {
            (value, part) = (-value.abs(), -part.abs());
        }
        // Behind hours come days; every other unit stays for the number to its left.
        self.unit = Some(if unit == Unit::Hour { Unit::Day } else { unit });
        self.sum.add(value, part, unit)?;
        Ok(field_of(unit, part))
    }

    fn word(&mut self, text: &str) -> Result<Fields, ParseError> {
        match interval_word(text) {
            Some(IntervalWord::Unit(unit)) => self.unit = Some(unit),
            Some(IntervalWord::Ago) => {
                self.ago = true;
                self.unit = None;
            }
            None if word(text) == Some(Word::Ignored) => {}
            None => return Err(ParseError::Format),
        }
        Ok(Fields::NONE)
    }
}

/// `years-months`.
fn years_and_months(years: i64, months: &str, negative: bool) -> Result<i64, ParseError> {
    let (months, rest) = leading_integer(months)?;
    if !(0..12).contains(&months) {
        return Err(ParseError::Field);
    }
    if !rest.is_empty() {
        return Err(ParseError::Format);
    }
    let months = if negative { -months } else { months };
    years.checked_mul(12).and_then(|years| years.checked_add(months)).ok_or(ParseError::Field)
}

fn field_of(unit: Unit, fraction: f64) -> Fields {
    match unit {
        Unit::Microsecond => Fields::MICROSECOND,
        Unit::Millisecond => Fields::MILLISECOND,
        Unit::Second if fraction == 0.0 => Fields::SECOND,
        Unit::Second => Fields::SECONDS,
        Unit::Minute => Fields::MINUTE,
        Unit::Hour => Fields::HOUR,
        Unit::Day => Fields::DAY,
        Unit::Week => Fields::WEEK,
        Unit::Month => Fields::MONTH,
        Unit::Year => Fields::YEAR,
        Unit::Decade => Fields::DECADE,
        Unit::Century => Fields::CENTURY,
        Unit::Millennium => Fields::MILLENNIUM,
        _ => Fields::NONE,
    }
}
