//! bytea: parts, single bytes and bits, comparison, digests.

use super::arguments::Entry;
use super::int::out_of_range;
use super::text::{negative_length, window};
use crate::error::{Result, SqlError, code};
use sha2::Digest;

fn substring(bytes: &[u8], start: i32, length: Option<i32>) -> Result<&[u8]> {
    let (skip, take) = window(start, length)?;
    let rest = &bytes[skip.min(bytes.len())..];
    Ok(take.map_or(rest, |take| &rest[..take.min(rest.len())]))
}

fn overlay(bytes: &[u8], part: &[u8], start: i32, length: i32) -> Result<Vec<u8>> {
    if start <= 0 {
        return Err(negative_length());
    }
    let behind = start.checked_add(length).ok_or_else(out_of_range::<i32>)?;
    let head = substring(bytes, 1, Some(start - 1))?;
    Ok([head, part, substring(bytes, behind, None)?].concat())
}

fn position(bytes: &[u8], part: &[u8]) -> i32 {
    if part.is_empty() {
        return 1;
    }
    let found = bytes.windows(part.len()).position(|window| window == part);
    found.map_or(0, |at| at as i32 + 1)
}

fn trim_left<'b>(bytes: &'b [u8], set: &[u8]) -> &'b [u8] {
    let kept = bytes.iter().position(|byte| !set.contains(byte));
    &bytes[kept.unwrap_or(bytes.len())..]
}

fn trim_right<'b>(bytes: &'b [u8], set: &[u8]) -> &'b [u8] {
    let kept = bytes.iter().rposition(|byte| !set.contains(byte));
    &bytes[..kept.map_or(0, |at| at + 1)]
}

/// An index that is there, or PostgreSQL's complaint about it.
fn place(index: i64, count: i64) -> Result<usize> {
    if (0..count).contains(&index) {
        return Ok(index as usize);
    }
    let message = format!("index {index} out of valid range, 0..{}", count - 1);
    Err(SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message))
}

fn get_byte(bytes: &[u8], index: i32) -> Result<i32> {
    Ok(bytes[place(index.into(), bytes.len() as i64)?].into())
}

fn set_byte(bytes: &[u8], index: i32, value: i32) -> Result<Vec<u8>> {
    let index = place(index.into(), bytes.len() as i64)?;
    let mut bytes = bytes.to_vec();
    bytes[index] = value as u8;
    Ok(bytes)
}

fn get_bit(bytes: &[u8], index: i64) -> Result<i32> {
    let index = place(index, bytes.len() as i64 * 8)?;
    Ok((bytes[index / 8] >> (index % 8) & 1).into())
}

fn set_bit(bytes: &[u8], index: i64, value: i32) -> Result<Vec<u8>> {
    let index = place(index, bytes.len() as i64 * 8)?;
    if value != 0 && value != 1 {
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
    }
    let mut bytes = bytes.to_vec();
    let mask = 1 << (index % 8);
    bytes[index / 8] = bytes[index / 8] & !mask | (value as u8) << (index % 8);
    Ok(bytes)
}

/// The difference of the first bytes that differ, as C's `memcmp` returns it; else the order of
/// the lengths.
pub(super) fn difference(a: &[u8], b: &[u8]) -> i32 {
    let differing = a.iter().zip(b).find(|(a, b)| a != b);
    differing.map_or(a.len().cmp(&b.len()) as i32, |(a, b)| i32::from(*a) - i32::from(*b))
}

fn bit_count(bytes: &[u8]) -> i64 {
    bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()
}

fn md5(bytes: &[u8]) -> String {
    super::encoding::hex(&md5::Md5::digest(bytes))
}

fn digest<D: Digest>(bytes: &[u8]) -> Vec<u8> {
    D::digest(bytes).to_vec()
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("bytea"; a: &[u8], b: &[u8] => a.cmp(b)),
    functions! {
        "byteacmp", (a: &[u8], b: &[u8]) => difference(a, b);
        "byteacat", (a: &[u8], b: &[u8]) => [a, b].concat();
        "byteaoctetlen", (a: &[u8]) => a.len() as i32;
        "#1810", (a: &[u8]) => a.len() as i32 * 8;
        "bytea_substr", (a: &[u8], start: i32, length: i32) => substring(a, start, Some(length));
        "bytea_substr_no_len", (a: &[u8], start: i32) => substring(a, start, None);
        "byteaoverlay", (a: &[u8], b: &[u8], start: i32, length: i32) =>
            overlay(a, b, start, length);
        "byteaoverlay_no_len", (a: &[u8], b: &[u8], start: i32) =>
            overlay(a, b, start, b.len() as i32);
        "byteapos", (a: &[u8], b: &[u8]) => position(a, b);
        "byteatrim", (a: &[u8], set: &[u8]) => trim_left(trim_right(a, set), set);
        "bytealtrim", (a: &[u8], set: &[u8]) => trim_left(a, set);
        "byteartrim", (a: &[u8], set: &[u8]) => trim_right(a, set);
        "byteaGetByte", (a: &[u8], index: i32) => get_byte(a, index);
        "byteaSetByte", (a: &[u8], index: i32, value: i32) => set_byte(a, index, value);
        "byteaGetBit", (a: &[u8], index: i64) => get_bit(a, index);
        "byteaSetBit", (a: &[u8], index: i64, value: i32) => set_bit(a, index, value);
        "bytea_bit_count", (a: &[u8]) => bit_count(a);
        "md5_text", (a: &str) => md5(a.as_bytes());
        "md5_bytea", (a: &[u8]) => md5(a);
        "sha224_bytea", (a: &[u8]) => digest::<sha2::Sha224>(a);
        "sha256_bytea", (a: &[u8]) => digest::<sha2::Sha256>(a);
        "sha384_bytea", (a: &[u8]) => digest::<sha2::Sha384>(a);
        "sha512_bytea", (a: &[u8]) => digest::<sha2::Sha512>(a);
    },
];
