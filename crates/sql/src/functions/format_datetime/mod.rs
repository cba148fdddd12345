//! `to_char`, `to_date`, `to_timestamp` and `to_number`: values by a template.
//!
//! A template of dates is a list of [`template`] nodes that [`write`] goes through to make text and
//! [`read`] to take it apart; a template of numbers is in [`number`], written by [`number_write`]
//! and read by [`number_read`].

mod finish;
mod number;
mod number_read;
mod number_values;
mod number_write;
mod read;
mod template;
mod write;

use super::arguments::Entry;

/// The tables of all files here.
pub(super) const TABLES: &[&[Entry]] =
    &[finish::TABLE, number_read::TABLE, number_values::TABLE, write::TABLE];

/// The ending of a number: st, nd, rd or th.
fn ordinal(number: &str) -> &'static str {
    let digits = number.as_bytes();
    let last = digits.last().copied().unwrap_or(b'0');
    // Eleven to thirteen are no exceptions from `th`, and neither is any other -ten.
    if digits.len() > 1 && digits[digits.len() - 2] == b'1' {
        return "th";
    }
    match last {
        b'1' => "st",
        b'2' => "nd",
        b'3' => "rd",
        _ => "th",
    }
}
