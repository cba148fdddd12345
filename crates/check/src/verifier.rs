//! Is this really a commit order? Checks a certificate without anything that the search uses.
//!
//! The weak levels straight from the definition, with its own matching of reads to writes: every axiom instance is looked at.
//! Time O(reads · versions of the key · cost of φ); meant for tests and for those who do not trust us. The strong levels by a
//! walk along begin and commit points, in linear time (module `points`).

mod points;

pub use points::verify_points;

use crate::level::Level;
use seriatim_history::{History, KeyId, OpId, OpKind, SessionId, Status, TxnId, Value, ValueKind};
use std::collections::{HashMap, HashSet};

/// Why an order is not a commit order for a level.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A transaction is missing, comes twice, or must not be there.
    #[error("the order is not a permutation of the transactions that count (at {0:?})")]
    NotAPermutation(TxnId),
    /// Session order is broken.
    #[error("{0:?} comes after {1:?} in its session but not in the order")]
    SessionOrder(TxnId, TxnId),
    /// A read has no legal source before it.
    #[error("{0:?} has no legal source before it")]
    Source(OpId),
    /// A list shows its elements in another order than they were appended in.
    #[error("{0:?} returned a list that this order does not explain")]
    ListOrder(OpId),
    /// An axiom instance is broken.
    #[error("{reader:?} read {read:?} from {source_txn:?} although it saw {other:?}, which is later in the order")]
    Axiom {
        /// t3.
        reader: TxnId,
        /// Its read of x.
        read: OpId,
        /// t1; `None` for the initial transaction.
        source_txn: Option<TxnId>,
        /// t2.
        other: TxnId,
    },
    /// The points of a transaction are not one begin and one later commit, or others stand between them that must not.
    #[error("the points of {0:?} are not a begin and its commit as the level asks for them")]
    Points(TxnId),
    /// A read did not return what was current when its transaction began.
    #[error("{0:?} did not return the version that was current at the begin point of its transaction")]
    NotCurrent(OpId),
    /// Two transactions that write a common key overlap.
    #[error("{0:?} commits, and between its points another writer of {1:?} committed")]
    Conflict(TxnId, KeyId),
    /// Real time is broken.
    #[error("{0:?} ended before {1:?} began, but comes after it")]
    RealTime(TxnId, TxnId),
}

/// An external read: who, which operation, which key, from whom.
type External = (TxnId, OpId, KeyId, Option<TxnId>);

/// Accepts `order` iff it is a commit order of `history` at `level`. Histories with ambiguous reads are not supported:
/// of several writes of a value, the last one in the order before the reader is taken.
pub fn verify(history: &History, level: Level, order: &[TxnId]) -> Result<(), Rejection> {
    if level.is_strong() {
        return points::verify_order(history, level, order);
    }
    let place: HashMap<TxnId, usize> = order.iter().enumerate().map(|(place, &txn)| (txn, place)).collect();
    check_members(history, order, &place)?;
    let reads = external_reads(history, &place)?;
    let mut writers: HashMap<_, Vec<TxnId>> = HashMap::new();
    for &txn in order {
        let ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
        let keys: HashSet<_> = ops.filter(|op| op.kind.is_write()).map(|op| op.key).collect();
        for key in keys {
            writers.entry(key).or_default().push(txn);
        }
    }
    check_lists(history, order, &place)?;
    let mut reads_of: HashMap<TxnId, Vec<&External>> = HashMap::new();
    for read in &reads {
        reads_of.entry(read.0).or_default().push(read);
    }
    let past = if level == Level::Causal { causal_pasts(history, order, &reads_of) } else { HashMap::new() };
    for &(reader, read, key, source) in &reads {
        let source_place = source.map(|source| place[&source]);
        for &other in writers.get(&key).map_or(&[][..], Vec::as_slice) {
            if Some(other) == source || other == reader || Some(place[&other]) < source_place {
                continue;
            }
            let seen = match level {
                Level::ReadCommitted => reads_of[&reader].iter().any(|r| r.1 < read && r.3 == Some(other)),
                Level::Causal => past[&reader].contains(&other),
                Level::ReadAtomic => {
                    (history.session_of(other) == history.session_of(reader) && other < reader)
                        || reads_of[&reader].iter().any(|r| r.3 == Some(other))
                }
                _ => false,
            };
            if seen {
                return Err(Rejection::Axiom { reader, read, source_txn: source, other });
            }
        }
    }
    Ok(())
}

fn check_members(history: &History, order: &[TxnId], place: &HashMap<TxnId, usize>) -> Result<(), Rejection> {
    for &txn in order {
        if txn.index() >= history.txn_count() || history.status(txn) == Status::Aborted {
            return Err(Rejection::NotAPermutation(txn));
        }
    }
    if place.len() != order.len() {
        return Err(Rejection::NotAPermutation(order[0]));
    }
    for session in history.sessions() {
        let mut last: Option<TxnId> = None;
        for txn in history.txns_of(session).map(TxnId) {
            if history.status(txn) == Status::Committed && !place.contains_key(&txn) {
                return Err(Rejection::NotAPermutation(txn));
            }
            let Some(&here) = place.get(&txn) else { continue };
            if let Some(last) = last
                && place[&last] > here
            {
                return Err(Rejection::SessionOrder(txn, last));
            }
            last = Some(txn);
        }
    }
    Ok(())
}

/// The external reads with their sources; every read is checked to be well formed.
fn external_reads(history: &History, place: &HashMap<TxnId, usize>) -> Result<Vec<External>, Rejection> {
    let mut last_writes: HashMap<_, Vec<TxnId>> = HashMap::new();
    for &txn in place.keys() {
        let mut last = HashMap::new();
        for op in history.ops_of(txn).map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write()) {
            last.insert(op.key, op.value);
        }
        for (key, value) in last {
            last_writes.entry((key, value)).or_default().push(txn);
        }
    }
    let mut reads = Vec::new();
    for &reader in place.keys() {
        let mut own = HashMap::new();
        for id in history.ops_of(reader).map(OpId) {
            let op = history.op(id);
            if op.kind != OpKind::Read {
                own.insert(op.key, op.value);
                continue;
            }
            let value = match op.value.kind() {
                ValueKind::List(number) => history.list(number).last().copied().unwrap_or(Value::NULL),
                _ => op.value,
            };
            if let Some(&mine) = own.get(&op.key) {
                if mine != value {
                    return Err(Rejection::Source(id));
                }
                continue;
            }
            let writers = last_writes.get(&(op.key, value)).map_or(&[][..], Vec::as_slice);
            let before = writers.iter().filter(|&writer| *writer != reader && place[writer] < place[&reader]);
            let source = before.max_by_key(|&writer| place[writer]).copied();
            let initial = value == Value::NULL
                || (history.initial().value_of(op.key) == Some(value)
                    && !(history.initial().yields(op.key) && is_written(history, op.key, value)));
            if source.is_none() && !initial {
                return Err(Rejection::Source(id));
            }
            reads.push((reader, id, op.key, source));
        }
    }
    Ok(reads)
}

/// Whether a transaction that did not abort writes `value` to `key`.
fn is_written(history: &History, key: KeyId, value: Value) -> bool {
    let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
    live.flat_map(|txn| history.ops_of(txn)).any(|op| {
        let op = history.op(OpId(op));
        op.kind.is_write() && op.key == key && op.value == value
    })
}

/// The elements of each list were appended in the order of the list.
fn check_lists(history: &History, order: &[TxnId], place: &HashMap<TxnId, usize>) -> Result<(), Rejection> {
    let mut appended = HashMap::new();
    for &txn in order {
        for id in history.ops_of(txn).map(OpId) {
            let op = history.op(id);
            if op.kind == OpKind::Append {
                appended.insert((op.key, op.value), (place[&txn], id));
            }
        }
    }
    for id in order.iter().flat_map(|&txn| history.ops_of(txn)).map(OpId) {
        let op = history.op(id);
        let ValueKind::List(number) = op.value.kind() else { continue };
        let places: Vec<_> = history.list(number).iter().map(|&element| appended.get(&(op.key, element))).collect();
        if places.windows(2).any(|pair| pair[0] >= pair[1]) || places.contains(&None) {
            return Err(Rejection::ListOrder(id));
        }
    }
    Ok(())
}

/// The causal past of each transaction, as sets.
fn causal_pasts(
    history: &History,
    order: &[TxnId],
    reads_of: &HashMap<TxnId, Vec<&External>>,
) -> HashMap<TxnId, HashSet<TxnId>> {
    // The order extends session order, so the last of a session so far has all before it in its past.
    let mut last: HashMap<SessionId, TxnId> = HashMap::new();
    let mut past: HashMap<TxnId, HashSet<TxnId>> = HashMap::new();
    for &txn in order {
        let mut mine = HashSet::new();
        let sources = reads_of.get(&txn).into_iter().flatten().filter_map(|read| read.3);
        for before in last.insert(history.session_of(txn), txn).into_iter().chain(sources) {
            mine.insert(before);
            mine.extend(past.get(&before).into_iter().flatten().copied());
        }
        past.insert(txn, mine);
    }
    past
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;

    fn verdict(text: &str, order: &[u32]) -> Result<(), Rejection> {
        let order: Vec<TxnId> = order.iter().copied().map(TxnId).collect();
        verify(&notation::parse(text).unwrap(), Level::Causal, &order)
    }

    #[test]
    fn orders_that_explain_nothing_are_rejected() {
        assert_eq!(verdict("a: w(x,1)\nb: r(x,1)", &[0, 1]), Ok(()));
        assert_eq!(verdict("a: w(x,1)\nb: r(x,1)", &[1, 0]), Err(Rejection::Source(OpId(1))));
        assert_eq!(verdict("a: w(x,1)\nb: r(x,1)", &[0]), Err(Rejection::NotAPermutation(TxnId(1))));
        assert_eq!(verdict("a: w(x,1) | w(x,2)", &[1, 0]), Err(Rejection::SessionOrder(TxnId(1), TxnId(0))));
        assert_eq!(verdict("a: w(x,0)\nb: r(x,0)", &[1, 0]), Err(Rejection::Source(OpId(1))));
        assert_eq!(verdict("a: a(x,1)\nb: a(x,2)\nc: r(x,[1 2])", &[1, 0, 2]), Err(Rejection::ListOrder(OpId(2))));
        let overwritten = verdict("a: w(x,1) | w(x,2) w(y,1)\nb: r(y,1) r(x,1)", &[0, 1, 2]);
        assert!(matches!(overwritten, Err(Rejection::Axiom { other: TxnId(1), .. })), "{overwritten:?}");
    }
}
