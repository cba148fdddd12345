//! Happens-before in constant time: for each transaction and session, how far into the session its causal past reaches.
//!
//! Sessions are chains, so the causal past of a transaction is a prefix of each session: one number. Rows are computed in a
//! topological order of session order and reads, O((n + edges) · k) for k sessions. To keep memory linear in the history
//! only a block of columns is held at a time; those who need all sessions sweep over the blocks.

use crate::index::{INITIAL, Index};
use crate::order::session_predecessor;
use crate::parallel;
use seriatim_history::{History, room};
use std::ops::Range;
use std::sync::OnceLock;

/// Columns of the clocks for a block of sessions.
pub(crate) struct Clocks {
    parts: Vec<Part>,
    sessions: Range<u32>,
    /// Each part has 2^shift sessions, except perhaps the last: finding a number takes no division.
    shift: u32,
}

/// Clocks that are computed when the first question is asked: an order that fits raises none.
pub(crate) struct LazyClocks<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    /// An order that extends session order and reads.
    pub base: &'a [u32],
    /// The block.
    pub sessions: Range<u32>,
    pub threads: usize,
    pub clocks: OnceLock<Clocks>,
}

impl LazyClocks<'_> {
    pub fn get(&self) -> &Clocks {
        self.clocks
            .get_or_init(|| Clocks::compute(self.history, self.index, self.base, self.sessions.clone(), self.threads))
    }
}

/// The columns that one thread computes.
struct Part {
    sessions: Range<u32>,
    width: usize,
    rows: Vec<u32>,
}

/// How many sessions may share a block: as many as keep the clocks below 64 bytes for each operation (and at least 16
/// columns), so that memory stays linear in the history however many sessions there are.
pub(crate) fn blocks(history: &History) -> Vec<Range<u32>> {
    let sessions = history.session_count() as u32;
    let budget_columns = (history.op_count().max(1 << 20) * 16 / history.txn_count().max(1)) as u32;
    let width = budget_columns.clamp(16, sessions.max(16));
    let count = sessions.div_ceil(width).max(1);
    let width = sessions.div_ceil(count).max(1);
    (0..count).map(|i| (i * width).min(sessions)..((i + 1) * width).min(sessions)).collect()
}

impl Clocks {
    /// The columns `sessions` of the clocks of all transactions, given an order that extends session order and reads.
    fn compute(history: &History, index: &Index, order: &[u32], sessions: Range<u32>, threads: usize) -> Clocks {
        let columns = sessions.end - sessions.start;
        let share = columns.div_ceil(threads.max(1) as u32).max(1).next_power_of_two();
        let jobs = sessions.clone().step_by(share as usize).map(|first| first..(first + share).min(sessions.end));
        let parts = parallel::run(jobs.collect(), |sessions| Part::compute(history, index, order, sessions));
        Clocks { parts, sessions, shift: share.trailing_zeros() }
    }

    /// Whether `earlier`, a transaction of session `session` of this block, is in the causal past of `txn` (or is `txn`).
    #[inline]
    pub fn reaches(&self, earlier: u32, session: u32, txn: u32) -> bool {
        self.bound(session, txn) > earlier
    }

    /// One more than the last transaction of `session` (of this block) in the causal past of `txn`; 0 if there is none.
    #[inline]
    pub fn bound(&self, session: u32, txn: u32) -> u32 {
        let column = session - self.sessions.start;
        match self.parts.get((column >> self.shift) as usize) {
            Some(part) => {
                part.rows[txn as usize * part.width + (column - (column >> self.shift << self.shift)) as usize]
            }
            None => 0,
        }
    }

    /// The sessions of this block.
    pub fn sessions(&self) -> Range<u32> {
        self.sessions.clone()
    }
}

impl Part {
    fn compute(history: &History, index: &Index, order: &[u32], sessions: Range<u32>) -> Part {
        let width = (sessions.end - sessions.start) as usize;
        let mut part = Part { sessions, width, rows: room::zeros(width * history.txn_count()) };
        let mut row = vec![0u32; width];
        for &txn in order {
            match session_predecessor(history, index, txn) {
                Some(previous) => row.copy_from_slice(part.row(previous)),
                None => row.fill(0),
            }
            for op in history.ops_of(seriatim_history::TxnId(txn)) {
                let source = index.source_txn[op as usize];
                if source < INITIAL {
                    part.join(&mut row, source, index.txn_session[source as usize]);
                }
            }
            let own = index.txn_session[txn as usize];
            if part.sessions.contains(&own) {
                row[(own - part.sessions.start) as usize] = txn + 1;
            }
            let start = txn as usize * width;
            part.rows[start..start + width].copy_from_slice(&row);
        }
        part
    }

    fn row(&self, txn: u32) -> &[u32] {
        &self.rows[txn as usize * self.width..(txn as usize + 1) * self.width]
    }

    /// Adds the causal past of `source` to `row`, unless `row` has it already: whoever reaches `source` has its past.
    #[inline]
    fn join(&self, row: &mut [u32], source: u32, session: u32) {
        if self.sessions.contains(&session) && row[(session - self.sessions.start) as usize] > source {
            return;
        }
        for (mine, theirs) in row.iter_mut().zip(self.row(source)) {
            *mine = (*mine).max(*theirs);
        }
    }
}
