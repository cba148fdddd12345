//! A first guess at the commit order, from the order of the file.

use super::tables::Index;
use seriatim_history::{History, SessionId, TxnId};

/// A first guess at the commit order: by end time if known, by the order of the file if it
/// interleaves the sessions, else as if all sessions had run at once at a steady rate.
pub(crate) fn first_guess(history: &History, index: &Index) -> Vec<TxnId> {
    let mut txns: Vec<TxnId> = history.txns().filter(|txn| index.counts[txn.index()]).collect();
    if history.has_times() {
        txns = sorted(txns, |txn| history.times(txn).map_or(0, |(_, end)| end));
    } else if interleaved(history, index) {
        txns = history.txns_in_file_order();
        txns.retain(|txn| index.counts[txn.index()]);
    } else {
        let bounds = history.session_bounds();
        txns = sorted(txns, |txn| {
            let session = index.session_of(txn).index();
            let (first, end) = (bounds[session], bounds[session + 1]);
            (i64::from(txn.0 - first) << 31) / i64::from(end - first)
        });
    }
    txns
}

/// By a number, then by their own.
fn sorted(txns: Vec<TxnId>, key: impl Fn(TxnId) -> i64) -> Vec<TxnId> {
    let mut keyed: Vec<(i64, TxnId)> = txns.into_iter().map(|txn| (key(txn), txn)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, txn)| txn).collect()
}

/// Whether the file mentions the transactions of different sessions in turn: it changes session
/// much more often than there are sessions.
fn interleaved(history: &History, index: &Index) -> bool {
    let mut session_at = vec![SessionId(0); history.txn_count()];
    for (txn, &rank) in history.file_order().iter().enumerate() {
        session_at[rank as usize] = index.txn_session[txn];
    }
    let changes = session_at.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes > history.session_count() * 2
}
