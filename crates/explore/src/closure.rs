//! Which transactions must commit before which: session order, reads, and what the axioms ask for,
//! closed under transitivity.
//!
//! At a level whose axiom does not speak of the commit order (all but the strong ones) a history is
//! consistent iff these edges have no cycle. One set for each transaction; an edge costs one step
//! for each transaction that it newly reaches, a snapshot costs a copy of as many words as there
//! are transactions, which is how steps are taken back.

use crate::txn_set::{INITIAL, Id, TxnSet};

/// For each transaction all that must commit before it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Closure {
    before: Vec<TxnSet>,
}

impl Closure {
    /// A transaction joins behind `previous` of its session. Nothing is after it yet.
    #[inline]
    pub fn begin(&mut self, id: Id, previous: Option<Id>) {
        if self.before.len() <= usize::from(id) {
            self.before.resize(usize::from(id) + 1, TxnSet::NONE);
        }
        self.before[usize::from(id)] =
            previous.map_or(TxnSet::NONE, |previous| self.up_to(previous));
    }

    /// What must commit before `id`, and itself.
    #[inline]
    fn up_to(&self, id: Id) -> TxnSet {
        self.before[usize::from(id)].with(id)
    }

    /// The transaction, which nothing is after, reads from `source`.
    #[inline]
    pub fn read_from(&mut self, id: Id, source: Id) {
        if source != INITIAL {
            self.before[usize::from(id)] = self.before[usize::from(id)].union(self.up_to(source));
        }
    }

    /// Asks for `from` to commit before `to`; false if that closes a cycle.
    #[inline]
    pub fn add(&mut self, from: Id, to: Id) -> bool {
        if to == INITIAL || from == to || self.before[usize::from(from)].has(to) {
            return false;
        }
        if self.before[usize::from(to)].has(from) {
            return true;
        }
        let new = self.up_to(from);
        // The sets are closed, so all behind `to` have it in theirs: one pass is enough.
        for (id, before) in self.before.iter_mut().enumerate() {
            if id == usize::from(to) || before.has(to) {
                *before = before.union(new);
            }
        }
        true
    }

    /// Adds all `edges`; false if that closes a cycle.
    pub fn add_all(&mut self, edges: &[(Id, Id)]) -> bool {
        edges.iter().all(|&(from, to)| self.add(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_refused() {
        let mut closure = Closure::default();
        (0..4).for_each(|id| closure.begin(id, None));
        assert!(closure.add(0, 1) && closure.add(2, 3) && closure.add(1, 2));
        assert!(!closure.add(3, 0) && !closure.add(1, 1) && !closure.add(0, INITIAL));
        assert!(closure.add(0, 3));
        closure.begin(4, Some(1));
        closure.read_from(4, 3);
        assert!(!closure.add(4, 0) && closure.add_all(&[(0, 4), (3, 4)]));
    }
}
