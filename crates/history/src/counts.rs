//! How large a history is.

use crate::ids::{OpId, TxnId};
use crate::model::{History, Status};
use crate::repairs::{Repairs, Tally};

/// How large a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sessions.
    pub sessions: usize,
    /// Transactions, aborted and unknown ones included.
    pub transactions: usize,
    /// Transactions that are known to have committed and did something.
    pub committed: usize,
    /// Operations.
    pub operations: usize,
    /// Keys.
    pub keys: usize,
    /// Lines or records that the reader passed over because they match nothing.
    pub skipped: u64,
    /// Transactions of clients that are missing because it is not known what they did.
    pub unknown_content: u64,
    /// Whether it says when transactions began and ended.
    pub has_times: bool,
    /// How many say neither, in a history in which others do.
    pub untimed: usize,
    /// How many say only one of the two although it is known how they ended.
    pub half_timed: usize,
    /// Transactions that begin, by the clock, before the one before them in their session ended.
    pub backward: Tally,
    /// What the reader left out or changed.
    pub repairs: Repairs,
}

impl History {
    /// How large it is.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            sessions: self.session_count(),
            transactions: self.txn_count(),
            committed: self.txns().filter(|&txn| self.has_committed(txn)).count(),
            operations: self.op_count(),
            keys: self.keys_that_occur(),
            skipped: self.skipped(),
            unknown_content: self.unknown_content(),
            has_times: self.has_times(),
            untimed: self.count_times(|_, begin, end| begin.is_none() && end.is_none()),
            half_timed: self.count_times(|status, begin, end| match status {
                // When it ended cannot be known.
                Status::Unknown => false,
                _ => begin.is_some() != end.is_some(),
            }),
            backward: self.backward_times(),
            repairs: *self.repairs(),
        }
    }

    /// Whether a transaction committed and did something.
    fn has_committed(&self, txn: TxnId) -> bool {
        self.status(txn) == Status::Committed && !self.ops_of(txn).is_empty()
    }

    /// How many transactions, with the times that are known of them, are as `counts` says.
    fn count_times(&self, counts: impl Fn(Status, Option<i64>, Option<i64>) -> bool) -> usize {
        let is_counted = |txn: &TxnId| {
            let Some((begin, end)) = self.times(*txn) else { return false };
            let (begin, end) = (Some(begin), Some(end));
            counts(
                self.status(*txn),
                begin.filter(|&begin| begin != i64::MIN),
                end.filter(|&end| end != i64::MAX),
            )
        };
        self.txns().filter(is_counted).count()
    }

    fn backward_times(&self) -> Tally {
        let mut lines = Vec::new();
        for session in self.sessions() {
            let txns: Vec<TxnId> = self.txns_of(session).map(TxnId).collect();
            for pair in txns.windows(2) {
                let (Some((_, end)), Some((begin, _))) = (self.times(pair[0]), self.times(pair[1]))
                else {
                    return Tally::default();
                };
                if end != i64::MAX && begin != i64::MIN && begin < end {
                    lines.push(self.first_line(pair[1]));
                }
            }
        }
        Tally::of(lines)
    }

    /// Where the first operation of a transaction stands; 0 if that is not known.
    fn first_line(&self, txn: TxnId) -> u64 {
        let op = self.ops_of(txn).next();
        op.and_then(|op| self.place(OpId(op))).map_or(0, |place| place.number)
    }
}

#[cfg(test)]
mod tests {
    use crate::notation;

    #[test]
    fn times_that_are_missing_or_go_back_are_counted() {
        let text = "a: w(x,1) @1-5 | w(x,2) @3-9 | w(x,3)\nb: r(x,1) @2- | r(x,1)? @3-\nc: r(x,3)";
        let counts = notation::parse(text).unwrap().counts();
        assert_eq!((counts.untimed, counts.half_timed, counts.backward.count), (2, 1, 1));
        let counts = notation::parse("a: w(x,1) | w(x,2)").unwrap().counts();
        assert_eq!((counts.untimed, counts.half_timed, counts.backward.count), (0, 0, 0));
    }
}
