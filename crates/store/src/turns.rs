//! An order in which transactions are to run, one at a time.
//!
//! Whoever comes too early waits. If nobody comes whose turn it is, the order is given up after a
//! while: an application that does something else is not to hang.

use crate::chooser::TxnName;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// An order of transactions that is being kept.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    left: VecDeque<TxnName>,
    /// How long to wait for the next one.
    patience: Duration,
    /// Since when somebody waits and nothing goes on.
    stuck_since: Option<Instant>,
    is_given_up: bool,
}

impl Turns {
    pub fn new(order: impl IntoIterator<Item = TxnName>, patience: Duration) -> Turns {
        let left = order.into_iter().collect();
        Turns { left, patience, stuck_since: None, is_given_up: false }
    }

    /// Whether a transaction may begin now, while so many others are open; it begins then.
    pub fn take(&mut self, txn: TxnName, open: u32) -> bool {
        let is_stuck = self.stuck_since.is_some_and(|since| since.elapsed() >= self.patience);
        self.is_given_up |= is_stuck;
        if self.is_given_up {
            return true;
        }
        let may = open == 0 && self.may_begin(txn);
        self.stuck_since = if may { None } else { self.stuck_since.or(Some(Instant::now())) };
        may
    }

    fn may_begin(&mut self, txn: TxnName) -> bool {
        let is_next = self.left.front() == Some(&txn);
        if is_next {
            self.left.pop_front();
        }
        // One that the order does not know, but that its session does before one of the order.
        let is_before = || {
            let is_later = |other: &TxnName| other.session == txn.session && other.txn > txn.txn;
            !self.left.contains(&txn) && self.left.iter().any(is_later)
        };
        is_next || self.left.is_empty() || is_before()
    }

    /// A transaction has ended.
    pub fn went_on(&mut self) {
        self.stuck_since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(1000);

    fn txn(session: u32, txn: u32) -> TxnName {
        TxnName { session, txn }
    }

    #[test]
    fn transactions_begin_in_their_order_and_one_at_a_time() {
        let mut turns = Turns::new([txn(1, 0), txn(0, 0)], LONG);
        assert!(!turns.take(txn(0, 0), 0));
        assert!(!turns.take(txn(1, 0), 1));
        assert!(turns.take(txn(1, 0), 0));
        // What the order does not know comes after it.
        assert!(!turns.take(txn(1, 1), 0));
        assert!(turns.take(txn(0, 0), 0));
        assert!(turns.take(txn(1, 1), 0));
    }

    #[test]
    fn what_a_session_does_before_its_turn_may_begin() {
        let mut turns = Turns::new([txn(1, 0), txn(0, 1)], LONG);
        assert!(turns.take(txn(0, 0), 0));
        assert!(!turns.take(txn(0, 1), 0));
    }

    #[test]
    fn an_order_that_is_not_kept_is_given_up() {
        let mut turns = Turns::new([txn(1, 0)], Duration::ZERO);
        assert!(!turns.take(txn(0, 0), 1));
        assert!(turns.take(txn(0, 0), 1));
    }
}
