//! What goes on right now, for a person who looks at it, and the questions that reads ask.

use super::payload::{Payload, Shape};
use super::problem::Problem;
use super::{Answer, Reply, Shared};
use crate::questions::{Answer as Said, Pending};
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use seriatim_report::clean;
use seriatim_report::page::live as page;
use seriatim_store::{Seen, SeenOp, SeenSession, TxnName};

/// The last transactions that are shown, and of each the last operations.
const TXNS_MAX: usize = 40;
const OPS_MAX: usize = 12;
/// Characters of a value or statement.
const CHARS_MAX: usize = 300;

fn file(kind: &'static str, content: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, page::POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, content.into()).into_response()
}

pub(super) async fn page() -> Response {
    file("text/html; charset=utf-8", page::page())
}

pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", page::SCRIPT)
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", page::STYLE.as_str())
}

pub(super) async fn icon() -> Response {
    file("image/svg+xml", page::ICON)
}

pub(super) async fn state(State(hub): State<Shared>) -> Reply {
    let seen = hub.glance(TXNS_MAX, OPS_MAX);
    let txns: Vec<Value> = seen.txns.iter().map(txn).collect();
    let questions = hub.questions();
    let asks = questions.map(|questions| questions.wait_max().as_secs_f64());
    let open = questions.map(|questions| questions.open()).unwrap_or_default();
    let open: Vec<Value> = open.iter().map(|(id, pending)| question(*id, pending)).collect();
    Ok(Answer::ok(json!({
        "level": hub.level().name(),
        "chooser": if asks.is_some() { "ask" } else { hub.chooser().code() },
        "ask_seconds": asks,
        "sessions": seen.sessions,
        "lanes": seen.present.iter().map(lane).collect::<Vec<_>>(),
        "lanes_left": seen.others,
        "of": if hub.is_watching() { "sql" } else { "http" },
        "begun": seen.begun,
        "transactions": txns,
        "questions": open,
    })))
}

fn lane(seen: &SeenSession) -> Value {
    json!({
        "session": seen.number,
        "begun": seen.begun,
        "open": seen.open.map(name),
        "statement": seen.statement.as_ref().map(|statement| short(&statement.text)),
    })
}

fn txn(seen: &Seen) -> Value {
    json!({
        "session": seen.name.session,
        "transaction": seen.name.txn,
        "level": seen.level.code(),
        "status": match seen.committed {
            None => "open",
            Some(true) => "committed",
            Some(false) => "aborted",
        },
        "statement": seen.statement.as_ref().map(|statement| short(&statement.text)),
        "operations": seen.ops.iter().map(operation).collect::<Vec<_>>(),
        "operations_before": seen.ops_before,
    })
}

fn operation(op: &SeenOp) -> Value {
    match op {
        SeenOp::Read { key, value, writer } => json!({
            "kind": "read", "key": short(key), "value": value.as_deref().map(short),
            "writer": writer.map(name),
        }),
        SeenOp::OwnRead { key } => json!({ "kind": "own-read", "key": short(key) }),
        SeenOp::Write { key, value } => {
            let value = value.as_deref().map(short);
            json!({ "kind": "write", "key": short(key), "value": value })
        }
    }
}

fn question(id: u64, pending: &Pending) -> Value {
    let version = |(writer, value): &(Option<TxnName>, Option<String>)| {
        let (writer, value) = (writer.map(name), value.as_deref().map(short));
        json!({ "writer": writer, "value": value })
    };
    let asked = &pending.question;
    json!({
        "question": id,
        "reader": name(asked.reader),
        "key": short(&asked.key),
        "statement": asked.statement.as_ref().map(|statement| short(&statement.text)),
        "versions": asked.versions.iter().map(version).collect::<Vec<_>>(),
        "versions_before": asked.versions_before,
        "waits_seconds": pending.since.elapsed().as_secs_f64(),
    })
}

/// A transaction, by the number of its session and its own in it.
fn name(of: TxnName) -> String {
    format!("{}.{}", of.session, of.txn)
}

fn short(text: &str) -> String {
    let text = clean(text);
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// An answer to a question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Picked {
    question: u64,
    /// The writer of the version, as the question has it; `null` for the initial one.
    writer: Option<String>,
    /// Instead: the latest version, also at all other reads of the statement.
    #[serde(default)]
    latest: bool,
}

impl Shape for Picked {
    const EXPECTED: &'static str =
        r#"{"question": number, "writer": text or null, or "latest": true}"#;
}

pub(super) async fn answer(State(hub): State<Shared>, Payload(picked): Payload<Picked>) -> Reply {
    let writer = picked.writer.as_deref().map(parse_name).transpose()?;
    let said = if picked.latest { Said::LatestForStatement } else { Said::Version(writer) };
    let questions = hub.questions();
    match questions.is_some_and(|questions| questions.answer(picked.question, said)) {
        true => Ok(Answer::ok(json!({ "answered": true }))),
        false => Err(Problem {
            status: StatusCode::CONFLICT,
            code: "no_question",
            message: "this question does not wait (any more), or has no such version".to_owned(),
        }),
    }
}

fn parse_name(text: &str) -> Result<TxnName, Problem> {
    let parts = text.split_once('.');
    let name = parts.and_then(|(session, txn)| {
        Some(TxnName { session: session.parse().ok()?, txn: txn.parse().ok()? })
    });
    name.ok_or_else(|| Problem::bad_request(format!("`{text}` names no transaction, like 0.2")))
}
