//! EDN, all of it: maps, vectors, lists, sets, strings, characters, keywords, symbols, numbers of
//! every kind, tagged and discarded values, namespaced maps; also what Clojure prints beside it:
//! regular expressions, `##Inf` and metadata.
//!
//! Histories need maps, sequences, keywords, strings and integers; every other scalar keeps its
//! text. Tags and metadata say nothing that we need and are dropped. Nesting is kept on a stack of
//! our own and limited, so that no input can exhaust the machine's.

mod scalar;
#[cfg(test)]
mod tests;

use crate::error::ReadError;
use crate::formats::text::{Source, excerpt, without_bom};

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
    /// A symbol, a float, a ratio, a character, a regular expression, an integer that does not fit:
    /// as it stands in the file.
    Other(Box<str>),
    /// A vector or a list.
    Seq(Vec<Edn>),
    /// A set, in the order of the file.
    Set(Vec<Edn>),
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
    /// Where the last outermost value began, behind its tags.
    body: Start,
    in_vector: bool,
    started: bool,
    failed: bool,
}

/// What waits for values.
struct Waiting {
    what: Wait,
    line: u64,
    column: usize,
}

enum Wait {
    /// A collection that is not closed yet.
    Collection { kind: Kind, items: Vec<Edn> },
    /// A tag: the next value is what it is about.
    Tag,
    /// `#_` or metadata: the next value counts for nothing.
    Discard,
}

enum Kind {
    Vector,
    List,
    Set,
    /// With the namespace of its keys.
    Map(Option<Box<str>>),
}

impl Kind {
    fn close(&self) -> u8 {
        match self {
            Kind::Vector => b']',
            Kind::List => b')',
            Kind::Set | Kind::Map(_) => b'}',
        }
    }
}

impl<'a> Forms<'a> {
    pub fn new(bytes: &'a [u8], source: &'a Source) -> Forms<'a> {
        Forms {
            bytes: without_bom(bytes),
            at: 0,
            line: 1,
            line_start: 0,
            source,
            body: Start { at: 0, line: 1, line_start: 0 },
            in_vector: false,
            started: false,
            failed: false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<u8> {
        self.bytes.get(self.at + 1).copied()
    }

    fn column(&self) -> usize {
        self.at - self.line_start + 1
    }

    fn here(&self) -> Start {
        Start { at: self.at, line: self.line, line_start: self.line_start as isize }
    }

    fn fail(&self, problem: impl Into<String>) -> ReadError {
        self.source.at(self.line, self.column(), problem)
    }

    fn step(&mut self) -> Result<Option<Form>, ReadError> {
        self.skip_discarded()?;
        if !std::mem::replace(&mut self.started, true) && self.opens_history() {
            self.in_vector = true;
            self.at += 1;
            self.skip_discarded()?;
        }
        match self.peek() {
            None if self.in_vector => {
                Err(self.fail("expected `]` at the end of the history; is the file truncated?"))
            }
            None => Ok(None),
            Some(b']' | b')') if self.in_vector => self.end().map(|()| None),
            Some(_) => {
                let value = self.value()?;
                Ok(Some(Form { value, start: self.body }))
            }
        }
    }

    /// Whether a vector with the whole history begins here, perhaps behind a tag, which is passed.
    fn opens_history(&mut self) -> bool {
        let before = (self.at, self.line, self.line_start);
        if self.peek() == Some(b'#') && self.peek_second().is_some_and(begins_tag) {
            self.at += 1;
            self.token();
            self.skip_blank();
        }
        let opens = matches!(self.peek(), Some(b'[' | b'('));
        if !opens {
            (self.at, self.line, self.line_start) = before;
        }
        opens
    }

    /// After the bracket of the whole history nothing follows.
    fn end(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        self.in_vector = false;
        self.skip_discarded()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => {
                Err(self.fail(format!("expected the end of the file, found {}", self.rest())))
            }
        }
    }

    /// Blanks, comments, and values that count for nothing.
    fn skip_discarded(&mut self) -> Result<(), ReadError> {
        loop {
            self.skip_blank();
            match (self.peek(), self.peek_second()) {
                (Some(b'#'), Some(b'_' | b'^')) => self.at += 2,
                (Some(b'^'), _) => self.at += 1,
                _ => return Ok(()),
            }
            self.value()?;
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
            let name = inside.value().ok()?;
            let is_value = matches!(&name, Edn::Keyword(name) | Edn::Str(name)
                if name.rsplit('/').next() == Some("value"));
            inside.skip_blank();
            let before = (inside.at, inside.line, inside.line_start);
            inside.value().ok()?;
            if is_value {
                // Behind its tags, into the sequence.
                (inside.at, inside.line) = (inside.body.at + 1, inside.body.line);
                inside.line_start = usize::try_from(inside.body.line_start).unwrap_or(before.2);
                break;
            }
        }
        inside.skip_discarded().ok()?;
        for _ in 0..index {
            inside.value().ok()?;
            inside.skip_discarded().ok()?;
        }
        Some((inside.line, inside.column()))
    }

    fn rest(&self) -> String {
        excerpt(&self.bytes[self.at.min(self.bytes.len())..])
    }

    /// White space, commas and comments.
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
                b'/' if self.peek_second() == Some(b'/') => self.skip_line(),
                b'#' if self.peek_second().is_none_or(is_comment_after_hash) => self.skip_line(),
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

    /// The next value; where it begins behind its tags is in `body`.
    fn value(&mut self) -> Result<Edn, ReadError> {
        let mut waiting: Vec<Waiting> = Vec::new();
        // How many of them are tags before the value itself.
        let mut tags = 0;
        loop {
            self.skip_blank();
            let Some(byte) = self.peek() else {
                return Err(self.unclosed(waiting.last()));
            };
            let start = self.here();
            if waiting.len() == tags {
                self.body = start;
            }
            let value = match byte {
                b'{' | b'[' | b'(' => {
                    let kind = self.opened();
                    self.wait(&mut waiting, collection(kind), start)?;
                    continue;
                }
                b'^' => {
                    self.at += 1;
                    self.wait(&mut waiting, Wait::Discard, start)?;
                    continue;
                }
                b'#' => match self.dispatch()? {
                    Dispatch::Value(value) => value,
                    Dispatch::Wait(wait) => {
                        let is_leading = waiting.len() == tags && matches!(wait, Wait::Tag);
                        self.wait(&mut waiting, wait, start)?;
                        tags += usize::from(is_leading);
                        continue;
                    }
                },
                b'}' | b']' | b')' => self.close(&mut waiting)?,
                b'"' => self.string()?,
                _ => self.scalar()?,
            };
            if let Some(value) = handed_up(&mut waiting, value) {
                return Ok(value);
            }
        }
    }

    fn unclosed(&self, waiting: Option<&Waiting>) -> ReadError {
        let Some(waiting) = waiting else {
            return self.fail("expected a value, found the end of the file");
        };
        let problem = match &waiting.what {
            Wait::Collection { kind, .. } => format!(
                "`{}` is missing for what starts here; is the file truncated?",
                kind.close() as char
            ),
            Wait::Tag | Wait::Discard => {
                "expected a value after this, found the end of the file".to_owned()
            }
        };
        self.source.at(waiting.line, waiting.column, problem)
    }

    /// Passes the bracket here.
    fn opened(&mut self) -> Kind {
        let kind = match self.peek() {
            Some(b'{') => Kind::Map(None),
            Some(b'[') => Kind::Vector,
            _ => Kind::List,
        };
        self.at += 1;
        kind
    }

    fn wait(&self, waiting: &mut Vec<Waiting>, what: Wait, start: Start) -> Result<(), ReadError> {
        let (line, column) = start.place();
        if waiting.len() == DEPTH_MAX {
            let problem =
                format!("nested more than {DEPTH_MAX} levels deep: this is not a history");
            return Err(self.source.at(line, column, problem));
        }
        waiting.push(Waiting { what, line, column });
        Ok(())
    }

    /// What a `#` here begins.
    fn dispatch(&mut self) -> Result<Dispatch, ReadError> {
        let wait = match self.peek_second() {
            Some(b'{') => {
                self.at += 2;
                collection(Kind::Set)
            }
            Some(b'_' | b'^') => {
                self.at += 2;
                Wait::Discard
            }
            Some(b':') => collection(self.namespaced()?),
            Some(b'"') => return self.regular_expression().map(Dispatch::Value),
            Some(b'#') => return self.symbolic().map(Dispatch::Value),
            Some(byte) if begins_tag(byte) => {
                self.at += 1;
                self.token();
                Wait::Tag
            }
            _ => {
                return Err(
                    self.fail(format!("expected a value, found {}, which is no EDN", self.rest()))
                );
            }
        };
        Ok(Dispatch::Wait(wait))
    }

    /// `#:name{…}`, `#::alias{…}` or `#::{…}`, up to and with the bracket.
    fn namespaced(&mut self) -> Result<Kind, ReadError> {
        let start = self.here();
        self.at += 2;
        self.at += usize::from(self.peek() == Some(b':'));
        let name = String::from_utf8_lossy(self.token()).into_owned();
        self.skip_blank();
        if self.peek() != Some(b'{') {
            let (line, column) = start.place();
            let problem = format!("expected a map after `#:{name}`, found {}", self.rest());
            return Err(self.source.at(line, column, problem));
        }
        self.at += 1;
        Ok(Kind::Map((!name.is_empty()).then(|| name.into())))
    }

    fn close(&mut self, waiting: &mut Vec<Waiting>) -> Result<Edn, ReadError> {
        let closes_nothing = || self.fail(format!("this bracket closes nothing: {}", self.rest()));
        let (kind, items) = match waiting.pop() {
            Some(Waiting { what: Wait::Collection { kind, items }, .. })
                if Some(kind.close()) == self.peek() =>
            {
                (kind, items)
            }
            Some(Waiting { what: Wait::Tag | Wait::Discard, line, column }) => {
                let problem = "expected a value after this, found a closing bracket";
                return Err(self.source.at(line, column, problem));
            }
            _ => return Err(closes_nothing()),
        };
        if matches!(kind, Kind::Map(_)) && items.len() % 2 != 0 {
            return Err(self.fail("a map needs a value for each key, but the last one has none"));
        }
        self.at += 1;
        Ok(match kind {
            Kind::Vector | Kind::List => Edn::Seq(items),
            Kind::Set => Edn::Set(items),
            Kind::Map(None) => Edn::Map(items),
            Kind::Map(Some(namespace)) => Edn::Map(qualified(items, &namespace)),
        })
    }
}

enum Dispatch {
    Value(Edn),
    Wait(Wait),
}

fn collection(kind: Kind) -> Wait {
    Wait::Collection { kind, items: Vec::new() }
}

/// Gives a value to what waits for it; the value itself if nothing does.
fn handed_up(waiting: &mut Vec<Waiting>, value: Edn) -> Option<Edn> {
    while let Some(top) = waiting.last_mut() {
        match &mut top.what {
            Wait::Collection { items, .. } => {
                items.push(value);
                return None;
            }
            Wait::Discard => {
                waiting.pop();
                return None;
            }
            Wait::Tag => {
                waiting.pop();
            }
        }
    }
    Some(value)
}

/// The keys of a map with the namespace that stands before it; `:_/name` has none.
fn qualified(mut items: Vec<Edn>, namespace: &str) -> Vec<Edn> {
    for key in items.iter_mut().step_by(2) {
        let Edn::Keyword(name) = key else { continue };
        let full = match name.strip_prefix("_/") {
            Some(plain) => plain.to_owned(),
            None if name.contains('/') => continue,
            None => format!("{namespace}/{name}"),
        };
        *name = full.into();
    }
    items
}

fn begins_tag(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether a `#` before this byte begins a comment, as in other text formats: what EDN and Clojure
/// give a meaning to does not.
fn is_comment_after_hash(byte: u8) -> bool {
    !begins_tag(byte) && !b"{_^:\"#'(?=<@".contains(&byte)
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
