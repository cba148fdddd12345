//! Jepsen histories out of a history.
//!
//! With times, invocations and completions are written in their order; without, only completions
//! are, so that no real-time order appears where there was none. Initial values become `nil`, the
//! only one that Elle knows.

use crate::atom::{Atom, Value, ValueKind};
use crate::error::WriteError;
use crate::formats::Format;
use crate::formats::json::{self, Json};
use crate::formats::refusals::Writing;
use crate::ids::TxnId;
use crate::model::{History, OpKind, Status};
use std::fmt::Write as _;
use std::io::Write;

/// Writes EDN.
pub(in crate::formats) fn write_edn(
    history: &History,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::ElleEdn);
    for (index, event) in events(&writing)?.iter().enumerate() {
        let mut mops = String::new();
        for (op, content) in writing.ops(event.txn) {
            let name = kind_name(content.kind);
            let key = edn_atom(&history.key_name(content.key));
            let separator = if mops.is_empty() { "" } else { " " };
            let value = edn_value(&writing, event.shown(&writing, op));
            let _ = write!(mops, "{separator}[:{name} {key} {value}]");
        }
        let time = event.time.map(|time| format!(", :time {time}")).unwrap_or_default();
        let (kind, process) = (event.kind(history), event.process);
        writeln!(
            out,
            "{{:index {index}, :type :{kind}, :process {process}{time}, :f :txn, :value [{mops}]}}"
        )?;
    }
    Ok(())
}

/// Writes JSON objects, one a line.
pub(in crate::formats) fn write_json(
    history: &History,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::ElleJson);
    for (index, event) in events(&writing)?.iter().enumerate() {
        let mops: Vec<Json> = writing
            .ops(event.txn)
            .map(|(op, content)| {
                let key = json::of_atom(&history.key_name(content.key));
                let value = json_value(history, event.shown(&writing, op));
                Json::Array(vec![kind_name(content.kind).into(), key, value])
            })
            .collect();
        let (process, value) = (event.process, Json::Array(mops));
        let time = event.time.map(|time| format!(",\"time\":{time}")).unwrap_or_default();
        writeln!(
            out,
            "{{\"f\":\"txn\",\"index\":{index},\"process\":{process}{time},\"type\":\"{}\",\
             \"value\":{value}}}",
            event.kind(history)
        )?;
    }
    Ok(())
}

fn kind_name(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "r",
        OpKind::Write => "w",
        OpKind::Append => "append",
    }
}

/// A map to write.
struct WrittenEvent {
    txn: TxnId,
    process: i64,
    time: Option<i64>,
    is_invocation: bool,
}

impl WrittenEvent {
    fn kind(&self, history: &History) -> &'static str {
        match (self.is_invocation, history.status(self.txn)) {
            (true, _) => "invoke",
            (_, Status::Committed) => "ok",
            (_, Status::Aborted) => "fail",
            (_, Status::Unknown) => "info",
        }
    }

    /// The value to show for an operation: an invocation does not know yet what it will read.
    fn shown(&self, writing: &Writing<'_>, op: crate::ids::OpId) -> Value {
        let content = writing.history.op(op);
        let unread = self.is_invocation || writing.is_initial(content.key, content.value);
        if content.kind == OpKind::Read && unread { Value::NULL } else { content.value }
    }
}

/// The number of each transaction: the index of its completion. None if the history cannot be
/// written.
pub(in crate::formats) fn txn_numbers(history: &History) -> Vec<Option<i128>> {
    let mut numbers = vec![None; history.txn_count()];
    let events = events(&Writing::new(history, Format::ElleEdn)).unwrap_or_default();
    for (index, event) in events.iter().enumerate() {
        numbers[event.txn.index()] = Some(index as i128);
    }
    numbers
}

fn events(writing: &Writing<'_>) -> Result<Vec<WrittenEvent>, WriteError> {
    writing.refuse_contested_reads(|_| false)?;
    refuse_unknown_initial_reads(writing)?;
    let history = writing.history;
    let processes = processes(writing);
    let process = |txn: TxnId| processes[history.session_of(txn).index()];
    if !history.has_times() {
        let order = history.txns_in_file_order().into_iter();
        return Ok(order
            .map(|txn| WrittenEvent {
                txn,
                process: process(txn),
                time: None,
                is_invocation: false,
            })
            .collect());
    }
    refuse_times_that_run_backwards(writing)?;
    refuse_missing_begins(writing)?;
    let last =
        history.txns().filter_map(|txn| history.times(txn)).flat_map(|(begin, end)| [begin, end]);
    let last = last.filter(|&time| time != i64::MAX && time != i64::MIN).max().unwrap_or(0);
    let mut events = Vec::new();
    for session in history.sessions() {
        // From the last to the first: a transaction without an end must end before the next one
        // begins.
        let mut next_begin = last;
        for txn in history.txns_of(session).rev().map(TxnId) {
            let (begin, end) = history.times(txn).unwrap_or((i64::MIN, i64::MAX));
            let end = if end == i64::MAX { next_begin.max(begin) } else { end };
            events.push(WrittenEvent {
                txn,
                process: process(txn),
                time: Some(end),
                is_invocation: false,
            });
            if begin != i64::MIN {
                events.push(WrittenEvent {
                    txn,
                    process: process(txn),
                    time: Some(begin),
                    is_invocation: true,
                });
                next_begin = begin;
            }
        }
    }
    events.reverse();
    // Stable: what a session does at one time stays in its order.
    events.sort_by_key(|event| event.time);
    Ok(events)
}

/// In transactions that did not commit, `nil` says that the value is unknown, not that it is
/// initial.
fn refuse_unknown_initial_reads(writing: &Writing<'_>) -> Result<(), WriteError> {
    let history = writing.history;
    for txn in history.txns().filter(|&txn| history.status(txn) == Status::Unknown) {
        for (op, content) in writing.ops(txn) {
            if content.kind == OpKind::Read && writing.is_initial(content.key, content.value) {
                let what = "reads of initial values in transactions of unknown outcome";
                return Err(writing.unsupported_op(op, what, "nil means unknown there"));
            }
        }
    }
    Ok(())
}

/// A file has an invocation for each completion, or for none.
fn refuse_missing_begins(writing: &Writing<'_>) -> Result<(), WriteError> {
    let history = writing.history;
    let has_begin = |txn: &TxnId| history.times(*txn).is_some_and(|(begin, _)| begin != i64::MIN);
    let without = history.txns().find(|txn| !has_begin(txn));
    let Some(without) = without.filter(|_| history.txns().any(|txn| has_begin(&txn))) else {
        return Ok(());
    };
    let name = history.txn_name(without);
    let what = format!("a transaction without a begin beside others with one ({name})");
    Err(writing.unsupported(what, ""))
}

fn refuse_times_that_run_backwards(writing: &Writing<'_>) -> Result<(), WriteError> {
    let history = writing.history;
    for session in history.sessions() {
        let mut now = i64::MIN;
        for txn in history.txns_of(session).map(TxnId) {
            let (begin, end) = history.times(txn).unwrap_or((now, now));
            let unended = end == i64::MAX;
            if (begin != i64::MIN && begin < now) || end < begin || (now == i64::MAX && !unended) {
                let what = format!(
                    "a session whose times run backwards (transaction {})",
                    history.txn_name(txn)
                );
                return Err(writing.unsupported(what, ""));
            }
            // Nothing says when a transaction of unknown outcome ended: the next one only comes
            // after its begin.
            now = if unended { now.max(begin) } else { end };
        }
    }
    Ok(())
}

fn processes(writing: &Writing<'_>) -> Vec<i64> {
    let names = writing.integer_session_names();
    let names =
        names.and_then(|names| names.into_iter().map(|name| i64::try_from(name).ok()).collect());
    names.unwrap_or_else(|| (0..writing.history.session_count() as i64).collect())
}

fn edn_atom(atom: &Atom) -> String {
    match atom {
        Atom::Str(text) => edn_string(text),
        // A keyword from elsewhere may contain what ends one: better a string.
        Atom::Keyword(text)
            if text.is_empty() || text.bytes().any(|b| b <= b' ' || b",;\"{}[]()".contains(&b)) =>
        {
            edn_string(&format!(":{text}"))
        }
        other => other.to_string(),
    }
}

fn edn_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn edn_value(writing: &Writing<'_>, value: Value) -> String {
    let history = writing.history;
    match value.kind() {
        ValueKind::List(number) => {
            let items: Vec<String> =
                history.list(number).iter().map(|&item| edn_scalar(history, item)).collect();
            format!("[{}]", items.join(" "))
        }
        _ => edn_scalar(history, value),
    }
}

fn edn_scalar(history: &History, value: Value) -> String {
    history.value_atom(value).map_or("nil".to_owned(), |atom| edn_atom(&atom))
}

/// A value as JSON: atoms, lists of atoms, null.
pub(in crate::formats) fn json_value(history: &History, value: Value) -> Json {
    let scalar = |value| history.value_atom(value).map_or(Json::Null, |atom| json::of_atom(&atom));
    match value.kind() {
        ValueKind::List(number) => {
            Json::Array(history.list(number).iter().map(|&item| scalar(item)).collect())
        }
        _ => scalar(value),
    }
}
