//! Reads of what only transactions of unknown content can have written.
//!
//! If some transactions of a history are not understood, a value that nobody is known to have
//! written is no wonder, and a read of it says nothing about the others: it is left out. From a
//! list, elements of unknown origin are left out as long as the last one, from whose transaction
//! the list was read, is known. Every verdict about what is left is one about less than happened,
//! so what is violated there is violated by the whole.
//!
//! The same of a recording that ends before transactions that others have read from: only what
//! comes after its last mark is in doubt.

use crate::atom::{Value, ValueKind};
use crate::columns::Columns;
use crate::ids::KeyId;
use crate::model::OpKind;
use rustc_hash::FxHashSet;

/// What became of an operation.
enum Left {
    As(Value),
    Out,
}

/// Which reads may be of what nobody knows.
#[derive(Default)]
pub(super) struct Doubt {
    /// Those behind this line; without a mark all of them.
    pub after: u64,
    /// Values that several transactions write: one that is missing may have written them, too.
    pub recurring: FxHashSet<Value>,
}

/// Leaves them out of the columns, and out of the places beside them. How many operations that
/// has changed.
pub(super) fn leave_out(columns: &mut Columns, places: &mut Vec<u32>, doubt: &Doubt) -> u64 {
    let known = known_values(columns);
    let mut changed = 0;
    let mut kept = 0;
    // How many operations stay before each, and in all.
    let mut stay = Vec::with_capacity(columns.op_kind.len() + 1);
    for op in 0..columns.op_kind.len() {
        stay.push(kept as u32);
        let line = u64::from(places[op]);
        let is_doubtful = line > doubt.after;
        let found = if is_doubtful { left(columns, op, &known, doubt) } else { same(columns, op) };
        let Left::As(value) = found else {
            columns.repairs.reads_left_out.add(line);
            changed += 1;
            continue;
        };
        if value != columns.op_value[op] {
            columns.repairs.lists_shortened.add(line);
            changed += 1;
        }
        columns.op_kind[kept] = columns.op_kind[op];
        columns.op_key[kept] = columns.op_key[op];
        columns.op_value[kept] = value;
        columns.op_txn[kept] = columns.op_txn[op];
        places[kept] = places[op];
        kept += 1;
    }
    stay.push(kept as u32);
    columns.move_marks(|op| stay[op as usize]);
    columns.op_kind.truncate(kept);
    columns.op_key.truncate(kept);
    columns.op_value.truncate(kept);
    columns.op_txn.truncate(kept);
    places.truncate(kept);
    changed
}

fn same(columns: &Columns, op: usize) -> Left {
    Left::As(columns.op_value[op])
}

fn known_values(columns: &Columns) -> FxHashSet<(KeyId, Value)> {
    let ops = columns.op_kind.iter().zip(&columns.op_key).zip(&columns.op_value);
    ops.filter(|((kind, _), _)| kind.is_write()).map(|((_, &key), &value)| (key, value)).collect()
}

fn left(
    columns: &mut Columns,
    op: usize,
    known: &FxHashSet<(KeyId, Value)>,
    doubt: &Doubt,
) -> Left {
    let (key, value) = (columns.op_key[op], columns.op_value[op]);
    let is_known =
        |value| known.contains(&(key, value)) || columns.initial.value_of(key) == Some(value);
    if columns.op_kind[op] != OpKind::Read {
        return Left::As(value);
    }
    let number = match value.kind() {
        ValueKind::Null => return Left::As(value),
        ValueKind::List(number) => number,
        _ if doubt.recurring.contains(&value) => return Left::Out,
        _ if is_known(value) => return Left::As(value),
        _ => return Left::Out,
    };
    let items = &columns.lists[number as usize];
    if items.last().is_some_and(|&last| !is_known(last)) {
        return Left::Out;
    }
    let items: Box<[Value]> = items.iter().copied().filter(|&item| is_known(item)).collect();
    if items.len() == columns.lists[number as usize].len() {
        return Left::As(value);
    }
    columns.lists.push(items);
    Left::As(Value::list(columns.lists.len() as u32 - 1))
}
