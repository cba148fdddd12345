//! Elle's and Jepsen's histories: maps of operations, in EDN or as JSON objects.
//!
//! A transaction is an invocation and its completion by one process, which is the session. `:ok`
//! committed, `:fail` aborted, `:info` (or no completion at all) is unknown. What an unfinished or
//! failed transaction read is often not known (`nil`): such reads are dropped. In an `:ok`
//! transaction `nil` and `[]` are the initial value. Times are only meaningful between invocations
//! and completions, so a file without invocations has none.

mod edn;
mod write;

pub(super) use write::{json_value, txn_numbers, write_edn, write_json};

use super::build::Builder;
use super::json::Values;
use super::text::{Source, excerpt};
use crate::atom::{Atom, Value};
use crate::error::ReadError;
use crate::model::{History, OpKind, Status, TimeUnit};
use crate::place::PlaceUnit;
use edn::{Edn, Form, Forms, Start};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

/// Reads EDN.
pub(super) fn read_edn(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    let mut forms = Forms::new(bytes, source);
    while let Some(form) = forms.next() {
        let form = form?;
        let start = form.start;
        reader.form(form).map_err(|problem| {
            let (line, column) =
                problem.mop.and_then(|mop| forms.operation(start, mop)).unwrap_or(start.place());
            source.at(line, column, problem.text)
        })?;
    }
    reader.finish(source)
}

/// Reads JSON objects, one a line or in an array.
pub(super) fn read_json(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    for item in Values::new(bytes, source) {
        let item = item?;
        let value = of_json(item.parse(source)?);
        let start = Start { at: 0, line: item.line, line_start: 1 - item.column as isize };
        reader.form(Form { value, start }).map_err(|problem| {
            let operations =
                || item.member("value", source).or_else(|| item.member(":value", source));
            let place =
                problem.mop.and_then(|mop| operations()?.element(mop, source)).unwrap_or(item);
            place.fail(source, item.unrounded(problem.text))
        })?;
    }
    reader.finish(source)
}

/// The same in EDN's terms. `serde_json` limits the depth, and with it this recursion.
fn of_json(json: Json) -> Edn {
    match json {
        Json::Null => Edn::Nil,
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Edn::Int(number.into()),
            (_, Some(number)) => Edn::Int(number.into()),
            _ => Edn::Other(number.to_string().into()),
        },
        Json::Bool(value) => Edn::Other(value.to_string().into()),
        Json::String(text) => Edn::Str(text.into()),
        Json::Array(items) => Edn::Seq(items.into_iter().map(of_json).collect()),
        Json::Object(members) => Edn::Map(
            members
                .into_iter()
                .flat_map(|(name, value)| [Edn::Str(name.into()), of_json(value)])
                .collect(),
        ),
    }
}

/// What is wrong with a map, and with which of its operations.
struct Problem {
    text: String,
    mop: Option<usize>,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Problem { text, mop: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// When something happened, in the units that the file offers.
#[derive(Clone, Copy, Default)]
struct Stamp {
    time: Option<i64>,
    index: Option<i64>,
    position: i64,
}

/// An operation of a transaction, not yet interned.
struct Mop {
    kind: OpKind,
    key: Atom,
    argument: Argument,
}

enum Argument {
    Nil,
    One(Atom),
    List(Vec<Atom>),
}

/// A map of the file.
struct ElleEvent {
    kind: Type,
    process: i128,
    stamp: Stamp,
    mops: Option<Vec<Mop>>,
    line: u64,
}

/// The fields of a map that matter.
#[derive(Default)]
struct Fields {
    kind: Option<Edn>,
    process: Option<Edn>,
    f: Option<Edn>,
    value: Option<Edn>,
    stamp: Stamp,
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    /// The invocation of each process that has not completed.
    open: FxHashMap<i128, ElleEvent>,
    /// Whether the file has invocations.
    invoked: bool,
    /// Invocation and completion of each transaction.
    stamps: Vec<(Option<Stamp>, Option<Stamp>)>,
    forms: i64,
}

impl Reader {
    fn form(&mut self, form: Form) -> Result<(), Problem> {
        self.forms += 1;
        match event(form, self.forms)? {
            None => self.builder.columns.skipped += 1,
            Some(event) => self.event(event)?,
        }
        Ok(())
    }

    fn event(&mut self, event: ElleEvent) -> Result<(), String> {
        if event.kind == Type::Invoke {
            self.invoked = true;
            if let Some(lost) = self.open.insert(event.process, event) {
                self.txn(Status::Unknown, Some(lost), None)?;
            }
            return Ok(());
        }
        let invocation = self.open.remove(&event.process);
        let status = match event.kind {
            Type::Ok => Status::Committed,
            Type::Fail => Status::Aborted,
            _ => Status::Unknown,
        };
        self.txn(status, invocation, Some(event))
    }

    /// Adds a transaction from its invocation, its completion, or both.
    fn txn(
        &mut self,
        status: Status,
        begin: Option<ElleEvent>,
        end: Option<ElleEvent>,
    ) -> Result<(), String> {
        let Some(process) = end.as_ref().or(begin.as_ref()).map(|event| event.process) else {
            return Ok(());
        };
        let stamp = |event: &Option<ElleEvent>| event.as_ref().map(|event| event.stamp);
        self.stamps.push((stamp(&begin), stamp(&end)));
        let session = self.builder.session(Atom::Int(process));
        let txn = self.builder.txn(session, status);
        if status == Status::Committed && end.as_ref().is_some_and(|event| event.mops.is_none()) {
            return Err("a completion of type ok needs a :value with its operations".to_owned());
        }
        let Some(event) = end.filter(|event| event.mops.is_some()).or(begin) else { return Ok(()) };
        for mop in event.mops.into_iter().flatten() {
            self.mop(txn, status, mop, event.line);
        }
        Ok(())
    }

    fn mop(&mut self, txn: u32, status: Status, mop: Mop, line: u64) {
        let value = match mop.argument {
            Argument::Nil if status != Status::Committed => return,
            Argument::Nil => Value::NULL,
            Argument::One(atom) => self.builder.value(atom),
            Argument::List(items) => self.builder.list(items),
        };
        let key = self.builder.key(mop.key);
        self.builder.op(txn, mop.kind, key, value, line);
    }

    fn finish(mut self, source: &Source) -> Result<History, ReadError> {
        let mut open: Vec<ElleEvent> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|event| event.stamp.position);
        for event in open {
            let line = event.line;
            self.txn(Status::Unknown, Some(event), None)
                .map_err(|problem| source.at(line, 1, problem))?;
        }
        let unit = Unit::of(&self.stamps);
        if self.invoked {
            self.builder.columns.txn_times = Some(self.times(unit));
            if unit == Unit::Time {
                self.builder.columns.time_unit = TimeUnit::Nanoseconds;
            }
        }
        if let Some(names) = self.names() {
            self.builder.columns.txn_names = crate::Names::Numbers(names);
        }
        self.builder.finish(source, PlaceUnit::Line)
    }

    /// What never completed, or without our knowing, may take effect at any later time.
    fn times(&self, unit: Unit) -> Vec<(i64, i64)> {
        let unknown = self.builder.columns.txns.iter().map(|txn| txn.status == Status::Unknown);
        let times = self.stamps.iter().zip(unknown).map(|((begin, end), unknown)| {
            let begin = begin.map_or(i64::MIN, |stamp| unit.read(stamp));
            let end = end.filter(|_| !unknown).map_or(i64::MAX, |stamp| unit.read(stamp));
            (begin, end.max(begin))
        });
        times.collect()
    }

    /// The index of the completion (or invocation) of each transaction, if the file has them.
    fn names(&self) -> Option<Vec<i64>> {
        self.stamps.iter().map(|(begin, end)| end.or(*begin)?.index).collect()
    }
}

/// Which of its times a file has throughout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Time,
    Index,
    Position,
}

impl Unit {
    fn of(stamps: &[(Option<Stamp>, Option<Stamp>)]) -> Unit {
        let all = || stamps.iter().flat_map(|&(begin, end)| [begin, end]).flatten();
        if all().all(|stamp| stamp.time.is_some()) {
            Unit::Time
        } else if all().all(|stamp| stamp.index.is_some()) {
            Unit::Index
        } else {
            Unit::Position
        }
    }

    fn read(self, stamp: Stamp) -> i64 {
        let chosen = match self {
            Unit::Time => stamp.time,
            Unit::Index => stamp.index,
            Unit::Position => None,
        };
        chosen.unwrap_or(stamp.position)
    }
}

/// What a map says; `None` if it is not about a transaction of a client.
fn event(form: Form, position: i64) -> Result<Option<ElleEvent>, Problem> {
    let Edn::Map(items) = form.value else {
        return Err(format!(
            "expected a map like {{:type :ok, …}}, found {}",
            describe(&form.value)
        )
        .into());
    };
    let fields = fields(items, position)?;
    let Some(Edn::Int(process)) = fields.process else {
        return match fields.process {
            None => Err("this map has no :process".to_owned().into()),
            Some(_) => Ok(None),
        };
    };
    if fields.f.as_ref().is_some_and(|f| word(f) != Some("txn")) {
        return Ok(None);
    }
    let kind = match fields.kind.as_ref().and_then(word) {
        Some("invoke") => Type::Invoke,
        Some("ok") => Type::Ok,
        Some("fail") => Type::Fail,
        Some("info") => Type::Info,
        _ => {
            let found = fields.kind.as_ref().map_or("none".to_owned(), describe);
            return Err(
                format!("expected a :type of invoke, ok, fail or info, found {found}").into()
            );
        }
    };
    let mops = match fields.value {
        None | Some(Edn::Nil) => None,
        Some(Edn::Seq(mops)) => {
            Some(mops.into_iter().enumerate().map(numbered_mop).collect::<Result<_, _>>()?)
        }
        Some(other) => {
            return Err(
                format!("expected a :value like [[:r x nil]], found {}", describe(&other)).into()
            );
        }
    };
    Ok(Some(ElleEvent { kind, process, stamp: fields.stamp, mops, line: form.start.line }))
}

fn fields(items: Vec<Edn>, position: i64) -> Result<Fields, String> {
    let mut fields = Fields { stamp: Stamp { position, ..Stamp::default() }, ..Fields::default() };
    let mut items = items.into_iter();
    while let (Some(name), Some(value)) = (items.next(), items.next()) {
        match word(&name) {
            Some("type") => fields.kind = Some(value),
            Some("process") => fields.process = Some(value),
            Some("f") => fields.f = Some(value),
            Some("value") => fields.value = Some(value),
            Some("time") => fields.stamp.time = stamp(&value, "time")?,
            Some("index") => fields.stamp.index = stamp(&value, "index")?,
            _ => {}
        }
    }
    Ok(fields)
}

fn stamp(value: &Edn, name: &str) -> Result<Option<i64>, String> {
    match value {
        Edn::Int(number) => match i64::try_from(*number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("the :{name} {number} does not fit into 64 bits")),
        },
        _ => Ok(None),
    }
}

/// The text of a keyword, or of a string (JSON has no keywords).
fn word(value: &Edn) -> Option<&str> {
    match value {
        Edn::Keyword(text) => Some(text),
        Edn::Str(text) => Some(text.strip_prefix(':').unwrap_or(text)),
        _ => None,
    }
}

fn numbered_mop((number, value): (usize, Edn)) -> Result<Mop, Problem> {
    mop(value).map_err(|text| Problem { text, mop: Some(number) })
}

fn mop(value: Edn) -> Result<Mop, String> {
    let description = describe(&value);
    let bad = || {
        format!(
            "expected an operation like [:append x 1], [:w x 1] or [:r x nil], found {description}"
        )
    };
    let Edn::Seq(parts) = value else { return Err(bad()) };
    let is_flag =
        |part: &Edn| matches!(part, Edn::Other(text) if &**text == "true" || &**text == "false");
    let known_length = parts.len() == 3 || (parts.len() == 4 && is_flag(&parts[3]));
    let mut parts = parts.into_iter();
    let (Some(name), Some(key), Some(argument), true) =
        (parts.next(), parts.next(), parts.next(), known_length)
    else {
        return Err(bad());
    };
    let kind = match word(&name) {
        Some("r") => OpKind::Read,
        Some("w") => OpKind::Write,
        Some("append") => OpKind::Append,
        _ => return Err(bad()),
    };
    let argument = match (argument, kind) {
        (Edn::Nil, OpKind::Read) => Argument::Nil,
        (Edn::Seq(items), OpKind::Read) => Argument::List(
            items.into_iter().map(|item| atom(item, "an element")).collect::<Result<_, _>>()?,
        ),
        (other, _) => Argument::One(atom(other, "a value")?),
    };
    Ok(Mop { kind, key: atom(key, "a key")?, argument })
}

fn atom(value: Edn, what: &str) -> Result<Atom, String> {
    match value {
        Edn::Int(number) => Ok(Atom::Int(number)),
        Edn::Str(text) => Ok(Atom::Str(text)),
        Edn::Keyword(text) => Ok(Atom::Keyword(text)),
        Edn::Other(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
            Err(format!("{what} {} does not fit into 64 bits", excerpt(text.as_bytes())))
        }
        other => Err(format!(
            "expected {what} (an integer, a string or a keyword), found {}",
            describe(&other)
        )),
    }
}

/// A value in few words.
fn describe(value: &Edn) -> String {
    match value {
        Edn::Nil => "nil".to_owned(),
        Edn::Int(number) => number.to_string(),
        Edn::Str(text) | Edn::Other(text) => excerpt(text.as_bytes()),
        Edn::Keyword(text) => excerpt(format!(":{text}").as_bytes()),
        Edn::Map(_) => "a map".to_owned(),
        Edn::Seq(items) => match items.first() {
            Some(first @ (Edn::Keyword(_) | Edn::Str(_))) => {
                format!("a sequence of {} that starts with {}", items.len(), describe(first))
            }
            _ => format!("a sequence of {}", items.len()),
        },
    }
}

#[cfg(test)]
mod tests;
