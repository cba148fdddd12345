//! What one node of a database server does: a transaction reads by *snapshots*, positions in the
//! order of the commits, and only timing is free.
//!
//! A position is how many transactions have committed before it. At read committed each statement
//! has a snapshot, at snapshot isolation and serializability each transaction, from its first
//! statement on. A snapshot is at least as late as all that was acknowledged before the statement
//! arrived, and at most as late as the statement's beginning; between the two any position is what
//! some timing of a real server gives. Positions are not picked at once: a statement has a
//! *window* of them, and each read whose version depends on the position lets the chooser pick a
//! version, which narrows the window. So choosers choose among versions here, as everywhere.
//!
//! At snapshot isolation and serializability the first committer wins, and `serial.rs` keeps
//! serializable transactions serializable; that is PostgreSQL. InnoDB has neither: whoever changes
//! rows there locks them and goes on from their newest versions, and locks make its transactions
//! serializable, if they ask for that. A transaction with one snapshot has it there from its first
//! plain read on, not from its first statement on.

mod serial;

use crate::log::{Log, Read};
use crate::past::INITIAL;
use rustc_hash::{FxHashMap, FxHashSet};
use serial::SerialGraph;
use seriatim_isolation::Level;

/// The server whose single node a store simulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Node {
    /// PostgreSQL. It has read committed, snapshot isolation (its REPEATABLE READ) and
    /// serializability.
    Postgres,
    /// MySQL and MariaDB with InnoDB. They have read committed, REPEATABLE READ, whose reads (and
    /// only these) are those of snapshot isolation, and serializability, for which the caller has
    /// to lock what is read.
    Mysql,
}

impl Node {
    /// The levels that its transactions can have.
    pub(crate) fn has(self, level: Level) -> bool {
        match self {
            Node::Postgres | Node::Mysql => matches!(
                level,
                Level::ReadCommitted | Level::SnapshotIsolation | Level::Serializable
            ),
        }
    }
}

/// The positions that a snapshot may have; both ends are among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    first: u32,
    last: u32,
}

/// Snapshots of open transactions, and what is remembered of committed ones.
#[derive(Clone, Debug)]
pub(crate) struct NodeState {
    pub node: Node,
    windows: FxHashMap<u32, Window>,
    /// Transactions of InnoDB that have read by their snapshot: it stays.
    fixed: FxHashSet<u32>,
    graph: SerialGraph,
}

/// Whether a transaction has one snapshot for all its statements.
fn keeps_snapshot(level: Level) -> bool {
    level != Level::ReadCommitted
}

impl NodeState {
    pub fn new(node: Node) -> NodeState {
        let (windows, fixed) = (FxHashMap::default(), FxHashSet::default());
        NodeState { node, windows, fixed, graph: SerialGraph::default() }
    }

    /// A statement of `txn` begins, which must see the first `bound` commits.
    pub fn begin_statement(&mut self, log: &Log, txn: u32, bound: u32) {
        let is_fixed = match self.node {
            Node::Postgres => self.has_snapshot(txn),
            Node::Mysql => self.fixed.contains(&txn),
        };
        if !keeps_snapshot(log.txn(txn).level) || !is_fixed {
            self.windows.insert(txn, Window { first: bound.min(log.commits), last: log.commits });
        }
    }

    /// The present statement of `txn` reads by the snapshot, which it keeps if its level has one
    /// for all statements.
    pub fn fix_snapshot(&mut self, txn: u32) {
        self.fixed.insert(txn);
    }

    pub fn has_snapshot(&self, txn: u32) -> bool {
        self.windows.contains_key(&txn)
    }

    fn window(&self, log: &Log, txn: u32) -> Window {
        let now = Window { first: log.commits, last: log.commits };
        self.windows.get(&txn).copied().unwrap_or(now)
    }

    /// The least position that the snapshot of `txn` may have.
    pub fn first(&self, log: &Log, txn: u32) -> u32 {
        self.window(log, txn).first
    }

    /// The versions of `key` that snapshots in the window show, in the order of their commits.
    pub fn versions(&self, log: &Log, txn: u32, key: u32) -> Vec<u32> {
        let Window { first, last } = self.window(log, txn);
        let writers = writers(log, key);
        let place = |position: u32| writers.partition_point(|&it| log.txn(it).commit < position);
        let (before, end) = (place(first), place(last));
        let oldest = before.checked_sub(1).map_or(INITIAL, |place| writers[place]);
        [oldest].into_iter().chain(writers[before..end].iter().copied()).collect()
    }

    /// `txn` reads `key` from `source`: its snapshot is one that shows this version, unless the
    /// statement looked at a row again that it had locked, which is no read by the snapshot.
    pub fn read(&mut self, log: &mut Log, txn: u32, key: u32, source: u32) {
        self.narrow(log, txn, key, source);
        log.txns[txn as usize].reads.push(Read { key, source });
    }

    fn narrow(&mut self, log: &Log, txn: u32, key: u32, source: u32) {
        let Some(window) = self.windows.get_mut(&txn) else { return };
        let from = if source == INITIAL { 0 } else { log.txn(source).commit + 1 };
        if from > window.last {
            return;
        }
        let writers = writers(log, key);
        let next = writers.partition_point(|&it| log.txn(it).commit < from);
        let until = writers.get(next).map_or(window.last, |&it| log.txn(it).commit);
        window.first = window.first.max(from);
        window.last = window.last.min(until).max(window.first);
    }

    /// Whether the newest version of `key` is one that `txn` does not see, in any position of its
    /// window, in none of them, or in some (`None`).
    pub fn is_changed(&self, log: &Log, txn: u32, key: u32) -> Option<bool> {
        let Window { first, last } = self.window(log, txn);
        match writers(log, key).last().map(|&writer| log.txn(writer).commit) {
            Some(commit) if commit >= last => Some(true),
            Some(commit) if commit >= first => None,
            _ => Some(false),
        }
    }

    /// Whether `txn` may commit. If so, it is remembered as committed, as number `log.commits`.
    pub fn commit(&mut self, log: &Log, txn: u32) -> bool {
        // What InnoDB refuses it has refused when rows were locked.
        if self.node == Node::Mysql {
            return true;
        }
        let record = log.txn(txn);
        let Window { first, last } = self.window(log, txn);
        let is_lost =
            |&key: &u32| writers(log, key).last().is_some_and(|&it| log.txn(it).commit >= last);
        if keeps_snapshot(record.level) && record.writes.iter().any(is_lost) {
            return false;
        }
        record.level != Level::Serializable || self.graph.commit(log, txn, first)
    }

    /// `txn` has ended.
    pub fn end(&mut self, txn: u32) {
        self.windows.remove(&txn);
        self.fixed.remove(&txn);
    }

    /// The least position that the snapshot of an open transaction may have.
    fn oldest(&self) -> u32 {
        self.windows.values().map(|window| window.first).min().unwrap_or(u32::MAX)
    }

    /// The committed transactions that every snapshot shows from now on, in their order, up to the
    /// first one that may still be part of a cycle. Statements that are yet to begin see the first
    /// `bound` commits.
    pub fn settleable(&mut self, log: &Log, bound: u32) -> Vec<u32> {
        let bound = bound.min(self.oldest());
        self.graph.forget(bound);
        let end = self.graph.first_commit().map_or(bound, |commit| bound.min(commit));
        let mut order: Vec<u32> =
            log.unsettled().filter(|&txn| log.txn(txn).commit < end).collect();
        order.sort_unstable_by_key(|&txn| log.txn(txn).commit);
        order
    }

    /// Forgets what can be part of no cycle, once that may be much.
    pub fn tidy(&mut self, bound: u32) {
        if self.graph.is_large() {
            self.graph.forget(bound.min(self.oldest()));
        }
    }
}

fn writers(log: &Log, key: u32) -> &[u32] {
    log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all)
}

/// The keys that `txn` has read, with those of its ranges.
fn keys_read(log: &Log, txn: u32) -> FxHashSet<u32> {
    let reads = log.txn(txn).reads.iter().map(|read| read.key);
    reads.chain(log.in_ranges(txn)).collect()
}
