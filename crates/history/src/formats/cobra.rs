//! Cobra's binary client logs: one file a session, records of big-endian words behind a letter.
//!
//! ```text
//! S txn | W write, key, value | R writer, write, key, value | C txn          (each word 8 bytes)
//! ```
//!
//! A read names the transaction and the write that it reads from; values are hashes that may
//! repeat. So the number of the write is what we call its value, except for keys whose records
//! carry VeriStrong's mark for "unknown writer": there the value itself must do. Some recorders add
//! a time to S and C; nothing in the file says so, and we try that only if the plain layout does
//! not fit.

use super::Format;
use super::build::Builder;
use super::bytes::Bytes;
use super::directory::LogFile;
use super::refusals::Writing;
use super::text::Source;
use crate::atom::{Atom, Value, ValueKind};
use crate::error::{ReadError, WriteError};
use crate::ids::{KeyId, OpId, SessionId, TxnId};
use crate::model::{History, Op, OpKind, Status, TimeUnit};
use crate::place::PlaceUnit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Write;

/// Writer of reads of a value that was there before the run.
const INIT: u64 = 0xbebe_ebee;
/// Writer of reads that found no key.
const NOT_FOUND: u64 = 0xdead_beef;
/// In place of a writer or a write: unknown, match by value.
const UNKNOWN: u64 = 0xabdd_efee;
const NANOS_PER_MILLI: i64 = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Plain,
    Timed,
}

struct LogTxn {
    session: u32,
    id: u64,
    place: usize,
    times: (i64, i64),
    ops: std::ops::Range<usize>,
}

struct LogOp {
    kind: OpKind,
    /// Of a read.
    writer: u64,
    write: u64,
    key: u64,
    value: u64,
    place: usize,
}

#[derive(Default)]
struct Log {
    txns: Vec<LogTxn>,
    ops: Vec<LogOp>,
}

/// Whether a file starts like a log, in either layout.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let record = |at: usize| bytes.get(at).is_some_and(|byte| b"RWC".contains(byte));
    bytes.first() == Some(&b'S')
        && bytes.len() >= 18
        && (record(9) || record(17))
        && bytes[1..9].contains(&0)
}

/// Reads the files of a history, one a session.
pub(super) fn read(files: &[LogFile<'_>], shown_as: &Source) -> Result<History, ReadError> {
    let (log, layout) = match parse(files, Layout::Plain) {
        Ok(log) => (log, Layout::Plain),
        Err(error) => (parse(files, Layout::Timed).map_err(|_| error)?, Layout::Timed),
    };
    let writers = Writers::of(&log);
    let mut builder = Builder::default();
    for file in files {
        builder.session(file.session.clone());
        builder.columns.files.push(file.source.name.clone());
    }
    refuse_repeated_ids(&log, files)?;
    for log_txn in &log.txns {
        let txn =
            builder.named_txn(log_txn.session, Status::Committed, Atom::Int(log_txn.id.into()));
        for op in &log.ops[log_txn.ops.clone()] {
            let value = writers.value(op, &mut builder).map_err(|problem| {
                files[log_txn.session as usize].source.at_byte(op.place, problem)
            })?;
            let key = builder.key(Atom::Int(op.key.into()));
            builder.op(txn, op.kind, key, value, op.place as u64);
        }
    }
    if layout == Layout::Timed {
        builder.columns.time_unit = TimeUnit::Nanoseconds;
        builder.columns.txn_times = Some(log.txns.iter().map(|txn| txn.times).collect());
    }
    builder.finish(shown_as, PlaceUnit::Byte)
}

fn parse(files: &[LogFile<'_>], layout: Layout) -> Result<Log, ReadError> {
    let mut log = Log::default();
    for (session, file) in files.iter().enumerate() {
        let mut bytes = Bytes::new(file.bytes, &file.source);
        while bytes.remaining() > 0 {
            log.txn(session as u32, &mut bytes, layout)?;
        }
    }
    Ok(log)
}

impl Log {
    /// `S (R|W)* C`
    fn txn(
        &mut self,
        session: u32,
        bytes: &mut Bytes<'_>,
        layout: Layout,
    ) -> Result<(), ReadError> {
        let place = bytes.position();
        let letter = bytes.u8("a record")?;
        if letter != b'S' {
            return Err(bytes.fail_at(
                place,
                format!("expected the start of a transaction (S), found {}", shown(letter)),
            ));
        }
        let id = bytes.u64_be("the id of a transaction")?;
        let begin = time(bytes, layout)?;
        let first = self.ops.len();
        loop {
            let at = bytes.position();
            match bytes.u8("the rest of a transaction")? {
                b'R' => self.op(OpKind::Read, at, bytes)?,
                b'W' => self.op(OpKind::Write, at, bytes)?,
                b'C' => {
                    if bytes.u64_be("the id of a transaction")? != id {
                        return Err(bytes.fail_at(
                            at,
                            format!("expected the commit of transaction {id}, found another's"),
                        ));
                    }
                    break;
                }
                b'A' => {
                    return Err(
                        bytes.fail_at(at, "an abort (A): clients drop aborted transactions")
                    );
                }
                other => {
                    return Err(
                        bytes.fail_at(at, format!("expected R, W or C, found {}", shown(other)))
                    );
                }
            }
        }
        let end = time(bytes, layout)?;
        if end < begin {
            return Err(bytes.fail_at(place, format!("transaction {id} ends before it begins")));
        }
        self.txns.push(LogTxn {
            session,
            id,
            place,
            times: (begin, end),
            ops: first..self.ops.len(),
        });
        Ok(())
    }

    fn op(&mut self, kind: OpKind, place: usize, bytes: &mut Bytes<'_>) -> Result<(), ReadError> {
        let writer = if kind == OpKind::Read { bytes.u64_be("the writer of a read")? } else { 0 };
        let write = bytes.u64_be("the id of a write")?;
        let key = bytes.u64_be("a key")?;
        let value = bytes.u64_be("a value")?;
        self.ops.push(LogOp { kind, writer, write, key, value, place });
        Ok(())
    }
}

fn time(bytes: &mut Bytes<'_>, layout: Layout) -> Result<i64, ReadError> {
    if layout == Layout::Plain {
        return Ok(0);
    }
    let millis = i64::try_from(bytes.u64_be("a time")?).unwrap_or(i64::MAX);
    Ok(millis.saturating_mul(NANOS_PER_MILLI))
}

fn shown(letter: u8) -> String {
    if letter.is_ascii_graphic() {
        format!("`{}`", letter as char)
    } else {
        format!("the byte {letter:#04x}")
    }
}

fn refuse_repeated_ids(log: &Log, files: &[LogFile<'_>]) -> Result<(), ReadError> {
    let mut seen: FxHashMap<u64, &LogTxn> = FxHashMap::default();
    for txn in &log.txns {
        if let Some(first) = seen.insert(txn.id, txn) {
            let first_file = &files[first.session as usize].source.name;
            let problem = format!(
                "transaction {} was already at byte {} of {first_file}",
                txn.id, first.place
            );
            return Err(files[txn.session as usize].source.at_byte(txn.place, problem));
        }
    }
    Ok(())
}

/// Which transaction wrote what.
struct Writers {
    /// The transaction of each (key, write) and the value that it wrote; `None` if several claim
    /// it.
    writer_of: FxHashMap<(u64, u64), Option<(u64, u64)>>,
    /// Keys whose writes are told apart by value.
    by_value: FxHashSet<u64>,
}

impl Writers {
    fn of(log: &Log) -> Writers {
        let unknown =
            |op: &&LogOp| op.write == UNKNOWN || (op.kind == OpKind::Read && op.writer == UNKNOWN);
        let by_value = log.ops.iter().filter(unknown).map(|op| op.key).collect();
        let mut writer_of: FxHashMap<(u64, u64), Option<(u64, u64)>> = FxHashMap::default();
        for txn in &log.txns {
            for op in log.ops[txn.ops.clone()].iter().filter(|op| op.kind == OpKind::Write) {
                let claim = Some((txn.id, op.value));
                let writer = writer_of.entry((op.key, op.write)).or_insert(claim);
                if *writer != claim {
                    *writer = None;
                }
            }
        }
        Writers { writer_of, by_value }
    }

    /// What stands for the value of an operation, or how it contradicts the rest.
    fn value(&self, op: &LogOp, builder: &mut Builder) -> Result<Value, String> {
        let is_read = op.kind == OpKind::Read;
        if is_read && (op.writer == INIT || op.writer == NOT_FOUND) {
            return Ok(Value::NULL);
        }
        if self.by_value.contains(&op.key) {
            return Ok(builder.value(Atom::Int(op.value.into())));
        }
        if let (true, Some(&Some(write))) = (is_read, self.writer_of.get(&(op.key, op.write))) {
            agree(op, write)?;
        }
        Ok(builder.value(Atom::Int(op.write.into())))
    }
}

/// Whether a read says of its write what the write itself says: (transaction, value).
fn agree(read: &LogOp, (writer, value): (u64, u64)) -> Result<(), String> {
    if writer != read.writer {
        let problem = format!(
            "this read names transaction {} as the writer of write {}",
            read.writer, read.write
        );
        return Err(format!("{problem}, but transaction {writer} did that write"));
    }
    if value != read.value {
        let problem = format!("this read returned {} from write {}", read.value, read.write);
        return Err(format!("{problem} of transaction {writer}, but that wrote {value}"));
    }
    Ok(())
}

/// A history on its way into logs.
pub(super) struct LogWriter<'h> {
    writing: Writing<'h>,
    txn_ids: Vec<u64>,
    /// Writer and number of each write, and the number of each value that was read but never
    /// written.
    writes: FxHashMap<(KeyId, Value), (u64, u64)>,
    /// Keys with a value that is written twice.
    by_value: FxHashSet<KeyId>,
    timed: bool,
}

impl<'h> LogWriter<'h> {
    /// Looks for what logs cannot hold.
    pub fn new(history: &'h History) -> Result<LogWriter<'h>, WriteError> {
        let writing = Writing::new(history, Format::Cobra);
        writing.registers_only()?;
        writing.refuse_contested_reads(|_| false)?;
        writing.only_statuses(&[Status::Committed])?;
        let txn_ids = txn_ids(&writing);
        let timed = carries_times(history);
        let mut writer = LogWriter {
            writing,
            txn_ids,
            writes: FxHashMap::default(),
            by_value: FxHashSet::default(),
            timed,
        };
        writer.number_writes();
        Ok(writer)
    }

    /// Numbers the writes: by their values if these are unique over all keys, as the numbers must
    /// be.
    fn number_writes(&mut self) {
        let history = self.writing.history;
        let reserved = |number: u64| [INIT, NOT_FOUND, UNKNOWN].contains(&number);
        let mut seen = FxHashSet::default();
        let ops: Vec<OpId> = (0..history.op_count() as u32).map(OpId).collect();
        let value_is_number =
            ops.iter().map(|&op| history.op(op)).filter(|op| op.kind.is_write()).all(|op| {
                matches!(op.value.kind(), ValueKind::Int(number) if !reserved(number))
                    && seen.insert(op.value)
            });
        let nobody = (0..=u64::MAX).rev().find(|id| !self.txn_ids.contains(id)).unwrap_or(u64::MAX);
        for txn in history.txns() {
            for (op, content) in self.writing.ops(txn).filter(|(_, op)| op.kind.is_write()) {
                let number =
                    if value_is_number { content.value.raw() } else { 100_000 + u64::from(op.0) };
                let id = (self.txn_ids[txn.index()], number);
                if self.writes.insert((content.key, content.value), id).is_some() {
                    self.by_value.insert(content.key);
                }
            }
        }
        // Reads of values without a writer get numbers that no write has.
        for op in ops {
            let content = history.op(op);
            let number = match content.value.kind() {
                ValueKind::Int(number) if value_is_number && !reserved(number) => number,
                _ => (1 << 61) + u64::from(op.0),
            };
            self.writes.entry((content.key, content.value)).or_insert((nobody, number));
        }
    }

    /// Writes the log of a session.
    pub fn write(&self, session: SessionId, out: &mut dyn Write) -> Result<(), WriteError> {
        let history = self.writing.history;
        for txn in history.txns_of(session).map(TxnId) {
            let id = self.txn_ids[txn.index()];
            let (begin, end) = history.times(txn).unwrap_or_default();
            self.bound(b'S', id, begin, out)?;
            for (op, content) in self.writing.ops(txn) {
                self.op(op, content, out)?;
            }
            self.bound(b'C', id, end, out)?;
        }
        Ok(())
    }

    fn bound(&self, letter: u8, id: u64, time: i64, out: &mut dyn Write) -> Result<(), WriteError> {
        let millis = (time / NANOS_PER_MILLI) as u64;
        let words = [id, millis];
        record(letter, if self.timed { &words } else { &words[..1] }, out)
    }

    fn op(&self, op: OpId, content: Op, out: &mut dyn Write) -> Result<(), WriteError> {
        let key = self.writing.unsigned_key(op)?;
        let is_read = content.kind == OpKind::Read;
        if is_read && self.writing.is_initial(content.key, content.value) {
            return record(b'R', &[INIT, INIT, key, 0], out);
        }
        let (mut writer, mut write) = self.writes[&(content.key, content.value)];
        let value = match content.value.kind() {
            ValueKind::Int(number) => number,
            _ if self.by_value.contains(&content.key) => {
                u64::try_from(self.writing.integer_value(op)?)
                    .map_err(|_| self.writing.unsupported_op(op, "negative values", ""))?
            }
            _ => write,
        };
        if self.by_value.contains(&content.key) {
            (writer, write) = (UNKNOWN, UNKNOWN);
        }
        match is_read {
            true => record(b'R', &[writer, write, key, value], out),
            false => record(b'W', &[write, key, value], out),
        }
    }
}

/// The ids of the input where they are integers that can stand, otherwise new ones.
fn txn_ids(writing: &Writing<'_>) -> Vec<u64> {
    let magic = [INIT, NOT_FOUND, UNKNOWN];
    let kept = writing.integer_txn_names().and_then(|names| {
        names
            .into_iter()
            .map(|name| u64::try_from(name).ok().filter(|id| !magic.contains(id)))
            .collect()
    });
    kept.unwrap_or_else(|| (0..writing.history.txn_count() as u64).map(|i| 0x10_0000 + i).collect())
}

/// The number of each transaction.
pub(super) fn txn_numbers(history: &History) -> Vec<Option<i128>> {
    txn_ids(&Writing::new(history, Format::Cobra))
        .into_iter()
        .map(|id| Some(i128::from(id)))
        .collect()
}

/// Whether the times of a history can be written: all of them, or none.
pub(super) fn carries_times(history: &History) -> bool {
    history.txns().all(|txn| history.times(txn).is_some_and(whole_millis))
}

fn whole_millis((begin, end): (i64, i64)) -> bool {
    begin >= 0 && end != i64::MAX && begin % NANOS_PER_MILLI == 0 && end % NANOS_PER_MILLI == 0
}

fn record(letter: u8, words: &[u64], out: &mut dyn Write) -> Result<(), WriteError> {
    out.write_all(&[letter])?;
    for word in words {
        out.write_all(&word.to_be_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(records: &[(u8, &[u64])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        records.iter().for_each(|(letter, words)| record(*letter, words, &mut bytes).unwrap());
        bytes
    }

    fn parse_files(contents: &[Vec<u8>]) -> Result<History, ReadError> {
        let files: Vec<LogFile<'_>> = contents
            .iter()
            .enumerate()
            .map(|(i, bytes)| LogFile {
                session: Atom::Int(i as i128),
                source: Source::new(&format!("T{i}.log")),
                bytes,
            })
            .collect();
        read(&files, &Source::new("dir"))
    }

    #[test]
    fn writes_are_known_by_their_numbers() {
        let one =
            log(&[(b'S', &[1]), (b'R', &[INIT, INIT, 7, 0]), (b'W', &[100, 7, 5]), (b'C', &[1])]);
        let two =
            log(&[(b'S', &[2]), (b'R', &[1, 100, 7, 5]), (b'R', &[9, 999, 7, 5]), (b'C', &[2])]);
        let history = parse_files(&[one, two]).unwrap();
        assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (2, 2, 4));
        let values: Vec<String> =
            history.values().iter().map(|&value| history.value_text(value)).collect();
        assert_eq!(values, ["nil", "100", "100", "999"]);
        assert_eq!(history.place(OpId(3)).unwrap().to_string(), "T1.log@42");
    }

    #[test]
    fn an_unknown_writer_is_found_by_value() {
        let one =
            log(&[(b'S', &[1]), (b'W', &[UNKNOWN, 7, 5]), (b'W', &[100, 8, 6]), (b'C', &[1])]);
        let two = log(&[
            (b'S', &[2]),
            (b'R', &[UNKNOWN, UNKNOWN, 7, 5]),
            (b'R', &[1, 100, 8, 6]),
            (b'C', &[2]),
        ]);
        let history = parse_files(&[one, two]).unwrap();
        let values: Vec<String> =
            history.values().iter().map(|&value| history.value_text(value)).collect();
        assert_eq!(values, ["5", "100", "5", "100"]);
    }

    #[test]
    fn times_are_tried_when_the_plain_layout_does_not_fit() {
        let timed = log(&[(b'S', &[1, 1000]), (b'W', &[100, 7, 5]), (b'C', &[1, 1002])]);
        let history = parse_files(&[timed]).unwrap();
        assert_eq!(history.times(TxnId(0)), Some((1_000_000_000, 1_002_000_000)));
    }

    #[test]
    fn contradictions_and_truncations_are_errors_with_their_byte() {
        let one = log(&[(b'S', &[1]), (b'W', &[100, 7, 5]), (b'C', &[1])]);
        let two = log(&[(b'S', &[2]), (b'R', &[3, 100, 7, 5]), (b'C', &[2])]);
        let error = parse_files(&[one.clone(), two]).unwrap_err().to_string();
        assert!(error.starts_with("T1.log at byte 9: this read names transaction 3"), "{error}");
        let two = log(&[(b'S', &[2]), (b'R', &[1, 100, 7, 6]), (b'C', &[2])]);
        let error = parse_files(&[one.clone(), two]).unwrap_err().to_string();
        assert_eq!(
            error,
            "T1.log at byte 9: this read returned 6 from write 100 of transaction 1, but that \
             wrote 5"
        );
        for len in 1..one.len() {
            assert!(parse_files(&[one[..len].to_vec()]).is_err(), "{len}");
        }
        let error = parse_files(&[one.clone(), one]).unwrap_err().to_string();
        assert!(error.contains("was already at byte 0 of T0.log"), "{error}");
    }
}
