//! One line of a trace.

use super::Id;
use crate::atom::Atom;
use crate::formats::text::{excerpt, key_atom};

/// What a line says.
pub(super) struct TraceEvent {
    pub key: Atom,
    pub txn: Id,
    /// The writer, if this is a read.
    pub from: Option<Id>,
}

/// Why a line that begins like an event is none, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bad {
    pub at: usize,
    pub problem: String,
}

/// Whether a line is one of a trace, for recognising the format.
pub(in crate::formats) fn matches(text: &[u8]) -> bool {
    matches!(event(text), Ok(Some(_)))
}

/// What a line says; nothing if it is about something else.
pub(super) fn event(text: &[u8]) -> Result<Option<TraceEvent>, Bad> {
    if !is_meant(text) {
        return Ok(None);
    }
    let utf8 = std::str::from_utf8(text);
    let text = utf8.map_err(|error| Bad {
        at: error.valid_up_to(),
        problem: "expected text in UTF-8".to_owned(),
    })?;
    Cursor { text, at: 0 }.event().map(Some)
}

/// Whether a line can only be meant as an event: it begins with one of the words, or names a
/// transaction.
fn is_meant(text: &[u8]) -> bool {
    let word = text.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let next = text.get(word);
    let begins = match &text[..word] {
        b"READ" | b"WRITE" => next.is_none_or(u8::is_ascii_whitespace),
        b"INSERT" | b"DELETE" | b"CONTAINS" => next.is_none_or(|&byte| byte == b'['),
        _ => false,
    };
    begins || text.windows(4).any(|part| part == b"Txn(")
}

/// A line, read from left to right.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn event(&mut self) -> Result<TraceEvent, Bad> {
        if self.skip("READ ") {
            let key = key_atom(self.bracket("KEY[")?);
            let txn = self.id("Txn(")?;
            return Ok(TraceEvent { key, txn, from: Some(self.id("From(")?) });
        }
        if self.skip("WRITE ") {
            let key = key_atom(self.bracket("KEY[")?);
            return Ok(TraceEvent { key, txn: self.id("Txn(")?, from: None });
        }
        for (word, of_set) in [("INSERT", "to Set["), ("DELETE", "from Set[")] {
            if self.skip(word) {
                let key = self.element(of_set)?;
                return Ok(TraceEvent { key, txn: self.id("Txn(")?, from: None });
            }
        }
        if self.skip("CONTAINS") {
            let key = self.element("in Set[")?;
            let from = self.id("From(")?;
            return Ok(TraceEvent { key, txn: self.id("Txn(")?, from: Some(from) });
        }
        Err(self.expected(
            "an event, which begins with READ KEY[, WRITE KEY[, INSERT[, DELETE[ or CONTAINS[",
        ))
    }

    /// The pseudo-key of an element of a set.
    fn element(&mut self, of_set: &str) -> Result<Atom, Bad> {
        let element = self.bracket("[")?;
        let set = self.bracket(of_set)?;
        Ok(Atom::Str(format!("Set({set}:{element})").into()))
    }

    /// What stands between `start` and the next `]`.
    fn bracket(&mut self, start: &str) -> Result<&'a str, Bad> {
        self.expect(start)?;
        self.until(']')
    }

    /// An id between `start` and the next `)`.
    fn id(&mut self, start: &str) -> Result<Id, Bad> {
        self.expect(start)?;
        let at = self.at;
        let inner = self.until(')')?;
        let Some((session, index)) = inner.split_once(',') else {
            let problem = format!(
                "expected session and index like `1, 0`, found {}",
                excerpt(inner.as_bytes())
            );
            return Err(Bad { at, problem });
        };
        Ok(Id(number(session, at)?, number(index, at + session.len() + 1)?))
    }

    fn expect(&mut self, literal: &str) -> Result<(), Bad> {
        self.blanks();
        if self.skip(literal) { Ok(()) } else { Err(self.expected(&format!("`{literal}`"))) }
    }

    /// What stands before the next `end`, which is passed over too.
    fn until(&mut self, end: char) -> Result<&'a str, Bad> {
        let Some((inner, _)) = self.rest().split_once(end) else {
            self.at = self.text.len();
            return Err(self.expected(&format!("`{end}`")));
        };
        self.at += inner.len() + end.len_utf8();
        Ok(inner)
    }

    fn skip(&mut self, literal: &str) -> bool {
        let found = self.rest().starts_with(literal);
        self.at += if found { literal.len() } else { 0 };
        found
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn expected(&self, what: &str) -> Bad {
        Bad {
            at: self.at,
            problem: format!("expected {what}, found {}", excerpt(self.rest().as_bytes())),
        }
    }
}

/// A part of an id that begins at byte `at`.
fn number(text: &str, at: usize) -> Result<u64, Bad> {
    let at = at + text.len() - text.trim_start().len();
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Bad {
            at,
            problem: format!("expected a number in an id, found {}", excerpt(text.as_bytes())),
        });
    }
    text.parse()
        .map_err(|_| Bad { at, problem: format!("the id {text} does not fit into 64 bits") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(text: &str) -> (usize, String) {
        event(text.as_bytes()).map(|_| ()).map_err(|bad| (bad.at, bad.problem)).unwrap_err()
    }

    #[test]
    fn an_event_that_is_cut_off_says_what_is_missing_and_where() {
        assert_eq!(
            bad("READ KEY[chk:1] Txn(1, 0"),
            (24, "expected `)`, found the end of the line".to_owned())
        );
        assert_eq!(
            bad("READ KEY[x] Txn(1, 0)"),
            (21, "expected `From(`, found the end of the line".to_owned())
        );
        assert_eq!(bad("WRITE"), (0, bad("WRITE").1));
        assert_eq!(bad("WRITE KEY[x] Txn(1, q)").0, 20);
        assert_eq!(bad("WRITE KEY[x] Txn(10)").0, 17);
        assert_eq!(bad("INSERT[k] Set[s] Txn(1, 0)").0, 10);
        assert_eq!(bad("REXD KEY[x] Txn(1, 0)").0, 0);
        assert!(event(b"WRITE KEY[\xff] Txn(1, 0)").is_err_and(|bad| bad.at == 10));
    }

    #[test]
    fn lines_of_other_programs_are_left_alone() {
        for line in [
            "nonsense",
            "INSERT INTO t VALUES (1)",
            "12:00 INFO started",
            "READY",
            "DELETED 5 rows",
            "\u{1}",
        ] {
            assert!(matches!(event(line.as_bytes()), Ok(None)), "{line}");
        }
    }
}
