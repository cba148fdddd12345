//! Numbers in dates and times without a word that says what they are: their number of digits, what
//! has been given before and `DateStyle` decide.

use super::decode::{Decoder, Mode, ParseError};
use super::decode_time::{fraction_micros, leading_integer};
use super::fields::Fields;
use super::keywords::{self, Word};
use super::lex::{Field, Kind};
use crate::types::DateOrder;

impl Decoder<'_> {
    pub(super) fn number_field(
        &mut self,
        fields: &[Field],
        at: usize,
    ) -> Result<Fields, ParseError> {
        let text = &fields[at].text;
        match self.mode {
            Mode::DateTime => self.number_in_date(text),
            Mode::Time => {
                let dated = at == 0
                    && fields.len() >= 2
                    && fields.last().is_some_and(|field| field.kind == Kind::Date);
                self.number_in_time(text, dated)
            }
        }
    }

    fn number_in_date(&mut self, text: &str) -> Result<Fields, ParseError> {
        let point = text.find('.');
        if point.is_some() && !self.given.any_of(Fields::DATE) {
            return self.date(text);
        }
        let run = match point {
            Some(point) => point > 2,
            None => {
                text.len() >= 6
                    && !(self.given.any_of(Fields::DATE) && self.given.any_of(Fields::TIME))
            }
        };
        if run { self.number_run(text, self.given) } else { self.number(text, self.given) }
    }

    fn number_in_time(&mut self, text: &str, dated: bool) -> Result<Fields, ParseError> {
        let given = self.given | Fields::DATE;
        match text.find('.') {
            Some(_) if dated => self.date(text),
            Some(point) if point > 2 => self.number_run(text, given),
            Some(_) => Err(ParseError::Format),
            None if text.len() > 4 => self.number_run(text, given),
            None => self.number(text, given),
        }
    }

    /// A date with separators, whose month may be a word.
    pub(super) fn date(&mut self, text: &str) -> Result<Fields, ParseError> {
        let mut parts = split_date(text)?;
        let mut given = Fields::NONE;
        // The word first: it is the month for sure.
        for part in &mut parts {
            if !part.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            match keywords::word(part) {
                Some(Word::Ignored) => continue,
                Some(Word::Month(month)) => self.month = month,
                _ => return Err(ParseError::Format),
            }
            self.text_month = true;
            add(&mut given, Fields::MONTH, self.given)?;
            *part = "";
        }
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let more = self.number(part, self.given | given)?;
            add(&mut given, more, self.given)?;
        }
        let all = (self.given | given).without(Fields::DAY_OF_YEAR | Fields::ZONE);
        if all == Fields::DATE { Ok(given) } else { Err(ParseError::Format) }
    }

    /// A number that is one field of a date, or a time if the date is complete.
    fn number(&mut self, text: &str, given: Fields) -> Result<Fields, ParseError> {
        let (value, rest) = leading_integer(text)?;
        let before = text.len() - rest.len();
        if before == 0 {
            return Err(ParseError::Format);
        }
        if rest.starts_with('.') {
            if before > 2 {
                return self.number_run(text, given | Fields::DATE);
            }
            self.micros = fraction_micros(rest)?;
        } else if !rest.is_empty() {
            return Err(ParseError::Format);
        }
        let dated = given.among(Fields::DATE);
        if text.len() == 3 && dated == Fields::YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(Fields::DAY_OF_YEAR | Fields::MONTH | Fields::DAY);
        }
        if dated == Fields::DATE {
            return self.number_run(text, given);
        }
        Ok(self.set_next(value, text.len(), dated))
    }

    /// Gives the number to the field that comes next.
    fn set_next(&mut self, value: i64, length: usize, dated: Fields) -> Fields {
        let field = self.next_field(length, dated);
        if field == Fields::YEAR {
            self.year = value;
            self.two_digits = length <= 2;
        } else if field == Fields::MONTH {
            self.month = value;
        } else if dated == Fields::YEAR | Fields::MONTH
            && self.text_month
            && length >= 3
            && self.two_digits
        {
            // What was taken for the year before was the day.
            (self.day, self.year, self.two_digits) = (self.year, value, false);
        } else {
            self.day = value;
        }
        field
    }

    fn next_field(&self, length: usize, dated: Fields) -> Fields {
        let order = self.style.date_order;
        let year_first = length >= 3 || order == DateOrder::Ymd;
        if dated.is_empty() {
            return match order {
                _ if year_first => Fields::YEAR,
                DateOrder::Dmy => Fields::DAY,
                _ => Fields::MONTH,
            };
        }
        if dated == Fields::YEAR || dated == Fields::DAY {
            return Fields::MONTH;
        }
        if dated == Fields::MONTH | Fields::DAY {
            return Fields::YEAR;
        }
        if dated == Fields::MONTH && self.text_month && year_first {
            return Fields::YEAR;
        }
        if dated == Fields::YEAR | Fields::DAY { Fields::MONTH } else { Fields::DAY }
    }

    /// A run of digits: `yyyymmdd`, `yymmdd`, `hhmmss` or `hhmm`.
    pub(super) fn number_run(&mut self, text: &str, given: Fields) -> Result<Fields, ParseError> {
        let digits = match text.find('.') {
            Some(point) => {
                self.micros = fraction_micros(&text[point..])?;
                &text[..point]
            }
            None if !given.all_of(Fields::DATE) && text.len() >= 6 => return self.date_run(text),
            None => text,
        };
        let pair = |at: usize| digits.get(at..at + 2).and_then(|part| part.parse().ok());
        if given.all_of(Fields::TIME) || !matches!(digits.len(), 4 | 6) {
            return Err(ParseError::Format);
        }
        self.hour = pair(0).ok_or(ParseError::Format)?;
        self.minute = pair(2).ok_or(ParseError::Format)?;
        self.second = pair(4).unwrap_or(0);
        Ok(Fields::TIME)
    }

    fn date_run(&mut self, text: &str) -> Result<Fields, ParseError> {
        let at = text.len();
        let number = |part: Option<&str>| {
            part.and_then(|part| part.parse::<i64>().ok()).ok_or(ParseError::Field)
        };
        self.day = number(text.get(at - 2..))?;
        self.month = number(text.get(at - 4..at - 2))?;
        self.year = number(text.get(..at - 4))?.min(i64::from(i32::MAX));
        if at == 6 {
            self.two_digits = true;
        }
        Ok(Fields::DATE)
    }
}

fn add(given: &mut Fields, more: Fields, before: Fields) -> Result<(), ParseError> {
    if (before | *given).any_of(more) {
        return Err(ParseError::Format);
    }
    *given |= more;
    Ok(())
}

/// Runs of digits and runs of letters.
fn split_date(text: &str) -> Result<Vec<&str>, ParseError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let first = rest.bytes().next().ok_or(ParseError::Format)?;
        let digits = first.is_ascii_digit();
        let end = rest
            .bytes()
            .position(|b| b.is_ascii_digit() != digits || !b.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        parts.push(&rest[..end]);
        // The character behind a run is dropped, whatever it is.
        rest = rest[end..].strip_prefix(|_: char| true).unwrap_or("");
    }
    Ok(parts)
}
