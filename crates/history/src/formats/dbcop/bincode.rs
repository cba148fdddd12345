//! dbcop's binary files: Rust structs as bincode 1 lays them out, little-endian and without any
//! magic number.
//!
//! ```text
//! u64 id, nodes, variables, transactions per session, events per transaction
//! string info, start, end
//! u64 #sessions {
//!     u64 #txns { u64 #events { u8 write, u64 variable, u64 value, u8 success }, u8 success }
//! }
//! ```
//!
//! Every key starts as 0. Failed events are ignored, failed transactions are aborted.

use crate::atom::{Atom, Value};
use crate::error::{ReadError, WriteError};
use crate::formats::Format;
use crate::formats::build::Builder;
use crate::formats::bytes::Bytes;
use crate::formats::refusals::Writing;
use crate::formats::text::Source;
use crate::ids::TxnId;
use crate::model::{History, Names, OpKind, Status};
use crate::place::PlaceUnit;
use std::io::Write;

const EVENT_BYTES: usize = 18;

/// Whether the header and the first counts make sense: there is no magic number to look for.
pub(in crate::formats) fn looks_like(bytes: &[u8]) -> bool {
    let source = Source::new("");
    let mut bytes = Bytes::new(bytes, &source);
    let Ok(parameters) = read_header(&mut bytes) else { return false };
    // Texts read as numbers are huge; parameters of a generator are not.
    if parameters.iter().any(|&parameter| parameter > 1 << 40) {
        return false;
    }
    let Ok(sessions) = bytes.count_le(8, "the number of sessions") else { return false };
    sessions > 0 && bytes.count_le(9, "the number of transactions").is_ok()
}

/// Reads a history.
pub(in crate::formats) fn read(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut bytes = Bytes::new(bytes, source);
    read_header(&mut bytes)?;
    let mut builder = Builder::default();
    let sessions = bytes.count_le(8, "the number of sessions")?;
    for session in 0..sessions {
        read_session(&mut bytes, session as u32, &mut builder)?;
    }
    if bytes.remaining() > 0 {
        let problem =
            format!("expected the end of the file, but {} bytes follow", bytes.remaining());
        return Err(bytes.fail_at(bytes.position(), problem));
    }
    let columns = &mut builder.columns;
    columns.session_count = sessions as u32;
    columns.session_names = Names::Implicit { first: 1 };
    columns.txn_names = Names::Implicit { first: 1 };
    columns.initial.default = Value::small(0);
    builder.finish(source, PlaceUnit::Byte)
}

fn read_header(bytes: &mut Bytes<'_>) -> Result<[u64; 5], ReadError> {
    let mut parameters = [0; 5];
    let names = ["the id", "the number of nodes", "of variables", "of transactions", "of events"];
    for (parameter, name) in parameters.iter_mut().zip(names) {
        *parameter = bytes.u64_le(name)?;
    }
    for name in ["info", "start", "end"] {
        let start = bytes.position();
        let len = bytes.count_le(1, &format!("the length of the string `{name}`"))?;
        let text = bytes.take(len, name)?;
        if std::str::from_utf8(text).is_err() {
            return Err(bytes.fail_at(start, format!("the string `{name}` is not UTF-8")));
        }
    }
    Ok(parameters)
}

fn read_session(
    bytes: &mut Bytes<'_>,
    session: u32,
    builder: &mut Builder,
) -> Result<(), ReadError> {
    for _ in 0..bytes.count_le(9, "the number of transactions")? {
        let txn = builder.txn(session, Status::Committed);
        for _ in 0..bytes.count_le(EVENT_BYTES, "the number of events")? {
            read_event(bytes, txn, builder)?;
        }
        if !read_bool(bytes, "the success of a transaction")? {
            builder.columns.txns[txn as usize].status = Status::Aborted;
        }
    }
    Ok(())
}

fn read_event(bytes: &mut Bytes<'_>, txn: u32, builder: &mut Builder) -> Result<(), ReadError> {
    let place = bytes.position() as u64;
    let kind = if read_bool(bytes, "the kind of an event")? { OpKind::Write } else { OpKind::Read };
    let key = bytes.u64_le("a variable")?;
    let value = bytes.u64_le("a value")?;
    if read_bool(bytes, "the success of an event")? {
        let key = builder.key(Atom::Int(key.into()));
        let value = builder.value(Atom::Int(value.into()));
        builder.op(txn, kind, key, value, place);
    }
    Ok(())
}

fn read_bool(bytes: &mut Bytes<'_>, what: &str) -> Result<bool, ReadError> {
    let start = bytes.position();
    match bytes.u8(what)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(bytes.fail_at(start, format!("expected 0 or 1 for {what}, found {other}"))),
    }
}

/// Writes a history.
pub(in crate::formats) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::DbcopBincode);
    writing.registers_only()?;
    writing.refuse_contested_reads(|_| false)?;
    writing.only_statuses(&[Status::Committed, Status::Aborted])?;
    let written_zero = writing.keys_written_zero();
    if !history.initial().values.is_empty()
        && history.initial().values.values().any(|value| value.raw() != 0)
    {
        let hint = "every key starts as 0 there";
        return Err(writing.unsupported("initial values other than 0", hint));
    }
    write_header(history, out)?;
    let number = |out: &mut dyn Write, number: u64| out.write_all(&number.to_le_bytes());
    number(out, history.session_count() as u64)?;
    for session in history.sessions() {
        number(out, history.txns_of(session).len() as u64)?;
        for txn in history.txns_of(session).map(TxnId) {
            number(out, history.ops_of(txn).len() as u64)?;
            for (op, content) in writing.ops(txn) {
                let is_write = content.kind.is_write();
                let value = match is_write {
                    true => writing.integer_value(op)?,
                    false if content.value.raw() == 0 && written_zero.contains(&content.key) => {
                        let hint = "every key starts as 0 there";
                        return Err(writing.unsupported_op(
                            op,
                            "a read of a 0 that a transaction wrote",
                            hint,
                        ));
                    }
                    false => writing.zero_based_read(op, &written_zero)?,
                };
                let value = u64::try_from(value)
                    .map_err(|_| writing.unsupported_op(op, &format!("the value {value}"), ""))?;
                out.write_all(&[u8::from(is_write)])?;
                number(out, writing.unsigned_key(op)?)?;
                number(out, value)?;
                out.write_all(&[1])?;
            }
            out.write_all(&[u8::from(history.status(txn) == Status::Committed)])?;
        }
    }
    Ok(())
}

/// The parameters are what a generator of such a history would have been given.
fn write_header(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let txns = history.sessions().map(|session| history.txns_of(session).len()).max().unwrap_or(0);
    let events = history.txns().map(|txn| history.ops_of(txn).len()).max().unwrap_or(0);
    for parameter in [0, history.session_count(), history.key_count(), txns, events] {
        out.write_all(&(parameter as u64).to_le_bytes())?;
    }
    for text in ["seriatim", "1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00"] {
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::OpId;

    /// The example of the format's description: 156 bytes.
    fn tiny() -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [3u64, 1, 2, 2, 2] {
            bytes.extend(number.to_le_bytes());
        }
        for text in ["PG", "a", "b"] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.bytes());
        }
        let event = |bytes: &mut Vec<u8>, write: u8, key: u64, value: u64| {
            bytes.push(write);
            bytes.extend(key.to_le_bytes());
            bytes.extend(value.to_le_bytes());
            bytes.push(1);
        };
        for number in [1u64, 2, 2] {
            bytes.extend(number.to_le_bytes());
        }
        event(&mut bytes, 0, 5, 0);
        event(&mut bytes, 1, 5, 7);
        bytes.push(1);
        bytes.extend(1u64.to_le_bytes());
        event(&mut bytes, 1, 6, 8);
        bytes.push(0);
        bytes
    }

    #[test]
    fn the_example_is_read() {
        let bytes = tiny();
        assert_eq!(bytes.len(), 156);
        assert!(looks_like(&bytes));
        let history = read(&bytes, &Source::new("h")).unwrap();
        assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (1, 2, 3));
        assert_eq!(history.status(TxnId(1)), Status::Aborted);
        assert_eq!(history.place(OpId(1)).unwrap().to_string(), "h@110");
        assert_eq!(history.txn_name(TxnId(0)), Atom::Int(1));
    }

    #[test]
    fn every_truncation_and_a_huge_length_are_errors() {
        let bytes = tiny();
        for len in 0..bytes.len() {
            assert!(read(&bytes[..len], &Source::new("h")).is_err(), "{len}");
        }
        let mut huge = bytes.clone();
        huge[0x44..0x4c].fill(0xff);
        let error = read(&huge, &Source::new("h")).unwrap_err().to_string();
        assert!(
            error.starts_with("h at byte 68: the number of sessions is 18446744073709551615"),
            "{error}"
        );
        let mut longer = bytes;
        longer.push(0);
        assert!(
            read(&longer, &Source::new("h")).unwrap_err().to_string().contains("1 bytes follow")
        );
    }
}
