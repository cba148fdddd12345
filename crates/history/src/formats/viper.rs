//! Viper's JSON logs: a file a session, a committed transaction a line, `{"value": [["r", k, v,
//! false], …]}`.
//!
//! Inserts are writes; deletes are writes of a value that marks the key as dead; a range is a read
//! of each row that it returned. A read that found a deleted row says so with a flag, and is of the
//! deletion, if the key has only one. One transaction with `"isInitial": true` may give the initial
//! state; without it, a value that no transaction wrote is taken to be part of the unknown initial
//! state.

use super::Format;
use super::build::Builder;
use super::directory::LogFile;
use super::json::{self, Item, Json, Values};
use super::refusals::Writing;
use super::text::{Source, excerpt};
use crate::atom::{Atom, Value};
use crate::error::{ReadError, WriteError};
use crate::ids::{KeyId, OpId, SessionId, TxnId};
use crate::model::{History, Names, Op, OpKind, Status};
use crate::place::PlaceUnit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Write;

/// Reads the files of a history, one a session.
pub(super) fn read(files: &[LogFile<'_>], shown_as: &Source) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    for file in files {
        reader.file(file)?;
    }
    reader.finish(shown_as)
}

/// An operation before we know whether a transaction wrote its value.
struct Pending {
    txn: u32,
    kind: OpKind,
    key: KeyId,
    value: Value,
    /// A deletion, or a read that found a deleted row and names no value.
    dead: bool,
    line: u64,
    column: usize,
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    pending: Vec<Pending>,
    has_initial: bool,
}

/// The deletions of a key: the value of one, and how many there are.
type Deletions = FxHashMap<KeyId, (Value, usize)>;

impl Reader {
    fn file(&mut self, file: &LogFile<'_>) -> Result<(), ReadError> {
        let mut session = None;
        for item in Values::new(file.bytes, &file.source) {
            let item = item?;
            let content = item.parse(&file.source)?;
            if content.get("isInitial") == Some(&Json::Bool(true)) {
                self.initial(&content).map_err(|problem| item.fail(&file.source, problem))?;
                continue;
            }
            // Only now: the file of the initial transaction is no session.
            let session = *session.get_or_insert_with(|| {
                self.builder.columns.files.push(file.source.name.clone());
                self.builder.session(file.session.clone())
            });
            self.txn(session, &content, &item)
                .map_err(|problem| item.fail(&file.source, problem))?;
        }
        Ok(())
    }

    fn initial(&mut self, content: &Json) -> Result<(), String> {
        if std::mem::replace(&mut self.has_initial, true) {
            return Err("a second initial transaction".to_owned());
        }
        for mop in mops(content)? {
            for access in accesses(mop)? {
                let key = self.builder.key(access.key);
                if let Some(value) = access.value {
                    let value = self.builder.value(value);
                    self.builder.columns.initial.values.insert(key, value);
                }
            }
        }
        Ok(())
    }

    fn txn(&mut self, session: u32, content: &Json, item: &Item<'_>) -> Result<(), String> {
        let mops = mops(content)?;
        let txn = self.builder.txn(session, Status::Committed);
        for mop in mops {
            for access in accesses(mop)? {
                let key = self.builder.key(access.key);
                let tombstone = self.pending.len();
                let value = match (access.value, access.kind) {
                    (Some(value), _) => self.builder.value(value),
                    (None, OpKind::Read) => Value::NULL,
                    (None, _) => {
                        self.builder.value(Atom::Str(format!("deleted {tombstone}").into()))
                    }
                };
                let (kind, dead) = (access.kind, access.dead);
                self.pending.push(Pending {
                    txn,
                    kind,
                    key,
                    value,
                    dead,
                    line: item.line,
                    column: item.column,
                });
            }
        }
        Ok(())
    }

    fn finish(mut self, shown_as: &Source) -> Result<History, ReadError> {
        self.match_dead_reads()?;
        let writes =
            self.pending.iter().filter(|op| op.kind != OpKind::Read).map(|op| (op.key, op.value));
        let written: FxHashSet<(KeyId, Value)> = writes.collect();
        for op in std::mem::take(&mut self.pending) {
            let unwritten = op.kind == OpKind::Read && !written.contains(&(op.key, op.value));
            // With a known initial state, only 0 still says that there was nothing.
            let initial = unwritten && (!self.has_initial || op.value.raw() == 0);
            let value = if initial { Value::NULL } else { op.value };
            self.builder.op(op.txn, op.kind, op.key, value, op.line);
        }
        self.builder.columns.txn_names = Names::Implicit { first: 1 };
        self.builder.finish(shown_as, PlaceUnit::Line)
    }

    /// Gives each read of a deleted row the value of the deletion: its own transaction's, or the
    /// only one. A key that is never deleted was not there from the beginning.
    fn match_dead_reads(&mut self) -> Result<(), ReadError> {
        let mut deletions = Deletions::default();
        for op in self.pending.iter().filter(|op| op.dead && op.kind != OpKind::Read) {
            deletions.entry(op.key).or_insert((op.value, 0)).1 += 1;
        }
        let mut own: FxHashMap<(u32, KeyId), Value> = FxHashMap::default();
        for i in 0..self.pending.len() {
            let Pending { txn, kind, key, value, dead, .. } = self.pending[i];
            match (kind, dead) {
                (OpKind::Read, false) => {}
                (OpKind::Read, true) => {
                    let matched = match (own.get(&(txn, key)), deletions.get(&key)) {
                        (Some(&value), _) | (None, Some(&(value, 1))) => value,
                        (None, None) => Value::NULL,
                        (None, Some(&(_, count))) => {
                            return Err(self.ambiguous(&self.pending[i], count));
                        }
                    };
                    self.pending[i].value = matched;
                }
                (_, true) => drop(own.insert((txn, key), value)),
                (_, false) => drop(own.remove(&(txn, key))),
            }
        }
        Ok(())
    }

    fn ambiguous(&self, op: &Pending, count: usize) -> ReadError {
        let columns = &self.builder.columns;
        let name = columns.files[columns.txns[op.txn as usize].session as usize].clone();
        let key = &self.builder.key_names()[op.key.index()];
        let problem = format!(
            "this read found key {key} deleted, but {count} deletions may have been what it saw"
        );
        let hint = "record a value of its own with each deletion".to_owned();
        Source { name }.at_with_hint(op.line, op.column, problem, Some(hint))
    }
}

/// A read or write of one key; no value for a deletion without one.
struct Access {
    kind: OpKind,
    key: Atom,
    value: Option<Atom>,
    /// A deletion, or a read that found a deleted row and names no value.
    dead: bool,
}

fn mops(content: &Json) -> Result<&[Json], String> {
    let mops = content.get("value").and_then(Json::as_array);
    mops.ok_or_else(|| "expected a transaction like {\"value\": [[\"r\", 1, 2, false]]}".to_owned())
}

fn accesses(mop: &Json) -> Result<Vec<Access>, String> {
    let bad = || {
        format!(
            "expected an operation like [\"w\", 1, 2, true], found {}",
            excerpt(mop.to_string().as_bytes())
        )
    };
    let parts = mop.as_array().ok_or_else(bad)?;
    let [name, key, value, flags @ ..] = parts else { return Err(bad()) };
    let name = name.as_str().ok_or_else(bad)?;
    if name == "range" {
        return range(flags, value).ok_or_else(bad)?;
    }
    let failed = |position: usize| flags.get(position) == Some(&Json::Bool(false));
    let (kind, failed) = match name {
        "r" => (OpKind::Read, false),
        "w" => (OpKind::Write, failed(0)),
        "i" | "d" => (OpKind::Write, failed(2)),
        _ => return Err(bad()),
    };
    if failed {
        return Ok(Vec::new());
    }
    let dead_read = name == "r" && flags.first() == Some(&Json::Bool(true)) && marks_nothing(value);
    let dead = name == "d" || dead_read;
    let value = match name {
        "d" if marks_nothing(value) => None,
        "r" if value.is_null() || dead_read => None,
        _ => Some(json::atom(value)?),
    };
    Ok(vec![Access { kind, key: json::atom(key)?, value, dead }])
}

/// Whether a value says that there is none.
fn marks_nothing(value: &Json) -> bool {
    value.is_null() || value.as_u64() == Some(0)
}

/// `["range", k1, k2, rows, dead rows]`: a read of each row.
fn range(flags: &[Json], _upper: &Json) -> Option<Result<Vec<Access>, String>> {
    let lists: Option<Vec<&[Json]>> = flags.iter().take(2).map(Json::as_array).collect();
    let lists = lists.filter(|lists| !lists.is_empty())?.into_iter().enumerate();
    let rows = lists.flat_map(|(i, rows)| rows.iter().map(move |row| (row, i == 1)));
    let row = |(row, is_dead): (&Json, bool)| match (row.get("id"), row.get("val")) {
        (Some(id), Some(value)) => {
            let dead = is_dead && marks_nothing(value);
            let value = if dead { None } else { Some(json::atom(value)?) };
            Ok(Access { kind: OpKind::Read, key: json::atom(id)?, value, dead })
        }
        _ => Err(format!(
            "expected a row like {{\"id\": 1, \"val\": 2}}, found {}",
            excerpt(row.to_string().as_bytes())
        )),
    };
    Some(rows.map(row).collect())
}

/// A history on its way into logs.
pub(super) struct LogWriter<'h> {
    writing: Writing<'h>,
    written: FxHashSet<(KeyId, Value)>,
    written_zero: FxHashSet<KeyId>,
    /// Whether the initial state must be written, because there is one or because a read
    /// contradicts it.
    pub needs_initial: bool,
}

impl<'h> LogWriter<'h> {
    /// Looks for what logs cannot hold.
    pub fn new(history: &'h History) -> Result<LogWriter<'h>, WriteError> {
        let writing = Writing::new(history, Format::Viper);
        writing.registers_only()?;
        writing.refuse_contested_reads(|key| history.initial().values.contains_key(&key))?;
        writing.only_statuses(&[Status::Committed])?;
        let ops = || (0..history.op_count() as u32).map(|op| history.op(OpId(op)));
        let written: FxHashSet<_> =
            ops().filter(|op| op.kind.is_write()).map(|op| (op.key, op.value)).collect();
        let from_nowhere = |op: Op| {
            op.kind == OpKind::Read
                && !written.contains(&(op.key, op.value))
                && !writing.is_initial(op.key, op.value)
        };
        let needs_initial = !history.initial().values.is_empty() || ops().any(from_nowhere);
        let written_zero = writing.keys_written_zero();
        Ok(LogWriter { writing, written, written_zero, needs_initial })
    }

    /// Writes the initial transaction.
    pub fn write_initial(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        let history = self.writing.history;
        let mut values: Vec<(KeyId, Value)> =
            history.initial().values.iter().map(|(&k, &v)| (k, v)).collect();
        values.sort_unstable();
        let mops: Vec<Json> = values
            .into_iter()
            .map(|(key, value)| {
                let value = super::elle::json_value(history, value);
                let key = json::of_atom(&history.key_name(key));
                Json::Array(vec!["w".into(), key, value, true.into()])
            })
            .collect();
        Ok(writeln!(out, "{}", Json::object([("isInitial", true.into()), ("value", mops.into())]))?)
    }

    /// Writes the log of a session.
    pub fn write(&self, session: SessionId, out: &mut dyn Write) -> Result<(), WriteError> {
        for txn in self.writing.history.txns_of(session).map(TxnId) {
            let mops: Result<Vec<Json>, WriteError> =
                self.writing.ops(txn).map(|op| self.mop(op)).collect();
            writeln!(out, "{}", Json::object([("value", mops?.into())]))?;
        }
        Ok(())
    }

    fn mop(&self, (op, content): (OpId, Op)) -> Result<Json, WriteError> {
        let integer = |number: i128| json::of_atom(&Atom::Int(number));
        let key = integer(self.writing.integer_key(op)?);
        if content.kind != OpKind::Read {
            let value = integer(self.writing.integer_value(op)?);
            return Ok(Json::Array(vec!["w".into(), key, value, true.into()]));
        }
        let value = if self.writing.is_initial(content.key, content.value) {
            self.initial_value(op, content)?
        } else if content.value.raw() == 0 && !self.written.contains(&(content.key, content.value))
        {
            let hint = "0 means no value there";
            return Err(self.writing.unsupported_op(op, "a read of a 0 that nobody wrote", hint));
        } else {
            self.writing.integer_value(op)?
        };
        Ok(Json::Array(vec!["r".into(), key, integer(value), false.into()]))
    }

    /// The number that a reader will take for the initial value of the key.
    fn initial_value(&self, op: OpId, content: Op) -> Result<i128, WriteError> {
        let explicit = self.writing.history.initial().values.get(&content.key);
        if explicit == Some(&content.value) {
            return self.writing.integer_value(op);
        }
        if self.written_zero.contains(&content.key) {
            let what = "a read of the initial value of a key to which 0 is written";
            return Err(self.writing.unsupported_op(op, what, "0 means no value there"));
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(contents: &[&str]) -> Result<History, ReadError> {
        let files: Vec<LogFile<'_>> = contents
            .iter()
            .enumerate()
            .map(|(i, text)| LogFile {
                session: Atom::Int(i as i128),
                source: Source::new(&format!("J{i}.log")),
                bytes: text.as_bytes(),
            })
            .collect();
        read(&files, &Source::new("dir"))
    }

    #[test]
    fn what_nobody_wrote_is_initial_unless_the_initial_state_is_known() {
        let log =
            "{\"value\": [[\"r\", 1, -5, false], [\"w\", 1, 7, true], [\"w\", 1, 8, false]]}\n";
        let history = parse(&[log, "{\"value\": [[\"r\", 1, 7, false]]}"]).unwrap();
        assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (2, 2, 3));
        assert_eq!(history.op(OpId(0)).value, Value::NULL);
        let history =
            parse(&["{\"isInitial\": true, \"value\": [[\"w\", 2, 3, true]]}", log]).unwrap();
        assert_eq!(history.session_count(), 1);
        assert_eq!(history.value_text(history.op(OpId(0)).value), "-5");
        assert_eq!(history.initial().values.len(), 1);
    }

    #[test]
    fn deletes_mark_and_ranges_read() {
        let history =
            parse(&["{\"value\": [[\"d\", 1, 0, 5, false, true], [\"i\", 2, 9, 0, true, true], \
                               [\"range\", 1, \"nil\", [{\"id\": 2, \"val\": 9}], []]]}"])
            .unwrap();
        let kinds = history.kinds().to_vec();
        assert_eq!(kinds, [OpKind::Write, OpKind::Write, OpKind::Read]);
        assert_eq!(history.value_text(history.op(OpId(0)).value), "deleted 0");
        assert_eq!(history.op(OpId(1)).value, history.op(OpId(2)).value);
    }

    #[test]
    fn a_read_of_a_deleted_row_is_of_the_only_deletion() {
        let delete = "{\"value\": [[\"d\", 1, 0, 5, false, true]]}\n";
        let reads = "{\"value\": [[\"r\", 1, 0, true], [\"r\", 2, 0, true]]}\n";
        let range = "{\"value\": [[\"range\", 0, 9, [], [{\"id\": 1, \"val\": 0}]]]}\n";
        let history = parse(&[delete, &[reads, range].concat()]).unwrap();
        let values: Vec<String> =
            history.values().iter().map(|&value| history.value_text(value)).collect();
        assert_eq!(values, ["deleted 0", "deleted 0", "nil", "deleted 0"]);
        let error =
            parse(&[&[delete, delete].concat(), &["\n", reads].concat()]).unwrap_err().to_string();
        assert!(
            error.starts_with("J1.log:2:1: this read found key 1 deleted, but 2 deletions may"),
            "{error}"
        );
        // What a transaction deleted itself is what it sees.
        let own = "{\"value\": [[\"d\", 1, 0, 5, false, true], [\"r\", 1, null, true]]}\n";
        let history = parse(&[delete, own]).unwrap();
        assert_eq!(history.op(OpId(1)).value, history.op(OpId(2)).value);
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = |text: &str| parse(&[text]).unwrap_err().to_string();
        assert!(
            error("\n{\"value\": [[\"q\", 1, 2]]}")
                .starts_with("J0.log:2:1: expected an operation")
        );
        assert!(error("{\"valu\": []}").contains("expected a transaction"));
        assert!(error("").contains("no transactions"));
    }
}
