//! The edges of a refutation between nodes of transactions, with chains for what all earlier ones
//! have in common.
//!
//! Everything in a session precedes everything after it there, and so it is with real time. Chains
//! say that with a number of edges that is linear: a transaction enters the chain after it, and
//! a transaction that leaves the chain later comes after it by one step.
//!
//! ```text
//! a      b      c          a ──► b: the session, from a
//! │ ┌──► │ ┌──► │          a ──► c: the session, from a, not by way of b
//! ▼ │    ▼ │    ▼
//! ○ ─┴─► ○ ┴──► ○
//! ```

use super::ids::LocalTxn;
use super::proof::{Cycle, Label, Step};
use seriatim_history::SessionId;
use std::rc::Rc;

/// A node: a point of a transaction, or a link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(super) struct NodeId(pub usize);

/// Why one node precedes another.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// From the begin to the commit of a transaction, into a chain or along it: no step.
    Inside,
    Step(Rc<Step>),
    /// Out of the chain of a session: a step from the transaction that entered it.
    Session,
    /// Out of the chain of moments.
    RealTime,
}

/// The nodes of transactions come first, `per_txn` for each; those of chains follow.
#[derive(Clone)]
pub(super) struct LinkGraph {
    per_txn: usize,
    own: usize,
    /// For each transaction its session.
    sessions: Rc<[SessionId]>,
    links: Vec<Vec<(NodeId, Link)>>,
    count: usize,
}

impl LinkGraph {
    pub fn new(sessions: Rc<[SessionId]>, per_txn: usize, chained: usize) -> LinkGraph {
        let own = sessions.len() * per_txn;
        LinkGraph { per_txn, own, sessions, links: vec![Vec::new(); own + chained], count: 0 }
    }

    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// How much there is to copy.
    pub fn size(&self) -> u64 {
        (self.links.len() + self.count) as u64
    }

    pub fn add(&mut self, from: NodeId, to: NodeId, link: Link) {
        self.links[from.0].push((to, link));
        self.count += 1;
    }

    pub fn links(&self, node: NodeId) -> &[(NodeId, Link)] {
        &self.links[node.0]
    }

    /// The transaction of a node; meaningless for a link of a chain.
    fn txn(&self, node: NodeId) -> LocalTxn {
        LocalTxn(node.0 / self.per_txn)
    }

    /// The steps of a walk that begins at a node of a transaction.
    pub fn steps(&self, from: NodeId, walk: &[(&Link, NodeId)]) -> Cycle {
        let mut steps = Vec::new();
        let mut at = self.txn(from);
        for &(link, node) in walk {
            let to = self.txn(node);
            match link {
                Link::Inside => {}
                Link::Step(step) => steps.push(step.clone()),
                // Of what both the session and real time show the session is the simpler reason.
                Link::RealTime if at > to || self.sessions[at.0] != self.sessions[to.0] => {
                    steps.push(Step::new(at, to, Label::RealTime));
                }
                Link::Session | Link::RealTime => steps.push(Step::new(at, to, Label::Session)),
            }
            if node.0 < self.own {
                at = to;
            }
        }
        steps
    }
}
