//! Strings, characters, keywords, symbols and numbers of EDN.

use super::{Edn, Forms};
use crate::error::ReadError;
use crate::formats::text::integer;

impl<'a> Forms<'a> {
    pub(super) fn string(&mut self) -> Result<Edn, ReadError> {
        let (line, column) = (self.line, self.column());
        let mut text = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.source.at(line, column, ENDLESS)),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut text)?;
                }
                Some(byte) => {
                    text.push(byte);
                    self.pass(byte);
                }
            }
        }
        self.at += 1;
        let text = String::from_utf8(text)
            .map_err(|_| self.source.at(line, column, "this string is not UTF-8"))?;
        Ok(Edn::Str(text.into()))
    }

    /// `#"…"`: nothing in it is an escape of ours, but a quote behind a backslash does not end it.
    pub(super) fn regular_expression(&mut self) -> Result<Edn, ReadError> {
        let (start, line, column) = (self.at, self.line, self.column());
        self.at += 2;
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.source.at(line, column, ENDLESS));
            };
            self.pass(byte);
            match byte {
                b'"' => break,
                b'\\' => {
                    if let Some(escaped) = self.peek() {
                        self.pass(escaped);
                    }
                }
                _ => {}
            }
        }
        self.other(&self.bytes[start..self.at], line, column)
    }

    /// Passes a byte inside of a string, which may have several lines.
    fn pass(&mut self, byte: u8) {
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
            self.line_start = self.at;
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), ReadError> {
        let plain = match self.peek() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(byte @ (b'"' | b'\\' | b'/' | b'\'')) => byte,
            Some(b'u') => return self.unicode(text),
            Some(b'0'..=b'7') => return self.octal(text),
            _ => return Err(self.fail(format!("unknown escape in a string: {}", self.rest()))),
        };
        self.at += 1;
        text.push(plain);
        Ok(())
    }

    /// Up to three octal digits.
    fn octal(&mut self, text: &mut Vec<u8>) -> Result<(), ReadError> {
        let digits = self.bytes[self.at..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b));
        let digits: Vec<u32> = digits.map(|digit| u32::from(digit - b'0')).collect();
        let code = digits.iter().fold(0, |code, digit| code * 8 + digit);
        match char::from_u32(code).filter(|_| code <= 0o377) {
            Some(character) => push(text, character),
            None => return Err(self.fail("an octal escape ends at \\377")),
        }
        self.at += digits.len();
        Ok(())
    }

    /// Four hexadecimal digits; a character beyond them is two such escapes, as Java has it.
    fn unicode(&mut self, text: &mut Vec<u8>) -> Result<(), ReadError> {
        const PROBLEM: &str = "expected four hexadecimal digits of a character after `\\u`";
        let Some(first) = self.unit(self.at) else { return Err(self.fail(PROBLEM)) };
        let second =
            (self.bytes.get(self.at + 5) == Some(&b'\\')).then(|| self.unit(self.at + 6)).flatten();
        if let Some(character) = char::from_u32(u32::from(first)) {
            push(text, character);
            self.at += 5;
            return Ok(());
        }
        let pair = second.map(|second| char::decode_utf16([first, second]).next());
        let Some(Some(Ok(character))) = pair else { return Err(self.fail(PROBLEM)) };
        push(text, character);
        self.at += 11;
        Ok(())
    }

    /// The unit of UTF-16 that `uXXXX` at `at` names.
    fn unit(&self, at: usize) -> Option<u16> {
        let (first, digits) = self.bytes.get(at..at + 5)?.split_first()?;
        let is_hex = *first == b'u' && digits.iter().all(u8::is_ascii_hexdigit);
        u16::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()
    }

    pub(super) fn token(&mut self) -> &'a [u8] {
        let start = self.at;
        let ends = |byte: u8| byte.is_ascii_whitespace() || b",;\"{}[]()".contains(&byte);
        while self.peek().is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    /// `##Inf`, `##-Inf` or `##NaN`.
    pub(super) fn symbolic(&mut self) -> Result<Edn, ReadError> {
        let (line, column) = (self.line, self.column());
        let token = self.token();
        if !matches!(token, b"##Inf" | b"##-Inf" | b"##NaN") {
            let problem = format!(
                "expected ##Inf, ##-Inf or ##NaN, found {}",
                crate::formats::text::excerpt(token)
            );
            return Err(self.source.at(line, column, problem));
        }
        self.other(token, line, column)
    }

    pub(super) fn scalar(&mut self) -> Result<Edn, ReadError> {
        let (start, line, column) = (self.at, self.line, self.column());
        if self.peek() == Some(b'\\') {
            // A character may be a bracket or a comma: at least one belongs to it.
            self.at = (self.at + 2).min(self.bytes.len());
            self.token();
            return self.other(&self.bytes[start..self.at], line, column);
        }
        let token = self.token();
        let Ok(text) = std::str::from_utf8(token) else {
            return Err(self.source.at(line, column, "not UTF-8 text"));
        };
        if text.is_empty() {
            return Err(self.fail(format!("expected a value, found {}", self.rest())));
        }
        if let Some(keyword) = text.strip_prefix(':') {
            return Ok(Edn::Keyword(keyword.into()));
        }
        if text == "nil" {
            return Ok(Edn::Nil);
        }
        Ok(number(text).map_or_else(|| Edn::Other(text.into()), Edn::Int))
    }

    fn other(&self, text: &[u8], line: u64, column: usize) -> Result<Edn, ReadError> {
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Edn::Other(text.into())),
            Err(_) => Err(self.source.at(line, column, "not UTF-8 text")),
        }
    }
}

const ENDLESS: &str = "this string never ends; is the file truncated?";

fn push(text: &mut Vec<u8>, character: char) {
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// An integer as Clojure reads it: decimal, `0x1F`, `017`, `2r101`, each with `N` or without.
/// `None` for everything else, and for what does not fit into 64 bits.
fn number(text: &str) -> Option<i128> {
    let magnitude = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !magnitude.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let is_octal = magnitude.len() > 1 && magnitude.starts_with('0');
    if !is_octal && !magnitude.contains(['r', 'R']) {
        return integer(text.strip_suffix('N').unwrap_or(text).as_bytes()).ok();
    }
    let magnitude = in_radix(magnitude.strip_suffix('N').unwrap_or(magnitude))?;
    let number = if text.starts_with('-') { -magnitude } else { magnitude };
    let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
    range.contains(&number).then_some(number)
}

fn in_radix(magnitude: &str) -> Option<i128> {
    let (radix, digits) = match magnitude.split_once(['r', 'R']) {
        Some((radix, digits)) => (radix.parse().ok()?, digits),
        None => match magnitude.strip_prefix("0x").or(magnitude.strip_prefix("0X")) {
            Some(digits) => (16, digits),
            None => (8, magnitude),
        },
    };
    // A sign inside of a number is none.
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
    ((2..=36).contains(&radix) && is_plain).then(|| i128::from_str_radix(digits, radix).ok())?
}
