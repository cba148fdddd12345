//! The definition of a prediction, literally: every way to cut the sessions, every writer for every
//! read that may change. Exponential, for runs of a few transactions, and the measure of the search
//! in property tests. It shares no code with the search.

use crate::question::{Boundary, Options};
use seriatim_check::{Answer, Checker};
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId, Value, ValueKind};
use seriatim_isolation::{Level, oracle as definition};

/// An event of a run, in session order.
#[derive(Clone, Copy, Debug)]
struct KeptEvent {
    txn: TxnId,
    op: OpId,
    is_read: bool,
    key: KeyId,
}

/// Whether a run of committed transactions with distinct values has a prediction.
pub fn exists(history: &History, options: &Options) -> bool {
    let boundary = options.boundary;
    let sessions: Vec<Vec<KeptEvent>> = history
        .sessions()
        .map(|session| {
            history.txns_of(session).flat_map(|txn| events(history, TxnId(txn))).collect()
        })
        .collect();
    let cuts: Vec<Vec<usize>> = sessions
        .iter()
        .map(|events| (0..=events.len()).filter(|&cut| may_cut(events, cut, boundary)).collect())
        .collect();
    let mut chosen = Vec::new();
    let appends = appends(history);
    let is_latest = history.reads_of_the_latest();
    some_cuts(&cuts, &mut chosen, &|kept| {
        let oracle = Oracle {
            history,
            options,
            sessions: &sessions,
            kept,
            appends: &appends,
            is_latest: &is_latest,
        };
        oracle.some_sources()
    })
}

/// All appends, in a serial order of the run.
fn appends(history: &History) -> Vec<OpId> {
    let report = Checker::new().levels([Level::Serializable]).check(history);
    let order = report.verdicts.first().and_then(|verdict| verdict.commit_order());
    let ops = order.into_iter().flatten().flat_map(|txn| history.ops_of(txn).map(OpId));
    ops.filter(|&op| history.op(op).kind == OpKind::Append).collect()
}

/// Reads from others, and last writes.
fn events(history: &History, txn: TxnId) -> Vec<KeptEvent> {
    let ops: Vec<OpId> = history.ops_of(txn).map(OpId).collect();
    let content = |op: OpId| history.op(op);
    let is_event = |&(place, op): &(usize, OpId)| {
        let same_write = |other: &OpId| {
            content(*other).kind.is_write() && content(*other).key == content(op).key
        };
        match content(op).kind {
            OpKind::Read => !ops[..place].iter().any(same_write),
            _ => !ops[place + 1..].iter().any(same_write),
        }
    };
    let all = ops.iter().copied().enumerate().filter(is_event);
    all.map(|(_, op)| KeptEvent {
        txn,
        op,
        is_read: content(op).kind == OpKind::Read,
        key: content(op).key,
    })
    .collect()
}

/// Whether a session may end after `cut` events.
fn may_cut(events: &[KeptEvent], cut: usize, boundary: Boundary) -> bool {
    let (Some(last), Some(next)) = (cut.checked_sub(1).map(|last| &events[last]), events.get(cut))
    else {
        return true;
    };
    let inside = last.txn == next.txn;
    match boundary {
        Boundary::Relaxed => !inside,
        Boundary::Strict => !inside || last.is_read,
    }
}

fn some_cuts(
    cuts: &[Vec<usize>],
    chosen: &mut Vec<usize>,
    accept: &dyn Fn(&[usize]) -> bool,
) -> bool {
    let Some(here) = cuts.get(chosen.len()) else { return accept(chosen) };
    here.iter().any(|&cut| {
        chosen.push(cut);
        let found = some_cuts(cuts, chosen, accept);
        chosen.pop();
        found
    })
}

struct Oracle<'a> {
    history: &'a History,
    options: &'a Options,
    sessions: &'a [Vec<KeptEvent>],
    /// How many events of each session are kept.
    kept: &'a [usize],
    /// All appends, in the order of the run.
    appends: &'a [OpId],
    /// For each operation whether it reads the latest version, whatever the level allows.
    is_latest: &'a [bool],
}

impl Oracle<'_> {
    fn kept(&self) -> impl Iterator<Item = &KeptEvent> {
        self.sessions.iter().zip(self.kept).flat_map(|(events, &kept)| &events[..kept])
    }

    /// Whether the reads can have writers such that this is a prediction.
    fn some_sources(&self) -> bool {
        let reads: Vec<&KeptEvent> = self.kept().filter(|event| event.is_read).collect();
        self.choose(&reads, &mut Vec::new())
    }

    fn choose(&self, reads: &[&KeptEvent], chosen: &mut Vec<(OpId, Option<OpId>)>) -> bool {
        let Some(read) = reads.get(chosen.len()) else { return self.is_prediction(chosen) };
        let observed = self.observed(read);
        let mut options: Vec<Option<OpId>> = vec![observed];
        if self.may_change(read) && !self.is_latest[read.op.index()] {
            let writes = self
                .kept()
                .filter(|event| !event.is_read && event.key == read.key && event.txn != read.txn);
            let all = writes.map(|event| Some(event.op)).chain([None]);
            options.extend(all.filter(|&source| source != observed));
        }
        options.into_iter().any(|source| {
            chosen.push((read.op, source));
            let found = self.choose(reads, chosen);
            chosen.pop();
            found
        })
    }

    /// The write that `read` returned in the run.
    fn observed(&self, read: &KeptEvent) -> Option<OpId> {
        let value = match self.history.op(read.op).value.kind() {
            ValueKind::List(number) => *self.history.list(number).last()?,
            _ => self.history.op(read.op).value,
        };
        let writes =
            self.sessions.iter().flatten().filter(|event| !event.is_read && event.key == read.key);
        writes
            .map(|event| event.op)
            .find(|&write| value != Value::NULL && self.history.op(write).value == value)
    }

    fn may_change(&self, read: &KeptEvent) -> bool {
        let session = self.history.session_of(read.txn).index();
        let last = self.kept[session].checked_sub(1).map(|last| &self.sessions[session][last]);
        last.is_some_and(|last| match self.options.boundary {
            Boundary::Strict => last.op == read.op,
            Boundary::Relaxed => last.txn == read.txn,
        })
    }

    fn is_prediction(&self, sources: &[(OpId, Option<OpId>)]) -> bool {
        let mut kept: Vec<OpId> = self.kept().map(|event| event.op).collect();
        let txn = |op: OpId| self.history.txn_of(op);
        // With the last append of a transaction to a list all others.
        let of = |op: OpId| (txn(op), self.history.op(op).key);
        let others = self
            .appends
            .iter()
            .filter(|&&op| kept.iter().any(|&last| of(last) == of(op) && op < last));
        let others: Vec<OpId> = others.copied().collect();
        kept.extend(others);
        if sources.iter().any(|(_, write)| write.is_some_and(|write| !kept.contains(&write))) {
            return false;
        }
        let event = |op: OpId| self.kept().find(|event| event.op == op);
        let changed = |&(read, source): &(OpId, Option<OpId>)| {
            event(read).is_some_and(|read| self.observed(read) != source).then(|| txn(read))
        };
        let changed: Vec<TxnId> = sources.iter().filter_map(changed).collect();
        let after_boundary = |write: OpId| changed.contains(&txn(write));
        let reads_after = sources.iter().any(|(_, write)| write.is_some_and(after_boundary));
        if self.options.boundary == Boundary::Relaxed && reads_after {
            return false;
        }
        let Some(lists) = self.lists(sources, &kept) else { return false };
        let is_register = |read: OpId| {
            let key = self.history.op(read).key;
            !self.appends.iter().any(|&op| self.history.op(op).key == key)
        };
        let registers: Vec<(OpId, Option<OpId>)> =
            sources.iter().copied().filter(|&(read, _)| is_register(read)).collect();
        let history = self.history.rewired(&[], &registers).relisted(&lists);
        let history = history.restricted_to(&kept);
        outcome(&history, Level::Serializable) == Some(Answer::Violated)
            && self.has_the_level(&history)
    }
}

impl Oracle<'_> {
    fn has_the_level(&self, history: &History) -> bool {
        match self.options.tells_sessions() {
            true => definition::is_read_committed_over_sql(history),
            false => outcome(history, self.options.level) == Some(Answer::Holds),
        }
    }

    /// The lists of the reads that have another writer; `None` if a read that has its own would
    /// miss an element.
    fn lists(
        &self,
        sources: &[(OpId, Option<OpId>)],
        kept: &[OpId],
    ) -> Option<Vec<(OpId, Vec<Value>)>> {
        let mut lists = Vec::new();
        for event in self.kept().filter(|event| event.is_read) {
            let of_key = |op: &&OpId| self.history.op(**op).key == event.key;
            let appends: Vec<OpId> = self.appends.iter().filter(of_key).copied().collect();
            if appends.is_empty() {
                continue;
            }
            let source = sources.iter().find(|(read, _)| *read == event.op)?.1;
            let until = appends.iter().position(|&op| Some(op) == source).map_or(0, |at| at + 1);
            if source != self.observed(event) {
                let items = appends[..until].iter().map(|&op| self.history.op(op).value).collect();
                lists.push((event.op, items));
            } else if appends[..until].iter().any(|op| !kept.contains(op)) {
                return None;
            }
        }
        Some(lists)
    }
}

fn outcome(history: &History, level: Level) -> Option<Answer> {
    let report = Checker::new().levels([level]).threads(1).check(history);
    report.verdict(level).map(|verdict| verdict.answer())
}
