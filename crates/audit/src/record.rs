//! What sessions saw, as lines of JSON, as it happens: a transaction a line, in our own format. The
//! lines of a recording are a history at any time, so that a crash loses at most what was not
//! written yet.

use crate::driver::Sent;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a line may wait until it is written to disk.
const FLUSH_AFTER: Duration = Duration::from_millis(200);
/// So many bytes of lines are written at a time.
const FLUSH_BYTES: usize = 1 << 16;

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It committed.
    Committed,
    /// It has no effect.
    Aborted,
    /// The connection was lost while it was committed: nobody knows.
    Unknown,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Unknown => "unknown",
        }
    }
}

/// A transaction that ended.
#[derive(Clone, Debug)]
pub struct RecordedTxn {
    /// The session.
    pub session: String,
    /// When it began, in nanoseconds of a clock that all share.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// What it read and wrote.
    pub ops: Vec<Value>,
    /// The statements that were sent, and how many operations each of them is.
    pub statements: Vec<(Sent, usize)>,
}

impl RecordedTxn {
    /// The line, without its end, and without the hidden part of names in statements.
    fn line(&self, hidden: &str) -> String {
        let mut first = 0;
        let mut statements = Vec::with_capacity(self.statements.len());
        for (sent, ops) in &self.statements {
            let text = match hidden {
                "" => sent.text.clone(),
                _ => sent.text.replace(hidden, ""),
            };
            let mut one = json!({ "sql": text.as_str(), "first": first, "ops": ops });
            match &sent.rows {
                Some(rows) => {
                    one["rows"] = json!(rows.iter().take(ROWS_MAX).collect::<Vec<_>>());
                    one["count"] = json!(rows.len());
                }
                None => one["done"] = json!(""),
            }
            // Operations without a statement are none's.
            if !text.is_empty() {
                statements.push(one);
            }
            first += ops;
        }
        let mut line = json!({
            "session": self.session,
            "status": self.outcome.word(),
            "begin": self.begin,
            "ops": self.ops,
            "statements": statements,
        });
        // Nobody knows when a transaction of unknown outcome ended, if it did.
        if self.outcome != Outcome::Unknown {
            line["end"] = json!(self.end);
        }
        line.to_string()
    }
}

/// So many rows of an answer are kept.
const ROWS_MAX: usize = 3;

/// A recording that grows: a file, whose lines are a history at any time. What happens while an
/// application does its work is recorded by [`Recorder::session`].
#[derive(Debug)]
pub struct Recorder {
    inner: Mutex<Inner>,
    /// The part of names in statements that nobody needs to see.
    hidden: String,
    /// What all times are counted from.
    clock: Instant,
}

#[derive(Debug)]
struct Inner {
    header: Vec<u8>,
    /// The lines of the present round, behind the header, if there are rounds.
    lines: Option<Vec<u8>>,
    file: Option<Output>,
    /// Why the file could not be written on.
    problem: Option<String>,
}

impl Recorder {
    /// A recording in a file. Its first line has what `source` says, an object: where it is from.
    pub fn new(path: &Path, source: &Value) -> io::Result<Recorder> {
        Recorder::of(Some(path), source, None, String::new())
    }

    /// A recording of rounds, each of which is at hand when it is over. Names in statements are
    /// recorded without what is hidden of them.
    pub(crate) fn of_rounds(
        path: Option<&Path>,
        source: &Value,
        hidden: String,
    ) -> io::Result<Recorder> {
        let lines = format!("{}\n", header(source)).into_bytes();
        Recorder::of(path, source, Some(lines), hidden)
    }

    fn of(
        path: Option<&Path>,
        source: &Value,
        lines: Option<Vec<u8>>,
        hidden: String,
    ) -> io::Result<Recorder> {
        let mut file = path.map(Output::create).transpose()?;
        if let Some(file) = &mut file {
            file.add(&header(source));
            file.flush()?;
        }
        let header = format!("{}\n", header(source)).into_bytes();
        let clock = Instant::now();
        let inner = Inner { header, lines, file, problem: None };
        Ok(Recorder { inner: Mutex::new(inner), hidden, clock })
    }

    /// The present time, in nanoseconds since the recording began.
    pub fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Records a transaction.
    pub fn record(&self, txn: &RecordedTxn) {
        let line = txn.line(&self.hidden);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = &mut inner.lines {
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
        if let Some(file) = &mut inner.file
            && let Err(error) = file.keep(&line)
        {
            inner.problem = Some(error.to_string());
            inner.file = None;
        }
    }

    /// The lines since the last time, as a history.
    pub(crate) fn take_round(&self) -> Vec<u8> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let header = inner.header.clone();
        inner.lines.replace(header).unwrap_or_default()
    }

    /// Writes what is left to the file; why not everything is there, if so.
    pub fn finish(&self) -> Result<(), String> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = &inner.problem {
            return Err(problem.clone());
        }
        match &mut inner.file {
            Some(file) => file.flush().map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

/// A file of whole lines: whatever ends us, or the room on the disk, its lines are a history.
#[derive(Debug)]
struct Output {
    file: File,
    /// Lines that are still to be written.
    waiting: Vec<u8>,
    /// How many bytes of whole lines the file has.
    written: u64,
    flushed: Instant,
}

impl Output {
    fn create(path: &Path) -> io::Result<Output> {
        let file = File::create(path)?;
        Ok(Output { file, waiting: Vec::new(), written: 0, flushed: Instant::now() })
    }

    fn add(&mut self, line: &str) {
        self.waiting.extend_from_slice(line.as_bytes());
        self.waiting.push(b'\n');
    }

    /// Adds a line, which is written soon.
    fn keep(&mut self, line: &str) -> io::Result<()> {
        self.add(line);
        if self.waiting.len() < FLUSH_BYTES && self.flushed.elapsed() < FLUSH_AFTER {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        match self.file.write_all(&self.waiting) {
            Ok(()) => {
                self.written += self.waiting.len() as u64;
                self.waiting.clear();
                Ok(())
            }
            Err(error) => {
                // What was written of a part of them goes away. A device cannot be shortened.
                let _ = self.file.set_len(self.written);
                Err(error)
            }
        }
    }
}

fn header(source: &Value) -> String {
    let mut header = json!({ "seriatim": 1 });
    if let (Some(header), Some(source)) = (header.as_object_mut(), source.as_object()) {
        header.extend(source.clone());
    }
    header.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_tables_are_short_in_what_is_recorded() {
        let hidden = "seriatim_0123456789abcdef_".to_owned();
        let recorder = Recorder::of_rounds(None, &json!({}), hidden).unwrap();
        let text = "UPDATE seriatim_0123456789abcdef_register SET value = 1 WHERE id = 2";
        let sent = Sent { text: text.to_owned(), rows: None };
        recorder.record(&RecordedTxn {
            session: "0.1".to_owned(),
            begin: 1,
            end: 2,
            outcome: Outcome::Committed,
            ops: vec![json!(["w", 2, 1])],
            statements: vec![(sent, 1)],
        });
        let lines = String::from_utf8(recorder.take_round()).unwrap();
        assert!(lines.contains("\"UPDATE register SET value = 1 WHERE id = 2\""), "{lines}");
    }

    fn txn(value: u64, text: &str) -> RecordedTxn {
        RecordedTxn {
            session: "0.1".to_owned(),
            begin: 1,
            end: 2,
            outcome: Outcome::Committed,
            ops: vec![json!(["w", 2, value])],
            statements: vec![(Sent { text: text.to_owned(), rows: None }, 1)],
        }
    }

    #[test]
    fn what_is_on_disk_is_whole_lines_at_any_time() {
        let path = std::env::temp_dir().join(format!("seriatim-whole-{}", std::process::id()));
        let recorder = Recorder::of_rounds(Some(&path), &json!({}), String::new()).unwrap();
        // Lines that no number of fits into what is written at a time.
        let long = "x".repeat(1999);
        for value in 0..200 {
            recorder.record(&txn(value, &long));
            let written = std::fs::read_to_string(&path).unwrap();
            assert!(written.ends_with('\n'), "{}", written.len());
        }
        recorder.finish().unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!((written.lines().count(), written.ends_with('\n')), (201, true));
        std::fs::remove_file(&path).unwrap();
    }
}
