//! Types that few programs use: their representation is that of another type.

use super::invalid_syntax;
use super::scalars::is_space;
use crate::error::Result;
use crate::types::{Datum, Oid};

/// A transaction identifier of 64 bits.
pub(crate) const XID8: Oid = Oid(5069);

/// Reads a value; none if the type is not there.
pub(super) fn input(text: &str, ty: Oid) -> Option<Result<Datum>> {
    Some(match ty {
        Oid::TID => parse_tid(text),
        Oid::PG_LSN => parse_lsn(text),
        XID8 => Ok(Datum::Int8(text.trim_matches(is_space).parse::<u64>().unwrap_or(0) as i64)),
        Oid::MACADDR => parse_macaddr(text, 6, "macaddr"),
        Oid::MACADDR8 => parse_macaddr(text, 8, "macaddr8"),
        _ => return None,
    })
}

/// Reads a path; its text is kept in the form in which PostgreSQL writes it.
pub(super) fn jsonpath(text: &str) -> Result<Datum> {
    Ok(Datum::text(crate::types::jsonpath::parse(text)?.to_string()))
}

/// A place of a row, by its block and its number in there, as one number.
pub(crate) fn tid_of(block: u32, number: u16) -> i64 {
    i64::from(block) << 16 | i64::from(number)
}

/// The block of a place, and the number in there.
pub(crate) fn tid_parts(place: i64) -> (u32, u16) {
    ((place >> 16) as u32, place as u16)
}

fn parse_tid(text: &str) -> Result<Datum> {
    let inner = text.trim_matches(is_space).strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let parts = inner.and_then(|inner| inner.split_once(','));
    let parsed = parts.and_then(|(block, offset)| {
        Some((block.parse::<u32>().ok()?, offset.parse::<u16>().ok()?))
    });
    let (block, number) = parsed.ok_or_else(|| invalid_syntax("tid", text))?;
    Ok(Datum::Int8(tid_of(block, number)))
}

fn parse_lsn(text: &str) -> Result<Datum> {
    let part = |part: &str| {
        let hex = !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
        hex.then(|| u32::from_str_radix(part, 16).ok()).flatten()
    };
    let parsed = text.split_once('/').and_then(|(high, low)| Some((part(high)?, part(low)?)));
    let (high, low) = parsed.ok_or_else(|| invalid_syntax("pg_lsn", text))?;
    Ok(Datum::Int8((u64::from(high) << 32 | u64::from(low)) as i64))
}

/// Digits in pairs, with colons, hyphens or points between groups, or nothing.
fn parse_macaddr(text: &str, width: usize, ty: &str) -> Result<Datum> {
    let trimmed = text.trim_matches(is_space);
    let digits: String = trimmed.chars().filter(|c| !":-.".contains(*c)).collect();
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !hex || !(digits.len() == width * 2 || (width == 8 && digits.len() == 12)) {
        return Err(invalid_syntax(ty, text));
    }
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(0);
    let mut bytes: Vec<u8> = (0..digits.len()).step_by(2).map(pair).collect();
    if bytes.len() < width {
        bytes.splice(3..3, [0xff, 0xfe]);
    }
    Ok(Datum::Bytea(bytes.into()))
}

/// Writes 64 bits.
pub(super) fn wide_text(value: i64, ty: Oid) -> String {
    match ty {
        Oid::PG_LSN => format!("{:X}/{:X}", value as u64 >> 32, value as u32),
        XID8 => (value as u64).to_string(),
        Oid::TID => {
            let (block, number) = tid_parts(value);
            format!("({block},{number})")
        }
        _ => value.to_string(),
    }
}

/// Writes bytes.
pub(super) fn bytes_text(bytes: &[u8], ty: Oid, escape: bool) -> String {
    if ty == Oid::MACADDR || ty == Oid::MACADDR8 {
        let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        return pairs.join(":");
    }
    if escape { escape_bytes(bytes) } else { hex_bytes(bytes) }
}

fn hex_bytes(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 + bytes.len() * 2);
    text.push_str("\\x");
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

fn escape_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            0x20..0x7f => text.push(*byte as char),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text
}
