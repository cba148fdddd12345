//! Asks a person to go on: a run stops, what happens next is told, and Enter lets it happen.

use crate::{interrupt, output};
use seriatim_report::clean;
use seriatim_trial::{Pause, Pauser};
use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often to look whether somebody wants to end everything.
const LOOK: Duration = Duration::from_millis(100);

/// Tells why a run stops, and waits for a line of standard input, or for its end.
pub fn pauser() -> Pauser {
    let lines = Mutex::new(lines());
    Arc::new(move |pause| {
        output::message(&told(&pause));
        let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        while let Err(RecvTimeoutError::Timeout) = lines.recv_timeout(LOOK) {
            if interrupt::asked().is_some() {
                return;
            }
        }
    })
}

/// A message for each line; nobody is left to send them at the end of the input.
fn lines() -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || sender.send(()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn told(pause: &Pause) -> String {
    let next = match pause {
        Pause::WeakRead { reader, statement, key, writer } => {
            let from = match writer {
                Some(writer) => {
                    let (number, session) = (writer.txn + 1, writer.session);
                    format!("transaction {number} of connection {session}")
                }
                None => "the initial state".to_owned(),
            };
            let (number, session) = (reader.txn + 1, reader.session);
            let asks = statement.as_ref().map_or_else(String::new, |it| {
                let words: Vec<&str> = it.split_whitespace().collect();
                format!("\n  {}", clean(&words.join(" ")))
            });
            format!(
                "connection {session} is about to read {} from {from}, which is not the latest \
                 version, in its transaction {number}:{asks}",
                clean(key)
            )
        }
        Pause::Switch { connection } => format!("connection {connection} goes on"),
    };
    format!("{next}\n  press Enter to let it happen\n")
}
