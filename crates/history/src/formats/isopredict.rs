//! Traces in which a read names the transaction that it reads from, and nothing has a value.
//!
//! The transaction `Txn(1, 0)` of a trace is called `s1.t0`: a name that can stand in a sentence.
//! We give each write a value of its own: the name of its transaction (and a count, for all but the
//! last write of one key by one transaction, which is the one that others can read). The initial
//! transaction `0, 0` is left out, and reads from it are of the initial value. A read from a
//! transaction without such a write implies the write.

mod event;

use super::Format;
use super::build::Builder;
use super::refusals::Writing;
use super::text::{Line, Source, excerpt, key_atom, significant_lines};
use crate::atom::{Atom, Value};
use crate::error::{ReadError, WriteError};
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, Op, OpKind, Status};
use crate::place::PlaceUnit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;

pub(super) use event::matches;
use event::{Bad, TraceEvent, event};

/// `S, N`: session and index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Id(u64, u64);

const INITIAL: Id = Id(0, 0);

impl Id {
    /// The name of the transaction.
    fn name(self) -> String {
        format!("s{}.t{}", self.0, self.1)
    }

    /// The id of the transaction that has this name.
    fn of_name(name: &str) -> Option<Id> {
        let (session, index) = name.strip_prefix('s')?.split_once(".t")?;
        let id = Id(session.parse().ok()?, index.parse().ok()?);
        (id.name() == name).then_some(id)
    }
}

/// As in a trace.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.0, self.1)
    }
}

/// Reads a history. Lines of something else are counted; a line that begins like an event must be
/// one, or a file that is cut off would pass for a shorter history.
pub(super) fn read(bytes: &[u8], source: &Source) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    let mut foreign = None;
    for line in significant_lines(bytes) {
        match event(line.text).map_err(|bad| bad_event(source, &line, bad))? {
            None => {
                reader.builder.columns.skipped += 1;
                foreign.get_or_insert(line);
            }
            Some(event) => reader.event(event, &line),
        }
    }
    match foreign {
        Some(line) if !reader.has_events => Err(no_event(source, &line)),
        _ => reader.finish(source),
    }
}

fn bad_event(source: &Source, line: &Line<'_>, bad: Bad) -> ReadError {
    let hint = "is the file cut off or damaged? copy it again".to_owned();
    source.at_with_hint(line.number, line.column(bad.at), bad.problem, Some(hint))
}

/// Nothing in the whole file is an event.
fn no_event(source: &Source, line: &Line<'_>) -> ReadError {
    let problem =
        format!("expected an event like `WRITE KEY[x] Txn(1, 0)`, found {}", excerpt(line.text));
    let hint = "no line of the file is one; is it an IsoPredict trace?".to_owned();
    source.at_with_hint(line.number, line.column(0), problem, Some(hint))
}

/// An operation before its value is known.
struct Pending {
    txn: Id,
    key: KeyId,
    from: Option<Id>,
    line: u64,
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    /// The transactions that have events, in order of appearance.
    ids: Vec<Id>,
    seen: FxHashSet<Id>,
    pending: Vec<Pending>,
    /// Whether there was an event, be it one of the initial transaction.
    has_events: bool,
}

impl Reader {
    fn event(&mut self, event: TraceEvent, line: &Line<'_>) {
        self.has_events = true;
        let key = self.builder.key(event.key);
        if event.txn == INITIAL {
            return;
        }
        if self.seen.insert(event.txn) {
            self.ids.push(event.txn);
        }
        self.pending.push(Pending { txn: event.txn, key, from: event.from, line: line.number });
    }

    fn finish(mut self, source: &Source) -> Result<History, ReadError> {
        self.imply_writes();
        let txns = self.number_txns();
        let mut left: FxHashMap<(Id, KeyId), u32> = FxHashMap::default();
        for op in self.pending.iter().filter(|op| op.from.is_none()) {
            *left.entry((op.txn, op.key)).or_default() += 1;
        }
        let mut own: FxHashMap<(Id, KeyId), Value> = FxHashMap::default();
        for op in std::mem::take(&mut self.pending) {
            let (kind, value) = match op.from {
                None => {
                    let count = left.entry((op.txn, op.key)).or_default();
                    *count = count.saturating_sub(1);
                    let value = self.written(op.txn, *count);
                    own.insert((op.txn, op.key), value);
                    (OpKind::Write, value)
                }
                Some(INITIAL) => (OpKind::Read, Value::NULL),
                Some(from) if from == op.txn => {
                    let value = own.get(&(op.txn, op.key)).copied();
                    (OpKind::Read, value.unwrap_or_else(|| self.written(from, 0)))
                }
                Some(from) => (OpKind::Read, self.written(from, 0)),
            };
            self.builder.op(txns[&op.txn], kind, op.key, value, op.line);
        }
        self.builder.finish(source, PlaceUnit::Line)
    }

    /// The value of a write that `later` writes of the same key by the same transaction follow.
    fn written(&mut self, id: Id, later: u32) -> Value {
        let text = if later == 0 { id.name() } else { format!("{}~{later}", id.name()) };
        self.builder.value(Atom::Str(text.into()))
    }

    /// Adds the writes that only their readers mention: at the end of the writer, or, if the reader
    /// is the writer itself, just before the read.
    fn imply_writes(&mut self) {
        let writes = self.pending.iter().filter(|op| op.from.is_none()).map(|op| (op.txn, op.key));
        let mut known: FxHashSet<(Id, KeyId)> = writes.collect();
        let mut all = Vec::with_capacity(self.pending.len());
        let mut implied = Vec::new();
        for op in std::mem::take(&mut self.pending) {
            if let Some(writer) = op.from.filter(|&from| from != INITIAL) {
                let write = Pending { txn: writer, key: op.key, from: None, line: op.line };
                if known.insert((writer, op.key)) {
                    if writer == op.txn { all.push(write) } else { implied.push(write) }
                }
            }
            all.push(op);
        }
        all.append(&mut implied);
        self.pending = all;
    }

    /// Makes the transactions: those with events in order of appearance, and each that only its
    /// readers mention before the first of its session with a larger index.
    fn number_txns(&mut self) -> FxHashMap<Id, u32> {
        let mut implied: BTreeSet<Id> = self.pending.iter().map(|op| op.txn).collect();
        implied.retain(|id| !self.seen.contains(id));
        let mut txns = FxHashMap::default();
        for id in std::mem::take(&mut self.ids) {
            while let Some(&earlier) = implied.range(Id(id.0, 0)..id).next() {
                implied.remove(&earlier);
                txns.insert(earlier, self.txn(earlier));
            }
            txns.insert(id, self.txn(id));
        }
        for id in implied {
            txns.insert(id, self.txn(id));
        }
        txns
    }

    fn txn(&mut self, id: Id) -> u32 {
        let session = self.builder.session(Atom::Int(id.0.into()));
        self.builder.named_txn(session, Status::Committed, Atom::Str(id.name().into()))
    }
}

/// Writes a history.
pub(super) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::IsoPredict);
    writing.registers_only()?;
    writing.refuse_contested_reads(|_| false)?;
    writing.only_statuses(&[Status::Committed])?;
    let writer = Writer { ids: ids(history), sources: sources(&writing)?, writing };
    for txn in history.txns_in_file_order() {
        for op in writer.writing.ops(txn) {
            writer.op(txn, op, out)?;
        }
    }
    Ok(())
}

struct Writer<'h> {
    writing: Writing<'h>,
    ids: Vec<Id>,
    sources: Sources,
}

/// For each written value its transaction, and whether it is that one's last write of the key.
type Sources = FxHashMap<(KeyId, Value), (TxnId, bool)>;

/// Whether the names of a history are those of a trace.
pub(super) fn carries_names(history: &History) -> bool {
    named_ids(history).is_some()
}

/// The ids of the input if they are of this format, otherwise new ones.
fn ids(history: &History) -> Vec<Id> {
    let of = |session: crate::ids::SessionId| {
        (0..history.txns_of(session).len() as u64).map(move |n| (session, n))
    };
    let numbered = || {
        history
            .sessions()
            .flat_map(of)
            .map(|(session, index)| Id(u64::from(session.0) + 1, index))
            .collect()
    };
    named_ids(history).unwrap_or_else(numbered)
}

fn named_ids(history: &History) -> Option<Vec<Id>> {
    let mut seen = FxHashSet::default();
    let mut sessions: FxHashMap<u64, crate::ids::SessionId> = FxHashMap::default();
    let named = history.txns().map(|txn| {
        let Atom::Str(name) = history.txn_name(txn) else { return None };
        let id = Id::of_name(&name)?;
        let session = history.session_of(txn);
        let fits =
            id != INITIAL && seen.insert(id) && *sessions.entry(id.0).or_insert(session) == session;
        fits.then_some(id)
    });
    named.collect()
}

fn sources(writing: &Writing<'_>) -> Result<Sources, WriteError> {
    let mut sources = Sources::default();
    for txn in writing.history.txns() {
        let mut last: FxHashSet<KeyId> = FxHashSet::default();
        let ops: Vec<(OpId, Op)> = writing.ops(txn).filter(|(_, op)| op.kind.is_write()).collect();
        for (op, content) in ops.into_iter().rev() {
            let is_last = last.insert(content.key);
            if sources.insert((content.key, content.value), (txn, is_last)).is_some() {
                let hint = "a read could not name its writer";
                return Err(writing.unsupported_op(op, "a value that is written twice", hint));
            }
        }
    }
    Ok(sources)
}

impl Writer<'_> {
    fn op(
        &self,
        txn: TxnId,
        (op, content): (OpId, Op),
        out: &mut dyn Write,
    ) -> Result<(), WriteError> {
        let key = self.key(op, content.key)?;
        let id = self.ids[txn.index()];
        let Some(from) = self.from(txn, op, content)? else {
            match key {
                Key::Plain(key) => writeln!(out, "WRITE KEY[{key}] Txn({id})")?,
                Key::Element(element, set) => {
                    writeln!(out, "INSERT[{element}] to Set[{set}] Txn({id})")?
                }
            }
            return Ok(());
        };
        match key {
            Key::Plain(key) => writeln!(out, "READ KEY[{key}] Txn({id}) From({from})")?,
            Key::Element(element, set) => {
                writeln!(out, "CONTAINS[{element}] in Set[{set}] From({from}) Txn({id})")?
            }
        }
        Ok(())
    }

    /// The writer that a read names; `None` for a write.
    fn from(&self, txn: TxnId, op: OpId, content: Op) -> Result<Option<Id>, WriteError> {
        if content.kind != OpKind::Read {
            return Ok(None);
        }
        if self.writing.is_initial(content.key, content.value) {
            return Ok(Some(INITIAL));
        }
        let hint = "a read names its writer there";
        match self.sources.get(&(content.key, content.value)) {
            None => {
                Err(self.writing.unsupported_op(op, "a read of a value that nobody wrote", hint))
            }
            Some(&(writer, _)) if writer == txn && self.latest_own(txn, op, content) => {
                Ok(Some(self.ids[txn.index()]))
            }
            Some(&(writer, true)) if writer != txn => Ok(Some(self.ids[writer.index()])),
            Some(_) => Err(self.writing.unsupported_op(
                op,
                "a read of an intermediate or later write",
                hint,
            )),
        }
    }

    /// Whether a read returned what its own transaction had written last before it.
    fn latest_own(&self, txn: TxnId, op: OpId, content: Op) -> bool {
        let before = self.writing.ops(txn).take_while(|&(other, _)| other < op);
        let last =
            before.filter(|(_, other)| other.kind.is_write() && other.key == content.key).last();
        last.is_some_and(|(_, write)| write.value == content.value)
    }

    fn key(&self, op: OpId, key: KeyId) -> Result<Key, WriteError> {
        let name = self.writing.history.key_name(key);
        let text = name.to_string();
        let element =
            text.strip_prefix("Set(").and_then(|text| text.strip_suffix(')')?.split_once(':'));
        let plain = |text: &str| !text.contains([']', '\n', '\r']) && text.trim() == text;
        let as_read = matches!(name, Atom::Int(_)) || key_atom(&text) == name;
        match element {
            Some((set, element)) if plain(set) && plain(element) => {
                Ok(Key::Element(element.to_owned(), set.to_owned()))
            }
            None if plain(&text) && as_read => Ok(Key::Plain(text)),
            _ => Err(self.writing.unsupported_op(op, &format!("the key `{text}`"), "")),
        }
    }
}

enum Key {
    Plain(String),
    /// Element and set.
    Element(String, String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> History {
        read(text.as_bytes(), &Source::new("h")).unwrap()
    }

    #[test]
    fn reads_are_matched_with_their_writers() {
        let history = parse(
            "WRITE KEY[x] Txn(0, 0)\nREAD KEY[x] Txn(1, 0) From(0, 0)\nREAD KEY[7] Txn(1, 0) \
             From(2, 0)\nnonsense\n\
             WRITE KEY[7] Txn(2, 0)\nCONTAINS[k] in Set[s] From(2, 0) Txn(1, 1)\nREAD KEY[7] \
             Txn(2, 0) From(2, 0)",
        );
        assert_eq!((history.session_count(), history.txn_count(), history.op_count()), (2, 3, 6));
        assert_eq!(history.skipped(), 1);
        let values: Vec<String> =
            history.values().iter().map(|&value| history.value_text(value)).collect();
        assert_eq!(values, ["nil", "s2.t0", "s2.t0", "s2.t0", "s2.t0", "s2.t0"]);
        assert_eq!(history.key_name(history.op(OpId(2)).key), Atom::Str("Set(s:k)".into()));
        assert_eq!(history.op(OpId(5)).kind, OpKind::Write);
        assert_eq!(history.txn_name(TxnId(1)), Atom::Str("s1.t1".into()));
    }

    #[test]
    fn a_transaction_that_only_readers_mention_stands_at_its_index() {
        let history = parse(
            "WRITE KEY[x] Txn(1, 0)\nWRITE KEY[x] Txn(1, 4)\nREAD KEY[y] Txn(2, 0) From(1, 2)\n\
             READ KEY[z] Txn(2, 0) From(1, 1)\nREAD KEY[z] Txn(2, 1) From(1, 9)\nREAD KEY[z] \
             Txn(2, 1) From(3, 0)",
        );
        let names: Vec<String> =
            history.txns().map(|txn| history.txn_name(txn).to_string()).collect();
        assert_eq!(names, ["s1.t0", "s1.t1", "s1.t2", "s1.t4", "s1.t9", "s2.t0", "s2.t1", "s3.t0"]);
    }

    #[test]
    fn only_the_last_of_several_writes_can_be_read_by_others() {
        let history = parse(
            "WRITE KEY[x] Txn(1, 0)\nREAD KEY[x] Txn(1, 0) From(1, 0)\nWRITE KEY[x] Txn(1, \
             0)\nREAD KEY[x] Txn(2, 0) From(1, 0)",
        );
        let values: Vec<Value> = history.values().to_vec();
        assert_eq!(values[0], values[1]);
        assert_ne!(values[0], values[2]);
        assert_eq!(history.value_text(values[0]), "s1.t0~1");
        assert_eq!(values[2], values[3]);
    }

    #[test]
    fn names_lead_back_to_the_ids_of_the_trace() {
        let text = "WRITE KEY[x] Txn(7, 3)\nREAD KEY[x] Txn(9, 12) From(7, 3)\n";
        let mut out = Vec::new();
        write(&parse(text), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), text);
        for name in ["s1", "s1.t", "s01.t0", "1, 0", "s1.t0~1", "t0"] {
            assert_eq!(Id::of_name(name), None, "{name}");
        }
    }
}
