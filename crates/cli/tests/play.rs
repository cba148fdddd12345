//! `seriatim play`: what its server answers; `play_page.rs` has the page in a real browser.

mod common;
#[path = "common/playing.rs"]
mod playing;

use common::Folder;
use playing::Play;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LEVELS: [&str; 7] = ["true", "rc", "ra", "cc", "pc", "si", "ser"];

/// The programs with what they show: the level at which they break and the weakest that forbids it.
fn shows(text: &str) -> (String, String) {
    let line = text.lines().find_map(|line| line.strip_prefix("# shows: ")).unwrap();
    let (at, not) = line.split_once(", not at ").unwrap();
    (at.split_once(" at ").unwrap().1.to_owned(), not.to_owned())
}

/// A script of picks for each program: what a person clicks, session by session.
const BY_HAND: [(&str, &str); 15] = [
    ("anti-dependency-cycle", "0:i,1:i,2:i,0,1,2,0,1,2"),
    ("bookings", "0:i,1:i,0:i,1:i,0,0,1,1,0,1,2:i,2:i,2"),
    ("causality-violation", "0,0,1:0.0,1,1,2:i,2:1.0,2"),
    ("conflicting-commit-order", "0,0,0,0,1,1,1,1,2:1.0,2:0.1,2,3:0.0,3:1.1,3"),
    ("dirty-write", "0,0,0,1,1,1,2:0.0,2:i,2,3,3,4:3.0,4:1.0,4,5:1.0,5:i,5,6,6,7:6.0,7:0.0,7"),
    ("fractured-read", "0:i,0:i,0,0,0,1:i,1:0.0,1"),
    ("fractured-read-commit", "0,0,0,1,1,1,2:0.0,2:1.0,2,3:1.0,3:0.0,3"),
    ("long-fork", "0,0,1,1,2:0.0,2:i,2,3:1.0,3:i,3"),
    ("lost-update", "0:i,1:i,0,1,0,1"),
    ("non-adjacent", "0,0,0,2,2,1:i,1,1,3:2.0,3:i,3,4:0.0,4,4:1.0,4"),
    ("non-monotonic-read", "0,0,0,1:0.0,1:i,1"),
    ("non-monotonic-read-commit", "0,0,0,1,1,1,2:1.0,2:0.0,2,3:0.0,3:1.0,3"),
    ("non-repeatable-read", "1:i,0,0,1:0.0,1"),
    ("read-skew", "0,0,0,1:i,1,1,2:0.0,2,2:1.0,2"),
    ("write-skew", "0:i,1:i,0:i,1:i,0,1,0,1"),
];

#[test]
fn every_example_breaks_by_hand_and_never_where_its_level_forbids_it() {
    let play = Play::start(&[]);
    let (_, _, games) = play.request("GET", "/games", "");
    let games: Vec<Value> = serde_json::from_str(&games).unwrap();
    assert_eq!(games.len(), BY_HAND.len());
    for game in games {
        let (name, text) = (game["name"].as_str().unwrap(), game["text"].as_str().unwrap());
        let (at, not) = shows(text);
        assert_eq!(game["level"], at, "{name}");
        let (_, script) = BY_HAND.iter().find(|(of, _)| *of == name).unwrap();
        let state = play.state(name, &at, script);
        assert_eq!(state["stopped"], Value::Null, "{name}: {state}");
        assert_eq!(state["assertion"]["state"], "broken", "{name}: {state}");
        let standing = state["levels"].as_array().unwrap();
        let holds = |level: &str| {
            standing.iter().find(|it| it["code"] == level).map(|it| it["holds"] == true).unwrap()
        };
        assert!(holds(&at) && !holds(&not), "{name}: {standing:?}");
        assert!(!state["anomalies"].as_array().unwrap().is_empty(), "{name}");
        // The same clicks come to nothing where the level forbids it: a version is not there to
        // be picked, or a commit is refused.
        let state = play.state(name, &not, script);
        let rows = state["rows"].as_array().unwrap();
        let is_refused = rows.iter().any(|row| row["kind"] == "refused");
        assert!(is_refused || state["stopped"] != Value::Null, "{name} at {not}: {state}");
        assert_ne!(state["assertion"]["state"], "broken", "{name} at {not}");
        let reason = match is_refused {
            true => rows.iter().find(|row| row["kind"] == "refused").unwrap()["reason"].clone(),
            false => state["stopped"]["reason"].clone(),
        };
        assert!(reason["html"].as_str().unwrap().contains("<svg"), "{name} at {not}: {reason}");
    }
}

/// Whether no behaviour of an example breaks its assertion, as `explore` finds.
fn never_breaks(name: &str, level: &str) -> bool {
    let file = format!("{}/../../examples/programs/{name}.tx", env!("CARGO_MANIFEST_DIR"));
    common::run(&["explore", &file, "--level", level]).code == Some(0)
}

#[test]
fn the_adversary_breaks_every_example_where_its_level_allows_that() {
    let play = Play::start(&[]);
    for (name, _) in BY_HAND {
        let (_, _, games) = play.request("GET", "/games", "");
        let games: Vec<Value> = serde_json::from_str(&games).unwrap();
        let game = games.iter().find(|game| game["name"] == name).unwrap();
        let (at, not) = shows(game["text"].as_str().unwrap());
        let found = play.attack(name, &at, "");
        assert_eq!(found["found"], "assertion", "{name} at {at}: {found}");
        let state = play.state(name, &at, found["steps"].as_str().unwrap());
        assert_eq!(state["assertion"]["state"], "broken", "{name} at {at}: {state}");
        for level in LEVELS.iter().skip_while(|level| **level != not) {
            let found = play.attack(name, level, "");
            // That there was too little time to tell is no answer: then all behaviours are tried.
            let is_told = found["found"] == "no-way" || found["found"] == "serializability";
            assert!(is_told || never_breaks(name, level), "{name} at {level}: {found}");
            let steps = found["steps"].as_str().unwrap();
            let state = play.state(name, level, steps);
            assert_ne!(state["assertion"]["state"], "broken", "{name} at {level}: {state}");
        }
    }
}

#[test]
fn what_is_played_is_what_explore_replays() {
    let play = Play::start(&[]);
    let state = play.state("write-skew", "si", "0:i,1:i,0:i,1:i,0,1,0,1");
    assert_eq!(state["token"], "0:0.0,1:0.0");
    let command = state["command"].as_str().unwrap();
    assert_eq!(
        command,
        "seriatim explore examples/programs/write-skew.tx --level si --replay 0:0.0,1:0.0"
    );
    let steps =
        play.ask("/token", &json!({ "name": "write-skew", "level": "si", "token": "0:0.0,1:0.0" }));
    let again = play.state("write-skew", "si", steps["steps"].as_str().unwrap());
    assert_eq!((&again["token"], &again["assertion"]), (&state["token"], &state["assertion"]));
}

#[test]
fn of_one_read_the_adversary_picks_what_leads_to_the_break() {
    let play = Play::start(&[]);
    let question = json!({
        "name": "lost-update", "level": "pc", "steps": "0:i,0,0", "session": 1
    });
    let found = play.ask("/attack", &question);
    assert_eq!((&found["steps"], &found["found"]), (&json!("0:i,0,0,1:i"), &json!("assertion")));
    let question = json!({
        "name": "lost-update", "level": "ser", "steps": "0:i,0,0", "session": 1
    });
    let found = play.ask("/attack", &question);
    assert_eq!((&found["steps"], &found["found"]), (&json!("0:i,0,0,1:0.0"), &json!("no-way")));
}

#[test]
fn an_application_and_a_history_can_be_played() {
    let folder = Folder::new();
    let play = Play::start(&["smallbank"]);
    let state = play.state("smallbank", "cc", "");
    assert!(state["sessions"].as_array().unwrap().len() > 1, "{state}");
    let history = concat!(
        r#"{"seriatim":1,"initial":{"x":0}}"#,
        "\n",
        r#"{"session":"ann","txn":"t1","status":"committed","ops":[["r","x",0],["w","x",1]]}"#,
        "\n",
        r#"{"session":"ben","txn":"t2","status":"committed","ops":[["r","x",1],["w","x",2]]}"#,
        "\n",
    );
    let path = folder.file("history.jsonl", history);
    let play = Play::start(&[&path, "--level", "si"]);
    let state = play.state(&path, "si", "0:i,0,0");
    let versions = &state["sessions"][1]["next"]["versions"];
    let told = |at: usize, what: &str| versions[at][what].clone();
    assert_eq!((told(0, "value"), told(0, "is_observed")), (json!("0"), json!(false)));
    assert_eq!((told(1, "value"), told(1, "is_observed")), (json!("1"), json!(true)));
    assert_eq!(told(1, "writer"), "ann-1");
    let lists = folder.file(
        "lists.edn",
        "{:type :ok, :process 0, :value [[:append 1 1]]}\n\
         {:type :ok, :process 1, :value [[:append 1 2]]}\n\
         {:type :ok, :process 2, :value [[:r 1 [1 2]]]}\n",
    );
    let play = Play::start(&[&lists]);
    let state = play.state(&lists, "pc", "0:i,1:i,0,0,1,1");
    let versions = &state["sessions"][2]["next"]["versions"];
    assert_eq!(versions[1]["value"], "[1]", "{state}");
    let second = (&versions[2]["value"], &versions[2]["is_observed"]);
    assert_eq!(second, (&json!("[2]"), &json!(true)), "{state}");
    assert_eq!(state["anomalies"][0]["title"], "lost update", "{state}");
}

#[test]
fn reasons_that_do_not_come_with_the_state_are_told_when_they_are_asked_for() {
    let play = Play::start(&[]);
    let ask = |name: &str, level: &str, steps: &str, step: &str| {
        let body = json!({ "name": name, "level": level, "steps": steps, "step": step });
        play.ask("/reason", &body)["reason"].clone()
    };
    let read = ask("non-monotonic-read", "rc", "0,0,0,1:0.0", "1:i");
    assert_eq!(read["title"], "non-monotonic read", "{read}");
    let commit = ask("lost-update", "si", "0:i,1:i,0,1,0", "1");
    assert_eq!(commit["title"], "lost update", "{commit}");
    assert!(commit["html"].as_str().unwrap().contains("<svg"));
    // What is allowed has none, and neither has what is no commit.
    for (steps, step) in [("0:i,1:i,0,1", "0"), ("0:i", "1:i"), ("0:i", "0"), ("", "7:i")] {
        assert_eq!(ask("lost-update", "si", steps, step), Value::Null, "{steps} {step}");
    }
}

#[test]
fn of_many_refused_commits_the_last_ones_come_with_their_reason() {
    let play = Play::start(&[]);
    let refused = ["1:i,1,1"; 300].join(",");
    let body = json!({
        "name": "lost-update", "level": "si", "steps": format!("0:i,0,0,{refused}")
    });
    let (status, _, answer) = play.request("POST", "/state", &body.to_string());
    assert_eq!(status, 200, "{answer}");
    assert!(answer.len() < 500 << 10, "{}", answer.len());
    let state: Value = serde_json::from_str(&answer).unwrap();
    let rows = state["rows"].as_array().unwrap();
    let refused: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "refused").collect();
    let told = refused.iter().filter(|row| !row["reason"].is_null()).count();
    assert!(refused.len() > 4 && told <= 4, "{told} of {}", refused.len());
    assert!(refused.len() == 300 || state["stopped"] != Value::Null);
}

#[test]
fn pages_of_other_servers_may_ask_nothing_here() {
    let play = Play::start(&[]);
    let body = r#"{"name":"lost-update","level":"si"}"#;
    let ask = |header: &str| {
        let head = format!("POST /state HTTP/1.1\r\nHost: {}\r\n{header}", play.address);
        let rest = format!("Connection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        let answer = play.raw((head + &rest + body).as_bytes());
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(ask("Origin: http://evil.example\r\n"), "403");
    assert_eq!(ask("Sec-Fetch-Site: cross-site\r\n"), "403");
    assert_eq!(ask(&format!("Origin: http://{}\r\n", play.address)), "200");
    assert_eq!(ask(""), "200");
}

#[test]
fn what_is_malformed_is_refused_and_the_server_goes_on() {
    let play = Play::start(&[]);
    let name = r#""name":"lost-update","level":"si""#;
    let long = format!(r#"{{{name},"steps":"{}"}}"#, "0,".repeat(2000));
    let deep = format!(r#"{{"text":"{}","level":"si"}}"#, "((".repeat(20_000));
    let many: String =
        (0..40).map(|n| format!("session s{n} {{ begin write(x, 1) commit }} ")).collect();
    let bad = [
        "".to_owned(),
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        r#"{"name":"nothing","level":"si"}"#.to_owned(),
        r#"{"level":"si"}"#.to_owned(),
        r#"{"name":"lost-update","text":"","level":"si"}"#.to_owned(),
        r#"{"name":"lost-update","level":"weird"}"#.to_owned(),
        r#"{"name":"lost-update","level":"sser"}"#.to_owned(),
        format!(r#"{{{name},"steps":"x"}}"#),
        format!(r#"{{{name},"steps":7}}"#),
        format!(r#"{{{name},"more":1}}"#),
        r#"{"text":"session a { begin","level":"si"}"#.to_owned(),
        format!(r#"{{"text":"{}","level":"si"}}"#, "x".repeat(70_000)),
        format!(r#"{{"text":"{many}","level":"si"}}"#),
        long,
        deep,
    ];
    for body in &bad {
        let shown: String = body.chars().take(60).collect();
        assert_eq!(play.refused(body), (400, "bad_request".to_owned()), "{shown}");
    }
    let (status, code) = play.refused(&" ".repeat(300 << 10));
    assert_eq!((status, code.as_str()), (413, "body_too_large"));
    assert_eq!(play.request("GET", "/nothing", "").0, 404);
    assert_eq!(play.request("DELETE", "/state", "").0, 405);
    play.raw(b"\x00\xff\xfe nonsense\r\n\r\n");
    play.raw(b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n");
    // Steps that do not fit are told, not refused: another level may have them.
    let state = play.state("lost-update", "si", "7,0:i");
    assert_eq!((&state["taken"], &state["stopped"]["step"]), (&json!(0), &json!("7")));
    assert_eq!(
        play.state("lost-update", "si", "0:i,0,0,0")["stopped"]["why"].as_str().unwrap(),
        "the session has nothing more to do"
    );
}

#[test]
fn what_takes_too_long_is_undecided_and_others_are_answered() {
    let play = Play::start(&[]);
    // Every session reads and writes every key: the adversary cannot look at all orders.
    let keys = ["x", "y", "z", "u", "v"];
    let session = |n: usize| {
        let body: String =
            keys.iter().map(|key| format!("a := read({key}); write({key}, a + {n}) ")).collect();
        format!("session s{n} {{ begin {body} commit begin {body} commit }} ")
    };
    let text: String = (1..9).map(session).collect();
    let body = json!({ "text": text, "level": "ser" });
    let began = Instant::now();
    std::thread::scope(|scope| {
        let heavy: Vec<_> = (0..2).map(|_| scope.spawn(|| play.ask("/attack", &body))).collect();
        let light = play.state("lost-update", "si", "0:i");
        assert_eq!(light["taken"], 1);
        for answer in heavy {
            assert_eq!(answer.join().unwrap()["found"], "undecided");
        }
    });
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
}

#[test]
fn the_page_may_load_its_own_files_only_and_names_of_other_machines_are_refused() {
    let play = Play::start(&[]);
    let (status, head, page) = play.request("GET", "/", "");
    assert_eq!(status, 200);
    let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
    let policy = policy.unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(page.starts_with("<!DOCTYPE html>"));
    let elsewhere = "GET /games HTTP/1.1\r\nHost: evil.example:80\r\nConnection: close\r\n\r\n";
    let answer = play.raw(elsewhere.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(!answer.contains("lost-update"), "{answer}");
}

#[test]
fn ctrl_c_ends_it_well() {
    let mut play = Play::start(&[]);
    let pid = nix::unistd::Pid::from_raw(play.child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(play.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_played_is_said_at_once() {
    let folder = Folder::new();
    let path = folder.file("bad.tx", "session a { begin x commit }");
    let ran = common::run(&["play", "--no-open", &path]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("bad.tx:1:"), "{ran:?}");
    let ran = common::run(&["play", "--no-open", "lost-updates"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let ran = common::run(&["play", "--no-open", "--listen", "nowhere"]);
    assert!(ran.stderr.contains("cannot listen on nowhere"), "{ran:?}");
}
