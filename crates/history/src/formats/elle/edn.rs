//! EDN, as far as histories use it: maps, vectors, keywords, strings and integers; everything else
//! is passed through.
//!
//! Nesting is kept on a stack of our own and limited, so that no input can exhaust the machine's.

use crate::error::ReadError;
use crate::formats::text::{Source, excerpt, integer, without_bom};

/// The deepest nesting that we follow.
const DEPTH_MAX: usize = 100;

/// An EDN value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Edn {
    Nil,
    Int(i128),
    Str(Box<str>),
    /// Without its colon.
    Keyword(Box<str>),
    /// A symbol, a float, a ratio, a character, an integer that does not fit: as it stands in the
    /// file.
    Other(Box<str>),
    /// A vector, a list or a set.
    Seq(Vec<Edn>),
    /// Keys and values in turn.
    Map(Vec<Edn>),
}

/// A value and where it starts.
pub(super) struct Form {
    pub value: Edn,
    pub start: Start,
}

/// Where a value starts.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub at: usize,
    pub line: u64,
    /// Where its line starts; before the first byte if a text starts inside a line.
    pub line_start: isize,
}

impl Start {
    /// Line and column.
    pub fn place(self) -> (u64, usize) {
        (self.line, (self.at as isize - self.line_start + 1) as usize)
    }
}

/// The values of a file: one after the other, or the elements of one vector.
pub(super) struct Forms<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    line_start: usize,
    source: &'a Source,
    in_vector: bool,
    started: bool,
    failed: bool,
}

/// A collection that is not closed yet.
struct Open {
    close: u8,
    is_map: bool,
    items: Vec<Edn>,
    line: u64,
    column: usize,
}

impl<'a> Forms<'a> {
    pub fn new(bytes: &'a [u8], source: &'a Source) -> Forms<'a> {
        let bytes = without_bom(bytes);
        Forms {
            bytes,
            at: 0,
            line: 1,
            line_start: 0,
            source,
            in_vector: false,
            started: false,
            failed: false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn column(&self) -> usize {
        self.at - self.line_start + 1
    }

    fn fail(&self, problem: impl Into<String>) -> ReadError {
        self.source.at(self.line, self.column(), problem)
    }

    fn step(&mut self) -> Result<Option<Form>, ReadError> {
        self.skip_blank();
        if !std::mem::replace(&mut self.started, true) && matches!(self.peek(), Some(b'[' | b'(')) {
            self.in_vector = true;
            self.at += 1;
            self.skip_blank();
        }
        match self.peek() {
            None if self.in_vector => {
                Err(self.fail("expected `]` at the end of the history; is the file truncated?"))
            }
            None => Ok(None),
            Some(b']' | b')') if self.in_vector => {
                self.at += 1;
                self.in_vector = false;
                self.skip_blank();
                match self.peek() {
                    None => Ok(None),
                    Some(_) => {
                        Err(self
                            .fail(format!("expected the end of the file, found {}", self.rest())))
                    }
                }
            }
            Some(_) => {
                let start =
                    Start { at: self.at, line: self.line, line_start: self.line_start as isize };
                self.value().map(|value| Some(Form { value, start }))
            }
        }
    }

    /// Line and column of an operation in the `:value` of the map that starts at `map`. Values do
    /// not know where they stand, so the map is read again: once for each error.
    pub fn operation(&self, map: Start, index: usize) -> Option<(u64, usize)> {
        let mut inside = Forms {
            at: map.at + 1,
            line: map.line,
            line_start: usize::try_from(map.line_start).ok()?,
            ..Forms::new(self.bytes, self.source)
        };
        loop {
            inside.skip_blank();
            let name = inside.value().ok()?;
            inside.skip_blank();
            if matches!(&name, Edn::Keyword(name) | Edn::Str(name) if &**name == "value") {
                break;
            }
            inside.value().ok()?;
        }
        inside.at += 1;
        inside.skip_blank();
        for _ in 0..index {
            inside.value().ok()?;
            inside.skip_blank();
        }
        Some((inside.line, inside.column()))
    }

    fn rest(&self) -> String {
        excerpt(&self.bytes[self.at.min(self.bytes.len())..])
    }

    /// White space, commas, comments and tags, which say nothing that we need.
    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                    self.line_start = self.at;
                }
                b',' => self.at += 1,
                b';' => self.skip_line(),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_line(),
                b'#' => match self.bytes.get(self.at + 1) {
                    Some(byte) if byte.is_ascii_alphabetic() => {
                        self.at += 1;
                        self.token();
                    }
                    Some(b'{') => return,
                    _ => self.skip_line(),
                },
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Edn, ReadError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_blank();
            let Some(byte) = self.peek() else {
                return Err(self.unclosed(open.last()));
            };
            let value = match byte {
                b'{' | b'[' | b'(' | b'#' => {
                    self.open(&mut open)?;
                    continue;
                }
                b'}' | b']' | b')' => self.close(&mut open)?,
                b'"' => self.string()?,
                _ => self.scalar()?,
            };
            match open.last_mut() {
                None => return Ok(value),
                Some(parent) => parent.items.push(value),
            }
        }
    }

    fn unclosed(&self, open: Option<&Open>) -> ReadError {
        match open {
            Some(open) => {
                let problem = format!(
                    "`{}` is missing for what starts here; is the file truncated?",
                    open.close as char
                );
                self.source.at(open.line, open.column, problem)
            }
            None => self.fail("expected a value, found the end of the file"),
        }
    }

    fn open(&mut self, open: &mut Vec<Open>) -> Result<(), ReadError> {
        if open.len() == DEPTH_MAX {
            return Err(self
                .fail(format!("nested more than {DEPTH_MAX} levels deep: this is not a history")));
        }
        let (line, column) = (self.line, self.column());
        let is_set = self.peek() == Some(b'#');
        self.at += usize::from(is_set);
        let (close, is_map) = match self.peek() {
            Some(b'{') => (b'}', !is_set),
            Some(b'[') => (b']', false),
            _ => (b')', false),
        };
        self.at += 1;
        open.push(Open { close, is_map, items: Vec::new(), line, column });
        Ok(())
    }

    fn close(&mut self, open: &mut Vec<Open>) -> Result<Edn, ReadError> {
        let Some(top) = open.pop().filter(|top| Some(top.close) == self.peek()) else {
            return Err(self.fail(format!("this bracket closes nothing: {}", self.rest())));
        };
        if top.is_map && top.items.len() % 2 != 0 {
            return Err(self.fail("a map needs a value for each key, but the last one has none"));
        }
        self.at += 1;
        Ok(if top.is_map { Edn::Map(top.items) } else { Edn::Seq(top.items) })
    }

    fn string(&mut self) -> Result<Edn, ReadError> {
        let (line, column) = (self.line, self.column());
        let mut text = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                None => {
                    return Err(self.source.at(
                        line,
                        column,
                        "this string never ends; is the file truncated?",
                    ));
                }
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut text)?;
                }
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                    if byte == b'\n' {
                        self.line += 1;
                        self.line_start = self.at;
                    }
                }
            }
        }
        self.at += 1;
        let text = String::from_utf8(text)
            .map_err(|_| self.source.at(line, column, "this string is not UTF-8"))?;
        Ok(Edn::Str(text.into()))
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), ReadError> {
        let plain = match self.peek() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'u') => return self.unicode(text),
            _ => return Err(self.fail(format!("unknown escape in a string: {}", self.rest()))),
        };
        self.at += 1;
        text.push(plain);
        Ok(())
    }

    fn unicode(&mut self, text: &mut Vec<u8>) -> Result<(), ReadError> {
        let digits = self
            .bytes
            .get(self.at + 1..self.at + 5)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(character) = code.and_then(char::from_u32) else {
            return Err(self.fail("expected four hexadecimal digits of a character after `\\u`"));
        };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += 5;
        Ok(())
    }

    fn token(&mut self) -> &'a [u8] {
        let start = self.at;
        let ends = |byte: u8| byte.is_ascii_whitespace() || b",;\"{}[]()".contains(&byte);
        while self.peek().is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    fn scalar(&mut self) -> Result<Edn, ReadError> {
        if self.peek() == Some(b'\\') {
            // A character may be a bracket: at least one byte belongs to it.
            self.at = (self.at + 2).min(self.bytes.len());
            self.token();
            return Ok(Edn::Other("\\".into()));
        }
        let column = self.column();
        let token = self.token();
        let Ok(text) = std::str::from_utf8(token) else {
            return Err(self.source.at(self.line, column, "not UTF-8 text"));
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
        match integer(text.strip_suffix('N').unwrap_or(text).as_bytes()) {
            Ok(number) => Ok(Edn::Int(number)),
            Err(_) => Ok(Edn::Other(text.into())),
        }
    }
}

impl Iterator for Forms<'_> {
    type Item = Result<Form, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let form = self.step().transpose();
        self.failed = !matches!(form, Some(Ok(_)));
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<Edn>, String> {
        let source = Source::new("h");
        Forms::new(text.as_bytes(), &source)
            .map(|form| form.map(|f| f.value).map_err(|e| e.to_string()))
            .collect()
    }

    #[test]
    fn everything_that_histories_contain_is_read() {
        let text = "; note\n#jepsen.history.Op{:a 1, \"b\\n\\u0041\" [nil -2N 1.5 2/3 \\] x]} \
                    #{:s} (true)";
        let expected = [
            Edn::Map(vec![
                Edn::Keyword("a".into()),
                Edn::Int(1),
                Edn::Str("b\nA".into()),
                Edn::Seq(vec![
                    Edn::Nil,
                    Edn::Int(-2),
                    Edn::Other("1.5".into()),
                    Edn::Other("2/3".into()),
                    Edn::Other("\\".into()),
                    Edn::Other("x".into()),
                ]),
            ]),
            Edn::Seq(vec![Edn::Keyword("s".into())]),
            Edn::Seq(vec![Edn::Other("true".into())]),
        ];
        assert_eq!(values(text).unwrap(), expected);
        assert_eq!(values("[{} {}\n]\n").unwrap(), [Edn::Map(vec![]), Edn::Map(vec![])]);
    }

    #[test]
    fn mistakes_have_a_place() {
        assert!(
            values("{:a 1}\n {:a [1 2}")
                .unwrap_err()
                .starts_with("h:2:10: this bracket closes nothing")
        );
        assert!(values("{:a").unwrap_err().starts_with("h:1:1: `}` is missing"));
        assert!(values("{:a}").unwrap_err().contains("a value for each key"));
        assert!(values(&"[".repeat(1000)).unwrap_err().contains("nested more than 100"));
        assert!(values("[{}").unwrap_err().contains("truncated"));
    }
}
