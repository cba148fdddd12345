//! What happened in a store, as a history that the checkers read.

use crate::atoms::ToAtom;
use crate::log::State;
use crate::past::INITIAL;
use crate::ranges::{Groups, Range};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{Atom, Atoms, Columns, History, KeyId, KeyNames, OpKind, Status, Value};
use std::sync::Arc;

/// Something that a transaction did.
#[derive(Clone, Debug)]
pub(crate) enum Recorded<V> {
    /// A read from another transaction.
    Read {
        key: u32,
        source: u32,
    },
    /// A read of its own last write.
    OwnRead {
        key: u32,
    },
    Write {
        key: u32,
        value: Option<V>,
    },
    /// A read of all members of a group that were yet to come.
    Range(Range),
}

/// Names for values: as they are, with a number where a key was given the same value before.
struct Values {
    atoms: Atoms,
    used: FxHashSet<(u32, Value)>,
    /// The number to try next for a value that a key was given before.
    next: FxHashMap<(u32, Value), u32>,
    /// The last write of each transaction to each key.
    last: FxHashMap<(u32, u32), Value>,
}

impl Values {
    fn name<V: ToAtom>(&mut self, key: u32, value: &V) -> Value {
        let first = value.to_atom();
        let plain = self.atoms.value(first.clone());
        if self.used.insert((key, plain)) {
            return plain;
        }
        let number = self.next.entry((key, plain)).or_insert(2);
        loop {
            let name = self.atoms.value(Atom::Str(format!("{first}#{number}").into()));
            *number += 1;
            if self.used.insert((key, name)) {
                return name;
            }
        }
    }
}

/// A transaction to be told of.
pub(crate) struct Told<'e, V> {
    pub number: u32,
    /// When it began and ended, if the store has a clock.
    pub times: Option<(i64, i64)>,
    pub session: u32,
    pub state: State,
    pub events: &'e [Recorded<V>],
    /// What it has read is not kept for its sake.
    pub writes_only: bool,
}

/// The history of transactions in the order in which they began.
pub(crate) fn history<'e, V: ToAtom + 'e>(
    keys: Vec<Arc<str>>,
    groups: &Groups,
    initial: &[Option<V>],
    sessions: u32,
    txns: impl Iterator<Item = Told<'e, V>>,
) -> History {
    let names = keys.into_iter().map(|name| Atom::Str((*name).into())).collect();
    let mut columns = Columns {
        session_count: sessions,
        key_names: KeyNames::Table(names),
        ..Columns::default()
    };
    let mut values = Values {
        atoms: Atoms::default(),
        used: FxHashSet::default(),
        next: FxHashMap::default(),
        last: FxHashMap::default(),
    };
    for (key, value) in initial.iter().enumerate() {
        if let Some(value) = value {
            let name = values.name(key as u32, value);
            columns.initial.values.insert(KeyId(key as u32), name);
        }
    }
    let mut reads: Vec<(usize, u32, u32)> = Vec::new();
    let mut times = Vec::new();
    for (txn, told) in txns.enumerate() {
        let txn = txn as u32;
        columns.push_txn(told.session, status(told.state));
        times.extend(told.times);
        for event in told
            .events
            .iter()
            .filter(|event| !told.writes_only || matches!(event, Recorded::Write { .. }))
        {
            if let Recorded::Range(range) = event {
                // Written out: the initial version of each member that has come since.
                for key in groups.later(range) {
                    reads.push((columns.op_value.len(), key, INITIAL));
                    columns.push_op(txn, OpKind::Read, KeyId(key), Value::NULL);
                }
                continue;
            }
            let (kind, key, value) = match event {
                Recorded::Write { key, value } => {
                    let name = values.name(*key, value);
                    values.last.insert((told.number, *key), name);
                    (OpKind::Write, *key, name)
                }
                Recorded::Range(_) => continue,
                Recorded::OwnRead { key } => {
                    (OpKind::Read, *key, values.last[&(told.number, *key)])
                }
                // A transaction that began later may have written it: filled in below.
                Recorded::Read { key, source } => {
                    reads.push((columns.op_value.len(), *key, *source));
                    (OpKind::Read, *key, Value::NULL)
                }
            };
            columns.push_op(txn, kind, KeyId(key), value);
        }
    }
    for (op, key, source) in reads {
        let initial = columns.initial.values.get(&KeyId(key)).copied();
        columns.op_value[op] = if source == INITIAL {
            initial.unwrap_or(Value::NULL)
        } else {
            values.last[&(source, key)]
        };
    }
    columns.txn_times = (!times.is_empty()).then_some(times);
    columns.atoms = values.atoms;
    columns.finish().expect("a store has fewer transactions than ids are wide")
}

/// An open transaction may still commit.
fn status(state: State) -> Status {
    match state {
        State::Committed => Status::Committed,
        State::Withdrawn | State::Aborted | State::Settled => Status::Aborted,
        State::Open => Status::Unknown,
    }
}
