//! Comparison of text, bpchar, name and "char" by bytes (the collation C), and casts among them.

use super::Call;
use super::arguments::Entry;
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, apply_typmod};
use std::cmp::Ordering;

/// How many bytes a name has at most.
const NAME_BYTES_MAX: usize = 63;
/// The modifier of the longest bpchar.
const MODIFIER_MAX: i32 = 10_485_760 + 4;

/// Blanks at the end of bpchar do not count.
fn padded(a: &str, b: &str) -> Ordering {
    a.trim_end_matches(' ').cmp(b.trim_end_matches(' '))
}

fn number(order: Ordering) -> i32 {
    order as i32
}

/// The beginning of a text that is short enough for a name.
pub(super) fn name(text: &str) -> &str {
    let end = (0..=NAME_BYTES_MAX.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

fn name_with_number(text: &str, number: u32) -> String {
    let suffix = format!("_{number}");
    let room = NAME_BYTES_MAX - suffix.len();
    let end = (0..=room.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    text[..end.unwrap_or(0)].to_owned() + &suffix
}

/// A text cut to the length of a modifier, or filled with blanks to it.
fn fitted(call: &Call<'_>, text: &str, modifier: i32, explicit: bool, ty: Oid) -> Result<Datum> {
    // No declaration allows more; only a call by name can ask for it.
    if ty == Oid::BPCHAR && modifier > MODIFIER_MAX {
        let message = format!("invalid memory alloc request size {modifier}");
        return Err(SqlError::internal(message));
    }
    apply_typmod(Datum::text(text), ty, modifier, explicit, call)
}

/// "char" is one byte, written as itself or, beyond ASCII, as a backslash and three octal digits.
fn char_of_number(value: i32) -> Result<String> {
    let out_of_range = || SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "\"char\" out of range");
    let byte = i8::try_from(value).map_err(|_| out_of_range())? as u8;
    Ok(match byte {
        0 => String::new(),
        1..0x80 => char::from(byte).into(),
        _ => format!("\\{byte:03o}"),
    })
}

fn char_byte(text: &str) -> u8 {
    let octal = text.strip_prefix('\\').filter(|digits| digits.len() == 3);
    let escaped = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
    escaped.unwrap_or_else(|| text.bytes().next().unwrap_or(0))
}

fn char_of_text(text: &str) -> String {
    let byte = char_byte(text);
    char_of_number((byte as i8).into()).unwrap_or_default()
}

fn larger<'t>(a: &'t str, b: &'t str, order: Ordering) -> &'t str {
    if order.is_gt() { a } else { b }
}

fn smaller<'t>(a: &'t str, b: &'t str, order: Ordering) -> &'t str {
    if order.is_lt() { a } else { b }
}

/// Comparisons whose names have the operator in the middle or an underscore before it.
macro_rules! spelled {
    ($before:literal, $behind:literal) => {
        comparisons!(
            concat!($before, "lt", $behind), concat!($before, "le", $behind),
            concat!($before, "eq", $behind), concat!($before, "ge", $behind),
            concat!($before, "gt", $behind), concat!($before, "ne", $behind);
            a: &str, b: &str => a.cmp(b)
        )
    };
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!(
        "text_lt", "text_le", "texteq", "text_ge", "text_gt", "textne";
        a: &str, b: &str => a.cmp(b)
    ),
    spelled!("name", ""),
    spelled!("name", "text"),
    spelled!("text", "name"),
    comparisons!("char"; a: &str, b: &str => char_byte(a).cmp(&char_byte(b))),
    comparisons!("bpchar"; a: &str, b: &str => padded(a, b)),
    functions! {
        "text_pattern_lt", (a: &str, b: &str) => a < b;
        "text_pattern_le", (a: &str, b: &str) => a <= b;
        "text_pattern_ge", (a: &str, b: &str) => a >= b;
        "text_pattern_gt", (a: &str, b: &str) => a > b;
        "bpchar_pattern_lt", (a: &str, b: &str) => padded(a, b).is_lt();
        "bpchar_pattern_le", (a: &str, b: &str) => padded(a, b).is_le();
        "bpchar_pattern_ge", (a: &str, b: &str) => padded(a, b).is_ge();
        "bpchar_pattern_gt", (a: &str, b: &str) => padded(a, b).is_gt();
        "bpcharcmp", (a: &str, b: &str) => number(padded(a, b));
        "text_larger", (a: &str, b: &str) => larger(a, b, a.cmp(b));
        "text_smaller", (a: &str, b: &str) => smaller(a, b, a.cmp(b));
        "bpchar_larger", (a: &str, b: &str) => larger(b, a, padded(b, a));
        "bpchar_smaller", (a: &str, b: &str) => smaller(b, a, padded(b, a));
        "bpchar", (a: &str, modifier: i32, explicit: bool) [call, _args] =>
            fitted(call, a, modifier, explicit, Oid::BPCHAR);
        "varchar", (a: &str, modifier: i32, explicit: bool) [call, _args] =>
            fitted(call, a, modifier, explicit, Oid::VARCHAR);
        "name_text", (a: &str) => a;
        "text_name", (a: &str) => name(a);
        "name_bpchar", (a: &str) => a;
        "bpchar_name", (a: &str) => name(a).trim_end_matches(' ');
        "nameconcatoid", (a: &str, b: u32) => name_with_number(a, b);
        "text_char", (a: &str) => char_of_text(a);
        "char_text", (a: &str) => a;
        "char_bpchar", (a: &str) => a;
        "chartoi4", (a: &str) => i32::from(char_byte(a) as i8);
        "i4tochar", (a: i32) => char_of_number(a);
    },
];
