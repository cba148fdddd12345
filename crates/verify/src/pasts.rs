//! How far into each session the causal past of a transaction reaches, as far as an order shows it.
//!
//! A causal past holds, with a transaction, all before it in its session. So one number for each
//! session says what is in it. The numbers of a block of sessions are kept for all transactions at
//! a time: memory is bounded, however many sessions there are.

use crate::reads::ExternalRead;
use seriatim_history::{History, SessionId, TxnId};
use std::collections::HashMap;
use std::ops::Range;

/// How many numbers are kept at a time, of four bytes each.
const CELLS_MAX: usize = 1 << 24;

/// The causal pasts of all transactions in a block of sessions.
pub(super) struct Pasts {
    sessions: Range<usize>,
    /// The transactions of these sessions.
    txns: Range<u32>,
    /// For each transaction and session the first transaction of the session that is not in the
    /// past; 0 if none is.
    ends: Vec<u32>,
}

impl Pasts {
    /// The pasts in one block of sessions after the other. `reads` stand in the order of their
    /// transactions, which extends session order and has writers before their readers.
    pub fn in_blocks(
        history: &History,
        order: &[TxnId],
        reads: &[ExternalRead],
    ) -> impl Iterator<Item = Pasts> {
        Pasts::in_blocks_of((CELLS_MAX / history.txn_count().max(1)).max(1), history, order, reads)
    }

    fn in_blocks_of(
        width: usize,
        history: &History,
        order: &[TxnId],
        reads: &[ExternalRead],
    ) -> impl Iterator<Item = Pasts> {
        let count = history.session_count();
        let blocks = (0..count).step_by(width).map(move |first| first..count.min(first + width));
        blocks.map(|sessions| Pasts::of(sessions, history, order, reads))
    }

    fn of(
        sessions: Range<usize>,
        history: &History,
        order: &[TxnId],
        reads: &[ExternalRead],
    ) -> Pasts {
        let txns_of = |session: usize| history.txns_of(SessionId(session as u32));
        let txns = txns_of(sessions.start).start..txns_of(sessions.end - 1).end;
        let ends = vec![0; sessions.len() * history.txn_count()];
        let mut pasts = Pasts { sessions, txns, ends };
        let mut last: HashMap<SessionId, TxnId> = HashMap::new();
        let mut reads = reads.iter().peekable();
        for &txn in order {
            let before = last.insert(history.session_of(txn), txn);
            before.into_iter().for_each(|before| pasts.add(history, txn, before));
            let mut known = before;
            while let Some(read) = reads.next_if(|read| read.reader == txn) {
                if read.source != known {
                    read.source.into_iter().for_each(|source| pasts.add(history, txn, source));
                    known = read.source;
                }
            }
        }
        pasts
    }

    /// Adds `before` and its past to the past of `txn`.
    fn add(&mut self, history: &History, txn: TxnId, before: TxnId) {
        let width = self.sessions.len();
        let (to, from) = (txn.index() * width, before.index() * width);
        for column in 0..width {
            self.ends[to + column] = self.ends[to + column].max(self.ends[from + column]);
        }
        let session = history.session_of(before).index();
        if self.sessions.contains(&session) {
            let end = &mut self.ends[to + session - self.sessions.start];
            *end = (*end).max(before.0 + 1);
        }
    }

    /// The first transaction of `session`, which is in the block, that is not in the past of `txn`.
    pub fn end(&self, txn: TxnId, session: SessionId) -> u32 {
        self.ends[txn.index() * self.sessions.len() + session.index() - self.sessions.start]
    }

    /// Those of `txns`, which are sorted, that are in a session of the block.
    pub fn of_block<'t>(&self, txns: &'t [TxnId]) -> &'t [TxnId] {
        let place = |end: u32| txns.partition_point(|txn| txn.0 < end);
        &txns[place(self.txns.start)..place(self.txns.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::{KeyId, OpId, notation};

    #[test]
    fn narrow_blocks_say_the_same_as_wide_ones() {
        let history =
            notation::parse("a: w(x,1) | w(x,2)\nb: r(x,1) w(y,1)\nc: r(y,1) | w(z,1)").unwrap();
        let order: Vec<TxnId> = history.txns().collect();
        let read = |reader: u32, source: u32| ExternalRead {
            reader: TxnId(reader),
            read: OpId(0),
            key: KeyId(0),
            source: Some(TxnId(source)),
        };
        let reads = [read(2, 0), read(3, 2)];
        for width in 1..=3 {
            let blocks: Vec<Pasts> = Pasts::in_blocks_of(width, &history, &order, &reads).collect();
            assert_eq!(blocks.len(), 3usize.div_ceil(width));
            let ends = |txn: u32| -> Vec<u32> {
                let of = |block: &Pasts| {
                    block
                        .sessions
                        .clone()
                        .map(|s| block.end(TxnId(txn), SessionId(s as u32)))
                        .collect()
                };
                blocks.iter().flat_map(|block| -> Vec<u32> { of(block) }).collect()
            };
            assert_eq!(
                [ends(1), ends(2), ends(3), ends(4)],
                [[1, 0, 0], [1, 0, 0], [1, 3, 0], [1, 3, 4]]
            );
            assert!(
                blocks.iter().all(|block| block
                    .of_block(&order)
                    .iter()
                    .all(|txn| block.txns.contains(&txn.0)))
            );
            assert_eq!(
                blocks.iter().map(|block| block.of_block(&order).len()).sum::<usize>(),
                order.len()
            );
        }
    }
}
