//! `_binary'…'` with bytes that are no text: drivers write bytes so. They are written in
//! hexadecimal digits before the statement is read as text.

const PREFIX: &[u8] = b"_binary";

/// A statement in which bytes behind `_binary` are hexadecimal digits.
pub(super) fn written_as_hex(text: &[u8]) -> Vec<u8> {
    if !text.windows(PREFIX.len()).any(|part| part.eq_ignore_ascii_case(PREFIX)) {
        return text.to_vec();
    }
    let mut made = Vec::with_capacity(text.len());
    let mut place = 0;
    while place < text.len() {
        let rest = &text[place..];
        let is_free = place == 0 || !is_part_of_name(text[place - 1]);
        if let Some((bytes, length)) = literal(rest).filter(|_| is_free) {
            made.extend_from_slice(b"x'");
            bytes.iter().for_each(|byte| made.extend_from_slice(format!("{byte:02x}").as_bytes()));
            made.push(b'\'');
            place += length;
        } else if let quote @ (b'\'' | b'"' | b'`') = rest[0] {
            let length = quoted(rest, quote).map_or(rest.len(), |(_, length)| length);
            made.extend_from_slice(&rest[..length]);
            place += length;
        } else {
            made.push(rest[0]);
            place += 1;
        }
    }
    made
}

fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// The bytes of a literal behind `_binary`, and how long all that is.
fn literal(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    if !text.get(..PREFIX.len())?.eq_ignore_ascii_case(PREFIX) {
        return None;
    }
    let spaces = text[PREFIX.len()..].iter().take_while(|byte| **byte == b' ').count();
    let start = PREFIX.len() + spaces;
    let quote = *text.get(start)?;
    if !matches!(quote, b'\'' | b'"') {
        return None;
    }
    let (bytes, length) = quoted(&text[start..], quote)?;
    Some((bytes, start + length))
}

/// What stands in quotes, and how long that is with them.
fn quoted(text: &[u8], quote: u8) -> Option<(Vec<u8>, usize)> {
    let (mut made, mut place) = (Vec::new(), 1);
    loop {
        let byte = *text.get(place)?;
        if byte == b'\\' && quote != b'`' {
            made.push(unescaped(*text.get(place + 1)?));
            place += 2;
        } else if byte == quote && text.get(place + 1) == Some(&quote) {
            made.push(quote);
            place += 2;
        } else if byte == quote {
            return Some((made, place + 1));
        } else {
            made.push(byte);
            place += 1;
        }
    }
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::written_as_hex;

    #[test]
    fn bytes_become_digits_and_texts_stay() {
        let found = written_as_hex(b"INSERT INTO t VALUES (_binary'\xff\\0\\'', '_binary''x')");
        assert_eq!(found, b"INSERT INTO t VALUES (x'ff0027', '_binary''x')");
        assert_eq!(written_as_hex(b"SELECT my_binary 'a'"), b"SELECT my_binary 'a'");
    }
}
