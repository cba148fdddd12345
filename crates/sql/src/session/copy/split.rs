//! Cuts what a client sends into rows, and rows into values.

use super::CopyFormat;
use crate::error::{Result, SqlError, code};

/// A value of a row: none is null, and whether it was quoted.
pub(super) type Value = Option<String>;

/// Where the first row of a text ends, and where the next one begins; none if it is not whole.
/// `is_last` says that nothing more will come.
pub(super) fn row_end(bytes: &[u8], format: &CopyFormat, is_last: bool) -> Option<(usize, usize)> {
    let (quote, escape) = (format.quote as u8, format.escape as u8);
    let mut quoted = false;
    let mut place = 0;
    while place < bytes.len() {
        let byte = bytes[place];
        if format.csv {
            if quoted && byte == escape && escape != quote {
                place += 2;
                continue;
            }
            if byte == quote {
                quoted = !quoted;
            }
        } else if byte == b'\\' {
            // `\.` alone is the end of the data, whatever follows.
            place += 2;
            continue;
        }
        if !quoted && byte == b'\n' {
            return Some((place, place + 1));
        }
        if !quoted && byte == b'\r' {
            match bytes.get(place + 1) {
                Some(b'\n') => return Some((place, place + 2)),
                Some(_) => return Some((place, place + 1)),
                None if is_last => return Some((place, place + 1)),
                None => return None,
            }
        }
        place += 1;
    }
    (is_last && !bytes.is_empty()).then_some((bytes.len(), bytes.len()))
}

/// The values of a row of text.
pub(super) fn text_values(line: &str, format: &CopyFormat) -> Vec<Value> {
    line.split_escaped(format.delimiter)
        .into_iter()
        .map(|raw| if raw == format.null { None } else { Some(unescaped(&raw)) })
        .collect()
}

trait SplitEscaped {
    fn split_escaped(&self, delimiter: char) -> Vec<String>;
}

impl SplitEscaped for str {
    fn split_escaped(&self, delimiter: char) -> Vec<String> {
        let mut parts = vec![String::new()];
        let mut characters = self.chars();
        while let Some(character) = characters.next() {
            if character == delimiter {
                parts.push(String::new());
                continue;
            }
            if let Some(part) = parts.last_mut() {
                part.push(character);
                if character == '\\'
                    && let Some(next) = characters.next()
                {
                    part.push(next);
                }
            }
        }
        parts
    }
}

/// What backslashes stand for.
fn unescaped(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut characters = raw.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(character) = characters.next() {
        if character != '\\' {
            bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let Some(next) = characters.next() else {
            bytes.push(b'\\');
            break;
        };
        match next {
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '0'..='7' => {
                let mut value = next as u32 - '0' as u32;
                for _ in 0..2 {
                    match characters.peek().and_then(|it| it.to_digit(8)) {
                        Some(digit) => {
                            value = value * 8 + digit;
                            characters.next();
                        }
                        None => break,
                    }
                }
                bytes.push(value as u8);
            }
            'x' if characters.peek().is_some_and(char::is_ascii_hexdigit) => {
                let mut value = 0;
                for _ in 0..2 {
                    match characters.peek().and_then(|it| it.to_digit(16)) {
                        Some(digit) => {
                            value = value * 16 + digit;
                            characters.next();
                        }
                        None => break,
                    }
                }
                bytes.push(value as u8);
            }
            other => bytes.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes()),
        }
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The values of a row of CSV.
pub(super) fn csv_values(line: &str, format: &CopyFormat, names: &[&str]) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    let mut characters = line.chars().peekable();
    let is_listed = |list: &[String], place: usize| {
        names.get(place).is_some_and(|name| list.iter().any(|it| it == name))
    };
    loop {
        let (mut value, mut was_quoted, mut quoted) = (String::new(), false, false);
        let mut ended = true;
        while let Some(character) = characters.next() {
            if quoted {
                let escapes = characters
                    .peek()
                    .is_some_and(|&next| next == format.quote || next == format.escape);
                if character == format.escape && escapes {
                    value.extend(characters.next());
                } else if character == format.quote {
                    quoted = false;
                } else {
                    value.push(character);
                }
            } else if character == format.delimiter {
                ended = false;
                break;
            } else if character == format.quote {
                (quoted, was_quoted) = (true, true);
            } else {
                value.push(character);
            }
        }
        if quoted {
            return Err(SqlError::new(code::BAD_COPY_FILE_FORMAT, "unterminated CSV quoted field"));
        }
        let place = values.len();
        let is_null = value == format.null
            && (!was_quoted || is_listed(&format.force_null, place))
            && !is_listed(&format.force_not_null, place);
        values.push(if is_null { None } else { Some(value) });
        if ended {
            return Ok(values);
        }
    }
}
