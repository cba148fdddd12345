//! Values that several transactions wrote, at the polynomial levels: which write each read came
//! from is a choice.
//!
//! Choose, make the values distinct, check; each violation names reads whose sources cannot all be
//! right together, so choose again without them. A choice without violation shows that the level
//! holds; no choice left shows that it is violated, because a violation needs nothing but the
//! operations that it names.

use super::distinct::decide_alone;
use crate::limits::Limits;
use crate::limits::memory::{self, Need, Room};
use crate::outcome::{Options, Undecided, Violation};
use batsat::{Callbacks, Lit, Solver, SolverInterface, lbool};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};
use seriatim_isolation::Level;

/// The answer for one level.
pub(crate) enum Matched {
    /// With these sources (the write, or the initial value) the level holds, by this commit order.
    Holds { sources: Vec<(OpId, Option<OpId>)>, order: Vec<TxnId> },
    /// Whatever the sources: one violation for each way to choose, with operations that alone
    /// violate the level in all.
    Violated { ops: Vec<OpId>, exemplar: Option<Box<Violation>> },
    /// The time or the memory ran out.
    OutOfBudget(Undecided),
    /// Lists are not handled here.
    Unsupported,
}

/// How many violations of one choice are learned from.
const LEARNED_MAX: usize = 64;

/// How many choices are ruled out as a whole, because nothing can be told of their violations: with
/// many ambiguous reads it would go on forever.
const UNTOLD_MAX: u32 = 1000;

/// How many operations are looked at for that, which ends it sooner for a large history: about ten
/// seconds.
const UNTOLD_OPS_MAX: u64 = 1 << 26;

struct Watch(Limits);

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        self.0.is_over()
    }
}

/// A read, and the writes that it may come from (`None`: the initial value), each with its literal.
struct Choice {
    read: OpId,
    sources: Vec<(Option<OpId>, Lit)>,
}

struct Matcher<'a> {
    history: &'a History,
    level: Level,
    solver: Solver<Watch>,
    choices: Vec<Choice>,
    /// Reads that come from where an earlier read of their transaction comes from, and that read's
    /// choice.
    repeated: Vec<(OpId, usize)>,
    /// Reads of own writes, which are no choice.
    own_reads: Vec<(OpId, Option<OpId>)>,
    /// For each ambiguous read its choice.
    number: FxHashMap<OpId, usize>,
    /// All writes that some read may come from.
    writes: Vec<OpId>,
    /// Operations of all violations so far.
    guilty: Vec<OpId>,
    exemplar: Option<Box<Violation>>,
    /// Clauses for the next search: the model must not change while they are collected.
    learned: Vec<Vec<Lit>>,
}

/// Decides `level` (one of [`Level::WEAK`]) for a history whose `ambiguous` reads have several
/// legal sources.
pub(crate) fn decide(
    history: &History,
    ambiguous: &[OpId],
    level: Level,
    options: &Options,
) -> Matched {
    if history.has_lists() {
        return Matched::Unsupported;
    }
    let limits = Limits::of(options);
    let mut matcher = Matcher::new(history, ambiguous, limits, level);
    let levels = vec![level];
    let options = Options { levels, instances: LEARNED_MAX, orders: true, ..options.clone() };
    let mut untold = 0;
    loop {
        if limits.is_over() || !limits.allow(memory::of_part(history)) {
            return Matched::OutOfBudget(limits.reason());
        }
        let Some(satisfiable) = matcher.solve() else {
            return Matched::OutOfBudget(limits.reason());
        };
        if !satisfiable {
            return matcher.violated();
        }
        let sources = matcher.sources();
        let rematched = history.rematched(&matcher.writes, &sources);
        if !is_room_for(&rematched, level, limits) {
            return Matched::OutOfBudget(limits.reason());
        }
        let alone = decide_alone(&rematched, level, &options);
        if !alone.is_violated {
            let undecided = Matched::OutOfBudget(Undecided::Budget);
            return alone.order.map_or(undecided, |order| Matched::Holds { sources, order });
        }
        let violations = alone
            .anomalies
            .into_iter()
            .flat_map(|group| group.instances.into_iter().chain([group.exemplar]));
        let mut learned = false;
        for violation in violations.filter(|violation| !violation.ops.is_empty()) {
            match matcher.learn(violation, &sources) {
                Learned::Clause => learned = true,
                Learned::Hopeless => return matcher.violated(),
                Learned::Nothing => {}
            }
        }
        if !learned && !matcher.learn_all() {
            return matcher.violated();
        }
        untold += u32::from(!learned);
        let looked_at = u64::from(untold) * history.op_count() as u64;
        if untold > UNTOLD_MAX || looked_at > UNTOLD_OPS_MAX {
            return Matched::OutOfBudget(Undecided::Budget);
        }
    }
}

/// Whether there is room for what deciding `level` needs: only causal consistency needs clocks.
fn is_room_for(history: &History, level: Level, limits: Limits) -> bool {
    match Need::of(history).within(limits) {
        Room::Enough => true,
        Room::NoClocks => level != Level::Causal,
        Room::None => false,
    }
}

enum Learned {
    Clause,
    /// The violation needs none of the choices.
    Hopeless,
    Nothing,
}

impl<'a> Matcher<'a> {
    fn new(history: &'a History, ambiguous: &[OpId], limits: Limits, level: Level) -> Matcher<'a> {
        // A transaction of unknown outcome may come to count by a choice, and its reads with it.
        let mut reads: Vec<OpId> = ambiguous.to_vec();
        reads.extend(reads_of_unknown_outcome(history));
        let mut writers = writers(history, &reads);
        writers.retain(|&(key, value), writes| {
            writes.len() + usize::from(may_be_initial(history, key, value)) > 1
        });
        let mut matcher = Matcher {
            history,
            level,
            solver: Solver::new(batsat::SolverOpts::default(), Watch(limits)),
            choices: Vec::new(),
            repeated: Vec::new(),
            own_reads: Vec::new(),
            number: FxHashMap::default(),
            writes: writers.values().flatten().copied().collect(),
            guilty: Vec::new(),
            exemplar: None,
            learned: Vec::new(),
        };
        matcher.writes.sort_unstable();
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            matcher.add_reads(txn, &writers);
        }
        matcher
    }

    /// All reads of values that are made distinct: also those that have one source only, and reads
    /// of own writes.
    fn add_reads(&mut self, txn: TxnId, writers: &FxHashMap<(KeyId, Value), Vec<OpId>>) {
        let mut own: FxHashMap<KeyId, OpId> = FxHashMap::default();
        let mut first: FxHashMap<(KeyId, Value), OpId> = FxHashMap::default();
        for id in self.history.ops_of(txn).map(OpId) {
            let op = self.history.op(id);
            if op.kind != OpKind::Read {
                own.insert(op.key, id);
            } else if let Some(sources) = writers.get(&(op.key, op.value)) {
                match own.get(&op.key) {
                    None => match first.get(&(op.key, op.value)) {
                        Some(read) if self.level != Level::ReadCommitted => self.repeat(*read, id),
                        _ => {
                            first.insert((op.key, op.value), id);
                            self.add(id, writers);
                        }
                    },
                    Some(write) if sources.contains(write) => {
                        self.own_reads.push((id, Some(*write)))
                    }
                    Some(_) => {}
                }
            }
        }
    }

    fn add(&mut self, read: OpId, writers: &FxHashMap<(KeyId, Value), Vec<OpId>>) {
        let op = self.history.op(read);
        let reader = self.history.txn_of(read);
        let all = writers.get(&(op.key, op.value)).map_or(&[][..], Vec::as_slice);
        let others = all.iter().copied().filter(|&write| self.history.txn_of(write) != reader);
        let mut sources: Vec<Option<OpId>> = others.map(Some).collect();
        if may_be_initial(self.history, op.key, op.value) {
            sources.push(None);
        }
        // The nearest write before the read in the file is the best guess; the solver tries `false`
        // first.
        let rank = |write: &Option<OpId>| {
            write.map_or(0, |write| {
                self.history.file_order()[self.history.txn_of(write).index()] + 1
            })
        };
        let own = self.history.file_order()[reader.index()];
        let guess = sources
            .iter()
            .copied()
            .filter(|source| rank(source) <= own)
            .max_by_key(rank)
            .or(sources.first().copied());
        let literal = |solver: &mut Solver<Watch>, source: Option<OpId>| {
            Lit::new(solver.new_var(lbool::UNDEF, true), Some(source) != guess)
        };
        let sources: Vec<(Option<OpId>, Lit)> =
            sources.into_iter().map(|source| (source, literal(&mut self.solver, source))).collect();
        if sources.is_empty() {
            return;
        }
        let mut clause: Vec<Lit> = sources.iter().map(|source| source.1).collect();
        self.solver.add_clause_reuse(&mut clause);
        self.number.insert(read, self.choices.len());
        self.choices.push(Choice { read, sources });
    }

    /// Above read committed a transaction reads a key from one writer only.
    fn repeat(&mut self, first: OpId, again: OpId) {
        if let Some(&number) = self.number.get(&first) {
            self.number.insert(again, number);
            self.repeated.push((again, number));
        }
    }

    fn solve(&mut self) -> Option<bool> {
        for mut clause in std::mem::take(&mut self.learned) {
            self.solver.add_clause_reuse(&mut clause);
        }
        let result = self.solver.solve_limited(&[]);
        (result != lbool::UNDEF).then_some(result == lbool::TRUE)
    }

    /// What the model chose.
    fn sources(&self) -> Vec<(OpId, Option<OpId>)> {
        let chosen = |choice: &Choice| {
            let is_true =
                |source: &&(Option<OpId>, Lit)| self.solver.value_lit(source.1) == lbool::TRUE;
            choice.sources.iter().find(is_true).and_then(|source| source.0)
        };
        let repeated =
            self.repeated.iter().map(|&(read, number)| (read, chosen(&self.choices[number])));
        let chosen = self.choices.iter().map(|choice| (choice.read, chosen(choice)));
        chosen.chain(repeated).chain(self.own_reads.iter().copied()).collect()
    }

    /// `ops`, and the reads that make transactions of unknown outcome among them count.
    fn with_reasons_to_count(
        &self,
        mut ops: Vec<OpId>,
        sources: &[(OpId, Option<OpId>)],
    ) -> Vec<OpId> {
        let mut seen: FxHashSet<TxnId> = FxHashSet::default();
        let mut next = 0;
        while next < ops.len() {
            let txn = self.history.txn_of(ops[next]);
            next += 1;
            if self.history.status(txn) != Status::Unknown || !seen.insert(txn) {
                continue;
            }
            let of_txn = |write: OpId| self.history.txn_of(write) == txn;
            let readers = sources
                .iter()
                .filter(|(_, write)| write.is_some_and(of_txn))
                .map(|(read, _)| *read);
            ops.extend(readers);
        }
        ops
    }

    /// The choices of the reads in `violation` cannot all be right.
    fn learn(&mut self, violation: Violation, sources: &[(OpId, Option<OpId>)]) -> Learned {
        let ops: Vec<OpId> = violation.ops.iter().filter_map(|op| op.id).collect();
        let ops = self.with_reasons_to_count(ops, sources);
        let mut clause = Vec::new();
        for choice in
            ops.iter().filter_map(|op| self.number.get(op)).map(|&number| &self.choices[number])
        {
            let is_true =
                |source: &&(Option<OpId>, Lit)| self.solver.value_lit(source.1) == lbool::TRUE;
            let Some(source) = choice.sources.iter().find(is_true) else { return Learned::Nothing };
            clause.push(!source.1);
        }
        self.guilty.extend(ops);
        let smaller =
            self.exemplar.as_ref().is_none_or(|other| violation.ops.len() < other.ops.len());
        if smaller || clause.is_empty() {
            self.exemplar = Some(Box::new(violation));
        }
        if clause.is_empty() {
            return Learned::Hopeless;
        }
        self.learned.push(clause);
        Learned::Clause
    }

    /// This choice as a whole is wrong. That is all that is known where no violation could be told
    /// by operations, as of a transaction without operations. Whether there was a choice at all.
    fn learn_all(&mut self) -> bool {
        let sources = self.choices.iter().flat_map(|choice| &choice.sources);
        let chosen = sources.filter(|source| self.solver.value_lit(source.1) == lbool::TRUE);
        let clause: Vec<Lit> = chosen.map(|source| !source.1).collect();
        let is_choice = !clause.is_empty();
        self.guilty.extend(self.choices.iter().map(|choice| choice.read));
        self.learned.extend(is_choice.then_some(clause));
        is_choice
    }

    /// No choice is left. What shows it keeps every write that one of its reads may come from.
    fn violated(mut self) -> Matched {
        let mut ops = std::mem::take(&mut self.guilty);
        for choice in ops
            .clone()
            .iter()
            .filter_map(|op| self.number.get(op))
            .map(|&number| &self.choices[number])
        {
            ops.extend(choice.sources.iter().filter_map(|source| source.0));
        }
        ops.sort_unstable();
        ops.dedup();
        Matched::Violated { ops, exemplar: self.exemplar }
    }
}

fn reads_of_unknown_outcome(history: &History) -> impl Iterator<Item = OpId> {
    let txns = history.txns().filter(|&txn| history.status(txn) == Status::Unknown);
    let ops = txns.flat_map(|txn| history.ops_of(txn).map(OpId));
    ops.filter(|&op| history.op(op).kind == OpKind::Read)
}

fn may_be_initial(history: &History, key: KeyId, value: Value) -> bool {
    let initial = history.initial();
    value == Value::NULL || (initial.value_of(key) == Some(value) && !initial.yields(key))
}

/// The visible writes of the values that `reads` returned, of transactions that did not abort.
fn writers(history: &History, reads: &[OpId]) -> FxHashMap<(KeyId, Value), Vec<OpId>> {
    let mut writers: FxHashMap<(KeyId, Value), Vec<OpId>> = FxHashMap::default();
    for &read in reads {
        let op = history.op(read);
        writers.entry((op.key, op.value)).or_default();
    }
    for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
        let mut written: Vec<KeyId> = Vec::new();
        for id in history.ops_of(txn).rev().map(OpId) {
            let op = history.op(id);
            if op.kind == OpKind::Read || matches!(op.value.kind(), ValueKind::List(_)) {
                continue;
            }
            if let Some(known) = writers.get_mut(&(op.key, op.value))
                && !written.contains(&op.key)
            {
                known.push(id);
            }
            written.push(op.key);
        }
    }
    writers
}
