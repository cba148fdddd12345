//! Which versions a read may return at read committed, read atomic and causal consistency.
//!
//! Reading x from t1 in t3 is allowed iff the commit order edges that the axiom then asks for close
//! no cycle. They are of two kinds: from every other writer t2 of x that t3 has seen to t1, and,
//! because t3 sees more than before, from every newly seen writer of a key y that t3 has read
//! before to what it read there. Edges from the last writer of each session are enough, session
//! order does the rest; at causal consistency, of the writers of x those that no other seen one has
//! seen. What a transaction has seen committed before it began to be seen, so nothing that happens
//! later adds an edge for a read of the past: a read that was allowed stays allowed, and a commit
//! never fails.

use crate::log::Log;
use crate::past::INITIAL;
use crate::reach::Reach;
use seriatim_isolation::{Level, Order};

/// What reading from a version would ask of the commit order.
pub(crate) enum Demand {
    /// More than any order can give.
    Impossible,
    /// These edges, which causality does not give already.
    Edges(Vec<(u32, u32)>),
}

/// The versions of `key` that `txn`, an open transaction at a weak level, may read: oldest commit
/// first, the initial one before all others. `open` are the edges that open transactions force.
pub(crate) fn admissible(
    log: &Log,
    reach: &Reach,
    open: &[(u32, u32)],
    txn: u32,
    key: u32,
) -> Vec<u32> {
    let seen = seen_writers(log, txn, key);
    let fits = |source: &u32| match demand_of(log, txn, &seen, *source) {
        Demand::Impossible => false,
        Demand::Edges(edges) => agrees_with_time(log, &edges) && !reach.refuses(log, &edges, open),
    };
    candidates(log, txn, key, &seen).into_iter().filter(fits).collect()
}

/// Whether `txn` may read `key` from `source`, one of its versions.
pub(crate) fn may_read(
    log: &Log,
    reach: &Reach,
    open: &[(u32, u32)],
    txn: u32,
    (key, source): (u32, u32),
) -> bool {
    match demand(log, txn, key, source) {
        Demand::Impossible => false,
        Demand::Edges(edges) => agrees_with_time(log, &edges) && !reach.refuses(log, &edges, open),
    }
}

/// With real time commits take effect in their order, which extends it: what is known of other
/// orders does not have to know of time then.
fn agrees_with_time(log: &Log, edges: &[(u32, u32)]) -> bool {
    let commit = |txn: u32| log.txn(txn).commit;
    log.order != Order::RealTime || edges.iter().all(|&(from, to)| commit(from) < commit(to))
}

/// Versions that are not excluded at first sight, given the writers that were seen.
fn candidates(log: &Log, txn: u32, key: u32, seen: &[u32]) -> Vec<u32> {
    let Some(writers) = log.keys.get(key as usize) else { return vec![INITIAL] };
    let mut all = vec![INITIAL];
    if log.txn(txn).level != Level::Causal {
        all.extend(&writers.all);
        return all;
    }
    all.extend(seen);
    all.extend(writers.unseen(&log.txn(txn).past));
    all[1..].sort_unstable_by_key(|&writer| log.txn(writer).commit);
    all
}

/// What the level of `txn` asks for if it reads `key` from `source`.
pub(crate) fn demand(log: &Log, txn: u32, key: u32, source: u32) -> Demand {
    demand_of(log, txn, &seen_writers(log, txn, key), source)
}

fn demand_of(log: &Log, txn: u32, seen: &[u32], source: u32) -> Demand {
    let mut edges = Vec::new();
    for &writer in seen {
        if !ask(log, writer, source, &mut edges) {
            return Demand::Impossible;
        }
    }
    if source == INITIAL {
        return Demand::Edges(edges);
    }
    let possible = match log.txn(txn).level {
        Level::ReadCommitted => true,
        Level::Causal => {
            ask_for_earlier_reads_causal(log, txn, source, &mut edges)
                && !sees_in_ranges_causal(log, txn, source)
        }
        _ => {
            ask_for_earlier_reads_atomic(log, txn, source, &mut edges)
                && !log.txn(source).writes.iter().any(|&key| log.has_in_range(txn, key))
        }
    };
    if possible { Demand::Edges(edges) } else { Demand::Impossible }
}

/// The writers of `key` that `txn` has seen, by the rule of its level; of each session the last, at
/// causal consistency without those that another one of them has seen.
fn seen_writers(log: &Log, txn: u32, key: u32) -> Vec<u32> {
    let record = log.txn(txn);
    let Some(writers) = log.keys.get(key as usize) else { return Vec::new() };
    if record.level == Level::Causal {
        return log.last_seen(writers, &record.past);
    }
    let sources = record.reads.iter().map(|read| read.source).filter(|&source| source != INITIAL);
    let mut seen: Vec<u32> = sources.filter(|&source| log.writes(source, key)).collect();
    if record.level != Level::ReadCommitted || log.sessions_at_rc {
        seen.extend(writers.last_of(record.session));
    }
    seen.extend(log.last_ended(writers, txn));
    seen.sort_unstable();
    seen.dedup();
    seen
}

/// Asks for `before` to commit before `after`; false if that is impossible. What causality gives is
/// not asked for.
fn ask(log: &Log, before: u32, after: u32, edges: &mut Vec<(u32, u32)>) -> bool {
    if before == after {
        return true;
    }
    if after == INITIAL || log.precedes(after, before) || log.ended_before(after, before) {
        return false;
    }
    if !log.precedes(before, after) {
        edges.push((before, after));
    }
    true
}

/// Read atomic: `source` is seen now, so it must come before what was read of the keys that it
/// wrote.
fn ask_for_earlier_reads_atomic(
    log: &Log,
    txn: u32,
    source: u32,
    edges: &mut Vec<(u32, u32)>,
) -> bool {
    let reads = log.txn(txn).reads.iter().filter(|read| log.writes(source, read.key));
    reads.into_iter().all(|read| ask(log, source, read.source, edges))
}

/// Causal: whether what is seen now, with `source`, wrote a key whose initial version was read.
fn sees_in_ranges_causal(log: &Log, txn: u32, source: u32) -> bool {
    if log.txn(txn).ranges.is_empty() || log.precedes(source, txn) {
        return false;
    }
    let new = log.past_with(txn, source);
    log.in_ranges(txn).any(|key| {
        let writers = log.keys.get(key as usize);
        writers.is_some_and(|writers| writers.seen(&new).next().is_some())
    })
}

/// Causal: `source` and its causal past are seen now.
fn ask_for_earlier_reads_causal(
    log: &Log,
    txn: u32,
    source: u32,
    edges: &mut Vec<(u32, u32)>,
) -> bool {
    // The past of the source is known already, so nothing is newly seen.
    if log.precedes(source, txn) {
        return true;
    }
    let reads = &log.txn(txn).reads;
    if reads.is_empty() {
        return true;
    }
    let (old, new) = (&log.txn(txn).past, log.past_with(txn, source));
    reads.iter().all(|read| {
        let Some(writers) = log.keys.get(read.key as usize) else { return true };
        let mut newly = writers.seen(&new).filter(|writer| writer.number >= old.of(writer.session));
        newly.all(|writer| ask(log, writer.txn, read.source, edges))
    })
}
