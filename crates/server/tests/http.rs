//! The server as clients see it, over real connections.

#[path = "common/client.rs"]
mod client;

use client::Client;
use serde_json::{Value, json};
use seriatim_check::Answer;
use seriatim_history::formats::{ReadOptions, read_bytes};
use seriatim_history::{History, Status};
use seriatim_isolation::Level;
use seriatim_server::{Config, Server, Stopper};
use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server on a thread of its own.
struct Running {
    address: SocketAddr,
    stopper: Stopper,
    thread: JoinHandle<History>,
}

impl Running {
    fn new(config: Config) -> Running {
        let server = Server::bind("127.0.0.1:0", config).unwrap();
        let (address, stopper) = (server.http_address().unwrap(), server.stopper());
        Running { address, stopper, thread: std::thread::spawn(move || server.run()) }
    }

    fn client(&self) -> Client {
        Client::new(self.address)
    }

    fn stop(self) -> History {
        self.stopper.stop();
        self.thread.join().unwrap()
    }
}

fn at(level: Level) -> Config {
    Config { level, ..Config::default() }
}

fn committed(history: &History) -> usize {
    history.txns().filter(|&txn| history.status(txn) == Status::Committed).count()
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_transaction_from_its_begin_to_the_history() {
    let server = Running::new(at(Level::Serializable));
    let mut client = server.client();
    let session = client.session();
    let mut post = |action: &str, body: Value| {
        client.ok("POST", &format!("{session}/{action}"), &body.to_string())
    };
    assert_eq!(post("begin", json!({})), json!({ "transaction": 0, "level": "ser" }));
    let value = json!({ "deep": [1, 2.5, null, "ä"] });
    assert_eq!(post("write", json!({ "key": "a/1", "value": value })), json!({ "written": true }));
    assert_eq!(post("read", json!({ "key": "a/1" })), json!({ "found": true, "value": value }));
    assert_eq!(post("read", json!({ "key": "a/2" })), json!({ "found": false, "value": null }));
    post("write", json!({ "key": "a/2", "value": null }));
    assert_eq!(post("read", json!({ "key": "a/2" })), json!({ "found": true, "value": null }));
    let set = post("compare-and-set", json!({ "key": "a/2", "value": 1 }));
    assert_eq!(set, json!({ "set": false }), "null is a value");
    let set = post("compare-and-set", json!({ "key": "a/2", "expected": null, "value": 1 }));
    assert_eq!(set, json!({ "set": true }));
    post("write", json!({ "key": "b", "value": true }));
    post("remove", json!({ "key": "b" }));
    assert_eq!(post("commit", json!({})), json!({ "committed": true }));
    assert_eq!(post("begin", json!({ "level": "Snapshot Isolation" }))["level"], "si");
    let entries = json!([{ "key": "a/1", "value": value }, { "key": "a/2", "value": 1 }]);
    assert_eq!(post("scan", json!({ "prefix": "a/" })), json!({ "entries": entries }));
    assert_eq!(post("abort", json!({})), json!({ "aborted": true }));
    assert_eq!(post("abort", json!({})), json!({ "aborted": false }));

    for format in ["", "?format=jsonl", "?format=elle"] {
        let text = client.call("GET", &format!("/history{format}"), "").unwrap().text;
        let (history, _) =
            read_bytes(text.as_bytes(), "download", &ReadOptions::default()).unwrap();
        assert_eq!(committed(&history), 1, "{format}");
    }
    assert_eq!(client.ok("DELETE", &session, ""), json!({ "closed": true }));
    assert_eq!(client.ok("GET", "/health", "")["sessions"], 0);
    let history = server.stop();
    assert_eq!((history.txn_count(), committed(&history)), (2, 1));
}

#[test]
fn mistakes_are_answered_with_a_code_and_a_sentence() {
    let server = Running::new(Config::default());
    let mut client = server.client();
    let session = client.session();
    client.ok("POST", &format!("{session}/begin"), "");
    let closed = client.session();
    client.ok("DELETE", &closed, "");
    let own = |action: &str| format!("{session}/{action}");
    let cases = [
        ("POST", own("read"), "", 400, "bad_request", r#"{"key": text}"#),
        ("POST", own("read"), "{", 400, "bad_request", "EOF"),
        ("POST", own("read"), r#"{"key": 1}"#, 400, "bad_request", "expected a string"),
        ("POST", own("write"), r#"{"key": "x"}"#, 400, "bad_request", "missing field `value`"),
        (
            "POST",
            own("write"),
            r#"{"key": "x", "value": 1, "no": 1}"#,
            400,
            "bad_request",
            "unknown field `no`",
        ),
        ("POST", own("begin"), "", 409, "transaction_open", "commit or abort"),
        ("POST", own("begin"), r#"{"level": "chaos"}"#, 400, "bad_request", "works at rc, ra"),
        ("POST", own("fly"), "", 404, "unknown_path", "/openapi.json"),
        ("GET", own("read"), "", 405, "wrong_method", "/openapi.json"),
        ("POST", "/sessions/77/commit".to_owned(), "", 404, "unknown_session", "`77`"),
        ("POST", "/sessions/x%FFy/commit".to_owned(), "", 404, "unknown_session", "session"),
        ("POST", "/sessions/-1/abort".to_owned(), "", 404, "unknown_session", "`-1`"),
        ("POST", format!("{closed}/commit"), "", 410, "session_ended", "it was closed"),
        ("DELETE", closed.clone(), "", 410, "session_ended", "open another"),
        (
            "PUT",
            "/admin/level".to_owned(),
            r#"{"level": "sser"}"#,
            400,
            "bad_request",
            "works at rc, ra",
        ),
        (
            "PUT",
            "/admin/chooser".to_owned(),
            r#"{"chooser": "luck"}"#,
            400,
            "bad_request",
            "latest-per-session",
        ),
        ("PUT", "/admin/seed".to_owned(), r#"{"seed": -1}"#, 400, "bad_request", "number"),
        ("GET", "/history?format=poem".to_owned(), "", 400, "bad_request", "plume"),
        ("GET", "/history?from=1".to_owned(), "", 400, "bad_request", "from"),
        ("GET", "/history?format=cobra".to_owned(), "", 400, "bad_request", "jsonl"),
        ("GET", "/".to_owned(), "", 404, "unknown_path", "nothing"),
    ];
    for (method, path, body, status, code, part) in cases {
        let answer = client.call(method, &path, body).unwrap();
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{method} {path} {body}: {answer:?}"
        );
        assert!(answer.json()["message"].as_str().unwrap().contains(part), "{part}: {answer:?}");
    }
    // None of it has hurt the transaction.
    client.ok("POST", &own("commit"), "");
    let answer = client.call("POST", &own("commit"), "").unwrap();
    assert_eq!((answer.status, answer.code().as_str()), (409, "no_transaction"));
    server.stop();
}

#[test]
fn an_update_that_would_be_lost_is_a_serialization_failure() {
    let server = Running::new(at(Level::SnapshotIsolation));
    let mut client = server.client();
    let sessions = [client.session(), client.session()];
    for session in &sessions {
        client.ok("POST", &format!("{session}/begin"), "");
        client.ok("POST", &format!("{session}/read"), r#"{"key": "stock"}"#);
        client.ok(
            "POST",
            &format!("{session}/write"),
            &json!({ "key": "stock", "value": session }).to_string(),
        );
    }
    client.ok("POST", &format!("{}/commit", sessions[0]), "");
    let failed = client.call("POST", &format!("{}/commit", sessions[1]), "").unwrap();
    assert_eq!(
        (failed.status, failed.code().as_str()),
        (409, "serialization_failure"),
        "{failed:?}"
    );
    client.ok("POST", &format!("{}/begin", sessions[1]), "");
    let history = server.stop();
    assert_eq!((history.txn_count(), committed(&history)), (3, 1));
    let report = seriatim_check::Checker::new().check(&history);
    assert_eq!(report.verdict(Level::SnapshotIsolation).unwrap().answer(), Answer::Holds);
}

#[test]
fn bodies_and_sessions_have_limits() {
    let server =
        Running::new(Config { body_bytes_max: 1000, sessions_max: 2, ..Config::default() });
    let mut client = server.client();
    let session = client.session();
    client.session();
    let many = client.call("POST", "/sessions", "").unwrap();
    assert_eq!((many.status, many.code().as_str()), (429, "too_many_sessions"));
    client.ok("POST", &format!("{session}/begin"), "");
    let path = format!("{session}/write");
    let body = |size: usize| json!({ "key": "x", "value": "v".repeat(size) }).to_string();
    client.ok("POST", &path, &body(900));
    let large = client.call("POST", &path, &body(1000)).unwrap();
    assert_eq!((large.status, large.code().as_str()), (413, "body_too_large"));
    client.leave();
    // Chunks do not say how long they will be.
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    client.send(format!("{head}7d0\r\n{}\r\n0\r\n\r\n", "v".repeat(2000)).as_bytes()).unwrap();
    assert_eq!(client.receive().unwrap().status, 413);
    client.leave();
    client.ok("POST", &format!("{session}/commit"), "");
    client.ok("DELETE", &session, "");
    client.session();
    assert_eq!(committed(&server.stop()), 1);
}

#[test]
fn an_idle_session_ends_and_its_transaction_aborts() {
    let server = Running::new(Config { idle_max: Duration::from_millis(200), ..Config::default() });
    let mut client = server.client();
    let session = client.session();
    client.ok("POST", &format!("{session}/begin"), "");
    client.ok("POST", &format!("{session}/write"), r#"{"key": "x", "value": 1}"#);
    wait_until("the end of the session", || client.ok("GET", "/health", "")["sessions"] == 0);
    let late = client.call("POST", &format!("{session}/commit"), "").unwrap();
    assert_eq!((late.status, late.code().as_str()), (410, "session_ended"));
    assert!(late.text.contains("idle for more than 200ms"), "{late:?}");
    let history = server.stop();
    assert!(history.txns().all(|txn| history.status(txn) == Status::Aborted));
}

#[test]
fn settings_change_while_the_server_runs() {
    let server = Running::new(Config::default());
    let mut client = server.client();
    for (path, body) in [
        ("/admin/level", json!({ "level": "rc" })),
        ("/admin/seed", json!({ "seed": 7 })),
        ("/admin/chooser", json!({ "chooser": "latest" })),
        ("/admin/chooser", json!({ "chooser": "adversary" })),
        ("/admin/chooser", json!({ "chooser": "stale" })),
        ("/admin/chooser", json!({ "chooser": "latest-per-session" })),
    ] {
        assert_eq!(client.ok("PUT", path, &body.to_string()), body);
        assert_eq!(client.ok("GET", path, ""), body);
    }
    let old = client.session();
    client.ok("POST", &format!("{old}/begin"), "");
    client.ok("POST", "/admin/reset", r#"{"values": {"x": 5}}"#);
    assert_eq!(client.call("POST", &format!("{old}/commit"), "").unwrap().status, 410);
    let new = client.session();
    assert_ne!(new, old, "a number is not used again");
    assert_eq!(client.ok("POST", &format!("{new}/begin"), "")["level"], "rc");
    assert_eq!(client.ok("POST", &format!("{new}/read"), r#"{"key": "x"}"#)["value"], 5);
    client.ok("POST", &format!("{new}/commit"), "");
    assert_eq!(server.stop().txn_count(), 1, "the reset began a new history");
}

#[test]
fn whoever_leaves_halfway_has_done_nothing() {
    let server = Running::new(Config::default());
    let mut client = server.client();
    let session = client.session();
    client.ok("POST", &format!("{session}/begin"), "");
    client
        .send_half(
            "POST",
            &format!("{session}/write"),
            r#"{"key": "x", "value": "something long enough"}"#,
        )
        .unwrap();
    client.send(b"\x16\x03\x01 this is not HTTP\r\n\r\n").unwrap();
    assert_eq!(client.receive().unwrap().status, 400);
    client.leave();
    client.ok("POST", &format!("{session}/commit"), "");
    let history = server.stop();
    assert_eq!((committed(&history), history.op_count()), (1, 0));
}

#[test]
fn a_stop_waits_for_nobody_forever() {
    let server = Running::new(Config::default());
    let (mut quiet, mut slow) = (server.client(), server.client());
    let session = quiet.session();
    quiet.ok("POST", &format!("{session}/begin"), "");
    quiet.ok("POST", &format!("{session}/write"), r#"{"key": "x", "value": 1}"#);
    slow.send(b"POST /sessions HTTP/1.1\r\nhost: lo").unwrap();
    let start = Instant::now();
    let history = server.stop();
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert!(history.txn_count() == 1 && committed(&history) == 0);
    assert!(quiet.call("POST", &format!("{session}/commit"), "").is_err());
}

#[test]
fn one_transaction_at_a_time_if_wanted() {
    let server = Running::new(Config { serial: true, ..Config::default() });
    let mut client = server.client();
    let (one, two) = (client.session(), client.session());
    client.ok("POST", &format!("{one}/begin"), "");
    let mut other = server.client();
    let waiting = std::thread::spawn(move || {
        other.ok("POST", &format!("{two}/begin"), "");
        Instant::now()
    });
    std::thread::sleep(Duration::from_millis(50));
    let before = Instant::now();
    client.ok("POST", &format!("{one}/commit"), "");
    assert!(waiting.join().unwrap() >= before);
    server.stop();
}

#[test]
fn the_interface_describes_itself() {
    let server = Running::new(Config::default());
    let document = server.client().ok("GET", "/openapi.json", "");
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/sessions/{session}/begin"]["post"].is_object());
    server.stop();
}

#[test]
fn an_address_that_is_taken_is_named() {
    let server = Running::new(Config::default());
    let taken = Server::bind(&server.address.to_string(), Config::default());
    let message = taken.err().unwrap().to_string();
    assert!(
        message.contains(&server.address.to_string()) && message.contains("port 0"),
        "{message}"
    );
    server.stop();
}

/// What twenty reads return after a reset with `body`, among thirty versions.
fn twenty_reads(client: &mut Client, body: &str) -> Vec<Value> {
    client.ok("POST", "/admin/reset", body);
    let session = client.session();
    let mut txn = |path: &str, body: &str| {
        client.ok("POST", &format!("{session}/begin"), "");
        let answer = client.ok("POST", &format!("{session}/{path}"), body);
        client.ok("POST", &format!("{session}/commit"), "");
        answer
    };
    for value in 0..30 {
        txn("write", &json!({ "key": "x", "value": value }).to_string());
    }
    (0..20).map(|_| txn("read", r#"{"key": "x"}"#)["value"].clone()).collect()
}

#[test]
fn a_reset_goes_on_with_new_numbers_and_a_seed_repeats() {
    let server = Running::new(Config { level: Level::ReadCommitted, ..Config::default() });
    let mut client = server.client();
    for chooser in ["random", "stale"] {
        client.ok("PUT", "/admin/chooser", &json!({ "chooser": chooser }).to_string());
        let cases = ["", "", r#"{"seed": 7}"#, ""].map(|body| twenty_reads(&mut client, body));
        assert!(cases[0] != cases[1] && cases[1] != cases[3], "{chooser}: {cases:?}");
        let again = [r#"{"seed": 7}"#, ""].map(|body| twenty_reads(&mut client, body));
        assert_eq!(again[..], cases[2..], "{chooser}");
    }
    let history = server.stop();
    assert!(history.has_times());
    let settings: Value = serde_json::from_str(history.extra().unwrap()).unwrap();
    assert_eq!((&settings["seed"], &settings["resets"]), (&7.into(), &1.into()));
}
