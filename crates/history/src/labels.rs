//! Transactions and values in the words that messages and reports use for them.

use crate::atom::{Atom, Value};
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, OpKind};

impl History {
    /// The name of a transaction. Numbers alone are hard to tell from values, so a numeric name
    /// gets a `t`.
    pub fn txn_label(&self, txn: TxnId) -> String {
        match self.txn_name(txn) {
            Atom::Int(number) => format!("t{number}"),
            name => name.to_string(),
        }
    }

    /// A value of `key` as people know it: the initial value of a list is the empty list.
    pub fn value_label(&self, key: KeyId, value: Value) -> String {
        if value == Value::NULL && self.is_list(key) {
            return "[]".to_owned();
        }
        self.value_text(value)
    }

    /// Whether something was appended to `key`. A scan, but only for initial values that are
    /// shown, and mostly a short one.
    pub fn is_list(&self, key: KeyId) -> bool {
        let ops = self.keys().iter().enumerate().filter(|(_, other)| **other == key);
        self.has_lists()
            && ops.map(|(op, _)| self.op(OpId::from(op)).kind).any(|kind| kind == OpKind::Append)
    }
}
