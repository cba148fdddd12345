//! What a format cannot hold: the questions that its writer asks of a history, and refusals that
//! say where the history has it and what to do.

use super::Format;
use crate::atom::{Atom, Value, ValueKind};
use crate::error::WriteError;
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, Op, OpKind, Status};
use rustc_hash::FxHashSet;

/// A history on its way into a format.
pub(super) struct Writing<'h> {
    pub history: &'h History,
    format: Format,
    /// Keys whose initial value yields to a write of the same value.
    yielded: FxHashSet<KeyId>,
    /// Keys whose initial value is written by a transaction as well, and does not yield.
    contested: FxHashSet<KeyId>,
}

impl<'h> Writing<'h> {
    pub fn new(history: &'h History, format: Format) -> Writing<'h> {
        let initial = history.initial();
        let ops = (0..history.op_count() as u32).map(|op| history.op(OpId(op)));
        let rewritten =
            ops.filter(|op| op.kind.is_write() && initial.value_of(op.key) == Some(op.value));
        let rewritten: FxHashSet<KeyId> = rewritten.map(|op| op.key).collect();
        let (yielded, contested) = rewritten.into_iter().partition(|&key| initial.yields(key));
        Writing { history, format, yielded, contested }
    }

    /// Whether a read of `value` from `key` is one of the initial value.
    pub fn is_initial(&self, key: KeyId, value: Value) -> bool {
        let initial = self.history.initial();
        value == Value::NULL
            || (initial.value_of(key) == Some(value) && !self.yielded.contains(&key))
    }

    /// The operations of a transaction with their numbers.
    pub fn ops(&self, txn: TxnId) -> impl Iterator<Item = (OpId, Op)> + use<'h> {
        let history = self.history;
        history.ops_of(txn).map(move |op| (OpId(op), history.op(OpId(op))))
    }

    /// A refusal; `reason` may be empty. Which formats to write instead is added by
    /// [`super::write`].
    pub fn unsupported(&self, what: impl Into<String>, reason: &str) -> WriteError {
        WriteError::Unsupported {
            format: self.format.code(),
            what: what.into(),
            hint: reason.to_owned(),
        }
    }

    /// `what` in an operation, with its place.
    pub fn unsupported_op(&self, op: OpId, what: &str, reason: &str) -> WriteError {
        let txn = self.history.txn_name(self.history.txn_of(op));
        let place = self.history.place(op).map(|place| format!(", {place}")).unwrap_or_default();
        self.unsupported(format!("{what} (transaction {txn}{place})"), reason)
    }

    /// Refuses lists.
    pub fn registers_only(&self) -> Result<(), WriteError> {
        let is_list = |op: &OpId| {
            let op = self.history.op(*op);
            op.kind == OpKind::Append || matches!(op.value.kind(), ValueKind::List(_))
        };
        match (0..self.history.op_count() as u32).map(OpId).find(is_list) {
            Some(op) => Err(self.unsupported_op(op, "appends and lists", "")),
            None => Ok(()),
        }
    }

    /// Refuses reads of a value that may be the initial one or that of a transaction, except of the
    /// keys that the format `keeps` so: to write them as either would decide what the history
    /// leaves open.
    pub fn refuse_contested_reads(&self, keeps: impl Fn(KeyId) -> bool) -> Result<(), WriteError> {
        if self.contested.is_empty() {
            return Ok(());
        }
        let is_contested = |op: &OpId| {
            let Op { kind, key, value } = self.history.op(*op);
            let contested = self.contested.contains(&key)
                && self.history.initial().value_of(key) == Some(value);
            kind == OpKind::Read && contested && !keeps(key)
        };
        match (0..self.history.op_count() as u32).map(OpId).find(is_contested) {
            Some(op) => {
                let what = "a read of an initial value that a transaction writes, too";
                Err(self.unsupported_op(op, what, "which of them was read is open"))
            }
            None => Ok(()),
        }
    }

    /// Refuses transactions that ended otherwise than `allowed`.
    pub fn only_statuses(&self, allowed: &[Status]) -> Result<(), WriteError> {
        let Some(txn) =
            self.history.txns().find(|&txn| !allowed.contains(&self.history.status(txn)))
        else {
            return Ok(());
        };
        let what = match self.history.status(txn) {
            Status::Unknown => "transactions of unknown outcome",
            _ => "aborted transactions",
        };
        let name = self.history.txn_name(txn);
        Err(self.unsupported(format!("{what} (transaction {name})"), ""))
    }

    /// The key of an operation, which must be an integer.
    pub fn integer_key(&self, op: OpId) -> Result<i128, WriteError> {
        match self.history.key_name(self.history.op(op).key) {
            Atom::Int(number) => Ok(number),
            name => Err(self.unsupported_op(
                op,
                &format!("keys that are not integers, like `{name}`"),
                "",
            )),
        }
    }

    /// The value of an operation, which must be an integer (and not the null of an initial read).
    pub fn integer_value(&self, op: OpId) -> Result<i128, WriteError> {
        let value = self.history.op(op).value;
        match self.history.value_atom(value) {
            Some(Atom::Int(number)) => Ok(number),
            _ => {
                let text = self.history.value_text(value);
                let what = format!("values that are not integers, like `{text}`");
                Err(self.unsupported_op(op, &what, ""))
            }
        }
    }

    /// As [`Writing::integer_key`], for formats of unsigned numbers.
    pub fn unsigned_key(&self, op: OpId) -> Result<u64, WriteError> {
        let key = self.integer_key(op)?;
        u64::try_from(key).map_err(|_| self.unsupported_op(op, &format!("the key {key}"), ""))
    }

    /// Keys to which some transaction writes the number 0.
    pub fn keys_written_zero(&self) -> FxHashSet<KeyId> {
        let ops = (0..self.history.op_count() as u32).map(|op| self.history.op(OpId(op)));
        ops.filter(|op| op.kind.is_write() && op.value.raw() == 0).map(|op| op.key).collect()
    }

    /// For formats in which 0 is the initial value of every key: the number that stands for a read
    /// of `op`.
    pub fn zero_based_read(
        &self,
        op: OpId,
        written_zero: &FxHashSet<KeyId>,
    ) -> Result<i128, WriteError> {
        let Op { key, value, .. } = self.history.op(op);
        let initial = self.is_initial(key, value);
        if initial && written_zero.contains(&key) {
            let what = "a read of the initial value of a key to which 0 is written";
            return Err(self.unsupported_op(op, what, "0 is the initial value there"));
        }
        if initial {
            return Ok(0);
        }
        if value.raw() == 0 && !written_zero.contains(&key) {
            let what = "a read of a 0 that nobody wrote";
            return Err(self.unsupported_op(op, what, "0 is the initial value there"));
        }
        self.integer_value(op)
    }

    /// The names of all transactions as distinct integers; `None` if they are not.
    pub fn integer_txn_names(&self) -> Option<Vec<i128>> {
        distinct_integers(self.history.txns().map(|txn| self.history.txn_name(txn)))
    }

    /// The names of all sessions as distinct integers; `None` if they are not.
    pub fn integer_session_names(&self) -> Option<Vec<i128>> {
        distinct_integers(self.history.sessions().map(|session| self.history.session_name(session)))
    }
}

pub(super) fn distinct_integers(names: impl Iterator<Item = Atom>) -> Option<Vec<i128>> {
    let mut seen = FxHashSet::default();
    names
        .map(|name| match name {
            Atom::Int(number) if seen.insert(number) => Some(number),
            _ => None,
        })
        .collect()
}
