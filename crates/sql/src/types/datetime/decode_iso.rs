//! Intervals of ISO 8601: `P1Y2M3DT4H5M6S`, and the alternative format `P0001-02-03T04:05:06`.

use super::decode::ParseError;
use super::decode_interval::Sum;
use super::keywords::Unit;

type Step = Result<(), ParseError>;

/// Where in the text the reader is.
struct Reader<'t> {
    rest: &'t str,
    sum: Sum,
}

/// A number: its whole part, its fraction, and how many digits the whole part had.
struct Number {
    whole: i64,
    fraction: f64,
    digits: usize,
}

/// Reads an interval of ISO 8601.
pub fn decode_iso(text: &str) -> Result<Sum, ParseError> {
    let rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or(ParseError::Format)?;
    let mut reader = Reader { rest, sum: Sum::default() };
    reader.date()?;
    Ok(reader.sum)
}

impl Reader<'_> {
    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next();
        self.rest = chars.as_str();
        first
    }

    fn number(&mut self) -> Result<Number, ParseError> {
        if !self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
            return Err(ParseError::Format);
        }
        let sign = usize::from(self.rest.starts_with('-'));
        let count = |from: usize| self.rest[from..].bytes().take_while(u8::is_ascii_digit).count();
        let digits = count(sign);
        let mut end = sign + digits;
        if self.rest[end..].starts_with('.') {
            end += 1 + count(end + 1);
        }
        let (number, rest) = self.rest.split_at(end);
        let value: f64 = number.parse().map_err(|_| ParseError::Format)?;
        if value.abs() > 1e15 {
            return Err(ParseError::Field);
        }
        self.rest = rest;
        Ok(Number { whole: value as i64, fraction: value - value.trunc(), digits })
    }

    fn add(&mut self, number: &Number, unit: Unit) -> Step {
        self.sum.add(number.whole, number.fraction, unit)
    }

    fn date(&mut self) -> Step {
        let mut first = true;
        while !self.rest.is_empty() {
            if self.rest.starts_with('T') {
                self.take();
                return self.time();
            }
            let number = self.number()?;
            let unit = match self.rest.chars().next() {
                Some('Y') => Unit::Year,
                Some('M') => Unit::Month,
                Some('W') => Unit::Week,
                Some('D') => Unit::Day,
                None | Some('T' | '-') if first => return self.date_alternative(&number),
                _ => return Err(ParseError::Format),
            };
            self.take();
            self.add(&number, unit)?;
            first = false;
        }
        Ok(())
    }

    /// `yyyymmdd`, or `yyyy-mm-dd` with any part from the right missing.
    fn date_alternative(&mut self, number: &Number) -> Step {
        if number.digits == 8 && !self.rest.starts_with('-') {
            self.sum.add(number.whole / 10_000, 0.0, Unit::Year)?;
            self.sum.add(number.whole / 100 % 100, 0.0, Unit::Month)?;
            self.sum.add(number.whole % 100, number.fraction, Unit::Day)?;
            return self.time_part();
        }
        self.add(number, Unit::Year)?;
        for unit in [Unit::Month, Unit::Day] {
            if !self.rest.starts_with('-') {
                break;
            }
            self.take();
            let number = self.number()?;
            self.add(&number, unit)?;
        }
        self.time_part()
    }

    fn time_part(&mut self) -> Step {
        match self.take() {
            None => Ok(()),
            Some('T') => self.time(),
            Some(_) => Err(ParseError::Format),
        }
    }

    fn time(&mut self) -> Step {
        let mut first = true;
        while !self.rest.is_empty() {
            if self.rest.starts_with('T') {
                self.take();
                continue;
            }
            let number = self.number()?;
            let unit = match self.rest.chars().next() {
                Some('H') => Unit::Hour,
                Some('M') => Unit::Minute,
                Some('S') => Unit::Second,
                None | Some(':') if first => return self.time_alternative(&number),
                _ => return Err(ParseError::Format),
            };
            self.take();
            self.add(&number, unit)?;
            first = false;
        }
        Ok(())
    }

    /// `hhmmss`, or `hh:mm:ss` with any part from the right missing.
    fn time_alternative(&mut self, number: &Number) -> Step {
        if number.digits == 6 && self.rest.is_empty() {
            self.sum.add(number.whole / 10_000, 0.0, Unit::Hour)?;
            self.sum.add(number.whole / 100 % 100, 0.0, Unit::Minute)?;
            self.sum.add(number.whole % 100, 0.0, Unit::Second)?;
            return self.sum.add(0, number.fraction, Unit::Microsecond);
        }
        self.add(number, Unit::Hour)?;
        for unit in [Unit::Minute, Unit::Second] {
            if !self.rest.starts_with(':') {
                break;
            }
            self.take();
            let number = self.number()?;
            self.add(&number, unit)?;
        }
        if self.rest.is_empty() { Ok(()) } else { Err(ParseError::Format) }
    }
}
