//! The page of a running `serve`: what goes on, and a person who picks what reads return.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::{run, start};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

/// A server with HTTP.
struct Serve {
    child: Child,
    address: String,
    /// Where clients of PostgreSQL go, if they may.
    postgres: Option<String>,
}

impl Serve {
    fn start(args: &[&str]) -> Serve {
        let mut child = start(&[&["serve", "--http", "127.0.0.1:0"], args].concat());
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut address = |protocol: &str| {
            let line = lines.next().unwrap().unwrap();
            let rest = line.strip_prefix(&format!("listening on {protocol}://"));
            rest.unwrap_or_else(|| panic!("{line}")).split(' ').next().unwrap().to_owned()
        };
        let http = address("http");
        let postgres = args.contains(&"--postgres").then(|| address("postgres"));
        std::thread::spawn(move || lines.for_each(drop));
        Serve { child, address: http, postgres }
    }

    fn url(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.address)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// The answer to bytes, as it comes.
    fn bytes(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The answer to a request with more headers.
    fn raw(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        self.bytes(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        ))
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask("POST", path, body);
        assert!(status < 300, "{path}: {status} {answer}");
        answer
    }

    /// A session that writes x in a transaction.
    fn write(&self, value: i64) {
        let session = self.post("/sessions", &Value::Null)["session"].clone();
        let path = |what: &str| format!("/sessions/{session}/{what}");
        self.post(&path("begin"), &Value::Null);
        self.post(&path("write"), &json!({ "key": "x", "value": value }));
        self.post(&path("commit"), &Value::Null);
    }

    fn state(&self) -> Value {
        self.ask("GET", "/live/state", &Value::Null).1
    }

    /// What is shown once a read waits.
    fn question(&self) -> Value {
        let began = Instant::now();
        loop {
            let state = self.state();
            if let Some(question) = state["questions"].as_array().and_then(|all| all.first()) {
                return question.clone();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{state}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A session that is in a transaction.
    fn reader(&self) -> String {
        let session = self.post("/sessions", &Value::Null)["session"].clone();
        self.post(&format!("/sessions/{session}/begin"), &Value::Null);
        format!("/sessions/{session}/read")
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_read_waits_for_a_person_and_nobody_else_does() {
    let serve = Serve::start(&["--level", "cc", "--chooser", "ask"]);
    serve.write(1);
    serve.write(2);
    let read = serve.reader();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| serve.post(&read, &json!({ "key": "x" })));
        let question = serve.question();
        assert_eq!(question["key"], "x");
        let versions = question["versions"].as_array().unwrap();
        assert_eq!(versions.len(), 3, "{question}");
        // Others go on.
        serve.write(3);
        assert!(!reading.is_finished());
        let number = &question["question"];
        let bad = json!({ "question": number, "writer": "9.9" });
        assert_eq!(serve.ask("POST", "/live/answer", &bad).0, 409);
        let bad = json!({ "question": number, "writer": "x" });
        assert_eq!(serve.ask("POST", "/live/answer", &bad).0, 400);
        let good = json!({ "question": number, "writer": versions[1]["writer"] });
        serve.post("/live/answer", &good);
        let other = json!({ "question": number, "writer": null });
        assert_eq!(serve.ask("POST", "/live/answer", &other).0, 409, "it is answered");
        assert_eq!(reading.join().unwrap()["value"], 1);
        assert_eq!(serve.ask("POST", "/live/answer", &good).0, 409);
    });
    let state = serve.state();
    let open: Vec<&Value> = state["transactions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|txn| txn["status"] == "open")
        .collect();
    assert_eq!(open.len(), 1, "{state}");
    assert_eq!(open[0]["operations"][0]["value"], "1");
}

#[test]
fn a_read_that_nobody_answers_returns_the_latest_version_and_the_server_ends_at_once() {
    let serve = Serve::start(&["--chooser", "ask", "--ask-timeout", "50ms"]);
    serve.write(1);
    serve.write(2);
    let read = serve.reader();
    assert_eq!(serve.post(&read, &json!({ "key": "x" }))["value"], 2);
    let mut serve = Serve::start(&["--chooser", "ask", "--ask-timeout", "1h"]);
    serve.write(1);
    let read = serve.reader();
    let address = serve.address.clone();
    let reading = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(&address).unwrap();
        let body = r#"{"key":"x"}"#;
        let head = format!("POST {read} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    serve.question();
    let pid = nix::unistd::Pid::from_raw(serve.child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(reading.join().unwrap().contains(r#""value":1"#));
    assert_eq!(serve.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_person_is_asked_on_a_page_only() {
    let ran = run(&["serve", "--postgres", "127.0.0.1:0", "--chooser", "ask"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("needs --http"), "{ran:?}");
    let ran = run(&["fuzz", "cart", "--chooser", "ask"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn a_browser_shows_what_goes_on_and_a_person_picks_there() {
    let Some(browser) = Browser::open() else { return };
    let serve = Serve::start(&["--level", "cc", "--chooser", "ask"]);
    serve.post(
        "/admin/reset",
        &json!({ "values": { "<img src=x onerror=alert(1)>": "<script>alert(2)</script>" } }),
    );
    browser.go(&serve.url("live"));
    let wait = |what: &str| {
        let began = Instant::now();
        while browser.eval(&format!("return Boolean({what})")) != Value::Bool(true) {
            let said = browser.eval("return document.body.innerText");
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: {said}");
            std::thread::sleep(Duration::from_millis(30));
        }
    };
    let session = serve.post("/sessions", &Value::Null)["session"].clone();
    let path = |what: &str| format!("/sessions/{session}/{what}");
    serve.post(&path("begin"), &Value::Null);
    serve.post(&path("read"), &json!({ "key": "<img src=x onerror=alert(1)>" }));
    wait("document.getElementById('open').innerText.includes('<script>alert(2)</script>')");
    serve.write(1);
    wait("document.getElementById('past').innerText.includes('committed')");
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| serve.post(&path("read"), &json!({ "key": "x" })));
        wait("document.querySelectorAll('#questions button.version').length === 2");
        // Whoever does not see it is told.
        wait("document.getElementById('news').textContent.includes('reads x and waits')");
        browser.eval("document.querySelector('#questions button').click()");
        assert_eq!(reading.join().unwrap()["found"], false);
    });
    wait("document.getElementById('asked').hidden");
    assert_eq!(browser.eval("return document.querySelectorAll('img, main script').length"), 0);
    for width in [360, 2560] {
        let metrics =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        let wide = browser.eval("return document.documentElement.scrollWidth");
        assert!(wide.as_i64().unwrap() <= width, "{wide} of {width}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.requests(&serve.url("")), Vec::<String>::new());
}

#[test]
fn with_a_server_of_sql_the_page_shows_its_statements() {
    let serve = Serve::start(&["--postgres", "127.0.0.1:0"]);
    let mut stream = TcpStream::connect(serve.postgres.as_deref().unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let parameters = b"user\0u\0database\0postgres\0\0";
    let mut message = (8 + parameters.len() as u32).to_be_bytes().to_vec();
    message.extend(196_608_u32.to_be_bytes());
    message.extend(parameters);
    stream.write_all(&message).unwrap();
    let query = |stream: &mut TcpStream, text: &str| {
        let mut message = vec![b'Q'];
        message.extend((text.len() as u32 + 5).to_be_bytes());
        message.extend(text.as_bytes());
        message.push(0);
        stream.write_all(&message).unwrap();
    };
    query(&mut stream, "create table t (a int)");
    query(&mut stream, "begin");
    query(&mut stream, "insert into t values (42)");
    let began = Instant::now();
    let is_insert = |it: &Value| it["statement"] == "insert into t values (42)";
    let state = loop {
        let state = serve.state();
        if state["transactions"].as_array().unwrap().iter().any(is_insert) {
            break state;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{state}");
        std::thread::sleep(Duration::from_millis(30));
    };
    // Its session is a lane, in the middle of that transaction.
    let lanes = state["lanes"].as_array().unwrap();
    let lane = lanes.iter().find(|lane| is_insert(lane)).unwrap_or_else(|| panic!("{state}"));
    assert!(lane["open"].as_str().unwrap().starts_with(&format!("{}.", lane["session"])));
    // The history so far is that of SQL, if it is asked for.
    let (status, _) = serve.ask("GET", "/history?of=else", &Value::Null);
    assert_eq!(status, 400);
    let history = serve.raw("GET", "/history?of=sql", "", "");
    assert!(history.contains("insert into t values (42)"), "{history}");
    assert!(!serve.raw("GET", "/history", "", "").contains("insert into t"));
}

#[test]
fn pages_of_other_servers_change_nothing_and_clients_without_a_browser_may() {
    let serve = Serve::start(&[]);
    let status = |method: &str, path: &str, header: &str, body: &str| {
        let answer = serve.raw(method, path, header, body);
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let level = r#"{"level":"ser"}"#;
    for foreign in ["Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        assert_eq!(status("PUT", "/admin/level", foreign, level), "403");
        assert_eq!(status("POST", "/admin/reset", foreign, ""), "403");
        assert_eq!(status("POST", "/live/answer", foreign, r#"{"question":0}"#), "403");
    }
    assert_eq!(serve.ask("GET", "/admin/level", &Value::Null).1["level"], "cc");
    assert_eq!(status("PUT", "/admin/level", "", level), "200");
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", serve.address);
    assert_eq!(status("PUT", "/admin/level", &own, level), "200");
    let elsewhere = "GET /live HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(serve.bytes(elsewhere).starts_with("HTTP/1.1 403"));
}

#[test]
fn a_statement_may_be_told_to_ask_no_more() {
    let serve = Serve::start(&["--level", "cc", "--chooser", "ask"]);
    serve.write(1);
    serve.write(2);
    let scan = serve.reader().replace("/read", "/scan");
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| serve.post(&scan, &json!({ "prefix": "" })));
        let number = serve.question()["question"].clone();
        serve.post("/live/answer", &json!({ "question": number, "latest": true }));
        assert_eq!(reading.join().unwrap()["entries"][0]["value"], 2);
    });
}

#[test]
fn a_read_whose_client_has_left_is_not_asked_about_any_longer() {
    let serve = Serve::start(&["--chooser", "ask", "--ask-timeout", "1h"]);
    serve.write(1);
    let read = serve.reader();
    let mut stream = TcpStream::connect(&serve.address).unwrap();
    let body = r#"{"key":"x"}"#;
    let head = format!("POST {read} HTTP/1.1\r\nHost: localhost\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    serve.question();
    drop(stream);
    let began = Instant::now();
    while !serve.state()["questions"].as_array().unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(30));
    }
}
