//! Where in an application a statement was sent, as the client says in a comment.

/// What the last comment of a statement says, in the words of the client; values as sqlcommenter
/// writes them (`route='%2Fbuy',file='a\'s'`) as they were.
pub fn sent_by(text: &str) -> Option<String> {
    let comment = text.trim_end().trim_end_matches(';').trim_end().strip_suffix("*/")?;
    let comment = &comment[comment.rfind("/*")? + 2..];
    let words = comment.trim();
    (!words.is_empty()).then(|| decoded(words))
}

/// Without the escapes of quotes and of URLs.
fn decoded(text: &str) -> String {
    let (bytes, mut plain) = (text.as_bytes(), Vec::with_capacity(text.len()));
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let (next, length) = match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (b'\\', Some(&quote @ (b'\'' | b'"')), _) => (quote, 2),
            (b'%', Some(&high), Some(&low)) => match (digit(high), digit(low)) {
                (Some(high), Some(low)) => (high * 16 + low, 3),
                _ => (byte, 1),
            },
            _ => (byte, 1),
        };
        plain.push(next);
        at += length;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_of_sqlcommenter_is_read() {
        let sent = "SELECT 1 /*action='%2Fbuy%3Fitem%3D7',file='it\\'s%20%C3%A4.py%3A12'*/;";
        let expected = "action='/buy?item=7',file='it's \u{e4}.py:12'";
        assert_eq!(sent_by(sent).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(
            sent_by("SELECT 1 /* 100% sure, a\\b %zz */").as_deref(),
            Some("100% sure, a\\b %zz")
        );
        assert_eq!(sent_by("SELECT 1 /* */"), None);
        assert_eq!(sent_by("/* first */ SELECT 1"), None);
    }
}
