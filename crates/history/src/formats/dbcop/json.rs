//! dbcop's JSON:
//! `{"params":{…},"info":"","start":…,"end":…,"data":[[{"events":[…],"committed":true}]]}`.
//!
//! The array of sessions (the value of `data`) may stand alone. A version of `null` is an
//! uninitialised variable.

use crate::atom::{Atom, Value};
use crate::error::{ReadError, WriteError};
use crate::formats::Format;
use crate::formats::build::Builder;
use crate::formats::json::{self, Item, Json, Members, Values};
use crate::formats::refusals::Writing;
use crate::formats::text::{Source, excerpt};
use crate::ids::{OpId, TxnId};
use crate::model::{History, Names, Op, OpKind, Status};
use crate::place::PlaceUnit;
use std::io::Write;

/// Reads a history.
pub(in crate::formats) fn read(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut builder = Builder::default();
    let mut sessions = 0;
    let mut session = |item: Item<'_>| {
        read_session(item, sessions, &mut builder, source)?;
        sessions += 1;
        Ok::<(), ReadError>(())
    };
    for item in Values::new(bytes, source) {
        let item = item?;
        if item.text.starts_with(b"{") {
            for inner in data(item, source)?.elements(source) {
                session(inner?)?;
            }
        } else {
            session(item)?;
        }
    }
    builder.columns.session_count = sessions;
    builder.columns.session_names = Names::Implicit { first: 1 };
    builder.columns.txn_names = Names::Implicit { first: 1 };
    builder.finish(source, PlaceUnit::Line)
}

/// The array of sessions in the object.
fn data<'a>(item: Item<'a>, source: &'a Source) -> Result<Item<'a>, ReadError> {
    let members = item.members(source)?;
    let data = members.into_iter().find(|(name, _)| name == "data").map(|(_, value)| value);
    match data {
        Some(data) if data.text.starts_with(b"[") => Ok(data),
        Some(data) => Err(data.fail(source, "expected `data` to be an array of sessions")),
        None => Err(item.fail(source, "this object has no `data`, the array of sessions")),
    }
}

fn read_session(
    item: Item<'_>,
    session: u32,
    builder: &mut Builder,
    source: &Source,
) -> Result<(), ReadError> {
    if !item.text.starts_with(b"[") {
        return Err(item.fail(
            source,
            format!("expected a session (an array of transactions), found {}", excerpt(item.text)),
        ));
    }
    for txn in item.elements(source) {
        let txn = txn?;
        let content = txn.parse(source)?;
        read_txn(&content, session, txn.line, builder)
            .map_err(|problem| txn.fail(source, problem))?;
    }
    Ok(())
}

fn read_txn(content: &Json, session: u32, line: u64, builder: &mut Builder) -> Result<(), String> {
    let events = content.get("events").and_then(Json::as_array);
    let events = events.ok_or_else(|| {
        "expected a transaction like {\"events\":[…],\"committed\":true}".to_owned()
    })?;
    let status = match content.get("committed") {
        Some(Json::Bool(true)) => Status::Committed,
        Some(Json::Bool(false)) => Status::Aborted,
        _ => return Err("a transaction needs \"committed\", true or false".to_owned()),
    };
    let txn = builder.txn(session, status);
    for event in events {
        let (kind, variable, version) = parts(event)?;
        let value = match (version, kind) {
            (None | Some(Json::Null), OpKind::Read) => Value::NULL,
            (Some(version), _) => builder.value(json::atom(version)?),
            (None, _) => return Err("a write needs a version".to_owned()),
        };
        let key = builder.key(json::atom(variable)?);
        builder.op(txn, kind, key, value, line);
    }
    Ok(())
}

/// Kind, variable and version of an event, in either spelling.
fn parts(event: &Json) -> Result<(OpKind, &Json, Option<&Json>), String> {
    let bad = || {
        let found = excerpt(event.to_string().as_bytes());
        format!(
            "expected an event like {{\"Write\":{{\"variable\":0,\"version\":1}}}} or \
             [\"w\",0,1], found {found}"
        )
    };
    let kind_of = |name: &str| match name {
        "Read" | "r" => Some(OpKind::Read),
        "Write" | "w" => Some(OpKind::Write),
        _ => None,
    };
    if let Some([name, variable, version]) = event.as_array() {
        let kind = name.as_str().and_then(kind_of).ok_or_else(bad)?;
        return Ok((kind, variable, Some(version)));
    }
    let (name, body) = event.as_object().and_then(Members::only).ok_or_else(bad)?;
    let kind = kind_of(name).ok_or_else(bad)?;
    Ok((kind, body.get("variable").ok_or_else(bad)?, body.get("version")))
}

/// Writes a history.
pub(in crate::formats) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::DbcopJson);
    writing.registers_only()?;
    writing.refuse_contested_reads(|_| false)?;
    writing.only_statuses(&[Status::Committed, Status::Aborted])?;
    let txns = history.sessions().map(|session| history.txns_of(session).len()).max().unwrap_or(0);
    let events = history.txns().map(|txn| history.ops_of(txn).len()).max().unwrap_or(0);
    let (nodes, variables) = (history.session_count(), history.key_count());
    let params = Json::object([
        ("id", 0usize.into()),
        ("n_node", nodes.into()),
        ("n_variable", variables.into()),
        ("n_transaction", txns.into()),
        ("n_event", events.into()),
    ]);
    let time = "1970-01-01T00:00:00Z";
    writeln!(
        out,
        "{{\"params\":{params},\"info\":\"seriatim\",\"start\":\"{time}\",\"end\":\"{time}\",\
         \"data\":["
    )?;
    for (i, session) in history.sessions().enumerate() {
        write!(out, "{}[", if i > 0 { ",\n" } else { "" })?;
        for (j, txn) in history.txns_of(session).map(TxnId).enumerate() {
            let events: Result<Vec<Json>, WriteError> =
                writing.ops(txn).map(|op| event(&writing, op)).collect();
            let committed = history.status(txn) == Status::Committed;
            let separator = if j > 0 { ",\n" } else { "" };
            write!(out, "{separator}{}", txn_object(events?, committed))?;
        }
        write!(out, "]")?;
    }
    Ok(writeln!(out, "\n]}}")?)
}

fn txn_object(events: Vec<Json>, committed: bool) -> Json {
    Json::object([("events", events.into()), ("committed", committed.into())])
}

fn event(writing: &Writing<'_>, (op, content): (OpId, Op)) -> Result<Json, WriteError> {
    let integer = |number: i128| json::of_atom(&Atom::Int(number));
    let variable = integer(writing.integer_key(op)?);
    if content.kind != OpKind::Read {
        let version = integer(writing.integer_value(op)?);
        let body = Json::object([("variable", variable), ("version", version)]);
        return Ok(Json::object([("Write", body)]));
    }
    let version = match writing.is_initial(content.key, content.value) {
        true => Json::Null,
        false => integer(writing.integer_value(op)?),
    };
    let body = Json::object([("variable", variable), ("version", version)]);
    Ok(Json::object([("Read", body)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_and_the_bare_array_are_read() {
        let sessions = r#"[[{"events":[["w",0,1],{"Read":{"variable":0,"version":null}}],
"committed":true}],
[{"events":[{"Write":{"variable":1,"version":2}}],"committed":false}]]"#;
        for text in [
            sessions.to_owned(),
            format!("{{\"params\":{{}},\n\"data\":{sessions}, \"end\": null}}"),
        ] {
            let history = read(text.as_bytes(), &Source::new("h")).unwrap();
            assert_eq!(
                (history.session_count(), history.txn_count(), history.op_count()),
                (2, 2, 3)
            );
            assert_eq!(history.op(OpId(1)).value, Value::NULL);
            assert_eq!(history.status(TxnId(1)), Status::Aborted);
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = |text: &str| read(text.as_bytes(), &Source::new("h")).unwrap_err().to_string();
        assert!(
            error("[[\n{\"events\":[[\"x\",0,1]],\"committed\":true}]]")
                .starts_with("h:2:1: expected an event")
        );
        assert!(error("[[{\"events\":[]}]]").contains("\"committed\""));
        assert!(error("{\"info\":1}").contains("no `data`"));
        assert!(error("[]").contains("no transactions"));
        assert!(
            error("[[{\"events\":[],\"committed\":true}]").contains("found the end of the file")
        );
    }
}
