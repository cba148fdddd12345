//! The definitions of `isolation.md`, literally: enumerate who read from whom, which unknown
//! transactions committed, and all commit orders; accept if the axiom holds for one. Exponential,
//! for histories of up to about seven transactions, and the measure of every fast algorithm in the
//! property tests.

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

/// The appends behind the elements of the longest list of a key, in the order of the list.
type Appends = (KeyId, Vec<u32>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Initial,
    Txn(usize),
}

/// Whether `history` satisfies `level`.
pub fn satisfies(history: &History, level: Level) -> bool {
    let unknown: Vec<TxnId> =
        history.txns().filter(|&txn| history.status(txn) == Status::Unknown).collect();
    if level == Level::CutIsolation {
        return cut_isolated(&World::new(history, &unknown, surely_committed(history, &unknown)));
    }
    (0..1u32 << unknown.len()).any(|choice| World::new(history, &unknown, choice).satisfies(level))
}

/// Whether `order` is a commit order of `history` at `level`: it has all committed transactions,
/// some of unknown outcome, and some choice of who read from whom satisfies the axiom.
pub fn accepts(history: &History, level: Level, order: &[TxnId]) -> bool {
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
    let world = World { history, txns: txns.clone() };
    !repeated
        && complete
        && order.is_some_and(|order| {
            world.some_sources(|reads, appends| world.accepts(&order, (reads, appends), level))
        })
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

    fn satisfies(&self, level: Level) -> bool {
        self.some_sources(|reads, appends| {
            self.some_order(&mut Vec::new(), (reads, appends), level)
        })
    }

    /// Whether `accept` likes some choice of who read from whom, and of which append each element
    /// of a list is.
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
            let writer = |source: &Source| matches!(source, Source::Txn(txn) if self.last_write_op(*txn, key) == Some(append));
            sources.retain(writer);
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

    /// Who may have written what `reader` read.
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

    /// Whether some total order that starts with `prefix` is a commit order.
    fn some_order(
        &self,
        prefix: &mut Vec<usize>,
        sources: (&[Read], &[Appends]),
        level: Level,
    ) -> bool {
        if prefix.len() == self.txns.len() {
            return self.accepts(prefix, sources, level);
        }
        (0..self.txns.len()).any(|txn| {
            // Only orders that extend session order are worth completing.
            let too_early =
                (0..self.txns.len()).any(|t| self.session_before(t, txn) && !prefix.contains(&t));
            if too_early || prefix.contains(&txn) {
                return false;
            }
            prefix.push(txn);
            let found = self.some_order(prefix, sources, level);
            prefix.pop();
            found
        })
    }

    fn session_before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.txns[a], self.txns[b]);
        self.history.session_of(a) == self.history.session_of(b) && a < b
    }

    fn accepts(
        &self,
        order: &[usize],
        (reads, appends): (&[Read], &[Appends]),
        level: Level,
    ) -> bool {
        let n = self.txns.len();
        let mut place = vec![0; n];
        for (position, &txn) in order.iter().enumerate() {
            place[txn] = position;
        }
        let mut direct = vec![vec![false; n]; n];
        for (a, row) in direct.iter_mut().enumerate() {
            for (b, cell) in row.iter_mut().enumerate() {
                let read_from =
                    reads.iter().any(|read| read.reader == b && read.source == Source::Txn(a));
                *cell = self.session_before(a, b) || read_from;
            }
        }
        let mut must = direct.clone();
        if level == Level::StrictSerializable {
            self.add_real_time(&mut must);
        }
        if pairs(n).any(|(a, b)| must[a][b] && place[a] >= place[b]) {
            return false;
        }
        let mut causal = direct.clone();
        close(&mut causal);
        let order = Order { place: &place, direct: &direct, causal: &causal };
        self.lists_agree(appends, order.place)
            && reads.iter().all(|read| self.axiom(read, reads, level, &order))
    }

    /// Adds that a transaction that ended before another began comes first. Times that are not
    /// known are the earliest begin and the latest end there are, which are before and after
    /// nothing.
    fn add_real_time(&self, must: &mut [Vec<bool>]) {
        let times = |txn: usize| self.history.times(self.txns[txn]);
        for (a, b) in pairs(self.txns.len()) {
            if let (Some((_, end)), Some((begin, _))) = (times(a), times(b))
                && a != b
                && end < begin
            {
                must[a][b] = true;
            }
        }
    }

    fn axiom(&self, read: &Read, reads: &[Read], level: Level, order: &Order<'_>) -> bool {
        let t3 = read.reader;
        (0..self.txns.len()).all(|t2| {
            if read.source == Source::Txn(t2) || t2 == t3 || self.last_write(t2, read.key).is_none()
            {
                return true;
            }
            !self.seen(t2, read, reads, level, order)
                || matches!(read.source, Source::Txn(t1) if order.place[t2] < order.place[t1])
        })
    }

    /// φ(t2, t3), where t3 is the reader.
    fn seen(
        &self,
        t2: usize,
        read: &Read,
        reads: &[Read],
        level: Level,
        order: &Order<'_>,
    ) -> bool {
        let t3 = read.reader;
        let prefix =
            || (0..self.txns.len()).any(|t| order.at_or_before(t2, t) && order.direct[t][t3]);
        let conflict = |t4: usize| {
            order.at_or_before(t2, t4)
                && order.place[t4] < order.place[t3]
                && self.write_a_common_key(t4, t3)
        };
        match level {
            Level::ReadCommitted => reads
                .iter()
                .any(|r| r.reader == t3 && r.source == Source::Txn(t2) && r.op < read.op),
            Level::ReadAtomic => order.direct[t2][t3],
            Level::Causal => order.causal[t2][t3],
            Level::PrefixConsistency => prefix(),
            Level::SnapshotIsolation => prefix() || (0..self.txns.len()).any(conflict),
            Level::Serializable | Level::StrictSerializable => order.place[t2] < order.place[t3],
            Level::CutIsolation => false,
        }
    }

    fn write_a_common_key(&self, a: usize, b: usize) -> bool {
        self.ops(a).any(|op| op.1.is_write() && self.last_write(b, op.2).is_some())
    }

    /// The elements of every list were appended in the order of the list.
    fn lists_agree(&self, appends: &[Appends], place: &[usize]) -> bool {
        let place_of = |op: &u32| {
            let txn = self.txns.iter().position(|&txn| txn == self.history.txn_of(OpId(*op)));
            (txn.map(|txn| place[txn]), *op)
        };
        appends.iter().all(|(_, ops)| ops.is_sorted_by_key(place_of))
    }
}

fn try_sources(
    choices: &[Choice],
    reads: &mut Vec<Read>,
    accept: &impl Fn(&[Read]) -> bool,
) -> bool {
    let Some((reader, op, key, sources)) = choices.get(reads.len()) else { return accept(reads) };
    sources.iter().any(|&source| {
        reads.push(Read { reader: *reader, op: *op, key: *key, source });
        let found = try_sources(choices, reads, accept);
        reads.pop();
        found
    })
}

/// A commit order, and what it is compared with.
struct Order<'a> {
    place: &'a [usize],
    /// so ∪ wr.
    direct: &'a [Vec<bool>],
    /// (so ∪ wr)+.
    causal: &'a [Vec<bool>],
}

impl Order<'_> {
    /// (a, b) ∈ co*.
    fn at_or_before(&self, a: usize, b: usize) -> bool {
        self.place[a] <= self.place[b]
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)))
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
            (
                key,
                if initial { Vec::new() } else { world.elements(world.history.op(OpId(id)).value) },
            )
        };
        let reads: Vec<(KeyId, Vec<Value>)> =
            world.external_reads(txn).into_iter().map(as_read).collect();
        reads.iter().all(|a| reads.iter().all(|b| a.0 != b.0 || a.1 == b.1))
    })
}
