//! Sessions and what transactions do. No handler awaits anything between a change of the store and
//! its answer, so that a client that disconnects leaves nothing half done.

use super::payload::{Payload, SessionId, Shape};
use super::problem::Problem;
use super::{Answer, Reply, Shared};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use seriatim_isolation::Level;

pub(super) async fn open_session(State(hub): State<Shared>) -> Reply {
    let opened = hub.open_session()?;
    Ok(Answer::with(StatusCode::CREATED, json!({ "session": opened.id, "number": opened.number })))
}

pub(super) async fn close_session(State(hub): State<Shared>, SessionId(id): SessionId) -> Reply {
    hub.patiently(move |hub| hub.close_session(id)).await?;
    Ok(Answer::ok(json!({ "closed": true })))
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Begin {
    level: Option<String>,
}

impl Shape for Begin {
    const EXPECTED: &'static str = r#"nothing or {"level": text}"#;

    fn empty() -> Option<Begin> {
        Some(Begin::default())
    }
}

pub(super) async fn begin(
    State(hub): State<Shared>,
    SessionId(id): SessionId,
    Payload(body): Payload<Begin>,
) -> Reply {
    let level = body.level.as_deref().map(parse_level).transpose()?;
    let (name, level) = hub.begin(id, level).await?;
    Ok(Answer::ok(json!({ "transaction": name.txn, "level": level.code() })))
}

pub(super) fn parse_level(text: &str) -> Result<Level, Problem> {
    let unknown = || {
        let known = seriatim_store::LEVELS.map(Level::code).join(", ");
        Problem::bad_request(format!("unknown isolation level `{text}`; a store works at {known}"))
    };
    text.parse().ok().filter(|level| seriatim_store::LEVELS.contains(level)).ok_or_else(unknown)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    key: String,
}

impl Shape for Key {
    const EXPECTED: &'static str = r#"{"key": text}"#;
}

pub(super) async fn read(
    State(hub): State<Shared>,
    SessionId(id): SessionId,
    Payload(body): Payload<Key>,
) -> Reply {
    let value =
        hub.patiently(move |hub| hub.slot(id)?.in_transaction(|txn| txn.read(&body.key))).await?;
    Ok(Answer::ok(json!({ "found": value.is_some(), "value": value })))
}

pub(super) async fn remove(
    State(hub): State<Shared>,
    SessionId(id): SessionId,
    Payload(body): Payload<Key>,
) -> Reply {
    hub.patiently(move |hub| hub.slot(id)?.in_transaction(|txn| txn.remove(&body.key))).await?;
    Ok(Answer::ok(json!({ "removed": true })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prefix {
    prefix: String,
}

impl Shape for Prefix {
    const EXPECTED: &'static str = r#"{"prefix": text}"#;
}

pub(super) async fn scan(
    State(hub): State<Shared>,
    SessionId(id): SessionId,
    Payload(body): Payload<Prefix>,
) -> Reply {
    let found = hub
        .patiently(move |hub| hub.slot(id)?.in_transaction(|txn| txn.scan(&body.prefix)))
        .await?;
    let entries: Vec<Value> =
        found.into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
    Ok(Answer::ok(json!({ "entries": entries })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    key: String,
    value: Value,
}

impl Shape for Write {
    const EXPECTED: &'static str = r#"{"key": text, "value": anything}"#;
}

pub(super) async fn write(
    State(hub): State<Shared>,
    SessionId(id): SessionId,
    Payload(body): Payload<Write>,
) -> Reply {
    hub.patiently(move |hub| hub.slot(id)?.in_transaction(|txn| txn.write(&body.key, body.value)))
        .await?;
    Ok(Answer::ok(json!({ "written": true })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareAndSet {
    key: String,
    /// Without it the key is expected to hold nothing; `null` is a value.
    #[serde(default, deserialize_with = "present")]
    expected: Option<Value>,
    value: Value,
}

impl Shape for CompareAndSet {
    const EXPECTED: &'static str =
        r#"{"key": text, "expected": anything or left out, "value": anything}"#;
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

pub(super) async fn compare_and_set(
    State(hub): State<Shared>,
    SessionId(id): SessionId,
    Payload(body): Payload<CompareAndSet>,
) -> Reply {
    let CompareAndSet { key, expected, value } = body;
    let set = hub
        .patiently(move |hub| {
            let slot = hub.slot(id)?;
            slot.in_transaction(|txn| txn.compare_and_set(&key, expected.as_ref(), value))
        })
        .await?;
    Ok(Answer::ok(json!({ "set": set })))
}

pub(super) async fn commit(State(hub): State<Shared>, SessionId(id): SessionId) -> Reply {
    hub.patiently(move |hub| hub.slot(id)?.commit()).await?;
    Ok(Answer::ok(json!({ "committed": true })))
}

/// Not an error without a transaction: clients abort when they do not know whether the last request
/// has arrived.
pub(super) async fn abort(State(hub): State<Shared>, SessionId(id): SessionId) -> Reply {
    let aborted = hub.patiently(move |hub| hub.slot(id)?.abort()).await?;
    Ok(Answer::ok(json!({ "aborted": aborted })))
}
