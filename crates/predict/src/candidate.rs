//! From choices back to operations: how much of each session is kept, and which reads have another
//! writer.

use crate::encode::Assignment;
use crate::problem::{Node, Problem, Read};
use crate::question::Boundary;
use crate::run::{Act, Run, Txn};
use seriatim_history::{KeyId, OpId, TxnId};

/// How much of a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Transactions of the session below this number are kept whole.
    pub whole_until: u32,
    /// The transaction after them up to this operation.
    pub partial: Option<(TxnId, OpId)>,
}

/// A history that differs from the run in these points.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidate {
    pub sessions: Vec<Kept>,
    /// Reads with another writer than in the run.
    pub changed: Vec<(OpId, Option<TxnId>)>,
}

/// A part of a run that was searched by itself; the whole run is a part of itself.
pub(crate) struct Part<'r> {
    pub whole: &'r Run,
    pub run: Run,
    /// Places of the serial order that the part has.
    pub from: u32,
    pub to: u32,
}

impl Part<'_> {
    /// The candidate of the whole run that `assignment` stands for.
    pub fn candidate(&self, problem: &Problem, assignment: &Assignment) -> Candidate {
        let mut candidate = Candidate { sessions: self.as_observed(), changed: Vec::new() };
        for (number, node) in problem.nodes.iter().enumerate() {
            let kept = assignment.kept[number];
            if let Some(end) = self.end(problem, assignment, node, kept) {
                let session = &mut candidate.sessions[node.session as usize];
                // The first end in a session counts: what follows is cut.
                if end.whole_until <= session.whole_until {
                    *session = end;
                }
            }
        }
        for (read, source) in problem.reads.iter().zip(&assignment.source) {
            if let Some(source) = source.filter(|&source| source != read.observed) {
                self.change(problem, read, source, &mut candidate.changed);
            }
        }
        candidate
    }

    /// Every session as far as the part goes.
    fn as_observed(&self) -> Vec<Kept> {
        let mut sessions = vec![Kept { whole_until: 0, partial: None }; self.whole.session_count];
        for (txn, &place) in self.whole.txns.iter().zip(&self.whole.place) {
            if place < self.to {
                let session = &mut sessions[txn.session as usize];
                session.whole_until = session.whole_until.max(txn.id.0 + 1);
            }
        }
        sessions
    }

    /// Where the session of `node` ends, if it ends in it.
    fn end(
        &self,
        problem: &Problem,
        assignment: &Assignment,
        node: &Node,
        kept: u32,
    ) -> Option<Kept> {
        let Txn { id, events, .. } = &self.run.txns[node.txn as usize];
        let changed = self.changed_read(problem, assignment, node);
        if problem.boundary == Boundary::Relaxed && changed.is_some() {
            return Some(Kept { whole_until: id.0 + 1, partial: None });
        }
        let is_cut = kept > 0 && (kept as usize) < node.slots.len();
        let last_read = || {
            let mut kept = events[..node.slots[kept as usize] as usize].iter().rev();
            kept.find(|event| event.act != Act::Write).map(|event| event.op)
        };
        let until = match changed {
            Some(read) => Some(events[problem.reads[read].events[0] as usize].op),
            None if is_cut => last_read(),
            None => None,
        };
        (until.is_some() || kept == 0)
            .then_some(Kept { whole_until: id.0, partial: until.map(|op| (*id, op)) })
    }

    fn changed_read(
        &self,
        problem: &Problem,
        assignment: &Assignment,
        node: &Node,
    ) -> Option<usize> {
        let mut reads = node.reads.start as usize..node.reads.end as usize;
        reads.find(|&read| {
            assignment.source[read].is_some_and(|source| source != problem.reads[read].observed)
        })
    }

    fn change(
        &self,
        problem: &Problem,
        read: &Read,
        source: Option<u32>,
        changed: &mut Vec<(OpId, Option<TxnId>)>,
    ) {
        let events = &self.run.txns[problem.nodes[read.node as usize].txn as usize].events;
        // Under the strict boundary nothing after the first event is kept.
        let count = if problem.boundary == Boundary::Strict { 1 } else { read.events.len() };
        for &event in &read.events[..count] {
            let event = &events[event as usize];
            let source = match source {
                Some(node) => Some(self.run.txns[problem.nodes[node as usize].txn as usize].id),
                None => self.before(event.key),
            };
            changed.push((event.op, source));
        }
    }

    /// The last writer of `key` before the part.
    fn before(&self, key: KeyId) -> Option<TxnId> {
        if self.from == 0 {
            return None;
        }
        let writes =
            |txn: &Txn| txn.events.iter().any(|event| event.key == key && event.act == Act::Write);
        let earlier =
            self.whole.txns.iter().zip(&self.whole.place).filter(|&(_, &place)| place < self.from);
        let writers = earlier.filter(|&(txn, _)| writes(txn));
        writers.max_by_key(|&(_, &place)| place).map(|(txn, _)| txn.id)
    }
}
