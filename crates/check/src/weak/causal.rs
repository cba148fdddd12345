//! The causal order, for those who ask about single pairs of transactions.

use super::context::Context;
use super::edges::positions;
use crate::index::Index;
use seriatim_history::{History, TxnId};

/// Session order and reads, closed transitively, with one order that extends them.
pub(crate) struct CausalOrder<'a> {
    context: Context<'a>,
    position: Vec<u32>,
}

impl<'a> CausalOrder<'a> {
    /// `order` must extend session order and reads.
    pub fn new(
        history: &'a History,
        index: &'a Index,
        order: &'a [TxnId],
        threads: usize,
    ) -> CausalOrder<'a> {
        let position = positions(order, history.txn_count());
        CausalOrder { context: Context::new(history, index, order, threads), position }
    }

    /// The place of a transaction in the order.
    #[inline]
    pub fn place(&self, txn: TxnId) -> u32 {
        self.position[txn.index()]
    }

    /// The items all of whose pairs (earlier, later) are causally ordered. Block by block, since
    /// the clocks of many sessions are not held at once.
    pub fn keep_if_causal<T>(
        &self,
        items: Vec<T>,
        pairs: impl Fn(&T) -> [Option<(TxnId, TxnId)>; 2],
    ) -> Vec<T> {
        let mut kept = vec![true; items.len()];
        let session = |txn: TxnId| self.context.index.session_of(txn);
        let asked = |item: &T| pairs(item).into_iter().flatten().collect::<Vec<_>>();
        if items.iter().any(|item| !asked(item).is_empty()) {
            self.context.each_block(|clocks| {
                for (item, kept) in items.iter().zip(&mut kept) {
                    let here = asked(item);
                    let here =
                        here.iter().filter(|pair| clocks.sessions.contains(&session(pair.0)));
                    *kept &= here.into_iter().all(|&(a, b)| clocks.get().reaches(a, session(a), b));
                }
            });
        }
        let mut kept = kept.into_iter();
        items.into_iter().filter(|_| kept.next() == Some(true)).collect()
    }
}
