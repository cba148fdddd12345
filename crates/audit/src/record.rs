//! What sessions saw, as lines of JSON, as it happens: a transaction a line, in our own format. The
//! lines of a recording are a history at any time, so that a crash loses at most what was not
//! written yet.

use crate::driver::Sent;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a line may wait until it is written to disk.
const FLUSH_AFTER: Duration = Duration::from_millis(200);

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
    /// The line, without its end.
    pub fn line(&self) -> String {
        let mut first = 0;
        let mut statements = Vec::with_capacity(self.statements.len());
        for (sent, ops) in &self.statements {
            let mut one = json!({ "sql": sent.text, "first": first, "ops": ops });
            match &sent.rows {
                Some(rows) => {
                    one["rows"] = json!(rows.iter().take(ROWS_MAX).collect::<Vec<_>>());
                    one["count"] = json!(rows.len());
                }
                None => one["done"] = json!(""),
            }
            statements.push(one);
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

/// Lines of a recording, in memory and on disk.
#[derive(Debug)]
pub struct Recorder {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    header: Vec<u8>,
    /// The lines of the present round, behind the header.
    lines: Vec<u8>,
    file: Option<BufWriter<File>>,
    flushed: Instant,
    /// Why the file could not be written on.
    problem: Option<String>,
}

impl Recorder {
    /// A recording that is also written to a file, which `source` says where it comes from.
    pub fn new(path: Option<&Path>, source: &Value) -> io::Result<Recorder> {
        let mut file = path.map(File::create).transpose()?.map(BufWriter::new);
        if let Some(file) = &mut file {
            writeln!(file, "{}", header(source))?;
            file.flush()?;
        }
        let header = format!("{}\n", header(source)).into_bytes();
        let (lines, flushed) = (header.clone(), Instant::now());
        let inner = Inner { header, lines, file, flushed, problem: None };
        Ok(Recorder { inner: Mutex::new(inner) })
    }

    /// Records a transaction.
    pub fn record(&self, txn: &RecordedTxn) {
        let line = txn.line();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.lines.extend_from_slice(line.as_bytes());
        inner.lines.push(b'\n');
        if inner.file.is_some()
            && let Err(error) = inner.keep(&line)
        {
            inner.problem = Some(error.to_string());
            inner.file = None;
        }
    }

    /// The lines since the last time, as a history.
    pub fn take_round(&self) -> Vec<u8> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let header = inner.header.clone();
        std::mem::replace(&mut inner.lines, header)
    }

    /// Writes what is left; why not everything is on disk, if so.
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

impl Inner {
    fn keep(&mut self, line: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        writeln!(file, "{line}")?;
        if self.flushed.elapsed() >= FLUSH_AFTER {
            file.flush()?;
            self.flushed = Instant::now();
        }
        Ok(())
    }
}

fn header(source: &Value) -> String {
    let mut header = json!({ "seriatim": 1 });
    if let (Some(header), Some(source)) = (header.as_object_mut(), source.as_object()) {
        header.extend(source.clone());
    }
    header.to_string()
}
