//! Strings as they were before `standard_conforming_strings`: with that setting off, a backslash in
//! a plain string begins an escape. Such a string is given the `E` that says so.

use std::borrow::Cow;

/// The text with an `E` before each plain string that has a backslash.
pub fn with_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let (mut made, mut copied, mut at) = (String::with_capacity(text.len() + 8), 0, 0);
    while at < bytes.len() {
        let end = token_end(bytes, at);
        if bytes[at] == b'\'' && bytes[at..end].contains(&b'\\') && !is_prefixed(bytes, at) {
            made.push_str(&text[copied..at]);
            // A name before it, as in `date'…'`, stays a name.
            made.push_str(if at > 0 && is_letter(bytes[at - 1]) { " E" } else { "E" });
            copied = at;
        }
        at = end;
    }
    made.push_str(&text[copied..]);
    Cow::Owned(made)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether a string has a letter or `U&` before it that says what it is.
fn is_prefixed(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|it| bytes[it].to_ascii_lowercase());
    let alone = |back: usize| !before(back).is_some_and(is_letter);
    match before(1) {
        Some(b'e' | b'b' | b'x' | b'n') => alone(2),
        Some(b'&') => before(2) == Some(b'u') && alone(3),
        _ => false,
    }
}

/// Where what begins at a place ends: a string, a name in quotes, a comment or a single byte.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest[0] {
        b'\'' => string_end(bytes, at),
        b'"' => {
            at + 1 + rest[1..].iter().position(|it| *it == b'"').map_or(rest.len() - 1, |n| n + 1)
        }
        b'-' if rest.starts_with(b"--") => {
            at + rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len())
        }
        b'/' if rest.starts_with(b"/*") => comment_end(bytes, at),
        b'$' if at == 0 || !is_letter(bytes[at - 1]) => dollar_end(bytes, at),
        _ => at + 1,
    }
}

/// The end of a string in which a backslash keeps the next byte.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let is_plain = |at: usize| {
        matches!(at.checked_sub(1).map(|it| bytes[it].to_ascii_lowercase()), Some(b'b' | b'x'))
            && is_prefixed(bytes, at)
    };
    let escapes = !is_plain(start);
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a comment, in which there may be others.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The end of a string in dollars, or of the dollar alone.
fn dollar_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start + 1..];
    let length = rest.iter().take_while(|it| is_letter(**it)).count();
    let is_tag = rest.get(length) == Some(&b'$') && !rest[0].is_ascii_digit();
    if !is_tag {
        return start + 1;
    }
    let (tag, body) = (&bytes[start..start + length + 2], start + length + 2);
    let found = bytes[body..].windows(tag.len()).position(|it| it == tag);
    found.map_or(bytes.len(), |at| body + at + tag.len())
}

#[cfg(test)]
mod tests {
    use super::with_escapes;

    #[test]
    fn a_string_with_a_backslash_says_that_it_has_escapes() {
        for (text, made) in [
            (r"select 'a\n', 'b', E'\t'", r"select E'a\n', 'b', E'\t'"),
            (r"select 'it\'s', '\\'", r"select E'it\'s', E'\\'"),
            (r"select date'\x31'", r"select date E'\x31'"),
            (r#"select "a\b", $$a\n$$, $x$'\'$x$"#, r#"select "a\b", $$a\n$$, $x$'\'$x$"#),
            (r"/* '\ /* */ */ select 'a''\' -- '\", r"/* '\ /* */ */ select E'a''\' -- '\"),
            (r"select U&'\0041', b'1', $1", r"select U&'\0041', b'1', $1"),
        ] {
            assert_eq!(with_escapes(text), made);
        }
    }
}
