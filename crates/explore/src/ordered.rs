//! Ordered histories (Section 4 of the paper): what transactions did, who read from whom, and a
//! total order `<` that agrees with program order, session order and reads.
//!
//! At most one transaction is pending at a time and it is the last one, so the order is one of
//! whole transactions. Records of transactions never change once they are complete: histories share
//! them, and taking a step back is forgetting the last record. For each place in the order there is
//! a snapshot of what the commit order must respect.

use crate::closure::Closure;
use crate::txn_set::{INITIAL, Id, TXNS_MAX, TxnSet};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A read from another transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub key: u32,
    pub source: Id,
    /// The causal past of its transaction just before it.
    pub past: TxnSet,
    /// Which operation of its transaction it is.
    pub op: u32,
}

/// Something that a transaction did.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op<V> {
    /// The read of this number.
    Read(u32),
    /// A read of its own last write to the key.
    OwnRead(u32),
    Write(u32, V),
}

/// A complete transaction.
#[derive(Debug)]
pub(crate) struct Record<V, L> {
    pub id: Id,
    pub session: u32,
    /// Its place in the session.
    pub index: u32,
    pub is_committed: bool,
    /// Whether its session ends with it.
    pub is_last: bool,
    pub ops: Vec<Op<V>>,
    pub reads: Vec<Read>,
    /// The keys that it wrote, each once; none if it aborted.
    pub written: Vec<u32>,
    pub past: TxnSet,
    /// What its reads ask of the commit order.
    pub edges: Vec<(Id, Id)>,
    /// The local state of its session after it.
    pub local: L,
    /// What it said when it panicked, if it did.
    pub panic: Option<Rc<str>>,
}

impl<V, L> Record<V, L> {
    /// What it leaves in `key`.
    pub fn value(&self, key: u32) -> Option<&V> {
        own_value(&self.ops, key)
    }
}

/// The last value that `ops` write to `key`.
pub(crate) fn own_value<V>(ops: &[Op<V>], key: u32) -> Option<&V> {
    ops.iter().rev().find_map(|op| match op {
        Op::Write(written, value) if *written == key => Some(value),
        _ => None,
    })
}

/// The end of an ordered history that was taken away.
#[derive(Debug)]
pub(crate) struct Tail<V, L> {
    records: Vec<Rc<Record<V, L>>>,
    before: Vec<Closure>,
    after: Closure,
}

/// A history with its order.
#[derive(Debug)]
pub(crate) struct Ordered<V, L> {
    order: Vec<Rc<Record<V, L>>>,
    /// For each place what the commit order must respect before it.
    before: Vec<Closure>,
    /// The same after the last place.
    after: Closure,
    /// By transaction: its place, if it is in the history.
    place: Vec<u8>,
    /// By transaction: session and place in it. Transactions keep their numbers when they leave the
    /// history.
    names: Vec<(u32, u32)>,
    /// By transaction: its causal past.
    past: Vec<TxnSet>,
    /// By session: the numbers of its transactions.
    ids: Vec<Vec<Id>>,
    /// By session: how many of its transactions are in the history.
    done: Vec<u32>,
    /// By key: the committed transactions that wrote it.
    writers: Vec<TxnSet>,
    keys: FxHashMap<Box<str>, u32>,
    key_names: Vec<Box<str>>,
    initial: Vec<V>,
}

/// Not in the history.
const ABSENT: u8 = u8::MAX;

impl<V: Clone + Default, L> Ordered<V, L> {
    pub fn new(sessions: usize, initial: &[(String, V)]) -> Self {
        let mut ordered = Ordered {
            order: Vec::new(),
            before: Vec::new(),
            after: Closure::default(),
            place: Vec::new(),
            names: Vec::new(),
            past: Vec::new(),
            ids: vec![Vec::new(); sessions],
            done: vec![0; sessions],
            writers: Vec::new(),
            keys: FxHashMap::default(),
            key_names: Vec::new(),
            initial: Vec::new(),
        };
        for (key, value) in initial {
            let key = ordered.key(key);
            ordered.initial[key as usize] = value.clone();
        }
        ordered
    }

    /// The number of a key.
    pub fn key(&mut self, name: &str) -> u32 {
        if let Some(&key) = self.keys.get(name) {
            return key;
        }
        let key = self.key_names.len() as u32;
        self.keys.insert(name.into(), key);
        self.key_names.push(name.into());
        self.initial.push(V::default());
        self.writers.push(TxnSet::NONE);
        key
    }

    /// The number of a key that has been used.
    pub fn find_key(&self, name: &str) -> Option<u32> {
        self.keys.get(name).copied()
    }

    pub fn key_name(&self, key: u32) -> &str {
        &self.key_names[key as usize]
    }

    pub fn key_names(&self) -> &[Box<str>] {
        &self.key_names
    }

    pub fn initial(&self, key: u32) -> &V {
        &self.initial[key as usize]
    }

    /// The number of a transaction; `None` if there are too many.
    pub fn id(&mut self, session: u32, index: u32) -> Option<Id> {
        if let Some(&id) = self.ids[session as usize].get(index as usize) {
            return Some(id);
        }
        debug_assert_eq!(
            self.ids[session as usize].len(),
            index as usize,
            "sessions are run in order"
        );
        let id = self.names.len();
        if id == TXNS_MAX {
            return None;
        }
        self.ids[session as usize].push(id as Id);
        self.names.push((session, index));
        self.place.push(ABSENT);
        self.past.push(TxnSet::NONE);
        Some(id as Id)
    }

    /// Session and place in it: the oracle order of Section 5.1, session by session.
    #[inline]
    pub fn name(&self, id: Id) -> (u32, u32) {
        self.names[usize::from(id)]
    }

    /// The transaction before this one in its session.
    #[inline]
    pub fn previous(&self, id: Id) -> Option<Id> {
        let (session, index) = self.name(id);
        index.checked_sub(1).map(|index| self.ids[session as usize][index as usize])
    }

    /// All transactions before this one in its session.
    #[inline]
    pub fn session_past(&self, id: Id) -> TxnSet {
        let (session, index) = self.name(id);
        self.ids[session as usize][..index as usize]
            .iter()
            .fold(TxnSet::NONE, |past, &id| past.with(id))
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn sessions(&self) -> usize {
        self.done.len()
    }

    /// How many transactions of a session are in the history.
    pub fn done(&self, session: u32) -> u32 {
        self.done[session as usize]
    }

    /// The transactions in their order.
    pub fn order(&self) -> &[Rc<Record<V, L>>] {
        &self.order
    }

    /// The place of a transaction that is in the history.
    #[inline]
    pub fn place(&self, id: Id) -> usize {
        usize::from(self.place[usize::from(id)])
    }

    pub fn record(&self, id: Id) -> &Rc<Record<V, L>> {
        &self.order[self.place(id)]
    }

    /// The transaction of a session that is at this place in it.
    pub fn of_session(&self, session: u32, index: u32) -> &Rc<Record<V, L>> {
        self.record(self.ids[session as usize][index as usize])
    }

    /// The last transaction of a session, if it has one.
    pub fn last_of(&self, session: u32) -> Option<&Rc<Record<V, L>>> {
        self.done(session).checked_sub(1).map(|index| self.of_session(session, index))
    }

    #[inline]
    pub fn writers(&self, key: u32) -> TxnSet {
        self.writers[key as usize]
    }

    #[inline]
    pub fn past(&self, id: Id) -> TxnSet {
        self.past[usize::from(id)]
    }

    /// The value that a read of `key` from `source` returns.
    pub fn value(&self, source: Id, key: u32) -> V {
        let written = (source != INITIAL).then(|| self.record(source).value(key)).flatten();
        written.unwrap_or(&self.initial[key as usize]).clone()
    }

    /// What the commit order must respect before `place`.
    pub fn before(&self, place: usize) -> &Closure {
        self.before.get(place).unwrap_or(&self.after)
    }

    /// Appends a transaction; `after` is what the commit order must respect with it.
    pub fn push(&mut self, record: Rc<Record<V, L>>, after: Closure) {
        self.before.push(std::mem::replace(&mut self.after, after));
        self.enter(&record, self.order.len());
        self.order.push(record);
    }

    /// Appends a transaction that was in a history before, with the same past.
    pub fn push_again(&mut self, record: Rc<Record<V, L>>) {
        let mut after = self.after.clone();
        let consistent = self.replay(&mut after, &record);
        debug_assert!(consistent, "prefixes of consistent histories are consistent");
        self.push(record, after);
    }

    /// Adds to a closure what a complete transaction asks for.
    pub fn replay(&self, closure: &mut Closure, record: &Record<V, L>) -> bool {
        closure.begin(record.id, self.previous(record.id));
        record.reads.iter().for_each(|read| closure.read_from(record.id, read.source));
        closure.add_all(&record.edges)
    }

    fn enter(&mut self, record: &Record<V, L>, place: usize) {
        self.place[usize::from(record.id)] = place as u8;
        self.past[usize::from(record.id)] = record.past;
        self.done[record.session as usize] += 1;
        for &key in &record.written {
            self.writers[key as usize] = self.writers[key as usize].with(record.id);
        }
    }

    fn leave(&mut self, record: &Record<V, L>) {
        self.place[usize::from(record.id)] = ABSENT;
        self.done[record.session as usize] -= 1;
        for &key in &record.written {
            self.writers[key as usize] = self.writers[key as usize].without(record.id);
        }
    }

    /// Forgets everything from `place` on.
    pub fn truncate(&mut self, place: usize) {
        while self.order.len() > place
            && let (Some(record), Some(before)) = (self.order.pop(), self.before.pop())
        {
            self.leave(&record);
            self.after = before;
        }
    }

    /// Takes everything from `place` on away.
    pub fn split_off(&mut self, place: usize) -> Tail<V, L> {
        let records = self.order.split_off(place);
        records.iter().for_each(|record| self.leave(record));
        let before = self.before.split_off(place);
        let at = before.first().cloned().unwrap_or_default();
        Tail { records, before, after: std::mem::replace(&mut self.after, at) }
    }

    /// Puts back what was taken away from this place.
    pub fn rejoin(&mut self, tail: Tail<V, L>) {
        for (offset, record) in tail.records.iter().enumerate() {
            self.enter(record, self.order.len() + offset);
        }
        self.order.extend(tail.records);
        self.before.extend(tail.before);
        self.after = tail.after;
    }
}

impl<V, L> Tail<V, L> {
    pub fn records(&self) -> &[Rc<Record<V, L>>] {
        &self.records
    }
}
