//! A prediction as data: the predicted history, where it differs from the observed one, and why it is not serializable.

use crate::candidate::{Candidate, Kept};
use crate::run::{Act, Run};
use crate::{Boundary, Options};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_check::{Level, OpRef, Refs, TxnRef, Violation, check};
use seriatim_history::{History, KeyId, OpId, SessionId, TxnId, Value};

/// A history that the application could have had at the level, and that is not serializable.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The level that allows it.
    pub level: Level,
    /// Where its sessions end.
    pub boundary: Boundary,
    /// The history: events only (reads of own writes, and writes that their transaction overwrites, are left out).
    pub history: History,
    /// The reads that have another writer than observed.
    pub changed: Vec<ChangedRead>,
    /// Where each session ends.
    pub sessions: Vec<SessionEnd>,
    /// Why it is not serializable; its operations are numbered as in `history`. `None` only if that was too hard to explain.
    pub violation: Option<Violation>,
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

    /// The reads that the explanation rests on, with their writers, by numbers of the observed history.
    pub(crate) fn cycle_reads(&self) -> Vec<(OpId, Option<TxnId>)> {
        self.cycle_reads.clone()
    }
}

/// A read that has another writer than observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRead {
    /// The read, in the observed history.
    pub read: OpRef,
    /// Whom it read from in the observed history; the initial transaction has no id.
    pub observed: TxnRef,
    /// Whom it reads from in the prediction.
    pub predicted: TxnRef,
    /// What it returns in the prediction.
    pub value: String,
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
    /// Reads of this transaction have other writers: what comes after it is not known.
    AtTxn(TxnRef),
    /// Nothing has another writer, but what comes after this operation would not fit: it happens after another session's boundary, or
    /// the level does not allow it together with the changed reads.
    After(Option<OpRef>),
}

/// Makes the prediction that a candidate stands for.
pub(crate) fn build(history: &History, run: &Run, candidate: &Candidate, options: &Options) -> Prediction {
    let wiring = Wiring::new(history, run, candidate);
    let predicted = wiring.history();
    let refs = Refs(history);
    let changed = wiring.changed(candidate, &predicted);
    let sessions = history
        .sessions()
        .map(|session| session_end(history, session, candidate.sessions[session.index()], &changed, options.boundary))
        .collect();
    let violation = explain(&predicted);
    let writer = |read: &OpId| wiring.sources.get(read).copied().flatten();
    let reads = violation.iter().flat_map(|violation| &violation.ops).filter(|op| op.action == "read");
    let mut cycle_reads: Vec<(OpId, Option<TxnId>)> =
        reads.filter_map(|op| wiring.kept.get(op.id?.index()).map(|read| (*read, writer(read)))).collect();
    cycle_reads.sort_unstable();
    cycle_reads.dedup();
    debug_assert!(candidate.changed.is_empty() || refs.0.op_count() > 0);
    Prediction {
        level: options.level,
        boundary: options.boundary,
        history: predicted,
        changed,
        sessions,
        violation,
        observed: wiring.kept,
        cycle_reads,
    }
}

/// The smallest reason why a history is not serializable.
fn explain(history: &History) -> Option<Violation> {
    let levels = vec![Level::Serializable];
    let report = check(history, &seriatim_check::Options { levels, threads: 1, ..Default::default() });
    let exemplars = report.anomalies.into_iter().map(|group| group.exemplar);
    exemplars.min_by_key(|violation| (violation.txn_count(), violation.cycle.len(), violation.ops.len()))
}

/// Who reads from whom in a candidate.
struct Wiring<'h> {
    history: &'h History,
    /// The events that are kept, in order.
    kept: Vec<OpId>,
    /// For each kept read its writer.
    sources: FxHashMap<OpId, Option<TxnId>>,
    /// The last write of each transaction to each key.
    writes: FxHashMap<(TxnId, KeyId), OpId>,
}

impl<'h> Wiring<'h> {
    fn new(history: &'h History, run: &Run, candidate: &Candidate) -> Wiring<'h> {
        let mut wiring =
            Wiring { history, kept: Vec::new(), sources: FxHashMap::default(), writes: FxHashMap::default() };
        for txn in &run.txns {
            let Kept { whole_until, partial } = candidate.sessions[txn.session as usize];
            let is_kept =
                |op: OpId| txn.id.0 < whole_until || partial.is_some_and(|(cut, last)| cut == txn.id && op <= last);
            for event in &txn.events {
                match event.act {
                    Act::Read(source) => {
                        let source = source.map(|source| run.txns[source as usize].id);
                        wiring.sources.insert(event.op, source);
                    }
                    Act::Write => {
                        wiring.writes.insert((txn.id, event.key), event.op);
                    }
                }
                if is_kept(event.op) {
                    wiring.kept.push(event.op);
                }
            }
        }
        wiring.sources.extend(candidate.changed.iter().copied());
        wiring
    }

    /// The write that `read` returns; `None` for the initial value.
    fn write(&self, read: OpId) -> Option<OpId> {
        let source = self.sources.get(&read).copied().flatten()?;
        self.writes.get(&(source, self.history.op(read).key)).copied()
    }

    /// The predicted history. Values that look the same are made distinct, so that nothing is left open.
    fn history(&self) -> History {
        let all = || self.writes.values().copied();
        let mut count: FxHashMap<(KeyId, Value), u32> = FxHashMap::default();
        for (key, value) in all().map(|write| (self.history.op(write).key, self.history.op(write).value)) {
            *count.entry((key, value)).or_default() += 1;
        }
        let initial = self.history.initial();
        let ambiguous = |write: &OpId| {
            let op = self.history.op(*write);
            count[&(op.key, op.value)] > 1 || initial.value_of(op.key) == Some(op.value)
        };
        let mut writes: Vec<OpId> = all().filter(ambiguous).collect();
        writes.sort_unstable();
        let mut reads: Vec<(OpId, Option<OpId>)> =
            self.sources.keys().map(|&read| (read, self.write(read))).collect();
        reads.sort_unstable();
        self.history.rewired(&writes, &reads).restricted_to(&self.kept)
    }

    fn changed(&self, candidate: &Candidate, predicted: &History) -> Vec<ChangedRead> {
        let refs = Refs(self.history);
        let txn = |txn: Option<TxnId>| txn.map_or_else(|| refs.initial(), |txn| refs.txn(txn));
        let place: FxHashMap<OpId, usize> = self.kept.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        let observed = observed_sources(self.history);
        let mut changed: Vec<ChangedRead> = candidate
            .changed
            .iter()
            .filter_map(|&(read, source)| {
                let new = OpId::from(*place.get(&read)?);
                let value = predicted.value_text(predicted.op(new).value);
                let observed = txn(observed.get(&(self.history.op(read).key, self.history.op(read).value)).copied());
                Some(ChangedRead { read: refs.op(read), observed, predicted: txn(source), value })
            })
            .collect();
        changed.sort_by_key(|changed| changed.read.id);
        changed
    }
}

/// Who wrote each value that is not the initial one.
fn observed_sources(history: &History) -> FxHashMap<(KeyId, Value), TxnId> {
    let mut sources = FxHashMap::default();
    for txn in history.txns() {
        for op in history.ops_of(txn).map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write()) {
            sources.insert((op.key, op.value), txn);
        }
    }
    sources
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
    let cut_off: Vec<TxnRef> =
        txns.clone().map(TxnId).filter(|&txn| txn.0 >= kept.whole_until && Some(txn) != partial).map(|txn| refs.txn(txn)).collect();
    let here: FxHashSet<Option<OpId>> = changed.iter().map(|changed| changed.read.id).collect();
    let last_whole = kept.whole_until.checked_sub(1).map(TxnId).filter(|txn| txns.contains(&txn.0));
    let changed_in = |txn: TxnId| history.ops_of(txn).any(|op| here.contains(&Some(OpId(op))));
    let cut = match (kept.partial, last_whole) {
        (Some((_, last)), _) if here.contains(&Some(last)) => Some(Cut::AtRead(refs.op(last))),
        (Some((_, last)), _) => Some(Cut::After(Some(refs.op(last)))),
        (None, Some(txn)) if boundary == Boundary::Relaxed && changed_in(txn) => Some(Cut::AtTxn(refs.txn(txn))),
        (None, _) if cut_off.is_empty() => None,
        (None, txn) => Some(Cut::After(txn.and_then(|txn| history.ops_of(txn).last()).map(|op| refs.op(OpId(op))))),
    };
    SessionEnd { session: history.session_name(session).to_string(), whole, cut, cut_off }
}
