//! Transactions and operations as reports name them.

use crate::violation::{OpRef, TxnRef, ValueRef};
use seriatim_history::{Atom, History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};

/// Names things of one history.
#[derive(Clone, Copy)]
pub struct Refs<'h>(pub &'h History);

impl Refs<'_> {
    /// A transaction.
    pub fn txn(self, txn: TxnId) -> TxnRef {
        let history = self.0;
        let session = history.session_of(txn);
        TxnRef {
            id: Some(txn),
            name: txn_name(history, txn),
            session: history.session_name(session).to_string(),
            index: txn.0 - history.txns_of(session).start,
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
        OpRef {
            id: Some(op),
            txn: self.txn(history.txn_of(op)),
            kind: operation.kind,
            key: history.key_name(operation.key).to_string(),
            value: self.value_of_key(operation.key, operation.value),
            place: history.place(op),
            element: None,
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
        match value == Value::NULL && is_list(self.0, key) {
            true => ValueRef::List(Vec::new()),
            false => self.value(value),
        }
    }
}

/// Whether something was appended to `key`. A scan, but only for initial values that a report
/// shows, and mostly a short one.
fn is_list(history: &History, key: KeyId) -> bool {
    let ops = history.keys().iter().enumerate().filter(|(_, other)| **other == key);
    history.has_lists()
        && ops.map(|(op, _)| history.op(OpId::from(op)).kind).any(|kind| kind == OpKind::Append)
}

/// Names for messages: those of the input if there is a history to take them from, numbers
/// otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Names<'h>(pub Option<&'h History>);

impl Names<'_> {
    /// A transaction with its session, and where it begins.
    pub fn txn(self, txn: TxnId) -> String {
        let Some(history) = self.0.filter(|history| txn.index() < history.txn_count()) else {
            return format!("transaction number {}", txn.0);
        };
        let TxnRef { name, session, .. } = Refs(history).txn(txn);
        let first = history.ops_of(txn).next().and_then(|op| history.place(OpId(op)));
        let place = first.map_or_else(String::new, |place| format!(", {place}"));
        format!("{name} (session {session}{place})")
    }

    /// What an operation did, in which transaction, and where it stands.
    pub fn op(self, op: OpId) -> String {
        let Some(history) = self.0.filter(|history| op.index() < history.op_count()) else {
            return format!("operation number {}", op.0);
        };
        let op = Refs(history).op(op);
        let (action, OpRef { txn, key, value, place, .. }) = (op.action(), op);
        let place = place.map_or_else(String::new, |place| format!(", {place}"));
        format!("the {action} of {key} = {value} in {} (session {}{place})", txn.name, txn.session)
    }

    pub fn key(self, key: KeyId) -> String {
        match self.0.filter(|history| key.index() < history.key_count()) {
            Some(history) => history.key_name(key).to_string(),
            None => format!("key number {}", key.0),
        }
    }
}

/// Numbers alone are hard to tell from values, so numeric names get a `t`.
fn txn_name(history: &History, txn: TxnId) -> String {
    match history.txn_name(txn) {
        Atom::Int(number) => format!("t{number}"),
        name => name.to_string(),
    }
}
