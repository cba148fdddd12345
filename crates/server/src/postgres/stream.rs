//! The bytes of a connection: plain or through TLS, with waits that the socket itself limits.

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// A socket that the registry shares, so that it can end a read which waits for the client.
#[derive(Clone, Debug)]
pub(crate) struct Socket(pub Arc<TcpStream>);

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection.
pub(crate) enum Stream {
    Plain(Socket),
    Tls(Box<StreamOwned<ServerConnection, Socket>>),
}

impl Stream {
    /// The same connection through TLS; the handshake comes with the first bytes.
    pub fn encrypted(socket: Socket, config: &Arc<ServerConfig>) -> io::Result<Stream> {
        let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(connection, socket))))
    }

    pub fn socket(&self) -> &Socket {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    /// Whether something has been read of the socket that nobody has got yet.
    pub fn has_buffered(&mut self) -> bool {
        match self {
            Stream::Plain(_) => false,
            Stream::Tls(stream) => {
                // An error is told by the next read.
                let state = stream.conn.process_new_packets();
                state.map_or(true, |state| state.plaintext_bytes_to_read() > 0)
            }
        }
    }

    pub fn is_encrypted(&self) -> bool {
        matches!(self, Stream::Tls(_))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
