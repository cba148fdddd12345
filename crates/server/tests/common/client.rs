//! A small HTTP client over a plain socket, so that tests can also leave in the middle of a
//! request.

#![allow(dead_code)]

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Error, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No answer takes longer, not even under load.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(60);

/// A client with one connection, which it opens when it needs it.
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

/// What came back.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub text: String,
}

impl Answered {
    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The code of a problem.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        Client { address, stream: None }
    }

    fn stream(&mut self) -> io::Result<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_read_timeout(Some(ANSWER_WAIT_MAX))?;
            stream.set_nodelay(true)?;
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut().ok_or_else(|| Error::other("no stream"))
    }

    /// Sends a request and waits for its answer.
    pub fn call(&mut self, method: &str, path: &str, body: &str) -> io::Result<Answered> {
        self.send(request(method, path, body).as_bytes())?;
        let answer = self.receive();
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    /// The same, of which the answer is expected to be a success.
    pub fn ok(&mut self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.call(method, path, body).unwrap();
        assert!((200..300).contains(&answer.status), "{method} {path}: {answer:?}");
        answer.json()
    }

    /// Opens a session and returns its path.
    pub fn session(&mut self) -> String {
        format!("/sessions/{}", self.ok("POST", "/sessions", "")["session"])
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream()?.get_mut().write_all(bytes)
    }

    /// Sends the first half of a request and leaves.
    pub fn send_half(&mut self, method: &str, path: &str, body: &str) -> io::Result<()> {
        let request = request(method, path, body);
        self.send(&request.as_bytes()[..request.len() / 2])?;
        self.leave();
        Ok(())
    }

    /// Closes the connection, whatever is under way.
    pub fn leave(&mut self) {
        self.stream = None;
    }

    pub fn receive(&mut self) -> io::Result<Answered> {
        let stream = self.stream()?;
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| Error::other(format!("not an answer: {line:?}")))?;
        let mut length = 0;
        while !line.trim_end().is_empty() {
            line.clear();
            stream.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(Error::other)?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(Answered { status, text: String::from_utf8(body).map_err(Error::other)? })
    }
}

/// A whole request.
pub fn request(method: &str, path: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
