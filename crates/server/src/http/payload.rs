//! Bodies of requests: at most so large, at most so slow, and of the expected shape.

use super::Shared;
use super::problem::Problem;
use crate::error::HubError;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long a body may take to arrive once its head is there.
const BODY_WAIT_MAX: Duration = Duration::from_secs(30);

/// What a request may have as its body.
pub(super) trait Shape: DeserializeOwned {
    /// What it looks like, for messages.
    const EXPECTED: &'static str;

    /// What no body at all means.
    fn empty() -> Option<Self> {
        None
    }
}

/// A body that has its shape. The content type is not looked at: there is only JSON.
pub(super) struct Payload<T>(pub T);

impl<T: Shape> FromRequest<Shared> for Payload<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, hub: &Shared) -> Result<Self, Problem> {
        let bytes = tokio::time::timeout(BODY_WAIT_MAX, Bytes::from_request(request, hub)).await;
        let bytes = bytes.map_err(|_| too_slow())?;
        let bytes = bytes.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(hub.body_bytes_max),
            _ => Problem::bad_request(
                "the body of the request could not be read to its end".to_owned(),
            ),
        })?;
        parse(&bytes).map(Payload)
    }
}

fn parse<T: Shape>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.is_empty()
        && let Some(value) = T::empty()
    {
        return Ok(value);
    }
    serde_json::from_slice(bytes).map_err(|error| {
        Problem::bad_request(format!(
            "the body is not what is expected here, {}: {error}",
            T::EXPECTED
        ))
    })
}

fn too_slow() -> Problem {
    let message =
        format!("the body did not arrive within {BODY_WAIT_MAX:?}; send the request again");
    Problem { status: StatusCode::REQUEST_TIMEOUT, code: "too_slow", message }
}

fn too_large(bytes_max: usize) -> Problem {
    let message = format!(
        "the body is larger than {bytes_max} bytes; send less, or start the server with a larger \
         --max-body"
    );
    Problem { status: StatusCode::PAYLOAD_TOO_LARGE, code: "body_too_large", message }
}

/// The session in the path.
pub(super) struct SessionId(pub u64);

impl FromRequestParts<Shared> for SessionId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Shared) -> Result<Self, Problem> {
        let Ok(Path(text)) = Path::<String>::from_request_parts(parts, hub).await else {
            return Err(HubError::UnknownSession(parts.uri.path().to_owned()).into());
        };
        text.parse().map(SessionId).map_err(|_| HubError::UnknownSession(text).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Key {
        #[expect(dead_code, reason = "only the shape matters")]
        key: String,
    }

    impl Shape for Key {
        const EXPECTED: &'static str = r#"{"key": text}"#;
    }

    #[test]
    fn messages_name_what_was_expected_and_what_came() {
        let cases = [
            ("", "EOF"),
            ("{", "EOF"),
            ("[1]", "invalid type"),
            (r#"{"key": 1}"#, "expected a string"),
            (r#"{"kee": "x"}"#, "unknown field `kee`"),
            ("{}", "missing field `key`"),
            ("{\"key\": \"x\"} tail", "trailing characters"),
            ("\u{feff}{}", "line 1"),
        ];
        for (body, cause) in cases {
            let problem = parse::<Key>(body.as_bytes()).unwrap_err();
            assert_eq!(problem.status, StatusCode::BAD_REQUEST);
            assert!(problem.message.contains(r#"{"key": text}"#), "{}", problem.message);
            assert!(
                problem.message.contains(cause) || body == "[1]",
                "{body}: {}",
                problem.message
            );
        }
        assert!(parse::<Key>(&[0xff, 0xfe]).is_err());
        assert!(parse::<Key>(&b"[".repeat(100_000)).is_err());
    }
}
