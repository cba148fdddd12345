//! Which transactions stand for those behind them.

use crate::columns::{Columns, TxnMeta};
use crate::intervals::Intervals;
use crate::model::Status;
use rustc_hash::FxHashMap;

/// Pieces of sessions in which each transaction ends after the one before; transactions of unknown
/// outcome stand alone.
pub(super) struct Lines {
    pub of_txn: Vec<u32>,
    /// Whether a line has transactions of one session in session order; else all stand alone.
    follow_sessions: bool,
}

impl Lines {
    pub(super) fn of(columns: &Columns, follow_sessions: bool) -> Lines {
        let count = columns.txns.len() as u32;
        if !follow_sessions {
            return Lines { of_txn: (0..count).collect(), follow_sessions };
        }
        // The last line of each session, called by its first transaction, and its last end.
        let mut last: FxHashMap<u32, (u32, i64)> = FxHashMap::default();
        let line = |(number, txn): (usize, &TxnMeta)| {
            if txn.status == Status::Unknown {
                return number as u32;
            }
            let end = columns.txn_times.as_ref().map_or(0, |times| times[number].1);
            let last = last.entry(txn.session).or_insert((number as u32, end));
            if end < last.1 {
                last.0 = number as u32;
            }
            last.1 = end;
            last.0
        };
        Lines { of_txn: columns.txns.iter().enumerate().map(line).collect(), follow_sessions }
    }

    /// Whether T, which scans, never sees `writer` by the order of lines.
    pub(super) fn is_behind(&self, columns: &Columns, writer: u32, scanner: u32) -> bool {
        let session = |txn: u32| columns.txns[txn as usize].session;
        writer == scanner
            || (self.follow_sessions && session(writer) == session(scanner) && writer > scanner)
    }
}

/// The keys that a line writes, for the question which one of some it wrote first.
pub(super) struct LineFirsts {
    positions: Vec<u32>,
    /// A segment tree of (transaction, position): the leaves are the second half.
    tree: Vec<(u32, u32)>,
}

impl LineFirsts {
    pub(super) fn new(line: &[(u32, u32, u32, u32)]) -> LineFirsts {
        let len = line.len();
        let mut tree = vec![(u32::MAX, u32::MAX); 2 * len];
        for (leaf, &(_, _, position, txn)) in line.iter().enumerate() {
            tree[len + leaf] = (txn, position);
        }
        for node in (1..len).rev() {
            tree[node] = tree[2 * node].min(tree[2 * node + 1]);
        }
        LineFirsts { positions: line.iter().map(|write| write.2).collect(), tree }
    }

    /// The first transaction that writes a key at one of these positions, and the position.
    pub(super) fn among(&self, positions: &Intervals) -> Option<(u32, u32)> {
        let first = positions.iter().filter_map(|(start, end)| {
            let from = self.positions.partition_point(|&position| position < start);
            let to = self.positions.partition_point(|&position| position < end);
            self.smallest(from, to)
        });
        first.min()
    }

    fn smallest(&self, from: usize, to: usize) -> Option<(u32, u32)> {
        let len = self.positions.len();
        let (mut left, mut right) = (from + len, to + len);
        let mut best = None;
        let mut take = |node: usize| {
            let found = self.tree[node];
            best = Some(best.map_or(found, |best: (u32, u32)| best.min(found)));
        };
        while left < right {
            if left % 2 == 1 {
                take(left);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                take(right);
            }
            left /= 2;
            right /= 2;
        }
        best
    }
}
