//! A behaviour as a history that the checkers read.
//!
//! Checkers match a read to its write by the value, so a value that a key is given again gets a
//! number behind it.

use crate::ordered::{Op, Ordered, Read, Record};
use crate::program::{Local, Program, Value};
use crate::txn_set::{INITIAL, Id};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{
    Atom, Atoms, Columns, History, Initial, KeyId, KeyNames, Names, OpKind, Status, Value as Named,
};

/// Names for values.
#[derive(Default)]
struct Values {
    atoms: Atoms,
    used: FxHashSet<(u32, Named)>,
    /// The last write of each transaction to each key.
    last: FxHashMap<(Id, u32), Named>,
}

impl Values {
    fn name<V: Value>(&mut self, key: u32, value: &V) -> Named {
        let text = value.to_string();
        let plain = match text.parse::<i128>() {
            Ok(number) => Atom::Int(number),
            Err(_) => Atom::Str(text.clone().into_boxed_str()),
        };
        let mut name = self.atoms.value(plain);
        let mut number = 2;
        while !self.used.insert((key, name)) {
            name = self.atoms.value(Atom::Str(format!("{text}#{number}").into_boxed_str()));
            number += 1;
        }
        name
    }
}

/// How a transaction is shown that wrote nothing to the database in the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aborted {
    /// As it was: aborted, with all it did. Checkers leave it out.
    AsTheyWere,
    /// With what it read from others, as if it had committed: that obeys the level, so that a
    /// verdict may rest on it.
    AsReaders,
}

/// The history of a behaviour; its transactions are named after session and place, as in `alice-1`.
pub(crate) fn history<V: Value, L: Local>(
    ordered: &Ordered<V, L>,
    program: &Program<V, L>,
    aborted: Aborted,
) -> History {
    let keys: Vec<Atom> = ordered.key_names().iter().map(|name| Atom::Str(name.clone())).collect();
    let sessions = program.session_names().map(|name| Atom::Str(name.into())).collect();
    let mut columns = Columns {
        session_count: ordered.sessions() as u32,
        session_names: Names::Table(sessions),
        key_names: KeyNames::Table(keys),
        ..Columns::default()
    };
    let mut values = Values::default();
    for key in 0..ordered.key_names().len() as u32 {
        let name = values.name(key, ordered.initial(key));
        columns.initial.values.insert(KeyId(key), name);
    }
    let mut names = Vec::new();
    // A read stands behind its write in the order, so the names of values are known when they are
    // needed.
    for record in ordered.order() {
        let is_reader = is_reader(record, aborted);
        let status = match record.is_committed || is_reader {
            true => Status::Committed,
            false => Status::Aborted,
        };
        let txn = columns.push_txn(record.session, status);
        names.push(Atom::Str(name(program, record.session, record.index).into()));
        for op in &record.ops {
            // Also what is not shown gets its name, so that a value has one in both histories.
            let (kind, key, value) = operation(op, record, &mut values, &columns.initial);
            if !is_reader || matches!(op, Op::Read(_)) {
                columns.push_op(txn, kind, KeyId(key), value);
            }
        }
    }
    columns.txn_names = Names::Table(names);
    columns.atoms = values.atoms;
    columns.finish().expect("a program has fewer transactions than ids are wide")
}

/// Whether a transaction is shown with what it read from others, and nothing else.
fn is_reader<V: Value, L: Local>(record: &Record<V, L>, aborted: Aborted) -> bool {
    // What a transaction read is why it panicked.
    let has_panicked = record.panic.is_some();
    let counts = aborted == Aborted::AsReaders && !record.reads.is_empty();
    has_panicked || (counts && !record.is_committed)
}

/// An operation, with the name of its value.
fn operation<V: Value, L: Local>(
    op: &Op<V>,
    record: &Record<V, L>,
    values: &mut Values,
    initial: &Initial,
) -> (OpKind, u32, Named) {
    match op {
        Op::Write(key, value) => {
            let value = values.name(*key, value);
            values.last.insert((record.id, *key), value);
            (OpKind::Write, *key, value)
        }
        Op::OwnRead(key) => (OpKind::Read, *key, values.last[&(record.id, *key)]),
        Op::Read(read) => {
            let Read { key, source, .. } = record.reads[*read as usize];
            let value = if source == INITIAL {
                initial.values[&KeyId(key)]
            } else {
                values.last[&(source, key)]
            };
            (OpKind::Read, key, value)
        }
    }
}

/// The name of a transaction.
pub(crate) fn name<V: Value, L: Local>(
    program: &Program<V, L>,
    session: u32,
    index: u32,
) -> String {
    format!("{}-{}", program.sessions[session as usize].name, index + 1)
}
