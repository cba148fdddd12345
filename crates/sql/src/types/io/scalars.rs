//! Values without a structure: booleans, numbers of fixed width, identifiers, strings of
//! characters, bytes and bits.

use super::invalid_syntax;
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// The longest name.
pub const NAME_MAX: usize = 63;

/// What C calls a space.
pub fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// Reads what is known from its text alone; none if it is another type.
pub(super) fn input(text: &str, ty: Oid) -> Result<Option<Datum>> {
    Ok(Some(match ty {
        Oid::BOOL => Datum::Bool(parse_bool(text)?),
        Oid::INT2 => Datum::Int2(parse_integer(text, "smallint")?),
        Oid::INT4 => Datum::Int4(parse_integer(text, "integer")?),
        Oid::INT8 => Datum::Int8(parse_integer(text, "bigint")?),
        Oid::FLOAT4 => Datum::Float4(parse_float4(text)?),
        Oid::FLOAT8 => Datum::Float8(parse_float8(text)?),
        Oid::OID => Datum::Oid(parse_oid(text)?),
        Oid::XID | Oid::CID => Datum::Oid(parse_xid(text)),
        Oid::BYTEA => Datum::Bytea(parse_bytea(text)?.into()),
        Oid::UUID => Datum::Uuid(parse_uuid(text)?),
        Oid::CHAR => Datum::Text(parse_char(text)),
        _ => return Ok(None),
    }))
}

/// Reads a boolean: a word or a beginning of one that is not ambiguous.
pub fn parse_bool(text: &str) -> Result<bool> {
    let word = text.trim_matches(is_space).to_ascii_lowercase();
    let begins = |whole: &str| !word.is_empty() && whole.starts_with(&word);
    if begins("true") || begins("yes") || word == "on" || word == "1" {
        return Ok(true);
    }
    if begins("false") || begins("no") || word == "off" || word == "of" || word == "0" {
        return Ok(false);
    }
    Err(invalid_syntax("boolean", text))
}

/// Reads an integer of a type.
pub fn parse_integer<T: std::str::FromStr>(text: &str, ty: &str) -> Result<T> {
    let trimmed = text.trim_matches(is_space);
    if let Ok(value) = trimmed.parse() {
        return Ok(value);
    }
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid_syntax(ty, text));
    }
    let message = format!("value \"{text}\" is out of range for type {ty}");
    Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message))
}

fn parse_oid(text: &str) -> Result<u32> {
    let out_of_range = || {
        let message = format!("value \"{text}\" is out of range for type oid");
        SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
    };
    let wide: i64 = parse_integer(text, "oid").map_err(|error| match error.code() {
        code::NUMERIC_VALUE_OUT_OF_RANGE => out_of_range(),
        _ => error,
    })?;
    // Negative numbers of 32 bits are taken for the unsigned ones of the same bits.
    if (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&wide) {
        return Ok(wide as u32);
    }
    Err(out_of_range())
}

/// Transaction identifiers are read as C does: what is no number is 0.
fn parse_xid(text: &str) -> u32 {
    let trimmed = text.trim_matches(is_space);
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    trimmed[..digits].parse::<u64>().map_or(0, |wide| wide as u32)
}

/// A float's text in parts that Rust also reads, or a special value.
fn parse_float(text: &str, ty: &str) -> Result<f64> {
    let trimmed = text.trim_matches(is_space);
    let unsigned = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let hex = unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X"));
    if let Some(value) = hex.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        let value = value as f64;
        return Ok(if trimmed.starts_with('-') { -value } else { value });
    }
    let valid = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    match trimmed.parse() {
        Ok(value) if valid => Ok(value),
        _ => Err(invalid_syntax(ty, text)),
    }
}

fn check_float(text: &str, ty: &str, zero: bool, infinite: bool) -> Result<()> {
    let named = text.to_ascii_lowercase().contains("inf");
    let digit = |c: char| ('1'..='9').contains(&c);
    let mantissa = text.split(['e', 'E']).next().unwrap_or("");
    let lost = zero && mantissa.contains(digit);
    if (infinite && !named) || lost {
        let message = format!("\"{}\" is out of range for type {ty}", text.trim_matches(is_space));
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    Ok(())
}

/// Reads a double.
pub fn parse_float8(text: &str) -> Result<f64> {
    let value = parse_float(text, "double precision")?;
    check_float(text, "double precision", value == 0.0, value.is_infinite())?;
    Ok(value)
}

/// Reads a float.
pub fn parse_float4(text: &str) -> Result<f32> {
    let wide = parse_float(text, "real")?;
    // Rounding twice could be wrong; decimal text is read directly.
    let value = text.trim_matches(is_space).parse().unwrap_or(wide as f32);
    check_float(text, "real", value == 0.0, value.is_infinite())?;
    Ok(value)
}

fn special_float(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        return Some("NaN");
    }
    value.is_infinite().then_some(if value > 0.0 { "Infinity" } else { "-Infinity" })
}

/// Writes a double: the shortest digits that read back the same, or as many as are asked for.
pub fn float8_text(value: f64, extra_digits: i32) -> String {
    if let Some(special) = special_float(value) {
        return special.into();
    }
    if extra_digits > 0 {
        return general(&super::shortest::float8(value), 15);
    }
    rounded(value, (15 + extra_digits).max(1) as usize)
}

/// Writes a float.
pub fn float4_text(value: f32, extra_digits: i32) -> String {
    if let Some(special) = special_float(f64::from(value)) {
        return special.into();
    }
    if extra_digits > 0 {
        return general(&super::shortest::float4(value), 6);
    }
    rounded(f64::from(value), (6 + extra_digits).max(1) as usize)
}

/// As C's `%.{digits}g` writes it.
pub fn rounded(value: f64, digits: usize) -> String {
    if let Some(special) = special_float(value) {
        return special.into();
    }
    let text = format!("{value:.precision$e}", precision = digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    general(&format!("{mantissa}e{exponent}"), digits as i32)
}

/// Turns `d.ddde±x` into fixed notation if the exponent is in -4..limit, else into C's notation.
fn general(scientific: &str, limit: i32) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    if !(-4..limit).contains(&exponent) {
        let (mark, size) = (if exponent < 0 { '-' } else { '+' }, exponent.abs());
        return format!("{sign}{mantissa}e{mark}{size:02}");
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits:0<whole$}");
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// Reads bytes, in hexadecimal or with escapes.
pub fn parse_bytea(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(hex) => parse_hex(hex),
        None => parse_escaped(text),
    }
}

/// Reads pairs of hexadecimal digits with spaces between pairs.
pub fn parse_hex(hex: &str) -> Result<Vec<u8>> {
    let invalid = |message: String| SqlError::new(code::INVALID_PARAMETER_VALUE, message);
    let mut bytes = Vec::with_capacity(hex.len() / 2);
    let mut chars = hex.chars();
    while let Some(first) = chars.next() {
        if matches!(first, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let wrong = |c: char| invalid(format!("invalid hexadecimal digit: \"{c}\""));
        let high = first.to_digit(16).ok_or_else(|| wrong(first))?;
        let second = chars
            .next()
            .ok_or_else(|| invalid("invalid hexadecimal data: odd number of digits".into()))?;
        let low = second.to_digit(16).ok_or_else(|| wrong(second))?;
        bytes.push((high << 4 | low) as u8);
    }
    Ok(bytes)
}

fn parse_escaped(text: &str) -> Result<Vec<u8>> {
    let invalid =
        || SqlError::new(code::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        match bytes[at + 1..] {
            [b'\\', ..] => {
                out.push(b'\\');
                at += 2;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                at += 4;
            }
            _ => return Err(invalid()),
        }
    }
    Ok(out)
}

/// Reads a uuid: 32 digits, with a hyphen after any four, perhaps in braces.
pub fn parse_uuid(text: &str) -> Result<[u8; 16]> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').unwrap_or("?"),
        None => text,
    };
    let invalid = || invalid_syntax("uuid", text);
    let mut rest = inner.as_bytes();
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let [high, low, more @ ..] = rest else { return Err(invalid()) };
        let digit = |b: &u8| (*b as char).to_digit(16).ok_or_else(invalid);
        *byte = (digit(high)? << 4 | digit(low)?) as u8;
        rest = more;
        if at % 2 == 1 && at < 15 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
    }
    if rest.is_empty() { Ok(bytes) } else { Err(invalid()) }
}

/// Writes a uuid.
pub fn uuid_text(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Reads "char": one byte, written in octal if it is not ASCII.
pub fn parse_char(text: &str) -> Arc<str> {
    if let [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] = *text.as_bytes() {
        return char_of((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
    }
    text.bytes().next().map_or_else(|| "".into(), char_of)
}

/// The "char" of a byte; 0 is empty.
pub fn char_of(byte: u8) -> Arc<str> {
    match byte {
        0 => "".into(),
        0x80.. => format!("\\{byte:03o}").into(),
        _ => (byte as char).to_string().into(),
    }
}

/// The byte of a "char".
pub fn char_byte(text: &str) -> u8 {
    match *text.as_bytes() {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] => {
            (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')
        }
        [first, ..] => first,
        [] => 0,
    }
}

/// Cuts a name to what fits.
pub fn truncate_name(text: &str) -> &str {
    if text.len() <= NAME_MAX {
        return text;
    }
    let end = (0..=NAME_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Reads text of one of its types.
pub(super) fn text_input(text: &str, ty: Oid, typmod: i32) -> Result<Datum> {
    match ty {
        Oid::NAME => Ok(Datum::text(truncate_name(text))),
        Oid::VARCHAR | Oid::BPCHAR => super::typmod::fit_text(text.into(), ty, typmod, false),
        _ => Ok(Datum::text(text)),
    }
}

/// Reads bits: digits, or `b` with digits, or `x` with hexadecimal ones.
pub fn parse_bits(text: &str, _ty: Oid) -> Result<Arc<str>> {
    let wrong = |kind: &str, c: char| {
        let message = format!("\"{c}\" is not a valid {kind} digit");
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
    };
    if let Some(hex) = text.strip_prefix(['x', 'X']) {
        let digit = |c: char| c.to_digit(16).ok_or_else(|| wrong("hexadecimal", c));
        let mut bits = String::with_capacity(hex.len() * 4);
        for c in hex.chars() {
            bits.push_str(&format!("{:04b}", digit(c)?));
        }
        return Ok(bits.into());
    }
    let digits = text.strip_prefix(['b', 'B']).unwrap_or(text);
    match digits.chars().find(|c| !matches!(c, '0' | '1')) {
        Some(other) => Err(wrong("binary", other)),
        None => Ok(digits.into()),
    }
}
