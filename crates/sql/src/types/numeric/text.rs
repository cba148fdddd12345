//! Numbers as text.

use super::{DIGITS_MAX, Decimal, Numeric, SCALE_MAX, overflow, ten};
use crate::error::{Result, SqlError, code};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use std::fmt;

fn invalid(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type numeric: \"{text}\"");
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
}

/// What C calls a space.
fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// A number in parts: its digits without the point, and how many of them are behind it.
struct Parts {
    digits: String,
    fraction: i64,
}

impl Numeric {
    /// Reads a number: digits with an optional point and exponent, `NaN`, or an infinity.
    pub fn parse(text: &str) -> Result<Numeric> {
        let trimmed = text.trim_matches(is_space);
        let (negative, unsigned) = match trimmed.as_bytes().first() {
            Some(b'-') => (true, &trimmed[1..]),
            Some(b'+') => (false, &trimmed[1..]),
            _ => (false, trimmed),
        };
        if let Some(special) = parse_special(trimmed, unsigned, negative) {
            return Ok(special);
        }
        let parts = split(unsigned).ok_or_else(|| invalid(text))??;
        parts.number(negative)
    }
}

fn parse_special(signed: &str, unsigned: &str, negative: bool) -> Option<Numeric> {
    if signed.eq_ignore_ascii_case("nan") {
        return Some(Numeric::NaN);
    }
    let infinite =
        unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf");
    let infinity = if negative { Numeric::NegInfinity } else { Numeric::PosInfinity };
    infinite.then_some(infinity)
}

/// The parts of an unsigned number; `None` if it is none.
fn split(text: &str) -> Option<Result<Parts>> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let exponent = match exponent {
        Some(text) => match parse_exponent(text)? {
            Ok(exponent) => exponent,
            Err(error) => return Some(Err(error)),
        },
        None => 0,
    };
    let digits = format!("{whole}{fraction}");
    Some(Ok(Parts { digits, fraction: fraction.len() as i64 - exponent }))
}

fn parse_exponent(text: &str) -> Option<Result<i64>> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let exponent = text.parse::<i64>().ok().filter(|e| e.abs() < i64::from(i32::MAX / 2));
    Some(exponent.ok_or_else(overflow))
}

impl Parts {
    fn number(self, negative: bool) -> Result<Numeric> {
        let significant = self.digits.trim_start_matches('0');
        // The limits come first: an exponent of a million would be a million zeros.
        if self.fraction > i64::from(SCALE_MAX)
            || (!significant.is_empty() && significant.len() as i64 - self.fraction > DIGITS_MAX)
        {
            return Err(overflow());
        }
        let mut unscaled = BigInt::parse_bytes(self.digits.as_bytes(), 10).unwrap_or_default();
        if self.fraction < 0 && !unscaled.is_zero() {
            unscaled *= ten(self.fraction.unsigned_abs() as u32);
        }
        let unscaled = if negative { -unscaled } else { unscaled };
        Numeric::finite(unscaled, self.fraction.max(0) as u32)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale as usize;
        let digits = self.unscaled.magnitude().to_string();
        let sign = if self.unscaled.is_negative() { "-" } else { "" };
        if scale == 0 {
            return write!(f, "{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Numeric::NaN => f.write_str("NaN"),
            Numeric::PosInfinity => f.write_str("Infinity"),
            Numeric::NegInfinity => f.write_str("-Infinity"),
            Numeric::Finite(decimal) => decimal.fmt(f),
        }
    }
}
