//! What was written to the keys of groups.

use super::lines::{LineFirsts, Lines};
use crate::atom::Value;
use crate::columns::Columns;
use crate::ids::KeyId;
use crate::intervals::Intervals;
use crate::model::Status;
use crate::scans::Group;
use rustc_hash::{FxHashMap, FxHashSet};

/// The writers of a key that did not abort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Writers {
    None,
    Only { txn: u32, value: Value },
    Several,
}

/// What was written to the keys of groups by transactions that did not abort.
pub(super) struct GroupWrites {
    /// For each key its group and position.
    pub places: FxHashMap<KeyId, (u32, u32)>,
    /// Group, transaction and position, sorted.
    by_txn: Vec<(u32, u32, u32)>,
    pub groups: Vec<GroupIndex>,
}

pub(super) struct GroupIndex {
    /// By position.
    writers: Vec<Writers>,
    /// By position: where the run of keys with the same only writer ends.
    run_ends: Vec<u32>,
    /// By position: how many keys before it do not have one writer.
    not_one_writer: Vec<u32>,
}

impl GroupWrites {
    pub(super) fn of(columns: &Columns) -> GroupWrites {
        let mut places = FxHashMap::default();
        for (group, content) in columns.groups.iter().enumerate() {
            let keys = content.keys.iter().enumerate();
            places.extend(keys.map(|(position, &key)| (key, (group as u32, position as u32))));
        }
        let mut by_txn = Vec::new();
        let mut writers: Vec<Vec<Writers>> =
            columns.groups.iter().map(|group| vec![Writers::None; group.keys.len()]).collect();
        for op in 0..columns.op_kind.len() {
            let txn = columns.op_txn[op];
            let is_effective = columns.op_kind[op].is_write()
                && columns.txns[txn as usize].status != Status::Aborted;
            let Some(&(group, position)) = places.get(&columns.op_key[op]).filter(|_| is_effective)
            else {
                continue;
            };
            by_txn.push((group, txn, position));
            let known = &mut writers[group as usize][position as usize];
            *known = match *known {
                Writers::Only { txn: other, .. } if other != txn => Writers::Several,
                Writers::Several => Writers::Several,
                _ => Writers::Only { txn, value: columns.op_value[op] },
            };
        }
        by_txn.sort_unstable();
        by_txn.dedup();
        let index = |(writers, group): (Vec<Writers>, &Group)| {
            GroupIndex::new(writers, |position| columns.initial.value_of(group.keys[position]))
        };
        let groups = writers.into_iter().zip(&columns.groups).map(index).collect();
        GroupWrites { places, by_txn, groups }
    }

    /// How many pairs of scans and writers of their groups there are.
    pub(super) fn pairs(&self, columns: &Columns) -> u64 {
        let mut writers = vec![0u64; self.groups.len()];
        for pair in self.by_txn.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            writers[pair[0].0 as usize] += 1;
        }
        columns.scans.iter().map(|scan| writers[scan.content.group as usize]).sum()
    }

    /// The first position of a group in `among` that `txn` writes.
    pub(super) fn first_of_txn(&self, group: u32, txn: u32, among: &Intervals) -> Option<u32> {
        let mut intervals = among.iter();
        intervals.find_map(|(start, end)| {
            let after = self.by_txn.partition_point(|&write| write < (group, txn, start));
            let &(other_group, other, position) = self.by_txn.get(after)?;
            ((other_group, other) == (group, txn) && position < end).then_some(position)
        })
    }

    /// For each group the lines that write to it.
    pub(super) fn firsts(&self, lines: &Lines) -> Vec<Vec<LineFirsts>> {
        let mut writes: Vec<(u32, u32, u32, u32)> = self
            .by_txn
            .iter()
            .map(|&(group, txn, position)| (group, lines.of_txn[txn as usize], position, txn))
            .collect();
        writes.sort_unstable();
        // The first of a line to write a key stands for all of them.
        writes.dedup_by_key(|&mut (group, line, position, _)| (group, line, position));
        let mut firsts: Vec<Vec<LineFirsts>> = self.groups.iter().map(|_| Vec::new()).collect();
        for line in writes.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            firsts[line[0].0 as usize].push(LineFirsts::new(line));
        }
        firsts
    }
}

impl GroupIndex {
    pub(super) fn new(
        writers: Vec<Writers>,
        initial: impl Fn(usize) -> Option<Value>,
    ) -> GroupIndex {
        let len = writers.len();
        let mut run_ends = vec![len as u32; len];
        for position in (0..len.saturating_sub(1)).rev() {
            run_ends[position] = match (writers[position], writers[position + 1]) {
                (Writers::Only { txn, .. }, Writers::Only { txn: next, .. }) if txn == next => {
                    run_ends[position + 1]
                }
                _ => position as u32 + 1,
            };
        }
        let mut count = 0;
        let mut not_one_writer = vec![0];
        for (position, writers) in writers.iter().enumerate() {
            // What was read must be from the writer and not from the initial transaction.
            let is_one = matches!(writers, Writers::Only { value, .. }
                if initial(position) != Some(*value));
            count += u32::from(!is_one);
            not_one_writer.push(count);
        }
        GroupIndex { writers, run_ends, not_one_writer }
    }

    /// A position among these whose key does not have one writer.
    pub(super) fn not_written_once(&self, positions: &Intervals) -> Option<u32> {
        let count = |position: u32| self.not_one_writer[position as usize];
        let (start, end) = positions.iter().find(|&(start, end)| count(start) != count(end))?;
        (start..end).find(|&position| count(position) != count(position + 1))
    }

    /// The only writers of keys at these positions, each with the first position that is its own.
    pub(super) fn only_writers(&self, positions: &Intervals) -> Vec<(u32, u32)> {
        let mut known = FxHashSet::default();
        let mut found = Vec::new();
        for (start, end) in positions.iter() {
            let mut position = start;
            while position < end {
                if let Writers::Only { txn, .. } = self.writers[position as usize]
                    && known.insert(txn)
                {
                    found.push((txn, position));
                }
                position = self.run_ends[position as usize];
            }
        }
        found
    }

    pub(super) fn value(&self, position: u32) -> Value {
        match self.writers[position as usize] {
            Writers::Only { value, .. } => value,
            _ => Value::NULL,
        }
    }
}
