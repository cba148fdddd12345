//! Is this a commit order of a weak level with real time?
//!
//! The order must have what ended before a transaction began in front of it, and a read must return
//! the last version in the order of those that its transaction saw and of those whose writers ended
//! before it began. At causal consistency real time also leads from one to the other in what was
//! seen: that is causal consistency of the history with moments of real time
//! ([`seriatim_history::Moments`]), each as early in the order as it can be.

use super::{external_reads, places, verify_weak, writers};
use crate::reads::ExternalRead;
use crate::rejection::Rejection;
use seriatim_history::{History, KeyId, Moments, OpId, TxnId};
use seriatim_isolation::Level;
use std::collections::HashMap;

/// Accepts `order` iff it is a commit order of `history` at the weak `level` with real time.
pub(crate) fn verify_order(
    history: &History,
    level: Level,
    order: &[TxnId],
) -> Result<(), Rejection> {
    let place = places(history, order)?;
    if level == Level::CutIsolation {
        return verify_weak(history, level, order);
    }
    check_real_time(history, order)?;
    if level == Level::Unconstrained {
        return verify_weak(history, level, order);
    }
    let ended = Ended::of(history, order, &place);
    for read in external_reads(history, order, &place)? {
        ended.check(history, &read)?;
    }
    // At the others real time leads to what the reader saw directly, and that has been looked at.
    match (level, history.with_moments()) {
        (Level::Causal, Ok(moments)) => verify_causal(&moments, order),
        (Level::Causal, Err(_)) => Err(Rejection::TooLarge),
        _ => verify_weak(history, level, order),
    }
}

/// No transaction comes before one that had ended when it began.
fn check_real_time(history: &History, order: &[TxnId]) -> Result<(), Rejection> {
    let mut latest: Option<(i64, TxnId)> = None;
    for &txn in order {
        let Some((begin, end)) = history.times(txn) else { continue };
        if let Some((_, other)) = latest.filter(|&(began, _)| end < began) {
            return Err(Rejection::RealTime(txn, other));
        }
        latest = latest.max(Some((begin, txn)));
    }
    Ok(())
}

/// An end, with the last in the order of the writers that had ended by then: its place and itself.
type LastBy = (i64, (usize, TxnId));

/// For each key the ends of its writers, sorted.
struct Ended<'p> {
    writers: HashMap<KeyId, Vec<LastBy>>,
    place: &'p HashMap<TxnId, usize>,
}

impl<'p> Ended<'p> {
    fn of(history: &History, order: &[TxnId], place: &'p HashMap<TxnId, usize>) -> Ended<'p> {
        let last_of = |(key, txns): (KeyId, Vec<TxnId>)| {
            let timed = txns.into_iter().filter_map(|txn| Some((history.times(txn)?.1, txn)));
            let mut ends: Vec<LastBy> = timed.map(|(end, txn)| (end, (place[&txn], txn))).collect();
            ends.sort_unstable();
            for later in 1..ends.len() {
                ends[later].1 = ends[later].1.max(ends[later - 1].1);
            }
            (key, ends)
        };
        Ended { writers: writers(history, order).into_iter().map(last_of).collect(), place }
    }

    /// No writer of the key that ended before the reader began comes after what was read.
    fn check(&self, history: &History, read: &ExternalRead) -> Result<(), Rejection> {
        let &ExternalRead { reader, read, key, source } = read;
        let Some((begin, _)) = history.times(reader) else { return Ok(()) };
        let ends = self.writers.get(&key).map_or(&[][..], Vec::as_slice);
        let before = ends.partition_point(|&(end, _)| end < begin);
        let Some(last) = before.checked_sub(1) else { return Ok(()) };
        let (place, other) = ends[last].1;
        match source.is_none_or(|source| self.place[&source] < place) {
            true => Err(Rejection::Axiom { reader, read, source_txn: source, other }),
            false => Ok(()),
        }
    }
}

/// Causal consistency of the history with moments.
fn verify_causal(moments: &Moments, order: &[TxnId]) -> Result<(), Rejection> {
    let original = |op: OpId| moments.original.get(op.index()).copied().flatten().unwrap_or(op);
    verify_weak(&moments.history, Level::Causal, &with_moments(moments, order)).map_err(
        |rejection| match rejection {
            Rejection::Axiom { reader, read, source_txn, other } => {
                Rejection::Axiom { reader, read: original(read), source_txn, other }
            }
            Rejection::Source(read) => Rejection::Source(original(read)),
            Rejection::ListOrder(read) => Rejection::ListOrder(original(read)),
            other => other,
        },
    )
}

/// `order`, which agrees with real time, with each moment as soon as all that it reads from is
/// there.
fn with_moments(moments: &Moments, order: &[TxnId]) -> Vec<TxnId> {
    let history = &moments.history;
    let all = (moments.txns..history.txn_count() as u32).map(TxnId);
    // A moment reads a key of each transaction before it that was not before the last one.
    let mut open: Vec<usize> =
        all.clone().map(|moment| history.ops_of(moment).len().saturating_sub(1)).collect();
    let mut moment_of: HashMap<KeyId, usize> = HashMap::new();
    for (number, moment) in all.enumerate() {
        for op in history.ops_of(moment).map(|op| history.op(OpId(op))) {
            if !op.kind.is_write() {
                moment_of.insert(op.key, number);
            }
        }
    }
    let (mut next, mut merged) = (0, Vec::with_capacity(history.txn_count()));
    for &txn in order {
        merged.push(txn);
        let last = history.ops_of(txn).next_back().map(|op| history.op(OpId(op)));
        let told = last.filter(|op| op.kind.is_write()).and_then(|op| moment_of.get(&op.key));
        if let Some(&moment) = told {
            open[moment] -= 1;
        }
        while open.get(next) == Some(&0) {
            merged.push(TxnId(moments.txns + next as u32));
            next += 1;
        }
    }
    merged.extend((next..open.len()).map(|moment| TxnId(moments.txns + moment as u32)));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::numbers;
    use crate::verify_order;
    use seriatim_history::notation;
    use seriatim_isolation::{Guarantee, Order, oracle};

    /// Transactions that mostly run at once, each a reader and a writer.
    fn random_text(seed: u64) -> (String, Vec<TxnId>) {
        let mut below = numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let mut sessions = vec![Vec::new(); 3];
        let mut newest = [0; 2];
        let mut order = Vec::new();
        for value in 1..=5 {
            let session = below(3) as usize;
            let (read, write) = (below(2) as usize, below(2) as usize);
            let seen = if below(3) == 0 { below(value) } else { newest[read] };
            let begin = 2 * value + below(3);
            let times = if below(6) == 0 {
                String::new()
            } else {
                format!(" @{begin}-{}", begin + below(5))
            };
            newest[write] = value;
            order.push((session, sessions[session].len()));
            sessions[session].push(format!("r(k{read},{seen}) w(k{write},{value}){times}"));
        }
        if below(2) == 0 {
            let at = below(4) as usize;
            order.swap(at, at + 1);
        }
        let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
        let text = lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join(" | "))).collect();
        let first = |session: usize| sessions[..session].iter().map(Vec::len).sum::<usize>();
        (text, order.iter().map(|&(s, i)| TxnId((first(s) + i) as u32)).collect())
    }

    #[test]
    fn every_level_accepts_the_orders_that_its_axiom_accepts_with_every_order() {
        let mut counts = [[0; 2]; 21];
        for seed in 0..6000 {
            let (text, commits) = random_text(seed);
            let history = notation::parse(&text).unwrap();
            let none = [Level::Unconstrained];
            let levels = [&none[..], &Level::WEAK, &Level::STRONG[..3]].concat();
            let asked = Order::ALL.into_iter().flat_map(|order| {
                levels.iter().map(move |&level| Guarantee::new(level, order)).collect::<Vec<_>>()
            });
            for (number, asked) in asked.enumerate() {
                let accepted = verify_order(&history, asked, &commits);
                let expected = oracle::accepts(&history, asked, &commits);
                assert_eq!(
                    accepted.is_ok(),
                    expected,
                    "{asked}, {commits:?}: {accepted:?}\n{text}"
                );
                counts[number][usize::from(expected)] += 1;
            }
        }
        assert!(counts.iter().flatten().all(|&count| count > 50), "{counts:?}");
    }
}
