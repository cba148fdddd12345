//! What the lists of list-append histories tell beyond the source of each read.
//!
//! A read of `[1 2 3]` comes from the transaction that appended 3, and shows that 1, 2 and 3 were
//! appended in this order: the lists of a key must be prefixes of each other, and the longest one
//! is the version order of the key. (The longest in which nothing is wrong by itself, if there is
//! one: others would seem to contradict all lists that are right.) So every commit order has to put
//! the writers of consecutive elements in the order of the list, and whatever was appended to the
//! key and is not in the list after the last of them.

use super::faults::{Fault, sort_faults};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};
use seriatim_isolation::Anomaly;

/// `from` appended to `key` before `to`, as the list that `read` returned shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionEdge {
    pub from: TxnId,
    pub to: TxnId,
    pub earlier: OpId,
    pub later: OpId,
    pub read: OpId,
    /// Whether the list shows it by lacking `later`; otherwise both elements stand in it.
    pub is_missing: bool,
}

/// What the lists tell.
#[derive(Default, Debug)]
pub(crate) struct ListFacts {
    pub faults: Vec<Fault>,
    /// Reads of lists with elements that several transactions appended.
    pub ambiguous: Vec<OpId>,
    pub version_edges: Vec<VersionEdge>,
}

/// What a read of this raw value is compared with: the last element of a list (`NULL` if it is
/// empty), or itself.
#[inline]
pub(crate) fn last_element(history: &History, raw: u64) -> u64 {
    if raw >> 62 != 1 {
        return raw;
    }
    match Value::from_raw(raw).kind() {
        ValueKind::List(number) => {
            history.list(number).last().map_or(Value::NULL.raw(), |value| value.raw())
        }
        _ => raw,
    }
}

/// The elements of a list, given by its raw value; `None` for other values.
pub(crate) fn elements(history: &History, raw: u64) -> Option<&[Value]> {
    match Value::from_raw(raw).kind() {
        ValueKind::List(number) => Some(history.list(number)),
        _ => None,
    }
}

/// Whether two raw values are the same, lists by their elements.
pub(crate) fn same_value(history: &History, a: u64, b: u64) -> bool {
    if a == b {
        return true;
    }
    match (Value::from_raw(a).kind(), Value::from_raw(b).kind()) {
        (ValueKind::List(a), ValueKind::List(b)) => history.list(a) == history.list(b),
        _ => false,
    }
}

/// The appends of one element to one key.
#[derive(Default)]
struct Appended {
    /// By transactions that did not abort, as far as one knows.
    live: Vec<OpId>,
    /// By a transaction that aborted.
    aborted: Option<OpId>,
}

impl Appended {
    /// The append, if there is only one that the element can come from.
    fn only(&self) -> Option<OpId> {
        if let [append] = self.live.as_slice() { Some(*append) } else { None }
    }

    /// An append to name where any will do: one that did not abort, if there is one.
    fn first(&self) -> Option<OpId> {
        self.live.first().copied().or(self.aborted)
    }
}

/// The appends of all elements.
struct Appends(FxHashMap<(KeyId, Value), Appended>);

impl Appends {
    fn new(history: &History) -> Appends {
        let mut appends: FxHashMap<(KeyId, Value), Appended> = FxHashMap::default();
        for txn in history.txns() {
            for id in history.ops_of(txn).map(OpId) {
                let op = history.op(id);
                if op.kind != OpKind::Append {
                    continue;
                }
                let appended = appends.entry((op.key, op.value)).or_default();
                match history.status(txn) {
                    Status::Aborted => appended.aborted = Some(id),
                    _ => appended.live.push(id),
                }
            }
        }
        Appends(appends)
    }

    fn of(&self, key: KeyId, element: Value) -> Option<&Appended> {
        self.0.get(&(key, element))
    }

    fn only(&self, key: KeyId, element: Value) -> Option<OpId> {
        self.of(key, element)?.only()
    }
}

/// Reads that returned lists, of transactions that `include` accepts.
fn list_reads<'h>(
    history: &'h History,
    include: impl Fn(TxnId) -> bool + 'h,
) -> impl Iterator<Item = (OpId, TxnId, KeyId, &'h [Value])> + 'h {
    let txns = history.txns().filter(move |&txn| include(txn));
    txns.flat_map(move |txn| history.ops_of(txn).map(move |op| (OpId(op), txn))).filter_map(
        move |(id, txn)| {
            let op = history.op(id);
            match op.value.kind() {
                ValueKind::List(number) if op.kind == OpKind::Read => {
                    Some((id, txn, op.key, history.list(number)))
                }
                _ => None,
            }
        },
    )
}

/// Pairs of a reader and a writer of an element of a list that it read.
pub(crate) fn read_from(history: &History) -> Vec<(TxnId, TxnId)> {
    if !history.has_lists() {
        return Vec::new();
    }
    let appends = Appends::new(history);
    let mut pairs = Vec::new();
    for (_, reader, key, list) in list_reads(history, |txn| history.status(txn) != Status::Aborted)
    {
        for element in list {
            if let Some(append) = appends.only(key, *element) {
                pairs.push((reader, history.txn_of(append)));
            }
        }
    }
    pairs
}

/// Faults of single lists, contradictions between lists, and the version orders.
pub(crate) fn examine(history: &History, counts: &[bool]) -> ListFacts {
    if !history.has_lists() {
        return ListFacts::default();
    }
    let appends = Appends::new(history);
    let mut facts = ListFacts::default();
    let mut longest: FxHashMap<KeyId, Longest<'_>> = FxHashMap::default();
    for (read, _, key, list) in list_reads(history, |txn| counts[txn.index()]) {
        let is_right = examine_list(history, &appends, (read, key, list), &mut facts);
        let rank = (is_right, list.len());
        let entry = longest.entry(key).or_insert(Longest { read, list, rank });
        if rank > entry.rank {
            *entry = Longest { read, list, rank };
        }
    }
    let mut contradicted = FxHashSet::default();
    for (op, _, key, list) in list_reads(history, |txn| counts[txn.index()]) {
        let Longest { read: long_op, list: long, .. } = longest[&key];
        if let Some(i) = list.iter().zip(long).position(|(a, b)| a != b) {
            // The first elements that differ, and their appends, are enough to see the
            // contradiction.
            let differing = [list[i], long[i]];
            let writers = differing.iter().filter_map(|element| appends.of(key, *element)?.first());
            let ops = [op, long_op].into_iter().chain(writers).collect();
            facts.faults.push(Fault::new(Anomaly::IncompatibleOrder, ops));
            contradicted.insert(key);
        }
    }
    let mut keys: Vec<KeyId> =
        longest.keys().copied().filter(|key| !contradicted.contains(key)).collect();
    keys.sort_unstable();
    let mut ends: FxHashMap<KeyId, ListEnd> = FxHashMap::default();
    for key in keys {
        let Longest { read, list, .. } = longest[&key];
        let last = version_order(history, &appends, counts, key, (read, list), &mut facts);
        if let Some(last) = last {
            ends.insert(key, ListEnd { read, last, elements: list.iter().copied().collect() });
        }
    }
    missing_appends(history, counts, &ends, &mut facts);
    facts
}

/// The list of a key that others are compared with.
#[derive(Clone, Copy)]
struct Longest<'h> {
    read: OpId,
    list: &'h [Value],
    /// Whether nothing is wrong with it by itself, and its length.
    rank: (bool, usize),
}

/// The longest list of a key, and the append of its last element that has one append.
struct ListEnd {
    read: OpId,
    last: OpId,
    elements: FxHashSet<Value>,
}

/// Edges from the end of a list to what it lacks. A transaction whose later append is in the list
/// cannot have lost an earlier one.
fn missing_appends(
    history: &History,
    counts: &[bool],
    ends: &FxHashMap<KeyId, ListEnd>,
    facts: &mut ListFacts,
) {
    let txns = history.txns().filter(|txn| counts[txn.index()]);
    for append in txns.flat_map(|txn| history.ops_of(txn)).map(OpId) {
        let op = history.op(append);
        let Some(end) = ends.get(&op.key).filter(|_| op.kind == OpKind::Append) else { continue };
        if end.elements.contains(&op.value) {
            continue;
        }
        let (from, to) = (history.txn_of(end.last), history.txn_of(append));
        let (read, earlier, later) = (end.read, end.last, append);
        if history.txn_of(end.read) == to && append > end.read {
            // The reader appends what it has read before: it comes later anyway.
            continue;
        }
        if from != to {
            let edge = VersionEdge { from, to, earlier, later, read, is_missing: true };
            facts.version_edges.push(edge);
        } else if later < earlier {
            facts.faults.push(Fault::new(Anomaly::LostElement, vec![later, earlier, read]));
        }
    }
}

/// Elements that stand more often than they were appended, that were not appended, or that only an
/// aborted transaction appended; each at most once a list. The last element is the read's source,
/// which the index examines. A list with an element that several transactions appended is
/// ambiguous. Whether nothing is wrong with it.
fn examine_list(
    history: &History,
    appends: &Appends,
    (op, key, list): (OpId, KeyId, &[Value]),
    facts: &mut ListFacts,
) -> bool {
    let mut times: FxHashMap<Value, usize> = FxHashMap::default();
    let mut found: Vec<Fault> = Vec::new();
    let mut several = false;
    let mut is_appended = true;
    let mut previous = None;
    for (i, element) in list.iter().enumerate() {
        let appended = appends.of(key, *element);
        let live = appended.map_or(&[][..], |appended| &appended.live);
        let count = times.entry(*element).or_default();
        *count += 1;
        several |= live.len() > 1;
        is_appended &= !live.is_empty();
        if *count > live.len().max(1) {
            let ops = std::iter::once(op).chain(appended.and_then(Appended::first)).collect();
            found.push(Fault::new(Anomaly::DuplicateElement, ops));
        }
        if let [append] = live {
            found.extend(own_order(history, (op, history.txn_of(op)), previous, *append));
            previous = Some(*append);
        }
        if i + 1 < list.len() && live.is_empty() {
            found.push(match appended.and_then(|appended| appended.aborted) {
                Some(append) => Fault::new(Anomaly::AbortedRead, vec![append, op]),
                None => {
                    Fault { element: Some(i as u32), ..Fault::new(Anomaly::ThinAirRead, vec![op]) }
                }
            });
        }
    }
    if several {
        facts.ambiguous.push(op);
    }
    sort_faults(&mut found);
    found.dedup_by_key(|fault| fault.kind);
    let is_right = is_appended && found.is_empty();
    facts.faults.extend(found);
    is_right
}

/// An element that the reader itself appends only later, or that stands behind a later append of
/// its own transaction.
fn own_order(
    history: &History,
    (read, reader): (OpId, TxnId),
    previous: Option<OpId>,
    append: OpId,
) -> Option<Fault> {
    let txn = history.txn_of(append);
    if txn == reader && append > read {
        return Some(Fault::new(Anomaly::FutureRead, vec![read, append]));
    }
    let previous =
        previous.filter(|&previous| previous > append && history.txn_of(previous) == txn)?;
    Some(Fault::new(Anomaly::IncompatibleOrder, vec![read, append, previous]))
}

/// Edges between the writers of consecutive elements; elements with several writers or none are
/// passed over. The last append that is not.
fn version_order(
    history: &History,
    appends: &Appends,
    counts: &[bool],
    key: KeyId,
    (read, list): (OpId, &[Value]),
    facts: &mut ListFacts,
) -> Option<OpId> {
    let mut previous: Option<(OpId, TxnId)> = None;
    for element in list {
        let Some(append) = appends.only(key, *element) else { continue };
        let txn = history.txn_of(append);
        if !counts[txn.index()] {
            continue;
        }
        if let Some((earlier, from)) = previous
            && from != txn
        {
            let (to, later, read) = (txn, append, read);
            let edge = VersionEdge { from, to, earlier, later, read, is_missing: false };
            facts.version_edges.push(edge);
        }
        previous = Some((append, txn));
    }
    previous.map(|(append, _)| append)
}
