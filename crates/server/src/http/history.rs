//! The history so far, in any format that is a single file.

use super::Shared;
use super::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use seriatim_history::WriteError;
use seriatim_history::formats::{self, Format, UnknownFormatName};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    format: Option<String>,
    #[serde(default)]
    of: Clients,
}

/// Whose history it is: they have stores of their own.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
enum Clients {
    #[default]
    Http,
    Sql,
}

/// On a thread of its own: a long history takes a while to write, and other clients need not wait
/// for that.
pub(super) async fn download(
    State(hub): State<Shared>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(wanted) = wanted.map_err(|error| Problem::bad_request(error.body_text()))?;
    let format = wanted.format.as_deref().map_or(Ok(Format::Jsonl), str::parse);
    let format =
        format.map_err(|error: UnknownFormatName| Problem::bad_request(error.to_string()))?;
    let written = tokio::task::spawn_blocking(move || {
        let history = match wanted.of {
            Clients::Http => hub.history(),
            Clients::Sql => hub.history_of_sql().ok_or_else(no_sql)?,
        };
        let mut bytes = Vec::new();
        let written: Result<(), WriteError> = formats::write(&history, format, &mut bytes);
        Ok::<_, Problem>(written.map(|()| bytes))
    });
    let bytes = written.await.map_err(|_| internal())??;
    let bytes = bytes
        .map_err(|error| Problem::bad_request(format!("{error}; format=jsonl holds everything")))?;
    Ok(([(header::CONTENT_TYPE, content_type(format))], bytes).into_response())
}

fn content_type(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "application/x-ndjson",
        Format::DbcopJson => "application/json",
        Format::DbcopBincode | Format::Cobra => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    }
}

fn no_sql() -> Problem {
    let message = "this server has no clients of SQL; start it with --postgres or --mysql";
    Problem::bad_request(message.to_owned())
}

fn internal() -> Problem {
    let message = "the history could not be written; this is a bug, please report it".to_owned();
    Problem { status: StatusCode::INTERNAL_SERVER_ERROR, code: "internal", message }
}
