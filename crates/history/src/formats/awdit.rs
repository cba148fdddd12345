//! AWDIT's text: `w K V` or `r K V` a line, a line of dashes between transactions, of equal signs
//! between sessions.
//!
//! There is no initial value unless the file writes one, and no aborted transaction. Transactions
//! and sessions without operations cannot be told from separators, and are left out.

use super::Format;
use super::build::Builder;
use super::refusals::Writing;
use super::text::{Line, Source, excerpt, integer, significant_lines};
use crate::atom::Atom;
use crate::error::{ReadError, WriteError};
use crate::ids::TxnId;
use crate::model::{History, OpKind, Status};
use crate::place::PlaceUnit;
use std::io::Write;

/// Reads a history.
pub(super) fn read(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut reader =
        Reader { builder: Builder::default(), sessions: 0, session_open: false, txn: None };
    for line in significant_lines(bytes) {
        reader.line(&line, source)?;
    }
    reader.builder.finish(source, PlaceUnit::Line)
}

/// Whether a line consists of `byte` only.
pub(super) fn is_rule(text: &[u8], byte: u8) -> bool {
    !text.is_empty() && text.iter().all(|&b| b == byte)
}

struct Reader {
    builder: Builder,
    sessions: u32,
    /// Whether the last session has an operation and goes on.
    session_open: bool,
    txn: Option<u32>,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>, source: &Source) -> Result<(), ReadError> {
        if is_rule(line.text, b'=') {
            self.session_open = false;
        }
        if is_rule(line.text, b'=') || is_rule(line.text, b'-') {
            self.txn = None;
            return Ok(());
        }
        self.op(line, source)
    }

    fn op(&mut self, line: &Line<'_>, source: &Source) -> Result<(), ReadError> {
        let column_of =
            |word: &[u8]| line.column(word.as_ptr() as usize - line.text.as_ptr() as usize);
        let mut words = line.text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let kind = match words.next() {
            Some(b"w" | b"W") => OpKind::Write,
            Some(b"r" | b"R") => OpKind::Read,
            _ => {
                let problem = format!(
                    "expected `w K V`, `r K V`, `---` or `===`, found {}",
                    excerpt(line.text)
                );
                return Err(source.at(line.number, line.column(0), problem));
            }
        };
        let mut number = |what: &str| {
            let word = words.next().unwrap_or(&line.text[line.text.len()..]);
            let bad = |bad: super::text::BadInteger| {
                source.at(line.number, column_of(word), bad.problem(what, word))
            };
            integer(word).map(Atom::Int).map_err(bad)
        };
        let (key, value) = (number("a key")?, number("a value")?);
        if let Some(word) = words.next() {
            let problem = format!("expected the end of the line, found {}", excerpt(word));
            return Err(source.at(line.number, column_of(word), problem));
        }
        let txn = self.txn();
        let (key, value) = (self.builder.key(key), self.builder.value(value));
        self.builder.op(txn, kind, key, value, line.number);
        Ok(())
    }

    fn txn(&mut self) -> u32 {
        if let Some(txn) = self.txn {
            return txn;
        }
        if !self.session_open {
            self.session_open = true;
            self.sessions += 1;
        }
        let txn = self.builder.txn(self.sessions - 1, Status::Committed);
        self.txn = Some(txn);
        txn
    }
}

/// Writes a history.
pub(super) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::Awdit);
    writing.registers_only()?;
    writing.only_statuses(&[Status::Committed])?;
    let mut first_session = true;
    for session in history.sessions() {
        let mut txns = history
            .txns_of(session)
            .map(TxnId)
            .filter(|&txn| !history.ops_of(txn).is_empty())
            .peekable();
        if txns.peek().is_none() {
            continue;
        }
        if !std::mem::take(&mut first_session) {
            writeln!(out, "=====")?;
        }
        for (i, txn) in txns.enumerate() {
            if i > 0 {
                writeln!(out, "-----")?;
            }
            write_txn(&writing, txn, out)?;
        }
    }
    Ok(())
}

fn write_txn(writing: &Writing<'_>, txn: TxnId, out: &mut dyn Write) -> Result<(), WriteError> {
    for (op, content) in writing.ops(txn) {
        if content.kind == OpKind::Read && writing.is_initial(content.key, content.value) {
            let hint = "every value must be written by a transaction there";
            return Err(writing.unsupported_op(op, "reads of initial values", hint));
        }
        let letter = if content.kind == OpKind::Read { 'r' } else { 'w' };
        writeln!(out, "{letter} {} {}", writing.integer_key(op)?, writing.integer_value(op)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpId, SessionId};

    #[test]
    fn rules_separate_and_empty_transactions_are_ignored() {
        let text = b"=====\n-----\nw 0 0\n-----\n-----\nr 0 0\n====\n\n=====\nw 0 -1";
        let history = read(text, &Source::new("h")).unwrap();
        assert_eq!((history.session_count(), history.txn_count()), (2, 3));
        assert_eq!(history.txns_of(SessionId(0)), 0..2);
        assert_eq!(history.value_text(history.op(OpId(2)).value), "-1");
        assert!(history.initial().default.is_none());
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = |text: &str| read(text.as_bytes(), &Source::new("h")).unwrap_err().to_string();
        assert_eq!(
            error("w 0 0\n  r 1"),
            "h:2:6: expected a value (an integer), found the end of the line"
        );
        assert_eq!(error("w 0 1 2"), "h:1:7: expected the end of the line, found `2`");
        assert!(error("x 1 2").starts_with("h:1:1: expected `w K V`"));
        assert!(error("---\n").contains("no transactions"));
    }
}
