//! The explicit stack of the search: where it could have gone another way, and which way it went.
//!
//! A node of the tree of calls of EXPLORE with several children is a [`Fork`]. The numbers of the
//! children along the way from the root name a node, on every machine and in every run: subtrees
//! are handed out and searches resumed by them.

use crate::ordered::Tail;
use crate::txn_set::Id;

/// A read that takes part in a swap: the place of its transaction in the order, and which of its
/// reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReadAt {
    pub place: usize,
    pub read: usize,
}

/// A choice among several ways to go on.
#[derive(Debug)]
pub(crate) enum Choice<V, L> {
    /// What a read reads from.
    Source { at: ReadAt, sources: Vec<Id> },
    /// After the commit of the last of `len` transactions: nothing, or the swap with one of these
    /// reads.
    Swap { len: usize, reads: Vec<ReadAt>, replaced: Option<Tail<V, L>> },
    /// Which session goes on after `len` transactions (the baseline only).
    Session { len: usize, sessions: Vec<u32> },
}

impl<V, L> Choice<V, L> {
    fn arity(&self) -> usize {
        match self {
            Choice::Source { sources, .. } => sources.len(),
            Choice::Swap { reads, .. } => reads.len() + 1,
            Choice::Session { sessions, .. } => sessions.len(),
        }
    }
}

/// A choice, and the child that the search is in.
#[derive(Debug)]
pub(crate) struct Fork<V, L> {
    pub choice: Choice<V, L>,
    pub arity: usize,
    pub child: usize,
    /// The share of the tree that each child is taken to be.
    pub share: f64,
}

impl<V, L> Fork<V, L> {
    pub fn new(choice: Choice<V, L>, child: usize, parent_share: f64) -> Self {
        let arity = choice.arity();
        Fork { choice, arity, child, share: parent_share / arity as f64 }
    }
}
