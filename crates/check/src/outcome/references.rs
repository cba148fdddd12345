//! Transactions and operations as reports name them.

use super::violation::{OpRef, TxnRef, ValueRef};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};
use std::sync::Arc;

/// Names things of one history.
#[derive(Clone, Copy, Debug)]
pub struct Refs<'h>(pub &'h History);

impl Refs<'_> {
    /// A transaction.
    pub fn txn(self, txn: TxnId) -> TxnRef {
        let history = self.0;
        let session = history.session_of(txn);
        TxnRef {
            id: Some(txn),
            name: history.txn_label(txn),
            session: history.session_name(session).to_string(),
            index: history.place_in_session(txn),
            is_unknown: history.status(txn) == Status::Unknown,
        }
    }

    /// The initial transaction.
    pub fn initial(self) -> TxnRef {
        TxnRef {
            id: None,
            name: "initial".to_owned(),
            session: String::new(),
            index: 0,
            is_unknown: false,
        }
    }

    /// An operation.
    pub fn op(self, op: OpId) -> OpRef {
        let history = self.0;
        let operation = history.op(op);
        let scan = history.scan_of(op);
        // What a scan found as it was initially has no value of its own.
        let value = match operation.value {
            Value::NULL if scan.is_some() => history.initial().values.get(&operation.key),
            _ => None,
        };
        let value = value.copied().unwrap_or(operation.value);
        OpRef {
            id: Some(op),
            txn: self.txn(history.txn_of(op)),
            kind: operation.kind,
            key: history.key_name(operation.key).to_string(),
            value: self.value_of_key(operation.key, value),
            place: history.place(op),
            element: None,
            statement: history.statement_of(op).map(|one| Arc::clone(&one.content)),
            scan: scan
                .map(|scan| history.groups()[scan.content.group as usize].name.as_ref().into()),
        }
    }

    /// The write of the initial transaction to `key`.
    pub fn initial_write(self, key: KeyId) -> OpRef {
        let history = self.0;
        let value = history.initial().value_of(key).unwrap_or(Value::NULL);
        OpRef {
            id: None,
            txn: self.initial(),
            kind: OpKind::Write,
            key: history.key_name(key).to_string(),
            value: self.value_of_key(key, value),
            place: None,
            element: None,
            statement: None,
            scan: None,
        }
    }

    /// A value.
    pub fn value(self, value: Value) -> ValueRef {
        let history = self.0;
        match value.kind() {
            ValueKind::Null => ValueRef::Null,
            ValueKind::Int(_) | ValueKind::Atom(_) => ValueRef::Scalar(history.value_text(value)),
            ValueKind::List(number) => {
                let elements = history.list(number).iter();
                ValueRef::List(elements.map(|&element| history.value_text(element)).collect())
            }
        }
    }

    /// A value of a key: the initial value of a list is the empty list.
    fn value_of_key(self, key: KeyId, value: Value) -> ValueRef {
        match value == Value::NULL && self.0.is_list(key) {
            true => ValueRef::List(Vec::new()),
            false => self.value(value),
        }
    }
}
