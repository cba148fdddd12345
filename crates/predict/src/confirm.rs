//! An independent checker of predictions: the level holds, serializability does not, and the
//! prediction differs from the observed run only as the boundary permits. It shares nothing with
//! the search but the checkers of histories, and looks at nothing but the two histories.

use crate::question::{Boundary, Options};
use seriatim_check::{Answer, Checker};
use seriatim_history::{
    Columns, History, KeyId, KeyNames, OpId, OpKind, SessionId, Status, TxnId, Value, ValueKind,
};
use seriatim_isolation::Level;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// Why a prediction is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// The predicted history does not satisfy the level.
    #[error("it does not satisfy {0}")]
    Level(Level),
    /// The predicted history is serializable.
    #[error("it is serializable")]
    Serializable,
    /// A session is not a prefix of what was observed.
    #[error("session {session} is not a prefix of the observed one: {problem}")]
    NoPrefix {
        /// The session.
        session: String,
        /// What is wrong.
        problem: String,
    },
    /// A read that must be as observed is not.
    #[error(
        "transaction {txn} reads {key} from another writer, which the boundary does not permit"
    )]
    Changed {
        /// The transaction that reads.
        txn: String,
        /// What it reads.
        key: String,
    },
    /// A transaction reads from one that may have written something else.
    #[error(
        "transaction {reader} reads from {writer}, some read of which has another writer than \
         observed"
    )]
    AfterBoundary {
        /// The transaction that reads.
        reader: String,
        /// The transaction on a relaxed boundary.
        writer: String,
    },
    /// The time was up before a level was decided.
    #[error("the time is up before it is checked")]
    OutOfTime,
    /// The checker of a level gave up, or a read has no writer.
    #[error("it cannot be checked: {0}")]
    Unchecked(String),
}

/// An event: what it does, on which key, and for a read the name of the writer.
#[derive(Clone, Debug)]
struct NamedEvent {
    is_read: bool,
    key: String,
    /// Session and name of the writer that a read reads from; `None` for the initial state and for
    /// writes.
    writer: Option<(u32, String)>,
    /// The elements of a list that was read.
    list: Vec<String>,
    /// Whether it is a read of the latest version, whatever the level allows.
    is_latest: bool,
}

impl NamedEvent {
    /// Whether it did the same and returned the same.
    fn is_as(&self, other: &NamedEvent) -> bool {
        (self.is_read, &self.key, &self.writer, &self.list)
            == (other.is_read, &other.key, &other.writer, &other.list)
    }
}

/// A transaction: its name and its events.
type Txn = (String, Vec<NamedEvent>);

/// Whether the transactions that a prediction cuts can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outlook {
    /// A transaction ends early only with a read that has another writer than observed, and the
    /// level also holds with what was observed to be written after these reads.
    GoesOn,
    /// A transaction is cut although it would go on: all its reads are as observed, or the level
    /// does not hold with what it was observed to write next. The application may not get there.
    CutShort,
}

/// Confirms a prediction.
pub fn confirm(
    observed: &History,
    predicted: &History,
    options: &Options,
) -> Result<Outlook, Doubt> {
    confirm_until(observed, predicted, options, None)
}

/// As [`confirm`], but not for longer than until `deadline`.
pub fn confirm_until(
    observed: &History,
    predicted: &History,
    options: &Options,
    deadline: Option<Instant>,
) -> Result<Outlook, Doubt> {
    let (before, after) = (sessions(observed)?, sessions(predicted)?);
    if before.len() != after.len() {
        return Err(Doubt::Unchecked("the numbers of sessions differ".to_owned()));
    }
    let mut diverged: HashSet<(u32, String)> = HashSet::new();
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        let name = observed.session_name(SessionId(number as u32)).to_string();
        if let Some(txn) = session(&name, before, after, options.boundary)? {
            diverged.insert((number as u32, txn));
        }
    }
    if options.boundary == Boundary::Relaxed {
        nobody_reads_from(&after, &diverged)?;
    }
    if !holds_at_level(predicted, options, deadline)? {
        return Err(Doubt::Level(options.level));
    }
    if holds(predicted, Level::Serializable, deadline)? {
        return Err(Doubt::Serializable);
    }
    let ends = before.iter().zip(&after).filter_map(|(before, after)| end(before, after));
    let cut: Vec<(&NamedEvent, &NamedEvent)> = ends.collect();
    // Where an append of a list that is cut would stand is not known.
    let goes_on = cut.is_empty()
        || (!observed.has_lists()
            && cut.iter().all(|(old, new)| !old.is_as(new))
            && holds_at_level(&going_on(&before, &after)?, options, deadline)?);
    Ok(if goes_on { Outlook::GoesOn } else { Outlook::CutShort })
}

/// The last event of a session that ends within a transaction, as observed and as predicted.
fn end<'e>(before: &'e [Txn], after: &'e [Txn]) -> Option<(&'e NamedEvent, &'e NamedEvent)> {
    let new = &after.last()?.1;
    let old = &before[after.len() - 1].1;
    (new.len() < old.len()).then(|| Some((&old[new.len() - 1], new.last()?)))?
}

/// Whether the level that was asked for holds, with what sessions see of themselves.
fn holds_at_level(
    history: &History,
    options: &Options,
    deadline: Option<Instant>,
) -> Result<bool, Doubt> {
    if !options.tells_sessions() {
        return holds(history, options.level, deadline);
    }
    let told = history.with_own_commits_read();
    holds(&told.map_err(|error| Doubt::Unchecked(error.to_string()))?, options.level, deadline)
}

fn holds(history: &History, level: Level, deadline: Option<Instant>) -> Result<bool, Doubt> {
    let report = Checker::new().levels([level]).threads(1).deadline(deadline).check(history);
    match report.verdict(level).map(|verdict| verdict.answer()) {
        Some(Answer::Holds) => Ok(true),
        Some(Answer::Violated) => Ok(false),
        _ if deadline.is_some_and(|deadline| Instant::now() >= deadline) => Err(Doubt::OutOfTime),
        _ => Err(Doubt::Unchecked("a level is undecided".to_owned())),
    }
}

/// The predicted history, with the writes that were observed after a boundary in its transaction,
/// and the reads that return the latest version, as far as that still exists: an UPDATE that the
/// database can only refuse does not go on.
fn going_on(before: &[Vec<Txn>], after: &[Vec<Txn>]) -> Result<History, Doubt> {
    let mut keys: HashMap<&str, KeyId> = HashMap::new();
    let mut numbers: HashMap<(u32, &str), u64> = HashMap::new();
    for (session, txns) in (0u32..).zip(after) {
        for (name, _) in txns {
            let next = numbers.len() as u64 + 1;
            numbers.insert((session, name), next);
        }
    }
    let value = |writer: Option<(u32, &str)>| {
        writer.and_then(|writer| Value::small(*numbers.get(&writer)?))
    };
    let mut columns = Columns { session_count: after.len() as u32, ..Columns::default() };
    for (session, (old, new)) in (0u32..).zip(before.iter().zip(after)) {
        for ((_, all), (name, kept)) in old.iter().zip(new) {
            let txn = columns.push_txn(session, Status::Committed);
            let goes_on = |event: &&NamedEvent| {
                let is_there = |(session, name): &(u32, String)| {
                    numbers.contains_key(&(*session, name.as_str()))
                };
                !event.is_read || (event.is_latest && event.writer.as_ref().is_none_or(is_there))
            };
            for event in kept.iter().chain(all[kept.len()..].iter().filter(goes_on)) {
                let next = KeyId::from(keys.len());
                let key = *keys.entry(&event.key).or_insert(next);
                let (kind, writer) = match event.is_read {
                    true => (
                        OpKind::Read,
                        event.writer.as_ref().map(|(session, name)| (*session, name.as_str())),
                    ),
                    false => (OpKind::Write, Some((session, name.as_str()))),
                };
                columns.push_op(txn, kind, key, value(writer).unwrap_or(Value::NULL));
            }
        }
    }
    columns.key_names = KeyNames::Numbers { count: keys.len() as u32 };
    columns.finish().map_err(|error| Doubt::Unchecked(error.to_string()))
}

/// Compares a session with the observed one; the transaction that has other reads, if there is one.
fn session(
    name: &str,
    before: &[Txn],
    after: &[Txn],
    boundary: Boundary,
) -> Result<Option<String>, Doubt> {
    let no_prefix = |problem: String| Doubt::NoPrefix { session: name.to_owned(), problem };
    if after.len() > before.len() {
        return Err(no_prefix("it is longer".to_owned()));
    }
    let mut diverged = None;
    for (number, ((expected, old), (found, new))) in before.iter().zip(after).enumerate() {
        if expected != found {
            return Err(no_prefix(format!("{found} stands where {expected} was")));
        }
        let is_last = number + 1 == after.len();
        if !prefix(old, new)
            || (new.len() < old.len() && !(is_last && boundary == Boundary::Strict))
        {
            return Err(no_prefix(format!("{found} has other events")));
        }
        let is_partial = new.len() < old.len();
        if is_partial && new.last().is_none_or(|last| !last.is_read) {
            return Err(no_prefix(format!("{found} ends early, but not with a read")));
        }
        for (place, (old, new)) in old.iter().zip(new.iter()).enumerate() {
            if old.is_as(new) {
                continue;
            }
            // A list of the same writer that is not what it was is neither.
            let has_other_writer = old.writer != new.writer;
            let may = match boundary {
                Boundary::Strict => is_last && place + 1 == after[number].1.len(),
                Boundary::Relaxed => is_last,
            };
            if !(may && has_other_writer) || old.is_latest {
                return Err(Doubt::Changed { txn: found.clone(), key: new.key.clone() });
            }
            diverged = Some(found.clone());
        }
    }
    Ok(diverged)
}

/// Whether `new` does the same things as the first events of `old`, whomever they read from.
fn prefix(old: &[NamedEvent], new: &[NamedEvent]) -> bool {
    let same =
        |(old, new): (&NamedEvent, &NamedEvent)| old.is_read == new.is_read && old.key == new.key;
    new.len() <= old.len() && old.iter().zip(new).all(same)
}

fn nobody_reads_from(
    sessions: &[Vec<Txn>],
    diverged: &HashSet<(u32, String)>,
) -> Result<(), Doubt> {
    for (reader, events) in sessions.iter().flatten() {
        for writer in events.iter().filter_map(|event| event.writer.as_ref()) {
            if diverged.contains(writer) {
                return Err(Doubt::AfterBoundary {
                    reader: reader.clone(),
                    writer: writer.1.clone(),
                });
            }
        }
    }
    Ok(())
}

/// The transactions of each session that count, as events. Those without any (empty ones) say
/// nothing and are left out.
fn sessions(history: &History) -> Result<Vec<Vec<Txn>>, Doubt> {
    let is_latest = history.reads_of_the_latest();
    let writers = Writers::of(history);
    let counts = counting(history, &writers)?;
    let mut sessions = Vec::new();
    for session in history.sessions() {
        let txns = history.txns_of(session).map(TxnId).filter(|txn| counts.contains(txn));
        let txns: Result<Vec<Txn>, Doubt> = txns
            .map(|txn| {
                Ok((
                    history.txn_name(txn).to_string(),
                    events(history, txn, (&writers, &is_latest))?,
                ))
            })
            .collect();
        sessions.push(txns?.into_iter().filter(|(_, events)| !events.is_empty()).collect());
    }
    Ok(sessions)
}

/// Committed transactions, and those of unknown outcome that one of them, directly or not, read
/// from.
fn counting(history: &History, writers: &Writers) -> Result<HashSet<TxnId>, Doubt> {
    let mut waiting: Vec<TxnId> =
        history.txns().filter(|&txn| history.status(txn) == Status::Committed).collect();
    let mut counts: HashSet<TxnId> = waiting.iter().copied().collect();
    while let Some(txn) = waiting.pop() {
        for op in external(history, txn) {
            if let Some(writer) = writers.of_read(history, txn, op)?
                && counts.insert(writer)
            {
                waiting.push(writer);
            }
        }
    }
    Ok(counts)
}

/// Reads before any own write of the key, and last writes, in order.
fn events(
    history: &History,
    txn: TxnId,
    (writers, is_latest): (&Writers, &[bool]),
) -> Result<Vec<NamedEvent>, Doubt> {
    let reads: HashSet<OpId> = external(history, txn).into_iter().collect();
    let mut events = Vec::new();
    for id in history.ops_of(txn).map(OpId) {
        let op = history.op(id);
        let key = history.key_name(op.key).to_string();
        if reads.contains(&id) {
            let writer = writers.of_read(history, txn, id)?;
            let named = |writer: TxnId| {
                (history.session_of(writer).0, history.txn_name(writer).to_string())
            };
            let list = elements(history, op.value).iter().map(|&item| history.value_text(item));
            let (writer, list) = (writer.map(named), list.collect());
            let is_latest = is_latest[id.index()];
            events.push(NamedEvent { is_read: true, key, writer, list, is_latest });
        } else if op.kind != OpKind::Read && last_write(history, txn, op.key) == Some(id) {
            let (writer, list) = (None, Vec::new());
            events.push(NamedEvent { is_read: false, key, writer, list, is_latest: false });
        }
    }
    Ok(events)
}

/// The elements of a list; none of anything else.
fn elements(history: &History, value: Value) -> &[Value] {
    match value.kind() {
        ValueKind::List(number) => history.list(number),
        _ => &[],
    }
}

fn external(history: &History, txn: TxnId) -> Vec<OpId> {
    let mut written = HashSet::new();
    let mut reads = Vec::new();
    for id in history.ops_of(txn).map(OpId) {
        let op = history.op(id);
        if op.kind != OpKind::Read {
            written.insert(op.key);
        } else if !written.contains(&op.key) {
            reads.push(id);
        }
    }
    reads
}

fn last_write(history: &History, txn: TxnId, key: KeyId) -> Option<OpId> {
    let mut ops = history.ops_of(txn).rev().map(OpId);
    ops.find(|&id| history.op(id).kind.is_write() && history.op(id).key == key)
}

/// Which transaction left which value in which key.
struct Writers(HashMap<(KeyId, Value), Vec<TxnId>>);

impl Writers {
    fn of(history: &History) -> Writers {
        let mut writers: HashMap<(KeyId, Value), Vec<TxnId>> = HashMap::new();
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            let mut last: HashMap<KeyId, Value> = HashMap::new();
            for op in
                history.ops_of(txn).map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write())
            {
                last.insert(op.key, op.value);
            }
            for (key, value) in last {
                writers.entry((key, value)).or_default().push(txn);
            }
        }
        Writers(writers)
    }

    /// The writer of what a read returned; `None` for the initial state.
    fn of_read(
        &self,
        history: &History,
        reader: TxnId,
        read: OpId,
    ) -> Result<Option<TxnId>, Doubt> {
        let op = history.op(read);
        let none = Vec::new();
        // A list is from the transaction that appended its last element.
        let returned = elements(history, op.value).last().copied().unwrap_or(op.value);
        let all = self.0.get(&(op.key, returned)).unwrap_or(&none);
        let mut others = all.iter().copied().filter(|&writer| writer != reader);
        let initial = history.initial();
        let is_initial = op.value == Value::NULL
            || (initial.value_of(op.key) == Some(op.value)
                && (all.is_empty() || !initial.yields(op.key)));
        match (others.next(), others.next(), is_initial) {
            (Some(writer), None, false) => Ok(Some(writer)),
            (None, _, true) => Ok(None),
            _ => Err(Doubt::Unchecked(format!(
                "{} reads a value of {} that has not exactly one writer",
                history.txn_name(reader),
                history.key_name(op.key)
            ))),
        }
    }
}
