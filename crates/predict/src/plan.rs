//! What to run to see a prediction happen: its transactions with their reads, and which of them it
//! takes.

use crate::prediction::{ChangedRead, Planned, PlannedTxn};
use crate::run;
use crate::wiring::Wiring;
use rustc_hash::FxHashSet;
use seriatim_check::Violation;
use seriatim_history::{OpId, Status, TxnId};

/// All transactions of the prediction, session by session, and those that aborted among them.
pub(crate) fn plan(
    wiring: &Wiring<'_>,
    violation: Option<&Violation>,
    changed: &[ChangedRead],
) -> Vec<PlannedTxn> {
    let needed = needed(wiring, violation, changed);
    let mut plan: Vec<PlannedTxn> = Vec::new();
    let mut kept = wiring.kept.iter().copied().peekable();
    for &(txn, whole) in &wiring.whole {
        let mut events = Vec::new();
        while let Some(op) = kept.next_if(|&op| wiring.history.ops_of(txn).contains(&op.0)) {
            events.push(event(wiring, op));
        }
        let is_needed = needed.contains(&txn);
        plan.extend(aborted_before(wiring, txn, is_needed));
        let name = wiring.history.txn_name(txn).to_string();
        let begun = begun(wiring, txn);
        let txn = wiring.place_of(txn);
        let needed = is_needed;
        plan.push(PlannedTxn { txn, name, begun, whole, needed, aborted: false, events });
    }
    plan
}

fn begun(wiring: &Wiring<'_>, txn: TxnId) -> Option<i64> {
    wiring.history.times(txn).map(|(begun, _)| begun)
}

fn event(wiring: &Wiring<'_>, op: OpId) -> Planned {
    let key = wiring.history.key_name(wiring.history.op(op).key).to_string();
    match wiring.sources.get(&op) {
        Some(source) => Planned::Read { key, from: source.map(|source| wiring.place_of(source)) },
        None => Planned::Write { key },
    }
}

/// Transactions with changed reads or in the explanation, and all that happen before them.
fn needed(
    wiring: &Wiring<'_>,
    violation: Option<&Violation>,
    changed: &[ChangedRead],
) -> FxHashSet<TxnId> {
    let explained = violation.iter().flat_map(|violation| &violation.ops);
    let explained = explained
        .filter_map(|op| wiring.kept.get(op.id?.index()).map(|&op| wiring.history.txn_of(op)));
    let mut waiting: Vec<TxnId> =
        changed.iter().filter_map(|changed| changed.read.txn.id).chain(explained).collect();
    let mut needed: FxHashSet<TxnId> = FxHashSet::default();
    let kept: FxHashSet<OpId> = wiring.kept.iter().copied().collect();
    while let Some(txn) = waiting.pop() {
        if !needed.insert(txn) {
            continue;
        }
        let reads = wiring.history.ops_of(txn).map(OpId).filter(|op| kept.contains(op));
        waiting.extend(reads.filter_map(|read| wiring.sources.get(&read).copied().flatten()));
        let earlier = wiring.whole.iter().map(|one| one.0).filter(|&other| other < txn);
        let session = wiring.history.session_of(txn);
        waiting.extend(earlier.filter(|&other| wiring.history.session_of(other) == session));
    }
    needed
}

/// The transactions directly before `txn` in its session that aborted.
fn aborted_before(wiring: &Wiring<'_>, txn: TxnId, needed: bool) -> Vec<PlannedTxn> {
    let history = wiring.history;
    let session = history.txns_of(history.session_of(txn));
    let earlier = (session.start..txn.0).rev().map(TxnId);
    let mut aborted: Vec<TxnId> =
        earlier.take_while(|&other| history.status(other) == Status::Aborted).collect();
    aborted.reverse();
    let planned = |txn: TxnId| {
        let reads =
            run::reads_of_aborted(history, txn).into_iter().map(|(key, source)| Planned::Read {
                key: history.key_name(key).to_string(),
                from: source.map(|source| wiring.place_of(source)),
            });
        let name = history.txn_name(txn).to_string();
        PlannedTxn {
            txn: wiring.place_of(txn),
            name,
            begun: begun(wiring, txn),
            whole: false,
            needed,
            aborted: true,
            events: reads.collect(),
        }
    };
    aborted.into_iter().map(planned).collect()
}
