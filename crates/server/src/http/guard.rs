//! Who may ask a server that has no users: a page from elsewhere in the browser of somebody who
//! also runs a server here must neither read nor change what the server has. Clients that are no
//! browsers send none of the headers that are looked at, and are let in.
//!
//! A server on the loopback interface is asked by names of this machine: a page that makes its own
//! name mean this machine (DNS rebinding) is refused. Requests that change something come from no
//! page but the server's own.

use super::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Which requests are let in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    /// Whether the server listens on the loopback interface.
    pub is_local: bool,
}

impl Guard {
    fn refusal(self, method: &Method, headers: &HeaderMap) -> Option<Problem> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(header::HOST);
        if self.is_local && host.is_some_and(|host| !is_local(host)) {
            let message = "this server answers requests to this machine only; ask it as localhost";
            return Some(forbidden("wrong_host", message));
        }
        let changes = !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let is_own = match text(HeaderName::from_static("sec-fetch-site")) {
            Some(site) => matches!(site, "same-origin" | "none"),
            None => text(header::ORIGIN).is_none_or(|origin| is_origin_of(origin, host)),
        };
        (changes && !is_own)
            .then(|| forbidden("wrong_origin", "pages of other servers may change nothing here"))
    }
}

fn forbidden(code: &'static str, message: &str) -> Problem {
    Problem { status: StatusCode::FORBIDDEN, code, message: message.to_owned() }
}

/// Refuses what comes from elsewhere, and lets no page from elsewhere have an answer.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(request.method(), request.headers()) {
        None => next.run(request).await,
        Some(problem) => problem.into_response(),
    };
    let always = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in always {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether a host, with its port if it has one, is a name of this machine, or at least one that
/// nobody else can give it: names without a dot are not asked of other machines' name servers.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_address = |ip: IpAddr| ip.is_loopback();
    let is_plain = !name.is_empty() && !name.contains(['.', ':']);
    is_plain || name.parse().is_ok_and(is_address)
}

/// Whether a page of this origin came from the host that it asks.
fn is_origin_of(origin: &str, host: Option<&str>) -> bool {
    let name = origin.split_once("://").map(|(_, name)| name);
    name.zip(host).is_some_and(|(name, host)| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code with which a request is refused.
    fn refused(is_local: bool, method: &Method, headers: &[(&str, &str)]) -> Option<&'static str> {
        let headers = headers.iter().map(|(name, value)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        });
        let problem = Guard { is_local }.refusal(method, &headers.collect());
        problem.map(|problem| problem.code)
    }

    #[test]
    fn names_of_this_machine_are_known_with_and_without_a_port() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:4747", "127.0.0.2", "[::1]:4747"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["db", "db:8080"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["", ":80", "evil.example", "localhost.evil.example:80", "10.0.0.1", "[::2]"] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn a_local_server_is_asked_by_names_of_this_machine() {
        for method in [Method::GET, Method::POST] {
            assert_eq!(refused(true, &method, &[("host", "evil.example:80")]), Some("wrong_host"));
            for headers in [&[("host", "localhost:80")][..], &[]] {
                assert_eq!(refused(true, &method, headers), None);
            }
            assert_eq!(refused(false, &method, &[("host", "db.example:80")]), None);
        }
    }

    #[test]
    fn pages_of_other_servers_change_nothing_and_other_clients_may() {
        let host = ("host", "127.0.0.1:8080");
        let refuses = |method: &Method, headers: &[(&str, &str)]| {
            let of = |is_local| refused(is_local, method, headers).is_some();
            assert_eq!(of(true), of(false), "{method} {headers:?}");
            of(true)
        };
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            for site in ["cross-site", "same-site", "?"] {
                assert!(refuses(&method, &[host, ("sec-fetch-site", site)]), "{site}");
            }
            for origin in ["http://evil.example", "http://127.0.0.1:3000", "null", ""] {
                assert!(refuses(&method, &[host, ("origin", origin)]), "{origin}");
            }
            assert!(!refuses(&method, &[host]));
            assert!(!refuses(&method, &[host, ("origin", "http://127.0.0.1:8080")]));
            // A proxy may change the host; the browser knows.
            let behind = [("origin", "https://db.example"), ("sec-fetch-site", "same-origin")];
            assert!(!refuses(&method, &[host, behind[0], behind[1]]));
        }
        // Links lead here, and the answer is not for the page that has them.
        assert!(!refuses(&Method::GET, &[host, ("sec-fetch-site", "cross-site")]));
    }
}
