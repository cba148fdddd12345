//! Settings that can change while the server runs, and how it is.

use super::payload::{Payload, Shape};
use super::problem::Problem;
use super::transactions::parse_level;
use super::{Answer, Reply, Shared};
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(super) async fn health(State(hub): State<Shared>) -> Reply {
    let version = env!("CARGO_PKG_VERSION");
    Ok(Answer::ok(json!({ "status": "ok", "version": version, "sessions": hub.session_count() })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelBody {
    level: String,
}

impl Shape for LevelBody {
    const EXPECTED: &'static str = r#"{"level": text}"#;
}

pub(super) async fn level(State(hub): State<Shared>) -> Reply {
    Ok(Answer::ok(json!({ "level": hub.level().code() })))
}

pub(super) async fn set_level(
    State(hub): State<Shared>,
    Payload(body): Payload<LevelBody>,
) -> Reply {
    hub.set_level(parse_level(&body.level)?)?;
    level(State(hub)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedBody {
    seed: u64,
}

impl Shape for SeedBody {
    const EXPECTED: &'static str = r#"{"seed": number}"#;
}

pub(super) async fn seed(State(hub): State<Shared>) -> Reply {
    Ok(Answer::ok(json!({ "seed": hub.seed() })))
}

pub(super) async fn set_seed(State(hub): State<Shared>, Payload(body): Payload<SeedBody>) -> Reply {
    hub.set_seed(body.seed);
    seed(State(hub)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChooserBody {
    chooser: String,
}

impl Shape for ChooserBody {
    const EXPECTED: &'static str = r#"{"chooser": text}"#;
}

pub(super) async fn chooser(State(hub): State<Shared>) -> Reply {
    Ok(Answer::ok(json!({ "chooser": hub.chooser().code() })))
}

pub(super) async fn set_chooser(
    State(hub): State<Shared>,
    Payload(body): Payload<ChooserBody>,
) -> Reply {
    let kind = body
        .chooser
        .parse()
        .map_err(|error: seriatim_store::UnknownChooser| Problem::bad_request(error.to_string()))?;
    hub.set_chooser(kind);
    chooser(State(hub)).await
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Reset {
    /// What the new store holds initially: every session sees it, whatever the level.
    #[serde(default)]
    values: Map<String, Value>,
    /// What decides everything that is random from now on.
    seed: Option<u64>,
}

impl Shape for Reset {
    const EXPECTED: &'static str = r#"nothing or {"values": {key: anything, …}, "seed": number}"#;

    fn empty() -> Option<Reset> {
        Some(Reset::default())
    }
}

pub(super) async fn reset(State(hub): State<Shared>, Payload(body): Payload<Reset>) -> Reply {
    hub.patiently(move |hub| hub.reset(body.values, body.seed)).await?;
    Ok(Answer::ok(json!({ "reset": true })))
}
