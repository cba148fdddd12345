//! A readable notation for small histories, for tests and documentation.
//!
//! One session a line: `name: transaction | transaction | …`. A transaction is a sequence of
//! operations `w(x,1)`, `r(x,1)`, `a(l,3)` (append), `r(l,[1 3])`, `r(x,nil)` (the initial value);
//! a trailing `!` marks it aborted, a trailing `?` of unknown outcome; after that `@3-7` gives
//! begin and end times (`@3-` and `@-7` if only one is known). Transactions are called t1, t2, … in
//! the order of the text. A line `initial x=5 y=7` gives keys initial values that, unlike 0, stay
//! initial values if a transaction writes them as well. `#` starts a comment.

use crate::atom::{Atom, Value};
use crate::columns::Columns;
use crate::ids::KeyId;
use crate::mixed_keys::{MixedKey, ONE_KIND};
use crate::model::{History, KeyNames, Names, OpKind, Status};
use rustc_hash::FxHashMap;
use std::fmt;

/// What is wrong with a text in the notation.
#[derive(Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for NotationError {}

#[derive(Default)]
struct Parser {
    columns: Columns,
    keys: FxHashMap<String, KeyId>,
    names: Vec<Atom>,
    times: Vec<Times>,
    /// The line that is read, and that of each operation, for messages.
    line: u32,
    op_lines: Vec<u32>,
}

/// Begin and end, where they are known.
type Times = (Option<i64>, Option<i64>);

/// Reads a history; the initial value of each key is `nil`, and also what a line says, else `0`
/// unless a transaction writes 0 to the key.
pub fn parse(text: &str) -> Result<History, NotationError> {
    let mut parser = Parser::default();
    let mut sessions = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line_text = line.split('#').next().unwrap_or_default().trim();
        if line_text.is_empty() {
            continue;
        }
        let fail = |problem: String| NotationError { line: i + 1, problem };
        parser.line = i as u32 + 1;
        if let Some(values) = line_text.strip_prefix("initial ") {
            parser.initial(values).map_err(fail)?;
            continue;
        }
        let (name, rest) =
            line_text.split_once(':').ok_or_else(|| fail("expected `session: …`".to_owned()))?;
        sessions.push(Atom::Str(name.trim().into()));
        for txn in rest.split('|') {
            parser.txn(sessions.len() as u32 - 1, txn.trim()).map_err(fail)?;
        }
    }
    parser.finish(sessions)
}

impl Parser {
    fn initial(&mut self, values: &str) -> Result<(), String> {
        for word in values.split_whitespace() {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("expected `x=5`, found `{word}`"))?;
            let (key, value) = (self.key(key), self.value(value));
            self.columns.initial.values.insert(key, value);
        }
        Ok(())
    }

    fn txn(&mut self, session: u32, text: &str) -> Result<(), String> {
        let (text, times) = split_times(text)?;
        self.times.push(times);
        let (text, status) = match text.strip_suffix('!') {
            Some(text) => (text, Status::Aborted),
            None => match text.strip_suffix('?') {
                Some(text) => (text, Status::Unknown),
                None => (text, Status::Committed),
            },
        };
        let txn = self.columns.push_txn(session, status);
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = rest.find(')').ok_or_else(|| format!("expected `)` in `{rest}`"))?;
            self.op(txn, &rest[..end])?;
            rest = rest[end + 1..].trim_start();
        }
        Ok(())
    }

    fn op(&mut self, txn: u32, text: &str) -> Result<(), String> {
        let bad = || format!("expected an operation like w(x,1), found `{text})`");
        let (kind, arguments) = text.split_once('(').ok_or_else(bad)?;
        let (key, value) = arguments.split_once(',').ok_or_else(bad)?;
        let kind = match kind.trim() {
            "w" => OpKind::Write,
            "r" => OpKind::Read,
            "a" => OpKind::Append,
            _ => return Err(bad()),
        };
        let key = self.key(key.trim());
        let value = self.value(value.trim());
        self.columns.push_op(txn, kind, key, value);
        self.op_lines.push(self.line);
        Ok(())
    }

    fn key(&mut self, name: &str) -> KeyId {
        let next = KeyId::from(self.names.len());
        *self.keys.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(Atom::Str(name.into()));
            next
        })
    }

    fn value(&mut self, text: &str) -> Value {
        if text == "nil" {
            return Value::NULL;
        }
        if let Some(items) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let items = items.split_whitespace().map(|item| self.value(item)).collect();
            self.columns.lists.push(items);
            return Value::list(self.columns.lists.len() as u32 - 1);
        }
        let atom = text.parse().map(Atom::Int).unwrap_or_else(|_| Atom::Str(text.into()));
        self.columns.atoms.value(atom)
    }

    fn refuse_mixed_keys(&self) -> Result<(), NotationError> {
        let Some(mixed) = MixedKey::find(&self.columns, self.names.len()) else { return Ok(()) };
        let problem = mixed.problem(&self.columns, &self.names, self.op_lines[mixed.earlier]);
        Err(NotationError {
            line: self.op_lines[mixed.later] as usize,
            problem: format!("{problem}; {ONE_KIND}"),
        })
    }

    fn finish(mut self, sessions: Vec<Atom>) -> Result<History, NotationError> {
        self.columns.initial.default = Value::small(0);
        self.columns.initial.yields_to_writes = true;
        self.refuse_mixed_keys()?;
        self.columns.session_names = Names::Table(sessions);
        self.columns.key_names = KeyNames::Table(self.names);
        self.columns.txn_names = Names::Table(
            (1..=self.columns.txns.len())
                .map(|number| Atom::Str(format!("t{number}").into()))
                .collect(),
        );
        if self.times.iter().any(|&times| times != (None, None)) {
            let known = |(begin, end): &Times| (begin.unwrap_or(i64::MIN), end.unwrap_or(i64::MAX));
            self.columns.txn_times = Some(self.times.iter().map(known).collect());
        }
        self.columns.finish().map_err(|error| NotationError { line: 0, problem: error.to_string() })
    }
}

/// A transaction without its times, and these.
fn split_times(text: &str) -> Result<(&str, Times), String> {
    let Some((text, times)) = text.rsplit_once('@') else { return Ok((text, (None, None))) };
    let bad = || format!("expected times like @3-7, found `@{times}`");
    let (begin, end) = times.trim().split_once('-').ok_or_else(bad)?;
    let time = |text: &str| {
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|_| bad()) }
    };
    Ok((text.trim_end(), (time(begin)?, time(end)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpId, TxnId};

    #[test]
    fn sessions_transactions_and_operations_keep_their_order() {
        let history =
            parse("a: w(x,1) r(y,nil) | r(x,1)? # comment\n\nb: a(l,3) r(l,[3])!").unwrap();
        assert_eq!(history.session_count(), 2);
        assert_eq!(history.ops_of(TxnId(0)), 0..2);
        assert_eq!(history.status(TxnId(1)), Status::Unknown);
        assert_eq!(history.status(TxnId(2)), Status::Aborted);
        assert_eq!(history.value_text(history.op(OpId(4)).value), "[3]");
        assert_eq!(history.txn_name(TxnId(2)), Atom::Str("t3".into()));
    }

    #[test]
    fn initial_values_that_are_given_do_not_yield() {
        let history = parse("initial x=5 y=s\na: w(x,5) r(y,s) r(z,0)").unwrap();
        let keys: Vec<_> = history.keys().to_vec();
        assert_eq!(history.initial().value_of(keys[0]), Some(history.op(OpId(0)).value));
        assert_eq!(history.initial().value_of(keys[1]), Some(history.op(OpId(1)).value));
        assert!(!history.initial().yields(keys[0]) && history.initial().yields(keys[2]));
        assert_eq!(
            parse("initial x").unwrap_err().to_string(),
            "line 1: expected `x=5`, found `x`"
        );
    }

    #[test]
    fn times_stand_behind_a_transaction() {
        let history = parse("a: w(x,1) @1-4 | r(x,1)? @5-\nb: r(x,1)").unwrap();
        let times: Vec<_> = history.txns().map(|txn| history.times(txn).unwrap()).collect();
        assert_eq!(times, [(1, 4), (5, i64::MAX), (i64::MIN, i64::MAX)]);
        assert_eq!(history.status(TxnId(1)), Status::Unknown);
        assert!(!parse("a: w(x,1)").unwrap().has_times());
        assert!(parse("a: w(x,1) @soon").unwrap_err().problem.contains("@3-7"));
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let error = parse("a: w(x,1)\nb: q(x,1)").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.problem.contains("q(x,1)"), "{error}");
    }

    #[test]
    fn a_key_is_a_register_or_a_list() {
        let problem = |text| parse(text).unwrap_err().to_string();
        let error = problem("a: w(x,1)\nb: a(x,2)");
        let told = "line 2: the key x is appended to here, but written in line 1";
        assert!(error.starts_with(told), "{error}");
        let error = problem("a: w(x,1)\nb: r(x,[1])");
        assert!(error.contains("the key x is read as a list here, but written in line 1"));
        let error = problem("a: a(x,1) | r(x,1)");
        assert!(error.contains("the key x is read as a register here, but appended to"));
        // What both begin with says nothing.
        assert!(parse("a: a(x,1) r(y,nil) w(y,2)\nb: r(x,nil) r(x,0)").is_ok());
    }
}
