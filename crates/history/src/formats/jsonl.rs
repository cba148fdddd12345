//! Our own format: a transaction a line, as JSON, after an optional header. It holds everything a
//! history has.
//!
//! ```text
//! {"seriatim":1,"initial":{"x":0},"time_unit":"nanoseconds","source":"…"}
//! {"session":"s1","txn":"t7","status":"committed","begin":1,"end":2,"ops":[["w","x",1]]}
//! {"session":"s2","txn":"t8","status":"aborted","ops":[["r","y",null]]}
//! ```
//!
//! Groups of keys in the header are what scans speak of (module `scans`); the statements that
//! clients sent stand in the lines of their transactions (module `statements`).
//!
//! A recording that is read while it grows, or that something has ended, may lack transactions that
//! others have read from. Its header says `"growing":true`, and a line `{"whole":true}` (a *mark*)
//! that nothing is missing before it.
//!
//! Fields that mean nothing to us are kept and written back. [`SCHEMA`] describes the lines for
//! other programs.

mod scans;
mod statements;

use super::Format;
use super::build::Builder;
use super::elle::json_value;
use super::json::{self, Item, Json, Members, Values};
use super::refusals::Writing;
use super::text::{Source, excerpt, key_atom};
use super::unknown_values::Doubt;
use crate::atom::{Atom, Value};
use crate::error::{ReadError, WriteError};
use crate::ids::{KeyId, TxnId};
use crate::model::{History, OpKind, Status, TimeUnit};
use crate::place::PlaceUnit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Write;

/// The JSON Schema of a line.
pub const SCHEMA: &str = include_str!("../../schema/history.jsonl.schema.json");

/// The version of the format that this program writes and understands.
const VERSION: u64 = 1;

/// What times may count, in the header.
const NANOSECONDS: &str = "nanoseconds";
const COUNTED: &str = "counted";

/// Reads a history.
pub(super) fn read(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    for (number, item) in Values::new(whole_lines(bytes, source), source).enumerate() {
        let item = item?;
        let fail = |problem: String| item.fail(source, problem);
        let Json::Object(fields) = item.parse(source)? else {
            return Err(fail("expected a JSON object with a session and its ops".to_owned()));
        };
        if fields.contains("seriatim") && number == 0 {
            reader.header(fields).map_err(fail)?;
        } else if fields.contains("whole") && !fields.contains("ops") {
            reader.growth.mark(item.line);
        } else {
            reader.growth.is_marked = false;
            reader.txn(fields, &item).map_err(|problem| problem.at(&item, source))?;
        }
    }
    reader.finish(source)
}

/// Without the last line, if a recording that grows is written at this moment.
fn whole_lines<'b>(bytes: &'b [u8], source: &Source) -> &'b [u8] {
    let is_growing = || {
        let first = Values::new(bytes, source).next()?.ok()?;
        let Json::Object(mut fields) = first.parse(source).ok()? else { return None };
        fields.remove("growing")
    };
    match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(end) if end + 1 < bytes.len() && is_growing() == Some(Json::Bool(true)) => {
            &bytes[..=end]
        }
        _ => bytes,
    }
}

/// How far a recording that grows has come.
#[derive(Default)]
struct Growth {
    is_growing: bool,
    /// Values that several transactions write.
    recurring: Vec<Value>,
    /// The line of the last mark.
    marked: u64,
    /// Whether nothing comes behind it.
    is_marked: bool,
}

impl Growth {
    fn mark(&mut self, line: u64) {
        (self.marked, self.is_marked) = (line, true);
    }

    /// What may be missing in the end.
    fn doubt(self) -> Option<Doubt> {
        let recurring = self.recurring.into_iter().collect();
        (self.is_growing && !self.is_marked).then_some(Doubt { after: self.marked, recurring })
    }
}

/// What is wrong with a line, and with which of its operations.
struct Problem {
    text: String,
    op: Option<usize>,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Problem { text, op: None }
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Problem {
    /// The error; only now it is worth looking where in the line the operation stands, which is
    /// quoted as it stands there.
    fn at(self, line: &Item<'_>, source: &Source) -> ReadError {
        let op = self.op.and_then(|op| line.member("ops", source)?.element(op, source));
        match op {
            Some(op) => op.fail(source, format!("{} {}", self.text, excerpt(op.text))),
            None => line.fail(source, self.text),
        }
    }
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    initial: Vec<(String, Value)>,
    times: Vec<(Option<i64>, Option<i64>)>,
    time_unit: Option<TimeUnit>,
    groups: scans::Groups,
    growth: Growth,
    /// The line of each transaction that has a name of its own.
    lines: FxHashMap<Atom, u64>,
}

impl Reader {
    fn header(&mut self, mut fields: Members) -> Result<(), String> {
        let version = fields.remove("seriatim").unwrap_or_default();
        if version.as_u64() != Some(VERSION) {
            return Err(format!(
                "this is version {version} of the format, but we only know version {VERSION}"
            ));
        }
        match fields.remove("initial") {
            None | Some(Json::Null) => {}
            Some(Json::Object(values)) => {
                for (key, value) in values.into_vec() {
                    let value = json::atom(&value)
                        .map_err(|problem| format!("initial value of `{key}`: {problem}"))?;
                    self.initial.push((key, self.builder.value(value)));
                }
            }
            Some(_) => {
                return Err("`initial` must be an object of keys and their values".to_owned());
            }
        }
        self.builder.columns.unknown_content = match fields.remove("unknown_content") {
            None | Some(Json::Null) => 0,
            Some(count) => count.as_u64().ok_or_else(|| {
                format!("`unknown_content` must be a number of transactions, found {count}")
            })?,
        };
        self.groups.read(fields.remove("groups"), &mut self.builder)?;
        self.growing(&mut fields)?;
        self.time_unit = time_unit(fields.remove("time_unit"))?;
        self.builder.columns.extra = extra(fields);
        Ok(())
    }

    /// A recording is written back as a history, which does not grow.
    fn growing(&mut self, fields: &mut Members) -> Result<(), String> {
        if !fields.contains("growing") {
            return Ok(());
        }
        self.growth.is_growing = match fields.remove("growing").unwrap_or_default() {
            Json::Null | Json::Bool(false) => false,
            Json::Bool(true) => true,
            other => return Err(format!("`growing` must be true or false, found {other}")),
        };
        let recurring = match fields.remove("recurring") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(values)) => values,
            Some(other) => return Err(format!("`recurring` must be an array, found {other}")),
        };
        for value in &recurring {
            let atom = json::atom(value).map_err(|problem| format!("recurring: {problem}"))?;
            self.growth.recurring.push(self.builder.value(atom));
        }
        Ok(())
    }

    fn txn(&mut self, mut fields: Members, item: &Item<'_>) -> Result<(), Problem> {
        let session = fields.remove("session").ok_or("a transaction needs a \"session\"")?;
        let session = json::atom(&session).map_err(|problem| format!("session: {problem}"))?;
        let name = match fields.remove("txn") {
            None | Some(Json::Null) => Atom::Int(item.line.into()),
            Some(name) => self.unique(
                json::atom(&name).map_err(|problem| format!("txn: {problem}"))?,
                item.line,
            )?,
        };
        let status = status(fields.remove("status"))?;
        self.times.push(times(fields.remove("begin"), fields.remove("end"))?);
        let Some(Json::Array(ops)) = fields.remove("ops") else {
            return Err("a transaction needs \"ops\", an array of operations".into());
        };
        let session = self.builder.session(session);
        let txn = self.builder.named_txn(session, status, name);
        let mut marks = vec![self.builder.columns.mark()];
        for (number, op) in ops.iter().enumerate() {
            self.op(txn, op, item.line).map_err(|text| Problem { text, op: Some(number) })?;
            marks.push(self.builder.columns.mark());
        }
        if let Some(field) = fields.remove("statements") {
            self.builder.columns.statements.extend(statements::read(field, txn, &marks)?);
        }
        if let Some(extra) = extra(fields) {
            self.builder.columns.txn_extras.push((txn, extra));
        }
        Ok(())
    }

    /// A transaction is one line: a second one of its name is another, or the rest of one that was
    /// cut.
    fn unique(&mut self, name: Atom, line: u64) -> Result<Atom, String> {
        match self.lines.insert(name.clone(), line) {
            None => Ok(name),
            Some(first) => {
                Err(format!("the transaction {name} of line {line} was already in line {first}"))
            }
        }
    }

    /// An error ends where the operation is to be quoted.
    fn op(&mut self, txn: u32, op: &Json, line: u64) -> Result<(), String> {
        let bad = || "expected an operation like [\"w\",\"x\",1], found".to_owned();
        let in_op = |problem: String| format!("{problem}, in");
        let [kind, key, value] = op.as_array().ok_or_else(bad)? else {
            return Err(bad());
        };
        let kind = match kind.as_str() {
            Some("r") => OpKind::Read,
            Some("w") => OpKind::Write,
            Some("append") => OpKind::Append,
            Some("scan") => {
                let content = self.groups.scan(key, value).map_err(in_op)?;
                self.builder.scan(txn, content, line);
                return Ok(());
            }
            _ => return Err(bad()),
        };
        let key = json::atom(key).map_err(in_op)?;
        let value = match (value, kind) {
            (Json::Null, OpKind::Read) => Value::NULL,
            (Json::Array(items), OpKind::Read) => {
                let items: Result<Vec<Atom>, String> = items.iter().map(json::atom).collect();
                self.builder.list(items.map_err(in_op)?)
            }
            (value, _) => {
                let atom = json::atom(value).map_err(in_op)?;
                self.builder.value(atom)
            }
        };
        let key = self.builder.key(key);
        self.builder.op(txn, kind, key, value, line);
        Ok(())
    }

    fn finish(mut self, source: &Source) -> Result<History, ReadError> {
        self.set_initial();
        self.builder.cut = std::mem::take(&mut self.growth).doubt();
        if self.times.iter().any(|&times| times != (None, None)) {
            let times = self
                .times
                .iter()
                .map(|(begin, end)| (begin.unwrap_or(i64::MIN), end.unwrap_or(i64::MAX)));
            self.builder.columns.txn_times = Some(times.collect());
            self.builder.columns.time_unit = self.time_unit.unwrap_or(TimeUnit::Nanoseconds);
        }
        self.builder.finish(source, PlaceUnit::Line)
    }

    /// The names of members are always strings: one stands for the key of that name, be it a string
    /// or an integer.
    fn set_initial(&mut self) {
        let mut by_text: FxHashMap<String, Vec<KeyId>> = FxHashMap::default();
        for (i, name) in self.builder.key_names().iter().enumerate() {
            by_text.entry(name.to_string()).or_default().push(KeyId::from(i));
        }
        for (name, value) in std::mem::take(&mut self.initial) {
            let keys = match by_text.get(&name) {
                Some(keys) => keys.clone(),
                None => vec![self.builder.key(key_atom(&name))],
            };
            self.builder.columns.initial.values.extend(keys.into_iter().map(|key| (key, value)));
        }
    }
}

fn status(field: Option<Json>) -> Result<Status, String> {
    match field.as_ref().map(|status| status.as_str()) {
        None | Some(Some("committed")) => Ok(Status::Committed),
        Some(Some("aborted")) => Ok(Status::Aborted),
        Some(Some("unknown")) => Ok(Status::Unknown),
        _ => {
            let found = field.unwrap_or_default();
            Err(format!(
                "expected the status \"committed\", \"aborted\" or \"unknown\", found {found}"
            ))
        }
    }
}

/// What times count, if the header says it.
fn time_unit(field: Option<Json>) -> Result<Option<TimeUnit>, String> {
    match field.as_ref().map(|unit| unit.as_str()) {
        None => Ok(None),
        Some(Some(NANOSECONDS)) => Ok(Some(TimeUnit::Nanoseconds)),
        Some(Some(COUNTED)) => Ok(Some(TimeUnit::Unknown)),
        _ => {
            let found = field.unwrap_or_default();
            Err(format!("expected the time_unit \"{NANOSECONDS}\" or \"{COUNTED}\", found {found}"))
        }
    }
}

fn times(begin: Option<Json>, end: Option<Json>) -> Result<(Option<i64>, Option<i64>), String> {
    let time = |name: &str, field: Option<Json>| match field {
        None | Some(Json::Null) => Ok(None),
        Some(value) => match value.as_i64() {
            Some(time) => Ok(Some(time)),
            None => Err(format!("`{name}` must be an integer of 64 bits, found {value}")),
        },
    };
    let times = (time("begin", begin)?, time("end", end)?);
    if let (Some(begin), Some(end)) = times
        && end < begin
    {
        return Err(format!("the transaction ends ({end}) before it begins ({begin})"));
    }
    Ok(times)
}

fn extra(fields: Members) -> Option<Box<str>> {
    (!fields.is_empty()).then(|| Json::Object(fields).to_string().into())
}

/// Writes a history.
pub(super) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::Jsonl);
    let explicit = explicit_initial(history);
    write_header(history, &explicit, out)?;
    let mut names = DistinctNames::new(history);
    for txn in history.txns_in_file_order() {
        let name = names.of(history.txn_name(txn));
        write_txn(&writing, &explicit, txn, &name, out)?;
    }
    Ok(())
}

/// Names for transactions of which no two are equal: register text calls all aborted ones -1, for
/// example.
struct DistinctNames {
    taken: FxHashSet<Atom>,
    /// How often each name that occurs again has been given out.
    given: FxHashMap<Atom, u64>,
}

impl DistinctNames {
    fn new(history: &History) -> DistinctNames {
        let mut taken = FxHashSet::default();
        let again = history
            .txns()
            .map(|txn| history.txn_name(txn))
            .filter(|name| !taken.insert(name.clone()));
        let given = again.map(|name| (name, 0)).collect();
        DistinctNames { taken, given }
    }

    /// The name itself at first, then `name (2)` and so on.
    fn of(&mut self, name: Atom) -> Atom {
        let Some(given) = self.given.get_mut(&name) else { return name };
        *given += 1;
        if *given == 1 {
            return name;
        }
        loop {
            let another = Atom::Str(format!("{name} ({given})").into());
            if self.taken.insert(another.clone()) {
                return another;
            }
            *given += 1;
        }
    }
}

/// Keys whose initial value must be named: those of the input, and those to which the default is
/// written although it does not yield. For all others `null` says it.
fn explicit_initial(history: &History) -> FxHashMap<KeyId, Value> {
    let initial = history.initial();
    let mut explicit = initial.values.clone();
    if let Some(default) = initial.default.filter(|_| !initial.yields_to_writes) {
        let ops = (0..history.op_count() as u32).map(|op| history.op(crate::ids::OpId(op)));
        let written = ops.filter(|op| {
            op.kind.is_write() && op.value == default && !initial.values.contains_key(&op.key)
        });
        explicit.extend(written.map(|op| (op.key, default)));
    }
    explicit
}

fn write_header(
    history: &History,
    explicit: &FxHashMap<KeyId, Value>,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let values = explicit
        .iter()
        .map(|(&key, &value)| (history.key_name(key).to_string(), json_value(history, value)));
    let mut values: Vec<(String, Json)> = values.collect();
    // Keys that are called alike, a number and a text, have one name in JSON.
    json::sort_by_name(&mut values);
    values.dedup_by(|a, b| a.0 == b.0);
    let mut header = format!("{{\"seriatim\":{VERSION}");
    if !values.is_empty() {
        let values = Members::new(values).unwrap_or_default();
        header += &format!(",\"initial\":{}", Json::Object(values));
    }
    if history.unknown_content() > 0 {
        header += &format!(",\"unknown_content\":{}", history.unknown_content());
    }
    if !history.groups().is_empty() {
        header += &format!(",\"groups\":{}", scans::groups_json(history));
    }
    // Nanoseconds are what a reader takes times for that no header tells of.
    if history.has_times() && history.time_unit() == TimeUnit::Unknown {
        header += &format!(",\"time_unit\":\"{COUNTED}\"");
    }
    header += &members(history.extra());
    Ok(writeln!(out, "{header}}}")?)
}

/// The members of an object, each with a comma before it.
fn members(object: Option<&str>) -> String {
    let inner = object.and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
    inner.filter(|inner| !inner.is_empty()).map(|inner| format!(",{inner}")).unwrap_or_default()
}

fn write_txn(
    writing: &Writing<'_>,
    explicit: &FxHashMap<KeyId, Value>,
    txn: TxnId,
    name: &Atom,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let history = writing.history;
    let session = json::of_atom(&history.session_name(history.session_of(txn)));
    let name = json::of_atom(name);
    let status = match history.status(txn) {
        Status::Committed => "committed",
        Status::Aborted => "aborted",
        Status::Unknown => "unknown",
    };
    write!(out, "{{\"session\":{session},\"txn\":{name},\"status\":\"{status}\"")?;
    let (begin, end) = history.times(txn).unwrap_or((i64::MIN, i64::MAX));
    if begin != i64::MIN {
        write!(out, ",\"begin\":{begin}")?;
    }
    if end != i64::MAX {
        write!(out, ",\"end\":{end}")?;
    }
    write!(out, "{}", members(history.txn_extra(txn)))?;
    let statements = statements::json(history, txn);
    if !statements.is_empty() {
        write!(out, ",\"statements\":{}", Json::Array(statements))?;
    }
    Ok(writeln!(out, ",\"ops\":{}}}", Json::Array(ops_json(writing, explicit, txn)))?)
}

/// The operations, with each scan as one where its reads stand.
fn ops_json(writing: &Writing<'_>, explicit: &FxHashMap<KeyId, Value>, txn: TxnId) -> Vec<Json> {
    let history = writing.history;
    let mut scans = history.scans_of(txn).iter().peekable();
    let mut ops = Vec::new();
    for (id, op) in writing.ops(txn) {
        while let Some(scan) = scans.next_if(|scan| scan.ops.start <= id.0) {
            ops.push(scans::scan_json(history, &scan.content));
        }
        if history.scan_of(id).is_some() {
            continue;
        }
        let initial = writing.is_initial(op.key, op.value) && !explicit.contains_key(&op.key);
        let value = if op.kind == OpKind::Read && initial { Value::NULL } else { op.value };
        let kind = match op.kind {
            OpKind::Read => "r",
            OpKind::Write => "w",
            OpKind::Append => "append",
        };
        let key = json::of_atom(&history.key_name(op.key));
        ops.push(vec![kind.into(), key, json_value(history, value)].into());
    }
    ops.extend(scans.map(|scan| scans::scan_json(history, &scan.content)));
    ops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::OpId;

    const TEXT: &str = concat!(
        r#"{"seriatim":1,"initial":{"5":0},"source":"a test"}"#,
        "\n",
        r#"{"session":"s1","txn":"t7","status":"committed","begin":10,"end":20,"level":"si","#,
        r#""ops":[["w",5,1],["r","y",null],["append","l",3],["r","l",[1,3]]]}"#,
        "\n",
        r#"{"session":2,"txn":8,"status":"unknown","begin":15,"ops":[["r",5,0]]}"#,
        "\n",
    );

    #[test]
    fn everything_survives_a_round_trip() {
        let history = read(TEXT.as_bytes(), &Source::new("h")).unwrap();
        assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (2, 2, 5));
        assert_eq!(history.initial().values.len(), 1);
        assert_eq!(history.initial().value_of(history.op(OpId(0)).key), Value::small(0));
        assert_eq!(history.times(TxnId(1)), Some((15, i64::MAX)));
        let mut out = Vec::new();
        write(&history, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), TEXT);
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = |text: &str| read(text.as_bytes(), &Source::new("h")).unwrap_err().to_string();
        assert_eq!(error("{}"), "h:1:1: a transaction needs a \"session\"");
        assert!(error("{\"session\":1,\"ops\":[[\"w\",1,1.5]]}").contains("1.5 is not an integer"));
        assert!(error("{\"session\":1,\"ops\":[[\"w\",1,null]]}").contains("found `null`"));
        assert!(error("{\"session\":1,\"ops\":[]}\n{\"session\":1,\"ops\":[}").starts_with("h:2:"));
        assert!(error("{\"seriatim\":2}").contains("version 2"));
        assert!(error("{\"seriatim\":1}").contains("no transactions"));
        assert!(
            error("{\"session\":1,\"status\":\"ok\",\"ops\":[]}").contains("expected the status")
        );
    }

    #[test]
    fn one_transaction_on_two_lines_names_both() {
        let error = |text: &str| read(text.as_bytes(), &Source::new("h")).unwrap_err().to_string();
        for session in ["a", "b"] {
            let line =
                |session: &str| format!("{{\"session\":\"{session}\",\"txn\":\"t\",\"ops\":[]}}\n");
            let message = error(&[line("a"), "\n".to_owned(), line(session)].concat());
            assert_eq!(message, "h:3:1: the transaction t of line 3 was already in line 1");
        }
        // Without names, and with the number of such a line as a name, nothing is meant to be the
        // same.
        let text = "{\"session\":1,\"ops\":[]}\n{\"session\":1,\"txn\":1,\"ops\":[]}\n\
                    {\"session\":1,\"ops\":[]}";
        assert_eq!(read(text.as_bytes(), &Source::new("h")).unwrap().txn_count(), 3);
    }

    #[test]
    fn names_that_occur_again_are_told_apart_when_written() {
        let text = "{\"session\":1,\"ops\":[]}\n{\"session\":1,\"txn\":1,\"ops\":[]}\n\
                    {\"session\":1,\"txn\":\"1 (2)\",\"ops\":[]}";
        let history = read(text.as_bytes(), &Source::new("h")).unwrap();
        let mut out = Vec::new();
        write(&history, &mut out).unwrap();
        let back = read(&out, &Source::new("h")).unwrap();
        let names: Vec<String> = back.txns().map(|txn| back.txn_name(txn).to_string()).collect();
        assert_eq!(names, ["1", "1 (3)", "1 (2)"]);
    }

    #[test]
    fn times_are_nanoseconds_unless_the_header_says_that_they_are_counted() {
        let line = "{\"session\":1,\"begin\":1,\"end\":2,\"ops\":[]}";
        let unit = |text: &str| read(text.as_bytes(), &Source::new("h")).unwrap().time_unit();
        assert_eq!(unit(line), TimeUnit::Nanoseconds);
        let counted = format!("{{\"seriatim\":1,\"time_unit\":\"counted\"}}\n{line}");
        assert_eq!(unit(&counted), TimeUnit::Unknown);
        let history = read(counted.as_bytes(), &Source::new("h")).unwrap();
        let mut out = Vec::new();
        write(&history, &mut out).unwrap();
        assert_eq!(unit(&String::from_utf8(out).unwrap()), TimeUnit::Unknown);
        let bad = "{\"seriatim\":1,\"time_unit\":\"hours\"}";
        let error = read(bad.as_bytes(), &Source::new("h")).unwrap_err().to_string();
        assert!(error.contains("\"nanoseconds\" or \"counted\", found \"hours\""), "{error}");
    }

    #[test]
    fn the_schema_is_json() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        assert!(schema["$defs"]["transaction"].is_object());
    }
}
