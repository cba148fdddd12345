//! Transactions that scan, and what each of their scans reads.

use super::lines::{LineFirsts, Lines};
use super::writes::{GroupIndex, GroupWrites};
use crate::atom::{Value, ValueKind};
use crate::columns::Columns;
use crate::ids::KeyId;
use crate::intervals::Intervals;
use crate::model::{OpKind, Status};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A transaction that scans.
#[derive(Default)]
pub(super) struct Reader {
    txn: u32,
    scans: Vec<usize>,
    /// Its external reads of keys of groups: group, position, value.
    reads: Vec<(u32, u32, Value)>,
    /// Its writes to keys of groups: the number of the operation, group, position.
    writes: Vec<(u32, u32, u32)>,
    /// What it read from, beside what its scans found unchanged.
    sources: BTreeSet<u32>,
}

/// The transactions that scan.
pub(super) fn readers(columns: &Columns, writes: &GroupWrites) -> Vec<Reader> {
    let mut readers: FxHashMap<u32, Reader> = FxHashMap::default();
    for (number, scan) in columns.scans.iter().enumerate() {
        let reader = readers.entry(scan.txn).or_default();
        reader.txn = scan.txn;
        reader.scans.push(number);
    }
    let writers = writers_of_what_was_read(columns, &readers);
    let mut own: FxHashSet<(u32, KeyId)> = FxHashSet::default();
    for op in 0..columns.op_kind.len() {
        let Some(reader) = readers.get_mut(&columns.op_txn[op]) else { continue };
        let (key, value) = (columns.op_key[op], columns.op_value[op]);
        let place = writes.places.get(&key).copied();
        if columns.op_kind[op] != OpKind::Read {
            own.insert((reader.txn, key));
            reader.writes.extend(place.map(|(group, position)| (op as u32, group, position)));
        } else if !own.contains(&(reader.txn, key)) {
            reader.reads.extend(place.map(|(group, position)| (group, position, value)));
            let sources = elements(columns, value).into_iter();
            reader.sources.extend(sources.flat_map(|value| writers.get(&(key, value))).flatten());
        }
    }
    readers.into_values().collect()
}

/// A value, or the elements of a list.
fn elements(columns: &Columns, value: Value) -> Vec<Value> {
    match value.kind() {
        ValueKind::List(number) => columns.lists[number as usize].to_vec(),
        _ => vec![value],
    }
}

/// The writers of values that transactions that scan have read.
fn writers_of_what_was_read(
    columns: &Columns,
    readers: &FxHashMap<u32, Reader>,
) -> FxHashMap<(KeyId, Value), Vec<u32>> {
    let mut writers: FxHashMap<(KeyId, Value), Vec<u32>> = FxHashMap::default();
    for op in 0..columns.op_kind.len() {
        if columns.op_kind[op] == OpKind::Read && readers.contains_key(&columns.op_txn[op]) {
            for value in elements(columns, columns.op_value[op]) {
                writers.entry((columns.op_key[op], value)).or_default();
            }
        }
    }
    for op in 0..columns.op_kind.len() {
        let (txn, written) = (columns.op_txn[op], (columns.op_key[op], columns.op_value[op]));
        let did_abort = columns.txns[txn as usize].status == Status::Aborted;
        if columns.op_kind[op].is_write()
            && !did_abort
            && let Some(found) = writers.get_mut(&written)
        {
            found.push(txn);
        }
    }
    writers
}

/// Positions that a scan reads one by one.
#[derive(Default)]
pub(super) struct Chosen {
    absent: Intervals,
    unchanged: Intervals,
    /// What the transaction had written before the scan.
    written: BTreeSet<u32>,
    read_absent: BTreeSet<u32>,
    read_unchanged: BTreeSet<u32>,
}

impl Chosen {
    /// Reads a key as the scan found it. That an own write was found needs no read.
    fn read(&mut self, position: u32) {
        if self.absent.contains(position) {
            self.read_absent.insert(position);
        } else if self.unchanged.contains(position) && !self.written.contains(&position) {
            self.read_unchanged.insert(position);
        }
    }
}

impl Reader {
    /// For each of its scans what it reads.
    pub(super) fn reads(
        &self,
        columns: &Columns,
        writes: &GroupWrites,
        lines: &Lines,
        firsts: &[Vec<LineFirsts>],
    ) -> Vec<(usize, Vec<(KeyId, Value)>)> {
        let mut scans = self.scans_by_group(columns);
        let sources = self.all_sources(columns, writes, &scans);
        for (&group, scans) in &mut scans {
            self.read_what_differs(columns, &writes.groups[group as usize], group, scans);
            let missed = scans.iter().fold(Intervals::none(), |all, scan| all.or(&scan.1.absent));
            let concerns = |&&txn: &&u32| writes.first_of_txn(group, txn, &missed).is_some();
            let sources: Vec<u32> = sources.iter().filter(concerns).copied().collect();
            for (_, scan) in scans {
                for position in scan.written.clone() {
                    scan.read(position);
                }
                for line in &firsts[group as usize] {
                    if let Some((txn, position)) = line.among(&scan.absent)
                        && !lines.is_behind(columns, txn, self.txn)
                    {
                        scan.read(position);
                    }
                }
                let seen = sources.iter().filter(|&&txn| txn != self.txn);
                let missed = seen.filter_map(|&txn| writes.first_of_txn(group, txn, &scan.absent));
                missed.collect::<Vec<_>>().into_iter().for_each(|position| scan.read(position));
                self.read_writers(&writes.groups[group as usize], group, scan);
            }
        }
        let found = scans.into_iter().flat_map(|(group, scans)| {
            scans.into_iter().map(move |(number, scan)| (number, group, scan))
        });
        found.map(|(number, group, scan)| (number, told(columns, writes, group, &scan))).collect()
    }

    fn scans_by_group(&self, columns: &Columns) -> FxHashMap<u32, Vec<(usize, Chosen)>> {
        let mut groups: FxHashMap<u32, Vec<(usize, Chosen)>> = FxHashMap::default();
        for &number in &self.scans {
            let content = &columns.scans[number].content;
            let absent = content.absent(columns.groups[content.group as usize].keys.len());
            let unchanged = content.unchanged.clone();
            let before = self.writes.iter().filter(|write| write.0 < columns.scans[number].at);
            let own = before.filter(|write| write.1 == content.group);
            let written = own.map(|write| write.2).collect();
            let scan = Chosen { absent, unchanged, written, ..Chosen::default() };
            groups.entry(content.group).or_default().push((number, scan));
        }
        groups
    }

    fn all_sources(
        &self,
        columns: &Columns,
        writes: &GroupWrites,
        scans: &FxHashMap<u32, Vec<(usize, Chosen)>>,
    ) -> BTreeSet<u32> {
        let mut sources = self.sources.clone();
        for (&group, scans) in scans {
            for (number, _) in scans {
                let unchanged = &columns.scans[*number].content.unchanged;
                let writers = writes.groups[group as usize].only_writers(unchanged);
                sources.extend(writers.into_iter().map(|(txn, _)| txn));
            }
        }
        sources
    }

    /// Reads the keys that the transaction has also read otherwise.
    fn read_what_differs(
        &self,
        columns: &Columns,
        index: &GroupIndex,
        group: u32,
        scans: &mut [(usize, Chosen)],
    ) {
        let all = |part: fn(&Chosen) -> &Intervals| {
            scans.iter().fold(Intervals::none(), |all, scan| all.or(part(&scan.1)))
        };
        let (absent, unchanged) = (all(|scan| &scan.absent), all(|scan| &scan.unchanged));
        let keys = &columns.groups[group as usize].keys;
        let is_initial = |position: u32, value: Value| {
            value == Value::NULL || columns.initial.value_of(keys[position as usize]) == Some(value)
        };
        let reads = self.reads.iter().filter(|read| read.0 == group);
        let differs = reads.map(|read| (read.1, read.2)).filter(|&(position, value)| {
            (absent.contains(position) && !is_initial(position, value))
                || (unchanged.contains(position) && index.value(position) != value)
        });
        let own: Intervals =
            self.writes.iter().filter(|write| write.1 == group).map(|write| write.2).collect();
        let both = absent.and(&unchanged).without(&own).first();
        let positions = differs.map(|(position, _)| position).chain(both);
        for position in positions.collect::<BTreeSet<u32>>() {
            scans.iter_mut().for_each(|(_, scan)| scan.read(position));
        }
    }

    /// Reads one key for each only writer of those that were found unchanged, and what the
    /// transaction found before it wrote it.
    fn read_writers(&self, index: &GroupIndex, group: u32, scan: &mut Chosen) {
        for (txn, position) in index.only_writers(&scan.unchanged) {
            if txn != self.txn {
                scan.read(position);
            }
        }
        for &(_, _, position) in self.writes.iter().filter(|write| write.1 == group) {
            if scan.unchanged.contains(position) {
                scan.read(position);
            }
        }
    }
}

/// The reads of a scan: first what it found, then what it missed.
fn told(columns: &Columns, writes: &GroupWrites, group: u32, scan: &Chosen) -> Vec<(KeyId, Value)> {
    let keys = &columns.groups[group as usize].keys;
    let index = &writes.groups[group as usize];
    let unchanged = scan.read_unchanged.iter();
    let unchanged = unchanged.map(|&at| (keys[at as usize], index.value(at)));
    let absent = scan.read_absent.iter().map(|&at| (keys[at as usize], Value::NULL));
    unchanged.chain(absent).collect()
}
