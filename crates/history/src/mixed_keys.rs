//! Keys that are registers and lists at once.
//!
//! A register has one value, which a write replaces; a list has elements, to which an append adds
//! one. A history in which a key is both says nothing about either: what was read of it cannot be
//! matched to what was written.

use crate::atom::{Atom, Value, ValueKind};
use crate::columns::Columns;
use crate::model::OpKind;

/// What to do about such a key.
pub(crate) const ONE_KIND: &str = "a key is a register, which is written, or a list, which is \
                                   appended to: give the other operations a key of their own";

/// Two operations, by their index in the columns, of which one takes a key for a register and the
/// other for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MixedKey {
    pub earlier: usize,
    pub later: usize,
}

/// What an operation takes its key for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Register,
    List,
}

impl MixedKey {
    /// The first operation that takes its key for something else than an earlier one did.
    pub fn find(columns: &Columns, key_count: usize) -> Option<MixedKey> {
        let has_lists = !columns.lists.is_empty() || columns.op_kind.contains(&OpKind::Append);
        if !has_lists {
            return None;
        }
        let mut seen: Vec<Option<(KeyKind, usize)>> = vec![None; key_count];
        for op in 0..columns.op_kind.len() {
            let Some(kind) = kind_of_key(columns, op) else { continue };
            match &mut seen[columns.op_key[op].index()] {
                Some((known, earlier)) if *known != kind => {
                    return Some(MixedKey { earlier: *earlier, later: op });
                }
                Some(_) => {}
                unseen => *unseen = Some((kind, op)),
            }
        }
        None
    }

    /// What is wrong, said at the place of the later operation.
    pub fn problem(self, columns: &Columns, names: &[Atom], earlier_line: u32) -> String {
        let name = &names[columns.op_key[self.later].index()];
        let (later, earlier) = (use_of_key(columns, self.later), use_of_key(columns, self.earlier));
        format!("the key {name} is {later} here, but {earlier} in line {earlier_line}")
    }
}

/// What an operation says of its key; `None` for a read of the initial value, which both have.
fn kind_of_key(columns: &Columns, op: usize) -> Option<KeyKind> {
    let (key, value) = (columns.op_key[op], columns.op_value[op]);
    match (columns.op_kind[op], value.kind()) {
        (OpKind::Append, _) => Some(KeyKind::List),
        (OpKind::Write, _) => Some(KeyKind::Register),
        (OpKind::Read, ValueKind::List(_)) => Some(KeyKind::List),
        (OpKind::Read, _) => {
            let is_initial = value == Value::NULL || columns.initial.value_of(key) == Some(value);
            (!is_initial).then_some(KeyKind::Register)
        }
    }
}

fn use_of_key(columns: &Columns, op: usize) -> &'static str {
    match (columns.op_kind[op], columns.op_value[op].kind()) {
        (OpKind::Append, _) => "appended to",
        (OpKind::Write, _) => "written",
        (OpKind::Read, ValueKind::List(_)) => "read as a list",
        (OpKind::Read, _) => "read as a register",
    }
}
