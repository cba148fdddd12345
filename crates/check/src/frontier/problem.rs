//! A history in which every outcome is known, reduced to what the search needs: dense numbers of
//! keys and versions.
//!
//! A version is a key with a value (or with its initial value): transactions that write the same
//! value write the same version.

use super::ids::{Element, Key, ListNumber, Version};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, SessionId, Status, TxnId, Value, ValueKind};

/// A read of another transaction's value: the one or two versions that it may have seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ReadOf {
    pub key: Key,
    pub accepts: [Version; 2],
}

impl ReadOf {
    pub fn versions(self) -> impl Iterator<Item = Version> {
        self.accepts.into_iter().filter(|&version| version != Version::NONE)
    }

    /// The version, if no other will do.
    pub fn only(self) -> Option<Version> {
        (self.accepts[1] == Version::NONE).then_some(self.accepts[0])
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WriteOf {
    pub key: Key,
    pub version: Version,
}

#[derive(Debug)]
pub(super) struct Txn {
    pub id: TxnId,
    pub file_order: u32,
    pub times: (i64, i64),
    pub reads: Box<[ReadOf]>,
    pub writes: Box<[WriteOf]>,
    /// What it appends to keys whose lists were read, in its order.
    pub appends: Box<[Element]>,
}

/// The longest list that was read of a key: of all lists of the key each is a prefix of it.
#[derive(Debug)]
pub(super) struct List {
    pub key: Key,
    pub elements: Vec<Element>,
}

/// The transactions that count.
#[derive(Debug)]
pub(super) struct Problem {
    pub sessions: Vec<Vec<Txn>>,
    /// The key of each version; the initial versions come first, one for each key.
    pub version_key: Vec<Key>,
    pub key_count: usize,
    pub lists: Vec<List>,
    /// The list of each element.
    pub element_list: Vec<ListNumber>,
}

impl Problem {
    /// `None` if a read is wrong whatever the order.
    pub fn new(history: &History, counts: &[bool]) -> Option<Problem> {
        let mut builder = Builder::new(history, counts);
        builder.number_writes();
        builder.number_lists()?;
        let sessions = history.sessions().map(|session| {
            let txns = history.txns_of(session).map(TxnId).filter(|txn| counts[txn.index()]);
            txns.map(|txn| builder.txn(txn)).collect::<Option<Vec<Txn>>>()
        });
        let sessions = sessions.collect::<Option<Vec<_>>>()?;
        Some(builder.finish(sessions))
    }

    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// The sessions, which have the numbers of the history.
    pub fn session_ids(&self) -> impl Iterator<Item = SessionId> + use<> {
        (0..self.session_count() as u32).map(SessionId)
    }

    pub fn txns(&self) -> impl Iterator<Item = &Txn> {
        self.sessions.iter().flatten()
    }

    pub fn version_count(&self) -> usize {
        self.version_key.len()
    }
}

/// What a read of a list is compared with: its last element.
pub(super) fn last_element(history: &History, value: Value) -> Value {
    match value.kind() {
        ValueKind::List(number) => history.list(number).last().copied().unwrap_or(Value::NULL),
        _ => value,
    }
}

/// The value that each transaction leaves in each key that it writes.
pub(super) fn last_writes(history: &History, txn: TxnId) -> FxHashMap<KeyId, Value> {
    let ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
    ops.filter(|op| op.kind.is_write()).map(|op| (op.key, op.value)).collect()
}

/// The reads of a transaction that it did not write itself before, as what they are compared with;
/// `None` if it does not see its own writes.
pub(super) fn external_reads(history: &History, txn: TxnId) -> Option<Vec<(KeyId, Value)>> {
    if history.unrepeated_list(txn).is_some() {
        return None;
    }
    let mut own: FxHashMap<KeyId, Value> = FxHashMap::default();
    let mut reads = Vec::new();
    for op in history.ops_of(txn).map(|op| history.op(OpId(op))) {
        let value = last_element(history, op.value);
        match (op.kind, own.get(&op.key)) {
            (OpKind::Read, None) => reads.push((op.key, value)),
            (OpKind::Read, Some(&mine)) if mine != value => return None,
            (OpKind::Read, Some(_)) => {}
            _ => _ = own.insert(op.key, op.value),
        }
    }
    Some(reads)
}

/// Which reads may be of the initial value.
pub(super) struct Initials<'h> {
    history: &'h History,
    /// Initial values that a transaction writes, where such a write takes their place.
    replaced: FxHashSet<KeyId>,
}

impl<'h> Initials<'h> {
    pub fn of(history: &'h History) -> Initials<'h> {
        let initial = history.initial();
        let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
        let ops = live.flat_map(|txn| history.ops_of(txn)).map(|op| history.op(OpId(op)));
        let replacing = ops.filter(|op| {
            op.kind.is_write()
                && initial.yields(op.key)
                && initial.value_of(op.key) == Some(op.value)
        });
        Initials { history, replaced: replacing.map(|op| op.key).collect() }
    }

    pub fn allow(&self, key: KeyId, value: Value) -> bool {
        let is_initial = self.history.initial().value_of(key) == Some(value);
        value == Value::NULL || (is_initial && !self.replaced.contains(&key))
    }
}

struct Builder<'h> {
    history: &'h History,
    counts: &'h [bool],
    initials: Initials<'h>,
    keys: FxHashMap<KeyId, Key>,
    /// Each written version, and one of its writers; `None` if it has several.
    versions: FxHashMap<(KeyId, Value), (Version, Option<TxnId>)>,
    version_key: Vec<Key>,
    lists: Vec<List>,
    elements: FxHashMap<(KeyId, Value), Element>,
    element_list: Vec<ListNumber>,
}

impl<'h> Builder<'h> {
    fn new(history: &'h History, counts: &'h [bool]) -> Builder<'h> {
        let mut keys = FxHashMap::default();
        for &key in history.keys() {
            let next = Key(keys.len() as u32);
            keys.entry(key).or_insert(next);
        }
        let version_key = (0..keys.len() as u32).map(Key).collect();
        Builder {
            history,
            counts,
            initials: Initials::of(history),
            keys,
            versions: FxHashMap::default(),
            version_key,
            lists: Vec::new(),
            elements: FxHashMap::default(),
            element_list: Vec::new(),
        }
    }

    fn that_count(&self) -> impl Iterator<Item = TxnId> + use<'h> {
        let counts = self.counts;
        self.history.txns().filter(move |txn| counts[txn.index()])
    }

    fn number_writes(&mut self) {
        for txn in self.that_count() {
            for (key, value) in last_writes(self.history, txn) {
                let next = Version(self.version_key.len() as u32);
                let known = self.versions.entry((key, value)).or_insert((next, Some(txn)));
                if known.0 == next {
                    self.version_key.push(self.keys[&key]);
                } else {
                    known.1 = None;
                }
            }
        }
    }

    /// Finds the longest list of each key; `None` if another list is not a prefix of it.
    fn number_lists(&mut self) -> Option<()> {
        let history = self.history;
        let ops =
            self.that_count().flat_map(|txn| history.ops_of(txn)).map(|op| history.op(OpId(op)));
        let lists: Vec<(KeyId, &[Value])> = ops
            .filter_map(|op| match op.value.kind() {
                ValueKind::List(number) => Some((op.key, history.list(number))),
                _ => None,
            })
            .collect();
        let mut longest: FxHashMap<KeyId, &[Value]> = FxHashMap::default();
        for &(key, list) in &lists {
            let known = longest.entry(key).or_default();
            *known = if list.len() > known.len() { list } else { known };
        }
        if !lists.iter().all(|(key, list)| longest[key].starts_with(list)) {
            return None;
        }
        let mut list_of_key: FxHashMap<KeyId, ListNumber> = FxHashMap::default();
        for (key, list) in longest {
            let number = ListNumber(self.lists.len() as u32);
            list_of_key.insert(key, number);
            let elements = list.iter().map(|&element| self.element(key, element, number)).collect();
            self.lists.push(List { key: self.keys[&key], elements });
        }
        // What is appended to a key and is not in its list is an element too.
        for op in self.that_count().flat_map(|txn| history.ops_of(txn)) {
            let op = history.op(OpId(op));
            if let Some(&list) = list_of_key.get(&op.key).filter(|_| op.kind.is_write()) {
                self.element(op.key, op.value, list);
            }
        }
        Some(())
    }

    /// The number of an element of `list`.
    fn element(&mut self, key: KeyId, value: Value, list: ListNumber) -> Element {
        let next = Element(self.element_list.len() as u32);
        let number = *self.elements.entry((key, value)).or_insert(next);
        if number == next {
            self.element_list.push(list);
        }
        number
    }

    fn txn(&self, txn: TxnId) -> Option<Txn> {
        let mut reads = Vec::new();
        for (key, value) in external_reads(self.history, txn)? {
            let read = self.read(txn, key, value)?;
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        let write = |(key, value)| WriteOf {
            key: self.keys[&key],
            version: self.versions[&(key, value)].0,
        };
        let ops = self.history.ops_of(txn).map(|op| self.history.op(OpId(op)));
        let appends = ops
            .filter(|op| op.kind.is_write())
            .filter_map(|op| self.elements.get(&(op.key, op.value)));
        Some(Txn {
            id: txn,
            file_order: self.history.file_order()[txn.index()],
            times: self.history.times(txn).unwrap_or((i64::MIN, i64::MAX)),
            reads: reads.into(),
            writes: last_writes(self.history, txn).into_iter().map(write).collect(),
            appends: appends.copied().collect(),
        })
    }

    /// No transaction reads from itself at its begin point.
    fn read(&self, reader: TxnId, key: KeyId, value: Value) -> Option<ReadOf> {
        let number = self.keys[&key];
        let written =
            self.versions.get(&(key, value)).filter(|(_, writer)| *writer != Some(reader));
        let initial = self.initials.allow(key, value).then_some(number.initial());
        let accepts = match (written.map(|version| version.0), initial) {
            (Some(written), Some(initial)) => [written, initial],
            (one, other) => [one.or(other)?, Version::NONE],
        };
        Some(ReadOf { key: number, accepts })
    }

    fn finish(self, sessions: Vec<Vec<Txn>>) -> Problem {
        Problem {
            sessions,
            version_key: self.version_key,
            key_count: self.keys.len(),
            lists: self.lists,
            element_list: self.element_list,
        }
    }
}
