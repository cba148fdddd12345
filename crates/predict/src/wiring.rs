//! Which write each read of a candidate returns, and what that makes of the history.

use crate::candidate::{Candidate, Kept};
use crate::prediction::{ChangedRead, Fate, ShownEvent, ShownTxn, TxnPlace};
use crate::run::{Act, Run};
use rustc_hash::FxHashMap;
use seriatim_check::{Refs, TxnRef, Violation};
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId, Value};

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
    pub fn new(history: &'h History, run: &Run, candidate: &Candidate) -> Wiring<'h> {
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
    pub fn history(&self) -> History {
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
        let is_other = |(read, source): (&OpId, &Option<TxnId>)| {
            (self.observed.get(read) != Some(source)).then_some(*read)
        };
        let other: Vec<OpId> = self.sources.iter().filter_map(is_other).collect();
        let history = self.history.rewired(&writes, &reads).without_answers(&other);
        history.relisted(&self.lists()).restricted_to(&self.kept)
    }

    pub fn changed(&self, candidate: &Candidate, predicted: &History) -> Vec<ChangedRead> {
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
    pub fn shown(
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
