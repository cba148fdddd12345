//! Between clients and a server: hands on what they say, and sometimes cuts a connection after a
//! word of the client's has gone to the server and before its answer has come back.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

/// How many connections are cut.
const CUTS: i64 = 3;

pub struct Cutter {
    address: SocketAddr,
    left: Arc<AtomicI64>,
}

impl Cutter {
    /// Listens, until the tests end.
    pub fn start(server: SocketAddr, word: &str) -> Cutter {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let (shared, word) = (Arc::clone(&left), word.as_bytes().to_vec());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                let (left, word) = (Arc::clone(&shared), word.clone());
                let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || hand_on(back.0, back.1, |_| false));
                thread::spawn(move || {
                    hand_on(client, server, |bytes| {
                        let is_end = bytes.windows(word.len()).any(|part| part == word);
                        is_end
                            && (1 - CUTS..=0).contains(&(left.fetch_sub(1, Ordering::SeqCst) - 1))
                    });
                });
            }
        });
        Cutter { address, left }
    }

    /// Where clients find it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts after so many times that the word was said, and the next times, too.
    pub fn cut_after(&self, count: i64) {
        self.left.store(count, Ordering::SeqCst);
    }
}

/// Hands bytes on until there are no more, or until both ends are to be cut off.
fn hand_on(mut from: TcpStream, mut to: TcpStream, is_cut: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let cuts = is_cut(&bytes[..count]);
        if cuts {
            // The client first, so that no answer gets through.
            let _ = from.shutdown(Shutdown::Both);
        }
        if to.write_all(&bytes[..count]).is_err() || cuts {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
