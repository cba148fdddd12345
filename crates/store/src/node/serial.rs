//! Keeps serializable transactions serializable: a commit that would close a cycle fails.
//!
//! The nodes are committed serializable transactions. Versions are ordered by commits, so all
//! edges between transactions that were not concurrent go forward, and it is enough to know
//!
//! - that `u` committed before the snapshot of `v` (which implies what `v` read from `u` or wrote
//!   over it, and all that real time says), and
//! - that `u` read a version that `v` wrote over (an anti-dependency), also by a scan that did not
//!   find what `v` wrote.
//!
//! PostgreSQL aborts whenever two such anti-dependencies of concurrent transactions follow each
//! other and the last of the three committed first (Cahill, Röhm and Fekete, "Serializable
//! Isolation for Snapshot Databases", 2008; Ports and Grittner, "Serializable Snapshot Isolation
//! in PostgreSQL", 2012), which every cycle of these edges contains. So it never shows a cycle;
//! and here only cycles are refused.
//!
//! A committed transaction matters as long as a cycle can reach it. A transaction that is open or
//! yet to come has edges only to those that committed behind its snapshot; what cannot be reached
//! from these is forgotten.

use super::{keys_read, writers};
use crate::log::Log;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A committed serializable transaction, known by the number of its commit.
#[derive(Clone, Debug)]
struct Committed {
    txn: u32,
    /// The position of its snapshot.
    snapshot: u32,
    keys_read: FxHashSet<u32>,
    has_ranges: bool,
    /// The commits of those that wrote over what it read.
    overwriters: Vec<u32>,
}

/// Those that may still be part of a cycle.
#[derive(Clone, Default, Debug)]
pub(super) struct SerialGraph {
    nodes: BTreeMap<u32, Committed>,
    /// The readers of keys, by their commits.
    readers: FxHashMap<u32, Vec<u32>>,
    /// How many nodes were left when some were last forgotten.
    kept: usize,
}

/// So many nodes are kept without looking whether they are needed.
const KEPT_MIN: usize = 64;

impl SerialGraph {
    /// Adds `txn`, whose snapshot is at `snapshot` and which commits now; false, and nothing is
    /// added, if that closes a cycle.
    pub fn commit(&mut self, log: &Log, txn: u32, snapshot: u32) -> bool {
        let keys_read = keys_read(log, txn);
        let has_ranges = !log.txn(txn).ranges.is_empty();
        let overwriters = self.overwriters(log, &keys_read, snapshot);
        let read_before = self.read_before(log, txn);
        let closes = |commit: u32| commit < snapshot || read_before.contains(&commit);
        if self.reachable(overwriters.iter().copied()).into_iter().any(closes) {
            return false;
        }
        let commit = log.commits;
        for reader in &read_before {
            let node = self.nodes.get_mut(reader);
            node.into_iter().for_each(|node| node.overwriters.push(commit));
        }
        keys_read.iter().for_each(|&key| self.readers.entry(key).or_default().push(commit));
        let node = Committed { txn, snapshot, keys_read, has_ranges, overwriters };
        self.nodes.insert(commit, node);
        true
    }

    /// Those that wrote over what a transaction with this snapshot has read.
    fn overwriters(&self, log: &Log, keys_read: &FxHashSet<u32>, snapshot: u32) -> Vec<u32> {
        let later = |&key: &u32| {
            let commits = writers(log, key).iter().rev().map(|&writer| log.txn(writer).commit);
            commits.take_while(|&commit| commit >= snapshot).collect::<Vec<u32>>()
        };
        let all: FxHashSet<u32> = keys_read.iter().flat_map(later).collect();
        all.into_iter().filter(|commit| self.nodes.contains_key(commit)).collect()
    }

    /// Those that have read, or not found, what `txn` writes over.
    fn read_before(&self, log: &Log, txn: u32) -> FxHashSet<u32> {
        let writes = &log.txn(txn).writes;
        let readers = |key: &u32| self.readers.get(key).map_or(&[][..], Vec::as_slice);
        let mut found: FxHashSet<u32> =
            writes.iter().flat_map(|key| readers(key).iter().copied()).collect();
        let scanning = self.nodes.iter().filter(|(_, node)| node.has_ranges);
        let missed =
            scanning.filter(|(_, node)| writes.iter().any(|&key| log.has_in_range(node.txn, key)));
        found.extend(missed.map(|(&commit, _)| commit));
        found
    }

    /// What can be reached from these nodes, themselves included.
    fn reachable(&self, from: impl Iterator<Item = u32>) -> FxHashSet<u32> {
        let mut todo: Vec<u32> = from.collect();
        let mut found: FxHashSet<u32> = todo.iter().copied().collect();
        // All whose snapshots are behind this commit are in `todo` or done.
        let mut least = u32::MAX;
        while let Some(commit) = todo.pop() {
            let Some(node) = self.nodes.get(&commit) else { continue };
            let mut next = node.overwriters.clone();
            if commit < least {
                let later = self.nodes.range(commit + 1..);
                let begun_behind = later.filter(|(_, it)| it.snapshot > commit);
                next.extend(begun_behind.map(|(&commit, _)| commit));
                least = commit;
            }
            todo.extend(next.into_iter().filter(|&commit| found.insert(commit)));
        }
        found
    }

    /// Whether there are so many nodes that some should be forgotten.
    pub fn is_large(&self) -> bool {
        self.nodes.len() >= KEPT_MIN.max(2 * self.kept)
    }

    /// Forgets those that can be part of no cycle, if no snapshot is before `bound`.
    pub fn forget(&mut self, bound: u32) {
        let needed = self.reachable(self.nodes.range(bound..).map(|(&commit, _)| commit));
        self.nodes.retain(|commit, _| needed.contains(commit));
        self.kept = self.nodes.len();
        self.readers.clear();
        for (&commit, node) in &self.nodes {
            for &key in &node.keys_read {
                self.readers.entry(key).or_default().push(commit);
            }
        }
    }

    /// The first commit that is remembered.
    pub fn first_commit(&self) -> Option<u32> {
        self.nodes.keys().next().copied()
    }
}
