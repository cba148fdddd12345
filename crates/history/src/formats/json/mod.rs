//! JSON values one after the other, or as one array, without ever holding more than one of them in
//! memory.
//!
//! [`Values`] only finds where a value ends (brackets and strings); `parse.rs` then parses that
//! piece, and limits the depth of nesting while it does. Comment lines may stand between values.
//!
//! This is no use of a library for JSON, because every project that depends on this one compiles
//! what it depends on; numbers stay as they are written, and a name that stands twice in an object
//! is an error.

mod parse;
mod value;

pub(super) use value::{Json, Members, sort_by_name};

use super::text::{Source, excerpt, without_bom};
use crate::atom::Atom;
use crate::error::ReadError;

/// A JSON value somewhere in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub text: &'a [u8],
    pub line: u64,
    pub column: usize,
}

impl<'a> Item<'a> {
    /// Parses it.
    pub fn parse(&self, source: &Source) -> Result<Json, ReadError> {
        parse::parse(self.text).map_err(|mistake| {
            let before = &self.text[..mistake.at];
            let lines = before.iter().filter(|&&byte| byte == b'\n').count();
            let line_start = before.iter().rposition(|&byte| byte == b'\n');
            let column = match line_start {
                Some(start) => mistake.at - start,
                None => self.column + mistake.at,
            };
            source.at(self.line + lines as u64, column, format!("not JSON: {}", mistake.problem))
        })
    }

    /// An error at its start.
    pub fn fail(&self, source: &Source, problem: impl Into<String>) -> ReadError {
        source.at(self.line, self.column, problem)
    }

    /// The member `name` of an object, if it has one.
    pub fn member(&self, name: &str, source: &'a Source) -> Option<Item<'a>> {
        let members = self.members(source).ok()?;
        members.into_iter().find(|(other, _)| other == name).map(|(_, item)| item)
    }

    /// An element of an array, if it has so many.
    pub fn element(&self, index: usize, source: &'a Source) -> Option<Item<'a>> {
        self.elements(source).nth(index)?.ok()
    }

    /// The elements of an array.
    pub fn elements(&self, source: &'a Source) -> Values<'a> {
        Values {
            cursor: Cursor {
                bytes: self.text,
                at: 0,
                line: self.line,
                line_start: 1 - self.column as isize,
            },
            mode: Mode::Start,
            source,
        }
    }

    /// The members of an object, in order.
    pub fn members(&self, source: &'a Source) -> Result<Vec<(String, Item<'a>)>, ReadError> {
        let mut cursor = Cursor {
            bytes: self.text,
            at: 0,
            line: self.line,
            line_start: 1 - self.column as isize,
        };
        let mut members = Vec::new();
        cursor.expect(b'{', source)?;
        cursor.skip_blank();
        if cursor.peek() == Some(b'}') {
            return Ok(members);
        }
        loop {
            cursor.skip_blank();
            let name = match cursor.item(source)?.parse(source)? {
                Json::String(name) => name,
                _ => return Err(cursor.fail(source, "expected the name of a member")),
            };
            cursor.expect(b':', source)?;
            cursor.skip_blank();
            members.push((name, cursor.item(source)?));
            cursor.skip_blank();
            if cursor.peek() == Some(b'}') {
                return Ok(members);
            }
            cursor.expect(b',', source)?;
        }
    }
}

/// The values of a text.
pub(super) struct Values<'a> {
    cursor: Cursor<'a>,
    mode: Mode,
    source: &'a Source,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Start,
    Sequence,
    ArrayStart,
    Array,
    End,
}

impl<'a> Values<'a> {
    /// The values of a whole file.
    pub fn new(bytes: &'a [u8], source: &'a Source) -> Values<'a> {
        Values { cursor: Cursor::new(without_bom(bytes)), mode: Mode::Start, source }
    }

    fn step(&mut self) -> Result<Option<Item<'a>>, ReadError> {
        self.cursor.skip_blank();
        if self.mode == Mode::Start {
            self.mode =
                if self.cursor.peek() == Some(b'[') { Mode::ArrayStart } else { Mode::Sequence };
            if self.mode == Mode::ArrayStart {
                self.cursor.at += 1;
                self.cursor.skip_blank();
            }
        }
        match (self.mode, self.cursor.peek()) {
            (Mode::Sequence | Mode::End, None) => return Ok(None),
            (Mode::End, Some(_)) => {
                return Err(self.cursor.unexpected(self.source, "the end of the file"));
            }
            (Mode::Array | Mode::ArrayStart, Some(b']')) => {
                self.cursor.at += 1;
                self.mode = Mode::End;
                return self.step_end();
            }
            (Mode::Array, _) => {
                self.cursor.expect(b',', self.source)?;
                self.cursor.skip_blank();
            }
            (Mode::ArrayStart, _) => self.mode = Mode::Array,
            (Mode::Sequence | Mode::Start, _) => {}
        }
        self.cursor.item(self.source).map(Some)
    }

    fn step_end(&mut self) -> Result<Option<Item<'a>>, ReadError> {
        self.cursor.skip_blank();
        match self.cursor.peek() {
            None => Ok(None),
            Some(_) => Err(self.cursor.unexpected(self.source, "the end of the file")),
        }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<Item<'a>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.step().transpose();
        if matches!(item, Some(Err(_))) {
            // After a mistake there is nothing more to find.
            self.mode = Mode::Sequence;
            self.cursor.at = self.cursor.bytes.len();
        }
        item
    }
}

#[derive(Clone)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    /// Where the line starts in `bytes`; before its beginning if `bytes` starts inside a line.
    line_start: isize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0, line: 1, line_start: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn column(&self) -> usize {
        (self.at as isize - self.line_start + 1).max(1) as usize
    }

    fn fail(&self, source: &Source, problem: impl Into<String>) -> ReadError {
        source.at(self.line, self.column(), problem)
    }

    fn unexpected(&self, source: &Source, expected: &str) -> ReadError {
        let rest = &self.bytes[self.at..];
        let found = if rest.is_empty() { "the end of the file".to_owned() } else { excerpt(rest) };
        self.fail(source, format!("expected {expected}, found {found}"))
    }

    fn expect(&mut self, byte: u8, source: &Source) -> Result<(), ReadError> {
        self.skip_blank();
        if self.peek() != Some(byte) {
            return Err(self.unexpected(source, &format!("`{}`", byte as char)));
        }
        self.at += 1;
        Ok(())
    }

    fn advance(&mut self) {
        if self.peek() == Some(b'\n') {
            self.line += 1;
            self.line_start = self.at as isize + 1;
        }
        self.at += 1;
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'#' || (byte == b'/' && self.bytes.get(self.at + 1) == Some(&b'/')) {
                while self.peek().is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
            } else if byte.is_ascii_whitespace() {
                self.advance();
            } else {
                return;
            }
        }
    }

    /// The value that starts here.
    fn item(&mut self, source: &Source) -> Result<Item<'a>, ReadError> {
        let start = self.clone();
        let complete = match self.peek() {
            Some(b'{' | b'[') => self.skip_nested(),
            Some(b'"') => self.skip_string(),
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                while self
                    .peek()
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
                {
                    self.at += 1;
                }
                true
            }
            _ => return Err(self.unexpected(source, "a JSON value")),
        };
        if !complete {
            let problem = "the JSON value that starts here never ends; is the file truncated?";
            return Err(start.fail(source, problem));
        }
        Ok(Item { text: &self.bytes[start.at..self.at], line: start.line, column: start.column() })
    }

    /// Past the closing bracket; whether there is one.
    fn skip_nested(&mut self) -> bool {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    if !self.skip_string() {
                        return false;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return true;
            }
        }
        false
    }

    fn skip_string(&mut self) -> bool {
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return true;
                }
                b'\\' => self.at += 2,
                _ => self.advance(),
            }
        }
        self.at = self.at.min(self.bytes.len());
        false
    }
}

/// A number or a string as an atom, or what is wrong with it.
pub(super) fn atom(json: &Json) -> Result<Atom, String> {
    match json {
        Json::String(text) => Ok(Atom::Str(text.as_str().into())),
        Json::Int(number) => Ok(Atom::Int(*number)),
        Json::Number(number) => Err(format!("the number {number} is not an integer of 64 bits")),
        other => Err(format!(
            "expected an integer or a string, found {}",
            excerpt(other.to_string().as_bytes())
        )),
    }
}

/// An atom as JSON. A keyword becomes a string with its colon; an integer that JSON readers would
/// round, a string.
pub(super) fn of_atom(atom: &Atom) -> Json {
    match atom {
        Atom::Int(number) if (i64::MIN.into()..=u64::MAX.into()).contains(number) => {
            Json::Int(*number)
        }
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(input: &str) -> Result<Vec<(String, u64, usize)>, ReadError> {
        let source = Source::new("h");
        let values = Values::new(input.as_bytes(), &source);
        values
            .map(|item| {
                item.map(|i| (String::from_utf8_lossy(i.text).into_owned(), i.line, i.column))
            })
            .collect()
    }

    #[test]
    fn values_come_one_a_line_or_in_an_array() {
        let lines = texts("# c\n{\"a\":\"]}\\\"\"}\n\n  {\n}\n7").unwrap();
        let expected = [
            ("{\"a\":\"]}\\\"\"}".to_owned(), 2, 1),
            ("{\n}".to_owned(), 4, 3),
            ("7".to_owned(), 6, 1),
        ];
        assert_eq!(lines, expected);
        assert_eq!(
            texts("[ {} ,\n{}]\n").unwrap(),
            [("{}".to_owned(), 1, 3), ("{}".to_owned(), 2, 1)]
        );
        assert_eq!(texts("[]").unwrap(), []);
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_a_place() {
        let error = |input: &str| texts(input).unwrap_err().to_string();
        assert!(
            error("{}\n{\"a\": [1")
                .starts_with("h:2:1: the JSON value that starts here never ends")
        );
        assert_eq!(error("[{} {}]"), "h:1:5: expected `,`, found `{}]`");
        assert_eq!(error("[{}] x"), "h:1:6: expected the end of the file, found `x`");
        assert_eq!(error("[{}"), "h:1:4: expected `,`, found the end of the file");
        assert_eq!(error("}"), "h:1:1: expected a JSON value, found `}`");
    }

    #[test]
    fn numbers_are_quoted_as_they_stand_in_the_file() {
        let source = Source::new("h");
        let text = br#"{"a":["1e400\"", 123456789012345678901234567890, 1.50, -7]}"#;
        let item = Values::new(text, &source).next().unwrap().unwrap();
        let value = item.parse(&source).unwrap();
        let problem = atom(&value.get("a").unwrap().as_array().unwrap()[1]).unwrap_err();
        assert_eq!(
            problem,
            "the number 123456789012345678901234567890 is not an integer of 64 bits"
        );
    }

    #[test]
    fn what_is_not_json_has_a_place() {
        let source = Source::new("h");
        let error = |text: &'static [u8], line, column| {
            Item { text, line, column }.parse(&source).unwrap_err().to_string()
        };
        assert_eq!(error(b"{\"a\" 1}", 3, 5), "h:3:10: not JSON: expected `:`");
        assert_eq!(error(b"[1,\n 2 3]", 3, 5), "h:4:4: not JSON: expected `,` or `]`");
    }

    #[test]
    fn members_keep_their_places() {
        let source = Source::new("h");
        let item = Item { text: b"{\"a\" : 1,\n \"b\":[2]}", line: 3, column: 5 };
        let members = item.members(&source).unwrap();
        assert_eq!((members[0].0.as_str(), members[0].1.line, members[0].1.column), ("a", 3, 12));
        assert_eq!((members[1].0.as_str(), members[1].1.line, members[1].1.column), ("b", 4, 6));
    }
}
