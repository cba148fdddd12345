//! The definitions of `isolation.md`, literally: enumerate who read from whom, which unknown transactions committed, and all
//! commit orders; accept if the axiom holds for one. Exponential, for histories of up to about seven transactions, and the
//! measure of every fast algorithm in the property tests.

use crate::level::Level;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};

/// A read, and where it reads from.
#[derive(Clone, Copy, Debug)]
struct Read {
    reader: usize,
    op: u32,
    key: KeyId,
    source: Source,
}

/// An external read (reader, operation, key) and its legal sources.
type Choice = (usize, u32, KeyId, Vec<Source>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Initial,
    Txn(usize),
}

/// Whether `history` satisfies `level`.
pub fn satisfies(history: &History, level: Level) -> bool {
    let unknown: Vec<TxnId> = history.txns().filter(|&txn| history.status(txn) == Status::Unknown).collect();
    if level == Level::CutIsolation {
        return cut_isolated(&World::new(history, &unknown, surely_committed(history, &unknown)));
    }
    (0..1u32 << unknown.len()).any(|choice| World::new(history, &unknown, choice).satisfies(level))
}

/// The unknown transactions that a committed one, or another of this set, can only have read from. Cut isolation does not
/// care where values come from, so the other levels' "some choice makes it consistent" would excuse too much.
fn surely_committed(history: &History, unknown: &[TxnId]) -> u32 {
    let everything = World::new(history, unknown, u32::MAX);
    let mut choice = 0u32;
    loop {
        let world = World::new(history, unknown, choice);
        let read_from = |writer: TxnId| {
            let writer = everything.txns.iter().position(|&txn| txn == writer);
            world.txns.iter().filter_map(|reader| everything.txns.iter().position(|txn| txn == reader)).any(|reader| {
                let external = everything.external_reads(reader);
                external.iter().any(|&(_, key, value)| {
                    let sources = everything.sources(reader, key, value);
                    sources.len() == 1 && writer.map(Source::Txn) == sources.first().copied()
                })
            })
        };
        let next = (0..unknown.len()).filter(|&bit| read_from(unknown[bit])).fold(choice, |set, bit| set | 1 << bit);
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
            ValueKind::List(number) => self.history.list(number).last().copied().unwrap_or(Value::NULL),
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

    fn satisfies(&self, level: Level) -> bool {
        let Some(choices) = self.candidate_sources() else { return false };
        if !self.lists_are_prefixes() {
            return false;
        }
        let mut reads: Vec<Read> = Vec::new();
        self.try_sources(&choices, &mut reads, level)
    }

    /// External reads with all their legal sources; `None` if a read has none or an internal read is wrong.
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
            } else if own.iter().rev().find(|write| write.0 == key).is_some_and(|write| write.1 != value) {
                return false;
            }
        }
        true
    }

    /// Who may have written what `reader` read.
    fn sources(&self, reader: usize, key: KeyId, value: Value) -> Vec<Source> {
        let writers = (0..self.txns.len()).filter(|&t| t != reader && self.last_write(t, key) == Some(value));
        let mut sources: Vec<Source> = writers.map(Source::Txn).collect();
        if self.may_be_initial(key, value) {
            sources.push(Source::Initial);
        }
        sources
    }

    fn may_be_initial(&self, key: KeyId, value: Value) -> bool {
        let initial = self.history.initial();
        let written = self.history.txns().filter(|&txn| self.history.status(txn) != Status::Aborted).any(|txn| {
            self.history.ops_of(txn).any(|id| {
                let op = self.history.op(OpId(id));
                op.kind.is_write() && op.key == key && op.value == value
            })
        });
        value == Value::NULL || (initial.value_of(key) == Some(value) && !(written && initial.yields(key)))
    }

    fn try_sources(&self, choices: &[Choice], reads: &mut Vec<Read>, level: Level) -> bool {
        let Some((reader, op, key, sources)) = choices.get(reads.len()) else {
            return self.some_order(&mut Vec::new(), reads, level);
        };
        sources.iter().any(|&source| {
            reads.push(Read { reader: *reader, op: *op, key: *key, source });
            let found = self.try_sources(choices, reads, level);
            reads.pop();
            found
        })
    }

    /// Whether some total order that starts with `prefix` is a commit order.
    fn some_order(&self, prefix: &mut Vec<usize>, reads: &[Read], level: Level) -> bool {
        if prefix.len() == self.txns.len() {
            return self.accepts(prefix, reads, level);
        }
        (0..self.txns.len()).any(|txn| {
            // Only orders that extend session order are worth completing.
            let too_early = (0..self.txns.len()).any(|t| self.session_before(t, txn) && !prefix.contains(&t));
            if too_early || prefix.contains(&txn) {
                return false;
            }
            prefix.push(txn);
            let found = self.some_order(prefix, reads, level);
            prefix.pop();
            found
        })
    }

    fn session_before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.txns[a], self.txns[b]);
        self.history.session_of(a) == self.history.session_of(b) && a < b
    }

    fn accepts(&self, order: &[usize], reads: &[Read], level: Level) -> bool {
        let n = self.txns.len();
        let mut place = vec![0; n];
        for (position, &txn) in order.iter().enumerate() {
            place[txn] = position;
        }
        let mut causal = vec![vec![false; n]; n];
        for (a, row) in causal.iter_mut().enumerate() {
            for (b, cell) in row.iter_mut().enumerate() {
                let read_from = reads.iter().any(|read| read.reader == b && read.source == Source::Txn(a));
                *cell = self.session_before(a, b) || read_from;
            }
        }
        let direct = causal.clone();
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            if direct[a][b] && place[a] >= place[b] {
                return false;
            }
        }
        close(&mut causal);
        self.lists_agree(&place) && reads.iter().all(|read| self.axiom(read, reads, level, &place, &direct, &causal))
    }

    fn axiom(
        &self,
        read: &Read,
        reads: &[Read],
        level: Level,
        place: &[usize],
        direct: &[Vec<bool>],
        causal: &[Vec<bool>],
    ) -> bool {
        let t3 = read.reader;
        (0..self.txns.len()).all(|t2| {
            if read.source == Source::Txn(t2) || t2 == t3 || self.last_write(t2, read.key).is_none() {
                return true;
            }
            let seen = match level {
                Level::ReadCommitted => {
                    reads.iter().any(|r| r.reader == t3 && r.source == Source::Txn(t2) && r.op < read.op)
                }
                Level::ReadAtomic => direct[t2][t3],
                _ => causal[t2][t3],
            };
            !seen || matches!(read.source, Source::Txn(t1) if place[t2] < place[t1])
        })
    }

    /// Of any two lists of a key one begins with the other.
    fn lists_are_prefixes(&self) -> bool {
        let ops = self.txns.iter().flat_map(|&txn| self.history.ops_of(txn)).map(|id| self.history.op(OpId(id)));
        let lists: Vec<(KeyId, &[Value])> = ops
            .filter_map(|op| match op.value.kind() {
                ValueKind::List(number) => Some((op.key, self.history.list(number))),
                _ => None,
            })
            .collect();
        lists.iter().all(|(key, a)| lists.iter().all(|(other, b)| key != other || a.starts_with(b) || b.starts_with(a)))
    }

    /// The elements of every list were appended in the order of the list, by transactions of this world, each once.
    fn lists_agree(&self, place: &[usize]) -> bool {
        (0..self.txns.len()).all(|txn| {
            self.history.ops_of(self.txns[txn]).all(|id| {
                let op = self.history.op(OpId(id));
                match op.value.kind() {
                    ValueKind::List(number) => self.list_agrees(op.key, self.history.list(number), place),
                    _ => true,
                }
            })
        })
    }

    fn list_agrees(&self, key: KeyId, list: &[Value], place: &[usize]) -> bool {
        let appender = |value: &Value| {
            let mut all = (0..self.txns.len())
                .flat_map(|txn| self.ops(txn).filter(|op| op.1.is_write()).map(move |op| (txn, op)))
                .filter(|(_, op)| op.2 == key && op.3 == *value);
            all.next().map(|(txn, op)| (place[txn], op.0))
        };
        let places: Option<Vec<(usize, u32)>> = list.iter().map(appender).collect();
        places.is_some_and(|places| places.windows(2).all(|pair| pair[0] < pair[1]))
    }
}

fn close(relation: &mut [Vec<bool>]) {
    let n = relation.len();
    for middle in 0..n {
        for a in 0..n {
            for b in 0..n {
                if relation[a][middle] && relation[middle][b] {
                    relation[a][b] = true;
                }
            }
        }
    }
}

/// No transaction reads two different values of a key before it writes the key.
fn cut_isolated(world: &World<'_>) -> bool {
    (0..world.txns.len()).all(|txn| {
        let as_read = |(id, key, value): (u32, KeyId, Value)| {
            let initial = world.may_be_initial(key, value);
            (key, if initial { Vec::new() } else { world.elements(world.history.op(OpId(id)).value) })
        };
        let reads: Vec<(KeyId, Vec<Value>)> = world.external_reads(txn).into_iter().map(as_read).collect();
        reads.iter().all(|a| reads.iter().all(|b| a.0 != b.0 || a.1 == b.1))
    })
}
