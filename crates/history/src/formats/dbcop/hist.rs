//! dbcop's text: `[x:=1 y:=2] [y==2]`, transactions in brackets, a line of dashes before each
//! further session.
//!
//! `x==?` reads a variable that was never written; `]!` ends a transaction that did not commit.

use crate::atom::{Atom, Value};
use crate::error::{ReadError, WriteError};
use crate::formats::Format;
use crate::formats::awdit::is_rule;
use crate::formats::build::Builder;
use crate::formats::refusals::Writing;
use crate::formats::text::{Line, Source, excerpt, integer, significant_lines};
use crate::ids::{OpId, TxnId};
use crate::model::{History, Op, OpKind, Status};
use crate::place::PlaceUnit;
use std::io::Write;

/// Reads a history.
pub(in crate::formats) fn read(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut reader =
        Reader { builder: Builder::default(), sessions: 0, session_open: false, txn: None };
    let mut last = 1;
    for line in significant_lines(bytes) {
        last = line.number;
        if is_rule(line.text, b'-') && reader.txn.is_none() {
            reader.session_open = false;
            continue;
        }
        reader
            .line(&line)
            .map_err(|(at, problem)| source.at(line.number, line.column(at), problem))?;
    }
    if reader.txn.is_some() {
        return Err(source.at(
            last,
            0,
            "expected `]` before the end of the file; is it truncated?",
        ));
    }
    reader.builder.columns.txn_names = crate::model::Names::Implicit { first: 1 };
    reader.builder.columns.session_names = crate::model::Names::Implicit { first: 1 };
    reader.builder.finish(source, PlaceUnit::Line)
}

struct Reader {
    builder: Builder,
    sessions: u32,
    session_open: bool,
    /// The transaction whose bracket is open: it may go on in the next line.
    txn: Option<u32>,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>) -> Result<(), (usize, String)> {
        let text = line.text;
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            match rest[0] {
                b' ' | b'\t' | b',' | b'\r' => at += 1,
                b'/' if rest.starts_with(b"//") => return Ok(()),
                b'[' if self.txn.is_none() => {
                    self.open();
                    at += 1;
                }
                b']' if self.txn.is_some() => at += self.close(rest),
                _ => {
                    let Some(txn) = self.txn else {
                        return Err((at, format!("expected `[`, found {}", excerpt(rest))));
                    };
                    at += self.event(txn, rest, line.number).map_err(|problem| (at, problem))?;
                }
            }
        }
        Ok(())
    }

    fn open(&mut self) {
        if !self.session_open {
            self.session_open = true;
            self.sessions += 1;
        }
        self.txn = Some(self.builder.txn(self.sessions - 1, Status::Committed));
    }

    /// Ends the transaction; returns how many bytes that takes.
    fn close(&mut self, rest: &[u8]) -> usize {
        let uncommitted = rest.get(1) == Some(&b'!');
        if let (Some(txn), true) = (self.txn.take(), uncommitted) {
            self.builder.columns.txns[txn as usize].status = Status::Aborted;
        }
        1 + usize::from(uncommitted)
    }

    /// `x:=1`, `x==1` or `x==?`; returns how many bytes it takes.
    fn event(&mut self, txn: u32, rest: &[u8], line: u64) -> Result<usize, String> {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"],[".contains(byte);
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        let word = &rest[..len];
        let bad = || format!("expected `x:=1`, `x==1`, `x==?` or `]`, found {}", excerpt(rest));
        let sign = word
            .windows(2)
            .position(|pair| pair == b":=" || pair == b"==")
            .filter(|&at| at > 0)
            .ok_or_else(bad)?;
        let (name, value) = (&word[..sign], &word[sign + 2..]);
        let kind = if word[sign] == b':' { OpKind::Write } else { OpKind::Read };
        let name = std::str::from_utf8(name)
            .map_err(|_| "the name of a variable is not UTF-8".to_owned())?;
        let value = match (value, kind) {
            (b"?", OpKind::Read) => Value::NULL,
            _ => {
                let number = integer(value).map_err(|problem| problem.problem("a value", value))?;
                self.builder.value(Atom::Int(number))
            }
        };
        let key = self
            .builder
            .key(integer(name.as_bytes()).map_or_else(|_| Atom::Str(name.into()), Atom::Int));
        self.builder.op(txn, kind, key, value, line);
        Ok(len)
    }
}

/// Writes a history, a transaction a line.
pub(in crate::formats) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::DbcopHist);
    writing.registers_only()?;
    writing.refuse_contested_reads(|_| false)?;
    writing.only_statuses(&[Status::Committed, Status::Aborted])?;
    let sessions = history.sessions().filter(|&session| !history.txns_of(session).is_empty());
    for (i, session) in sessions.enumerate() {
        if i > 0 {
            writeln!(out, "---")?;
        }
        for txn in history.txns_of(session).map(TxnId) {
            let events: Result<Vec<String>, WriteError> =
                writing.ops(txn).map(|op| event(&writing, op)).collect();
            let end = if history.status(txn) == Status::Committed { "" } else { "!" };
            writeln!(out, "[{}]{end}", events?.join(" "))?;
        }
    }
    Ok(())
}

fn event(writing: &Writing<'_>, (op, content): (OpId, Op)) -> Result<String, WriteError> {
    let name = writing.history.key_name(content.key);
    let text = name.to_string();
    // What would end a name, or read back as another one.
    let reserved = text.is_empty()
        || text.bytes().any(|byte| byte.is_ascii_whitespace() || b"[],=:".contains(&byte))
        || text.starts_with("//")
        || text.starts_with('#')
        || (matches!(name, Atom::Str(_)) && integer(text.as_bytes()).is_ok());
    if reserved {
        return Err(writing.unsupported_op(op, &format!("the key `{text}`"), ""));
    }
    if content.kind != OpKind::Read {
        return Ok(format!("{text}:={}", writing.integer_value(op)?));
    }
    if writing.is_initial(content.key, content.value) {
        return Ok(format!("{text}==?"));
    }
    Ok(format!("{text}=={}", writing.integer_value(op)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_rules_and_marks_are_read() {
        let text = b"// note\n[x:=1 y:=2] [y==2]! // two\n----\n[]\n[x==?\n x==1]\n";
        let history = read(text, &Source::new("h")).unwrap();
        assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (2, 4, 5));
        assert_eq!(history.status(TxnId(1)), Status::Aborted);
        assert_eq!(history.op(OpId(3)).value, Value::NULL);
        assert_eq!(history.place(OpId(4)).unwrap().number, 6);
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = |text: &str| read(text.as_bytes(), &Source::new("h")).unwrap_err().to_string();
        assert_eq!(
            error("[x:=1]\n[x=1]"),
            "h:2:2: expected `x:=1`, `x==1`, `x==?` or `]`, found `x=1]`"
        );
        assert_eq!(error("x:=1"), "h:1:1: expected `[`, found `x:=1`");
        assert!(error("[x:=1").contains("truncated"));
        assert!(error("[x:=?]").contains("expected a value"));
        assert!(error("[x:=99999999999999999999]").contains("does not fit"));
    }
}
