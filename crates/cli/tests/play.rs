//! `seriatim play`: the server by itself, and the page in a real browser.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::{Folder, start};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

/// A server of the page.
struct Play {
    child: Child,
    /// Host and port.
    address: String,
}

impl Play {
    fn start(args: &[&str]) -> Play {
        let all = [&["play", "--no-open", "--listen", "127.0.0.1:0"], args].concat();
        let mut child = start(&all);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let address = line.strip_prefix("play at http://").unwrap_or_else(|| panic!("{line}"));
        let address = address.trim_end_matches('/').to_owned();
        // The server must not wait for somebody who reads what it says.
        std::thread::spawn(move || lines.for_each(drop));
        Play { child, address }
    }

    fn url(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.address)
    }

    /// The answer to bytes, as it comes.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may have heard enough before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn request(&self, method: &str, path: &str, body: &str) -> (u16, String, String) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let answer = self.raw((head + body).as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        let (status, _, answer) = self.request("POST", path, &body.to_string());
        assert_eq!(status, 200, "{path} {body}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    fn state(&self, name: &str, level: &str, steps: &str) -> Value {
        self.ask("/state", &json!({ "name": name, "level": level, "steps": steps }))
    }

    fn attack(&self, name: &str, level: &str, steps: &str) -> Value {
        self.ask("/attack", &json!({ "name": name, "level": level, "steps": steps }))
    }

    /// What is refused, with its code.
    fn refused(&self, body: &str) -> (u16, String) {
        let (status, _, answer) = self.request("POST", "/state", body);
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}"));
        (status, answer["code"].as_str().unwrap().to_owned())
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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
            assert_ne!(found["found"], "assertion", "{name} at {level}: {found}");
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
    let lists = folder.file("lists.edn", "{:type :ok, :process 0, :value [[:append 1 1]]}\n");
    let ran = common::run(&["play", "--no-open", &lists]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("lists, which cannot be played"), "{ran:?}");
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

/// Names and values that would be markup, in a history with a lost update.
const HOSTILE: &str = concat!(
    r#"{"seriatim":1,"initial":{"<b>k</b>\" onload=\"x":0}}"#,
    "\n",
    r#"{"session":"<script>alert(1)</script>","txn":"t","status":"committed","ops":["#,
    r#"["r","<b>k</b>\" onload=\"x",0],"#,
    r#"["w","<b>k</b>\" onload=\"x","</style><svg onload=alert(3)>"]]}"#,
    "\n",
    r#"{"session":"'\"><iframe src=//127.0.0.1>","txn":"&amp;","status":"committed","ops":"#,
    r#"[["r","<b>k</b>\" onload=\"x",0],["w","<b>k</b>\" onload=\"x","</script>"]]}"#,
    "\n",
);

/// A browser at a page, which waits for answers.
struct Page<'p> {
    browser: &'p Browser,
}

impl<'p> Page<'p> {
    fn open(browser: &'p Browser, url: &str) -> Page<'p> {
        browser.go(url);
        let page = Page { browser };
        page.wait("document.querySelectorAll('.lane').length > 0");
        page
    }

    /// Waits until something is true, for as long as a slow machine may need.
    fn wait(&self, what: &str) {
        let began = Instant::now();
        while self.browser.eval(&format!("return Boolean({what})")) != Value::Bool(true) {
            let said = self.browser.eval("return document.body.innerText");
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the answer to what was done last.
    fn settle(&self, steps: usize) {
        self.wait(&format!(
            "!document.body.hasAttribute('aria-busy') && \
             document.getElementById('count').textContent.startsWith('step {steps}') && \
             !document.getElementById('said').textContent.includes('thinks')"
        ));
    }

    fn click(&self, selector: &str) {
        let found = self.browser.eval(&format!(
            "const it = document.querySelector(`{selector}`); if (it) it.click(); return !!it"
        ));
        assert_eq!(found, Value::Bool(true), "{selector}");
    }

    fn text(&self, selector: &str) -> String {
        let text = self.browser.eval(&format!(
            "return [...document.querySelectorAll(`{selector}`)].map(it => it.innerText).join('|')"
        ));
        text.as_str().unwrap().to_owned()
    }

    /// Goes on with a session that does not read.
    fn go(&self, session: usize, steps: usize) {
        self.click(&format!(".next[data-lane=\"{session}\"] button.go"));
        self.settle(steps);
    }

    fn is_quiet(&self, own: &str) {
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
        assert_eq!(self.browser.requests(own), Vec::<String>::new());
    }
}

#[test]
fn a_person_steps_picks_goes_back_and_changes_the_level() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=lost-update&l=pc"));
    assert_eq!(page.text(".lane .soft"), "1|2");
    // Both read what is there in the beginning, and write.
    for (steps, session) in [0, 1, 0, 1, 0, 1].into_iter().enumerate() {
        page.go(session, steps + 1);
    }
    assert!(page.text("#assertion").contains("broken"), "{}", page.text("#assertion"));
    assert!(page.text("#anomalies h3").contains("lost update"), "{}", page.text("#anomalies"));
    assert!(browser.eval("return document.querySelectorAll('#anomalies svg').length") == json!(1));
    let address = || browser.eval("return location.hash").as_str().unwrap().to_owned();
    assert_eq!(address(), "#p=lost-update&l=pc&s=0:i,1:i,0,1,0,1");
    assert!(page.text("#command code").contains("--replay 0:0,1:0"), "{}", page.text("#command"));
    // At snapshot isolation the second commit is refused, with the reason.
    page.click("#levels input[value=si]");
    page.wait("document.querySelectorAll('.cell.refused').length === 1");
    assert!(page.text("#assertion").contains("not broken so far"));
    page.click(".cell.refused button");
    page.wait("!document.getElementById('why').hidden");
    assert!(page.text("#why-title").contains("may not commit: lost update"));
    assert!(page.text("#why-told").contains("a contradiction"), "{}", page.text("#why-told"));
    // Now the session begins again; what it read before may not be committed any more, while the
    // new version may.
    assert_eq!(page.text(".next[data-lane=\"1\"] button.version .value"), "5|3");
    page.click(".next[data-lane=\"1\"] li:last-child button");
    page.settle(7);
    page.go(1, 8);
    page.go(1, 9);
    assert!(page.text("#assertion").contains("holds"), "{}", page.text("#assertion"));
    page.click("#back");
    page.settle(8);
    assert!(page.text(".next[data-lane=\"1\"]").contains("commit"));
    page.is_quiet(&play.url(""));
}

#[test]
fn choices_vanish_at_a_stronger_level_and_come_back() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let link = "#p=non-monotonic-read&l=true&s=0,0,0,1:0.0";
    let page = Page::open(&browser, &play.url(link));
    page.settle(4);
    let offered = || page.text(".next[data-lane=\"1\"] button.version .value");
    assert_eq!(offered(), "0|1");
    page.click("#levels input[value=rc]");
    page.wait("document.querySelectorAll('.next .no').length === 1");
    assert_eq!(offered(), "1");
    let no = page.text(".next .no");
    assert!(no.contains("not allowed") && no.contains("non-monotonic read"), "{no}");
    page.click(".next .no button");
    page.wait("document.querySelector('#why svg') !== null");
    page.click("#levels input[value=true]");
    page.wait("document.querySelectorAll('.next .no').length === 0");
    page.click(".next[data-lane=\"1\"] button.version");
    page.settle(5);
    // A choice that was made and is not allowed elsewhere waits there.
    page.click("#levels input[value=ser]");
    page.wait("!document.getElementById('stopped').hidden");
    assert!(page.text("#stopped").contains("does not allow this version"));
    page.click("#levels input[value=true]");
    page.settle(5);
    assert!(browser.eval("return document.getElementById('stopped').hidden") == json!(true));
    page.is_quiet(&play.url(""));
}

#[test]
fn the_adversary_plays_and_the_keyboard_is_enough() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url("#p=write-skew&l=si"));
    page.settle(0);
    browser.type_into("body", "a");
    page.wait("document.getElementById('assertion').textContent.includes('broken')");
    assert!(page.text("#said").contains("the assertion breaks"), "{}", page.text("#said"));
    assert!(page.text("#anomalies h3").contains("write skew"));
    browser.type_into("body", "0");
    page.settle(0);
    // The number of a session: at a read its first version gets the focus.
    browser.type_into("body", "1");
    assert_eq!(
        browser.eval("return document.activeElement.closest('.next').dataset.lane"),
        json!("0")
    );
    // Enter picks it, and the focus stays in the session.
    page.browser.type_into(".next[data-lane=\"0\"] button.version", "\u{E007}");
    page.settle(1);
    assert_eq!(
        browser.eval("return document.activeElement.closest('.next').dataset.lane"),
        json!("0")
    );
    assert!(page.text("#said").contains("alice-1 reads duty[1] = 1"), "{}", page.text("#said"));
    browser.type_into("body", "\u{E003}");
    page.settle(0);
    page.click(".next[data-lane=\"1\"] [data-pick]");
    page.settle(1);
    page.is_quiet(&play.url(""));
}

#[test]
fn two_browsers_on_one_server_do_not_disturb_each_other() {
    let (Some(one), Some(two)) = (Browser::open(), Browser::open()) else { return };
    let play = Play::start(&[]);
    let first = Page::open(&one, &play.url("#p=lost-update&l=pc"));
    let second = Page::open(&two, &play.url("#p=long-fork&l=cc"));
    first.settle(0);
    second.settle(0);
    first.go(0, 1);
    second.go(0, 1);
    second.go(0, 2);
    first.go(1, 2);
    assert!(first.text(".cell").contains("ben-1") && !first.text(".cell").contains("news"));
    assert!(second.text(".cell").contains("news_a-1"), "{}", second.text(".cell"));
    // A link is the game: the other browser sees the same.
    let link = one.eval("return location.href").as_str().unwrap().to_owned();
    let same = Page::open(&two, &link);
    same.settle(2);
    assert_eq!(same.text(".cell"), first.text(".cell"));
}

#[test]
fn a_program_of_ones_own_is_played_and_stands_in_the_link() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    let page = Page::open(&browser, &play.url(""));
    page.settle(0);
    let write = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        browser.eval(&format!(
            "document.getElementById('edit').open = true; document.getElementById('own').value = \
             {text}; document.getElementById('play-own').click()"
        ));
    };
    write("session a { begin x := commit }");
    page.wait("document.getElementById('own-said').textContent.includes('line 1')");
    write("# Grüße\nsession solo { begin write(x, 1) commit }\nassert final(x) == 1");
    page.wait("document.querySelector('.lane').innerText.includes('solo')");
    page.go(0, 1);
    page.go(0, 2);
    assert!(page.text("#assertion").contains("holds"));
    let link = browser.eval("return location.href").as_str().unwrap().to_owned();
    let again = Page::open(&browser, &link);
    again.settle(2);
    assert!(again.text("#text").contains("# Grüße"), "{}", again.text("#text"));
    // The first program was wrong, which the server said with a status of its own.
    assert_eq!(browser.requests(&play.url("")), Vec::<String>::new());
}

#[test]
fn names_that_are_markup_are_shown_as_text() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let path = folder.file("history.jsonl", HOSTILE);
    let play = Play::start(&[&path, "--level", "pc"]);
    let page = Page::open(&browser, &play.url(""));
    page.settle(0);
    for (steps, session) in [0, 1, 0, 1, 0, 1].into_iter().enumerate() {
        page.go(session, steps + 1);
    }
    page.wait("document.querySelectorAll('#anomalies svg').length > 0");
    let text = page.text("body");
    for name in ["<script>alert(1)</script>", "<iframe src=//127.0.0.1>", "<svg onload=alert(3)>"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let count = |selector: &str| {
        browser.eval(&format!("return document.querySelectorAll(`{selector}`).length"))
    };
    assert_eq!(count("img, iframe, object, embed, [onload], main script"), 0);
    page.is_quiet(&play.url(""));
}

#[test]
fn the_page_fits_a_phone_a_wall_and_the_night() {
    let Some(browser) = Browser::open() else { return };
    let play = Play::start(&[]);
    for width in [360, 800, 1280, 2560] {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        for link in ["#p=dirty-write&l=cc&s=0,0,0,1,1,1", "#p=lost-update&l=pc&s=0:i,1:i,0,1,0,1"] {
            let page = Page::open(&browser, &play.url(link));
            page.settle(6);
            let wide = browser.eval("return document.documentElement.scrollWidth");
            assert!(wide.as_i64().unwrap() <= width, "{wide} of {width}: {link}");
        }
    }
    let paper = |value: &str| {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        browser.devtools("Emulation.setEmulatedMedia", &features);
        browser.eval("return getComputedStyle(document.body).backgroundColor")
    };
    assert_eq!(paper("light"), "rgb(255, 255, 255)");
    assert_eq!(paper("dark"), "rgb(13, 17, 23)");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
