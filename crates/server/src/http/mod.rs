//! HTTP with JSON: `POST /sessions`, then `begin`, `read`, `write`, `commit` below
//! `/sessions/{session}`.
//!
//! [`routes`] is the one list of what there is; the router is made of it, and a test compares it
//! with `openapi.json`.

mod accept;
mod admin;
mod guard;
mod history;
mod live;
mod openapi;
mod payload;
mod problem;
mod stalled;
mod transactions;

pub(crate) use accept::accept;
pub(crate) use guard::{Guard, guard};
pub(crate) use problem::Problem;

use crate::hub::Hub;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post, put};
use serde::Serialize;
use std::sync::Arc;

type Shared = Arc<Hub>;
type Reply = Result<Answer, Problem>;

/// Everything that can be asked for.
fn routes() -> Vec<(Method, &'static str, MethodRouter<Shared>)> {
    vec![
        (Method::POST, "/sessions", post(transactions::open_session)),
        (Method::DELETE, "/sessions/{session}", delete(transactions::close_session)),
        (Method::POST, "/sessions/{session}/begin", post(transactions::begin)),
        (Method::POST, "/sessions/{session}/read", post(transactions::read)),
        (Method::POST, "/sessions/{session}/scan", post(transactions::scan)),
        (Method::POST, "/sessions/{session}/write", post(transactions::write)),
        (Method::POST, "/sessions/{session}/remove", post(transactions::remove)),
        (Method::POST, "/sessions/{session}/compare-and-set", post(transactions::compare_and_set)),
        (Method::POST, "/sessions/{session}/commit", post(transactions::commit)),
        (Method::POST, "/sessions/{session}/abort", post(transactions::abort)),
        (Method::GET, "/history", get(history::download)),
        (Method::GET, "/admin/level", get(admin::level)),
        (Method::PUT, "/admin/level", put(admin::set_level)),
        (Method::GET, "/admin/seed", get(admin::seed)),
        (Method::PUT, "/admin/seed", put(admin::set_seed)),
        (Method::GET, "/admin/chooser", get(admin::chooser)),
        (Method::PUT, "/admin/chooser", put(admin::set_chooser)),
        (Method::POST, "/admin/reset", post(admin::reset)),
        (Method::GET, "/openapi.json", get(openapi::document)),
        (Method::GET, "/health", get(admin::health)),
    ]
}

/// The page that shows what goes on, for people: no part of the interface for programs.
fn page_routes() -> [(&'static str, MethodRouter<Shared>); 6] {
    [
        ("/live", get(live::page)),
        ("/live/page.js", get(live::script)),
        ("/live/page.css", get(live::style)),
        ("/live/icon.svg", get(live::icon)),
        ("/live/state", get(live::state)),
        ("/live/answer", post(live::answer)),
    ]
}

/// Answers requests about `hub`, of those that may ask.
pub(crate) fn router(hub: Shared, may_ask: Guard) -> Router {
    let limit = DefaultBodyLimit::max(hub.body_bytes_max);
    let add = |router: Router<Shared>, (_, path, handler)| router.route(path, handler);
    let router = routes().into_iter().fold(Router::new(), add);
    let add = |router: Router<Shared>, (path, handler)| router.route(path, handler);
    let router = page_routes().into_iter().fold(router, add);
    let router = router.fallback(unknown_path).method_not_allowed_fallback(wrong_method);
    router.layer(limit).layer(middleware::from_fn_with_state(may_ask, guard)).with_state(hub)
}

async fn unknown_path() -> Problem {
    let message = "there is nothing at this path; GET /openapi.json lists what there is, \
                   and /live is a page"
        .to_owned();
    Problem { status: StatusCode::NOT_FOUND, code: "unknown_path", message }
}

async fn wrong_method() -> Problem {
    let message =
        "this path does not know this method; GET /openapi.json lists what there is".to_owned();
    Problem { status: StatusCode::METHOD_NOT_ALLOWED, code: "wrong_method", message }
}

/// A body of JSON.
pub(crate) struct Answer(StatusCode, String);

impl Answer {
    fn with(status: StatusCode, body: impl Serialize) -> Answer {
        // Everything that is answered has text keys only, which is all that could fail.
        Answer(status, serde_json::to_string(&body).unwrap_or_else(|_| "null".to_owned()))
    }

    pub fn ok(body: impl Serialize) -> Answer {
        Answer::with(StatusCode::OK, body)
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.0, [(header::CONTENT_TYPE, "application/json")], self.1).into_response()
    }
}
