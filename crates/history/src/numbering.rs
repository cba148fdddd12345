//! Numbers for transactions and operations that do not depend on the order of the sessions in a
//! file, for what is kept beside a history and read with another copy of it.
//!
//! Sessions are put into an order that comes from what they did (module `fingerprint`); their
//! transactions and operations are numbered through. Two sessions that did the same at the same
//! time may stand for each other, so that it does not matter which of them comes first.

use crate::ids::{OpId, SessionId, TxnId};
use crate::model::History;

/// The numbers of a history, from 0 each.
#[derive(Debug)]
pub struct Numbering<'h> {
    history: &'h History,
    /// The sessions in the order of their numbers.
    sessions: Vec<SessionId>,
    /// The first transaction and operation number of each session, by its place in `sessions`.
    starts: Vec<(u32, u32)>,
    /// The place of each session in `sessions`.
    places: Vec<u32>,
}

impl History {
    /// Numbers that do not depend on the order of the sessions. Looks at every operation.
    pub fn numbering(&self) -> Numbering<'_> {
        let sessions = self.sessions_by_content();
        let mut places = vec![0; sessions.len()];
        let mut starts = Vec::with_capacity(sessions.len());
        let mut next = (0, 0);
        for (place, &session) in sessions.iter().enumerate() {
            places[session.index()] = place as u32;
            starts.push(next);
            let (txns, ops) = (self.txns_of(session), self.ops_of_session(session));
            next = (next.0 + txns.len() as u32, next.1 + ops.len() as u32);
        }
        Numbering { history: self, sessions, starts, places }
    }

    fn ops_of_session(&self, session: SessionId) -> std::ops::Range<u32> {
        let txns = self.txns_of(session);
        self.txn_bounds()[txns.start as usize]..self.txn_bounds()[txns.end as usize]
    }
}

impl Numbering<'_> {
    /// The number of a transaction.
    pub fn of_txn(&self, txn: TxnId) -> u32 {
        let session = self.history.session_of(txn);
        let start = self.starts[self.places[session.index()] as usize].0;
        start + (txn.0 - self.history.txns_of(session).start)
    }

    /// The number of an operation.
    pub fn of_op(&self, op: OpId) -> u32 {
        let session = self.history.session_of(self.history.txn_of(op));
        let start = self.starts[self.places[session.index()] as usize].1;
        start + (op.0 - self.history.ops_of_session(session).start)
    }

    /// The transaction of this number; a number that no transaction has stays as it is.
    pub fn txn(&self, number: u32) -> TxnId {
        if number as usize >= self.history.txn_count() {
            return TxnId(number);
        }
        let place = self.starts.partition_point(|start| start.0 <= number) - 1;
        let first = self.history.txns_of(self.sessions[place]).start;
        TxnId(first + (number - self.starts[place].0))
    }

    /// The operation of this number; a number that no operation has stays as it is.
    pub fn op(&self, number: u32) -> OpId {
        if number as usize >= self.history.op_count() {
            return OpId(number);
        }
        let place = self.starts.partition_point(|start| start.1 <= number) - 1;
        let first = self.history.ops_of_session(self.sessions[place]).start;
        OpId(first + (number - self.starts[place].1))
    }
}

#[cfg(test)]
mod tests {
    use crate::{OpId, TxnId, notation};

    #[test]
    fn numbers_are_those_of_the_same_history_in_another_order() {
        let one = notation::parse("a: w(x,1) | r(y,2)\nb: r(z,nil) w(y,2)\nc: w(z,1)!").unwrap();
        let other = notation::parse("c: w(z,1)!\na: w(x,1) | r(y,2)\nb: r(z,nil) w(y,2)").unwrap();
        let (numbers, others) = (one.numbering(), other.numbering());
        for op in (0..one.op_count()).map(OpId::from) {
            let same = others.op(numbers.of_op(op));
            assert_eq!(numbers.op(numbers.of_op(op)), op);
            let shown = |history: &crate::model::History, op| {
                let txn = history.txn_of(op);
                (
                    history.value_text(history.op(op).value),
                    history.session_name(history.session_of(txn)),
                )
            };
            assert_eq!(shown(&one, op), shown(&other, same));
            let txn = one.txn_of(op);
            assert_eq!(others.txn(numbers.of_txn(txn)), other.txn_of(same));
        }
    }

    #[test]
    fn a_number_that_nothing_has_stays_what_it_is() {
        let history = notation::parse("a: w(x,1)\nb:\nc: r(x,1)").unwrap();
        let numbers = history.numbering();
        assert_eq!((numbers.txn(7), numbers.op(9)), (TxnId(7), OpId(9)));
        for txn in history.txns() {
            assert_eq!(numbers.txn(numbers.of_txn(txn)), txn);
        }
    }

    /// What they did is the same: only when tells them apart.
    #[test]
    fn sessions_that_did_the_same_are_ordered_by_time() {
        let one = notation::parse("a: w(x,1) @1-2\nb: w(x,1) @3-4").unwrap();
        let other = notation::parse("b: w(x,1) @3-4\na: w(x,1) @1-2").unwrap();
        assert_eq!(one.numbering().txn(0), TxnId(0));
        assert_eq!(other.numbering().txn(0), TxnId(1));
    }
}
