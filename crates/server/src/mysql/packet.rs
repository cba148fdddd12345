//! Packets in and out of a connection: three bytes of length, a sequence number, a body. A body of
//! the greatest length goes on in the next packet.
//!
//! Nothing is allocated for a length that a client only claims: the buffer grows with the bytes
//! that have arrived.

use super::error::MysqlError;
use crate::postgres::{Socket, Stream};
use bytes::{Buf, Bytes, BytesMut};
use rustls::ServerConfig;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The greatest body of one packet.
const PART_BYTES_MAX: usize = 0xff_ffff;
/// What is sent at once; more is sent before more is made.
const OUTPUT_BYTES: usize = 1 << 16;
/// How much is read at once.
const INPUT_BYTES: usize = 1 << 14;
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
    Fatal(MysqlError),
}

/// What most functions of a connection return.
pub(super) type Wired<T> = Result<T, End>;

/// The two directions of a connection.
pub(super) struct Wire {
    stream: Option<Stream>,
    input: BytesMut,
    output: Vec<u8>,
    /// The number of the next packet that is sent.
    sequence: u8,
    body_bytes_max: usize,
    /// The limit of reads, as the socket has it.
    read_wait: Option<Duration>,
}

impl Wire {
    pub fn new(socket: Socket, body_bytes_max: usize) -> Wire {
        Wire {
            stream: Some(Stream::Plain(socket)),
            input: BytesMut::new(),
            output: Vec::new(),
            sequence: 0,
            body_bytes_max,
            read_wait: None,
        }
    }

    /// From now on everything goes through TLS.
    pub fn encrypt(&mut self, config: &Arc<ServerConfig>) -> Wired<()> {
        // What was sent before the handshake could come from somebody in the middle.
        if !self.input.is_empty() {
            return Err(End::Fatal(MysqlError::handshake()));
        }
        let Some(stream) = self.stream.take() else { return Err(End::Gone) };
        let socket = stream.socket().clone();
        self.stream = Some(Stream::encrypted(socket, config).map_err(|_| End::Gone)?);
        Ok(())
    }

    /// The body of the next packets. If none has begun to arrive, it has to until then.
    pub fn body(&mut self, until: Option<Instant>) -> Wired<Bytes> {
        let (mut body, mut until) = (BytesMut::new(), until);
        loop {
            self.fill_to(1, until)?;
            // What has begun to arrive must go on: a client that stops is noticed by keep-alive.
            until = None;
            self.fill_to(4, until)?;
            let length = (&self.input[..3]).get_uint_le(3) as usize;
            if body.len() + length > self.body_bytes_max {
                return Err(End::Fatal(MysqlError::packet_too_large()));
            }
            self.sequence = self.input[3].wrapping_add(1);
            self.fill_to(4 + length, until)?;
            self.input.advance(4);
            let part = self.input.split_to(length);
            if body.is_empty() {
                body = part;
            } else {
                body.extend_from_slice(&part);
            }
            if length < PART_BYTES_MAX {
                return Ok(body.freeze());
            }
        }
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

    /// Adds a body to what is sent next.
    pub fn put(&mut self, body: &[u8]) -> Wired<()> {
        let mut rest = body;
        loop {
            let (part, after) = rest.split_at(rest.len().min(PART_BYTES_MAX));
            self.output.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
            self.output.push(self.sequence);
            self.output.extend_from_slice(part);
            self.sequence = self.sequence.wrapping_add(1);
            rest = after;
            // A body of exactly the greatest length is followed by an empty one.
            if part.len() < PART_BYTES_MAX {
                break;
            }
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
            self.output = Vec::new();
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
