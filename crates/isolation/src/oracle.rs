//! Recorded histories, by the definition: enumerate which transactions of unknown outcome
//! committed, who read from whom and which append each element of a list is; accept if the axioms
//! hold for one choice. Exponential, for histories of up to about seven transactions, and the
//! measure of every fast algorithm in the property tests.

use crate::axioms::{self, Execution, Transaction};
use crate::level::Level;
use crate::order::{Guarantee, Order};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};

/// A read, and where it reads from.
#[derive(Clone, Copy, Debug)]
struct Read {
    reader: usize,
    key: KeyId,
    source: Source,
}

/// An external read (reader, operation, key) and its legal sources.
type Choice = (usize, u32, KeyId, Vec<Source>);

/// The appends behind the elements of the longest list of a key, in the order of the list.
type Appends = (KeyId, Vec<u32>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Initial,
    Txn(usize),
}

/// Whether `history` has what is asked: a level, with sessions unless an order is named.
pub fn satisfies(history: &History, asked: impl Into<Guarantee>) -> bool {
    let Guarantee { level, order } = asked.into();
    satisfies_mix(history, &|_| level, order)
}

/// Whether `history`, of which every outcome is known, is read committed in which session order
/// joins φ, as over SQL: a session also sees what it committed itself.
pub fn is_read_committed_over_sql(history: &History) -> bool {
    let demand =
        Demand { levels: &|_| Level::ReadCommitted, order: Order::Sessions, sessions_at_rc: true };
    let world = World::new(history, &[], 0);
    world.lists_repeat(demand.levels) && world.satisfies(&demand)
}

/// Whether every transaction of `history` has what its own level promises, in the order that
/// `order` speaks of. Of a transaction at cut isolation nothing is asked but that its reads repeat;
/// if all are, it does not matter where values come from either.
pub fn satisfies_mix(history: &History, levels: &dyn Fn(TxnId) -> Level, order: Order) -> bool {
    let unknown: Vec<TxnId> =
        history.txns().filter(|&txn| history.status(txn) == Status::Unknown).collect();
    let world = |choice| World::new(history, &unknown, choice);
    if history.txns().all(|txn| levels(txn) == Level::CutIsolation) && history.txn_count() > 0 {
        return world(surely_committed(history, &unknown)).is_cut_isolated(levels);
    }
    let demand = Demand { levels, order, sessions_at_rc: false };
    (0..1u32 << unknown.len()).any(|choice| {
        let world = world(choice);
        world.is_cut_isolated(levels) && world.lists_repeat(levels) && world.satisfies(&demand)
    })
}

/// Whether `order` is a commit order of `history` at the level that is asked: it has all committed
/// transactions, some of unknown outcome, and some choice of a writer for each read satisfies the
/// axiom.
pub fn accepts(history: &History, asked: impl Into<Guarantee>, order: &[TxnId]) -> bool {
    let asked = asked.into();
    let mut txns = order.to_vec();
    txns.sort_unstable();
    let repeated = txns.windows(2).any(|pair| pair[0] == pair[1]);
    let complete = history.txns().all(|txn| match history.status(txn) {
        Status::Committed => txns.contains(&txn),
        Status::Aborted => !txns.contains(&txn),
        Status::Unknown => true,
    });
    let place = |txn| txns.iter().position(|other| other == txn);
    let order: Option<Vec<usize>> = order.iter().map(place).collect();
    let demand = Demand { levels: &|_| asked.level, order: asked.order, sessions_at_rc: false };
    let world = World { history, txns: txns.clone() };
    let accepted = |order: &Vec<usize>| {
        let accept = |reads: &[Read], appends: &[Appends]| {
            world.execution(reads, &demand).accepts(order) && world.lists_agree(appends, order)
        };
        world.lists_repeat(demand.levels) && world.some_sources(accept)
    };
    !repeated && complete && order.as_ref().is_some_and(accepted)
}

/// What is asked of a history.
struct Demand<'a> {
    levels: &'a dyn Fn(TxnId) -> Level,
    order: Order,
    sessions_at_rc: bool,
}

/// The unknown transactions that a committed one, or another of this set, can only have read from:
/// a value, or any element of a list. Cut isolation does not care where values come from, so the
/// other levels' "some choice makes it consistent" would excuse too much.
fn surely_committed(history: &History, unknown: &[TxnId]) -> u32 {
    let everything = World::new(history, unknown, u32::MAX);
    let mut choice = 0u32;
    loop {
        let world = World::new(history, unknown, choice);
        let read_from = |writer: TxnId| {
            let writer = everything.txns.iter().position(|&txn| txn == writer);
            world
                .txns
                .iter()
                .filter_map(|reader| everything.txns.iter().position(|txn| txn == reader))
                .any(|reader| {
                    let external = everything.external_reads(reader);
                    let only_source = |&(_, key, value): &(u32, KeyId, Value)| {
                        let sources = everything.sources(reader, key, value);
                        sources.len() == 1 && writer.map(Source::Txn) == sources.first().copied()
                    };
                    external.iter().any(only_source)
                        || writer.is_some_and(|writer| everything.shows_element_of(reader, writer))
                })
        };
        let next = (0..unknown.len())
            .filter(|&bit| read_from(unknown[bit]))
            .fold(choice, |set, bit| set | 1 << bit);
        if next == choice {
            return choice;
        }
        choice = next;
    }
}

/// A history in which every outcome is known.
struct World<'h> {
    history: &'h History,
    /// The committed transactions.
    txns: Vec<TxnId>,
}

impl<'h> World<'h> {
    fn new(history: &'h History, unknown: &[TxnId], choice: u32) -> World<'h> {
        let committed = |txn: &TxnId| match unknown.iter().position(|other| other == txn) {
            Some(bit) => choice >> bit & 1 == 1,
            None => history.status(*txn) == Status::Committed,
        };
        World { history, txns: history.txns().filter(committed).collect() }
    }

    fn ops(&self, txn: usize) -> impl Iterator<Item = (u32, OpKind, KeyId, Value)> + '_ {
        self.history.ops_of(self.txns[txn]).map(|id| {
            let op = self.history.op(OpId(id));
            (id, op.kind, op.key, self.last_element(op.value))
        })
    }

    fn last_element(&self, value: Value) -> Value {
        match value.kind() {
            ValueKind::List(number) => {
                self.history.list(number).last().copied().unwrap_or(Value::NULL)
            }
            _ => value,
        }
    }

    /// The elements of a list; a register as a list of one.
    fn elements(&self, value: Value) -> Vec<Value> {
        match value.kind() {
            ValueKind::List(number) => self.history.list(number).to_vec(),
            _ => vec![value],
        }
    }

    /// The value that `txn` leaves in `key`, if it writes it.
    fn last_write(&self, txn: usize, key: KeyId) -> Option<Value> {
        self.ops(txn).filter(|op| op.1.is_write() && op.2 == key).last().map(|op| op.3)
    }

    fn last_write_op(&self, txn: usize, key: KeyId) -> Option<u32> {
        self.ops(txn).filter(|op| op.1.is_write() && op.2 == key).last().map(|op| op.0)
    }

    fn satisfies(&self, demand: &Demand<'_>) -> bool {
        self.some_sources(|reads, appends| {
            let execution = self.execution(reads, demand);
            execution.some_commit_order(|order| self.lists_agree(appends, order))
        })
    }

    /// What the axioms need to know, if these are the sources of the reads.
    fn execution(&self, reads: &[Read], demand: &Demand<'_>) -> Execution {
        let txns = self.txns.iter().enumerate().map(|(number, &txn)| {
            let mine = reads.iter().filter(|read| read.reader == number);
            let reads = mine.map(|read| axioms::Read {
                key: read.key.index(),
                source: match read.source {
                    Source::Initial => None,
                    Source::Txn(writer) => Some(writer),
                },
            });
            let writes = self.ops(number).filter(|op| op.1.is_write()).map(|op| op.2.index());
            Transaction {
                session: self.history.session_of(txn).index(),
                level: (demand.levels)(txn),
                times: self.history.times(txn),
                reads: reads.collect(),
                writes: writes.collect(),
            }
        });
        let (order, sessions_at_rc) = (demand.order, demand.sessions_at_rc);
        Execution { txns: txns.collect(), order, sessions_at_rc }
    }

    /// Whether `accept` likes some choice of a writer for each read, and of which append each
    /// element of a list is.
    fn some_sources(&self, accept: impl Fn(&[Read], &[Appends]) -> bool) -> bool {
        let Some(choices) = self.candidate_sources() else { return false };
        let Some(lists) = self.longest_lists() else { return false };
        let places: Vec<(usize, KeyId, Value)> = lists
            .iter()
            .enumerate()
            .flat_map(|(number, &(key, list))| {
                list.iter().map(move |&element| (number, key, element))
            })
            .collect();
        let mut chosen: Vec<Appends> = lists.iter().map(|&(key, _)| (key, Vec::new())).collect();
        self.some_appends(&places, &mut chosen, &|appends| {
            let choices: Vec<Choice> =
                choices.iter().map(|choice| self.with_appends(choice, appends)).collect();
            self.internal_lists_agree(appends)
                && try_sources(&choices, &mut Vec::new(), &|reads| accept(reads, appends))
        })
    }

    /// The longest list of each key; `None` if another list of the key is not its beginning.
    fn longest_lists(&self) -> Option<Vec<(KeyId, &'h [Value])>> {
        let mut longest: Vec<(KeyId, &[Value])> = Vec::new();
        for (key, list) in self
            .txns
            .iter()
            .flat_map(|&txn| self.history.ops_of(txn))
            .filter_map(|id| self.list(id))
        {
            let Some(known) = longest.iter_mut().find(|known| known.0 == key) else {
                longest.push((key, list));
                continue;
            };
            let (shorter, longer) =
                if list.len() > known.1.len() { (known.1, list) } else { (list, known.1) };
            if !longer.starts_with(shorter) {
                return None;
            }
            known.1 = longer;
        }
        Some(longest)
    }

    /// The list of an operation, and its key.
    fn list(&self, id: u32) -> Option<(KeyId, &'h [Value])> {
        let op = self.history.op(OpId(id));
        match op.value.kind() {
            ValueKind::List(number) => Some((op.key, self.history.list(number))),
            _ => None,
        }
    }

    /// Whether `accept` likes some way to find a different append for each of `places` (a list, its
    /// key, an element), where `chosen` has those of the first ones.
    fn some_appends(
        &self,
        places: &[(usize, KeyId, Value)],
        chosen: &mut Vec<Appends>,
        accept: &impl Fn(&[Appends]) -> bool,
    ) -> bool {
        let Some((&(list, key, element), rest)) = places.split_first() else {
            return accept(chosen);
        };
        let ops = (0..self.txns.len()).flat_map(|txn| self.ops(txn));
        let appends =
            ops.filter(|op| op.1.is_write() && (op.2, op.3) == (key, element)).map(|op| op.0);
        appends.collect::<Vec<_>>().into_iter().any(|append| {
            if chosen[list].1.contains(&append) {
                return false;
            }
            chosen[list].1.push(append);
            let found = self.some_appends(rest, chosen, accept);
            chosen[list].1.pop();
            found
        })
    }

    /// A read of a list comes from the transaction that appended the last element, as its last one.
    fn with_appends(&self, choice: &Choice, appends: &[Appends]) -> Choice {
        let (reader, op, key, mut sources) = choice.clone();
        if let Some(append) = self.last_append(op, appends) {
            sources.retain(|source| match source {
                Source::Txn(txn) => self.last_write_op(*txn, key) == Some(append),
                Source::Initial => false,
            });
        }
        (reader, op, key, sources)
    }

    /// The append behind the last element of the list that `op` read.
    fn last_append(&self, op: u32, appends: &[Appends]) -> Option<u32> {
        let (key, list) = self.list(op)?;
        let of_key = appends.iter().find(|of_key| of_key.0 == key)?;
        of_key.1.get(list.len().checked_sub(1)?).copied()
    }

    /// Whether lists that are read after own appends end with the latest of these.
    fn internal_lists_agree(&self, appends: &[Appends]) -> bool {
        (0..self.txns.len()).all(|txn| {
            let mut own: Vec<(KeyId, u32)> = Vec::new();
            self.ops(txn).all(|(id, kind, key, _)| {
                if kind.is_write() {
                    own.push((key, id));
                    return true;
                }
                let mine = own.iter().rev().find(|write| write.0 == key).map(|write| write.1);
                mine.is_none() || self.list(id).is_none() || self.last_append(id, appends) == mine
            })
        })
    }

    /// External reads with all their legal sources; `None` if a read has none or an internal read
    /// is wrong.
    fn candidate_sources(&self) -> Option<Vec<Choice>> {
        let mut all = Vec::new();
        for reader in 0..self.txns.len() {
            if !self.internal_reads_agree(reader) {
                return None;
            }
            for (id, key, value) in self.external_reads(reader) {
                let sources = self.sources(reader, key, value);
                if sources.is_empty() {
                    return None;
                }
                all.push((reader, id, key, sources));
            }
        }
        Some(all)
    }

    /// Reads that no write of their own transaction to the key precedes.
    fn external_reads(&self, reader: usize) -> Vec<(u32, KeyId, Value)> {
        let mut written: Vec<KeyId> = Vec::new();
        let mut reads = Vec::new();
        for (id, kind, key, value) in self.ops(reader) {
            if kind.is_write() {
                written.push(key);
            } else if !written.contains(&key) {
                reads.push((id, key, value));
            }
        }
        reads
    }

    /// Whether reads after own writes return the latest own write.
    fn internal_reads_agree(&self, reader: usize) -> bool {
        let mut own: Vec<(KeyId, Value)> = Vec::new();
        for (_, kind, key, value) in self.ops(reader) {
            if kind.is_write() {
                own.push((key, value));
            } else if own
                .iter()
                .rev()
                .find(|write| write.0 == key)
                .is_some_and(|write| write.1 != value)
            {
                return false;
            }
        }
        true
    }

    /// The transactions that may have written what `reader` read.
    fn sources(&self, reader: usize, key: KeyId, value: Value) -> Vec<Source> {
        let writers =
            (0..self.txns.len()).filter(|&t| t != reader && self.last_write(t, key) == Some(value));
        let mut sources: Vec<Source> = writers.map(Source::Txn).collect();
        if self.may_be_initial(key, value) {
            sources.push(Source::Initial);
        }
        sources
    }

    /// Whether a list that `reader` read has an element that only `writer` appended, and only once.
    fn shows_element_of(&self, reader: usize, writer: usize) -> bool {
        let appenders = |key: KeyId, element: Value| {
            let appends = move |op: &(u32, OpKind, KeyId, Value)| {
                op.1 == OpKind::Append && (op.2, op.3) == (key, element)
            };
            let all = (0..self.txns.len())
                .flat_map(move |txn| self.ops(txn).filter(appends).map(move |_| txn));
            all.collect::<Vec<usize>>()
        };
        self.history.ops_of(self.txns[reader]).map(|id| self.history.op(OpId(id))).any(
            |op| match op.value.kind() {
                ValueKind::List(number) => self
                    .history
                    .list(number)
                    .iter()
                    .any(|&element| appenders(op.key, element) == [writer]),
                _ => false,
            },
        )
    }

    fn may_be_initial(&self, key: KeyId, value: Value) -> bool {
        let initial = self.history.initial();
        let written =
            self.history.txns().filter(|&txn| self.history.status(txn) != Status::Aborted).any(
                |txn| {
                    self.history.ops_of(txn).any(|id| {
                        let op = self.history.op(OpId(id));
                        op.kind.is_write() && op.key == key && op.value == value
                    })
                },
            );
        value == Value::NULL
            || (initial.value_of(key) == Some(value) && !(written && initial.yields(key)))
    }

    /// The elements of every list were appended in the order of the list, and before all that was
    /// appended to its key and is not in it.
    fn lists_agree(&self, appends: &[Appends], order: &[usize]) -> bool {
        let place_of = |op: &u32| {
            let txn = self.history.txn_of(OpId(*op));
            (order.iter().position(|&number| self.txns[number] == txn), *op)
        };
        appends.iter().all(|(key, listed)| {
            let all = (0..self.txns.len()).flat_map(|txn| self.ops(txn));
            let appended = all.filter(|op| op.1.is_write() && op.2 == *key).map(|op| op.0);
            let missing: Vec<u32> = appended.filter(|op| !listed.contains(op)).collect();
            let is_later = |last: &u32| missing.iter().all(|op| place_of(last) < place_of(op));
            listed.is_sorted_by_key(place_of) && listed.last().is_none_or(is_later)
        })
    }

    /// From read atomic on a transaction that reads a list, appends to it and reads it again finds
    /// nothing new in it but its own appends.
    fn lists_repeat(&self, levels: &dyn Fn(TxnId) -> Level) -> bool {
        let asked = (0..self.txns.len()).filter(|&txn| levels(self.txns[txn]) >= Level::ReadAtomic);
        asked.into_iter().all(|txn| self.repeats_its_reads(txn))
    }

    /// Lists that were read after own appends, without these: each the last of its value.
    fn lists_before_own_appends(&self, txn: usize) -> Vec<(KeyId, Vec<Value>)> {
        let mut own: Vec<(KeyId, Value)> = Vec::new();
        let mut found = Vec::new();
        for (id, kind, key, value) in self.ops(txn) {
            let mine: Vec<Value> =
                own.iter().filter(|written| written.0 == key).map(|written| written.1).collect();
            let list = self.list(id).map(|(_, list)| list);
            let list = list.or((value == Value::NULL).then_some(&[]));
            if kind == OpKind::Append {
                own.push((key, value));
            } else if let Some(list) = list.filter(|_| !mine.is_empty()) {
                let mut others = list.to_vec();
                for element in mine.iter().rev() {
                    let last = others.iter().rposition(|other| other == element);
                    last.map(|last| others.remove(last));
                }
                found.push((key, others));
            }
        }
        found
    }

    /// No transaction at cut isolation reads two different values of a key, its own writes aside.
    fn is_cut_isolated(&self, levels: &dyn Fn(TxnId) -> Level) -> bool {
        let asked =
            (0..self.txns.len()).filter(|&txn| levels(self.txns[txn]) == Level::CutIsolation);
        asked.into_iter().all(|txn| self.repeats_its_reads(txn))
    }

    fn repeats_its_reads(&self, txn: usize) -> bool {
        let as_read = |(id, key, value): (u32, KeyId, Value)| {
            let initial = self.may_be_initial(key, value);
            let value = self.history.op(OpId(id)).value;
            (key, if initial { Vec::new() } else { self.elements(value) })
        };
        let mut reads: Vec<(KeyId, Vec<Value>)> =
            self.external_reads(txn).into_iter().map(as_read).collect();
        let first = reads.len();
        reads.extend(self.lists_before_own_appends(txn));
        let reads = &reads;
        reads[..first].iter().all(|a| reads.iter().all(|b| a.0 != b.0 || a.1 == b.1))
    }
}

fn try_sources(
    choices: &[Choice],
    reads: &mut Vec<Read>,
    accept: &impl Fn(&[Read]) -> bool,
) -> bool {
    let Some((reader, _, key, sources)) = choices.get(reads.len()) else { return accept(reads) };
    sources.iter().any(|&source| {
        reads.push(Read { reader: *reader, key: *key, source });
        let found = try_sources(choices, reads, accept);
        reads.pop();
        found
    })
}
