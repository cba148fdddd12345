//! What the strong levels need to know of a history: versions, their readers, which transactions
//! must have read what.
//!
//! A *slot* is a version of a key, or the initial value of a key. Of the readers of a slot in one
//! session only the last one matters: whatever must come after it comes after the earlier ones too.
//! So a slot has at most as many readers here as there are sessions.

use super::ids::{AmbiguousId, Dense, SlotId};
use crate::index::{Index, last_element};
use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, OpId, SessionId, TxnId, Value};
use std::marker::PhantomData;
use std::ops::Range;

/// Lists of `T`, one for each `O`.
#[derive(Clone)]
pub(crate) struct Lists<O, T> {
    start: Vec<u32>,
    items: Vec<T>,
    owner: PhantomData<O>,
}

impl<O: Dense, T: Copy> Lists<O, T> {
    /// The lists of `count` owners from pairs (owner, item), which keep their order.
    pub fn new(count: usize, pairs: impl Iterator<Item = (O, T)> + Clone) -> Self {
        let mut start = vec![0u32; count + 1];
        for (owner, _) in pairs.clone() {
            start[owner.index() + 1] += 1;
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut next = start.clone();
        let some = pairs.clone().next().map(|(_, item)| item);
        // Filled with any item first: each place is written once below.
        let mut items = some.map_or_else(Vec::new, |item| vec![item; start[count] as usize]);
        for (owner, item) in pairs {
            items[next[owner.index()] as usize] = item;
            next[owner.index()] += 1;
        }
        Lists { start, items, owner: PhantomData }
    }

    /// The items of `owner`.
    #[inline]
    pub fn of(&self, owner: O) -> &[T] {
        let owner = owner.index();
        &self.items[self.start[owner] as usize..self.start[owner + 1] as usize]
    }
}

/// A read whose value several transactions wrote.
pub(crate) struct Ambiguous {
    pub reader: TxnId,
    pub key: KeyId,
    pub value: u64,
    candidates: Range<u32>,
}

pub(crate) struct Facts<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    /// For each version its key.
    version_key: Vec<KeyId>,
    /// For each slot its last reader in each session.
    pub readers: Lists<SlotId, TxnId>,
    /// For each transaction the slots that it is such a reader of.
    pub reads: Lists<TxnId, SlotId>,
    /// For each transaction its versions.
    pub written: Lists<TxnId, SlotId>,
    pub ambiguous: Vec<Ambiguous>,
    /// For each transaction its ambiguous reads.
    pub ambiguous_of: Lists<TxnId, AmbiguousId>,
    /// For each version its value, if its key has ambiguous reads.
    version_value: Vec<u64>,
    /// The slots of each value that an ambiguous read returned: shared by its reads, so that there
    /// are not more than slots.
    candidates: Vec<SlotId>,
    /// Whether an ambiguous read may come from a transaction of unknown outcome that no other
    /// read from, or returned a list: then a choice of sources is not all there is to choose.
    pub doubtful: bool,
}

impl<'a> Facts<'a> {
    pub fn new(history: &'a History, index: &'a Index) -> Facts<'a> {
        let versions = index.versions.txn.len() as u32;
        let keys = index.versions.start.len() as u32 - 1;
        let mut version_key = vec![KeyId(0); versions as usize];
        for key in (0..keys).map(KeyId) {
            version_key[index.versions.range(key)].fill(key);
        }
        let readers = last_readers(index, versions, keys);
        let slots = versions + keys;
        let of_slots = (0..slots)
            .map(SlotId)
            .flat_map(|slot| readers.of(slot).iter().map(move |&reader| (reader, slot)));
        let reads = Lists::new(history.txn_count(), of_slots);
        let written = Lists::new(
            history.txn_count(),
            index.versions.txn.iter().copied().zip((0..).map(SlotId)),
        );
        let mut facts = Facts {
            history,
            index,
            version_key,
            readers,
            reads,
            written,
            ambiguous: Vec::new(),
            ambiguous_of: Lists::new(history.txn_count(), std::iter::empty()),
            version_value: Vec::new(),
            candidates: Vec::new(),
            doubtful: false,
        };
        facts.add_ambiguous();
        facts
    }

    /// An ambiguous read.
    #[inline]
    pub fn read(&self, read: AmbiguousId) -> &Ambiguous {
        &self.ambiguous[read.index()]
    }

    /// The slot of the initial value of `key`.
    #[inline]
    pub fn initial_slot(&self, key: KeyId) -> SlotId {
        SlotId(self.version_key.len() as u32 + key.0)
    }

    /// The transaction that wrote a slot; `None` for initial values.
    #[inline]
    pub fn writer(&self, slot: SlotId) -> Option<TxnId> {
        self.index.versions.txn.get(slot.index()).copied()
    }

    pub fn version_count(&self) -> usize {
        self.version_key.len()
    }

    pub fn key_count(&self) -> u32 {
        self.index.versions.start.len() as u32 - 1
    }

    pub fn keys(&self) -> impl Iterator<Item = KeyId> + use<> {
        (0..self.key_count()).map(KeyId)
    }

    /// All slots.
    pub fn slots(&self) -> impl Iterator<Item = SlotId> {
        (0..self.slot_count()).map(SlotId)
    }

    pub fn slot_count(&self) -> u32 {
        self.version_key.len() as u32 + self.key_count()
    }

    /// The places of the versions of `key` among all versions.
    #[inline]
    pub fn version_range(&self, key: KeyId) -> Range<usize> {
        self.index.versions.range(key)
    }

    /// The versions of `key`.
    #[inline]
    pub fn versions(&self, key: KeyId) -> impl Iterator<Item = SlotId> + use<> {
        let Range { start, end } = self.version_range(key);
        (start as u32..end as u32).map(SlotId)
    }

    /// The transaction that wrote a version.
    #[inline]
    pub fn version_writer(&self, version: SlotId) -> TxnId {
        self.index.versions.txn[version.index()]
    }

    /// The session of a transaction.
    #[inline]
    pub fn session(&self, txn: TxnId) -> SessionId {
        self.index.session_of(txn)
    }

    /// The key of a version.
    #[inline]
    pub fn key_of(&self, version: SlotId) -> KeyId {
        self.version_key[version.index()]
    }

    /// The slots that an ambiguous read may have read, ascending; the initial one is the last.
    #[inline]
    pub fn candidates<'f>(&'f self, read: &Ambiguous) -> impl Iterator<Item = SlotId> + use<'f> {
        let reader = read.reader;
        self.slots_of_value(read)
            .iter()
            .copied()
            .filter(move |&slot| self.writer(slot) != Some(reader))
    }

    /// The slots with the value of an ambiguous read, its own among them.
    #[inline]
    fn slots_of_value(&self, read: &Ambiguous) -> &[SlotId] {
        &self.candidates[read.candidates.start as usize..read.candidates.end as usize]
    }

    /// Whether reading `slot` gives what the ambiguous read returned.
    #[inline]
    pub fn fits(&self, read: &Ambiguous, slot: SlotId) -> bool {
        match self.version_value.get(slot.index()) {
            Some(&value) => value == read.value,
            None => self.slots_of_value(read).last() == Some(&slot),
        }
    }

    /// The value of a version, if its key has ambiguous reads.
    pub fn value_of_version(&self, version: SlotId) -> Option<u64> {
        self.version_value.get(version.index()).copied()
    }

    /// Calls `visit` for each key that both transactions write, with the version of the first.
    pub fn common_versions(&self, a: TxnId, b: TxnId, mut visit: impl FnMut(SlotId)) {
        let (mut mine, mut theirs) = (self.written.of(a), self.written.of(b));
        while let (Some(&x), Some(&y)) = (mine.first(), theirs.first()) {
            let (key_x, key_y) = (self.key_of(x), self.key_of(y));
            if key_x == key_y {
                visit(x);
            }
            if key_x <= key_y {
                mine = &mine[1..];
            }
            if key_y <= key_x {
                theirs = &theirs[1..];
            }
        }
    }

    fn add_ambiguous(&mut self) {
        let mut by_key: FxHashMap<KeyId, Vec<OpId>> = FxHashMap::default();
        for &op in &self.index.ambiguous {
            by_key.entry(self.history.op(op).key).or_default().push(op);
        }
        if by_key.is_empty() {
            return;
        }
        self.version_value = vec![0; self.version_key.len()];
        let mut keys: Vec<(KeyId, Vec<OpId>)> = by_key.into_iter().collect();
        keys.sort_unstable();
        for (key, ops) in keys {
            self.add_ambiguous_of(key, &ops);
        }
        let of_txns =
            self.ambiguous.iter().zip(0..).map(|(read, number)| (read.reader, AmbiguousId(number)));
        self.ambiguous_of = Lists::new(self.history.txn_count(), of_txns);
        self.doubtful = self.history.has_lists() || self.unread_unknown_writes();
    }

    fn add_ambiguous_of(&mut self, key: KeyId, ops: &[OpId]) {
        let mut slots: FxHashMap<u64, Vec<SlotId>> = FxHashMap::default();
        for version in self.versions(key) {
            let value = self.last_write(self.version_writer(version), key);
            self.version_value[version.index()] = value;
            slots.entry(value).or_default().push(version);
        }
        let mut last = None;
        let mut shared: FxHashMap<u64, Range<u32>> = FxHashMap::default();
        for &op in ops {
            let (reader, value) = (self.history.txn_of(op), self.value_of(op));
            if last.replace((reader, value)) == Some((reader, value)) {
                continue;
            }
            let candidates = shared
                .get(&value)
                .cloned()
                .unwrap_or_else(|| self.add_candidates(key, value, &slots));
            shared.insert(value, candidates.clone());
            self.ambiguous.push(Ambiguous { reader, key, value, candidates });
        }
    }

    fn add_candidates(
        &mut self,
        key: KeyId,
        value: u64,
        slots: &FxHashMap<u64, Vec<SlotId>>,
    ) -> Range<u32> {
        let first = self.candidates.len() as u32;
        self.candidates.extend(slots.get(&value).map_or(&[][..], Vec::as_slice));
        if self.may_be_initial(key, value) {
            self.candidates.push(self.initial_slot(key));
        }
        first..self.candidates.len() as u32
    }

    fn value_of(&self, op: OpId) -> u64 {
        last_element(self.history, self.history.op(op).value.raw())
    }

    fn last_write(&self, txn: TxnId, key: KeyId) -> u64 {
        let ops = self.history.ops_of(txn).rev().map(|op| self.history.op(OpId(op)));
        ops.filter(|op| op.kind.is_write() && op.key == key)
            .map(|op| op.value.raw())
            .next()
            .unwrap_or_default()
    }

    /// A value that was written is read from the initial transaction only if the initial value does
    /// not yield to it.
    fn may_be_initial(&self, key: KeyId, value: u64) -> bool {
        let initial = self.history.initial();
        value == Value::NULL.raw()
            || (initial.value_of(key).map(Value::raw) == Some(value) && !initial.yields(key))
    }

    fn unread_unknown_writes(&self) -> bool {
        let reads: FxHashMap<(KeyId, u64), ()> =
            self.ambiguous.iter().map(|read| ((read.key, read.value), ())).collect();
        let unknown = self.history.txns().filter(|txn| {
            self.history.status(*txn) == seriatim_history::Status::Unknown
                && !self.index.counts[txn.index()]
        });
        unknown.flat_map(|txn| self.history.ops_of(txn)).any(|op| {
            let op = self.history.op(OpId(op));
            op.kind.is_write() && reads.contains_key(&(op.key, op.value.raw()))
        })
    }
}

/// For each slot its last reader in each session. The reads of a key come session by session.
fn last_readers(index: &Index, versions: u32, keys: u32) -> Lists<SlotId, TxnId> {
    let mut pairs: Vec<(SlotId, TxnId)> = Vec::with_capacity(index.reads.txn.len());
    for key in (0..keys).map(KeyId) {
        let first = pairs.len();
        for read in index.reads.range(key) {
            let version = index.reads.source[read].version();
            let slot = version.map_or(SlotId(versions + key.0), |version| SlotId(version.0));
            pairs.push((slot, index.reads.txn[read]));
        }
        pairs[first..].sort_unstable();
    }
    let session = |txn: TxnId| index.session_of(txn);
    let is_last = |pair: usize| {
        let (slot, reader) = pairs[pair];
        pairs.get(pair + 1).is_none_or(|next| next.0 != slot || session(next.1) != session(reader))
    };
    let last = (0..pairs.len()).filter(|&pair| is_last(pair)).map(|pair| pairs[pair]);
    Lists::new((versions + keys) as usize, last)
}
