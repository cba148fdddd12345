//! Initial values as writes, for formats that know no other.
//!
//! The first transaction, in a session of its own, writes 0 to every key of which 0 is read. In
//! every commit order that there was, it can stand first, where the initial transaction was: what
//! was valid at a level stays so. No planted anomaly reads an initial value.

use seriatim_history::{Columns, KeyId, OpKind, Status, TxnMeta, Value};

/// Adds the transaction, unless no initial value is read.
pub(crate) fn write(columns: &mut Columns) {
    let Some(zero) = columns.initial.default else { return };
    let keys = keys_read_as(zero, columns);
    if keys.is_empty() {
        return;
    }
    for txn in &mut columns.txns {
        txn.session += 1;
    }
    columns.session_count += 1;
    columns.txns.insert(0, TxnMeta { session: 0, status: Status::Committed });
    if let Some(times) = &mut columns.txn_times {
        times.insert(0, (i64::MIN, i64::MAX));
    }
    for txn in &mut columns.op_txn {
        *txn += 1;
    }
    columns.op_txn.splice(0..0, keys.iter().map(|_| 0));
    columns.op_kind.splice(0..0, keys.iter().map(|_| OpKind::Write));
    columns.op_value.splice(0..0, keys.iter().map(|_| zero));
    columns.op_key.splice(0..0, keys);
}

/// In the order of the keys.
fn keys_read_as(wanted: Value, columns: &Columns) -> Vec<KeyId> {
    let mut read = vec![false; columns.key_names.len()];
    let ops = columns.op_kind.iter().zip(&columns.op_key).zip(&columns.op_value);
    for ((_, key), _) in
        ops.filter(|((kind, _), value)| **kind == OpKind::Read && **value == wanted)
    {
        read[key.index()] = true;
    }
    let keys = read.into_iter().enumerate().filter(|(_, read)| *read);
    keys.map(|(key, _)| KeyId::from(key)).collect()
}
