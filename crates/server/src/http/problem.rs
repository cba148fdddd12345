//! What clients are told when something did not work: a status, a code for programs, a sentence for
//! people.

use super::Answer;
use crate::error::HubError;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use seriatim_store::StoreError;

/// Why a request was not done.
#[derive(Debug)]
pub(crate) struct Problem {
    pub status: StatusCode,
    /// For programs; part of the interface.
    pub code: &'static str,
    pub message: String,
}

impl Problem {
    pub fn bad_request(message: String) -> Problem {
        Problem { status: StatusCode::BAD_REQUEST, code: "bad_request", message }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        Answer::with(self.status, json!({ "code": self.code, "message": self.message }))
            .into_response()
    }
}

impl From<HubError> for Problem {
    fn from(error: HubError) -> Problem {
        let (status, code) = match &error {
            HubError::UnknownSession(_) => (StatusCode::NOT_FOUND, "unknown_session"),
            HubError::SessionEnded { .. } => (StatusCode::GONE, "session_ended"),
            HubError::TooManySessions { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_sessions")
            }
            HubError::NoTransaction => (StatusCode::CONFLICT, "no_transaction"),
            HubError::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "shutting_down"),
            HubError::Store(error) => of_store(error),
        };
        Problem { status, code, message: error.to_string() }
    }
}

fn of_store(error: &StoreError) -> (StatusCode, &'static str) {
    match error {
        StoreError::SerializationFailure(_) | StoreError::ConcurrentUpdate => {
            (StatusCode::CONFLICT, "serialization_failure")
        }
        StoreError::TransactionOpen => (StatusCode::CONFLICT, "transaction_open"),
        StoreError::Ended => (StatusCode::CONFLICT, "no_transaction"),
        StoreError::WaitedTooLong(_) => (StatusCode::SERVICE_UNAVAILABLE, "waited_too_long"),
        StoreError::UnsupportedLevel(_) => (StatusCode::BAD_REQUEST, "bad_request"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}
