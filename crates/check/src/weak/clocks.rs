//! Happens-before in constant time: for each transaction and session, how far into the session its
//! causal past reaches.
//!
//! Sessions are chains, so the causal past of a transaction is a prefix of each session: one
//! number. Rows are computed in a topological order of session order and reads, O((n + edges) · k)
//! for k sessions. To keep memory linear in the history only a block of columns is held at a time;
//! callers that need all sessions sweep over the blocks. With several blocks a read may be named
//! after the commit order instead of the causal order; verdicts do not depend on it.

use crate::index::Index;
use crate::parallel;
use seriatim_history::{History, SessionId, TxnId, large_columns};
use std::ops::Range;
use std::sync::OnceLock;

/// Columns of the clocks for a block of sessions.
pub(crate) struct Clocks {
    sessions: Range<SessionId>,
    /// The first transaction of each session of the block: the clocks count from there, so that
    /// short sessions need narrow numbers.
    first: Vec<u32>,
    /// For each session of the block its part and its column there.
    place: Vec<(u32, u32)>,
    parts: Parts,
}

/// The columns in parts, one for each thread, in the narrowest numbers that hold the length of
/// every session: rows are what the memory is full of.
enum Parts {
    Narrow(Vec<Part<u16>>),
    Wide(Vec<Part<u32>>),
}

/// Clocks that are computed when the first question is asked: an order that fits raises none.
pub(crate) struct LazyClocks<'a> {
    pub history: &'a History,
    pub index: &'a Index,
    /// An order that extends session order and reads.
    pub base: &'a [TxnId],
    /// The block.
    pub sessions: Range<SessionId>,
    pub threads: usize,
    pub clocks: OnceLock<Clocks>,
}

impl LazyClocks<'_> {
    pub fn get(&self) -> &Clocks {
        self.clocks.get_or_init(|| {
            Clocks::compute(
                self.history,
                self.index,
                self.base,
                self.sessions.clone(),
                self.threads,
            )
        })
    }
}

/// The columns that one thread computes.
struct Part<N> {
    sessions: Range<SessionId>,
    width: usize,
    rows: Vec<N>,
}

/// How many transactions of a session, from its first, are in a causal past.
trait Number: Copy + Default + Ord + Send + Sync {
    fn of(count: u32) -> Self;
    fn get(self) -> u32;
}

impl Number for u16 {
    fn of(count: u32) -> u16 {
        count as u16
    }

    fn get(self) -> u32 {
        u32::from(self)
    }
}

impl Number for u32 {
    fn of(count: u32) -> u32 {
        count
    }

    fn get(self) -> u32 {
        self
    }
}

/// How many sessions may share a block: as many as keep the clocks below 64 bytes for each
/// operation (and at least 16 columns), so that memory stays linear in the history however many
/// sessions there are.
pub(crate) fn blocks(history: &History) -> Vec<Range<SessionId>> {
    let sessions = history.session_count() as u32;
    let budget_columns = (history.op_count().max(1 << 20) * 16 / history.txn_count().max(1)) as u32;
    let width = budget_columns.clamp(16, sessions.max(16));
    let count = sessions.div_ceil(width).max(1);
    let width = sessions.div_ceil(count).max(1);
    let bound = |i: u32| SessionId((i * width).min(sessions));
    (0..count).map(|i| bound(i)..bound(i + 1)).collect()
}

/// How many sessions a range has.
#[inline]
pub(crate) fn count_of(sessions: &Range<SessionId>) -> usize {
    sessions.end.index().saturating_sub(sessions.start.index())
}

/// The column of `session`, one of `sessions`.
#[inline]
fn column_of(session: SessionId, sessions: &Range<SessionId>) -> usize {
    (session.0 - sessions.start.0) as usize
}

impl Clocks {
    /// The columns `sessions` of the clocks of all transactions, given an order that extends
    /// session order and reads.
    fn compute(
        history: &History,
        index: &Index,
        order: &[TxnId],
        sessions: Range<SessionId>,
        threads: usize,
    ) -> Clocks {
        let (start, end) = (sessions.start.0, sessions.end.0);
        let share = (end - start).div_ceil(threads.max(1) as u32).max(1);
        let jobs = (start..end)
            .step_by(share as usize)
            .map(|first| SessionId(first)..SessionId((first + share).min(end)));
        let jobs: Vec<Range<SessionId>> = jobs.collect();
        let bounds = &history.session_bounds()[start as usize..=end as usize];
        let parts = if bounds.windows(2).all(|pair| pair[1] - pair[0] <= u32::from(u16::MAX)) {
            Parts::Narrow(parallel::run(jobs, |sessions| {
                Part::compute(history, index, order, sessions)
            }))
        } else {
            Parts::Wide(parallel::run(jobs, |sessions| {
                Part::compute(history, index, order, sessions)
            }))
        };
        let place = (0..end - start).map(|column| (column / share, column % share)).collect();
        Clocks { first: bounds[..bounds.len() - 1].to_vec(), place, parts, sessions }
    }

    /// Whether `earlier`, a transaction of session `session` of this block, is in the causal past
    /// of `txn` (or is `txn`).
    #[inline]
    pub fn reaches(&self, earlier: TxnId, session: SessionId, txn: TxnId) -> bool {
        self.bound(session, txn) > earlier
    }

    /// One more than the last transaction of `session` (of this block) in the causal past of `txn`;
    /// at most the first transaction of the session if there is none.
    #[inline(always)]
    pub fn bound(&self, session: SessionId, txn: TxnId) -> TxnId {
        let column = self.column(session);
        let (part, column_there) = self.place[column];
        TxnId(self.first[column] + self.parts.count(part, txn, column_there))
    }

    /// Whether the causal past of `txn` reaches beyond `limits`, which says for each session of the
    /// block the place in it of a transaction.
    #[inline]
    pub fn exceeds(&self, txn: TxnId, limits: &[u32]) -> bool {
        match &self.parts {
            Parts::Narrow(parts) => {
                parts.iter().any(|part| part.exceeds(txn, &self.sessions, limits))
            }
            Parts::Wide(parts) => {
                parts.iter().any(|part| part.exceeds(txn, &self.sessions, limits))
            }
        }
    }

    /// Brings the rows of `txns` into the cache.
    pub fn fetch(&self, txns: impl Iterator<Item = TxnId> + Clone) {
        match &self.parts {
            Parts::Narrow(parts) => parts.iter().for_each(|part| part.fetch(txns.clone())),
            Parts::Wide(parts) => parts.iter().for_each(|part| part.fetch(txns.clone())),
        }
    }

    /// The column of a session of this block.
    pub fn column(&self, session: SessionId) -> usize {
        column_of(session, &self.sessions)
    }

    /// The place of `txn` in its session, which is in this block.
    pub fn place_in_session(&self, session: SessionId, txn: TxnId) -> u32 {
        txn.0 - self.first[self.column(session)]
    }

    /// The sessions of this block.
    pub fn sessions(&self) -> &Range<SessionId> {
        &self.sessions
    }
}

impl Parts {
    #[inline]
    fn count(&self, part: u32, txn: TxnId, column: u32) -> u32 {
        match self {
            Parts::Narrow(parts) => parts[part as usize].count(txn, column),
            Parts::Wide(parts) => parts[part as usize].count(txn, column),
        }
    }
}

impl<N: Number> Part<N> {
    fn compute(
        history: &History,
        index: &Index,
        order: &[TxnId],
        sessions: Range<SessionId>,
    ) -> Part<N> {
        let width = count_of(&sessions);
        let mut part =
            Part { sessions, width, rows: large_columns::zeros(width * history.txn_count()) };
        let bounds = history.session_bounds();
        let mut row = vec![N::default(); width];
        for &txn in order {
            match index.session_predecessor(history, txn) {
                Some(previous) => row.copy_from_slice(part.row(previous)),
                None => row.fill(N::default()),
            }
            for source in index.sources_of(history, txn) {
                let session = index.session_of(source);
                part.join(&mut row, source, session, source.0 - bounds[session.index()]);
            }
            let own = index.session_of(txn);
            if part.sessions.contains(&own) {
                row[column_of(own, &part.sessions)] = N::of(txn.0 - bounds[own.index()] + 1);
            }
            let start = txn.index() * width;
            part.rows[start..start + width].copy_from_slice(&row);
        }
        part
    }

    #[inline]
    fn count(&self, txn: TxnId, column: u32) -> u32 {
        self.rows[txn.index() * self.width + column as usize].get()
    }

    fn fetch(&self, txns: impl Iterator<Item = TxnId>) {
        let ends = |txn: TxnId| (self.count(txn, 0), self.count(txn, self.width as u32 - 1));
        let sum = txns
            .map(ends)
            .fold(0u32, |sum, (first, last)| sum.wrapping_add(first).wrapping_add(last));
        std::hint::black_box(sum);
    }

    /// No early exit: this way it is done for many columns at once.
    #[inline]
    fn exceeds(&self, txn: TxnId, block: &Range<SessionId>, limits: &[u32]) -> bool {
        let limits = &limits[column_of(self.sessions.start, block)..];
        let row = self.row(txn).iter().zip(limits);
        row.fold(false, |exceeds, (count, &limit)| exceeds | (count.get() > limit))
    }

    fn row(&self, txn: TxnId) -> &[N] {
        &self.rows[txn.index() * self.width..(txn.index() + 1) * self.width]
    }

    /// Adds the causal past of `source`, the transaction number `place` of `session`, to `row`,
    /// unless `row` has it already: a row that reaches `source` has its past.
    #[inline]
    fn join(&self, row: &mut [N], source: TxnId, session: SessionId, place: u32) {
        if self.sessions.contains(&session) && row[column_of(session, &self.sessions)].get() > place
        {
            return;
        }
        for (mine, theirs) in row.iter_mut().zip(self.row(source)) {
            *mine = (*mine).max(*theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::edges::Edges;
    use super::super::graph::Graph;
    use super::*;
    use crate::index::first_guess;
    use seriatim_history::notation;

    /// The width of the numbers is a matter of memory, not of what they say.
    #[test]
    fn narrow_and_wide_numbers_agree() {
        let history =
            notation::parse("a: w(x,1) | r(y,2) w(x,3)\nb: r(x,1) w(y,2) | r(x,3)").unwrap();
        let index = Index::build(&history, 1);
        let edges = Edges::new(Vec::new(), history.txn_count());
        let graph = Graph { history: &history, index: &index, edges: &edges };
        let order = graph.causal_order(first_guess(&history, &index), 1).unwrap();
        let both = SessionId(0)..SessionId(2);
        let narrow: Part<u16> = Part::compute(&history, &index, &order, both.clone());
        let wide: Part<u32> = Part::compute(&history, &index, &order, both.clone());
        let rows = |txn| [0, 1].map(|column| (narrow.count(txn, column), wide.count(txn, column)));
        let expected = [[1, 0], [2, 1], [1, 1], [2, 2]];
        for (txn, expected) in expected.into_iter().enumerate() {
            assert_eq!(
                rows(TxnId::from(txn)),
                expected.map(|count| (count, count)),
                "transaction {txn}"
            );
        }
    }
}
