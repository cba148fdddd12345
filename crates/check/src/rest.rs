//! What is left of a history without some of its reads and transactions.

use crate::index::Index;
use crate::outcome::Options;
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};

/// A history, and what is to be left out of it because it is told already.
pub(crate) struct Leftover<'a> {
    pub whole: &'a History,
    /// Which transactions count.
    pub counts: &'a [bool],
    /// For each operation whether it is a read that is left out.
    pub aside: Vec<bool>,
    /// Transactions that are left out, with the reads of what they wrote.
    pub used: FxHashSet<TxnId>,
}

/// A part of a history.
pub(crate) struct Rest {
    pub history: History,
    pub index: Index,
    /// For each operation of the part the same operation of the whole.
    pub kept: Vec<OpId>,
}

impl Leftover<'_> {
    /// Leaves out `reads`.
    pub fn set_aside(&mut self, reads: impl IntoIterator<Item = OpId>) {
        for read in reads {
            self.aside[read.index()] = true;
        }
    }

    /// What is left.
    pub fn rest(&self, options: &Options) -> Rest {
        let kept = self.kept();
        let history = self.whole.restricted_to(&kept);
        let index = Index::build(&history, options.threads);
        Rest { history, index, kept }
    }

    fn kept(&self) -> Vec<OpId> {
        let history = self.whole;
        let writes =
            self.used.iter().flat_map(|&txn| history.ops_of(txn)).map(|op| history.op(OpId(op)));
        let gone: FxHashSet<(KeyId, Value)> =
            writes.filter(|op| op.kind == OpKind::Write).map(|op| (op.key, op.value)).collect();
        let others =
            history.txns().filter(|txn| !self.used.contains(txn) && self.counts[txn.index()]);
        let ops = others.flat_map(|txn| history.ops_of(txn)).map(OpId);
        let doubtful = self.doubtful();
        let stays = |op: &OpId| {
            if self.aside[op.index()] {
                return false;
            }
            let op = history.op(*op);
            let is_doubtful = |value: Value| doubtful.contains(&(op.key, value));
            let is_in_doubt = match op.value.kind() {
                _ if doubtful.is_empty() => false,
                ValueKind::List(list) => history.list(list).iter().any(|&value| is_doubtful(value)),
                _ => is_doubtful(op.value),
            };
            op.kind != OpKind::Read || !(gone.contains(&(op.key, op.value)) || is_in_doubt)
        };
        ops.filter(stays).collect()
    }

    /// What transactions wrote that count only if a read of a value with several writers comes from
    /// them. Without such a transaction a read of it would seem to have one source.
    fn doubtful(&self) -> FxHashSet<(KeyId, Value)> {
        let history = self.whole;
        let is_open =
            |txn: &TxnId| history.status(*txn) == Status::Unknown && !self.counts[txn.index()];
        let ops = history.txns().filter(is_open).flat_map(|txn| history.ops_of(txn));
        let writes = ops.map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write());
        writes.map(|op| (op.key, op.value)).collect()
    }
}
