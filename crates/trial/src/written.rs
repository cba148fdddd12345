//! What a command writes: looked at line by line while it is read, of which only the end is kept.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// So much of what a command writes is kept: the end of it.
const KEPT_BYTES: usize = 64 << 10;
/// A line that is longer than this is looked at, and kept, in pieces.
const LINE_BYTES_MAX: usize = 64 << 10;

/// What the streams of a command have written so far.
pub(crate) struct Written {
    /// The last lines, of all streams.
    kept: Vec<u8>,
    /// Of each stream the line that has no end yet.
    open: [Vec<u8>; 2],
    /// What is looked for.
    wanted: Option<Vec<u8>>,
    /// The first line that has it.
    named: Option<Vec<u8>>,
}

impl Written {
    pub fn looking_for(wanted: Option<&str>) -> Written {
        let wanted = wanted.map(|text| text.as_bytes().to_vec());
        Written { kept: Vec::new(), open: Default::default(), wanted, named: None }
    }

    fn add(&mut self, stream: usize, bytes: &[u8]) {
        let mut open = std::mem::take(&mut self.open[stream]);
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            open.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.line(&open);
                open.clear();
            } else if open.len() > LINE_BYTES_MAX {
                self.line(&open);
                // What is looked for may begin in this piece and end in the next one.
                let overlap = self.wanted.as_ref().map_or(0, |it| it.len().saturating_sub(1));
                open.drain(..open.len().saturating_sub(overlap));
            }
        }
        self.open[stream] = open;
    }

    /// A stream has come to its end, maybe in the middle of a line.
    fn end(&mut self, stream: usize) {
        let open = std::mem::take(&mut self.open[stream]);
        if !open.is_empty() {
            self.line(&open);
        }
    }

    fn line(&mut self, line: &[u8]) {
        if self.named.is_none() && self.wanted.as_ref().is_some_and(|it| has(line, it)) {
            self.named = Some(line.to_vec());
        }
        // The other stream may have ended in the middle of a line.
        if self.kept.last().is_some_and(|&byte| byte != b'\n') {
            self.kept.push(b'\n');
        }
        self.kept.extend_from_slice(line);
        if self.kept.len() > 2 * KEPT_BYTES {
            let excess = self.kept.len() - KEPT_BYTES;
            self.kept.drain(..excess);
        }
    }
}

fn has(line: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || line.windows(wanted.len()).any(|part| part == wanted)
}

/// The end of what was written, and the line that was looked for.
pub(crate) fn taken(written: &Mutex<Written>) -> (String, Option<String>) {
    let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
    // Somebody who has the pipe still may never end.
    (0..written.open.len()).for_each(|stream| written.end(stream));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let named = written.named.take();
    (text(&std::mem::take(&mut written.kept)), named.map(|line| text(&line)))
}

/// Reads a stream to its end.
pub(crate) fn keep(
    mut from: impl Read + Send + 'static,
    to: Arc<Mutex<Written>>,
    stream: usize,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            to.lock().unwrap_or_else(PoisonError::into_inner).add(stream, &buffer[..count]);
        }
        to.lock().unwrap_or_else(PoisonError::into_inner).end(stream);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(wanted: &str, pieces: &[(usize, &str)]) -> (String, Option<String>) {
        let written = Mutex::new(Written::looking_for(Some(wanted)));
        for (stream, piece) in pieces {
            written.lock().unwrap().add(*stream, piece.as_bytes());
        }
        taken(&written)
    }

    #[test]
    fn a_line_is_not_torn_by_what_the_other_stream_writes() {
        let pieces = [(0, "sold tw"), (1, "a note\n"), (0, "ice\nand more\n"), (1, "the end")];
        let (kept, named) = written("sold twice", &pieces);
        assert_eq!(kept, "a note\nsold twice\nand more\nthe end");
        assert_eq!(named.as_deref(), Some("sold twice\n"));
    }

    #[test]
    fn a_line_is_found_however_much_comes_after_it() {
        let more = "all is well\n".repeat(100_000);
        let (kept, named) = written("sold twice", &[(0, "sold twice\n"), (0, &more)]);
        assert!(kept.len() <= 2 * KEPT_BYTES && !kept.contains("sold"));
        assert_eq!(named.as_deref(), Some("sold twice\n"));
    }

    #[test]
    fn what_has_no_ends_of_lines_is_looked_at_in_pieces() {
        let half = "x".repeat(LINE_BYTES_MAX - 3);
        let (_, named) = written("sold twice", &[(0, &half), (0, "sold t"), (0, "wice")]);
        assert!(named.is_some_and(|line| line.ends_with("sold twice")));
    }
}
