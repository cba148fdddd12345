//! bit and varbit: strings of bits, kept as the digits that they are written with.

use super::arguments::{Argument, Entry, Outcome};
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, apply_typmod};
use std::sync::Arc;

/// The digits of a string of bits.
#[derive(Clone, Copy)]
struct Bits<'a>(&'a str);

/// A string of bits as a result.
struct NewBits(String);

impl<'a> Argument<'a> for Bits<'a> {
    fn take(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Bits(bits) => Some(Bits(bits)),
            _ => None,
        }
    }
}

impl Outcome for NewBits {
    fn datum(self) -> Result<Datum> {
        Ok(Datum::Bits(Arc::from(self.0)))
    }
}

impl Bits<'_> {
    fn len(self) -> usize {
        self.0.len()
    }

    fn is_set(self, at: usize) -> bool {
        self.0.as_bytes().get(at) == Some(&b'1')
    }

    fn cmp(self, other: Bits<'_>) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

fn digits(bits: impl Iterator<Item = bool>) -> NewBits {
    NewBits(bits.map(|bit| if bit { '1' } else { '0' }).collect())
}

fn combine(a: Bits<'_>, b: Bits<'_>, verb: &str, op: fn(bool, bool) -> bool) -> Result<NewBits> {
    if a.len() != b.len() {
        let message = format!("cannot {verb} bit strings of different sizes");
        return Err(SqlError::new("22026", message));
    }
    Ok(digits((0..a.len()).map(|at| op(a.is_set(at), b.is_set(at)))))
}

/// Shifts to the left, or to the right if negative; the length stays.
fn shifted(a: Bits<'_>, by: i64) -> NewBits {
    let source = |at: usize| usize::try_from(at as i64 + by).ok();
    digits((0..a.len()).map(|at| source(at).is_some_and(|at| a.is_set(at))))
}

fn negative_length() -> SqlError {
    SqlError::new(code::SUBSTRING_ERROR, "negative substring length not allowed")
}

/// A piece from a position that is counted from 1; without a length to the end.
fn piece(a: Bits<'_>, start: i64, length: Option<i64>) -> Result<NewBits> {
    let end = match length {
        Some(length) if length < 0 => return Err(negative_length()),
        Some(length) => start + length,
        None => i64::MAX,
    };
    let size = a.len() as i64;
    let from = (start.max(1) - 1).min(size);
    let to = (end - 1).clamp(from, size);
    Ok(NewBits(a.0[from as usize..to as usize].into()))
}

fn overlay(a: Bits<'_>, new: Bits<'_>, start: i32, length: i64) -> Result<NewBits> {
    if start <= 0 {
        return Err(negative_length());
    }
    let start = i64::from(start);
    let behind = i32::try_from(start + length)
        .map_err(|_| SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"))?;
    let before = piece(a, 1, Some(start - 1))?.0;
    let rest = piece(a, i64::from(behind), None)?.0;
    Ok(NewBits(format!("{before}{}{rest}", new.0)))
}

fn position(wanted: Bits<'_>, a: Bits<'_>) -> i32 {
    if a.len() == 0 {
        return 0;
    }
    a.0.find(wanted.0).map_or(0, |at| at as i32 + 1)
}

fn check_index(a: Bits<'_>, index: i32) -> Result<usize> {
    let at = usize::try_from(index).ok().filter(|at| *at < a.len());
    at.ok_or_else(|| {
        let last = a.len() as i64 - 1;
        let message = format!("bit index {index} out of valid range (0..{last})");
        SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message)
    })
}

fn with_bit(a: Bits<'_>, index: i32, bit: i32) -> Result<NewBits> {
    let at = check_index(a, index)?;
    if bit != 0 && bit != 1 {
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
    }
    Ok(digits((0..a.len()).map(|place| if place == at { bit == 1 } else { a.is_set(place) })))
}

/// The last bits of a number, its sign repeated in front.
fn from_integer(value: i64, typmod: i32) -> NewBits {
    let length = if typmod <= 0 { 1 } else { typmod as usize };
    let bit = |place: usize| value >> (length - 1 - place).min(63) & 1 == 1;
    digits((0..length).map(bit))
}

fn to_integer(a: Bits<'_>, width: usize, ty: &str) -> Result<u64> {
    if a.len() > width {
        let message = format!("{ty} out of range");
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    Ok((0..a.len()).fold(0, |value, at| value << 1 | u64::from(a.is_set(at))))
}

/// The order as a number: the difference of the first bytes that differ.
fn difference(a: Bits<'_>, b: Bits<'_>) -> i32 {
    let byte = |bits: Bits<'_>, at: usize| {
        (0..8).fold(0, |byte, bit| byte << 1 | i32::from(bits.is_set(at * 8 + bit)))
    };
    let shared = a.len().min(b.len()).div_ceil(8);
    let differences = (0..shared).map(|at| byte(a, at) - byte(b, at));
    let found = differences.into_iter().find(|difference| *difference != 0);
    found.unwrap_or(a.len().cmp(&b.len()) as i32)
}

fn count(a: Bits<'_>) -> i64 {
    a.0.bytes().filter(|digit| *digit == b'1').count() as i64
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("bit"; a: Bits<'_>, b: Bits<'_> => a.cmp(b)),
    functions! {
        "bitcmp", (a: Bits<'_>, b: Bits<'_>) => difference(a, b);
        "bit_and", (a: Bits<'_>, b: Bits<'_>) => combine(a, b, "AND", |a, b| a && b);
        "bit_or", (a: Bits<'_>, b: Bits<'_>) => combine(a, b, "OR", |a, b| a || b);
        "bitxor", (a: Bits<'_>, b: Bits<'_>) => combine(a, b, "XOR", |a, b| a != b);
        "bitnot", (a: Bits<'_>) => digits((0..a.len()).map(|at| !a.is_set(at)));
        "bitshiftleft", (a: Bits<'_>, by: i32) => shifted(a, i64::from(by));
        "bitshiftright", (a: Bits<'_>, by: i32) => shifted(a, -i64::from(by));
        "bitcat", (a: Bits<'_>, b: Bits<'_>) => NewBits(format!("{}{}", a.0, b.0));
        "bitsubstr", (a: Bits<'_>, start: i32, length: i32) =>
            piece(a, i64::from(start), Some(i64::from(length)));
        "bitsubstr_no_len", (a: Bits<'_>, start: i32) => piece(a, i64::from(start), None);
        "bitoverlay", (a: Bits<'_>, new: Bits<'_>, start: i32, length: i32) =>
            overlay(a, new, start, i64::from(length));
        "bitoverlay_no_len", (a: Bits<'_>, new: Bits<'_>, start: i32) =>
            overlay(a, new, start, new.len() as i64);
        "bitposition", (a: Bits<'_>, wanted: Bits<'_>) => position(wanted, a);
        "bitlength", (a: Bits<'_>) => a.len() as i32;
        "#1812", (a: Bits<'_>) => a.len() as i32;
        "bitoctetlength", (a: Bits<'_>) => a.len().div_ceil(8) as i32;
        "bit_bit_count", (a: Bits<'_>) => count(a);
        "bitgetbit", (a: Bits<'_>, index: i32) =>
            check_index(a, index).map(|at| i32::from(a.is_set(at)));
        "bitsetbit", (a: Bits<'_>, index: i32, bit: i32) => with_bit(a, index, bit);
        "bitfromint4", (value: i32, typmod: i32) => from_integer(i64::from(value), typmod);
        "bitfromint8", (value: i64, typmod: i32) => from_integer(value, typmod);
        "bittoint4", (a: Bits<'_>) => to_integer(a, 32, "integer").map(|bits| bits as u32 as i32);
        "bittoint8", (a: Bits<'_>) => to_integer(a, 64, "bigint").map(|bits| bits as i64);
        "bit", (a: &Datum, typmod: i32, explicit: bool) [call, _all] =>
            apply_typmod(a.clone(), Oid::BIT, typmod, explicit, call);
        "varbit", (a: &Datum, typmod: i32, explicit: bool) [call, _all] =>
            apply_typmod(a.clone(), Oid::VARBIT, typmod, explicit, call);
    },
];
