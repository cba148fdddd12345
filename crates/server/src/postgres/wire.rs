//! Messages in and out of a connection: framed, bounded, buffered.
//!
//! A message is a byte for its type, four for its length, and its body. Nothing is allocated for a
//! length that a client only claims: the buffer grows with the bytes that have arrived.

use super::stream::{Socket, Stream};
use bytes::{Buf, Bytes, BytesMut};
use pgwire::messages::Message;
use rustls::ServerConfig;
use seriatim_sql::SqlError;
use seriatim_sql::error::code;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is sent at once; more is sent before more is made.
const OUTPUT_BYTES: usize = 1 << 16;
/// How much is read at once.
const INPUT_BYTES: usize = 1 << 16;
/// Messages that carry no text or data of the client are no longer than this.
const SMALL_BYTES_MAX: usize = 10_000;
/// A buffer that has grown beyond this is given back when it is empty.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Why a connection is over.
#[derive(Debug)]
pub(super) enum End {
    /// The client has left, or does not read what it is sent.
    Gone,
    /// The client has sent nothing for too long.
    Late,
    /// The client is told before it is over.
    Fatal(SqlError),
}

/// What most functions of a connection return.
pub(super) type Wired<T> = Result<T, End>;

/// An end for which the client is to blame.
pub(super) fn violation(message: impl Into<String>) -> End {
    End::Fatal(SqlError::new(code::PROTOCOL_VIOLATION, message))
}

/// The two directions of a connection.
pub(super) struct Wire {
    stream: Option<Stream>,
    input: BytesMut,
    output: BytesMut,
    message_bytes_max: usize,
    /// The limit of reads, as the socket has it.
    read_wait: Option<Duration>,
}

impl Wire {
    pub fn new(socket: Socket, message_bytes_max: usize) -> Wire {
        Wire {
            stream: Some(Stream::Plain(socket)),
            input: BytesMut::new(),
            output: BytesMut::new(),
            message_bytes_max,
            read_wait: None,
        }
    }

    pub fn is_encrypted(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::is_encrypted)
    }

    /// From now on everything goes through TLS.
    pub fn encrypt(&mut self, config: &Arc<ServerConfig>) -> Wired<()> {
        // What was sent before the handshake could come from somebody in the middle.
        if !self.input.is_empty() {
            return Err(violation("received unencrypted data after SSL request"));
        }
        let Some(stream) = self.stream.take() else { return Err(End::Gone) };
        let socket = stream.socket().clone();
        self.stream = Some(Stream::encrypted(socket, config).map_err(|_| End::Gone)?);
        Ok(())
    }

    /// Whether something has arrived that was not looked at yet.
    pub fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// The socket, if reading means to wait for it.
    pub fn silent_socket(&mut self) -> Option<Socket> {
        let has_input = self.has_input();
        let stream = self.stream.as_mut()?;
        let is_silent = !has_input && !stream.has_buffered();
        is_silent.then(|| stream.socket().clone())
    }

    /// The body of a message without a type: what comes before a session.
    pub fn startup_packet(&mut self, until: Instant) -> Wired<Bytes> {
        self.fill_to(4, Some(until))?;
        let length = (&self.input[..4]).get_i32();
        let length = usize::try_from(length).unwrap_or(0);
        if !(8..=SMALL_BYTES_MAX).contains(&length) {
            return Err(violation("invalid length of startup packet"));
        }
        self.fill_to(length, Some(until))?;
        self.input.advance(4);
        Ok(self.input.split_to(length - 4).freeze())
    }

    /// The next message: its type and its body. If none has begun to arrive, it has to until then.
    pub fn message(&mut self, until: Option<Instant>) -> Wired<(u8, Bytes)> {
        self.fill_to(1, until)?;
        self.fill_to(5, None)?;
        let (kind, length) = (self.input[0], (&self.input[1..5]).get_i32());
        let most = match kind {
            b'Q' | b'P' | b'B' | b'd' | b'F' => self.message_bytes_max,
            b'C' | b'D' | b'E' | b'H' | b'S' | b'X' | b'c' | b'f' | b'p' => SMALL_BYTES_MAX,
            other => return Err(violation(format!("invalid frontend message type {other}"))),
        };
        let length = usize::try_from(length).unwrap_or(0);
        if length < 4 || length > most.saturating_add(4) {
            return Err(violation("invalid message length"));
        }
        self.fill_to(length + 1, None)?;
        self.input.advance(5);
        let body = self.input.split_to(length - 4).freeze();
        // The body keeps its bytes; what follows goes to a buffer of its own.
        if length > KEPT_BYTES_MAX {
            self.input = BytesMut::from(&self.input[..]);
        }
        Ok((kind, body))
    }

    /// Reads until there are so many bytes.
    fn fill_to(&mut self, count: usize, until: Option<Instant>) -> Wired<()> {
        while self.input.len() < count {
            self.limit_read(until)?;
            let start = self.input.len();
            let more = (count - start).clamp(INPUT_BYTES, KEPT_BYTES_MAX);
            self.input.resize(start + more, 0);
            let Some(stream) = &mut self.stream else { return Err(End::Gone) };
            let result = stream.read(&mut self.input[start..]);
            self.input.truncate(start + result.as_ref().map_or(0, |&read| read));
            match result {
                Ok(0) => return Err(End::Gone),
                Ok(_) => {}
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Err(End::Late),
                    _ => return Err(End::Gone),
                },
            }
        }
        Ok(())
    }

    fn limit_read(&mut self, until: Option<Instant>) -> Wired<()> {
        let wait = match until {
            None => None,
            Some(until) => match until.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => Some(left),
                _ => return Err(End::Late),
            },
        };
        if wait == self.read_wait {
            return Ok(());
        }
        let Some(stream) = &self.stream else { return Err(End::Gone) };
        stream.socket().0.set_read_timeout(wait).map_err(|_| End::Gone)?;
        self.read_wait = wait;
        Ok(())
    }

    /// Adds a message to what is sent next.
    pub fn put(&mut self, message: &impl Message) -> Wired<()> {
        let before = self.output.len();
        if message.encode(&mut self.output).is_err() {
            self.output.truncate(before);
            let error = SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, "a message is too long");
            return Err(End::Fatal(error));
        }
        if self.output.len() >= OUTPUT_BYTES { self.flush() } else { Ok(()) }
    }

    /// Sends what has been put.
    pub fn flush(&mut self) -> Wired<()> {
        let Some(stream) = &mut self.stream else { return Err(End::Gone) };
        // The socket limits how long a write waits for a client that does not read.
        let sent = stream.write_all(&self.output).and_then(|()| stream.flush());
        self.output.clear();
        if self.output.capacity() > KEPT_BYTES_MAX {
            self.output = BytesMut::new();
        }
        sent.map_err(|_| End::Gone)
    }

    /// Ends the connection in order.
    pub fn close(&mut self) {
        if let Some(Stream::Tls(stream)) = &mut self.stream {
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    }
}
