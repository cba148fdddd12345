//! What the strong levels need to know of a history: versions, who reads them, who must have read
//! what.
//!
//! A *slot* is a version of a key, or the initial value of a key. Of the readers of a slot in one
//! session only the last one matters: whatever must come after it comes after the earlier ones too.
//! So a slot has at most as many readers here as there are sessions.

use crate::index::{INITIAL, Index, last_element};
use rustc_hash::FxHashMap;
use seriatim_history::{History, OpId, TxnId, Value};
use std::ops::Range;

/// Lists of numbers, one for each of `0..len`.
#[derive(Clone, Default)]
pub(crate) struct Lists {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of `count` owners from pairs (owner, item), which keep their order.
    pub fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut start = vec![0u32; count + 1];
        for (owner, _) in pairs.clone() {
            start[owner as usize + 1] += 1;
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut next = start.clone();
        let mut items = vec![0; start[count] as usize];
        for (owner, item) in pairs {
            items[next[owner as usize] as usize] = item;
            next[owner as usize] += 1;
        }
        Lists { start, items }
    }

    /// The items of `owner`.
    #[inline]
    pub fn of(&self, owner: u32) -> &[u32] {
        &self.items[self.start[owner as usize] as usize..self.start[owner as usize + 1] as usize]
    }
}

/// A read whose value several transactions wrote.
pub(crate) struct Ambiguous {
    pub reader: u32,
    pub key: u32,
    pub value: u64,
    candidates: Range<u32>,
}

pub(crate) struct Facts<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    /// For each version its key.
    pub version_key: Vec<u32>,
    /// For each slot its last reader in each session.
    pub readers: Lists,
    /// For each transaction the slots that it is such a reader of.
    pub reads: Lists,
    /// For each transaction its versions.
    pub written: Lists,
    pub ambiguous: Vec<Ambiguous>,
    /// For each transaction its ambiguous reads.
    pub ambiguous_of: Lists,
    /// For each version its value, if its key has ambiguous reads.
    version_value: Vec<u64>,
    /// The slots of each value that an ambiguous read returned: shared by its reads, so that there
    /// are not more than slots.
    candidates: Vec<u32>,
    /// Whether an ambiguous read may come from a transaction of unknown outcome that nobody else
    /// read from, or returned a list: then a choice of sources is not all there is to choose.
    pub doubtful: bool,
}

impl<'a> Facts<'a> {
    pub fn new(history: &'a History, index: &'a Index) -> Facts<'a> {
        let versions = index.versions.txn.len() as u32;
        let keys = index.versions.start.len() as u32 - 1;
        let mut version_key = vec![0; versions as usize];
        for key in 0..keys {
            let range = index.versions.start[key as usize]..index.versions.start[key as usize + 1];
            version_key[range.start as usize..range.end as usize].fill(key);
        }
        let readers = last_readers(index, versions, keys);
        let slots = versions + keys;
        let of_slots =
            (0..slots).flat_map(|slot| readers.of(slot).iter().map(move |&reader| (reader, slot)));
        let reads = Lists::new(history.txn_count(), of_slots);
        let written = Lists::new(history.txn_count(), index.versions.txn.iter().copied().zip(0..));
        let mut facts = Facts {
            history,
            index,
            version_key,
            readers,
            reads,
            written,
            ambiguous: Vec::new(),
            ambiguous_of: Lists::default(),
            version_value: Vec::new(),
            candidates: Vec::new(),
            doubtful: false,
        };
        facts.add_ambiguous();
        facts
    }

    /// The slot of the initial value of `key`.
    #[inline]
    pub fn initial_slot(&self, key: u32) -> u32 {
        self.version_key.len() as u32 + key
    }

    /// The transaction that wrote a slot; `None` for initial values.
    #[inline]
    pub fn writer(&self, slot: u32) -> Option<u32> {
        self.index.versions.txn.get(slot as usize).copied()
    }

    pub fn key_count(&self) -> u32 {
        self.index.versions.start.len() as u32 - 1
    }

    pub fn slot_count(&self) -> u32 {
        self.version_key.len() as u32 + self.key_count()
    }

    /// The versions of `key`.
    #[inline]
    pub fn versions(&self, key: u32) -> Range<u32> {
        self.index.versions.start[key as usize]..self.index.versions.start[key as usize + 1]
    }

    /// The slots that an ambiguous read may have read, ascending; the initial one is the last.
    #[inline]
    pub fn candidates<'f>(&'f self, read: &Ambiguous) -> impl Iterator<Item = u32> + use<'f> {
        let reader = read.reader;
        self.slots_of_value(read)
            .iter()
            .copied()
            .filter(move |&slot| self.writer(slot) != Some(reader))
    }

    /// The slots with the value of an ambiguous read, its own among them.
    #[inline]
    fn slots_of_value(&self, read: &Ambiguous) -> &[u32] {
        &self.candidates[read.candidates.start as usize..read.candidates.end as usize]
    }

    /// Whether reading `slot` gives what the ambiguous read returned.
    #[inline]
    pub fn fits(&self, read: &Ambiguous, slot: u32) -> bool {
        match self.version_value.get(slot as usize) {
            Some(&value) => value == read.value,
            None => self.slots_of_value(read).last() == Some(&slot),
        }
    }

    /// The value of a version, if its key has ambiguous reads.
    pub fn value_of_version(&self, version: u32) -> Option<u64> {
        self.version_value.get(version as usize).copied()
    }

    /// Calls `visit` for each key that both transactions write, with the version of the first.
    pub fn common_versions(&self, a: u32, b: u32, mut visit: impl FnMut(u32)) {
        let (mut mine, mut theirs) = (self.written.of(a), self.written.of(b));
        while let (Some(&x), Some(&y)) = (mine.first(), theirs.first()) {
            let (key_x, key_y) = (self.version_key[x as usize], self.version_key[y as usize]);
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
        let mut by_key: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &op in &self.index.ambiguous {
            by_key.entry(self.history.op(OpId(op)).key.0).or_default().push(op);
        }
        if by_key.is_empty() {
            self.ambiguous_of = Lists::new(self.history.txn_count(), std::iter::empty());
            return;
        }
        self.version_value = vec![0; self.version_key.len()];
        let mut keys: Vec<(u32, Vec<u32>)> = by_key.into_iter().collect();
        keys.sort_unstable();
        for (key, ops) in keys {
            self.add_ambiguous_of(key, &ops);
        }
        let of_txns = self.ambiguous.iter().zip(0..).map(|(read, number)| (read.reader, number));
        self.ambiguous_of = Lists::new(self.history.txn_count(), of_txns);
        self.doubtful = self.history.has_lists() || self.unread_unknown_writes();
    }

    fn add_ambiguous_of(&mut self, key: u32, ops: &[u32]) {
        let mut slots: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for version in self.versions(key) {
            let value = self.last_write(self.index.versions.txn[version as usize], key);
            self.version_value[version as usize] = value;
            slots.entry(value).or_default().push(version);
        }
        let mut last = None;
        let mut shared: FxHashMap<u64, Range<u32>> = FxHashMap::default();
        for &op in ops {
            let (reader, value) = (self.history.txn_of(OpId(op)).0, self.value_of(op));
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
        key: u32,
        value: u64,
        slots: &FxHashMap<u64, Vec<u32>>,
    ) -> Range<u32> {
        let first = self.candidates.len() as u32;
        self.candidates.extend(slots.get(&value).map_or(&[][..], Vec::as_slice));
        if self.may_be_initial(key, value) {
            self.candidates.push(self.initial_slot(key));
        }
        first..self.candidates.len() as u32
    }

    fn value_of(&self, op: u32) -> u64 {
        last_element(self.history, self.history.op(OpId(op)).value.raw())
    }

    fn last_write(&self, txn: u32, key: u32) -> u64 {
        let ops = self.history.ops_of(TxnId(txn)).rev().map(|op| self.history.op(OpId(op)));
        ops.filter(|op| op.kind.is_write() && op.key.0 == key)
            .map(|op| op.value.raw())
            .next()
            .unwrap_or_default()
    }

    /// A value that was written is read from the initial transaction only if the initial value does
    /// not yield to it.
    fn may_be_initial(&self, key: u32, value: u64) -> bool {
        let (initial, key) = (self.history.initial(), seriatim_history::KeyId(key));
        value == Value::NULL.raw()
            || (initial.value_of(key).map(Value::raw) == Some(value) && !initial.yields(key))
    }

    fn unread_unknown_writes(&self) -> bool {
        let reads: FxHashMap<(u32, u64), ()> =
            self.ambiguous.iter().map(|read| ((read.key, read.value), ())).collect();
        let unknown = self.history.txns().filter(|txn| {
            self.history.status(*txn) == seriatim_history::Status::Unknown
                && !self.index.counts[txn.index()]
        });
        unknown.flat_map(|txn| self.history.ops_of(txn)).any(|op| {
            let op = self.history.op(OpId(op));
            op.kind.is_write() && reads.contains_key(&(op.key.0, op.value.raw()))
        })
    }
}

/// For each slot its last reader in each session. The reads of a key come session by session.
fn last_readers(index: &Index, versions: u32, keys: u32) -> Lists {
    let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(index.reads.txn.len());
    for key in 0..keys {
        let reads =
            index.reads.start[key as usize] as usize..index.reads.start[key as usize + 1] as usize;
        let first = pairs.len();
        for read in reads {
            let source = index.reads.source[read];
            let slot = if source == INITIAL { versions + key } else { source };
            pairs.push((slot, index.reads.txn[read]));
        }
        pairs[first..].sort_unstable();
    }
    let session = |txn: u32| index.txn_session[txn as usize];
    let is_last = |pair: usize| {
        let (slot, reader) = pairs[pair];
        pairs.get(pair + 1).is_none_or(|next| next.0 != slot || session(next.1) != session(reader))
    };
    let last = (0..pairs.len()).filter(|&pair| is_last(pair)).map(|pair| pairs[pair]);
    Lists::new((versions + keys) as usize, last)
}
