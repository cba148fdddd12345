//! Stories of the weak levels: several transactions of which no commit order satisfies the level.

use super::{and, did, edge_clause, item, read_from, txn, unseen, value, who};
use seriatim_check::{Edge, OpRef, Reason, TxnRef, Violation};
use seriatim_history::OpKind;
use seriatim_isolation::Anomaly;

/// The longest path, or list of reads, that a summary spells out; longer ones are left to the
/// numbered steps.
const PATH_SPELLED_MAX: usize = 3;

pub(super) fn cyclic(violation: &Violation) -> Option<String> {
    let first = violation.cycle.first()?;
    let end = format!("so {} would have to come before itself: a contradiction.", txn(&first.from));
    if violation.cycle.len() > PATH_SPELLED_MAX + 1 {
        return Some(format!(
            "{} transactions precede each other in a circle, by session order and by what was \
             read; {end}",
            violation.cycle.len(),
        ));
    }
    let clauses: Vec<String> = violation.cycle.iter().map(edge_clause).collect();
    Some(format!("{}; {end}", and(&clauses)))
}

/// One read that the causal order of two writes contradicts: TAP-h, k and m.
pub(super) fn stale_read(violation: &Violation) -> Option<String> {
    let inferred = violation
        .cycle
        .iter()
        .position(|edge| matches!(edge.reason, Reason::Overwritten { .. }))?;
    let edge = &violation.cycle[inferred];
    let Reason::Overwritten { read, source, other, visible } = &edge.reason else { return None };
    // The cycle without the inferred edge is the path from the writer that was read to the writer
    // that was seen.
    let (before, after) = (&violation.cycle[..inferred], &violation.cycle[inferred + 1..]);
    let order: Vec<&Edge> = after.iter().chain(before).collect();
    let overwrite = path_clause(&order, &edge.to, &edge.from);
    let opening = match seen_directly(visible) {
        // That the initial state comes first goes without saying.
        Some(seen) if source.txn.id.is_none() => both_reads(read, source, seen, other),
        Some(seen) => both_reads(read, source, seen, other) + &format!(", and {overwrite}"),
        None => read_and_dependence(read, source, other, visible, &overwrite),
    };
    let twice = seen_directly(visible).is_some_and(|seen| seen.key == read.key);
    Some(format!(
        "{opening}, so {} should have {}{}: a contradiction.",
        txn(&read.txn),
        unseen(read, other),
        if twice { " both times" } else { "" },
    ))
}

/// What real time forbids and sessions allow, at the weak levels.
pub(super) fn stale_in_time(violation: &Violation) -> Option<String> {
    let is_inferred = |edge: &&Edge| matches!(edge.reason, Reason::Overwritten { .. });
    match violation.cycle.iter().filter(is_inferred).count() {
        0 => cyclic(violation),
        1 => stale_by_itself(violation).or_else(|| stale_read(violation)),
        _ => conflicting(violation),
    }
}

/// A cycle of real time that is no stale read: a transaction ended before one began that comes
/// before it, or several reads contradict each other.
pub(super) fn in_time(violation: &Violation) -> Option<String> {
    let is_inferred = |edge: &Edge| matches!(edge.reason, Reason::Overwritten { .. });
    if violation.cycle.iter().any(is_inferred) {
        return conflicting(violation);
    }
    let [time @ Edge { reason: Reason::RealTime { .. }, .. }, seen] = violation.cycle.as_slice()
    else {
        return cyclic(violation);
    };
    let (told, end) = match &seen.reason {
        Reason::WriteRead { read, write, .. } => (
            format!("{} reads {}", who(&read.txn), read_from(read, write)),
            "it read what was not there yet",
        ),
        Reason::VersionOrder { earlier, later, read } => (
            format!(
                "{} reads {}, where {} of {} stands before {} of {}",
                who(&read.txn),
                item(read),
                value(&earlier.value),
                txn(&earlier.txn),
                value(&later.value),
                txn(&later.txn),
            ),
            "the append that came later stands first",
        ),
        _ => return cyclic(violation),
    };
    Some(format!("{told}. But {}: {end}.", edge_clause(time)))
}

/// A read of something that had been overwritten when its transaction began.
fn stale_by_itself(violation: &Violation) -> Option<String> {
    let [before, Edge { reason: Reason::Overwritten { read, source, other, visible }, .. }] =
        violation.cycle.as_slice()
    else {
        return None;
    };
    let [seen @ Edge { reason: Reason::RealTime { .. }, .. }] = visible.as_slice() else {
        return None;
    };
    let times = match before.reason {
        Reason::Initial => edge_clause(seen),
        Reason::RealTime { .. } => format!("{}, and {}", edge_clause(before), edge_clause(seen)),
        _ => return None,
    };
    Some(format!(
        "{} reads {}. But {} {}: {times}, so {} should have {}.",
        who(&read.txn),
        read_from(read, source),
        who(&other.txn),
        did(other),
        txn(&read.txn),
        unseen(read, other),
    ))
}

/// Whether the reader overlooks a write of its own session: it reads what an earlier transaction
/// there had overwritten.
pub(crate) fn is_stale_in_session(violation: &Violation) -> bool {
    let by_session = |edge: &Edge| match &edge.reason {
        Reason::Overwritten { visible, .. } => {
            matches!(visible.as_slice(), [Edge { reason: Reason::SessionOrder, .. }])
        }
        _ => false,
    };
    violation.kind == Anomaly::FracturedReadCausal && violation.cycle.iter().any(by_session)
}

/// The read by which the reader itself saw the other writer, if it did so by a read of its own.
fn seen_directly(visible: &[Edge]) -> Option<&OpRef> {
    match visible {
        [Edge { reason: Reason::WriteRead { read, .. }, .. }] => Some(read),
        _ => None,
    }
}

/// The reader read from both writers; told in the order in which it did.
fn both_reads(read: &OpRef, source: &OpRef, seen: &OpRef, other: &OpRef) -> String {
    let (stale, fresh) =
        (read_from(read, source), format!("{} from {}", item(seen), txn(&other.txn)));
    let (first, second) = if read.id < seen.id { (stale, fresh) } else { (fresh, stale) };
    let told = format!("{} reads {first}, then {second}", who(&read.txn));
    if seen.key == read.key {
        return told;
    }
    format!("{told}. But {} also {}", txn(&other.txn), did(other))
}

/// The reader depends on the other writer through its session or through others.
fn read_and_dependence(
    read: &OpRef,
    source: &OpRef,
    other: &OpRef,
    visible: &[Edge],
    overwrite: &str,
) -> String {
    let path: Vec<&Edge> = visible.iter().collect();
    format!(
        "{} reads {}. But {} {} ({overwrite}), and {} depends on {} ({})",
        who(&read.txn),
        read_from(read, source),
        txn(&other.txn),
        replaced(other),
        txn(&read.txn),
        txn(&other.txn),
        path_clause(&path, &other.txn, &read.txn),
    )
}

/// What a later write did to an earlier version.
fn replaced(write: &OpRef) -> String {
    match write.kind {
        OpKind::Append => did(write),
        _ => format!("overwrote that with {}", item(write)),
    }
}

/// A path of causal edges, spelled out if it is short.
fn path_clause(path: &[&Edge], from: &TxnRef, to: &TxnRef) -> String {
    if path.len() <= PATH_SPELLED_MAX {
        let clauses: Vec<String> = path.iter().map(|edge| edge_clause(edge)).collect();
        return and(&clauses);
    }
    format!(
        "{} comes before {} by {} steps of session order and reads",
        txn(from),
        txn(to),
        path.len()
    )
}

/// Several reads that ask for opposite commit orders: TAP-i, l and n.
pub(super) fn conflicting(violation: &Violation) -> Option<String> {
    let first = violation.cycle.first()?;
    let demands: Vec<String> = violation.cycle.iter().filter_map(demand).collect();
    if demands.is_empty() {
        return None;
    }
    let rest = if demands.len() < violation.cycle.len() {
        "Together with session order and reads this"
    } else {
        "This"
    };
    Some(format!(
        "{}. {rest} puts {} before itself: no commit order satisfies all of it, a contradiction.",
        demands.join(". "),
        txn(&first.from),
    ))
}

/// What one inferred edge says: which transaction read what, and which order of commits that asks
/// for.
fn demand(edge: &Edge) -> Option<String> {
    let Reason::Overwritten { read, source, other, visible } = &edge.reason else { return None };
    let seen: Vec<&Edge> = visible.iter().collect();
    Some(format!(
        "{} reads {} although it sees {}, which {} ({}), so {} must have committed before {}",
        who(&read.txn),
        read_from(read, source),
        txn(&edge.from),
        did(other),
        path_clause(&seen, &edge.from, &read.txn),
        txn(&edge.from),
        txn(&edge.to),
    ))
}
