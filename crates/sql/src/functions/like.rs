//! LIKE: `%` is any text, `_` any character, a backslash takes the meaning from the next one.
//!
//! A mismatch goes back to the last `%` only: what an earlier one could give up, the last one can
//! skip. So a match takes time proportional to the product of the two lengths.

use super::arguments::Entry;
use super::text::lower;
use crate::error::{Result, SqlError, code};

fn invalid_escape(message: &str) -> SqlError {
    SqlError::new(code::INVALID_ESCAPE_SEQUENCE, message)
}

/// What stands at one place of a pattern.
enum Item<T> {
    /// Any text.
    Any,
    /// Any one character.
    One,
    /// This character.
    Exactly(T),
}

/// A unit of text: a character, or a byte of bytea.
trait Unit: Copy + PartialEq {
    fn is(self, ascii: u8) -> bool;
}

impl Unit for char {
    fn is(self, ascii: u8) -> bool {
        self == char::from(ascii)
    }
}

impl Unit for u8 {
    fn is(self, ascii: u8) -> bool {
        self == ascii
    }
}

/// The item at a place of the pattern, and the place behind it.
fn item<T: Unit>(pattern: &[T], at: usize) -> Result<(Item<T>, usize)> {
    let unit = pattern[at];
    if unit.is(b'%') {
        return Ok((Item::Any, at + 1));
    }
    if unit.is(b'_') {
        return Ok((Item::One, at + 1));
    }
    if !unit.is(b'\\') {
        return Ok((Item::Exactly(unit), at + 1));
    }
    let escaped = pattern.get(at + 1).copied();
    let escaped =
        escaped.ok_or_else(|| invalid_escape("LIKE pattern must not end with escape character"))?;
    Ok((Item::Exactly(escaped), at + 2))
}

fn matches<T: Unit>(text: &[T], pattern: &[T]) -> Result<bool> {
    let (mut t, mut p) = (0, 0);
    // Behind the last `%`, and how far the text is that it stands for.
    let mut last: Option<(usize, usize)> = None;
    while t < text.len() {
        let next = if p < pattern.len() { Some(item(pattern, p)?) } else { None };
        match next {
            Some((Item::Any, behind)) => {
                p = behind;
                last = Some((p, t));
                continue;
            }
            Some((Item::One, behind)) => {
                p = behind;
                t += 1;
                continue;
            }
            Some((Item::Exactly(unit), behind)) if unit == text[t] => {
                p = behind;
                t += 1;
                continue;
            }
            _ => {}
        }
        let Some((behind, skipped)) = last else {
            return Ok(false);
        };
        p = behind;
        t = skipped + 1;
        last = Some((behind, t));
    }
    Ok(pattern[p..].iter().all(|unit| unit.is(b'%')))
}

/// `text LIKE pattern`.
pub(super) fn like(text: &str, pattern: &str) -> Result<bool> {
    if text.is_ascii() && pattern.is_ascii() {
        return matches(text.as_bytes(), pattern.as_bytes());
    }
    let text: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    matches(&text, &pattern)
}

fn like_any_case(text: &str, pattern: &str) -> Result<bool> {
    like(&lower(text), &lower(pattern))
}

/// The pattern with backslashes for another escape character.
fn escaped<T: Unit>(pattern: &[T], escape: &[T], backslash: T) -> Result<Vec<T>> {
    let escape = match escape {
        [] => None,
        [one] if one.is(b'\\') => return Ok(pattern.to_vec()),
        [one] => Some(*one),
        _ => {
            let hint = "Escape string must be empty or one character.";
            return Err(invalid_escape("invalid escape string").hint(hint));
        }
    };
    let mut result = Vec::with_capacity(pattern.len());
    let mut behind_escape = false;
    for &unit in pattern {
        if Some(unit) == escape && !behind_escape {
            result.push(backslash);
            behind_escape = true;
            continue;
        }
        if unit.is(b'\\') && !behind_escape {
            result.push(backslash);
        }
        result.push(unit);
        behind_escape = false;
    }
    Ok(result)
}

fn like_escape(pattern: &str, escape: &str) -> Result<String> {
    let pattern: Vec<char> = pattern.chars().collect();
    let escape: Vec<char> = escape.chars().collect();
    Ok(escaped(&pattern, &escape, '\\')?.into_iter().collect())
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "textlike", (a: &str, b: &str) => like(a, b);
    "textnlike", (a: &str, b: &str) => like(a, b).map(|m| !m);
    "namelike", (a: &str, b: &str) => like(a, b);
    "namenlike", (a: &str, b: &str) => like(a, b).map(|m| !m);
    "texticlike", (a: &str, b: &str) => like_any_case(a, b);
    "texticnlike", (a: &str, b: &str) => like_any_case(a, b).map(|m| !m);
    "nameiclike", (a: &str, b: &str) => like_any_case(a, b);
    "nameicnlike", (a: &str, b: &str) => like_any_case(a, b).map(|m| !m);
    "bytealike", (a: &[u8], b: &[u8]) => matches(a, b);
    "byteanlike", (a: &[u8], b: &[u8]) => matches(a, b).map(|m| !m);
    "like_escape", (a: &str, b: &str) => like_escape(a, b);
    "like_escape_bytea", (a: &[u8], b: &[u8]) => escaped(a, b, b'\\');
}];
