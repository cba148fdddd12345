//! A server of the page of `play`, and questions to it.

#![allow(dead_code)]

use crate::common::start;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

/// A server of the page.
pub struct Play {
    pub child: Child,
    /// Host and port.
    pub address: String,
}

impl Play {
    pub fn start(args: &[&str]) -> Play {
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

    pub fn url(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.address)
    }

    /// The answer to bytes, as it comes.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may have heard enough before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub fn request(&self, method: &str, path: &str, body: &str) -> (u16, String, String) {
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

    pub fn ask(&self, path: &str, body: &Value) -> Value {
        let (status, _, answer) = self.request("POST", path, &body.to_string());
        assert_eq!(status, 200, "{path} {body}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    pub fn state(&self, name: &str, level: &str, steps: &str) -> Value {
        self.ask("/state", &json!({ "name": name, "level": level, "steps": steps }))
    }

    pub fn attack(&self, name: &str, level: &str, steps: &str) -> Value {
        self.ask("/attack", &json!({ "name": name, "level": level, "steps": steps }))
    }

    /// What is refused, with its code.
    pub fn refused(&self, body: &str) -> (u16, String) {
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
