//! A prediction as data: the predicted history, where it differs from the observed one, and why it
//! is not serializable.

use crate::candidate::{Candidate, Kept};
use crate::plan;
use crate::run::{Act, Run};
use crate::{Boundary, Options, Outlook};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_check::{Checker, OpRef, Refs, TxnRef, ValueRef, Violation};
use seriatim_history::{History, KeyId, OpId, OpKind, SessionId, TxnId, Value};
use seriatim_isolation::Level;
use std::time::Instant;

/// A history that the application could have had at the level, and that is not serializable.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The level that allows it.
    pub level: Level,
    /// Where its sessions end.
    pub boundary: Boundary,
    /// The history: events only (reads of own writes, and writes that their transaction overwrites,
    /// are left out).
    pub history: History,
    /// The reads that have another writer than observed.
    pub changed: Vec<ChangedRead>,
    /// Whether the transactions that it cuts can go on.
    pub outlook: Outlook,
    /// Where each session ends.
    pub sessions: Vec<SessionEnd>,
    /// Why it is not serializable; its operations are numbered as in `history`. `None` only if that
    /// was too hard to explain.
    pub violation: Option<Violation>,
    /// The transactions that a person should look at, as they were and as they are predicted.
    pub shown: Vec<ShownTxn>,
    /// What is predicted, transaction by transaction, for callers that want to run it.
    pub plan: Vec<PlannedTxn>,
    /// For each operation of `history` its number in the observed history.
    observed: Vec<OpId>,
    /// Reads of the cycle and their writers, by numbers of the observed history.
    cycle_reads: Vec<(OpId, Option<TxnId>)>,
}

impl Prediction {
    /// The number in the observed history of an operation of the predicted one.
    pub fn observed_op(&self, op: OpId) -> Option<OpId> {
        self.observed.get(op.index()).copied()
    }

    /// The reads that the explanation rests on, with their writers, by numbers of the observed
    /// history.
    pub(crate) fn cycle_reads(&self) -> Vec<(OpId, Option<TxnId>)> {
        self.cycle_reads.clone()
    }
}

/// A read that has another writer than observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRead {
    /// The read, in the observed history.
    pub read: OpRef,
    /// The transaction that it read from in the observed history; the initial transaction has no
    /// id.
    pub observed: TxnRef,
    /// The transaction that it reads from in the prediction.
    pub predicted: TxnRef,
    /// What it returns in the prediction.
    pub value: ValueRef,
}

/// How much of a transaction is left in a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// All of it.
    Whole,
    /// Its first events.
    Partial,
    /// Nothing.
    CutOff,
}

/// A transaction of the explanation or on a boundary, beside what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTxn {
    /// The transaction.
    pub txn: TxnRef,
    /// How much of it is left.
    pub fate: Fate,
    /// Its events that matter, in program order.
    pub events: Vec<ShownEvent>,
}

/// An event beside what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEvent {
    /// As it was.
    pub observed: OpRef,
    /// The transaction that it read from, if it is a read.
    pub observed_from: Option<TxnRef>,
    /// The transaction that it reads from in the prediction, if it is a read that is kept.
    pub predicted_from: Option<TxnRef>,
    /// What it reads or writes in the prediction, if it is kept.
    pub predicted_value: Option<ValueRef>,
}

impl ShownEvent {
    /// Whether it is a read that has another writer than observed.
    pub fn is_changed(&self) -> bool {
        self.predicted_from.as_ref().is_some_and(|from| Some(from) != self.observed_from.as_ref())
    }
}

/// A transaction by the number of its session and its place there, in the observed history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnPlace {
    /// The number of the session.
    pub session: u32,
    /// Its place among all transactions of the session, aborted ones included, from 0.
    pub index: u32,
}

/// A transaction of a prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTxn {
    /// Which one.
    pub txn: TxnPlace,
    /// Its name.
    pub name: String,
    /// Whether all of it is kept.
    pub whole: bool,
    /// Whether the prediction needs it: it has changed reads, is part of the explanation, or
    /// happens before such a one.
    pub needed: bool,
    /// Whether it aborted in the observed run; it is no part of the prediction then, but runs in
    /// its place.
    pub aborted: bool,
    /// Its events, in program order.
    pub events: Vec<Planned>,
}

/// An event of a prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// A read.
    Read {
        /// The key.
        key: String,
        /// The transaction that it reads from; `None` for the initial state.
        from: Option<TxnPlace>,
    },
    /// A write.
    Write {
        /// The key.
        key: String,
    },
}

/// Where a session ends in the prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The name of the session.
    pub session: String,
    /// How many of its transactions are kept whole.
    pub whole: usize,
    /// Where it is cut, if it is.
    pub cut: Option<Cut>,
    /// The transactions of which nothing is kept.
    pub cut_off: Vec<TxnRef>,
}

/// Why and where a session is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// This read, its last event, has another writer: what the application does then is not known.
    AtRead(OpRef),
    /// This read is its last event, although it is as observed and the transaction would go on.
    Short(OpRef),
    /// Reads of this transaction have other writers: what comes after it is not known.
    AtTxn(TxnRef),
    /// Nothing has another writer, but what comes after this transaction (or anything at all) would
    /// not fit: it happens after another session's boundary, or the level does not allow it
    /// together with the changed reads.
    After(Option<TxnRef>),
}

/// Makes the prediction that a candidate stands for, with an explanation if there is time; the
/// outlook is yet to be seen.
pub(crate) fn build(
    history: &History,
    run: &Run,
    candidate: &Candidate,
    options: &Options,
    deadline: Option<Instant>,
) -> Prediction {
    let wiring = Wiring::new(history, run, candidate);
    let predicted = wiring.history();
    let changed = wiring.changed(candidate, &predicted);
    let sessions = history
        .sessions()
        .map(|session| {
            session_end(
                history,
                session,
                candidate.sessions[session.index()],
                &changed,
                options.boundary,
            )
        })
        .collect();
    let violation = explain(&predicted, deadline);
    let shown = wiring.shown(&predicted, violation.as_ref(), &changed, candidate);
    let plan = plan::plan(&wiring, violation.as_ref(), &changed);
    let writer = |read: &OpId| wiring.sources.get(read).copied().flatten();
    let reads =
        violation.iter().flat_map(|violation| &violation.ops).filter(|op| !op.kind.is_write());
    let mut cycle_reads: Vec<(OpId, Option<TxnId>)> = reads
        .filter_map(|op| wiring.kept.get(op.id?.index()).map(|read| (*read, writer(read))))
        .collect();
    cycle_reads.sort_unstable();
    cycle_reads.dedup();
    Prediction {
        level: options.level,
        boundary: options.boundary,
        history: predicted,
        changed,
        outlook: Outlook::CutShort,
        sessions,
        violation,
        shown,
        plan,
        observed: wiring.kept,
        cycle_reads,
    }
}

/// The appends to each list, in the serial order of the run.
fn appends(history: &History, run: &Run) -> FxHashMap<KeyId, Vec<OpId>> {
    let mut appends: FxHashMap<KeyId, Vec<OpId>> = FxHashMap::default();
    for txn in run.in_order() {
        for op in history.ops_of(run.txns[txn as usize].id).map(OpId) {
            if history.op(op).kind == OpKind::Append {
                appends.entry(history.op(op).key).or_default().push(op);
            }
        }
    }
    appends
}

/// The smallest reason why a history is not serializable.
fn explain(history: &History, deadline: Option<Instant>) -> Option<Violation> {
    let checker = Checker::new().levels([Level::Serializable]).threads(1).deadline(deadline);
    let report = checker.check(history);
    let exemplars = report.anomalies.into_iter().map(|group| group.exemplar);
    exemplars
        .min_by_key(|violation| (violation.txn_count(), violation.cycle.len(), violation.ops.len()))
}

/// The writer of each read in a candidate.
pub(crate) struct Wiring<'h> {
    pub history: &'h History,
    /// The events that are kept, in order.
    pub kept: Vec<OpId>,
    /// For each read its writer in the run.
    observed: FxHashMap<OpId, Option<TxnId>>,
    /// For each read its writer in the candidate.
    pub sources: FxHashMap<OpId, Option<TxnId>>,
    /// For each transaction with kept events whether all are.
    pub whole: Vec<(TxnId, bool)>,
    /// The last write of each transaction to each key.
    writes: FxHashMap<(TxnId, KeyId), OpId>,
    /// The appends to each list, in the order of the run.
    appends: FxHashMap<KeyId, Vec<OpId>>,
}

impl<'h> Wiring<'h> {
    fn new(history: &'h History, run: &Run, candidate: &Candidate) -> Wiring<'h> {
        let mut wiring = Wiring {
            history,
            kept: Vec::new(),
            observed: FxHashMap::default(),
            sources: FxHashMap::default(),
            whole: Vec::new(),
            writes: FxHashMap::default(),
            appends: appends(history, run),
        };
        for txn in &run.txns {
            let Kept { whole_until, partial } = candidate.sessions[txn.session as usize];
            let is_kept = |op: OpId| {
                txn.id.0 < whole_until
                    || partial.is_some_and(|(cut, last)| cut == txn.id && op <= last)
            };
            for event in &txn.events {
                match event.act {
                    Act::Read(source) => {
                        let source = source.map(|source| run.txns[source as usize].id);
                        wiring.observed.insert(event.op, source);
                    }
                    Act::Write => {
                        wiring.writes.insert((txn.id, event.key), event.op);
                    }
                }
                if is_kept(event.op) {
                    wiring.kept.extend(wiring.earlier_appends(event.op));
                    wiring.kept.push(event.op);
                }
            }
            let is_partial = partial.is_some_and(|(cut, _)| cut == txn.id);
            if is_partial || txn.id.0 < whole_until {
                wiring.whole.push((txn.id, !is_partial));
            }
        }
        wiring.kept.sort_unstable();
        wiring.sources = wiring.observed.clone();
        wiring.sources.extend(candidate.changed.iter().copied());
        wiring
    }

    /// The appends of the same transaction to the same list before this one, if it is one.
    fn earlier_appends(&self, last: OpId) -> Vec<OpId> {
        let (key, txn) = (self.history.op(last).key, self.history.txn_of(last));
        let is_append = self.history.op(last).kind == OpKind::Append;
        let all = self.appends.get(&key).filter(|_| is_append).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|&op| op < last && self.history.txn_of(op) == txn).collect()
    }

    fn is_list(&self, op: OpId) -> bool {
        self.appends.contains_key(&self.history.op(op).key)
    }

    /// The lists that reads with another writer return: all that was appended up to that one's last
    /// append. What is cut falls out of them with its appends.
    fn lists(&self) -> Vec<(OpId, Vec<Value>)> {
        let changed = |&(read, source): &(&OpId, &Option<TxnId>)| {
            self.is_list(*read) && self.observed.get(read) != Some(source)
        };
        let list = |(&read, &source): (&OpId, &Option<TxnId>)| {
            let all = &self.appends[&self.history.op(read).key];
            let last = all.iter().rposition(|&op| Some(self.history.txn_of(op)) == source);
            let until = last.map_or(0, |last| last + 1);
            (read, all[..until].iter().map(|&op| self.history.op(op).value).collect())
        };
        self.sources.iter().filter(changed).map(list).collect()
    }

    /// The write that `read` returns; `None` for the initial value.
    fn write(&self, read: OpId) -> Option<OpId> {
        let source = self.sources.get(&read).copied().flatten()?;
        self.writes.get(&(source, self.history.op(read).key)).copied()
    }

    /// The predicted history. Values that look the same are made distinct, so that nothing is left
    /// open.
    fn history(&self) -> History {
        let all = || self.writes.values().copied();
        let mut count: FxHashMap<(KeyId, Value), u32> = FxHashMap::default();
        for (key, value) in
            all().map(|write| (self.history.op(write).key, self.history.op(write).value))
        {
            *count.entry((key, value)).or_default() += 1;
        }
        let initial = self.history.initial();
        let ambiguous = |write: &OpId| {
            let op = self.history.op(*write);
            count[&(op.key, op.value)] > 1 || initial.value_of(op.key) == Some(op.value)
        };
        let is_register = |op: &OpId| !self.is_list(*op);
        let mut writes: Vec<OpId> = all().filter(is_register).filter(ambiguous).collect();
        writes.sort_unstable();
        let mut reads: Vec<(OpId, Option<OpId>)> = self
            .sources
            .keys()
            .filter(|read| is_register(read))
            .map(|&read| (read, self.write(read)))
            .collect();
        reads.sort_unstable();
        let history = self.history.rewired(&writes, &reads);
        history.relisted(&self.lists()).restricted_to(&self.kept)
    }

    fn changed(&self, candidate: &Candidate, predicted: &History) -> Vec<ChangedRead> {
        let refs = Refs(self.history);
        let place = self.places();
        let mut changed: Vec<ChangedRead> = candidate
            .changed
            .iter()
            .filter_map(|&(read, source)| {
                let value = Refs(predicted).op(*place.get(&read)?).value;
                let observed = self.txn(self.observed.get(&read).copied().flatten());
                Some(ChangedRead {
                    read: refs.op(read),
                    observed,
                    predicted: self.txn(source),
                    value,
                })
            })
            .collect();
        changed.sort_by_key(|changed| changed.read.id);
        changed
    }

    /// For each kept operation its number in the predicted history.
    fn places(&self) -> FxHashMap<OpId, OpId> {
        self.kept.iter().enumerate().map(|(new, &old)| (old, OpId::from(new))).collect()
    }

    fn txn(&self, txn: Option<TxnId>) -> TxnRef {
        let refs = Refs(self.history);
        txn.map_or_else(|| refs.initial(), |txn| refs.txn(txn))
    }

    /// The events of the explanation and the changed reads, by transaction; and the transactions
    /// that are cut in the middle.
    fn shown(
        &self,
        predicted: &History,
        violation: Option<&Violation>,
        changed: &[ChangedRead],
        candidate: &Candidate,
    ) -> Vec<ShownTxn> {
        let explained = violation.iter().flat_map(|violation| &violation.ops);
        let mut ops: Vec<OpId> =
            explained.filter_map(|op| self.kept.get(op.id?.index()).copied()).collect();
        ops.extend(changed.iter().filter_map(|changed| changed.read.id));
        // What is lost with a cut: the writes that no longer happen.
        for (txn, last) in candidate.sessions.iter().filter_map(|kept| kept.partial) {
            let lost =
                self.writes.iter().filter(|((writer, _), write)| *writer == txn && **write > last);
            ops.extend(lost.map(|(_, &write)| write));
        }
        ops.sort_unstable();
        ops.dedup();
        let place = self.places();
        let mut shown: Vec<ShownTxn> = Vec::new();
        for op in ops {
            let id = self.history.txn_of(op);
            if shown.last().is_none_or(|last| last.txn.id != Some(id)) {
                shown.push(ShownTxn {
                    txn: self.txn(Some(id)),
                    fate: self.fate(id),
                    events: Vec::new(),
                });
            }
            if let Some(last) = shown.last_mut() {
                last.events.push(self.event(op, place.get(&op).copied(), predicted));
            }
        }
        shown
    }

    fn fate(&self, txn: TxnId) -> Fate {
        match self.whole.iter().find(|one| one.0 == txn) {
            Some((_, true)) => Fate::Whole,
            Some((_, false)) => Fate::Partial,
            None => Fate::CutOff,
        }
    }

    fn event(&self, op: OpId, place: Option<OpId>, predicted: &History) -> ShownEvent {
        let from = |sources: &FxHashMap<OpId, Option<TxnId>>| {
            sources.get(&op).map(|&source| self.txn(source))
        };
        ShownEvent {
            observed: Refs(self.history).op(op),
            observed_from: from(&self.observed),
            predicted_from: place.and_then(|_| from(&self.sources)),
            predicted_value: place.map(|place| Refs(predicted).op(place).value),
        }
    }

    pub(crate) fn place_of(&self, txn: TxnId) -> TxnPlace {
        let session = self.history.session_of(txn);
        TxnPlace { session: session.0, index: txn.0 - self.history.txns_of(session).start }
    }
}

fn session_end(
    history: &History,
    session: SessionId,
    kept: Kept,
    changed: &[ChangedRead],
    boundary: Boundary,
) -> SessionEnd {
    let refs = Refs(history);
    let txns = history.txns_of(session);
    let partial = kept.partial.map(|(txn, _)| txn);
    let whole = txns.clone().filter(|&txn| txn < kept.whole_until).count();
    let cut_off: Vec<TxnRef> = txns
        .clone()
        .map(TxnId)
        .filter(|&txn| txn.0 >= kept.whole_until && Some(txn) != partial)
        .map(|txn| refs.txn(txn))
        .collect();
    let here: FxHashSet<Option<OpId>> = changed.iter().map(|changed| changed.read.id).collect();
    let last_whole = kept.whole_until.checked_sub(1).map(TxnId).filter(|txn| txns.contains(&txn.0));
    let changed_in = |txn: TxnId| history.ops_of(txn).any(|op| here.contains(&Some(OpId(op))));
    let cut = match (kept.partial, last_whole) {
        (Some((_, last)), _) if here.contains(&Some(last)) => Some(Cut::AtRead(refs.op(last))),
        (Some((_, last)), _) => Some(Cut::Short(refs.op(last))),
        (None, Some(txn)) if boundary == Boundary::Relaxed && changed_in(txn) => {
            Some(Cut::AtTxn(refs.txn(txn)))
        }
        (None, _) if cut_off.is_empty() => None,
        (None, txn) => Some(Cut::After(txn.map(|txn| refs.txn(txn)))),
    };
    SessionEnd { session: history.session_name(session).to_string(), whole, cut, cut_off }
}
