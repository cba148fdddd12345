//! What sessions saw, as lines of JSON, as it happens: a transaction a line, in our own format. The
//! lines of a recording are a history at any time, so that a crash loses at most what was not
//! written yet.

use crate::driver::Sent;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a line may wait until it is written.
const FLUSH_AFTER: Duration = Duration::from_millis(200);
/// How long until it is on the disk for good.
const SYNC_AFTER: Duration = Duration::from_secs(1);
/// So many bytes of lines are written at a time, at most.
const FLUSH_BYTES: usize = 1 << 16;

/// What a row is that is not there: before it is inserted, and after it was deleted.
pub(crate) const ABSENT: &str = "absent";

/// A time as a number.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

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
///
/// Lines are written within moments and are on the disk within a second or two, also if nothing
/// more comes. A transaction is recorded when it has ended, so that one may be missing that another
/// has read from; the header says so (`growing`), and marks say where nothing is missing.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    /// The part of names in statements that nobody needs to see.
    hidden: String,
    /// What all times are counted from.
    clock: Instant,
    /// Writes what waits, if there is a file.
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    inner: Mutex<Inner>,
    /// Rings when nothing more comes.
    bell: Condvar,
}

#[derive(Debug)]
struct Inner {
    header: Vec<u8>,
    /// The lines of the present round, behind the header, if there are rounds.
    lines: Option<Vec<u8>>,
    file: Option<Output>,
    /// Why the file could not be written on.
    problem: Option<String>,
    /// How many transactions of sessions are under way.
    open: u64,
    /// Whether a line came after the last mark.
    is_unmarked: bool,
    is_over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, until nothing more comes.
    fn write_on(&self) {
        let mut synced = Instant::now();
        let mut inner = self.lock();
        loop {
            let is_over = inner.is_over;
            let is_due = is_over || synced.elapsed() >= SYNC_AFTER;
            if let Some(file) = inner.flush().filter(|_| is_due) {
                drop(inner);
                // Nobody waits for the disk meanwhile.
                let done = sync(&file);
                synced = Instant::now();
                inner = self.lock();
                inner.note(done);
            }
            if is_over {
                return;
            }
            let waited = self.bell.wait_timeout(inner, FLUSH_AFTER);
            inner = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(inner, _)| inner);
        }
    }
}

impl Inner {
    fn add(&mut self, line: &str) {
        if let Some(lines) = &mut self.lines {
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
        let kept = self.file.as_mut().map_or(Ok(()), |file| file.keep(line));
        self.note(kept);
    }

    /// Writes what waits. The file, if something was written that is perhaps not on the disk yet.
    fn flush(&mut self) -> Option<Arc<File>> {
        let flushed = self.file.as_mut().map_or(Ok(()), Output::flush);
        self.note(flushed);
        let file = self.file.as_mut()?;
        std::mem::take(&mut file.is_unsynced).then(|| Arc::clone(&file.file))
    }

    /// After an error nothing more is written.
    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.problem.get_or_insert(error.to_string());
            self.file = None;
        }
    }
}

impl Recorder {
    /// A recording in a file. Its first line has what `source` says, an object: where it is from.
    pub fn new(path: &Path, source: &Value) -> io::Result<Recorder> {
        Recorder::of(Some(path), header(source, &[]), String::new(), IsOfRounds(false))
    }

    /// A recording of rounds, each of which is at hand when it is over. Names in statements are
    /// recorded without what is hidden of them.
    pub(crate) fn of_rounds(
        path: Option<&Path>,
        source: &Value,
        hidden: String,
    ) -> io::Result<Recorder> {
        Recorder::of(path, header(source, &[ABSENT]), hidden, IsOfRounds(true))
    }

    fn of(
        path: Option<&Path>,
        header: String,
        hidden: String,
        is_of_rounds: IsOfRounds,
    ) -> io::Result<Recorder> {
        let mut file = path.map(Output::create).transpose()?;
        if let Some(file) = &mut file {
            file.add(&header);
            file.flush()?;
        }
        let header = format!("{header}\n").into_bytes();
        let has_file = file.is_some();
        let inner = Inner {
            lines: is_of_rounds.0.then(|| header.clone()),
            header,
            file,
            problem: None,
            open: 0,
            is_unmarked: false,
            is_over: false,
        };
        let shared = Arc::new(Shared { inner: Mutex::new(inner), bell: Condvar::new() });
        let writer = has_file.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.write_on())
        });
        Ok(Recorder { shared, hidden, clock: Instant::now(), writer })
    }

    /// The present time, in nanoseconds since the recording began.
    pub fn now(&self) -> u64 {
        nanoseconds(self.clock.elapsed())
    }

    /// Records a transaction.
    pub fn record(&self, txn: &RecordedTxn) {
        let line = txn.line(&self.hidden);
        let mut inner = self.shared.lock();
        inner.is_unmarked = true;
        inner.add(&line);
    }

    /// A transaction of a session begins, and will be recorded.
    pub(crate) fn open(&self) {
        self.shared.lock().open += 1;
    }

    /// One that was begun has been recorded.
    pub(crate) fn close(&self) {
        self.shared.lock().open -= 1;
    }

    /// Nothing is missing of the round, of which this is told besides.
    pub(crate) fn end_round(&self, mut about: Value) {
        about["whole"] = json!(true);
        self.shared.lock().add(&about.to_string());
    }

    /// The lines since the last time, as a history.
    pub(crate) fn take_round(&self) -> Vec<u8> {
        let mut inner = self.shared.lock();
        let header = inner.header.clone();
        inner.lines.replace(header).unwrap_or_default()
    }

    /// Writes what is left to the file; why not everything is there, if so.
    pub fn finish(&self) -> Result<(), String> {
        let mut inner = self.shared.lock();
        // Rounds have marks of their own.
        if inner.lines.is_none() && inner.open == 0 && inner.is_unmarked {
            inner.is_unmarked = false;
            inner.add(&json!({ "whole": true }).to_string());
        }
        let done = inner.flush().map_or(Ok(()), |file| sync(&file));
        inner.note(done);
        inner.problem.clone().map_or(Ok(()), Err)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.finish();
        self.shared.lock().is_over = true;
        self.shared.bell.notify_all();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Whether a recording has rounds.
#[derive(Clone, Copy)]
struct IsOfRounds(bool);

/// Waits until what was written is on the disk. Not everything is a file on one.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// A file of whole lines: whatever ends us, or the room on the disk, its lines are a history.
#[derive(Debug)]
struct Output {
    file: Arc<File>,
    /// Lines that are still to be written.
    waiting: Vec<u8>,
    /// How many bytes of whole lines the file has.
    written: u64,
    /// Whether some of them are perhaps not on the disk yet.
    is_unsynced: bool,
}

impl Output {
    fn create(path: &Path) -> io::Result<Output> {
        let file = Arc::new(File::create(path)?);
        Ok(Output { file, waiting: Vec::new(), written: 0, is_unsynced: false })
    }

    fn add(&mut self, line: &str) {
        self.waiting.extend_from_slice(line.as_bytes());
        self.waiting.push(b'\n');
    }

    /// Adds a line, which is written soon.
    fn keep(&mut self, line: &str) -> io::Result<()> {
        self.add(line);
        if self.waiting.len() < FLUSH_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let (count, done) = write(&self.file, &self.waiting);
        // Of a line that does not fit nothing stays. A device cannot be shortened.
        let whole = match done {
            Ok(()) => count,
            Err(_) => {
                self.waiting[..count].iter().rposition(|&c| c == b'\n').map_or(0, |it| it + 1)
            }
        };
        self.written += whole as u64;
        self.is_unsynced = true;
        self.waiting.clear();
        if done.is_err() {
            let _ = self.file.set_len(self.written);
        }
        done
    }
}

/// Writes as much of it as there is room for: how many bytes, and why not all of them.
fn write(mut file: &File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut count = 0;
    while count < bytes.len() {
        match file.write(&bytes[count..]) {
            Ok(0) => return (count, Err(ErrorKind::WriteZero.into())),
            Ok(more) => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (count, Err(error)),
        }
    }
    (count, Ok(()))
}

/// The first line, which names the values that several transactions write.
fn header(source: &Value, recurring: &[&str]) -> String {
    let mut header = json!({ "seriatim": 1, "growing": true });
    if !recurring.is_empty() {
        header["recurring"] = json!(recurring);
    }
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

    fn read(path: &Path) -> seriatim_history::History {
        let bytes = std::fs::read(path).unwrap();
        let options = seriatim_history::formats::ReadOptions::default();
        seriatim_history::formats::read_bytes(&bytes, "r", &options).unwrap().0
    }

    fn reader() -> RecordedTxn {
        RecordedTxn { ops: vec![json!(["r", 2, 7])], ..txn(0, "") }
    }

    #[test]
    fn what_an_application_does_is_written_although_nothing_more_comes() {
        let path = std::env::temp_dir().join(format!("seriatim-last-{}", std::process::id()));
        let recorder = Recorder::new(&path, &json!({})).unwrap();
        recorder.record(&txn(7, ""));
        let begun = Instant::now();
        while std::fs::read_to_string(&path).unwrap().lines().count() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        // Who wrote what was read is perhaps only not recorded yet.
        recorder.record(&reader());
        recorder.record(&RecordedTxn { ops: vec![json!(["r", 2, 8])], ..txn(0, "") });
        recorder.shared.lock().flush();
        assert_eq!((read(&path).op_count(), read(&path).unknown_content()), (2, 1));
        // In the end nothing is missing.
        drop(recorder);
        assert_eq!((read(&path).op_count(), read(&path).unknown_content()), (3, 0));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_transaction_that_is_under_way_may_be_missing_in_the_end() {
        let path = std::env::temp_dir().join(format!("seriatim-open-{}", std::process::id()));
        let recorder = Recorder::new(&path, &json!({})).unwrap();
        let mut session = recorder.session("ann");
        let mut open = session.begin();
        open.write("x", 7);
        recorder.record(&reader());
        recorder.finish().unwrap();
        assert_eq!(read(&path).unknown_content(), 1);
        open.commit();
        recorder.finish().unwrap();
        assert_eq!(read(&path).unknown_content(), 0);
        drop(recorder);
        std::fs::remove_file(&path).unwrap();
    }
}
