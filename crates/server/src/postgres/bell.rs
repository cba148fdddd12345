//! What wakes a connection that waits for its client: other sessions have something to tell it.
//!
//! A client that listens may be silent for hours and is still told at once. So its thread waits
//! for two things, its socket and a pair of sockets of which others hold the other end.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A wait without a limit is one of many such waits.
const ROUND: Duration = Duration::from_secs(60);

/// Why a wait is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Woken {
    /// The client has sent something, or has left.
    ByClient,
    /// Another session has rung.
    ByBell,
    /// The time is over.
    Late,
}

/// The end of the one who waits.
#[derive(Debug)]
pub(super) struct Bell(UnixStream);

impl Bell {
    /// A bell, and what rings it.
    pub fn new() -> io::Result<(Bell, impl Fn() + Send + Sync + 'static)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        // If there is no room for another byte, it has rung often enough.
        let ring = move || drop((&theirs).write(&[1]));
        Ok((Bell(ours), ring))
    }

    /// Waits for the client or the bell, which is silent again afterwards.
    pub fn wait(&self, client: &TcpStream, until: Option<Instant>) -> io::Result<Woken> {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let wait = left.unwrap_or(ROUND).min(ROUND);
            // Rounded up, so that nothing ends before its time.
            let millis = u16::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u16::MAX);
            let mut polled = [
                PollFd::new(client.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.0.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut polled, PollTimeout::from(millis)) {
                Ok(0) if left.is_some_and(|left| left <= ROUND) => return Ok(Woken::Late),
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let has_events = |place: usize| polled[place].any().unwrap_or(true);
            let (client, bell) = (has_events(0), has_events(1));
            if bell {
                self.silence()?;
                return Ok(Woken::ByBell);
            }
            if client {
                return Ok(Woken::ByClient);
            }
        }
    }

    fn silence(&self) -> io::Result<()> {
        let mut rung = [0; 256];
        loop {
            match (&self.0).read(&mut rung) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_wait_ends_by_the_bell_by_the_client_or_by_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let (bell, ring) = Bell::new().unwrap();
        let soon = || Some(Instant::now() + Duration::from_millis(1));
        assert_eq!(bell.wait(&server, soon()).unwrap(), Woken::Late);
        // More often than there is room for: it never blocks, and is silent after one wait.
        (0..1_000_000).for_each(|_| ring());
        assert_eq!(bell.wait(&server, None).unwrap(), Woken::ByBell);
        assert_eq!(bell.wait(&server, soon()).unwrap(), Woken::Late);
        client.write_all(&[1]).unwrap();
        assert_eq!(bell.wait(&server, None).unwrap(), Woken::ByClient);
    }
}
