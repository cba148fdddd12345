//! Names for messages: those of the input if there is a history to take them from, numbers
//! otherwise.

use seriatim_history::{History, KeyId, OpId, OpKind, TxnId};

#[derive(Clone, Copy)]
pub(crate) struct Labels<'h>(pub Option<&'h History>);

impl Labels<'_> {
    /// A transaction with its session, and where it begins.
    pub fn txn(self, txn: TxnId) -> String {
        let Some(history) = self.0.filter(|history| txn.index() < history.txn_count()) else {
            return format!("transaction number {}", txn.0);
        };
        let first = history.ops_of(txn).next().and_then(|op| history.place(OpId(op)));
        let place = first.map_or_else(String::new, |place| format!(", {place}"));
        format!("{} (session {}{place})", history.txn_label(txn), session(history, txn))
    }

    /// What an operation did, in which transaction, and where it stands.
    pub fn op(self, id: OpId) -> String {
        let Some(history) = self.0.filter(|history| id.index() < history.op_count()) else {
            return format!("operation number {}", id.0);
        };
        let (op, txn) = (history.op(id), history.txn_of(id));
        let action = match op.kind {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Append => "append",
        };
        let place = history.place(id).map_or_else(String::new, |place| format!(", {place}"));
        format!(
            "the {action} of {} = {} in {} (session {}{place})",
            history.key_name(op.key),
            history.value_label(op.key, op.value),
            history.txn_label(txn),
            session(history, txn),
        )
    }

    pub fn key(self, key: KeyId) -> String {
        match self.0.filter(|history| key.index() < history.key_count()) {
            Some(history) => history.key_name(key).to_string(),
            None => format!("key number {}", key.0),
        }
    }
}

fn session(history: &History, txn: TxnId) -> String {
    history.session_name(history.session_of(txn)).to_string()
}
