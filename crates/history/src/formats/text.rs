//! What the readers of text formats share: lines, integers, and errors with a place.

use crate::atom::Atom;
use crate::error::{ReadError, Spot};
use std::sync::Arc;

/// The problem of an input without any transaction.
pub(crate) const NO_TRANSACTIONS: &str = "no transactions";
/// What to do about it.
pub(crate) const RIGHT_FILE: &str = "is this the right file, and did the recording finish?";

/// A file under its name, for errors.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// As the user named it.
    pub name: Arc<str>,
}

impl Source {
    pub fn new(name: &str) -> Source {
        Source { name: name.into() }
    }

    /// An error at a line and column (both from 1).
    pub fn at(&self, line: u64, column: usize, problem: impl Into<String>) -> ReadError {
        self.at_with_hint(line, column, problem, None)
    }

    /// An error at a line and column, and what to do about it.
    pub fn at_with_hint(
        &self,
        line: u64,
        column: usize,
        problem: impl Into<String>,
        hint: Option<String>,
    ) -> ReadError {
        let spot = Spot {
            file: Some(self.name.clone()),
            line: Some(line),
            column: (column > 0).then_some(column as u64),
            byte: None,
        };
        ReadError::Syntax { spot, problem: problem.into(), hint }
    }

    /// An error at a byte (from 0) of a binary file.
    pub fn at_byte(&self, byte: usize, problem: impl Into<String>) -> ReadError {
        let spot =
            Spot { file: Some(self.name.clone()), byte: Some(byte as u64), ..Spot::default() };
        ReadError::Syntax { spot, problem: problem.into(), hint: None }
    }

    /// The error for a file that follows its format but has no transaction.
    pub fn no_transactions(&self) -> ReadError {
        let spot = Spot { file: Some(self.name.clone()), ..Spot::default() };
        ReadError::Syntax {
            spot,
            problem: NO_TRANSACTIONS.to_owned(),
            hint: Some(RIGHT_FILE.to_owned()),
        }
    }
}

/// A line without its surrounding blanks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// How many bytes stood before `text` in the line.
    pub indent: usize,
    /// The content.
    pub text: &'a [u8],
}

impl Line<'_> {
    /// The column of byte `at` of `text`.
    pub fn column(&self, at: usize) -> usize {
        self.indent + at + 1
    }
}

/// The lines of a text that are neither blank nor comments (`#` or `//`).
pub(crate) fn significant_lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    without_bom(bytes).split(|&byte| byte == b'\n').enumerate().filter_map(|(i, raw)| {
        let text = raw.trim_ascii_start();
        let line = Line {
            number: i as u64 + 1,
            indent: raw.len() - text.len(),
            text: text.trim_ascii_end(),
        };
        (!line.text.is_empty() && !is_comment(line.text)).then_some(line)
    })
}

/// Whether a trimmed line is a comment.
pub(crate) fn is_comment(text: &[u8]) -> bool {
    text.starts_with(b"#") || text.starts_with(b"//")
}

/// The text behind a byte order mark.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The beginning of some text, for messages: short, on one line, and safe to print.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let shown = &line[..line.len().min(LONGEST)];
    let dots = if line.len() > LONGEST { "…" } else { "" };
    if shown.is_empty() {
        return "the end of the line".to_owned();
    }
    let safe: String = String::from_utf8_lossy(shown).chars().map(visible).collect();
    format!("`{safe}{dots}`")
}

/// A character as it stands in the file, unless it could steer a terminal. Quotes stay as they are:
/// they are part of what was found.
fn visible(character: char) -> String {
    match character {
        '"' | '\'' | '\\' => character.to_string(),
        other => other.escape_debug().to_string(),
    }
}

/// The key that a text names where nothing says whether it is a number.
pub(crate) fn key_atom(text: &str) -> Atom {
    // Only what prints the same again is a number: `007` is a name.
    match integer(text.as_bytes()) {
        Ok(number) if number.to_string() == text => Atom::Int(number),
        _ => Atom::Str(text.into()),
    }
}

/// Why some digits are not an integer that we take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BadInteger {
    /// There is no digit.
    NoDigit,
    /// It is below the least `i64` or above the largest `u64`.
    DoesNotFit,
}

impl BadInteger {
    /// What is wrong, in words: `what` is the thing that should be there, `rest` what is there.
    pub fn problem(self, what: &str, rest: &[u8]) -> String {
        match self {
            BadInteger::NoDigit => format!("expected {what} (an integer), found {}", excerpt(rest)),
            BadInteger::DoesNotFit => {
                format!("{what} {} does not fit into 64 bits", excerpt(digits_of(rest)))
            }
        }
    }
}

fn digits_of(text: &[u8]) -> &[u8] {
    let sign = usize::from(text.first().is_some_and(|&byte| byte == b'-' || byte == b'+'));
    let digits = text[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    &text[..sign + digits]
}

/// An integer at the start of `text`, and how many bytes it takes.
pub(crate) fn integer_prefix(text: &[u8]) -> Result<(i128, usize), BadInteger> {
    let digits = digits_of(text);
    let (negative, magnitude) = match digits {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if magnitude.is_empty() {
        return Err(BadInteger::NoDigit);
    }
    let mut number = 0i128;
    for &digit in magnitude {
        number = number * 10 + i128::from(digit - b'0');
        if number > i128::from(u64::MAX) {
            return Err(BadInteger::DoesNotFit);
        }
    }
    let number = if negative { -number } else { number };
    if number < i128::from(i64::MIN) {
        return Err(BadInteger::DoesNotFit);
    }
    Ok((number, digits.len()))
}

/// `text` as an integer, all of it.
pub(crate) fn integer(text: &[u8]) -> Result<i128, BadInteger> {
    match integer_prefix(text)? {
        (number, len) if len == text.len() => Ok(number),
        _ => Err(BadInteger::NoDigit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_the_range_of_both_signed_and_unsigned_words() {
        assert_eq!(integer(b"18446744073709551615"), Ok(i128::from(u64::MAX)));
        assert_eq!(integer(b"-9223372036854775808"), Ok(i128::from(i64::MIN)));
        assert_eq!(integer(b"18446744073709551616"), Err(BadInteger::DoesNotFit));
        assert_eq!(integer(b"-9223372036854775809"), Err(BadInteger::DoesNotFit));
        assert_eq!(integer(b"1x"), Err(BadInteger::NoDigit));
        assert_eq!(integer(b"-"), Err(BadInteger::NoDigit));
        assert_eq!(integer_prefix(b"+7,"), Ok((7, 2)));
    }

    #[test]
    fn blank_lines_comments_and_carriage_returns_are_passed_over() {
        let lines: Vec<_> =
            significant_lines(b"\xef\xbb\xbf# a\r\n\r\n  x y \r\n// b\nz").collect();
        assert_eq!(
            lines.iter().map(|line| (line.number, line.text)).collect::<Vec<_>>(),
            [(3, &b"x y"[..]), (5, &b"z"[..])]
        );
        assert_eq!(lines[0].column(0), 3);
    }

    #[test]
    fn an_excerpt_shows_what_stands_there_and_steers_no_terminal() {
        assert_eq!(excerpt(b"{\"a\": 'b\\n'}\nnext"), "`{\"a\": 'b\\n'}`");
        assert_eq!(excerpt(b"\x1b[31m\t"), "`\\u{1b}[31m`");
    }
}
