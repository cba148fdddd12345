//! From a candidate to the prediction that it stands for.

use crate::candidate::{Candidate, Kept};
use crate::confirm::Outlook;
use crate::plan;
use crate::prediction::{ChangedRead, Cut, Prediction, SessionEnd};
use crate::question::{Boundary, Options};
use crate::run::Run;
use crate::wiring::Wiring;
use rustc_hash::FxHashSet;
use seriatim_check::{Checker, Refs, TxnRef, Violation};
use seriatim_history::{History, OpId, SessionId, TxnId};
use seriatim_isolation::Level;
use std::time::Instant;

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

/// The smallest reason why a history is not serializable.
fn explain(history: &History, deadline: Option<Instant>) -> Option<Violation> {
    let checker = Checker::new().levels([Level::Serializable]).threads(1).deadline(deadline);
    let report = checker.check(history);
    let exemplars = report.anomalies.into_iter().map(|group| group.exemplar);
    exemplars
        .min_by_key(|violation| (violation.txn_count(), violation.cycle.len(), violation.ops.len()))
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
