//! Sizes for people: `pg_size_pretty` and `pg_size_bytes`.

use super::arguments::Entry;
use super::int::out_of_range;
use crate::error::{Result, SqlError, code};
use crate::types::numeric::Numeric;

/// Units, each 1024 times the one before.
const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
/// From ten times a unit on the next one is used; sizes are kept doubled, to be rounded at last.
const DOUBLED_MAX: i64 = 20 * 1024 - 1;

fn pretty(size: i64) -> String {
    if size.unsigned_abs() < 10 * 1024 {
        return format!("{size} bytes");
    }
    let mut doubled = size / 512;
    let mut unit = 1;
    while doubled.abs() >= DOUBLED_MAX && unit + 1 < UNITS.len() {
        doubled /= 1024;
        unit += 1;
    }
    format!("{} {}", (doubled + doubled.signum()) / 2, UNITS[unit])
}

fn pretty_numeric(size: &Numeric) -> Result<String> {
    let number = Numeric::from_i64;
    if size.abs().cmp(&number(10 * 1024)).is_lt() {
        return Ok(format!("{size} bytes"));
    }
    let mut doubled = size.div_trunc(&number(512))?;
    let mut unit = 1;
    while doubled.abs().cmp(&number(DOUBLED_MAX)).is_ge() && unit + 1 < UNITS.len() {
        doubled = doubled.div_trunc(&number(1024))?;
        unit += 1;
    }
    let rounded = doubled.add(&doubled.sign())?.div_trunc(&number(2))?;
    Ok(format!("{rounded} {}", UNITS[unit]))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C')
}

/// How long the number at the beginning is; `None` if there is none.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    // An exponent only if there are digits behind it: an E may begin a unit.
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(end)
}

fn size_bytes(text: &str) -> Result<i64> {
    let invalid = || {
        let message = format!("invalid size: \"{text}\"");
        SqlError::new(code::INVALID_PARAMETER_VALUE, message)
    };
    let trimmed = text.trim_start_matches(is_space);
    let length = number_length(trimmed).ok_or_else(invalid)?;
    let number = Numeric::parse(&trimmed[..length])?;
    let unit = trimmed[length..].trim_matches(is_space);
    let factor = if unit.is_empty() {
        1
    } else {
        let found = UNITS.iter().position(|known| known.eq_ignore_ascii_case(unit));
        let hint = "Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".";
        let error = || invalid().detail(format!("Invalid size unit: \"{unit}\".")).hint(hint);
        1_i64 << (10 * found.ok_or_else(error)?)
    };
    number.mul(&Numeric::from_i64(factor))?.to_i64().ok_or_else(out_of_range::<i64>)
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "pg_size_pretty", (a: i64) => pretty(a);
    "pg_size_pretty_numeric", (a: &Numeric) => pretty_numeric(a);
    "pg_size_bytes", (a: &str) => size_bytes(a);
}];
