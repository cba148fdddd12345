//! Cuts the text of a date, time or interval into fields, by the characters that they begin with
//! and have inside.

use super::decode::ParseError;

/// The most fields of a text.
const FIELDS_MAX: usize = 25;

/// What a field looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Digits, perhaps with a point.
    Number,
    /// Letters.
    Word,
    /// Digits or letters with separators of dates.
    Date,
    /// Digits with colons.
    Time,
    /// A sign with digits: an offset, or a signed number.
    Signed,
    /// A sign with letters: an infinity.
    SignedWord,
}

/// A field: its kind and its text, letters made small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// What it looks like.
    pub kind: Kind,
    /// Its text.
    pub text: String,
}

struct Lexer<'t> {
    rest: &'t [u8],
    text: String,
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next_is(&self, wanted: impl Fn(u8) -> bool) -> bool {
        self.peek().is_some_and(wanted)
    }

    fn take(&mut self) {
        if let Some((first, rest)) = self.rest.split_first() {
            self.text.push(first.to_ascii_lowercase() as char);
            self.rest = rest;
        }
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.next_is(&wanted) {
            self.take();
        }
    }

    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// A field that begins with a digit: a number, a time or a date.
    fn digits(&mut self) -> Kind {
        self.take_while(|b| b.is_ascii_digit());
        match self.peek() {
            Some(b':') => {
                self.take_while(|b| b.is_ascii_digit() || b == b':' || b == b'.');
                Kind::Time
            }
            Some(delimiter @ (b'-' | b'/' | b'.')) => self.date(delimiter),
            _ => Kind::Number,
        }
    }

    /// Behind the first number of a date, whose month may be a word.
    fn date(&mut self, delimiter: u8) -> Kind {
        self.take();
        if !self.next_is(|b| b.is_ascii_digit()) {
            self.take_while(|b| b.is_ascii_alphanumeric() || b == delimiter);
            return Kind::Date;
        }
        self.take_while(|b| b.is_ascii_digit());
        if self.next_is(|b| b == delimiter) {
            self.take_while(|b| b.is_ascii_digit() || b == delimiter);
            return Kind::Date;
        }
        // One point only may be a number with a fraction.
        if delimiter == b'.' { Kind::Number } else { Kind::Date }
    }

    /// A field that begins with a letter: a word, a date, or the name of a zone.
    fn word(&mut self) -> Kind {
        self.take_while(|b| b.is_ascii_alphabetic());
        let is_date = match self.peek() {
            Some(b'-' | b'/' | b'.') => true,
            Some(b'+' | b'0'..=b'9') => super::keywords::word(&self.text).is_none(),
            _ => false,
        };
        if !is_date {
            return Kind::Word;
        }
        self.take_while(|b| b.is_ascii_alphanumeric() || b"+-/_.:".contains(&b));
        Kind::Date
    }

    fn signed(&mut self) -> Result<Kind, ParseError> {
        self.take();
        while self.next_is(is_space) {
            self.skip();
        }
        if self.next_is(|b| b.is_ascii_digit()) {
            self.take_while(|b| b.is_ascii_digit() || b":.-".contains(&b));
            return Ok(Kind::Signed);
        }
        if self.next_is(|b| b.is_ascii_alphabetic()) {
            self.take_while(|b| b.is_ascii_alphabetic());
            return Ok(Kind::SignedWord);
        }
        Err(ParseError::Format)
    }

    fn field(&mut self, first: u8) -> Result<Kind, ParseError> {
        Ok(match first {
            b'0'..=b'9' => self.digits(),
            b'.' => {
                self.take();
                self.take_while(|b| b.is_ascii_digit());
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            _ => self.signed()?,
        })
    }
}

/// Cuts a text whose fields together have fewer than `limit` characters.
pub fn lex(text: &str, limit: usize) -> Result<Vec<Field>, ParseError> {
    let mut lexer = Lexer { rest: text.as_bytes(), text: String::new() };
    let mut fields: Vec<Field> = Vec::new();
    let mut used = 0;
    while let Some(first) = lexer.peek() {
        let starts = first.is_ascii_alphanumeric() || b".+-".contains(&first);
        if is_space(first) || (first.is_ascii_punctuation() && !starts) {
            lexer.skip();
            continue;
        }
        if !starts || fields.len() >= FIELDS_MAX {
            return Err(ParseError::Format);
        }
        let kind = lexer.field(first)?;
        let text = std::mem::take(&mut lexer.text);
        used += text.len() + 1;
        if used >= limit {
            return Err(ParseError::Format);
        }
        fields.push(Field { kind, text });
    }
    Ok(fields)
}
