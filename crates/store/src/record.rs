//! What happened in a store, as a history that the checkers read.

use crate::atoms::ToAtom;
use crate::log::State;
use crate::past::INITIAL;
use crate::recorded::Recorded;
use crate::scanned::{GroupNames, Scanned};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{
    Atom, Atoms, Columns, History, KeyId, KeyNames, OpKind, StatementMeta, Status, Value,
};
use std::sync::Arc;

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
    fn name(&mut self, key: u32, first: Atom) -> Value {
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
    groups: GroupNames<'_>,
    initial: impl Iterator<Item = (u32, Atom)>,
    sessions: u32,
    txns: impl Iterator<Item = Told<'e, V>>,
) -> History {
    let txns: Vec<Told<'e, V>> = txns.collect();
    let names = keys.into_iter().map(|name| Atom::Str((*name).into())).collect();
    let columns = Columns {
        session_count: sessions,
        key_names: KeyNames::Table(names),
        ..Columns::default()
    };
    let values = Values {
        atoms: Atoms::default(),
        used: FxHashSet::default(),
        next: FxHashMap::default(),
        last: FxHashMap::default(),
    };
    let scans = Scanned::new(groups, only_writers(&txns), all_writes(&txns));
    let mut recorder = Recorder { columns, values, scans, reads: Vec::new() };
    for (key, value) in initial {
        let name = recorder.values.name(key, value);
        recorder.columns.initial.values.insert(KeyId(key), name);
    }
    let mut times = Vec::new();
    for told in &txns {
        times.extend(told.times);
        recorder.txn(told);
    }
    recorder.columns.txn_times = (!times.is_empty()).then_some(times);
    recorder.finish()
}

/// For each key that one transaction wrote that did not abort, that transaction.
fn only_writers<V>(txns: &[Told<'_, V>]) -> FxHashMap<u32, u32> {
    let mut writers: FxHashMap<u32, Option<u32>> = FxHashMap::default();
    for told in txns.iter().filter(|told| status(told.state) != Status::Aborted) {
        for event in told.events {
            if let Recorded::Write { key, .. } = event {
                let writer = writers.entry(*key).or_insert(Some(told.number));
                *writer = writer.filter(|&writer| writer == told.number);
            }
        }
    }
    writers.into_iter().filter_map(|(key, writer)| Some((key, writer?))).collect()
}

/// Which transactions wrote which keys, by key.
fn all_writes<V>(txns: &[Told<'_, V>]) -> Vec<(u32, u32)> {
    let mut writes = Vec::new();
    for told in txns {
        writes.extend(told.events.iter().filter_map(|event| match event {
            Recorded::Write { key, .. } => Some((*key, told.number)),
            _ => None,
        }));
    }
    writes.sort_unstable();
    writes.dedup();
    writes
}

/// A history in the making.
struct Recorder<'g> {
    columns: Columns,
    values: Values,
    scans: Scanned<'g>,
    /// Reads whose values are filled in at the end, with their keys and sources: a transaction
    /// that began later may have written them.
    reads: Vec<(usize, u32, u32)>,
}

impl Recorder<'_> {
    fn txn<V: ToAtom>(&mut self, told: &Told<'_, V>) {
        let txn = self.columns.push_txn(told.session, status(told.state));
        let is_statement = |event: &Recorded<V>| matches!(event, Recorded::Statement(_));
        // Each piece but perhaps the first begins with its statement.
        for events in told.events.chunk_by(|_, next| !is_statement(next)) {
            let from = self.columns.mark();
            self.events(txn, told, events);
            if let Some(Recorded::Statement(content)) = events.first() {
                let (to, content) = (self.columns.mark(), Arc::clone(content));
                self.columns.statements.push(StatementMeta { txn, from, to, content });
            }
        }
    }

    fn events<V: ToAtom>(&mut self, txn: u32, told: &Told<'_, V>, events: &[Recorded<V>]) {
        let is_aborted = status(told.state) == Status::Aborted;
        // Between reads that were asked about others have committed, so that their order counts.
        let was_asked = events.iter().any(|event| matches!(event, Recorded::Asked));
        let mut statement = match told.writes_only || was_asked {
            true => Default::default(),
            false => self.scans.statement(events, told.number, is_aborted),
        };
        for event in events {
            match event {
                Recorded::Write { key, value } => {
                    let name = self.values.name(*key, value.to_atom());
                    self.values.last.insert((told.number, *key), name);
                    self.columns.push_op(txn, OpKind::Write, KeyId(*key), name);
                }
                Recorded::Statement(_) | Recorded::Asked => {}
                _ if told.writes_only => {}
                Recorded::Read { key, .. } | Recorded::OwnRead { key }
                    if statement.is_scanned(*key) => {}
                Recorded::Read { key, source } => {
                    self.reads.push((self.columns.op_value.len(), *key, *source));
                    self.columns.push_op(txn, OpKind::Read, KeyId(*key), Value::NULL);
                }
                Recorded::OwnRead { key } => {
                    let value = self.values.last[&(told.number, *key)];
                    self.columns.push_op(txn, OpKind::Read, KeyId(*key), value);
                }
                Recorded::Range(range) => {
                    if let Some(scan) = self.scans.range(range, &mut statement) {
                        self.columns.push_scan(txn, scan, 0);
                    }
                }
            }
        }
        for scan in self.scans.rest(statement) {
            self.columns.push_scan(txn, scan, 0);
        }
    }

    fn finish(mut self) -> History {
        for (op, key, source) in self.reads {
            let initial = self.columns.initial.values.get(&KeyId(key)).copied();
            self.columns.op_value[op] = if source == INITIAL {
                initial.unwrap_or(Value::NULL)
            } else {
                self.values.last[&(source, key)]
            };
        }
        self.columns.atoms = self.values.atoms;
        self.columns.groups = self.scans.groups();
        self.columns.finish().expect("a store has fewer transactions than ids are wide")
    }
}

/// An open transaction may still commit.
fn status(state: State) -> Status {
    match state {
        State::Committed => Status::Committed,
        State::Withdrawn | State::Aborted | State::Settled => Status::Aborted,
        State::Open => Status::Unknown,
    }
}
