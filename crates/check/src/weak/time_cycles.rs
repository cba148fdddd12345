//! Real-time cycles: transactions that ended before one began that comes before them.
//!
//! A commit order with real time extends session order, reads, the orders that lists show, and real
//! time. Intervals have this property: if a ended before b began and c before d, then a ended
//! before d began or c before b. So every cycle of these orders can be cut short to one with a
//! single step of real time: some a ended before some b began, although the other orders put b
//! before a. That is a read from the future if a read from b, and a write inversion if a list has
//! b's element before a's. Whether a transaction is such an a follows from the latest begin of all
//! that comes before it, so that all of them are counted in O(n). Cycles without real time are no
//! part of this: steps inside of them are left out.

use super::edges::{Edges, Inferred};
use super::graph::{Components, Graph};
use crate::index::{Index, VersionEdge, first_guess, last_write, source_write};
use crate::outcome::{
    AnomalyGroup, Counted, Edge, OpRef, Options, Origin, Reason, Refs, Violation,
};
use crate::stale_reads::real_time_edge;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId, ValueKind};
use seriatim_isolation::{Anomaly, Level, Order};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many candidates for the exemplar are explained.
const CANDIDATES_MAX: usize = 64;
/// How long the search for a smaller exemplar may go on after the first one.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How many instances are explained at most.
const INSTANCES_MAX: usize = 1000;

/// How many there are of a history that is checked with its sessions, to say what real time would
/// change.
pub(crate) fn count(history: &History, index: &Index, options: &Options) -> u64 {
    match options.order == Order::Sessions && history.has_times() {
        true => TimeCycles::new(history, index).early.len() as u64,
        false => 0,
    }
}

/// The real-time cycles of a history.
pub(crate) struct TimeCycles<'a> {
    history: &'a History,
    index: &'a Index,
    /// Session order, reads and the orders that lists show, without real time.
    components: Components,
    listed: Edges,
    /// The transactions that count, none before those that come before it.
    order: Vec<TxnId>,
    /// For each transaction the latest begin of those before it.
    latest: Vec<i64>,
    /// The transactions that ended before one began that comes before them.
    pub early: Vec<TxnId>,
}

impl<'a> TimeCycles<'a> {
    /// Looks at all transactions that count. Those without operations are passed over: no operation
    /// could show what they do.
    pub fn new(history: &'a History, index: &'a Index) -> TimeCycles<'a> {
        let listed = index.lists.version_edges.iter().filter(|edge| !edge.is_missing);
        let listed = listed.map(|edge| Inferred::new(edge.from, edge.to, edge.read)).collect();
        let listed = Edges::new(listed, history.txn_count());
        let graph = Graph { history, index, edges: &listed };
        let components = graph.components(&first_guess(history, index));
        let latest = vec![i64::MIN; history.txn_count()];
        let (order, early) = (Vec::new(), Vec::new());
        let mut cycles = TimeCycles { history, index, components, listed, order, latest, early };
        if history.has_times() {
            cycles.find();
        }
        cycles
    }

    pub fn is_empty(&self) -> bool {
        self.early.is_empty()
    }

    fn find(&mut self) {
        // Inside of a cycle without real time only sessions count, which go by number.
        let order = self.components.by_number();
        for &txn in &order {
            let latest = self.before(txn).map(|earlier| self.latest_until(earlier)).max();
            let latest = latest.unwrap_or(i64::MIN);
            self.latest[txn.index()] = latest;
            if self.end(txn) < latest {
                self.early.push(txn);
            }
        }
        self.early.sort_unstable();
        self.order = order;
    }

    /// What comes directly before `txn`; by a read or a list only if it does not also come after
    /// it.
    fn before(&self, txn: TxnId) -> impl Iterator<Item = TxnId> + '_ {
        let session = self.index.session_predecessor(self.history, txn);
        let sources = self.index.sources_of(self.history, txn);
        let listed = Edges::into(&self.listed, txn).iter().map(|edge| edge.from);
        let apart = move |earlier: &TxnId| !self.components.together(*earlier, txn);
        session.into_iter().chain(sources.chain(listed).filter(apart))
    }

    /// When `txn` began, or long ago if that is not known.
    fn begin(&self, txn: TxnId) -> i64 {
        let times = self.history.times(txn).filter(|_| !self.history.ops_of(txn).is_empty());
        times.map_or(i64::MIN, |(begin, _)| begin)
    }

    /// When `txn` ended, or never if that is not known.
    fn end(&self, txn: TxnId) -> i64 {
        let times = self.history.times(txn).filter(|_| !self.history.ops_of(txn).is_empty());
        times.map_or(i64::MAX, |(begin, end)| end.max(begin))
    }

    /// The latest begin of `txn` and all before it.
    fn latest_until(&self, txn: TxnId) -> i64 {
        self.latest[txn.index()].max(self.begin(txn))
    }

    /// The reads that are part of such a cycle, and the transactions that are part of one by
    /// session order alone. Without these there is none.
    pub fn to_blame(&self) -> (Vec<OpId>, Vec<TxnId>) {
        if self.early.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let earliest = self.earliest_ends();
        let is_bad = |from: TxnId, to: TxnId| {
            let apart = !self.components.together(from, to);
            apart && self.latest_until(from) > earliest[to.index()].min(self.end(to))
        };
        let mut reads: Vec<OpId> = Vec::new();
        for &txn in &self.order {
            let ops = self.history.ops_of(txn).map(OpId);
            let source = |op: &OpId| self.index.source_of(*op).txn();
            reads.extend(ops.filter(|op| source(op).is_some_and(|source| is_bad(source, txn))));
        }
        let edges = self.index.lists.version_edges.iter();
        let bad = edges.filter(|edge| !edge.is_missing && is_bad(edge.from, edge.to));
        reads.extend(self.lists_with(bad));
        (reads, self.out_of_step())
    }

    /// For each transaction the earliest end of those after it.
    fn earliest_ends(&self) -> Vec<i64> {
        let mut earliest = vec![i64::MAX; self.history.txn_count()];
        for &txn in self.order.iter().rev() {
            let end = earliest[txn.index()].min(self.end(txn));
            for earlier in self.before(txn) {
                earliest[earlier.index()] = earliest[earlier.index()].min(end);
            }
        }
        earliest
    }

    /// The lists that show one of `edges`.
    fn lists_with<'e>(&self, edges: impl Iterator<Item = &'e VersionEdge>) -> Vec<OpId> {
        let list = |read: OpId| match self.history.op(read).value.kind() {
            ValueKind::List(number) => self.history.list(number),
            _ => &[],
        };
        // The edges of a key are in the order of its list: the first one is enough.
        let mut first: FxHashMap<KeyId, usize> = FxHashMap::default();
        for edge in edges {
            let later = self.history.op(edge.later);
            first.entry(later.key).or_insert_with(|| {
                list(edge.read).iter().position(|&element| element == later.value).unwrap_or(0)
            });
        }
        if first.is_empty() {
            return Vec::new();
        }
        let shows = |read: &OpId| {
            let op = self.history.op(*read);
            let at = first.get(&op.key).filter(|_| op.kind == OpKind::Read);
            at.is_some_and(|&at| list(*read).len() > at)
        };
        (0..self.history.op_count()).map(OpId::from).filter(shows).collect()
    }

    /// Transactions that ended before one began that is earlier in their session.
    fn out_of_step(&self) -> Vec<TxnId> {
        let mut found = Vec::new();
        for session in self.history.sessions() {
            let mut latest = i64::MIN;
            let counts = |txn: &TxnId| self.index.counts[txn.index()];
            for txn in self.history.txns_of(session).map(TxnId).filter(counts) {
                if self.end(txn) < latest {
                    found.push(txn);
                }
                latest = latest.max(self.begin(txn));
            }
        }
        found
    }

    /// All of them, counted, with the smallest of the first as exemplar.
    pub fn group(&self, levels: &[Level], instances: usize) -> Option<AnomalyGroup> {
        let start = Instant::now();
        let mut exemplar: Option<Violation> = None;
        for violation in self.early.iter().take(CANDIDATES_MAX).filter_map(|&txn| self.tell(txn)) {
            let size = |violation: &Violation| (violation.txn_count(), violation.ops.len());
            if exemplar.as_ref().is_none_or(|best| size(&violation) < size(best)) {
                exemplar = Some(violation);
            }
            if start.elapsed() > PATIENCE {
                break;
            }
        }
        let at = |violation: Violation| violation.at(levels.to_vec());
        let told = self.early.iter().take(instances.min(INSTANCES_MAX));
        Some(AnomalyGroup {
            kind: Anomaly::RealTimeCycle,
            count: self.early.len() as u64,
            counted: Counted::Exactly,
            exemplar: at(exemplar?),
            instances: told.filter_map(|&txn| self.tell(txn)).map(at).collect(),
        })
    }

    /// A shortest cycle of `early`: back to a transaction that began after it had ended.
    fn tell(&self, early: TxnId) -> Option<Violation> {
        let path = self.shortest_path(early)?;
        let late = path.first()?.0;
        let mut cycle = vec![real_time_edge(self.history, early, late)];
        for (place, &(from, step)) in path.iter().enumerate() {
            let to = path.get(place + 1).map_or(early, |next| next.0);
            cycle.push(self.edge(from, to, step)?);
        }
        let mut ops = Vec::new();
        for edge in &cycle {
            add_ops(&edge.reason, &mut ops);
        }
        for txn in [early, late].into_iter().chain(path.iter().map(|(txn, _)| *txn)) {
            self.add_op_of(txn, &mut ops)?;
        }
        let mut seen = FxHashSet::default();
        ops.retain(|op| seen.insert(op.id));
        Some(Violation::new(Anomaly::RealTimeCycle, ops, cycle))
    }

    /// A path with the fewest transactions to `early` from one that began after it had ended, each
    /// with the step to the next. Any number of steps along a session is one.
    fn shortest_path(&self, early: TxnId) -> Option<Vec<(TxnId, Step)>> {
        let end = self.end(early);
        let mut next: FxHashMap<Reached, Option<Onward>> = FxHashMap::default();
        let mut queue: VecDeque<(Reached, Option<Onward>)> =
            VecDeque::from([((early, false), None)]);
        while let Some((state, onward)) = queue.pop_front() {
            if next.contains_key(&state) {
                continue;
            }
            next.insert(state, onward);
            if self.begin(state.0) > end {
                return Some(unwind(&next, state));
            }
            // Only what has a late begin before it leads anywhere.
            let leads = |txn: TxnId, step: Step| {
                let is_apart = step == Step::Session || !self.components.together(txn, state.0);
                is_apart && self.latest_until(txn) > end
            };
            let reach = |txn: Option<TxnId>, step: Step| {
                let txn = txn.filter(|&txn| leads(txn, step))?;
                Some(((txn, step == Step::Session), Some((state, step))))
            };
            for op in self.history.ops_of(state.0).map(OpId) {
                queue.extend(reach(self.index.source_of(op).txn(), Step::Read(op)));
            }
            for edge in Edges::into(&self.listed, state.0) {
                queue.extend(reach(Some(edge.from), Step::Listed(edge.read)));
            }
            let session = self.index.session_predecessor(self.history, state.0);
            let Some(reached) = reach(session, Step::Session) else { continue };
            if state.1 { queue.push_front(reached) } else { queue.push_back(reached) }
        }
        None
    }

    fn edge(&self, from: TxnId, to: TxnId, step: Step) -> Option<Edge> {
        let refs = Refs(self.history);
        let reason = match step {
            Step::Session => Reason::SessionOrder,
            Step::Read(read) => {
                let write = last_write(self.history, from, self.history.op(read).key)?;
                let (write, read, origin) = (refs.op(write), refs.op(read), Origin::Only);
                Reason::WriteRead { write, read, origin }
            }
            Step::Listed(read) => {
                let is_it =
                    |edge: &&VersionEdge| (edge.from, edge.to, edge.read) == (from, to, read);
                let edge = self.index.lists.version_edges.iter().find(is_it)?;
                Reason::VersionOrder {
                    earlier: refs.op(edge.earlier),
                    later: refs.op(edge.later),
                    read: refs.op(read),
                }
            }
        };
        Some(Edge { from: refs.txn(from), to: refs.txn(to), reason })
    }

    /// Adds an operation of `txn`, if there is none: without one it would not be there. A read
    /// comes with the write that it returned.
    fn add_op_of(&self, txn: TxnId, ops: &mut Vec<OpRef>) -> Option<()> {
        if ops.iter().any(|op| op.txn.id == Some(txn)) {
            return Some(());
        }
        let refs = Refs(self.history);
        let own = || self.history.ops_of(txn).map(OpId);
        let write = own().rfind(|&op| self.history.op(op).kind.is_write());
        let op = write.or_else(|| own().next())?;
        ops.push(refs.op(op));
        if write.is_none() {
            let (source, key) = (self.index.source_of(op), self.history.op(op).key);
            ops.extend(source_write(self.history, source, key).map(|op| refs.op(op)));
        }
        Some(())
    }
}

/// A step from an earlier transaction to a later one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Session,
    /// The operation of the later transaction that read from the earlier one.
    Read(OpId),
    /// The read of the list that shows both.
    Listed(OpId),
}

/// A transaction, and whether it was reached by a step along its session.
type Reached = (TxnId, bool);

/// Where the path goes on, and by which step.
type Onward = (Reached, Step);

/// The path from `start` to the end.
fn unwind(next: &FxHashMap<Reached, Option<Onward>>, start: Reached) -> Vec<(TxnId, Step)> {
    let mut path: Vec<(TxnId, Step)> = Vec::new();
    let mut state = start;
    while let Some(Some((after, step))) = next.get(&state) {
        let goes_on = *step == Step::Session && path.last().is_some_and(|last| last.1 == *step);
        if !goes_on {
            path.push((state.0, *step));
        }
        state = *after;
    }
    path
}

fn add_ops(reason: &Reason, ops: &mut Vec<OpRef>) {
    match reason {
        Reason::WriteRead { write, read, .. } => ops.extend([write.clone(), read.clone()]),
        Reason::VersionOrder { earlier, later, read } => {
            ops.extend([earlier.clone(), later.clone(), read.clone()])
        }
        _ => {}
    }
}
