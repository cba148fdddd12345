//! The observed run as prediction sees it: transactions that count, their events, and who read from
//! whom.
//!
//! As in the paper (section 2.1) only two kinds of operations are events: reads that no write of
//! their own transaction to the key precedes, and the last write of a transaction to a key. Aborted
//! transactions are no part of a run; transactions of unknown outcome are if another one read from
//! them.
//!
//! A list is read from the transaction that appended its last element: the run is serializable, so
//! that the elements before it are there for every reader. Of several appends of a transaction to a
//! list the last one is the event.

use crate::error::PredictError;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, Op, OpId, OpKind, Status, TxnId, Value, ValueKind};

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Reads from a transaction of the run, or the initial state.
    Read(Option<u32>),
    Write,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub op: OpId,
    pub key: KeyId,
    pub act: Act,
    /// Whether what it reads or writes is nothing: no value, zero, false, an empty text.
    pub nothing: bool,
    /// Whether it is a read of the latest version, whatever the level allows.
    pub is_latest: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Txn {
    pub id: TxnId,
    pub session: u32,
    /// In program order.
    pub events: Vec<Event>,
}

/// A serializable run. Transactions are numbered session by session, in session order.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub txns: Vec<Txn>,
    pub session_count: usize,
    pub key_count: usize,
    /// The place of each transaction in a serial order of the run.
    pub place: Vec<u32>,
    /// For each key whether it holds nothing initially.
    pub nothing_before: Vec<bool>,
    /// For each key whether something is appended to it.
    pub is_list: Vec<bool>,
}

impl Run {
    /// The run of a history with this serial order of the transactions that count.
    pub fn new(history: &History, order: &[TxnId]) -> Result<Run, PredictError> {
        let sources = Sources::new(history);
        let mut places: Vec<(TxnId, u32)> =
            order.iter().enumerate().map(|(place, &txn)| (txn, place as u32)).collect();
        places.sort_unstable();
        let number: FxHashMap<TxnId, u32> =
            places.iter().enumerate().map(|(number, &(txn, _))| (txn, number as u32)).collect();
        let mut txns = Vec::with_capacity(order.len());
        for &(id, _) in &places {
            let events = sources.events(id, &number)?;
            txns.push(Txn { id, session: history.session_of(id).0, events });
        }
        let place = places.iter().map(|&(_, place)| place).collect();
        let initially = |key: KeyId| history.initial().value_of(key).unwrap_or(Value::NULL);
        let nothing_before = (0..history.key_count())
            .map(|key| is_nothing(history, initially(KeyId::from(key))))
            .collect();
        let (session_count, key_count) = (history.session_count(), history.key_count());
        let is_list = lists(history);
        Ok(Run { txns, session_count, key_count, place, nothing_before, is_list })
    }

    /// The transactions in their serial order.
    pub fn in_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.txns.len() as u32).collect();
        order.sort_unstable_by_key(|&txn| self.place[txn as usize]);
        order
    }

    /// The part of the run that consists of `txns` (ascending): what they read from others is the
    /// initial state of the part.
    pub fn part(&self, txns: &[u32]) -> Run {
        let number: FxHashMap<u32, u32> =
            txns.iter().enumerate().map(|(new, &old)| (old, new as u32)).collect();
        let inside = |act| match act {
            Act::Read(source) => Act::Read(source.and_then(|source| number.get(&source).copied())),
            Act::Write => Act::Write,
        };
        let part = |&txn: &u32| {
            let Txn { id, session, events } = &self.txns[txn as usize];
            let events =
                events.iter().map(|event| Event { act: inside(event.act), ..*event }).collect();
            Txn { id: *id, session: *session, events }
        };
        let mut by_place: Vec<u32> = (0..txns.len() as u32).collect();
        by_place.sort_unstable_by_key(|&new| self.place[txns[new as usize] as usize]);
        let mut place = vec![0; txns.len()];
        for (rank, new) in by_place.into_iter().enumerate() {
            place[new as usize] = rank as u32;
        }
        let first = txns.iter().map(|&txn| self.place[txn as usize]).min().unwrap_or(0);
        Run {
            txns: txns.iter().map(part).collect(),
            session_count: self.session_count,
            key_count: self.key_count,
            place,
            nothing_before: self.nothing_before(first),
            is_list: self.is_list.clone(),
        }
    }

    /// For each key whether it holds nothing just before `place`.
    fn nothing_before(&self, place: u32) -> Vec<bool> {
        let mut nothing = self.nothing_before.clone();
        for txn in self.in_order().into_iter().take_while(|&txn| self.place[txn as usize] < place) {
            for event in
                self.txns[txn as usize].events.iter().filter(|event| event.act == Act::Write)
            {
                nothing[event.key.index()] = event.nothing;
            }
        }
        nothing
    }
}

/// The visible writes of each value.
struct Sources<'h> {
    history: &'h History,
    writers: FxHashMap<(KeyId, Value), Vec<TxnId>>,
    is_latest: Vec<bool>,
}

impl<'h> Sources<'h> {
    fn new(history: &'h History) -> Sources<'h> {
        let mut writers: FxHashMap<(KeyId, Value), Vec<TxnId>> = FxHashMap::default();
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            for op in last_writes(history, txn).into_values() {
                let op = history.op(op);
                writers.entry((op.key, op.value)).or_default().push(txn);
            }
        }
        Sources { history, writers, is_latest: history.reads_of_the_latest() }
    }

    fn events(
        &self,
        txn: TxnId,
        number: &FxHashMap<TxnId, u32>,
    ) -> Result<Vec<Event>, PredictError> {
        let last = last_writes(self.history, txn);
        let mut written: FxHashSet<KeyId> = FxHashSet::default();
        let mut events = Vec::new();
        for id in self.history.ops_of(txn).map(OpId) {
            let op = self.history.op(id);
            if op.kind != OpKind::Read {
                written.insert(op.key);
                if last.get(&op.key) == Some(&id) {
                    // A list to which something was appended is not empty.
                    let nothing = op.kind == OpKind::Write && is_nothing(self.history, op.value);
                    let act = Act::Write;
                    events.push(Event { op: id, key: op.key, act, nothing, is_latest: false });
                }
            } else if !written.contains(&op.key) {
                let (act, nothing) =
                    (Act::Read(self.source(txn, id, number)?), is_nothing(self.history, op.value));
                let is_latest = self.is_latest[id.index()];
                events.push(Event { op: id, key: op.key, act, nothing, is_latest });
            }
        }
        Ok(events)
    }

    /// The transaction that wrote what `read` returned.
    fn source(
        &self,
        reader: TxnId,
        read: OpId,
        number: &FxHashMap<TxnId, u32>,
    ) -> Result<Option<u32>, PredictError> {
        let op = self.history.op(read);
        let initial = self.history.initial();
        let returned = last_version(self.history, op);
        let all = self.writers.get(&(op.key, returned)).map_or(&[][..], Vec::as_slice);
        let maybe_initial = returned == Value::NULL
            || (initial.value_of(op.key) == Some(op.value)
                && (all.is_empty() || !initial.yields(op.key)));
        let mut writers =
            all.iter().filter(|&&writer| writer != reader).filter_map(|writer| number.get(writer));
        match (writers.next(), writers.next(), maybe_initial) {
            (None, _, true) => Ok(None),
            (Some(&writer), None, false) => Ok(Some(writer)),
            _ => Err(PredictError::Ambiguous {
                key: self.history.key_name(op.key).to_string(),
                value: self.history.value_text(op.value),
                place: self.history.place(read).map(|place| place.to_string()).unwrap_or_default(),
            }),
        }
    }
}

/// What a read returned; of a list its last element.
fn last_version(history: &History, read: Op) -> Value {
    match read.value.kind() {
        ValueKind::List(number) => history.list(number).last().copied().unwrap_or(Value::NULL),
        _ => read.value,
    }
}

/// For each key whether something is appended to it.
fn lists(history: &History) -> Vec<bool> {
    let mut is_list = vec![false; history.key_count()];
    let ops = (0..history.op_count()).map(|op| history.op(OpId::from(op)));
    ops.filter(|op| op.kind == OpKind::Append).for_each(|op| is_list[op.key.index()] = true);
    is_list
}

/// Whether a value is one that programs ask for: nothing, zero, false, empty. Applications that
/// write a value twice to a key tell the writes apart by a number behind it.
fn is_nothing(history: &History, value: Value) -> bool {
    if value == Value::NULL {
        return true;
    }
    let text = history.value_text(value);
    let text = match text.trim_matches('"').rsplit_once('#') {
        Some((text, number)) if number.parse::<u32>().is_ok() => text.to_owned(),
        _ => text.trim_matches('"').to_owned(),
    };
    matches!(text.as_str(), "" | "nil" | "null" | "false")
        || text.parse::<f64>().is_ok_and(|number| number == 0.0)
}

/// The last write of `txn` to each key.
fn last_writes(history: &History, txn: TxnId) -> FxHashMap<KeyId, OpId> {
    let ops = history.ops_of(txn).map(OpId);
    ops.filter(|&op| history.op(op).kind.is_write()).map(|op| (history.op(op).key, op)).collect()
}

/// What a transaction that aborted read, and from which writers, as far as that is clear.
pub(crate) fn reads_of_aborted(history: &History, txn: TxnId) -> Vec<(KeyId, Option<TxnId>)> {
    let sources = Sources::new(history);
    let number: FxHashMap<TxnId, u32> = history.txns().map(|txn| (txn, txn.0)).collect();
    let mut reads = Vec::new();
    for event in sources.events(txn, &number).unwrap_or_default() {
        if let Act::Read(source) = event.act {
            reads.push((event.key, source.map(TxnId)));
        }
    }
    reads
}
