//! A client of PostgreSQL's protocol that sends and receives messages as bytes, so that tests can
//! also send what no client would.

#![allow(dead_code)]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No answer takes longer, not even under load.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(60);

/// A message: its type and its body.
pub type Frame = (char, Vec<u8>);

/// A connection.
pub struct Frames(pub TcpStream);

impl Frames {
    /// Connects, and says nothing.
    pub fn silent(address: SocketAddr) -> Frames {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(ANSWER_WAIT_MAX)).unwrap();
        stream.set_nodelay(true).unwrap();
        Frames(stream)
    }

    /// Connects and asks for a session with these parameters.
    pub fn asking(address: SocketAddr, version: i32, parameters: &[(&str, &str)]) -> Frames {
        let mut frames = Frames::silent(address);
        frames.send(&startup(version, parameters));
        frames
    }

    /// Connects and waits until it may ask for something.
    pub fn ready(address: SocketAddr) -> Frames {
        let mut frames =
            Frames::asking(address, 3 << 16, &[("user", "postgres"), ("database", "postgres")]);
        frames.until('Z');
        frames
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// The next message.
    pub fn next(&mut self) -> io::Result<Frame> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let length = i32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut body = vec![0; length as usize - 4];
        self.0.read_exact(&mut body)?;
        Ok((head[0] as char, body))
    }

    /// All messages up to the first of this type.
    pub fn until(&mut self, kind: char) -> Vec<Frame> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().unwrap_or_else(|error| panic!("{error}: {frames:?}")));
            if frames.last().is_some_and(|frame| frame.0 == kind) {
                return frames;
            }
        }
    }

    /// All messages up to the end of the connection.
    pub fn rest(&mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.next().ok()).collect()
    }

    /// Sends a simple query; the messages that come back.
    pub fn query(&mut self, text: &str) -> Vec<Frame> {
        self.send(&frame(b'Q', &[text.as_bytes(), b"\0"].concat()));
        self.until('Z')
    }
}

/// The types of messages, as one word.
pub fn kinds(frames: &[Frame]) -> String {
    frames.iter().map(|frame| frame.0).collect()
}

/// A field of the error among messages.
pub fn error_field(frames: &[Frame], field: char) -> Option<String> {
    let (_, body) = frames.iter().find(|frame| frame.0 == 'E')?;
    let mut parts = body.split(|&byte| byte == 0).filter(|part| !part.is_empty());
    let found = parts.find(|part| part[0] == field as u8)?;
    Some(String::from_utf8(found[1..].to_vec()).unwrap())
}

/// A message with a type.
pub fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as i32 + 4).to_be_bytes();
    [&[kind], length.as_slice(), body].concat()
}

/// The first message of a client.
pub fn startup(version: i32, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in parameters {
        body.extend([name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    }
    body.push(0);
    [(body.len() as i32 + 4).to_be_bytes().as_slice(), &body].concat()
}

pub fn parse(name: &str, text: &str) -> Vec<u8> {
    frame(b'P', &[name.as_bytes(), b"\0", text.as_bytes(), b"\0\0\0"].concat())
}

/// Parameters as text, results as text or in binary.
pub fn bind(portal: &str, statement: &str, values: &[&str], result_format: u8) -> Vec<u8> {
    let mut body = [portal.as_bytes(), b"\0", statement.as_bytes(), b"\0\0\0"].concat();
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        body.extend((value.len() as i32).to_be_bytes());
        body.extend(value.as_bytes());
    }
    body.extend([0, 1, 0, result_format]);
    frame(b'B', &body)
}

pub fn describe(what: u8, name: &str) -> Vec<u8> {
    frame(b'D', &[&[what], name.as_bytes(), b"\0"].concat())
}

pub fn execute(portal: &str, rows_max: i32) -> Vec<u8> {
    frame(b'E', &[portal.as_bytes(), b"\0", &rows_max.to_be_bytes()].concat())
}

pub fn sync() -> Vec<u8> {
    frame(b'S', b"")
}
