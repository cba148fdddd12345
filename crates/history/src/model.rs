//! The history itself: flat arrays, session by session, transaction by transaction, in program
//! order.
//!
//! ```text
//! session_txns  [0 .......... 3 ...... 5]      session s: session_txns[s]..session_txns[s+1]
//! txn_ops       [0 .. 2 .. 4 .. 7 .. 8 .. 9]   transaction t: txn_ops[t]..txn_ops[t+1]
//! op_kind/key/value [ . . . . . . . . . ]
//! ```
//!
//! Invariant: transactions are numbered in session order inside each session, operations in program
//! order inside each transaction, so comparing two `OpId`s of one session compares them in session
//! order. The initial transaction is not in the arrays; [`Initial`] says which values it wrote.

use crate::atom::{Atom, Atoms, Value, ValueKind};
use crate::ids::{KeyId, OpId, SessionId, TxnId};
use crate::place::{Place, PlaceUnit, Places};
use crate::repairs::Repairs;
use crate::scans::Scans;
use crate::statements::Statements;
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum OpKind {
    /// Returns the value of a register, or the list of an append-only key.
    Read = 0,
    /// Sets a register.
    Write = 1,
    /// Appends an element to the list of a key.
    Append = 2,
}

impl OpKind {
    /// Whether this is a write or an append.
    #[inline]
    pub fn is_write(self) -> bool {
        self != OpKind::Read
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Status {
    /// The database said that it committed.
    Committed,
    /// The database said that it did not.
    Aborted,
    /// Not known, because the answer was lost. Committed if another transaction read from it,
    /// otherwise as if it had not been.
    Unknown,
}

/// One operation, as a copy out of the arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Read, write or append.
    pub kind: OpKind,
    /// On which key.
    pub key: KeyId,
    /// What was read, written or appended.
    pub value: Value,
}

/// Which values the initial transaction wrote. A read of [`Value::NULL`] is always a read of the
/// initial value.
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// The initial value of every key that `values` does not mention, beside `NULL`.
    pub default: Option<Value>,
    /// If a transaction of the history writes `default` to a key, then that write, not the initial
    /// transaction, is where reads of this value come from (register text files).
    pub yields_to_writes: bool,
    /// Initial values of single keys, beside `NULL`.
    pub values: FxHashMap<KeyId, Value>,
}

impl Initial {
    /// The initial value of `key`, beside `NULL`, before `yields_to_writes` is considered.
    #[inline]
    pub fn value_of(&self, key: KeyId) -> Option<Value> {
        if self.values.is_empty() {
            return self.default;
        }
        self.values.get(&key).copied().or(self.default)
    }

    /// Whether a write of `value` to `key` by an ordinary transaction takes the place of the
    /// initial value.
    #[inline]
    pub fn yields(&self, key: KeyId) -> bool {
        self.yields_to_writes && !self.values.contains_key(&key)
    }
}

/// The names of keys.
#[derive(Clone, Debug)]
pub enum KeyNames {
    /// Key i is called i: files of small integers need no table. Some numbers may not occur.
    Numbers {
        /// One more than the largest number.
        count: u32,
    },
    /// Key i has this name.
    Table(Vec<Atom>),
}

impl KeyNames {
    /// How many keys there are (numbers that do not occur count).
    pub fn len(&self) -> usize {
        match self {
            KeyNames::Numbers { count } => *count as usize,
            KeyNames::Table(names) => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of `key`.
    pub fn get(&self, key: KeyId) -> Atom {
        match self {
            KeyNames::Numbers { .. } => Atom::Int(i128::from(key.0)),
            KeyNames::Table(names) => names[key.index()].clone(),
        }
    }
}

/// The names of transactions or sessions as the input gives them.
#[derive(Clone, Debug)]
pub enum Names {
    /// The input has none; they are called by their number, from `first`.
    Implicit {
        /// The name of number 0.
        first: u32,
    },
    /// Integers.
    Numbers(Vec<i64>),
    /// Anything.
    Table(Vec<Atom>),
}

impl Names {
    /// The name of number `index`.
    pub fn get(&self, index: usize) -> Atom {
        match self {
            Names::Implicit { first } => Atom::Int(i128::from(*first) + index as i128),
            Names::Numbers(numbers) => Atom::Int(i128::from(numbers[index])),
            Names::Table(names) => names[index].clone(),
        }
    }
}

/// What the times of a history count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Anything: the input does not say.
    #[default]
    Unknown,
}

/// A recorded history. Built by [`crate::Columns`]; never changed afterwards.
#[derive(Clone)]
pub struct History {
    pub(crate) session_txns: Vec<u32>,
    pub(crate) txn_ops: Vec<u32>,
    pub(crate) txn_status: Vec<Status>,
    /// Begin and end, where the input knows them.
    pub(crate) txn_times: Option<Vec<(i64, i64)>>,
    pub(crate) time_unit: TimeUnit,
    /// The place of each transaction in its session of the input, if sessions are left out.
    pub(crate) txn_places: Option<Vec<u32>>,
    /// The place of each transaction in the order of the input, which is often close to the commit
    /// order.
    pub(crate) txn_file_order: Vec<u32>,
    pub(crate) op_kind: Vec<OpKind>,
    pub(crate) op_key: Vec<KeyId>,
    pub(crate) op_value: Vec<Value>,
    pub(crate) op_places: Places,
    pub(crate) place_unit: PlaceUnit,
    /// One file for all sessions, or one for each.
    pub(crate) files: Vec<Arc<str>>,
    pub(crate) key_names: KeyNames,
    pub(crate) session_names: Names,
    pub(crate) txn_names: Names,
    pub(crate) atoms: Atoms,
    pub(crate) lists: Vec<Box<[Value]>>,
    pub(crate) initial: Initial,
    /// Lines or records that the reader did not understand and the format tells us to pass over.
    pub(crate) skipped: u64,
    pub(crate) unknown_content: u64,
    pub(crate) repairs: Repairs,
    /// Fields of the input that mean nothing to us, as JSON objects: off every hot path.
    pub(crate) extra: Option<Box<str>>,
    pub(crate) txn_extras: FxHashMap<TxnId, Box<str>>,
    /// Groups of keys, and scans of them.
    pub(crate) scans: Option<Arc<Scans>>,
    pub(crate) statements: Option<Arc<Statements>>,
}

/// Short: a history may have millions of operations.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sessions, txns) = (self.session_count(), self.txn_count());
        write!(
            f,
            "History({sessions} sessions, {txns} transactions, {} operations)",
            self.op_count()
        )
    }
}

impl History {
    /// How many sessions there are.
    pub fn session_count(&self) -> usize {
        self.session_txns.len() - 1
    }

    /// How many transactions there are, aborted and unknown ones included.
    pub fn txn_count(&self) -> usize {
        self.txn_status.len()
    }

    /// How many operations there are.
    pub fn op_count(&self) -> usize {
        self.op_kind.len()
    }

    /// How many keys there are. Numeric keys that do not occur count.
    pub fn key_count(&self) -> usize {
        self.key_names.len()
    }

    /// How many keys occur in operations. Looks at every operation.
    pub fn keys_that_occur(&self) -> usize {
        let mut seen = vec![false; self.key_count()];
        for key in &self.op_key {
            seen[key.index()] = true;
        }
        seen.into_iter().filter(|&seen| seen).count()
    }

    /// All sessions.
    pub fn sessions(&self) -> impl DoubleEndedIterator<Item = SessionId> + use<> {
        (0..self.session_count() as u32).map(SessionId)
    }

    /// All transactions, session by session.
    pub fn txns(&self) -> impl DoubleEndedIterator<Item = TxnId> + ExactSizeIterator + use<> {
        (0..self.txn_count() as u32).map(TxnId)
    }

    /// The transactions of a session, as numbers of [`TxnId`]s.
    #[inline]
    pub fn txns_of(&self, session: SessionId) -> Range<u32> {
        self.session_txns[session.index()]..self.session_txns[session.index() + 1]
    }

    /// The operations of a transaction, as numbers of [`OpId`]s.
    #[inline]
    pub fn ops_of(&self, txn: TxnId) -> Range<u32> {
        self.txn_ops[txn.index()]..self.txn_ops[txn.index() + 1]
    }

    /// Boundaries of the sessions in the transactions, one more than there are sessions.
    #[inline]
    pub fn session_bounds(&self) -> &[u32] {
        &self.session_txns
    }

    /// Boundaries of the transactions in the operations, one more than there are transactions.
    #[inline]
    pub fn txn_bounds(&self) -> &[u32] {
        &self.txn_ops
    }

    /// The session of a transaction, in time logarithmic in the number of sessions.
    pub fn session_of(&self, txn: TxnId) -> SessionId {
        SessionId(self.session_txns.partition_point(|&first| first <= txn.0) as u32 - 1)
    }

    /// The transaction of an operation, in time logarithmic in the number of transactions.
    pub fn txn_of(&self, op: OpId) -> TxnId {
        TxnId(self.txn_ops.partition_point(|&first| first <= op.0) as u32 - 1)
    }

    /// How the transaction ended.
    #[inline]
    pub fn status(&self, txn: TxnId) -> Status {
        self.txn_status[txn.index()]
    }

    /// Begin and end of the transaction, if the input knows them.
    pub fn times(&self, txn: TxnId) -> Option<(i64, i64)> {
        self.txn_times.as_ref().map(|times| times[txn.index()])
    }

    /// Whether the history carries begin and end times.
    pub fn has_times(&self) -> bool {
        self.txn_times.is_some()
    }

    /// What the times count.
    pub fn time_unit(&self) -> TimeUnit {
        self.time_unit
    }

    /// For each transaction its place in the order in which the input mentions them first.
    pub fn file_order(&self) -> &[u32] {
        &self.txn_file_order
    }

    /// An operation.
    #[inline]
    pub fn op(&self, op: OpId) -> Op {
        let i = op.index();
        Op { kind: self.op_kind[i], key: self.op_key[i], value: self.op_value[i] }
    }

    /// The kinds of all operations.
    #[inline]
    pub fn kinds(&self) -> &[OpKind] {
        &self.op_kind
    }

    /// The keys of all operations.
    #[inline]
    pub fn keys(&self) -> &[KeyId] {
        &self.op_key
    }

    /// The values of all operations.
    #[inline]
    pub fn values(&self) -> &[Value] {
        &self.op_value
    }

    /// Whether some read returned a list (list-append histories).
    pub fn has_lists(&self) -> bool {
        !self.lists.is_empty() || self.op_kind.contains(&OpKind::Append)
    }

    /// The elements of list `number` ([`ValueKind::List`]).
    pub fn list(&self, number: u32) -> &[Value] {
        &self.lists[number as usize]
    }

    /// What the initial transaction wrote.
    pub fn initial(&self) -> &Initial {
        &self.initial
    }

    /// How many lines or records of the input were passed over because they match nothing.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// How many transactions of clients are not in the history because the reader did not
    /// understand what they did ([`crate::formats::ReadOptions::skip_unknown`]).
    ///
    /// They may have read and written anything, so that no level can be said to hold. Values that
    /// only they can have written are not in the history either: reads that returned one are left
    /// out, and so are elements of lists before the last. They are taken to have written values of
    /// their own, so that what the rest violates the whole violates.
    pub fn unknown_content(&self) -> u64 {
        self.unknown_content
    }

    /// What the reader left out or changed so that the input is a history.
    pub fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Fields of the whole input that mean nothing to us, as a JSON object.
    pub fn extra(&self) -> Option<&str> {
        self.extra.as_deref()
    }

    /// This history with fields of the whole input that mean nothing to us: the text of a JSON
    /// object.
    #[must_use]
    pub fn with_extra(self, extra: &str) -> History {
        History { extra: Some(extra.into()), ..self }
    }

    /// The same history, whose times count this.
    #[must_use]
    pub fn with_time_unit(self, time_unit: TimeUnit) -> History {
        History { time_unit, ..self }
    }

    /// The same history, in which transactions are called otherwise.
    #[must_use]
    pub fn with_txn_names(self, name: impl Fn(TxnId) -> Atom) -> History {
        let names = self.txns().map(name).collect();
        History { txn_names: Names::Table(names), ..self }
    }

    /// Fields of a transaction that mean nothing to us, as a JSON object.
    pub fn txn_extra(&self, txn: TxnId) -> Option<&str> {
        self.txn_extras.get(&txn).map(|text| &**text)
    }

    /// The transactions in the order in which the input mentions them first.
    pub fn txns_in_file_order(&self) -> Vec<TxnId> {
        let mut order = vec![TxnId(0); self.txn_count()];
        for (txn, &place) in self.txn_file_order.iter().enumerate() {
            order[place as usize] = TxnId::from(txn);
        }
        order
    }

    /// The name of a key.
    pub fn key_name(&self, key: KeyId) -> Atom {
        self.key_names.get(key)
    }

    /// The name of a session in the input.
    pub fn session_name(&self, session: SessionId) -> Atom {
        self.session_names.get(session.index())
    }

    /// The name of a transaction in the input.
    pub fn txn_name(&self, txn: TxnId) -> Atom {
        self.txn_names.get(txn.index())
    }

    /// The names of the keys.
    pub fn key_names(&self) -> &KeyNames {
        &self.key_names
    }

    /// A value that is not a list, as an atom; `None` for `NULL` and lists.
    pub fn value_atom(&self, value: Value) -> Option<Atom> {
        match value.kind() {
            ValueKind::Int(number) => Some(Atom::Int(i128::from(number))),
            ValueKind::Atom(number) => Some(self.atoms.get(number).clone()),
            ValueKind::Null | ValueKind::List(_) => None,
        }
    }

    /// A value as a person writes it: `7`, `nil`, `[1 2]`.
    pub fn value_text(&self, value: Value) -> String {
        match value.kind() {
            ValueKind::Null => "nil".to_owned(),
            ValueKind::List(number) => {
                let items: Vec<String> =
                    self.list(number).iter().map(|&item| self.value_text(item)).collect();
                format!("[{}]", items.join(" "))
            }
            ValueKind::Int(number) => number.to_string(),
            ValueKind::Atom(number) => self.atoms.get(number).to_string(),
        }
    }

    /// Where an operation stands in the input, if it comes from one.
    pub fn place(&self, op: OpId) -> Option<Place> {
        let number = match &self.op_places {
            Places::None => return None,
            Places::Consecutive { first } => first + u64::from(op.0),
            Places::Each(numbers) => u64::from(numbers[op.index()]),
        };
        let file = match self.files.as_slice() {
            [] => return None,
            [file] => file,
            files => &files[self.session_of(self.txn_of(op)).index()],
        };
        Some(Place { file: file.clone(), unit: self.place_unit, number })
    }
}
