//! `seriatim serve`: many clients at once, some of which leave without a word, and an end by signal
//! that loses nothing.

#![cfg(unix)]

mod common;

#[path = "../../server/tests/common/client.rs"]
mod client;

#[path = "../../server/tests/common/frames.rs"]
mod frames;

use client::{Client, request};
use common::{Folder, run, start};
use frames::{Frames, error_field, kinds};
use serde_json::json;
use seriatim_history::formats::{ReadOptions, read_path};
use seriatim_history::{Atom, History, OpId, Status};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A server that was started with the program.
struct Serving {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    address: SocketAddr,
}

impl Serving {
    fn new(args: &[&str]) -> Serving {
        Serving::speaking("http", args)
    }

    fn speaking(protocol: &str, args: &[&str]) -> Serving {
        let flag = format!("--{protocol}");
        let mut child = start(&[&["serve", &flag, "127.0.0.1:0"], args].concat());
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let start = format!("listening on {protocol}://");
        let address = line.strip_prefix(&start).and_then(|rest| rest.split(' ').next());
        let address =
            address.and_then(|address| address.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        Serving { child, stderr, address }
    }

    fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Ends the server by a signal; what it says then.
    fn end(mut self, signal: &str) -> String {
        let status =
            Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{rest}");
        rest
    }
}

fn read(path: &str) -> History {
    read_path(Path::new(path), path, &ReadOptions::default()).unwrap().0
}

#[test]
fn a_signal_saves_what_happened_and_aborts_what_is_open() {
    for (signal, name) in [("-TERM", "out.jsonl"), ("-INT", "out.edn"), ("-HUP", "out.jsonl.gz")] {
        let folder = Folder::new();
        let out = folder.at(name);
        let server = Serving::new(&["--level", "si", "--save", &out]);
        let mut client = server.client();
        let (done, open) = (client.session(), client.session());
        for session in [&done, &open] {
            client.ok("POST", &format!("{session}/begin"), "");
            let body = json!({ "key": "x", "value": session }).to_string();
            client.ok("POST", &format!("{session}/write"), &body);
        }
        client.ok("POST", &format!("{done}/commit"), "");
        let said = server.end(signal);
        assert!(said.contains("saved 2 transactions"), "{said}");
        let history = read(&out);
        let committed =
            history.txns().filter(|&txn| history.status(txn) == Status::Committed).count();
        assert_eq!((history.txn_count(), committed), (2, 1), "{signal}");
        assert_eq!(run(&["check", "--level", "si", &out]).code, Some(0));
        assert_eq!(folder.names(), [name]);
    }
}

#[test]
fn a_history_that_does_not_fit_its_format_is_not_lost() {
    let folder = Folder::new();
    // Nor is a file that happens to be there.
    std::fs::write(folder.at("out.txt.jsonl"), "precious").unwrap();
    let server = Serving::new(&["--save", &folder.at("out.txt"), "--to", "dbcop-hist"]);
    let mut client = server.client();
    let session = client.session();
    client.ok("POST", &format!("{session}/begin"), "");
    client.ok(
        "POST",
        &format!("{session}/write"),
        r#"{"key": "a key of words", "value": {"a": "b c"}}"#,
    );
    client.ok("POST", &format!("{session}/commit"), "");
    let Serving { mut child, mut stderr, .. } = server;
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
    assert!(
        said.contains("cannot hold the key") && said.contains("out.txt.1.jsonl instead"),
        "{said}"
    );
    assert_eq!(folder.names(), ["out.txt.1.jsonl", "out.txt.jsonl"]);
    assert_eq!(read(&folder.at("out.txt.1.jsonl")).txn_count(), 1);
    assert_eq!(std::fs::read_to_string(folder.at("out.txt.jsonl")).unwrap(), "precious");
}

#[test]
fn mistakes_are_found_before_anybody_connects() {
    for (args, part) in [
        (&["serve"][..], "--http"),
        (&["serve", "--http", "nowhere"], "cannot listen on nowhere"),
        (&["serve", "--http", "127.0.0.1:0", "--level", "sser"], "unknown level of a store"),
        (&["serve", "--http", "127.0.0.1:0", "--chooser", "luck"], "latest-per-session"),
        (&["serve", "--http", "127.0.0.1:0", "--idle", "0s"], "more than 0"),
        (&["serve", "--http", "127.0.0.1:0", "--max-body", "5"], "expected a size"),
        (&["serve", "--postgres", "nowhere", "--level", "ser"], "cannot listen on nowhere"),
        (&["serve", "--http", "127.0.0.1:0", "--init", "x.sql"], "--postgres"),
        (&["serve", "--postgres", "127.0.0.1:0", "--tls-cert", "x"], "--tls-key"),
        (&["serve", "--http", "127.0.0.1:0", "--like", "mysql"], "--mysql"),
        (&["serve", "--postgres", "127.0.0.1:0", "--like", "mysql"], "another protocol"),
        (&["serve", "--postgres", "127.0.0.1:0", "--mysql", "127.0.0.1:0"], "cannot be used with"),
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(3), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn clients_of_postgresql_are_served_without_http() {
    let folder = Folder::new();
    let (init, wrong) = (folder.at("init.sql"), folder.at("wrong.sql"));
    std::fs::write(&init, "SELECT 1;\nSELECT 2;\n").unwrap();
    std::fs::write(&wrong, "SELECT 1;\nSELECT nothing;\n").unwrap();
    let args = ["serve", "--postgres", "127.0.0.1:0", "--level", "ser", "--init", &wrong];
    let ran = run(&args);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("column \"nothing\" does not exist"), "{}", ran.stderr);
    let server = Serving::speaking("postgres", &["--level", "ser", "--init", &init]);
    let mut frames = Frames::ready(server.address);
    assert_eq!(kinds(&frames.query("SELECT 1")), "TDCZ");
    let begun = Instant::now();
    assert_eq!(server.end("-TERM"), "");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(error_field(&frames.rest(), 'C').as_deref(), Some("57P01"));
}

#[test]
fn clients_of_mysql_are_greeted() {
    let server = Serving::speaking("mysql", &["--like", "mariadb"]);
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    let mut hello = [0; 30];
    stream.read_exact(&mut hello).unwrap();
    assert!(hello[5..].starts_with(b"5.5.5-10.11.6-MariaDB"), "{hello:?}");
    assert_eq!(server.end("-TERM"), "");
}

#[test]
fn sixty_four_sessions_for_two_seconds() {
    stress("cc", Duration::from_secs(2));
}

#[test]
fn sixty_four_sessions_for_two_seconds_with_serialization_failures() {
    stress("si", Duration::from_secs(2));
}

#[test]
#[ignore = "takes more than a minute"]
fn sixty_four_sessions_for_a_minute() {
    stress("cc", Duration::from_secs(60));
}

const CLIENTS: u64 = 64;
const KEYS: u64 = 500;
const IDLE: &str = "3s";

/// What became of the transactions of one client. Each writes a value of its own, by which the
/// history knows it.
#[derive(Default)]
struct Fates {
    committed: Vec<String>,
    not_committed: Vec<String>,
    /// The client left before it was told.
    unknown: Vec<String>,
    /// Of `not_committed`.
    failures: u64,
    sessions: u64,
    disconnects: u64,
    requests: u64,
}

/// Lets clients loose, ends the server, and compares what clients were told with the history that
/// was saved.
fn stress(level: &str, time: Duration) {
    let folder = Folder::new();
    let out = folder.at("out.jsonl");
    let server = Serving::new(&["--level", level, "--idle", IDLE, "--save", &out, "--seed", "1"]);
    let (address, start) = (server.address, Instant::now());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| std::thread::spawn(move || Visitor::new(address, number).visit(start + time)))
        .collect();
    let fates: Vec<Fates> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let took = start.elapsed();
    wait_until_deserted(&server);
    server.end("-TERM");
    let history = read(&out);
    compare(&history, &fates);
    let checking = Instant::now();
    let check = run(&["check", "--level", level, "--budget", "60s", &out]);
    assert_eq!(check.code, Some(0), "{}", check.stdout);
    report(level, took, checking.elapsed(), &history, &fates);
}

/// Sessions that were left behind end by themselves.
fn wait_until_deserted(server: &Serving) {
    let (mut client, start) = (server.client(), Instant::now());
    while client.ok("GET", "/health", "")["sessions"] != 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "sessions are left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn compare(history: &History, fates: &[Fates]) {
    let mut written = HashSet::new();
    for txn in history.txns() {
        assert_ne!(history.status(txn), Status::Unknown, "nothing is open after the end");
        if history.status(txn) == Status::Committed {
            let writes =
                history.ops_of(txn).map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write());
            written.extend(writes.filter_map(|op| match history.value_atom(op.value) {
                Some(Atom::Str(text)) => Some(text.to_string()),
                _ => None,
            }));
        }
    }
    for client in fates {
        let lost: Vec<&String> =
            client.committed.iter().filter(|value| !written.contains(*value)).collect();
        assert!(lost.is_empty(), "commits that the history does not have: {lost:?}");
        let extra: Vec<&String> =
            client.not_committed.iter().filter(|value| written.contains(*value)).collect();
        assert!(extra.is_empty(), "commits that did not happen: {extra:?}");
    }
    let told: usize =
        fates.iter().map(|client| client.committed.len() + client.unknown.len()).sum();
    assert!(written.len() <= told, "commits that nobody asked for");
    assert!(fates.iter().all(|client| !client.committed.is_empty()), "a client did nothing");
}

fn report(level: &str, took: Duration, checking: Duration, history: &History, fates: &[Fates]) {
    let sum = |of: fn(&Fates) -> u64| fates.iter().map(of).sum::<u64>();
    eprintln!(
        "{level}: {took:.1?}, {} requests, {} commits told, {} not committed ({} serialization \
         failures), {} unknown, \
         {} sessions, {} disconnects; {} transactions in the history, checked in {checking:.1?}",
        sum(|client| client.requests),
        sum(|client| client.committed.len() as u64),
        sum(|client| client.not_committed.len() as u64),
        sum(|client| client.failures),
        sum(|client| client.unknown.len() as u64),
        sum(|client| client.sessions),
        sum(|client| client.disconnects),
        history.txn_count(),
    );
}

/// One client: it begins, reads, writes, and ends in one way or another.
struct Visitor {
    client: Client,
    number: u64,
    random: u64,
    fates: Fates,
}

impl Visitor {
    fn new(address: SocketAddr, number: u64) -> Visitor {
        Visitor {
            client: Client::new(address),
            number,
            random: number + 1,
            fates: Fates::default(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % limit
    }

    fn visit(mut self, until: Instant) -> Fates {
        while Instant::now() < until {
            let session = self.client.session();
            self.fates.sessions += 1;
            while Instant::now() < until && self.transaction(&session) {}
            // Some say goodbye, the others are found idle.
            if self.below(2) == 0 {
                let _ = self.client.call("DELETE", &session, "");
            }
        }
        self.fates
    }

    fn post(&mut self, path: String, body: &str) -> u16 {
        self.fates.requests += 1;
        self.client.call("POST", &path, body).unwrap().status
    }

    /// Whether the session can be used for another one.
    fn transaction(&mut self, session: &str) -> bool {
        let count =
            self.fates.committed.len() + self.fates.not_committed.len() + self.fates.unknown.len();
        let value = format!("{}-{count}", self.number);
        assert_eq!(self.post(format!("{session}/begin"), ""), 200);
        for _ in 0..self.below(4) {
            let body = json!({ "key": format!("k{}", self.below(KEYS)) }).to_string();
            let status = self.post(format!("{session}/read"), &body);
            if status != 200 {
                assert_eq!(status, 409);
                self.fates.failures += 1;
                self.fates.not_committed.push(value);
                return true;
            }
        }
        let body = json!({ "key": format!("k{}", self.below(KEYS)), "value": value }).to_string();
        assert_eq!(self.post(format!("{session}/write"), &body), 200);
        self.finish(session, value)
    }

    fn finish(&mut self, session: &str, value: String) -> bool {
        match self.below(1000) {
            0..100 => {
                assert_eq!(self.post(format!("{session}/abort"), ""), 200);
                self.fates.not_committed.push(value);
                true
            }
            100..103 => self.vanish(value, |_| {}),
            103..106 => {
                let path = format!("{session}/commit");
                self.vanish(value, move |client| client.send_half("POST", &path, "").unwrap())
            }
            106..109 => {
                let path = format!("{session}/commit");
                self.client.send(request("POST", &path, "").as_bytes()).unwrap();
                self.client.leave();
                self.fates.disconnects += 1;
                self.fates.unknown.push(value);
                false
            }
            _ => self.commit(session, value),
        }
    }

    /// Leaves with a transaction open.
    fn vanish(&mut self, value: String, last: impl FnOnce(&mut Client)) -> bool {
        last(&mut self.client);
        self.client.leave();
        self.fates.disconnects += 1;
        self.fates.not_committed.push(value);
        false
    }

    fn commit(&mut self, session: &str, value: String) -> bool {
        match self.post(format!("{session}/commit"), "") {
            200 => self.fates.committed.push(value),
            409 => {
                self.fates.failures += 1;
                self.fates.not_committed.push(value);
            }
            other => panic!("a commit was answered with {other}"),
        }
        true
    }
}
