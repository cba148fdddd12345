//! Checks json text. Errors name the token and show the line up to it, as PostgreSQL does.

use super::{DEPTH_MAX, Node, NodeKind};
use crate::error::{Result, SqlError, code};

/// Whether escapes of strings are decoded, which refuses some that are text but not characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Escapes {
    /// Strings are decoded.
    Decode,
    /// Strings stay as they are written.
    Keep,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    String,
    Number,
    True,
    False,
    Null,
    Punctuation(u8),
    End,
}

/// Checks a text and finds its structure.
pub fn parse(text: &str, escapes: Escapes) -> Result<Node<'_>> {
    let mut parser = Parser {
        text,
        escapes,
        token: Token::End,
        start: 0,
        end: 0,
        line: 1,
        line_start: 0,
        decoded: String::new(),
    };
    parser.advance()?;
    let node = parser.value(0)?;
    match parser.token {
        Token::End => Ok(node),
        _ => Err(parser.unexpected("end of input")),
    }
}

struct Parser<'t> {
    text: &'t str,
    escapes: Escapes,
    token: Token,
    /// Where the token is.
    start: usize,
    end: usize,
    line: usize,
    line_start: usize,
    /// The string that the token is.
    decoded: String,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'t> Parser<'t> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn raw(&self) -> &'t str {
        &self.text[self.start..self.end]
    }

    /// Goes to the next token.
    fn advance(&mut self) -> Result<()> {
        let mut at = self.end;
        while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = self.byte(at) {
            at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = at;
            }
        }
        (self.start, self.end) = (at, at);
        self.token = match self.byte(at) {
            None => Token::End,
            Some(byte @ (b'{' | b'}' | b'[' | b']' | b',' | b':')) => {
                self.end += 1;
                Token::Punctuation(byte)
            }
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
        };
        Ok(())
    }

    fn word(&mut self) -> Result<Token> {
        while self.byte(self.end).is_some_and(is_word) {
            self.end += 1;
        }
        if self.end == self.start {
            self.end += 1;
            return Err(self.invalid_token());
        }
        match self.raw() {
            "true" => Ok(Token::True),
            "false" => Ok(Token::False),
            "null" => Ok(Token::Null),
            _ => Err(self.invalid_token()),
        }
    }

    fn digits(&mut self) -> usize {
        let from = self.end;
        while self.byte(self.end).is_some_and(|b| b.is_ascii_digit()) {
            self.end += 1;
        }
        self.end - from
    }

    fn number(&mut self) -> Result<Token> {
        let valid = self.scan_number();
        let mut end = self.end;
        while self.byte(end).is_some_and(is_word) {
            end += 1;
        }
        if valid && end == self.end {
            return Ok(Token::Number);
        }
        self.end = end;
        Err(self.invalid_token())
    }

    fn scan_number(&mut self) -> bool {
        if self.byte(self.end) == Some(b'-') {
            self.end += 1;
        }
        let valid = match self.byte(self.end) {
            Some(b'0') => {
                self.end += 1;
                true
            }
            _ => self.digits() > 0,
        };
        if !valid {
            return false;
        }
        if self.byte(self.end) == Some(b'.') {
            self.end += 1;
            if self.digits() == 0 {
                return false;
            }
        }
        if !matches!(self.byte(self.end), Some(b'e' | b'E')) {
            return true;
        }
        self.end += 1;
        if matches!(self.byte(self.end), Some(b'+' | b'-')) {
            self.end += 1;
        }
        self.digits() > 0
    }

    fn string(&mut self) -> Result<Token> {
        self.decoded.clear();
        let mut at = self.start + 1;
        // The first half of a pair of escapes that together are one character.
        let mut high = None;
        loop {
            let from = at;
            while self.byte(at).is_some_and(|b| b >= 0x20 && b != b'"' && b != b'\\') {
                at += 1;
            }
            if at > from {
                let first = self.text[from..].chars().next().map_or(0, char::len_utf8);
                self.lone_high(high.take(), from + first)?;
                self.decoded.push_str(&self.text[from..at]);
            }
            match self.byte(at) {
                None => {
                    self.end = at;
                    return Err(self.invalid_token());
                }
                Some(b'"') => break,
                Some(b'\\') => at = self.escape(at + 1, &mut high)?,
                Some(control) => {
                    self.end = at;
                    let detail = format!("Character with value 0x{control:02x} must be escaped.");
                    return Err(self.error(detail));
                }
            }
        }
        self.lone_high(high, at + 1)?;
        self.end = at + 1;
        Ok(Token::String)
    }

    fn lone_high(&mut self, high: Option<u32>, at: usize) -> Result<()> {
        if high.is_none() || self.escapes == Escapes::Keep {
            return Ok(());
        }
        self.end = at;
        Err(self.error("Unicode low surrogate must follow a high surrogate.".into()))
    }

    /// Decodes the escape behind a backslash and says where it ends.
    fn escape(&mut self, at: usize, high: &mut Option<u32>) -> Result<usize> {
        let simple = match self.byte(at) {
            Some(b'u') => return self.unicode(at + 1, high),
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            None => {
                self.end = at;
                return Err(self.invalid_token());
            }
            Some(_) => {
                let wrong = self.text[at..].chars().next().unwrap_or(' ');
                self.end = at + wrong.len_utf8();
                return Err(self.error(format!("Escape sequence \"\\{wrong}\" is invalid.")));
            }
        };
        self.lone_high(high.take(), at)?;
        self.decoded.push(simple);
        Ok(at + 1)
    }

    fn unicode(&mut self, at: usize, high: &mut Option<u32>) -> Result<usize> {
        let mut value = 0;
        for step in 0..4 {
            let digit = self.byte(at + step).and_then(|b| (b as char).to_digit(16));
            let Some(digit) = digit else {
                let wrong = self.text.get(at + step..).and_then(|rest| rest.chars().next());
                self.end = at + step + wrong.map_or(0, char::len_utf8);
                if wrong.is_none() {
                    return Err(self.invalid_token());
                }
                let detail = "\"\\u\" must be followed by four hexadecimal digits.";
                return Err(self.error(detail.into()));
            };
            value = value * 16 + digit;
        }
        let end = at + 4;
        if self.escapes == Escapes::Decode {
            self.end = end;
            self.push_unicode(value, high)?;
        }
        Ok(end)
    }

    fn push_unicode(&mut self, value: u32, high: &mut Option<u32>) -> Result<()> {
        match (value, high.take()) {
            (0xD800..0xDC00, None) => *high = Some(value),
            (0xD800..0xDC00, Some(_)) => {
                let detail = "Unicode high surrogate must not follow a high surrogate.";
                return Err(self.error(detail.into()));
            }
            (0xDC00..0xE000, Some(first)) => {
                let joined = 0x10000 + ((first - 0xD800) << 10) + (value - 0xDC00);
                self.decoded.push(char::from_u32(joined).unwrap_or('\u{fffd}'));
            }
            (0xDC00..0xE000, None) | (_, Some(_)) => {
                let detail = "Unicode low surrogate must follow a high surrogate.";
                return Err(self.error(detail.into()));
            }
            (0, None) => {
                let message = "unsupported Unicode escape sequence";
                return Err(SqlError::new(code::UNTRANSLATABLE_CHARACTER, message)
                    .detail("\\u0000 cannot be converted to text.")
                    .context(self.context()));
            }
            (_, None) => self.decoded.push(char::from_u32(value).unwrap_or('\u{fffd}')),
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>> {
        if depth > DEPTH_MAX {
            let error = SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded");
            return Err(error.hint("Arrays and objects of json are nested too deeply."));
        }
        let start = self.start;
        let kind = match self.token {
            Token::String => NodeKind::String(std::mem::take(&mut self.decoded)),
            Token::Number => NodeKind::Number,
            Token::True => NodeKind::Bool(true),
            Token::False => NodeKind::Bool(false),
            Token::Null => NodeKind::Null,
            Token::Punctuation(b'[') => self.array(depth)?,
            Token::Punctuation(b'{') => self.object(depth)?,
            _ => return Err(self.unexpected("JSON value")),
        };
        let node = Node { raw: &self.text[start..self.end], kind };
        self.advance()?;
        Ok(node)
    }

    /// Until the closing bracket, which stays the token.
    fn array(&mut self, depth: usize) -> Result<NodeKind<'t>> {
        self.advance()?;
        let mut elements = Vec::new();
        if self.token == Token::Punctuation(b']') {
            return Ok(NodeKind::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            match self.token {
                Token::Punctuation(b',') => self.advance()?,
                Token::Punctuation(b']') => return Ok(NodeKind::Array(elements)),
                _ => return Err(self.unexpected("\",\" or \"]\"")),
            }
        }
    }

    /// Until the closing brace, which stays the token.
    fn object(&mut self, depth: usize) -> Result<NodeKind<'t>> {
        self.advance()?;
        let mut pairs = Vec::new();
        if self.token == Token::Punctuation(b'}') {
            return Ok(NodeKind::Object(pairs));
        }
        loop {
            if self.token != Token::String {
                let wanted = if pairs.is_empty() { "string or \"}\"" } else { "string" };
                return Err(self.unexpected(wanted));
            }
            let key = std::mem::take(&mut self.decoded);
            self.advance()?;
            if self.token != Token::Punctuation(b':') {
                return Err(self.unexpected("\":\""));
            }
            self.advance()?;
            pairs.push((key, self.value(depth + 1)?));
            match self.token {
                Token::Punctuation(b',') => self.advance()?,
                Token::Punctuation(b'}') => return Ok(NodeKind::Object(pairs)),
                _ => return Err(self.unexpected("\",\" or \"}\"")),
            }
        }
    }

    fn unexpected(&self, wanted: &str) -> SqlError {
        if self.token == Token::End {
            return self.error("The input string ended unexpectedly.".into());
        }
        self.error(format!("Expected {wanted}, but found \"{}\".", self.raw()))
    }

    fn invalid_token(&self) -> SqlError {
        // The end may be inside of a character if the token is one odd byte.
        let end = (self.end..=self.text.len()).find(|end| self.text.is_char_boundary(*end));
        let token = &self.text[self.start..end.unwrap_or(self.start)];
        self.error(format!("Token \"{token}\" is invalid."))
    }

    fn error(&self, detail: String) -> SqlError {
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
            .detail(detail)
            .context(self.context())
    }

    /// The line up to the token, its beginning left out if it is long.
    fn context(&self) -> String {
        let (mut start, end) = (self.line_start, self.end);
        while end.saturating_sub(start) >= 50 {
            start += self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
        if start - self.line_start <= 3 {
            start = self.line_start;
        }
        let prefix = if start > self.line_start { "..." } else { "" };
        let more = self.token != Token::End || self.start < self.text.len();
        let goes_on = more && self.byte(end).is_some_and(|b| b != b'\n' && b != b'\r');
        let suffix = if goes_on { "..." } else { "" };
        let excerpt = self.text.get(start..end).unwrap_or("");
        format!("JSON data, line {}: {prefix}{excerpt}{suffix}", self.line)
    }
}
