//! Which format is this? The content decides, never the name of the file.

use super::Format;
use super::text::{Line, Source, excerpt, significant_lines};
use crate::error::ReadError;

/// How many lines of a text are looked at before we give up.
const LINES_LOOKED_AT: usize = 1000;

/// The format of a content, if it looks like one that we know.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    significant_lines(bytes).take(LINES_LOOKED_AT).find_map(|line| of_line(&line))
}

fn of_line(line: &Line<'_>) -> Option<Format> {
    if is_plume(line.text) {
        return Some(Format::Plume);
    }
    None
}

/// `r(` or `w(`, perhaps with blanks between.
fn is_plume(text: &[u8]) -> bool {
    matches!(text, [b'r' | b'w', rest @ ..] if rest.trim_ascii_start().starts_with(b"("))
}

/// The error for a content in no format, which says what it looks like.
pub(super) fn unknown(bytes: &[u8], source: &Source) -> ReadError {
    let Some(first) = significant_lines(bytes).next() else {
        return source.no_transactions();
    };
    let detail = format!("line {} is {}", first.number, excerpt(first.text));
    ReadError::UnknownFormat { file: source.name.clone(), detail }
}
