//! The stories of the strong levels: what the transactions did, in the order of events, and why
//! that cannot be.
//!
//! A story names what each reader read and which writers it missed. The steps then say of each edge
//! why it must hold; an edge that was not observed says so, and [`derivation`] tells the whole of
//! it, as deeply as it is nested.

use super::{
    and, at, does, edge_clause, item, item_with, key, lacks, of, read_from, step, txn, unseen,
    value, who,
};
use seriatim_check::{Edge, Excluded, OpRef, Origin, Reason, TxnRef, Violation, Why};
use seriatim_history::OpKind;
use seriatim_isolation::Anomaly;

/// The longest circle that a story spells out; longer ones are left to the numbered steps.
const CIRCLE_SPELLED_MAX: usize = 6;
/// The longest derivation that stands inside a step.
const INLINE_MAX: usize = 3;

/// What happened, for the kinds of the strong levels; `None` for explanations of other shapes.
pub(crate) fn story(violation: &Violation) -> Option<String> {
    let told = match violation.kind {
        Anomaly::LostUpdate => lost_update(violation),
        Anomaly::WriteSkew => write_skew(violation),
        Anomaly::LongFork => long_fork(violation),
        _ => one_missed(violation),
    };
    told.or_else(|| circle(violation))
}

/// An anti-dependency: what the reader read, and which write it missed.
struct Missed<'v> {
    read: &'v OpRef,
    source: &'v OpRef,
    overwrite: &'v OpRef,
}

fn missed(edge: &Edge) -> Option<Missed<'_>> {
    match &edge.reason {
        Reason::ReadWrite { read, source, overwrite, .. } => {
            Some(Missed { read, source, overwrite })
        }
        _ => None,
    }
}

fn lost_update(violation: &Violation) -> Option<String> {
    let Missed { read, source, overwrite } = violation.cycle.iter().find_map(missed)?;
    let same = |op: &&OpRef| op.key == read.key;
    let ops = || violation.ops.iter().filter(same);
    let mine = ops().find(|op| op.kind.is_write() && op.txn == read.txn)?;
    let (first, second) =
        if read.txn.id < overwrite.txn.id { (mine, overwrite) } else { (overwrite, mine) };
    let both_did = match first.kind {
        OpKind::Append => format!(
            "both append to {} ({} and {}): whichever of them committed second appended to a list \
             that it had not seen. It missed an update",
            key(&read.key),
            value(&first.value),
            value(&second.value),
        ),
        _ => format!(
            "both write {} ({} and {}): whichever of them committed second overwrote an update \
             that it had not seen. One of the updates is lost",
            key(&read.key),
            item(first),
            item(second),
        ),
    };
    Some(format!(
        "{} and {} both read {}, and then {both_did}.",
        who(&first.txn),
        who(&second.txn),
        read_from(read, source),
    ))
}

fn write_skew(violation: &Violation) -> Option<String> {
    let [one, two] = violation.cycle.as_slice() else { return None };
    let (one, two) = (missed(one)?, missed(two)?);
    let act = |me: &Missed<'_>, other: &Missed<'_>| {
        let (read, write) = (read_from(me.read, me.source), does(other.overwrite));
        match me.read.id < other.overwrite.id {
            true => format!("{} reads {read} and {write}", who(&me.read.txn)),
            false => format!("{} {write} and reads {read}", who(&me.read.txn)),
        }
    };
    let each = if [&one, &two].iter().all(|side| side.overwrite.kind == OpKind::Append) {
        "Each missed what the other appended"
    } else {
        "Each read what the other overwrote and missed the other's write"
    };
    Some(format!(
        "{}; {}. {each}, so each would have to come before the other: a write skew.",
        act(&one, &two),
        act(&two, &one),
    ))
}

fn long_fork(violation: &Violation) -> Option<String> {
    let cycle = &violation.cycle;
    let sight = |i: usize| {
        let seen = &cycle[(i + cycle.len() - 1) % cycle.len()];
        let Reason::WriteRead { read: fresh, .. } = &seen.reason else { return None };
        let Missed { read, source, overwrite } = missed(&cycle[i])?;
        Some(format!(
            "{} sees {} from {}, but not {} (it reads {})",
            who(&read.txn),
            item(fresh),
            txn(&seen.from),
            of(overwrite),
            read_from(read, source),
        ))
    };
    let sights: Vec<String> = (0..cycle.len()).filter_map(sight).collect();
    let [one, two] = sights.as_slice() else { return None };
    let is_append =
        |edge: &Edge| missed(edge).is_some_and(|missed| missed.overwrite.kind == OpKind::Append);
    let writes = if cycle.iter().any(is_append) { "appends" } else { "writes" };
    Some(format!(
        "{one}; {two}. The two readers disagree about which of the two {writes} came first, so \
         they cannot both have read from \
         one order of commits: a long fork.",
    ))
}

/// Exactly one read that missed a write of a transaction that it comes after.
fn one_missed(violation: &Violation) -> Option<String> {
    let mut all =
        violation.cycle.iter().enumerate().filter_map(|(i, edge)| Some((i, missed(edge)?)));
    let (Some((at, Missed { read, source, overwrite })), None) = (all.next(), all.next()) else {
        return None;
    };
    let cycle = &violation.cycle;
    let path: Vec<String> = cycle[at + 1..].iter().chain(&cycle[..at]).map(clause).collect();
    if path.len() > CIRCLE_SPELLED_MAX {
        return None;
    }
    let there = match (violation.kind, overwrite.kind) {
        (Anomaly::StaleRead, OpKind::Append) => " The append was there already,",
        (Anomaly::StaleRead, _) => " The write was there already,",
        _ => "",
    };
    Some(format!(
        "{} reads {}, which {} {}. But {}.{there} {} comes after {} and should have {}.",
        who(&read.txn),
        read_from(read, source),
        who(&overwrite.txn),
        replaced(overwrite),
        and(&path),
        subject(&read.txn, there),
        txn(&overwrite.txn),
        unseen(read, overwrite),
    ))
}

/// The reader as the subject of a sentence or of its second half.
fn subject(reader: &TxnRef, there: &str) -> String {
    if there.is_empty() { format!("So {}", txn(reader)) } else { format!("so {}", txn(reader)) }
}

/// Any other cycle: what puts each transaction before the next.
fn circle(violation: &Violation) -> Option<String> {
    let first = violation.cycle.first()?;
    let end = match violation.kind {
        Anomaly::DirtyWrite => "neither can have come first, their writes are interleaved",
        _ => "no order of commits agrees with all of it",
    };
    if violation.cycle.len() > CIRCLE_SPELLED_MAX {
        return Some(format!(
            "{} transactions must each come before the next, as the steps show, and the last \
             before {}: {end}.",
            violation.cycle.len(),
            txn(&first.from),
        ));
    }
    let clauses: Vec<String> = violation.cycle.iter().map(clause).collect();
    let order = |edge: &Edge| format!("{} before {}", txn(&edge.from), txn(&edge.to));
    let orders: Vec<String> = violation.cycle.iter().map(order).collect();
    Some(format!("{}. That puts {}: {end}.", clauses.join("; "), and(&orders)))
}

/// An edge as a clause of a story.
fn clause(edge: &Edge) -> String {
    match missed(edge) {
        Some(Missed { read, source, overwrite }) => format!(
            "{} misses {} (it reads {})",
            txn(&edge.from),
            of(overwrite),
            read_from(read, source),
        ),
        None => edge_clause(edge) + &origin(edge).map(not_from).unwrap_or_default(),
    }
}

fn origin(edge: &Edge) -> Option<&Origin> {
    match &edge.reason {
        Reason::WriteRead { origin, .. } => Some(origin),
        _ => None,
    }
}

/// What the later write did to the earlier version.
fn replaced(overwrite: &OpRef) -> String {
    match overwrite.kind {
        OpKind::Append => format!("extended with {}", value(&overwrite.value)),
        _ => format!("overwrote with {}", item(overwrite)),
    }
}

/// Why `edge.from` comes before `edge.to`, for the reasons of the strong levels.
pub(crate) fn because(edge: &Edge) -> Option<String> {
    let (from, to) = (txn(&edge.from), txn(&edge.to));
    match &edge.reason {
        Reason::RealTime { end, begin } => {
            Some(format!("{from} ended (at {end}) before {to} began (at {begin})"))
        }
        Reason::WriteWrite { earlier, later, why } if later.kind == OpKind::Append => {
            Some(format!(
                "{to} appended {}{} to {} after {} of {from}{}{}",
                value(&later.value),
                at(later),
                key(&later.key),
                value(&earlier.value),
                at(earlier),
                how(why, later),
            ))
        }
        Reason::WriteWrite { earlier, later, why } => Some(format!(
            "{to} overwrote {} of {from}{} with {}{}{}",
            item(earlier),
            at(earlier),
            item(later),
            at(later),
            how(why, later),
        )),
        Reason::ReadWrite { read, source, origin, overwrite, why } => Some(format!(
            "{from} reads {}{}{}, which {to} {}{}{}",
            read_from(read, source),
            at(read),
            not_from(origin),
            replaced(overwrite),
            at(overwrite),
            how(why, overwrite),
        )),
        _ => None,
    }
}

/// How one knows of an anti-dependency, as the end of a sentence.
pub(crate) fn known(edge: &Edge) -> String {
    match &edge.reason {
        Reason::ReadWrite { origin, overwrite, why, .. } => not_from(origin) + &how(why, overwrite),
        _ => String::new(),
    }
}

/// How one knows that `later` is the newer version, as the end of a sentence.
fn how(why: &Why, later: &OpRef) -> String {
    match why {
        Why::Initial => String::new(),
        Why::Known(path) => format!(", since {}", after(path, later)),
        Why::Listed(read) if lacks(read, later) => {
            format!(", since {} reads {} without it{}", txn(&read.txn), item(read), at(read))
        }
        Why::Listed(read) => {
            let list = item_with(read, &[&later.value]);
            format!(", since {} reads {list}{}", txn(&read.txn), at(read))
        }
        Why::Supposed => " (supposed)".to_owned(),
        Why::Otherwise(cycle) => {
            let told = otherwise(cycle);
            let told = told.unwrap_or_else(|| "the opposite order is impossible".to_owned());
            format!(", since {told}")
        }
        Why::Repeated => ", as shown above".to_owned(),
        Why::TooDeep => ", by a derivation that is too long to be told".to_owned(),
    }
}

/// How one knows that the writer of `later` comes after another transaction.
fn after(path: &[Edge], later: &OpRef) -> String {
    let told = and(&path.iter().map(edge_clause).collect::<Vec<_>>());
    match path {
        [Edge { reason: Reason::SessionOrder, .. }] => told,
        // It read the version that it then replaced.
        [Edge { reason: Reason::WriteRead { read, .. }, .. }] if read.key == later.key => told,
        [first, ..] => format!("{} comes after {}: {told}", txn(&later.txn), txn(&first.from)),
        [] => told,
    }
}

/// The operations that the steps of a violation speak of, without those of derivations that they
/// leave out.
pub(crate) fn spoken_of(violation: &Violation) -> Vec<&OpRef> {
    let mut ops = Vec::new();
    // Not a recursion: a derivation that is told inside of a step has none itself.
    let mut edges: Vec<&Edge> = violation.cycle.iter().collect();
    while let Some(edge) = edges.pop() {
        match &edge.reason {
            Reason::SessionOrder | Reason::Initial | Reason::RealTime { .. } => {}
            Reason::WriteRead { write, read, .. } => ops.extend([write, read]),
            Reason::Overwritten { read, source, other, visible } => {
                ops.extend([read, source, other]);
                edges.extend(visible);
            }
            Reason::VersionOrder { earlier, later, read } => ops.extend([earlier, later, read]),
            Reason::WriteWrite { earlier, later, why } => {
                ops.extend([earlier, later]);
                told(why, &mut ops, &mut edges);
            }
            Reason::ReadWrite { read, source, overwrite, why, .. } => {
                ops.extend([read, source, overwrite]);
                told(why, &mut ops, &mut edges);
            }
        }
    }
    ops
}

/// What a step says about how the order of two versions is known.
fn told<'v>(why: &'v Why, ops: &mut Vec<&'v OpRef>, edges: &mut Vec<&'v Edge>) {
    match why {
        Why::Known(path) => edges.extend(path),
        Why::Listed(read) => ops.push(read),
        Why::Otherwise(cycle) if otherwise(cycle).is_some() => edges.extend(cycle),
        _ => {}
    }
}

/// Whether the step of an edge leaves its derivation out, because it is too long.
pub(crate) fn leaves_out_derivation(edge: &Edge) -> bool {
    match &edge.reason {
        Reason::WriteWrite { why: Why::Otherwise(cycle), .. }
        | Reason::ReadWrite { why: Why::Otherwise(cycle), .. } => otherwise(cycle).is_none(),
        _ => false,
    }
}

/// The derivation of an order in one breath, if it is short and rests on nothing that needs one
/// itself.
fn otherwise(cycle: &[Edge]) -> Option<String> {
    let (supposed, path) = cycle.split_first()?;
    if path.len() >= INLINE_MAX || !path.iter().all(is_plain) {
        return None;
    }
    let known = and(&path.iter().map(edge_clause).collect::<Vec<_>>());
    let (from, to) = (txn(&supposed.from), txn(&supposed.to));
    match &supposed.reason {
        Reason::ReadWrite { read, source, why: Why::Supposed, origin: Origin::Only, .. } => {
            let read = read_from(read, source);
            Some(format!(
                "otherwise {from}, which reads {read}, would come before {to}, but {known}"
            ))
        }
        Reason::WriteWrite { why: Why::Supposed, .. } => {
            Some(format!("otherwise {from} would come before {to}, but {known}"))
        }
        _ => None,
    }
}

/// Whether an edge needs no derivation.
fn is_plain(edge: &Edge) -> bool {
    match &edge.reason {
        Reason::WriteRead { origin, .. } => *origin == Origin::Only,
        Reason::WriteWrite { why, .. } => matches!(why, Why::Known(_) | Why::Listed(_)),
        Reason::ReadWrite { origin, why, .. } => {
            *origin == Origin::Only && matches!(why, Why::Initial | Why::Known(_) | Why::Listed(_))
        }
        _ => true,
    }
}

/// The other writers of the value that was read.
pub(crate) fn not_from(origin: &Origin) -> String {
    match origin {
        Origin::Only => String::new(),
        Origin::Supposed => " (supposed)".to_owned(),
        Origin::Others(others) => {
            let names: Vec<String> = others.iter().map(|other| txn(&other.write.txn)).collect();
            format!(" ({} wrote this value too, but it cannot have come from there)", and(&names))
        }
        Origin::Repeated => {
            " (others wrote this value too, but it cannot have come from there, as shown above)"
                .to_owned()
        }
        Origin::TooDeep => {
            " (others wrote this value too; why it cannot have come from there is too long to be \
             told)"
                .to_owned()
        }
    }
}

/// The derivations behind one step, each line with how deeply it is nested; empty if the step was
/// observed.
pub(crate) fn derivation(edge: &Edge) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    derive(edge, 1, &mut lines);
    lines
}

// The depth is bounded where violations are made.
fn derive(edge: &Edge, depth: usize, lines: &mut Vec<(usize, String)>) {
    let (origin, order) = match &edge.reason {
        Reason::WriteRead { read, origin, .. } => (Some((read, origin)), None),
        Reason::WriteWrite { earlier, later, why } => (None, Some((earlier, later, why))),
        Reason::ReadWrite { read, source, origin, overwrite, why } => {
            (Some((read, origin)), Some((source, overwrite, why)))
        }
        _ => (None, None),
    };
    if let Some((read, Origin::Others(others))) = origin {
        others.iter().for_each(|other| exclude(read, other, depth, lines));
    }
    if let Some((earlier, later, Why::Otherwise(cycle))) = order {
        lines.push((depth, supposed_order(earlier, later)));
        refute(cycle, depth, lines);
    }
}

/// What is supposed to show that a version is the earlier one.
pub(crate) fn supposed_order(earlier: &OpRef, later: &OpRef) -> String {
    format!("Suppose that {} came before {}:", of(later), of(earlier))
}

/// What is supposed to show that a read did not return a write.
pub(crate) fn supposed_source(read: &OpRef, other: &Excluded) -> String {
    format!("Suppose that {} was read from {}:", item(read), txn(&other.write.txn))
}

fn exclude(read: &OpRef, other: &Excluded, depth: usize, lines: &mut Vec<(usize, String)>) {
    lines.push((depth, supposed_source(read, other)));
    refute(&other.cycle, depth, lines);
}

fn refute(cycle: &[Edge], depth: usize, lines: &mut Vec<(usize, String)>) {
    for (i, edge) in cycle.iter().enumerate() {
        let end = if i + 1 == cycle.len() { ": a contradiction." } else { "." };
        lines.push((depth + 1, format!("{}{end}", step(edge))));
        derive(edge, depth + 2, lines);
    }
}
