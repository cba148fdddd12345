//! A history as the search needs it: dense numbers for keys and versions.
//!
//! A version is a key with a value, or with its initial value: transactions that write the same
//! value write the same version.

use crate::reads::{elements, last_element};
use crate::writers::Writers;
use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value};

/// The number of a key.
pub(super) type Key = usize;
/// The number of a version.
pub(super) type Version = usize;

/// A read of another transaction's write: the key, and the one or two versions that it may have
/// seen.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ReadOf {
    pub key: Key,
    pub versions: Vec<Version>,
}

impl ReadOf {
    /// The version, if no other will do.
    pub fn only(&self) -> Option<Version> {
        if let [version] = self.versions[..] { Some(version) } else { None }
    }
}

/// A transaction that did not abort.
pub(super) struct Transaction {
    pub id: TxnId,
    /// Whether it may also be left out, because its outcome is not known.
    pub is_optional: bool,
    pub times: (i64, i64),
    pub reads: Vec<ReadOf>,
    /// What it leaves in the keys that it writes.
    pub writes: Vec<(Key, Version)>,
    /// All that it writes to keys of which lists were read, in its order.
    pub appends: Vec<(Key, Value)>,
}

/// The history.
pub(super) struct Tables {
    pub sessions: Vec<Vec<Transaction>>,
    /// Versions below this are the initial versions of the keys with the same numbers.
    pub key_count: usize,
    pub version_count: usize,
    /// For each key the longest list that a committed transaction read of it; all others that such
    /// transactions read are prefixes of it.
    pub lists: Vec<Vec<Value>>,
}

impl Tables {
    /// `None` if a read of a committed transaction is wrong whatever the order.
    pub fn of(history: &History) -> Option<Tables> {
        let builder = Builder::new(history);
        let lists = builder.longest_lists()?;
        let mut sessions = Vec::new();
        for session in history.sessions() {
            let mut txns = Vec::new();
            let of_session = history.txns_of(session).map(TxnId);
            for txn in of_session.filter(|&txn| history.status(txn) != Status::Aborted) {
                match builder.transaction(txn, &lists) {
                    Some(txn) => txns.push(txn),
                    None if history.status(txn) == Status::Committed => return None,
                    // A transaction that cannot have committed did not.
                    None => {}
                }
            }
            sessions.push(txns);
        }
        let (key_count, version_count) = (builder.keys.len(), builder.version_count);
        Some(Tables { sessions, key_count, version_count, lists })
    }
}

struct Builder<'h> {
    history: &'h History,
    writers: Writers<'h>,
    keys: FxHashMap<KeyId, Key>,
    versions: FxHashMap<(KeyId, Value), Version>,
    version_count: usize,
}

impl<'h> Builder<'h> {
    fn new(history: &'h History) -> Builder<'h> {
        let mut keys = FxHashMap::default();
        for &key in history.keys() {
            let next = keys.len();
            keys.entry(key).or_insert(next);
        }
        let writers = Writers::of(history);
        let first = keys.len();
        let versions: FxHashMap<_, _> =
            writers.left.keys().enumerate().map(|(at, &written)| (written, first + at)).collect();
        let version_count = first + versions.len();
        Builder { history, writers, keys, versions, version_count }
    }

    /// For each key the longest list; `None` if another list is not a prefix of it.
    fn longest_lists(&self) -> Option<Vec<Vec<Value>>> {
        let history = self.history;
        let committed = history.txns().filter(|&txn| history.status(txn) == Status::Committed);
        let ops = committed.flat_map(|txn| history.ops_of(txn)).map(|op| history.op(OpId(op)));
        let lists: Vec<(Key, &[Value])> =
            ops.filter_map(|op| Some((self.keys[&op.key], elements(history, op.value)?))).collect();
        let mut longest: Vec<&[Value]> = vec![&[]; self.keys.len()];
        for &(key, list) in &lists {
            if list.len() > longest[key].len() {
                longest[key] = list;
            }
        }
        let is_prefix = |&(key, list): &(Key, &[Value])| longest[key].starts_with(list);
        lists.iter().all(is_prefix).then(|| longest.into_iter().map(<[Value]>::to_vec).collect())
    }

    /// `None` if one of its reads is wrong whatever the order.
    fn transaction(&self, txn: TxnId, lists: &[Vec<Value>]) -> Option<Transaction> {
        let history = self.history;
        if history.unrepeated_list(txn).is_some() {
            return None;
        }
        let mut own: FxHashMap<KeyId, Value> = FxHashMap::default();
        let mut reads: Vec<ReadOf> = Vec::new();
        let mut appends = Vec::new();
        for op in history.ops_of(txn).map(|op| history.op(OpId(op))) {
            if op.kind != OpKind::Read {
                own.insert(op.key, op.value);
                let key = self.keys[&op.key];
                appends.extend((!lists[key].is_empty()).then_some((key, op.value)));
                continue;
            }
            let value = last_element(history, op.value);
            match own.get(&op.key) {
                Some(&mine) if mine != value => return None,
                Some(_) => {}
                None => {
                    let read = self.read(txn, op.key, value)?;
                    if !reads.contains(&read) {
                        reads.push(read);
                    }
                }
            }
        }
        let writes =
            own.iter().map(|(&key, &value)| (self.keys[&key], self.versions[&(key, value)]));
        Some(Transaction {
            id: txn,
            is_optional: history.status(txn) == Status::Unknown,
            times: history.times(txn).unwrap_or((i64::MIN, i64::MAX)),
            reads,
            writes: writes.collect(),
            appends,
        })
    }

    /// `None` if no other transaction can have written the value.
    fn read(&self, reader: TxnId, key: KeyId, value: Value) -> Option<ReadOf> {
        let writers = self.writers.left.get(&(key, value)).map_or(&[][..], Vec::as_slice);
        let written = writers.iter().any(|&writer| writer != reader);
        let number = self.keys[&key];
        let mut versions = Vec::new();
        versions.extend(written.then(|| self.versions[&(key, value)]));
        versions.extend(self.writers.may_be_initial(key, value).then_some(number));
        (!versions.is_empty()).then_some(ReadOf { key: number, versions })
    }
}
