//! Which transactions must commit before which: session order, reads, and the edges that the axioms
//! force, closed under transitivity.
//!
//! For each committed transaction one number a session: how many of the session's transactions must
//! commit before it. A question costs one comparison; a new edge costs as many transactions as
//! learn something from it, which are those between its ends. Edges that the reads of open
//! transactions force are kept apart until these commit, so that an abort costs nothing.

use crate::forgetting_list::ForgettingList;
use crate::log::Log;
use crate::past::{INITIAL, Past};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Reachability among committed transactions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reach {
    /// For each transaction those that must commit before it.
    before: ForgettingList<Past>,
    /// Targets of forced edges.
    forced: ForgettingList<Vec<u32>>,
    /// Whether a forced edge ever led to a transaction that had committed earlier.
    is_reordered: bool,
}

impl Reach {
    /// Adds a transaction that began.
    pub fn push(&mut self) {
        self.before.push(Past::default());
        self.forced.push(Vec::new());
    }

    /// Whether `earlier` must commit before `later` (or is it). Both have committed.
    #[inline]
    fn reaches(&self, log: &Log, earlier: u32, later: u32) -> bool {
        earlier == later || self.is_before(log, earlier, later)
    }

    /// Whether `earlier` must commit before `later`. Both have committed.
    #[inline]
    pub fn is_before(&self, log: &Log, earlier: u32, later: u32) -> bool {
        let earlier = log.txn(earlier);
        earlier.number < self.before[later as usize].of(earlier.session)
    }

    /// Whether `edges` close a cycle with what is known and with `open`, the edges that open
    /// transactions force.
    pub fn refuses(&self, log: &Log, edges: &[(u32, u32)], open: &[(u32, u32)]) -> bool {
        if edges.iter().any(|&(from, to)| self.reaches(log, to, from)) {
            return true;
        }
        // A cycle enters their one target once, by one of the edges: each was tried alone above.
        let one_target = edges.windows(2).all(|pair| pair[0].1 == pair[1].1);
        if edges.is_empty() || (one_target && open.is_empty()) {
            return false;
        }
        let all: Vec<(u32, u32)> = edges.iter().chain(open).copied().collect();
        (0..edges.len()).any(|start| self.returns(log, &all, start))
    }

    /// Whether a path leaves by edge `start` of `edges` and comes back to it.
    fn returns(&self, log: &Log, edges: &[(u32, u32)], start: usize) -> bool {
        let mut seen = vec![false; edges.len()];
        let mut waiting = vec![start];
        while let Some(edge) = waiting.pop() {
            for (next, &(from, _)) in edges.iter().enumerate() {
                if !seen[next] && self.reaches(log, edges[edge].1, from) {
                    if next == start {
                        return true;
                    }
                    seen[next] = true;
                    waiting.push(next);
                }
            }
        }
        false
    }

    /// Takes over a transaction that commits now, with the edges that its reads force.
    pub fn commit(&mut self, log: &Log, txn: u32) {
        let mut before = Past::default();
        log.predecessors(txn, |earlier| {
            before.join(&self.before[earlier as usize]);
            before.reach(log.txn(earlier).session, log.txn(earlier).number + 1);
        });
        self.before[txn as usize] = before;
        for &(from, to) in &log.txn(txn).forced {
            self.add(log, from, to);
        }
    }

    /// Adds an edge between committed transactions.
    pub fn add(&mut self, log: &Log, from: u32, to: u32) {
        if self.is_before(log, from, to) {
            return;
        }
        self.is_reordered |= log.txn(from).commit > log.txn(to).commit;
        self.forced[from as usize].push(to);
        let mut news = self.before[from as usize].clone();
        news.reach(log.txn(from).session, log.txn(from).number + 1);
        let mut waiting = vec![to];
        while let Some(txn) = waiting.pop() {
            // A transaction that learns nothing new has nothing new for those behind it.
            if !self.before[txn as usize].join(&news) {
                continue;
            }
            waiting.extend(&self.forced[txn as usize]);
            log.successors(txn, |later| waiting.push(later));
        }
    }

    /// The committed transactions in an order that fits.
    pub fn order(&self, log: &Log) -> Vec<u32> {
        let mut committed: Vec<u32> = log.unsettled().collect();
        // A transaction that must come before another has fewer that must come before it.
        committed.sort_by_key(|&txn| (self.before[txn as usize].size(), log.txn(txn).commit));
        committed
    }

    /// Whether the order of the commits may not fit.
    pub fn is_reordered(&self) -> bool {
        self.is_reordered
    }

    /// The committed transactions that can be settled now, in an order that fits all edges, `open`
    /// among them, and otherwise that of the commits. What an open transaction has read must stay
    /// the initial version of its key, or unsettled.
    pub fn settleable(&self, log: &Log, open: &[(u32, u32)]) -> Vec<u32> {
        let mut holds = Holds::new(log);
        // Those behind one that is held stay unsettled as well.
        self.in_order(log, open, |txn| !holds.hold(log, txn))
    }

    /// The committed transactions in an order that fits all edges, `open` among them, and otherwise
    /// that of the commits; without those that are not taken and those behind them.
    pub fn in_order(
        &self,
        log: &Log,
        open: &[(u32, u32)],
        mut takes: impl FnMut(u32) -> bool,
    ) -> Vec<u32> {
        let mut waits: FxHashMap<u32, u32> = log.unsettled().map(|txn| (txn, 0)).collect();
        let mut later: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for txn in log.unsettled() {
            log.successors(txn, |next| later.entry(txn).or_default().push(next));
            later.entry(txn).or_default().extend(&self.forced[txn as usize]);
        }
        open.iter().for_each(|&(from, to)| later.entry(from).or_default().push(to));
        later.values().flatten().for_each(|next| *waits.entry(*next).or_default() += 1);
        let ready = waits.iter().filter(|(_, count)| **count == 0);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> =
            ready.map(|(&txn, _)| Reverse((log.txn(txn).commit, txn))).collect();
        let mut order = Vec::new();
        while let Some(Reverse((_, txn))) = ready.pop() {
            // The count of those behind it does not come to 0.
            if !takes(txn) {
                continue;
            }
            order.push(txn);
            for next in later.get(&txn).into_iter().flatten() {
                let count = waits.entry(*next).or_default();
                *count -= 1;
                if *count == 0 {
                    ready.push(Reverse((log.txn(*next).commit, *next)));
                }
            }
        }
        order
    }

    /// Forgets the transactions that are not needed, except for those from `first` on.
    pub fn forget(&mut self, log: &Log, first: usize, is_needed: impl Fn(usize) -> bool) {
        self.before.forget(first, &is_needed);
        self.forced.forget(first, is_needed);
        self.before.iter_mut().for_each(|before| before.retain(|session| log.is_alive(session)));
    }
}

/// Which keys open transactions have read, and whether what they read is settled, or initial: then
/// no other version may be settled after it.
struct Holds(FxHashMap<u32, Vec<(u32, bool)>>);

impl Holds {
    fn new(log: &Log) -> Holds {
        let mut holds: FxHashMap<u32, Vec<(u32, bool)>> = FxHashMap::default();
        for read in log.open().flat_map(|txn| &log.txn(txn).reads) {
            holds.entry(read.key).or_default().push((read.source, read.source == INITIAL));
        }
        for key in log.open().flat_map(|txn| log.in_ranges(txn)) {
            holds.entry(key).or_default().push((INITIAL, true));
        }
        Holds(holds)
    }

    /// Whether `txn` must stay unsettled; if not, it is settled now.
    fn hold(&mut self, log: &Log, txn: u32) -> bool {
        let writes = &log.txn(txn).writes;
        let is_held = |key: &u32| {
            self.0.get(key).is_some_and(|reads| reads.iter().any(|&(_, settled)| settled))
        };
        if writes.iter().any(is_held) {
            return true;
        }
        // From now on no version of the key may be settled behind the one that was read.
        for key in writes.iter() {
            for (source, settled) in self.0.get_mut(key).into_iter().flatten() {
                *settled |= *source == txn;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::State;
    use seriatim_isolation::Level;

    /// Transactions of sessions of their own, without reads: all that is known are the edges.
    #[test]
    fn edges_are_refused_exactly_if_they_close_a_cycle() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as u32
        };
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..300 {
            let (mut log, mut reach) = (Log::default(), Reach::default());
            for _ in 0..12 {
                let session = log.open_session();
                let txn = log.begin(session, Level::Causal);
                reach.push();
                log.end(txn, State::Committed);
                reach.commit(&log, txn);
            }
            let mut edges: Vec<(u32, u32)> = Vec::new();
            let mut open: Vec<(u32, u32)> = Vec::new();
            for _ in 0..40 {
                let new = [(random(12), random(12)), (random(12), random(12))];
                let with: Vec<(u32, u32)> =
                    edges.iter().chain(&open).chain(&new).copied().collect();
                let cyclic = (0..12).any(|txn| reaches_itself(&with, txn));
                assert_eq!(reach.refuses(&log, &new, &open), cyclic);
                refused += u32::from(cyclic);
                taken += u32::from(!cyclic);
                if !cyclic && random(2) == 0 {
                    open.extend(new);
                } else if !cyclic {
                    new.iter().for_each(|&(from, to)| reach.add(&log, from, to));
                    edges.extend(new);
                } else {
                    open.clear();
                }
                let order = reach.order(&log);
                let place = |txn| order.iter().position(|&other| other == txn);
                assert!(edges.iter().all(|&(from, to)| place(from) < place(to)));
            }
        }
        assert!(taken > 1000 && refused > 1000, "{taken} {refused}");
    }

    fn reaches_itself(edges: &[(u32, u32)], start: u32) -> bool {
        let mut found: Vec<u32> =
            edges.iter().filter(|edge| edge.0 == start).map(|edge| edge.1).collect();
        let mut next = 0;
        while next < found.len() {
            for &(from, to) in edges {
                if from == found[next] && !found.contains(&to) {
                    found.push(to);
                }
            }
            next += 1;
        }
        found.contains(&start)
    }
}
