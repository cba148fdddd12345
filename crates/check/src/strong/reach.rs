//! Which point reaches which along the known edges: one number for each point and session.
//!
//! Sessions are chains of points, so what reaches a point is a prefix of each session. Rows are
//! computed in a topological order, O(edges · sessions); a question costs O(1).

use super::facts::Facts;
use super::ids::PointId;
use super::mutation::{Rule, holds};
use super::point_graph::PointGraph;
use super::timeline::{Arc, Timeline};
use crate::limits::Limits;
use seriatim_history::{SessionId, TxnId, large_columns};

pub(crate) struct Reach {
    timeline: Timeline,
    sessions: usize,
    /// For each point, for each session how many of its points (from the first) reach the point or
    /// are it.
    rows: Vec<u32>,
    /// For each transaction its session and its place there.
    places: Vec<(SessionId, u32)>,
    /// The first transaction of each session.
    firsts: Vec<u32>,
}

/// The most numbers that are kept: 2 GiB.
const NUMBERS_MAX: usize = 1 << 29;

impl Reach {
    /// Whether the rows of so many points and sessions are not too large to be kept.
    pub fn fits(points: usize, sessions: usize, limits: &Limits) -> bool {
        let numbers = points.checked_mul(sessions).filter(|&numbers| numbers <= NUMBERS_MAX);
        numbers.is_some_and(|numbers| limits.allow(numbers as u64 * size_of::<u32>() as u64))
    }

    pub fn new(facts: &Facts<'_>, graph: &PointGraph) -> Reach {
        let bounds = facts.history.session_bounds();
        let place = |txn: TxnId| {
            let session = facts.session(txn);
            (session, txn.0 - bounds[session.index()])
        };
        let sessions = facts.history.session_count();
        Reach {
            timeline: graph.timeline,
            sessions,
            rows: large_columns::zeros(graph.points() * sessions),
            firsts: bounds[..sessions].to_vec(),
            places: facts.history.txns().map(place).collect(),
        }
    }

    /// Computes all rows; `order` is a topological order of the points.
    pub fn compute(&mut self, graph: &PointGraph, order: &[PointId]) {
        let mut row = vec![0u32; self.sessions];
        for &point in order {
            row.fill(0);
            for earlier in graph.predecessors(point) {
                self.join(&mut row, earlier);
            }
            if graph.is_of_txn(point) {
                let (session, place) = self.chain_place(point);
                row[session] = place + 1;
            }
            let start = point.index() * self.sessions;
            self.rows[start..start + self.sessions].copy_from_slice(&row);
        }
    }

    /// Adds `arc` to rows that were right without it; `None` if it closes a cycle, else how many
    /// rows changed. The arc must be in the graph already, and those that are not in the rows yet
    /// may be too.
    ///
    /// Whatever `arc.0` did not reach before gets the row of `arc.0`, and nothing else: so each
    /// point is visited once.
    pub fn extend(&mut self, graph: &PointGraph, (from, to): Arc) -> Option<usize> {
        if self.reaches(to, from) {
            return None;
        }
        if self.reaches(from, to) {
            return Some(0);
        }
        let start = from.index() * self.sessions;
        let row = self.rows[start..start + self.sessions].to_vec();
        let mut changed = vec![to];
        self.raise(to, &row);
        let mut next = 0;
        while let Some(&point) = changed.get(next) {
            next += 1;
            for later in graph.successors(point) {
                if !self.reaches(from, later) {
                    self.raise(later, &row);
                    changed.push(later);
                }
            }
        }
        Some(changed.len())
    }

    /// The row of `point` becomes the larger of itself and `row`, number by number.
    #[inline]
    fn raise(&mut self, point: PointId, row: &[u32]) {
        let start = point.index() * self.sessions;
        for (mine, theirs) in self.rows[start..start + self.sessions].iter_mut().zip(row) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The last point of each session that reaches all of `points`, where it does not reach `to`.
    pub fn before_all(&self, points: &[PointId], to: PointId) -> Vec<PointId> {
        let row = |point: PointId| &self.rows[point.index() * self.sessions..][..self.sessions];
        let mut least = vec![u32::MAX; self.sessions];
        for &point in points {
            for (least, &count) in least.iter_mut().zip(row(point)) {
                let smaller = if holds(Rule::AllCandidates) { (*least).min(count) } else { count };
                *least = smaller;
            }
        }
        let counts = least.into_iter().zip(row(to)).enumerate();
        let news = counts.filter(|(_, (least, known))| least > known && *least != u32::MAX);
        news.map(|(session, (count, _))| {
            PointId(self.firsts[session] * self.timeline.points() + count - 1)
        })
        .collect()
    }

    #[inline]
    fn join(&self, row: &mut [u32], earlier: PointId) {
        let start = earlier.index() * self.sessions;
        for (mine, theirs) in row.iter_mut().zip(&self.rows[start..start + self.sessions]) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The session of a transaction's point and its place in the chain.
    #[inline]
    fn chain_place(&self, point: PointId) -> (usize, u32) {
        let (session, place) = self.places[self.timeline.txn(point).index()];
        (session.index(), place * self.timeline.points() + point.0 % self.timeline.points())
    }

    /// Whether a transaction's point `from` reaches `to` or is it.
    #[inline]
    pub fn reaches(&self, from: PointId, to: PointId) -> bool {
        let (session, place) = self.chain_place(from);
        self.rows[to.index() * self.sessions + session] > place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_transactions_of_a_hundred_sessions_fit_and_as_many_sessions_do_not() {
        let no_limits = Limits::default();
        assert!(Reach::fits(2_000_000, 100, &no_limits));
        assert!(!Reach::fits(2_000_000, 1_000_000, &no_limits));
        assert!(!Reach::fits(usize::MAX, 2, &no_limits));
        let memory = Some(700 << 20);
        assert!(!Reach::fits(2_000_000, 100, &Limits { memory, ..no_limits }));
    }
}
