//! Register text out of a history.
//!
//! Transactions without operations leave no trace, and neighbouring aborted transactions of a
//! session become one: the format has no way to say otherwise, and no verdict depends on it.

use crate::error::WriteError;
use crate::formats::Format;
use crate::formats::refusals::{Writing, distinct_integers};
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, OpKind, Status};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Write;

/// Writes the transactions in the order of the input.
pub(in crate::formats) fn write(history: &History, out: &mut dyn Write) -> Result<(), WriteError> {
    let writing = Writing::new(history, Format::Plume);
    writing.registers_only()?;
    // Written out as 0, which is what it was: then a write of 0 is a duplicate here as it was
    // there.
    writing.refuse_contested_reads(|key| {
        history.initial().values.get(&key).is_some_and(|value| value.raw() == 0)
    })?;
    writing.only_statuses(&[Status::Committed, Status::Aborted])?;
    let writer =
        Writer { ids: Ids::new(&writing), written_zero: writing.keys_written_zero(), writing };
    writer.initial(out)?;
    for txn in writer.order()? {
        writer.txn(txn, out)?;
    }
    Ok(())
}

struct Writer<'h> {
    writing: Writing<'h>,
    ids: Ids,
    written_zero: FxHashSet<KeyId>,
}

/// The ids to write: those of the input where they are integers that can stand, otherwise numbers
/// from 1.
struct Ids {
    sessions: Vec<i128>,
    txns: FxHashMap<TxnId, i128>,
    /// An id that no committed transaction has.
    free: i128,
}

impl Ids {
    fn new(writing: &Writing<'_>) -> Ids {
        let history = writing.history;
        let sessions = writing.integer_session_names();
        let sessions = sessions.unwrap_or_else(|| (1..=history.session_count() as i128).collect());
        let committed: Vec<TxnId> =
            history.txns().filter(|&txn| history.status(txn) == Status::Committed).collect();
        let names = committed.iter().map(|&txn| history.txn_name(txn));
        let numbers = distinct_integers(names);
        // The two halves of the 64-bit range together are ambiguous to the reader, and -1 is taken.
        let numbers =
            numbers.filter(|numbers| numbers.iter().all(|&id| (0..1 << 63).contains(&id)));
        let numbers = numbers.unwrap_or_else(|| (1..=committed.len() as i128).collect());
        let free = numbers.iter().max().map_or(0, |max| max + 1);
        Ids { sessions, txns: committed.into_iter().zip(numbers).collect(), free }
    }
}

/// The number of each transaction; aborted ones have none.
pub(in crate::formats) fn txn_numbers(history: &History) -> Vec<Option<i128>> {
    let ids = Ids::new(&Writing::new(history, Format::Plume));
    history.txns().map(|txn| ids.txns.get(&txn).copied()).collect()
}

impl Writer<'_> {
    /// Keys whose initial value is given as 0. Any other becomes the 0 that every key starts with,
    /// which yields to writes of 0.
    fn zeros(&self) -> Vec<KeyId> {
        let zeros =
            self.writing.history.initial().values.iter().filter(|(_, value)| value.raw() == 0);
        let mut keys: Vec<KeyId> = zeros.map(|(&key, _)| key).collect();
        keys.sort_unstable();
        keys
    }

    /// Keys whose initial value the input wrote out, as a first transaction.
    fn initial(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        let history = self.writing.history;
        for key in self.zeros() {
            let name = history.key_name(key);
            let crate::atom::Atom::Int(name) = name else {
                return Err(self.writing.unsupported(format!("the key `{name}`"), ""));
            };
            let session = self.ids.sessions.first().copied().unwrap_or(0);
            writeln!(out, "w({name},0,{session},{})", self.ids.free)?;
        }
        Ok(())
    }

    /// The order of the input, unless its first transaction would be taken for the initial one.
    fn order(&self) -> Result<Vec<TxnId>, WriteError> {
        let history = self.writing.history;
        let mut order = history.txns_in_file_order();
        order.retain(|&txn| !history.ops_of(txn).is_empty());
        if !self.zeros().is_empty() || !order.first().is_some_and(|&txn| self.looks_initial(txn)) {
            return Ok(order);
        }
        let firsts: FxHashSet<TxnId> =
            history.sessions().filter_map(|s| self.first_of(s)).collect();
        let other = order.iter().position(|&txn| firsts.contains(&txn) && !self.looks_initial(txn));
        let Some(other) = other else {
            let what = "only sessions that start by writing zeros";
            return Err(self
                .writing
                .unsupported(what, "it takes the first for the initial values"));
        };
        order[..=other].rotate_right(1);
        Ok(order)
    }

    fn first_of(&self, session: crate::ids::SessionId) -> Option<TxnId> {
        let history = self.writing.history;
        history.txns_of(session).map(TxnId).find(|&txn| !history.ops_of(txn).is_empty())
    }

    fn looks_initial(&self, txn: TxnId) -> bool {
        let writes_zero = |op: crate::model::Op| op.kind == OpKind::Write && op.value.raw() == 0;
        self.writing.history.status(txn) == Status::Committed
            && self.writing.ops(txn).all(|(_, op)| writes_zero(op))
    }

    fn txn(&self, txn: TxnId, out: &mut dyn Write) -> Result<(), WriteError> {
        let session = self.ids.sessions[self.writing.history.session_of(txn).index()];
        let id = self.ids.txns.get(&txn).copied().unwrap_or(-1);
        for (op, content) in self.writing.ops(txn) {
            let (letter, value) = match content.kind {
                OpKind::Read => ('r', self.read_value(op, id)?),
                _ => ('w', self.writing.integer_value(op)?),
            };
            writeln!(out, "{letter}({},{value},{session},{id})", self.writing.integer_key(op)?)?;
        }
        Ok(())
    }

    /// Reads of aborted transactions are dropped by every reader, so they need not be right.
    fn read_value(&self, op: OpId, id: i128) -> Result<i128, WriteError> {
        let content = self.writing.history.op(op);
        if id == -1 && self.writing.is_initial(content.key, content.value) {
            return Ok(0);
        }
        let explicit_zero =
            self.writing.history.initial().values.get(&content.key).is_some_and(|v| v.raw() == 0);
        // A nil is the initial value for certain: beside a write of 0 it must not become a 0.
        let open = content.value.raw() == 0 || !self.written_zero.contains(&content.key);
        if explicit_zero && open && self.writing.is_initial(content.key, content.value) {
            return Ok(0);
        }
        self.writing.zero_based_read(op, &self.written_zero)
    }
}
