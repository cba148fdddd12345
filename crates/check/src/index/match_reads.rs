//! Resolving one key: which write does each read come from, and which reads cannot be right.
//!
//! The operations on the key lie side by side in the order of the history. A small table maps each
//! written value to its writers; one walk through the operations then finds every read's source,
//! its fault, or that it is ambiguous.

use super::faults::{Fault, Unrepeated};
use super::lists;
use seriatim_history::{
    History, KeyId, OpId, OpKind, Status, TXNS_MAX, TxnId, Value, list_of_others,
};
use seriatim_isolation::Anomaly;
use std::ops::Range;

/// One operation while its key is resolved. `slot` starts as the value and ends as the resolution.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub slot: u64,
    pub op: OpId,
    /// The transaction; the highest bit marks writes.
    txn: u32,
}

const WRITE_BIT: u32 = 1 << 31;

impl Entry {
    pub fn new(kind: OpKind, value: Value, op: OpId, txn: TxnId) -> Entry {
        let mark = if kind == OpKind::Read { 0 } else { WRITE_BIT };
        Entry { slot: value.raw(), op, txn: txn.0 | mark }
    }

    pub const EMPTY: Entry = Entry { slot: 0, op: OpId(0), txn: 0 };

    #[inline]
    pub fn is_write(self) -> bool {
        self.txn & WRITE_BIT != 0
    }

    #[inline]
    pub fn txn(self) -> TxnId {
        TxnId(self.txn & !WRITE_BIT)
    }
}

/// Resolutions of reads in `Entry::slot`: the local index of the source among the key's entries, or
/// one of these.
pub(crate) const UNRESOLVED: u64 = u64::MAX;
pub(crate) const FROM_INITIAL: u64 = u64::MAX - 1;
/// Resolutions of writes.
pub(crate) const VISIBLE: u64 = 1;
const HIDDEN: u64 = 0;

// The marking bit of [`Entry`] is free: no history has more transactions than this.
const _: () = assert!(TXNS_MAX < WRITE_BIT as usize);

/// What resolving a range of keys finds.
#[derive(Default)]
pub(crate) struct KeyFindings {
    pub faults: Vec<Fault>,
    pub unrepeated: Vec<Unrepeated>,
    pub ambiguous: Vec<OpId>,
}

/// Resolves a range of keys.
pub(crate) fn resolve_keys(
    history: &History,
    key_start: &[u32],
    keys: &Range<usize>,
    entries: &mut [Entry],
) -> KeyFindings {
    let mut resolver = Resolver {
        history,
        table: Table::default(),
        found: KeyFindings::default(),
        key: KeyId(0),
        has_lists: history.has_lists(),
    };
    let base = key_start[keys.start] as usize;
    for key in keys.clone() {
        let range = key_start[key] as usize - base..key_start[key + 1] as usize - base;
        if !range.is_empty() {
            resolver.key = KeyId::from(key);
            resolver.resolve(&mut entries[range]);
        }
    }
    resolver.found
}

/// No entry, where a local index is asked for.
const NO_ENTRY: u32 = u32::MAX;

/// The writes of one value to one key; numbers are local indices of entries, [`NO_ENTRY`] if
/// there is none.
#[derive(Clone, Copy)]
struct Writers {
    value: u64,
    used: bool,
    /// Up to three visible writes of transactions that did not abort (a reader's own write is no
    /// candidate, so two others are enough to be ambiguous).
    visible: [u32; 3],
    /// A write that its transaction overwrote.
    hidden: u32,
    /// A write of an aborted transaction.
    aborted: u32,
}

const NO_WRITERS: Writers =
    Writers { value: 0, used: false, visible: [NO_ENTRY; 3], hidden: NO_ENTRY, aborted: NO_ENTRY };

/// The writers of each value of one key. If the values are close together they are the places;
/// otherwise open addressing. Sized for each key anew, so that a small key touches one or two cache
/// lines.
#[derive(Default)]
struct Table {
    slots: Vec<Writers>,
    /// How many slots are in use; slot `size` stays empty, for values that were not written.
    size: usize,
    /// The smallest value, if values are places.
    direct: Option<u64>,
}

impl Table {
    fn reset(&mut self, written: impl Iterator<Item = u64> + Clone) {
        let (count, min, max) =
            written.fold((0, u64::MAX, 0), |(n, min, max), v| (n + 1, min.min(v), max.max(v)));
        let spread = max.saturating_sub(min).saturating_add(1);
        self.direct = (spread <= count * 4 + 4).then_some(min);
        self.size = match self.direct {
            Some(_) => spread as usize,
            None => (count as usize * 2).next_power_of_two().max(4),
        };
        if self.slots.len() <= self.size {
            self.slots.resize(self.size + 1, NO_WRITERS);
        }
        self.slots[..=self.size].fill(NO_WRITERS);
    }

    #[inline]
    fn place(&self, value: u64) -> usize {
        if let Some(min) = self.direct {
            return value.wrapping_sub(min).min(self.size as u64) as usize;
        }
        let mask = self.size - 1;
        let mut place = (value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.slots[place].used && self.slots[place].value != value {
            place = (place + 1) & mask;
        }
        place
    }

    fn writers(&mut self, value: u64) -> &mut Writers {
        let place = self.place(value);
        let slot = &mut self.slots[place];
        slot.used = true;
        slot.value = value;
        slot
    }

    fn get(&self, value: u64) -> &Writers {
        &self.slots[self.place(value)]
    }
}

impl Writers {
    fn add_visible(&mut self, local: u32) {
        if let Some(free) = self.visible.iter_mut().find(|slot| **slot == NO_ENTRY) {
            *free = local;
        }
    }
}

struct Resolver<'h> {
    history: &'h History,
    table: Table,
    found: KeyFindings,
    key: KeyId,
    has_lists: bool,
}

/// What the resolver remembers while it walks through the entries of a key.
struct Walk {
    /// The transaction that the fields below speak of.
    txn: TxnId,
    /// Its latest write so far (local index), or [`NO_ENTRY`].
    own_write: u32,
    /// Its first external read (local index) and that read's value, or [`NO_ENTRY`].
    first_read: u32,
    first_value: u64,
}

impl Walk {
    fn of(txn: TxnId) -> Walk {
        Walk { txn, own_write: NO_ENTRY, first_read: NO_ENTRY, first_value: 0 }
    }
}

impl Resolver<'_> {
    fn resolve(&mut self, entries: &mut [Entry]) {
        self.fill_table(entries);
        let Some(first) = entries.first() else { return };
        let mut walk = Walk::of(first.txn());
        for local in 0..entries.len() {
            let entry = entries[local];
            if entry.txn() != walk.txn {
                walk = Walk::of(entry.txn());
            }
            if entry.is_write() {
                walk.own_write = local as u32;
            } else if self.status(entry) == Status::Aborted {
                entries[local].slot = UNRESOLVED;
            } else if walk.own_write != NO_ENTRY {
                self.compare_others(entries, local, &walk);
                self.internal_read(entries, local, walk.own_write);
            } else {
                self.external_read(entries, local, &mut walk);
            }
        }
        self.mark_writes(entries);
    }

    fn status(&self, entry: Entry) -> Status {
        self.history.status(entry.txn())
    }

    /// What a read's value is compared with: the last element of a list; `NULL` for an empty one.
    fn compared(&self, slot: u64) -> u64 {
        lists::last_element(self.history, slot)
    }

    fn fill_table(&mut self, entries: &[Entry]) {
        self.table.reset(entries.iter().filter(|entry| entry.is_write()).map(|entry| entry.slot));
        for local in 0..entries.len() {
            let entry = entries[local];
            if !entry.is_write() {
                continue;
            }
            let aborted = self.status(entry) == Status::Aborted;
            let last = is_last_write(entries, local);
            let writers = self.table.writers(entry.slot);
            if aborted {
                writers.aborted = local as u32;
            } else if last {
                writers.add_visible(local as u32);
            } else {
                writers.hidden = local as u32;
            }
        }
    }

    /// Replaces the values of writes by whether they are visible; the table has what reads still
    /// need.
    fn mark_writes(&self, entries: &mut [Entry]) {
        for local in 0..entries.len() {
            if entries[local].is_write() {
                let visible =
                    is_last_write(entries, local) && self.status(entries[local]) != Status::Aborted;
                entries[local].slot = if visible { VISIBLE } else { HIDDEN };
            }
        }
    }

    /// Whether a read of `value` may come from the initial transaction.
    fn may_be_initial(&self, value: u64, writers: &Writers) -> bool {
        if value == Value::NULL.raw() {
            return true;
        }
        let initial = self.history.initial();
        if initial.value_of(self.key).map(Value::raw) != Some(value) {
            return false;
        }
        let written = writers.visible[0] != NO_ENTRY || writers.hidden != NO_ENTRY;
        !(written && initial.yields(self.key))
    }

    fn internal_read(&mut self, entries: &mut [Entry], local: usize, own_write: u32) {
        let value = self.compared(entries[local].slot);
        let read = entries[local];
        entries[local].slot = UNRESOLVED;
        if entries[own_write as usize].slot == value {
            return;
        }
        let own_op = entries[own_write as usize].op;
        let writers = *self.table.get(value);
        if let Some(older) = self.older_own_write(entries, own_write, value, &writers) {
            let ops = vec![older, own_op, read.op];
            self.found.faults.push(Fault::new(Anomaly::NotMyLastWrite, ops));
            return;
        }
        let other = writers
            .visible
            .into_iter()
            .find(|&w| w != NO_ENTRY && entries[w as usize].txn() != read.txn());
        let fault = match other {
            Some(other) => Fault::new(
                Anomaly::NotMyOwnWrite,
                vec![own_op, entries[other as usize].op, read.op],
            ),
            None if self.may_be_initial(value, &writers) => {
                Fault::new(Anomaly::NotMyOwnWrite, vec![own_op, read.op])
            }
            None => self.illegal_source(entries, read, &writers),
        };
        self.found.faults.push(fault);
    }

    /// A write of `value` by the transaction of `own_write`, before it.
    fn older_own_write(
        &self,
        entries: &[Entry],
        own_write: u32,
        value: u64,
        writers: &Writers,
    ) -> Option<OpId> {
        if writers.hidden == NO_ENTRY {
            return None;
        }
        let txn = entries[own_write as usize].txn();
        let own = entries[..own_write as usize].iter().rev().take_while(|entry| entry.txn() == txn);
        own.into_iter().find(|entry| entry.is_write() && entry.slot == value).map(|entry| entry.op)
    }

    fn external_read(&mut self, entries: &mut [Entry], local: usize, walk: &mut Walk) {
        let slot = entries[local].slot;
        let value = self.compared(slot);
        let writers = *self.table.get(value);
        let initial = self.may_be_initial(value, &writers);
        self.compare_with_first(
            entries,
            local,
            if initial { Value::NULL.raw() } else { slot },
            walk,
        );
        let read = entries[local];
        let mut others = writers
            .visible
            .into_iter()
            .filter(|&w| w != NO_ENTRY && entries[w as usize].txn() != read.txn());
        let (first, second) = (others.next(), others.next());
        entries[local].slot = match (initial, first, second) {
            (false, Some(source), None) => u64::from(source),
            (true, None, _) => FROM_INITIAL,
            (false, None, _) => {
                let fault = self.illegal_source(entries, read, &writers);
                self.found.faults.push(fault);
                UNRESOLVED
            }
            (true, Some(_), _) | (false, Some(_), Some(_)) => {
                self.found.ambiguous.push(read.op);
                UNRESOLVED
            }
        };
    }

    /// A non-repeatable read, if an earlier external read of the transaction returned something
    /// else.
    fn compare_with_first(&mut self, entries: &[Entry], local: usize, value: u64, walk: &mut Walk) {
        if walk.first_read == NO_ENTRY {
            walk.first_read = local as u32;
            walk.first_value = value;
        } else if !lists::same_value(self.history, walk.first_value, value) {
            let first = entries[walk.first_read as usize].op;
            self.found.unrepeated.push(Unrepeated { first, second: entries[local].op });
        }
    }

    /// A non-repeatable read, if a list that is read after own appends has other elements beside
    /// them than when it was read first.
    fn compare_others(&mut self, entries: &[Entry], local: usize, walk: &Walk) {
        let slot = entries[local].slot;
        let nothing = (slot == Value::NULL.raw()).then_some(&[][..]);
        let list = lists::elements(self.history, slot).or(nothing);
        let Some(list) = list.filter(|_| walk.first_read != NO_ENTRY && self.has_lists) else {
            return;
        };
        let first = lists::elements(self.history, walk.first_value).unwrap_or_default();
        if list.is_empty() && first.is_empty() {
            return;
        }
        let of_txn = entries[..local].iter().rev().take_while(|entry| entry.txn() == walk.txn);
        let appends = of_txn.filter(|entry| self.history.op(entry.op).kind == OpKind::Append);
        let mut own: Vec<Value> = appends.map(|entry| Value::from_raw(entry.slot)).collect();
        if own.is_empty() {
            return;
        }
        own.reverse();
        if *first != *list_of_others(list, &own) {
            let first = entries[walk.first_read as usize].op;
            self.found.unrepeated.push(Unrepeated { first, second: entries[local].op });
        }
    }

    /// Names the fault of a read that has no legal source.
    fn illegal_source(&self, entries: &[Entry], read: Entry, writers: &Writers) -> Fault {
        let own = |w: u32| w != NO_ENTRY && entries[w as usize].txn() == read.txn();
        let own_later = writers
            .visible
            .into_iter()
            .find(|&w| own(w))
            .or(Some(writers.hidden).filter(|&w| own(w)));
        if let Some(later) = own_later {
            return Fault::new(Anomaly::FutureRead, vec![read.op, entries[later as usize].op]);
        }
        if writers.hidden != NO_ENTRY {
            let hidden = writers.hidden as usize;
            let overwriting = entries[hidden + 1..]
                .iter()
                .find(|entry| entry.is_write())
                .map_or(read.op, |e| e.op);
            let ops = vec![entries[hidden].op, overwriting, read.op];
            return Fault::new(Anomaly::IntermediateRead, ops);
        }
        if writers.aborted != NO_ENTRY {
            let ops = vec![entries[writers.aborted as usize].op, read.op];
            return Fault::new(Anomaly::AbortedRead, ops);
        }
        Fault::new(Anomaly::ThinAirRead, vec![read.op])
    }
}

/// Whether no later write of the same transaction follows among the entries of a key.
fn is_last_write(entries: &[Entry], local: usize) -> bool {
    let txn = entries[local].txn();
    let mut rest = entries[local + 1..].iter().take_while(|entry| entry.txn() == txn);
    !rest.any(|entry| entry.is_write())
}
