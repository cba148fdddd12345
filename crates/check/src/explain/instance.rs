//! The part of a history that a refutation looks at: some operations, matched by themselves.
//!
//! An instance means the same as [`History::restricted_to`] of these operations, with two
//! differences: transactions of unknown outcome keep it, so that one that need not have been
//! read from constrains nothing; and reads that are wrong by themselves (thin air, aborted,
//! intermediate, own write ignored) are passed over, since weaker checks report them first.
//!
//! Of a list only its last element and the order of the elements that were appended once count, and
//! what the longest list of a key lacks: an element that was appended several times says nothing
//! about its place, so a contradiction that needs it is not found.

use super::ids::{ListedId, LocalRead, LocalTxn};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};

/// Where a read may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    Initial,
    Txn(LocalTxn),
}

/// An external read.
#[derive(Clone, Debug)]
pub(super) struct InstanceRead {
    pub op: OpId,
    pub txn: LocalTxn,
    pub key: KeyId,
    /// The transactions that may have written what it returned: one, or several if the value is a
    /// duplicate.
    pub candidates: Vec<Source>,
}

/// A list that shows `earlier` before `later`, appended by different transactions: as neighbours,
/// or as its last element and one that it lacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub from: LocalTxn,
    pub to: LocalTxn,
    pub earlier: OpId,
    pub later: OpId,
    pub read: OpId,
    pub reader: LocalTxn,
    /// Whether the list lacks `later`. Then it says nothing about whether `to` counts.
    pub is_missing: bool,
}

/// A transaction with the operations that were kept of it.
#[derive(Clone, Debug)]
pub(super) struct InstanceTxn {
    pub id: TxnId,
    /// Whether it counts only if another transaction read from it.
    pub optional: bool,
    pub ops: Vec<OpId>,
    /// Its last write to each key, in the order of keys.
    pub writes: Vec<(KeyId, OpId)>,
    /// Its external reads.
    pub reads: Vec<LocalRead>,
    /// The reads that may come from it.
    pub readers: Vec<LocalRead>,
    /// What its lists show, and which lists lack what it appended.
    pub listed: Vec<ListedId>,
}

impl InstanceTxn {
    pub fn write(&self, key: KeyId) -> Option<OpId> {
        self.writes.binary_search_by_key(&key, |write| write.0).ok().map(|at| self.writes[at].1)
    }
}

/// Some operations of a history.
pub(super) struct Instance<'h> {
    pub history: &'h History,
    /// Transactions that did not abort, in the order of the history.
    pub txns: Vec<InstanceTxn>,
    pub reads: Vec<InstanceRead>,
    pub listed: Vec<Listed>,
    keys: FxHashMap<KeyId, Uses>,
}

/// The transactions that have to do with a key.
#[derive(Default)]
struct Uses {
    /// The transactions that write it.
    writers: Vec<LocalTxn>,
    /// The reads of it that may be of its initial value.
    initial_reads: Vec<LocalRead>,
}

impl<'h> Instance<'h> {
    /// The instance of `ops`, which are sorted.
    pub fn new(history: &'h History, ops: &[OpId]) -> Instance<'h> {
        debug_assert!(ops.is_sorted());
        let txns = txns(history, ops);
        let (reads, listed, keys) = (Vec::new(), Vec::new(), FxHashMap::default());
        let mut instance = Instance { history, txns, reads, listed, keys };
        let appends = Appends::new(&instance);
        let internal = internal_reads(history, ops);
        let mut visible: FxHashMap<(KeyId, Value), Vec<Source>> = FxHashMap::default();
        for (number, txn) in (0..).map(LocalTxn).zip(&instance.txns) {
            for &(key, op) in &txn.writes {
                instance.keys.entry(key).or_default().writers.push(number);
                visible.entry((key, history.op(op).value)).or_default().push(Source::Txn(number));
            }
        }
        for number in (0..instance.txns.len()).map(LocalTxn) {
            for op in instance.txns[number.0].ops.clone() {
                instance.add_lists(number, op, &appends);
                if !internal.contains(&op) {
                    instance.add_read(number, op, &appends, &visible);
                }
            }
        }
        instance.add_missing(&appends);
        instance
    }

    /// What the longest list of each key lacks comes after its last element. That an append of the
    /// reader itself does goes without saying.
    fn add_missing(&mut self, appends: &Appends) {
        if !self.history.has_lists() {
            return;
        }
        let mut ends: FxHashMap<KeyId, (Listed, FxHashSet<Value>)> = FxHashMap::default();
        for (key, (reader, read, list)) in self.longest_lists(appends) {
            let last = list.iter().rev().find_map(|item| only(&appends.0[&(key, *item)]));
            if let Some((from, earlier)) = last {
                let (to, later, is_missing) = (from, earlier, true);
                let end = Listed { from, to, earlier, later, read, reader, is_missing };
                ends.insert(key, (end, list.into_iter().collect()));
            }
        }
        let mut missing: Vec<Listed> = Vec::new();
        for ((key, item), of_item) in &appends.0 {
            let end = ends.get(key).filter(|(_, list)| !list.contains(item));
            let Some((end, _)) = end else { continue };
            let others = of_item.iter().filter(|&&(to, _)| to != end.from && to != end.reader);
            missing.extend(others.map(|&(to, later)| Listed { to, later, ..*end }));
        }
        missing.sort_unstable_by_key(|listed| listed.later);
        for listed in missing {
            let number = ListedId(self.listed.len());
            self.txns[listed.reader.0].listed.push(number);
            self.txns[listed.to.0].listed.push(number);
            self.listed.push(listed);
        }
    }

    /// The longest list of each key that a transaction that counts in any case read, with reader
    /// and read.
    fn longest_lists(&self, appends: &Appends) -> FxHashMap<KeyId, LongestList> {
        let mut longest: FxHashMap<KeyId, LongestList> = FxHashMap::default();
        for (number, txn) in self.numbered_txns().filter(|(_, txn)| !txn.optional) {
            for &op in &txn.ops {
                let Some(kept) = self.kept_elements(op, appends) else { continue };
                let key = self.history.op(op).key;
                if longest.get(&key).is_none_or(|known| kept.len() > known.2.len()) {
                    longest.insert(key, (number, op, kept));
                }
            }
        }
        longest
    }

    /// The elements of the list that `op` read, if it did, of which an append is there.
    fn kept_elements(&self, op: OpId, appends: &Appends) -> Option<Vec<Value>> {
        let operation = self.history.op(op);
        let elements =
            elements(self.history, operation.value).filter(|_| operation.kind == OpKind::Read)?;
        Some(
            elements
                .iter()
                .copied()
                .filter(|item| appends.0.contains_key(&(operation.key, *item)))
                .collect(),
        )
    }

    fn add_lists(&mut self, txn: LocalTxn, op: OpId, appends: &Appends) {
        if let Some(kept) = self.kept_elements(op, appends) {
            self.add_listed(txn, op, self.history.op(op).key, &kept, appends);
        }
    }

    fn add_read(
        &mut self,
        txn: LocalTxn,
        op: OpId,
        appends: &Appends,
        visible: &FxHashMap<(KeyId, Value), Vec<Source>>,
    ) {
        let operation = self.history.op(op);
        if operation.kind != OpKind::Read {
            return;
        }
        let (key, last) =
            (operation.key, |kept: Vec<Value>| kept.last().copied().unwrap_or(Value::NULL));
        let value = self.kept_elements(op, appends).map_or(operation.value, last);
        let written = visible.get(&(key, value)).map_or(&[][..], Vec::as_slice);
        let mut candidates: Vec<Source> =
            written.iter().copied().filter(|&source| source != Source::Txn(txn)).collect();
        if may_be_initial(self.history, key, value, !written.is_empty()) {
            candidates.push(Source::Initial);
        }
        if candidates.is_empty() {
            return;
        }
        let number = LocalRead(self.reads.len());
        self.txns[txn.0].reads.push(number);
        for &source in &candidates {
            match source {
                Source::Txn(writer) => self.txns[writer.0].readers.push(number),
                Source::Initial => self.keys.entry(key).or_default().initial_reads.push(number),
            }
        }
        self.reads.push(InstanceRead { op, txn, key, candidates });
    }

    /// Orders of consecutive elements; elements with several writers are passed over.
    fn add_listed(
        &mut self,
        reader: LocalTxn,
        read: OpId,
        key: KeyId,
        list: &[Value],
        appends: &Appends,
    ) {
        let mut previous: Option<(LocalTxn, OpId)> = None;
        for item in list {
            let Some((txn, op)) = only(&appends.0[&(key, *item)]) else { continue };
            if let Some((from, earlier)) = previous
                && from != txn
            {
                self.txns[reader.0].listed.push(ListedId(self.listed.len()));
                let (to, later, is_missing) = (txn, op, false);
                self.listed.push(Listed { from, to, earlier, later, read, reader, is_missing });
            }
            previous = Some((txn, op));
        }
    }

    /// The transactions with their numbers.
    fn numbered_txns(&self) -> impl Iterator<Item = (LocalTxn, &InstanceTxn)> {
        (0..).map(LocalTxn).zip(&self.txns)
    }

    /// A transaction.
    pub fn txn(&self, txn: LocalTxn) -> &InstanceTxn {
        &self.txns[txn.0]
    }

    /// An external read.
    pub fn read(&self, read: LocalRead) -> &InstanceRead {
        &self.reads[read.0]
    }

    /// What a list shows.
    pub fn listed(&self, listed: ListedId) -> &Listed {
        &self.listed[listed.0]
    }

    /// The transactions that write `key`, in their order.
    pub fn writers(&self, key: KeyId) -> &[LocalTxn] {
        self.keys.get(&key).map_or(&[], |uses| &uses.writers)
    }

    /// The writers of each key.
    pub fn writers_by_key(&self) -> impl Iterator<Item = (KeyId, &[LocalTxn])> {
        self.keys.iter().map(|(&key, uses)| (key, uses.writers.as_slice()))
    }

    /// The reads that may be of initial values that `txn` overwrites.
    pub fn initial_reads(&self, txn: LocalTxn) -> Vec<LocalRead> {
        let uses = self.txns[txn.0].writes.iter().filter_map(|(key, _)| self.keys.get(key));
        let mut reads: Vec<LocalRead> =
            uses.flat_map(|uses| &uses.initial_reads).copied().collect();
        reads.sort_unstable();
        reads
    }

    /// Whether `b` is the next transaction after `a` in its session.
    pub fn are_neighbours(&self, a: LocalTxn, b: LocalTxn) -> bool {
        let session =
            |txn: LocalTxn| self.txns.get(txn.0).map(|txn| self.history.session_of(txn.id));
        a.0 + 1 == b.0 && session(a).is_some() && session(a) == session(b)
    }

    /// The transactions with times by their end, and how many ends are before the begin of each.
    pub fn moments(&self) -> Vec<(LocalTxn, usize)> {
        let timed = self
            .numbered_txns()
            .filter_map(|(number, txn)| Some((self.history.times(txn.id)?, number)));
        let mut ends: Vec<(i64, LocalTxn, i64)> =
            timed.map(|((begin, end), number)| (end, number, begin)).collect();
        ends.sort_unstable();
        let before = |begin: i64| ends.partition_point(|other| other.0 < begin);
        ends.iter().map(|&(_, number, begin)| (number, before(begin))).collect()
    }
}

/// A reader, its read, and the elements of the list that it read.
type LongestList = (LocalTxn, OpId, Vec<Value>);

/// The append of an element that was appended once.
fn only(appends: &[(LocalTxn, OpId)]) -> Option<(LocalTxn, OpId)> {
    if let [append] = appends { Some(*append) } else { None }
}

/// The appends of each element, by transactions that did not abort.
struct Appends(FxHashMap<(KeyId, Value), Vec<(LocalTxn, OpId)>>);

impl Appends {
    fn new(instance: &Instance<'_>) -> Appends {
        let mut appends: FxHashMap<(KeyId, Value), Vec<(LocalTxn, OpId)>> = FxHashMap::default();
        for (number, txn) in instance.numbered_txns() {
            for &op in &txn.ops {
                let operation = instance.history.op(op);
                if operation.kind == OpKind::Append {
                    appends.entry((operation.key, operation.value)).or_default().push((number, op));
                }
            }
        }
        Appends(appends)
    }
}

fn txns(history: &History, ops: &[OpId]) -> Vec<InstanceTxn> {
    let mut txns: Vec<InstanceTxn> = Vec::new();
    for &op in ops {
        let id = history.txn_of(op);
        let status = history.status(id);
        if status == Status::Aborted {
            continue;
        }
        if txns.last().is_none_or(|last| last.id != id) {
            let optional = status == Status::Unknown;
            let (ops, writes) = (Vec::new(), Vec::new());
            let (reads, readers, listed) = (Vec::new(), Vec::new(), Vec::new());
            txns.push(InstanceTxn { id, optional, ops, writes, reads, readers, listed });
        }
        if let Some(txn) = txns.last_mut() {
            txn.add(history, op);
        }
    }
    txns
}

impl InstanceTxn {
    fn add(&mut self, history: &History, op: OpId) {
        self.ops.push(op);
        let operation = history.op(op);
        if !operation.kind.is_write() {
            return;
        }
        match self.writes.binary_search_by_key(&operation.key, |write| write.0) {
            Ok(at) => self.writes[at].1 = op,
            Err(at) => self.writes.insert(at, (operation.key, op)),
        }
    }
}

/// The elements of a list; `None` for other values.
pub(super) fn elements(history: &History, value: Value) -> Option<&[Value]> {
    match value.kind() {
        ValueKind::List(number) => Some(history.list(number)),
        _ => None,
    }
}

/// Those of `ops`, which are sorted, that read what their own transaction wrote before them.
pub(super) fn internal_reads(history: &History, ops: &[OpId]) -> FxHashSet<OpId> {
    let mut internal = FxHashSet::default();
    for of_txn in ops.chunk_by(|a, b| history.txn_of(*a) == history.txn_of(*b)) {
        let mut written: FxHashSet<KeyId> = FxHashSet::default();
        let mut kept = of_txn.iter().peekable();
        for id in history.ops_of(history.txn_of(of_txn[0])).map(OpId) {
            let op = history.op(id);
            let is_kept = kept.next_if_eq(&&id).is_some();
            if op.kind.is_write() {
                written.insert(op.key);
            } else if is_kept && written.contains(&op.key) {
                internal.insert(id);
            }
            if kept.peek().is_none() {
                break;
            }
        }
    }
    internal
}

/// Whether a read of `value` may come from the initial transaction.
fn may_be_initial(history: &History, key: KeyId, value: Value, written: bool) -> bool {
    let initial = history.initial();
    value == Value::NULL
        || (initial.value_of(key) == Some(value) && !(written && initial.yields(key)))
}
