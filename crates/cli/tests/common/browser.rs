//! A real browser: Chromium, led by its driver, which speaks HTTP and JSON.

#![allow(dead_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long the driver may take for one answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A browser with one window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: std::path::PathBuf,
}

impl Browser {
    /// Opens one. Where it is not installed the test fails, unless somebody said that such tests
    /// are to be skipped: a test that passes without having looked at anything says what is not so.
    pub fn open() -> Option<Browser> {
        let is_there = |program: &str| {
            Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
        };
        if !is_there("chromedriver") || !is_there("chromium") {
            assert!(
                std::env::var_os("SERIATIM_WITHOUT_BROWSER").is_some(),
                "chromium and chromedriver are not installed; ./test.sh installs them, and with \
                 SERIATIM_WITHOUT_BROWSER=1 tests that need them are skipped"
            );
            eprintln!("skipped: chromium and chromedriver are not installed");
            return None;
        }
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().unwrap();
        let port = port_of(&mut driver);
        let unique = format!("seriatim-browser-{}-{port}", std::process::id());
        let profile = std::env::temp_dir().join(unique);
        let mut browser = Browser { driver, port, session: String::new(), profile };
        browser.session = browser.begin();
        Some(browser)
    }

    fn begin(&self) -> String {
        let profile = format!("--user-data-dir={}", self.profile.display());
        let options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &profile,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": options, "binary": binary() },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        }}});
        let answer = self.ask("POST", "/session", &wanted);
        answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// One question to the driver.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(ANSWER_MAX)).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let lower = line.to_ascii_lowercase();
            if let Some(number) = lower.strip_prefix("content-length:") {
                length = number.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["value"]["error"].is_null(), "{method} {path}: {answer}");
        answer["value"].clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// Goes to an address. What was said and asked before is forgotten.
    pub fn go(&self, url: &str) {
        self.post("url", &json!({ "url": "about:blank" }));
        self.complaints();
        self.requests("");
        self.post("url", &json!({ "url": url }));
    }

    /// What a piece of script returns.
    pub fn eval(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Asks the browser itself.
    pub fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": params }))
    }

    /// Types into the element of a selector.
    pub fn type_into(&self, selector: &str, text: &str) {
        let found = self.post("element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
        self.post(&format!("element/{id}/value"), &json!({ "text": text }));
    }

    /// What the console said that is no mere note.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "browser" }));
        let is_bad = |entry: &&Value| entry["level"] != "INFO" && entry["level"] != "DEBUG";
        log.as_array().unwrap().iter().filter(is_bad).map(Value::to_string).collect()
    }

    /// Where requests went, apart from `allowed`.
    pub fn requests(&self, allowed: &str) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "performance" }));
        let messages = log
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok());
        let urls = messages.filter_map(|message| {
            let message = &message["message"];
            let is_request = message["method"] == "Network.requestWillBeSent";
            let url = message["params"]["request"]["url"].as_str()?.to_owned();
            (is_request && !url.starts_with(allowed)).then_some(url)
        });
        urls.collect()
    }
}

fn binary() -> &'static str {
    if std::path::Path::new("/usr/bin/chromium").exists() {
        "/usr/bin/chromium"
    } else {
        "chromium"
    }
}

fn port_of(driver: &mut Child) -> u16 {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, rest) = line.split_once("started successfully on port ")?;
        rest.trim_end_matches('.').parse().ok()
    });
    // The driver must not wait for somebody who reads what it says.
    std::thread::spawn(move || lines.for_each(drop));
    port.expect("chromedriver says its port")
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            self.ask("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
