//! A first guess at the commit order, from the order of the file.

use super::tables::{Index, NONE};
use seriatim_history::History;

/// A first guess at the commit order: by end time if known, by the order of the file if it
/// interleaves the sessions, else as if all sessions had run at once at a steady rate.
pub(crate) fn first_guess(history: &History, index: &Index) -> Vec<u32> {
    let mut txns: Vec<u32> =
        (0..history.txn_count() as u32).filter(|&txn| index.counts[txn as usize]).collect();
    if history.has_times() {
        txns.sort_by_key(|&txn| {
            history.times(seriatim_history::TxnId(txn)).map_or(0, |(_, end)| end)
        });
    } else if interleaved(history, index) {
        let rank = history.file_order();
        let mut by_rank = vec![NONE; history.txn_count()];
        for &txn in &txns {
            by_rank[rank[txn as usize] as usize] = txn;
        }
        txns = by_rank.into_iter().filter(|&txn| txn != NONE).collect();
    } else {
        let bounds = history.session_bounds();
        txns.sort_by_cached_key(|&txn| {
            let session = index.txn_session[txn as usize] as usize;
            let (first, end) = (bounds[session], bounds[session + 1]);
            (u64::from(txn - first) << 32) / u64::from(end - first)
        });
    }
    txns
}

/// Whether the file mentions the transactions of different sessions in turn: it changes session
/// much more often than there are sessions.
fn interleaved(history: &History, index: &Index) -> bool {
    let mut session_at = vec![0u32; history.txn_count()];
    for (txn, &rank) in history.file_order().iter().enumerate() {
        session_at[rank as usize] = index.txn_session[txn];
    }
    let changes = session_at.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes > history.session_count() * 2
}
