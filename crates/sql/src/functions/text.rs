//! text: parts, positions, case, padding and trimming, by characters and not by bytes.

use super::arguments::Entry;
use super::int::out_of_range;
use crate::error::{Result, SqlError, code};

/// What PostgreSQL allocates at most for one value.
const BYTES_MAX: i64 = 0x3FFF_FFFF;

pub(super) fn negative_length() -> SqlError {
    SqlError::new(code::SUBSTRING_ERROR, "negative substring length not allowed")
}

fn too_large() -> SqlError {
    SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// How many characters, which always fits: a value has less than a gigabyte.
pub(super) fn length(text: &str) -> i32 {
    text.chars().count() as i32
}

/// The place in bytes of the character with this number, from 0; the end if there are fewer.
pub(super) fn offset(text: &str, characters: usize) -> usize {
    if text.is_ascii() {
        return characters.min(text.len());
    }
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// The range from `start` (1 is the first) of `length` items, where both may reach out of the
/// value: what is before the first item counts but is not there.
pub(super) fn window(start: i32, length: Option<i32>) -> Result<(usize, Option<usize>)> {
    let from = start.max(1);
    let skip = (from - 1) as usize;
    let Some(length) = length else {
        return Ok((skip, None));
    };
    if length < 0 {
        return Err(negative_length());
    }
    let Some(end) = start.checked_add(length) else {
        return Ok((skip, None));
    };
    Ok((skip, Some(end.saturating_sub(from).max(0) as usize)))
}

/// `substring(text from start for length)`.
pub(super) fn substring(text: &str, start: i32, length: Option<i32>) -> Result<&str> {
    let (skip, take) = window(start, length)?;
    let rest = &text[offset(text, skip)..];
    Ok(take.map_or(rest, |take| &rest[..offset(rest, take)]))
}

fn overlay(text: &str, part: &str, start: i32, length: i32) -> Result<String> {
    if start <= 0 {
        return Err(negative_length());
    }
    let behind = start.checked_add(length).ok_or_else(out_of_range::<i32>)?;
    let head = substring(text, 1, Some(start - 1))?;
    Ok(format!("{head}{part}{}", substring(text, behind, None)?))
}

/// Where a text is in another one, in characters from 1; 0 if it is not.
fn position(text: &str, part: &str) -> i32 {
    text.find(part).map_or(0, |at| length(&text[..at]) + 1)
}

fn left(text: &str, count: i32) -> &str {
    let count = if count < 0 { length(text).saturating_add(count).max(0) } else { count };
    &text[..offset(text, count as usize)]
}

fn right(text: &str, count: i32) -> &str {
    let skip =
        if count < 0 { count.wrapping_neg() } else { length(text).saturating_sub(count).max(0) };
    // The smallest integer has no opposite: nothing is skipped, as in PostgreSQL.
    &text[offset(text, skip.max(0) as usize)..]
}

fn simple(original: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => original,
    }
}

/// Case goes character by character: one that has no single counterpart stays what it is.
pub(super) fn lower_character(character: char) -> char {
    if character == 'İ' { 'i' } else { simple(character, character.to_lowercase()) }
}

fn upper_character(character: char) -> char {
    simple(character, character.to_uppercase())
}

/// `lower(text)`.
pub(super) fn lower(text: &str) -> String {
    text.chars().map(lower_character).collect()
}

fn upper(text: &str) -> String {
    text.chars().map(upper_character).collect()
}

/// Words are runs of letters and digits.
fn capitals(text: &str) -> String {
    let mut inside = false;
    let capital = |character: char| {
        let first = !std::mem::replace(&mut inside, character.is_alphanumeric());
        if first { upper_character(character) } else { lower_character(character) }
    };
    text.chars().map(capital).collect()
}

/// What of a text and what of a repeated filling make a text of this length.
fn padding(text: &str, wanted: i32, fill: &str) -> Result<(usize, String)> {
    // Without a filling the text can only become shorter.
    let wanted = i64::from(if fill.is_empty() { wanted.min(length(text)) } else { wanted }.max(0));
    // A character has up to four bytes, and a value a header of four.
    if wanted * 4 + 4 > BYTES_MAX {
        return Err(too_large());
    }
    let kept = offset(text, wanted as usize);
    let missing = wanted as usize - text[..kept].chars().count();
    Ok((kept, fill.chars().cycle().take(missing).collect()))
}

fn pad_left(text: &str, wanted: i32, fill: &str) -> Result<String> {
    let (kept, padding) = padding(text, wanted, fill)?;
    Ok(padding + &text[..kept])
}

fn pad_right(text: &str, wanted: i32, fill: &str) -> Result<String> {
    let (kept, padding) = padding(text, wanted, fill)?;
    Ok(text[..kept].to_owned() + &padding)
}

fn trim_left<'t>(text: &'t str, set: &str) -> &'t str {
    text.trim_start_matches(|c| set.contains(c))
}

fn trim_right<'t>(text: &'t str, set: &str) -> &'t str {
    text.trim_end_matches(|c| set.contains(c))
}

fn repeat(text: &str, count: i32) -> Result<String> {
    let count = i64::from(count.max(0));
    if text.len() as i64 * count + 4 > BYTES_MAX {
        return Err(too_large());
    }
    Ok(text.repeat(count as usize))
}

fn replace(text: &str, from: &str, to: &str) -> Result<String> {
    if from.is_empty() {
        return Ok(text.to_owned());
    }
    let grown = text.matches(from).count() as i64 * (to.len() as i64 - from.len() as i64);
    if text.len() as i64 + grown > BYTES_MAX {
        return Err(too_large());
    }
    Ok(text.replace(from, to))
}

/// Each character of `from` becomes the one at its place in `to`, or goes if there is none.
fn translate(text: &str, from: &str, to: &str) -> String {
    let map = |character| match from.chars().position(|c| c == character) {
        None => Some(character),
        Some(at) => to.chars().nth(at),
    };
    text.chars().filter_map(map).collect()
}

fn split_part<'t>(text: &'t str, separator: &str, field: i32) -> Result<&'t str> {
    if field == 0 {
        let message = "field position must not be zero";
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    let number = field.unsigned_abs() as usize - 1;
    let found = if separator.is_empty() {
        (number == 0).then_some(text)
    } else if field > 0 {
        text.split(separator).nth(number)
    } else {
        // Separators are found from the front also then: `aaa` by `aa` has the fields '' and 'a'.
        let count = text.split(separator).count();
        count.checked_sub(number + 1).and_then(|at| text.split(separator).nth(at))
    };
    Ok(found.unwrap_or(""))
}

fn ascii(text: &str) -> i32 {
    text.chars().next().map_or(0, |c| c as i32)
}

fn character(number: i32) -> Result<String> {
    let limit = |message| Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message));
    match number {
        0 => limit("null character not permitted".to_owned()),
        ..0 => {
            let message = "character number must be positive";
            Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message))
        }
        0x0011_0000.. => limit(format!("requested character too large for encoding: {number}")),
        _ => match char::from_u32(number as u32) {
            Some(character) => Ok(character.into()),
            None => limit(format!("requested character not valid for encoding: {number}")),
        },
    }
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "textcat", (a: &str, b: &str) => [a, b].concat();
    "textlen", (a: &str) => length(a);
    "bpcharlen", (a: &str) => length(a.trim_end_matches(' '));
    "textoctetlen", (a: &str) => a.len() as i32;
    "bpcharoctetlen", (a: &str) => a.len() as i32;
    "#1811", (a: &str) => a.len() as i32 * 8;
    "lower", (a: &str) => lower(a);
    "upper", (a: &str) => upper(a);
    "initcap", (a: &str) => capitals(a);
    "text_substr", (a: &str, start: i32, length: i32) => substring(a, start, Some(length));
    "text_substr_no_len", (a: &str, start: i32) => substring(a, start, None);
    "textoverlay", (a: &str, b: &str, start: i32, length: i32) => overlay(a, b, start, length);
    "textoverlay_no_len", (a: &str, b: &str, start: i32) => overlay(a, b, start, length(b));
    "textpos", (a: &str, b: &str) => position(a, b);
    "text_starts_with", (a: &str, b: &str) => a.starts_with(b);
    "text_left", (a: &str, count: i32) => left(a, count);
    "text_right", (a: &str, count: i32) => right(a, count);
    "text_reverse", (a: &str) => a.chars().rev().collect::<String>();
    "lpad", (a: &str, length: i32, fill: &str) => pad_left(a, length, fill);
    "rpad", (a: &str, length: i32, fill: &str) => pad_right(a, length, fill);
    "#879", (a: &str, length: i32) => pad_left(a, length, " ");
    "#880", (a: &str, length: i32) => pad_right(a, length, " ");
    "ltrim", (a: &str, set: &str) => trim_left(a, set);
    "rtrim", (a: &str, set: &str) => trim_right(a, set);
    "btrim", (a: &str, set: &str) => trim_left(trim_right(a, set), set);
    "ltrim1", (a: &str) => trim_left(a, " ");
    "rtrim1", (a: &str) => trim_right(a, " ");
    "btrim1", (a: &str) => trim_left(trim_right(a, " "), " ");
    "repeat", (a: &str, count: i32) => repeat(a, count);
    "replace_text", (a: &str, from: &str, to: &str) => replace(a, from, to);
    "translate", (a: &str, from: &str, to: &str) => translate(a, from, to);
    "split_part", (a: &str, separator: &str, field: i32) => split_part(a, separator, field);
    "ascii", (a: &str) => ascii(a);
    "chr", (a: i32) => character(a);
}];
