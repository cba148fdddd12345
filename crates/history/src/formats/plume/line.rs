//! One line of register text, two ways: a quick one for the usual line, a careful one for
//! everything else.
//!
//! The quick way takes exactly `r(1,2,3,4)` and a line feed, with numbers of at most 15 digits, and
//! says "not mine" to anything else. The careful way knows blanks, comments, signs and large
//! numbers, and what to complain about; it defines the language, of which the quick way's is a
//! part.

use crate::formats::text::{BadInteger, excerpt, integer_prefix, is_comment};
use crate::model::OpKind;

/// What a line says: kind, and key, value, session and transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields<N> {
    pub kind: OpKind,
    pub key: N,
    pub value: N,
    pub session: N,
    pub txn: N,
}

/// A mistake in a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Byte of the line, from 0.
    pub at: usize,
    pub problem: String,
}

/// Reads the usual line that starts at `at`; returns what it says and where the next line starts.
#[inline(always)]
pub(super) fn quick(bytes: &[u8], at: usize) -> Option<(Fields<u64>, usize)> {
    let kind = match bytes.get(at..at + 2)? {
        b"r(" => OpKind::Read,
        b"w(" => OpKind::Write,
        _ => return None,
    };
    let (key, at) = quick_number(bytes, at + 2, b',')?;
    let (value, at) = quick_number(bytes, at, b',')?;
    let (session, at) = quick_number(bytes, at, b',')?;
    let (txn, at) = quick_number(bytes, at, b')')?;
    let fields = Fields { kind, key, value, session, txn };
    (*bytes.get(at)? == b'\n').then_some((fields, at + 1))
}

/// Up to 15 digits and the byte behind them.
#[inline(always)]
fn quick_number(bytes: &[u8], at: usize, end: u8) -> Option<(u64, usize)> {
    let (mut number, mut len) = eight_digits(bytes, at)?;
    if len == 8 {
        let (more, more_len) = eight_digits(bytes, at + 8)?;
        if more_len == 8 {
            return None;
        }
        number = number * 10u64.pow(more_len as u32) + more;
        len += more_len;
    }
    if len == 0 || *bytes.get(at + len)? != end {
        return None;
    }
    Some((number, at + len + 1))
}

/// The number that the first digits of the next eight bytes make, and how many they are, without a
/// loop: the digits move to the high end of a word, then neighbours are joined to pairs, and pairs
/// to the number.
#[inline(always)]
fn eight_digits(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    let digits = word ^ (ONES * 0x30);
    let not_digit = (((digits & (ONES * 0x7f)) + ONES * 0x76) | digits) & (ONES * 0x80);
    let len = (not_digit.trailing_zeros() / 8) as usize;
    if len == 0 {
        return Some((0, 0));
    }
    let aligned = digits << (64 - 8 * len);
    let pairs = aligned.wrapping_mul(10).wrapping_add(aligned >> 8);
    const EVEN: u64 = 0x0000_00ff_0000_00ff;
    let high = (pairs & EVEN).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & EVEN).wrapping_mul(1 + (10_000 << 32));
    Some((high.wrapping_add(low) >> 32, len))
}

/// Reads any line (without its line feed); `None` if it is blank or a comment.
#[cold]
pub(super) fn careful(line: &[u8]) -> Result<Option<Fields<i128>>, Mistake> {
    let indent = line.len() - line.trim_ascii_start().len();
    let text = line.trim_ascii();
    if text.is_empty() || is_comment(text) {
        return Ok(None);
    }
    let mut cursor = Cursor { text, at: 0 };
    cursor.fields().map(Some).map_err(|problem| Mistake { at: indent + cursor.at, problem })
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn fields(&mut self) -> Result<Fields<i128>, String> {
        let kind = self.kind()?;
        self.expect(b'(')?;
        let key = self.number("a key")?;
        self.expect(b',')?;
        let value = self.number("a value")?;
        self.expect(b',')?;
        let session = self.number("a session")?;
        self.expect(b',')?;
        let txn = self.number("a transaction")?;
        self.expect(b')')?;
        self.end()?;
        Ok(Fields { kind, key, value, session, txn })
    }

    fn kind(&mut self) -> Result<OpKind, String> {
        let kind = match self.text.first() {
            Some(b'r') => OpKind::Read,
            Some(b'w') => OpKind::Write,
            _ => {
                let found = excerpt(self.text);
                return Err(format!(
                    "expected `r(key,value,session,txn)` or `w(…)`, found {found}"
                ));
            }
        };
        self.at = 1;
        Ok(kind)
    }

    fn rest(&mut self) -> &[u8] {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
        &self.text[self.at..]
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        let rest = self.rest();
        if rest.first() != Some(&byte) {
            return Err(format!("expected `{}`, found {}", byte as char, excerpt(rest)));
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self, what: &str) -> Result<i128, String> {
        let rest = self.rest();
        let (number, len) =
            integer_prefix(rest).map_err(|bad: BadInteger| bad.problem(what, rest))?;
        self.at += len;
        Ok(number)
    }

    fn end(&mut self) -> Result<(), String> {
        let rest = self.rest();
        if rest.is_empty() || is_comment(rest) {
            return Ok(());
        }
        Err(format!("expected the end of the line, found {}", excerpt(rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_the_quick_way_takes_the_careful_way_reads_alike(
            line in "[rw]\\([0-9]{1,17},[0-9]{1,9},[0-9]{1,3},[0-9]{0,16}\\)[ x]?"
        ) {
            let text = format!("{line}\nr(1,2,3,4)");
            if let Some((fields, next)) = quick(text.as_bytes(), 0) {
                prop_assert_eq!(next, line.len() + 1);
                let careful = careful(line.as_bytes()).unwrap().unwrap();
                let wide = Fields {
                    kind: fields.kind, key: fields.key.into(), value: fields.value.into(),
                    session: fields.session.into(), txn: fields.txn.into(),
                };
                prop_assert_eq!(wide, careful);
            } else {
                // Only what is wrong, or has a number of 16 digits and more, may be left to the
                // careful way.
                let mut numbers = line.split(|c: char| !c.is_ascii_digit());
                let long = numbers.any(|digits| digits.len() > 15);
                prop_assert!(long || careful(line.as_bytes()).is_err() || line.ends_with(' '));
            }
        }
    }

    #[test]
    fn mistakes_say_where_and_what() {
        let mistake = careful(b"  w(1,x,3,4)").unwrap_err();
        assert_eq!(mistake.at, 6);
        assert_eq!(mistake.problem, "expected a value (an integer), found `x,3,4)`");
        let mistake = careful(b"w(99999999999999999999,1,3,4)").unwrap_err();
        assert_eq!(mistake.problem, "a key `99999999999999999999` does not fit into 64 bits");
        assert!(careful(b"w(1,2,3").unwrap_err().problem.contains("the end of the line"));
        assert_eq!(careful(b" // note"), Ok(None));
    }
}
