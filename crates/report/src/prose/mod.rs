//! Explanations in sentences: one template for each kind of anomaly and one for each reason of an
//! edge.
//!
//! The sentences are made from the data of a [`Violation`] alone. [`reads`] and [`orders`] have the
//! stories of the weak levels, [`strong`] those of the strong ones and their derivations,
//! [`statements`] both by what clients asked, where that is known; [`words`] how things are called.

mod choices;
mod orders;
mod reads;
pub(crate) mod statements;
pub(crate) mod strong;
mod words;

pub(crate) use orders::is_stale_in_session;
pub use words::clean;
pub(crate) use words::{
    act, age, and, assignment, at, did, does, item, item_with, key, lacks, levels, of, read_from,
    txn, unseen, value, who, word,
};

use orders::{conflicting, cyclic, in_time, stale_in_time, stale_read};
use reads::{
    aborted, duplicate_element, future, incompatible, intermediate, lost_element, non_repeatable,
    not_my_last, not_my_own, thin_air,
};
use seriatim_check::{Edge, OpRef, Origin, Reason, TxnRef, ValueRef, Violation, Why};
use seriatim_history::OpKind;
use seriatim_isolation::Anomaly;
use std::borrow::Cow;

/// What happened, in a few sentences.
pub fn summary(violation: &Violation) -> String {
    let is_strong = |edge: &Edge| {
        matches!(
            edge.reason,
            Reason::ReadWrite { .. } | Reason::WriteWrite { .. } | Reason::RealTime { .. }
        )
    };
    let told = statements::story(violation).or_else(|| match violation.kind {
        _ if !violation.alternatives.is_empty() => choices::whichever(violation),
        Anomaly::StaleRead if !violation.cycle.iter().any(is_missed) => stale_in_time(violation),
        Anomaly::RealTimeCycle if !violation.cycle.iter().any(is_searched) => in_time(violation),
        _ if violation.cycle.iter().any(is_strong) => strong::story(violation),
        Anomaly::ThinAirRead => thin_air(violation),
        Anomaly::AbortedRead => aborted(violation),
        Anomaly::FutureRead => future(violation),
        Anomaly::NotMyOwnWrite => not_my_own(violation),
        Anomaly::NotMyLastWrite => not_my_last(violation),
        Anomaly::IntermediateRead => intermediate(violation),
        Anomaly::CyclicCausality | Anomaly::WriteCycle => cyclic(violation),
        Anomaly::NonRepeatableRead => non_repeatable(violation),
        Anomaly::NonMonotonicReadCausal
        | Anomaly::FracturedReadCausal
        | Anomaly::CausalityViolation => stale_read(violation),
        Anomaly::NonMonotonicReadCommit
        | Anomaly::FracturedReadCommit
        | Anomaly::ConflictingCommitOrder => conflicting(violation),
        Anomaly::IncompatibleOrder => incompatible(violation),
        Anomaly::DuplicateElement => duplicate_element(violation),
        Anomaly::LostElement => lost_element(violation),
        _ => None,
    });
    // A violation of unexpected shape still names its operations.
    let told = told.unwrap_or_else(|| {
        let ops: Vec<String> = violation.ops.iter().map(op_clause).collect();
        format!("{}: {}.", violation.kind.info().name, and(&ops))
    });
    let stale = violation.age.map(|by| format!(" The read is stale by {}.", age(by)));
    told + &stale.unwrap_or_default() + &unknown_outcomes(&violation.ops)
}

/// Whether an edge is a read that missed a write, as the strong levels tell it.
fn is_missed(edge: &Edge) -> bool {
    matches!(edge.reason, Reason::ReadWrite { .. })
}

/// Whether an edge is one that only the search of the strong levels tells.
fn is_searched(edge: &Edge) -> bool {
    matches!(edge.reason, Reason::ReadWrite { .. } | Reason::WriteWrite { .. })
}

/// A sentence for each transaction of unknown outcome that was read from: why it is taken for
/// committed.
fn unknown_outcomes(ops: &[OpRef]) -> String {
    let mut told: Vec<&TxnRef> = Vec::new();
    let mut text = String::new();
    for write in ops.iter().filter(|op| op.txn.is_unknown && op.kind.is_write()) {
        let reader = ops.iter().find(|read| returned(read, write) && read.txn.id != write.txn.id);
        if let (Some(read), false) = (reader, told.contains(&&write.txn)) {
            told.push(&write.txn);
            let (writer, reader) = (txn(&write.txn), txn(&read.txn));
            text += &format!(
                " (The outcome of {writer} is unknown; it committed, because {reader} read from \
                 it.)"
            );
        }
    }
    text
}

/// Whether a read returned what an operation wrote, alone or in a list.
pub(crate) fn returned(read: &OpRef, write: &OpRef) -> bool {
    let holds = match (write.kind, &read.value, &write.value) {
        (OpKind::Append, ValueRef::List(list), ValueRef::Scalar(element)) => list.contains(element),
        (OpKind::Append, ..) => false,
        _ => read.value == write.value,
    };
    read.kind == OpKind::Read && read.key == write.key && holds
}

fn op_clause(op: &OpRef) -> String {
    format!("{}: {}{}", txn(&op.txn), act(op), at(op))
}

/// The contradiction step by step, each `T1 < T2, because …`; empty for anomalies that need no
/// order.
pub fn steps(violation: &Violation) -> Vec<String> {
    if !violation.alternatives.is_empty() {
        return choices::choices(violation);
    }
    let cycle = told_cycle(violation);
    let last = cycle.len().saturating_sub(1);
    let step = |(i, edge): (usize, &Edge)| match i {
        0 => format!("{}.", step(edge)),
        i if i == last => format!("However, {}: a contradiction.", step(edge)),
        _ => format!("{}.", step(edge)),
    };
    cycle.iter().enumerate().map(step).collect()
}

/// The edges of which the steps tell, one each.
pub(crate) fn told_cycle(violation: &Violation) -> Cow<'_, [Edge]> {
    match seen_and_missed(&violation.cycle) {
        Some(cycle) => Cow::Owned(cycle),
        None => Cow::Borrowed(&violation.cycle),
    }
}

/// A read of an initial value, which should have seen a writer, as two transactions that would each
/// have to come first: the reader saw the writer, and missed it. With the initial state as one of
/// two transactions that contradict each other people see nothing.
fn seen_and_missed(cycle: &[Edge]) -> Option<Vec<Edge>> {
    let [Edge { reason: Reason::Initial, .. }, back] = cycle else { return None };
    let Reason::Overwritten { read, source, other, visible } = &back.reason else { return None };
    let reason = Reason::ReadWrite {
        read: read.clone(),
        source: source.clone(),
        origin: Origin::Only,
        overwrite: other.clone(),
        why: Why::Initial,
    };
    let missed = Edge { from: read.txn.clone(), to: back.from.clone(), reason };
    let seen = visible.iter().cloned();
    (!visible.is_empty()).then(|| seen.chain([missed]).collect())
}

/// `T1 < T2, because …`, without a full stop.
pub(crate) fn step(edge: &Edge) -> String {
    format!("{} < {}, because {}", txn(&edge.from), txn(&edge.to), because(edge))
}

/// Why `edge.from` comes before `edge.to`.
pub(crate) fn because(edge: &Edge) -> String {
    match &edge.reason {
        Reason::ReadWrite { read, overwrite, .. } if read.statement.is_some() => {
            let missed = statements::missed(read, overwrite).unwrap_or_default();
            format!("in {}, {missed}{}", txn(&read.txn), strong::known(edge))
        }
        Reason::WriteRead { write, read, origin } if read.statement.is_some() => {
            let saw = statements::saw(read, write).unwrap_or_default();
            format!("in {}, {saw}{}", txn(&read.txn), strong::not_from(origin))
        }
        Reason::SessionOrder | Reason::Initial => edge_clause(edge),
        Reason::RealTime { .. } | Reason::WriteWrite { .. } | Reason::ReadWrite { .. } => {
            strong::because(edge).unwrap_or_else(|| edge_clause(edge))
        }
        Reason::WriteRead { write, read, origin } if write.kind == OpKind::Append => format!(
            "{} reads {}{}, in which {} was appended by {}{}{}",
            txn(&edge.to),
            item_with(read, &[&write.value]),
            at(read),
            value(&write.value),
            txn(&edge.from),
            at(write),
            strong::not_from(origin),
        ),
        Reason::WriteRead { write, read, origin } => format!(
            "{} reads {}{}, which {} wrote{}{}",
            txn(&edge.to),
            item(read),
            at(read),
            txn(&edge.from),
            at(write),
            strong::not_from(origin),
        ),
        Reason::Overwritten { read, source, other, visible } => {
            overwritten(edge, read, source, other, visible)
        }
        Reason::VersionOrder { earlier, later, read } if lacks(read, later) => format!(
            "{} reads {}{}, which has {} (appended by {}) and not {} (appended by {})",
            txn(&read.txn),
            item_with(read, &[&earlier.value]),
            at(read),
            value(&earlier.value),
            txn(&edge.from),
            value(&later.value),
            txn(&edge.to),
        ),
        Reason::VersionOrder { earlier, later, read } => format!(
            "{} reads {}{}, in which {} (appended by {}) stands before {} (appended by {})",
            txn(&read.txn),
            item_with(read, &[&earlier.value, &later.value]),
            at(read),
            value(&earlier.value),
            txn(&edge.from),
            value(&later.value),
            txn(&edge.to),
        ),
    }
}

fn overwritten(
    edge: &Edge,
    read: &OpRef,
    source: &OpRef,
    other: &OpRef,
    visible: &[Edge],
) -> String {
    let reader = txn(&read.txn);
    let seen: Vec<String> = visible.iter().map(edge_clause).collect();
    let seen = if seen.is_empty() { String::new() } else { format!(" ({})", and(&seen)) };
    format!(
        "{reader} sees {}{seen}, which {}{}, and yet {reader} reads {}{}, so {}",
        txn(&edge.from),
        did(other),
        at(other),
        read_from(read, source),
        at(read),
        newer(source, other),
    )
}

/// That the version that was read is newer than another.
fn newer(source: &OpRef, other: &OpRef) -> String {
    match (source.txn.id, other.kind) {
        (None, OpKind::Append) => {
            format!("{} must have come before the initial state", of(other))
        }
        (_, OpKind::Append) => {
            let (source, other) = (value(&source.value), value(&other.value));
            format!("{source} must have been appended after {other}")
        }
        _ => format!("{} must have overwritten {}", item(source), item(other)),
    }
}

/// An edge as part of a sentence.
pub(crate) fn edge_clause(edge: &Edge) -> String {
    let (from, to) = (txn(&edge.from), txn(&edge.to));
    match &edge.reason {
        Reason::SessionOrder => {
            format!("{from} precedes {to} in session {}", clean(&edge.to.session))
        }
        Reason::Initial => "the initial state precedes every transaction".to_owned(),
        Reason::WriteRead { read, .. } => format!("{to} reads {} from {from}", item(read)),
        Reason::Overwritten { .. } => format!("{from} must have committed before {to}"),
        Reason::VersionOrder { earlier, .. } => {
            format!("{from} appended to {} before {to}", key(&earlier.key))
        }
        Reason::RealTime { end, begin } => {
            format!("{from} ended (at {end}) before {to} began (at {begin})")
        }
        Reason::WriteWrite { earlier, later, .. } if later.kind == OpKind::Append => {
            format!(
                "{to} appended {} to {} after {}",
                value(&later.value),
                key(&later.key),
                value(&earlier.value)
            )
        }
        Reason::WriteWrite { earlier, later, .. } => {
            format!("{to} overwrote {} of {from} with {}", item(earlier), item(later))
        }
        // The histories of SQL do not have the values of rows that nobody wrote.
        Reason::ReadWrite { read, source, overwrite, .. }
            if source.txn.id.is_none()
                && read.statement.is_some()
                && read.value == ValueRef::Null =>
        {
            format!(
                "{from} reads {} as it was initially and misses {}",
                key(&read.key),
                of(overwrite)
            )
        }
        Reason::ReadWrite { read, overwrite, .. } => {
            format!("{from} reads {} and misses {}", item(read), of(overwrite))
        }
    }
}
