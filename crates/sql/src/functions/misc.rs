//! What belongs to no type: facts about values and about this server.

use super::Call;
use super::arguments::{Entry, argument};
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid};

fn count_nulls(args: &[Datum]) -> i32 {
    args.iter().filter(|arg| arg.is_null()).count() as i32
}

/// About what a value takes on PostgreSQL's disk.
fn column_size(call: &Call<'_>, value: &Datum) -> i32 {
    let variable = |length: usize| (if length < 127 { length + 1 } else { length + 4 }) as i32;
    match value {
        Datum::Null => 0,
        Datum::Bool(_) => 1,
        Datum::Int2(_) => 2,
        Datum::Int4(_) | Datum::Oid(_) | Datum::Float4(_) | Datum::Date(_) | Datum::Enum(_) => 4,
        Datum::Int8(_) | Datum::Float8(_) | Datum::Time(_) | Datum::Timestamp(_) => 8,
        Datum::TimeTz(..) => 12,
        Datum::Interval(_) | Datum::Uuid(_) => 16,
        Datum::Text(_) if call.args.first() == Some(&Oid::NAME) => 64,
        Datum::Text(text) | Datum::Json(text) => variable(text.len()),
        Datum::Bytea(bytes) => variable(bytes.len()),
        Datum::Bits(bits) => variable(bits.len().div_ceil(8) + 4),
        _ => 24,
    }
}

fn unicode_error(message: &str) -> SqlError {
    SqlError::new(code::SYNTAX_ERROR, message)
}

/// `\XXXX`, `\+XXXXXX`, `\uXXXX` and `\UXXXXXXXX` are characters.
fn unistr(text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut high: Option<u32> = None;
    while !rest.is_empty() {
        let (unit, length) = match rest.strip_prefix('\\') {
            None => (None, rest.find('\\').unwrap_or(rest.len())),
            Some(behind) if behind.starts_with('\\') => (None, 2),
            Some(behind) => {
                let (unit, length) = escape(behind)?;
                (Some(unit), length + 1)
            }
        };
        match (unit, high.take()) {
            (None, Some(_)) => return Err(unicode_error("invalid Unicode surrogate pair")),
            (None, None) if rest.starts_with('\\') => out.push('\\'),
            (None, None) => out.push_str(&rest[..length]),
            (Some(unit), before) => high = push_unit(&mut out, unit, before)?,
        }
        rest = &rest[length..];
    }
    if high.is_some() {
        return Err(unicode_error("invalid Unicode surrogate pair"));
    }
    Ok(out)
}

/// The number of an escape behind its backslash, and how long it is.
fn escape(behind: &str) -> Result<(u32, usize)> {
    let (skip, digits) = match behind.as_bytes().first() {
        Some(b'+') => (1, 6),
        Some(b'u') => (1, 4),
        Some(b'U') => (1, 8),
        _ => (0, 4),
    };
    let hint = "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.";
    let number = behind.get(skip..skip + digits);
    let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = number.and_then(|number| u32::from_str_radix(number, 16).ok());
    let number = number.ok_or_else(|| unicode_error("invalid Unicode escape").hint(hint))?;
    Ok((number, skip + digits))
}

/// Adds a unit; a high surrogate waits for its low one.
fn push_unit(out: &mut String, unit: u32, high: Option<u32>) -> Result<Option<u32>> {
    let pair = || unicode_error("invalid Unicode surrogate pair");
    let number = match (high, unit) {
        (Some(high), 0xDC00..=0xDFFF) => 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00),
        (Some(_), _) | (None, 0xDC00..=0xDFFF) => return Err(pair()),
        (None, 0xD800..=0xDBFF) => return Ok(Some(unit)),
        (None, unit) => unit,
    };
    let c = char::from_u32(number).filter(|c| *c != '\0');
    let message = format!("invalid Unicode code point: {number:04X}");
    out.push(c.ok_or_else(|| SqlError::new(code::INVALID_PARAMETER_VALUE, message))?);
    Ok(None)
}

fn type_of(call: &Call<'_>) -> u32 {
    call.args.first().map_or(Oid::UNKNOWN.0, |ty| ty.0)
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "pgsql_version", () => "PostgreSQL 15.0 (Seriatim)";
    "pg_typeof", () [call, _args] => type_of(call);
    "pg_num_nulls", () [_call, args] => count_nulls(args);
    "pg_num_nonnulls", () [_call, args] => args.len() as i32 - count_nulls(args);
    "pg_column_size", () [call, args] =>
        argument(args, 0).map(|value| column_size(call, value));
    "unistr", (a: &str) => unistr(a);
    "pg_encoding_max_length_sql", (a: i32) => match a {
        6 => Some(4),
        0 | 8..=34 => Some(1),
        1..=5 | 7 | 35..=41 => Some(3),
        _ => None,
    };
}];
