//! Explanations in sentences: one template for each kind of anomaly and one for each reason of an
//! edge.
//!
//! The sentences are made from the data of a [`Violation`] alone. Names come from files, so control
//! characters in them are made visible (a file must not be able to steer a terminal) and very long
//! values are cut.

use crate::scenario;
use seriatim_check::{Edge, OpRef, Reason, TxnRef, ValueRef, Violation};
use seriatim_history::OpKind;
use seriatim_isolation::{Anomaly, Level};

/// The longest value that is quoted in full.
const VALUE_CHARS_MAX: usize = 60;
/// The longest path, or list of reads, that a summary spells out; longer ones are left to the
/// numbered steps.
const PATH_SPELLED_MAX: usize = 3;

/// What happened, in a few sentences.
pub fn summary(violation: &Violation) -> String {
    let is_strong = |edge: &Edge| {
        matches!(
            edge.reason,
            Reason::ReadWrite { .. } | Reason::WriteWrite { .. } | Reason::RealTime { .. }
        )
    };
    let told = match violation.kind {
        _ if violation.cycle.iter().any(is_strong) => scenario::story(violation),
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
        _ => None,
    };
    // A violation of unexpected shape still names its operations.
    let told = told.unwrap_or_else(|| {
        let ops: Vec<String> = violation.ops.iter().map(op_clause).collect();
        format!("{}: {}.", violation.kind.info().name, and(&ops))
    });
    told + &unknown_outcomes(&violation.ops)
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
                " (The outcome of {writer} is unknown; it committed, because {reader} read from it.)"
            );
        }
    }
    text
}

/// Whether a read returned what an operation wrote, alone or in a list.
fn returned(read: &OpRef, write: &OpRef) -> bool {
    let holds = match (write.kind, &read.value, &write.value) {
        (OpKind::Append, ValueRef::List(list), ValueRef::Scalar(element)) => list.contains(element),
        (OpKind::Append, ..) => false,
        _ => read.value == write.value,
    };
    read.kind == OpKind::Read && read.key == write.key && holds
}

/// The contradiction step by step, each `T1 < T2, because …`; empty for anomalies that need no
/// order.
pub fn steps(violation: &Violation) -> Vec<String> {
    let last = violation.cycle.len().saturating_sub(1);
    let step = |(i, edge): (usize, &Edge)| match i {
        0 => format!("{}.", step(edge)),
        i if i == last => format!("However, {}: a contradiction.", step(edge)),
        _ => format!("{}.", step(edge)),
    };
    violation.cycle.iter().enumerate().map(step).collect()
}

/// `T1 < T2, because …`, without a full stop.
pub(crate) fn step(edge: &Edge) -> String {
    format!("{} < {}, because {}", txn(&edge.from), txn(&edge.to), because(edge))
}

/// Why `edge.from` comes before `edge.to`.
pub(crate) fn because(edge: &Edge) -> String {
    match &edge.reason {
        Reason::SessionOrder | Reason::Initial => edge_clause(edge),
        Reason::RealTime { .. } | Reason::WriteWrite { .. } | Reason::ReadWrite { .. } => {
            scenario::because(edge).unwrap_or_else(|| edge_clause(edge))
        }
        Reason::WriteRead { write, read, origin } => format!(
            "{} reads {}{}, which {} wrote{}{}",
            txn(&edge.to),
            item(read),
            at(read),
            txn(&edge.from),
            at(write),
            scenario::not_from(origin),
        ),
        Reason::Overwritten { read, source, other, visible } => {
            overwritten(edge, read, source, other, visible)
        }
        Reason::VersionOrder { earlier, later, read } => format!(
            "{} reads {}{}, in which {} (appended by {}) stands before {} (appended by {})",
            txn(&read.txn),
            item(read),
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
        "{reader} sees {}{seen}, which wrote {}{}, and yet {reader} reads {}{}, so {} must {} {}",
        txn(&edge.from),
        item(other),
        at(other),
        read_from(read, source),
        at(read),
        item(source),
        if source.kind == OpKind::Append { "have been appended after" } else { "have overwritten" },
        item(other),
    )
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
        Reason::ReadWrite { read, overwrite, .. } => {
            format!("{from} reads {} and misses {} of {to}", item(read), item(overwrite))
        }
    }
}

fn thin_air(violation: &Violation) -> Option<String> {
    let read = violation.ops.first()?;
    if let Some(element) = &read.element {
        return Some(format!(
            "{} reads {}, but {}, element {} of the list, was appended by nobody: it came out of \
             thin air.",
            who(&read.txn),
            item(read),
            word(&element.value),
            element.position,
        ));
    }
    Some(format!(
        "{} reads {}, but nobody wrote that value: it came out of thin air.",
        who(&read.txn),
        item(read)
    ))
}

fn aborted(violation: &Violation) -> Option<String> {
    let [write, read, ..] = violation.ops.as_slice() else { return None };
    Some(format!(
        "{} reads {} from {}, but {} aborted: what it wrote must not be seen by anybody.",
        who(&read.txn),
        item(read),
        who(&write.txn),
        txn(&write.txn),
    ))
}

fn future(violation: &Violation) -> Option<String> {
    let [read, write, ..] = violation.ops.as_slice() else { return None };
    let it = who(&read.txn);
    Some(format!(
        "{it} reads {} and only then writes {}: it reads its own future.",
        item(read),
        item(write)
    ))
}

fn not_my_own(violation: &Violation) -> Option<String> {
    let (own, rest) = violation.ops.split_first()?;
    let (read, others) = rest.split_last()?;
    let it = who(&read.txn);
    let source = match others.first() {
        Some(other) => read_from(read, other),
        None => format!("{}, which nobody wrote", item(read)),
    };
    Some(format!("{it} writes {} and then reads {source}: its own write is ignored.", item(own)))
}

fn not_my_last(violation: &Violation) -> Option<String> {
    let [older, newer, read, ..] = violation.ops.as_slice() else { return None };
    Some(format!(
        "{} writes {}, then {}, and then reads {}: its own older write instead of its last one.",
        who(&read.txn),
        item(older),
        item(newer),
        item(read),
    ))
}

fn intermediate(violation: &Violation) -> Option<String> {
    let [write, newer, read, ..] = violation.ops.as_slice() else { return None };
    Some(format!(
        "{} reads {} from {}, but {} itself overwrote it with {}: only the last write of a \
         transaction may be seen by others.",
        who(&read.txn),
        item(read),
        who(&write.txn),
        txn(&write.txn),
        item(newer),
    ))
}

fn cyclic(violation: &Violation) -> Option<String> {
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

fn non_repeatable(violation: &Violation) -> Option<String> {
    let [first, second, writes @ ..] = violation.ops.as_slice() else { return None };
    let from = |read: &OpRef| match writes
        .iter()
        .find(|write| write.key == read.key && write.value == read.value)
    {
        Some(write) => read_from(read, write),
        None => item(read),
    };
    Some(format!(
        "{} reads {} and later {}, without having written {} in between: the value changed under \
         its eyes.",
        who(&first.txn),
        from(first),
        from(second),
        key(&first.key),
    ))
}

/// One read that the causal order of two writes contradicts: TAP-h, k and m.
fn stale_read(violation: &Violation) -> Option<String> {
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
        Some(seen) => both_reads(read, source, seen, other) + &format!(", and {overwrite}"),
        None => read_and_dependence(read, source, other, visible, &overwrite),
    };
    let twice = seen_directly(visible).is_some_and(|seen| seen.key == read.key);
    Some(format!(
        "{opening}, so {} should have seen {} or something newer{}: a contradiction.",
        txn(&read.txn),
        item(other),
        if twice { " both times" } else { "" },
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
    format!("{told}. But {} also wrote {}", txn(&other.txn), item(other))
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
        "{} reads {}. But {} overwrote that with {} ({overwrite}), and {} depends on {} ({})",
        who(&read.txn),
        read_from(read, source),
        txn(&other.txn),
        item(other),
        txn(&read.txn),
        txn(&other.txn),
        path_clause(&path, &other.txn, &read.txn),
    )
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
fn conflicting(violation: &Violation) -> Option<String> {
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

/// What one inferred edge says: who read what, and which order of commits that asks for.
fn demand(edge: &Edge) -> Option<String> {
    let Reason::Overwritten { read, source, other, visible } = &edge.reason else { return None };
    let seen: Vec<&Edge> = visible.iter().collect();
    Some(format!(
        "{} reads {} although it sees {} with {} ({}), so {} must have committed before {}",
        who(&read.txn),
        read_from(read, source),
        txn(&edge.from),
        item(other),
        path_clause(&seen, &edge.from, &read.txn),
        txn(&edge.from),
        txn(&edge.to),
    ))
}

fn incompatible(violation: &Violation) -> Option<String> {
    let [one, two, rest @ ..] = violation.ops.as_slice() else { return None };
    if let (OpKind::Append, [later]) = (two.kind, rest) {
        return Some(format!(
            "{} reads {}, but {} appended {} before {}: the list has them the other way round.",
            who(&one.txn),
            item(one),
            who(&two.txn),
            value(&two.value),
            value(&later.value),
        ));
    }
    Some(format!(
        "{} reads {}, and {} reads {}: neither list begins with the other, so no order of the \
         appends explains both.",
        who(&one.txn),
        item(one),
        who(&two.txn),
        item(two),
    ))
}

fn duplicate_element(violation: &Violation) -> Option<String> {
    let (read, rest) = violation.ops.split_first()?;
    let appended = match rest {
        [] => "an element stands in the list twice".to_owned(),
        [append, ..] => {
            format!(
                "{}, appended by {}, stands in the list twice",
                value(&append.value),
                who(&append.txn)
            )
        }
    };
    Some(format!("{} reads {}: {appended}.", who(&read.txn), item(read)))
}

fn op_clause(op: &OpRef) -> String {
    format!("{} {}s {}{}", txn(&op.txn), op.action(), item(op), at(op))
}

/// A transaction: numbers of a file get a `t` in front, other names stand as they are.
pub(crate) fn txn(txn: &TxnRef) -> String {
    if txn.id.is_none() {
        return "the initial state".to_owned();
    }
    if is_number(&txn.name) { format!("t{}", txn.name) } else { clean(&txn.name) }
}

/// A transaction with its session, for the first mention.
pub(crate) fn who(reference: &TxnRef) -> String {
    if reference.id.is_none() {
        return txn(reference);
    }
    format!("{} (session {})", txn(reference), clean(&reference.session))
}

/// `x=1`; keys that are numbers are called `key 7`.
pub(crate) fn item(op: &OpRef) -> String {
    format!("{}={}", key(&op.key), value(&op.value))
}

/// `x=1`, of a value that is known as text.
pub(crate) fn assignment(name: &str, text: &str) -> String {
    format!("{}={}", key(name), word(text))
}

/// What `read` returned and whose it is: `x=1 from t2`, `the initial x=0`.
pub(crate) fn read_from(read: &OpRef, source: &OpRef) -> String {
    match source.txn.id {
        None => format!("the initial {}", item(read)),
        Some(_) => format!("{} from {}", item(read), txn(&source.txn)),
    }
}

pub(crate) fn key(name: &str) -> String {
    if is_number(name) { format!("key {name}") } else { word(name) }
}

/// A value, cut if it is very long.
pub(crate) fn value(value: &ValueRef) -> String {
    match value {
        ValueRef::Null => value.to_string(),
        ValueRef::Scalar(text) => word(text),
        ValueRef::List(elements) => list(elements),
    }
}

/// A text, in quotes if it has blanks (texts in brackets show their ends), cut if it is very long.
pub(crate) fn word(text: &str) -> String {
    let text = clean(text);
    let quoted = text.is_empty() || (text.contains(' ') && !text.starts_with('['));
    let text = if quoted { format!("\"{text}\"") } else { text };
    if text.chars().count() <= VALUE_CHARS_MAX { text } else { cut_in_the_middle(&text) }
}

fn cut_in_the_middle(text: &str) -> String {
    let half = VALUE_CHARS_MAX / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(text.chars().count() - half).collect();
    format!("{head}…{tail}")
}

/// A list: of a long one the first and the last elements, whole if they are short enough.
fn list(elements: &[String]) -> String {
    let elements: Vec<String> = elements.iter().map(|element| clean(element)).collect();
    let whole = format!("[{}]", elements.join(" "));
    if whole.chars().count() <= VALUE_CHARS_MAX {
        return whole;
    }
    // Each with the bracket or blank before it; the end has a bracket behind it, too.
    let lengths = || elements.iter().map(|element| element.len() + 1);
    let half = VALUE_CHARS_MAX / 2;
    let (first, last) = (fitting(half, lengths()), fitting(half - 1, lengths().rev()));
    if first == 0 || last == 0 {
        return cut_in_the_middle(&whole);
    }
    let (head, tail) = (&elements[..first], &elements[elements.len() - last..]);
    format!("[{} … {}]", head.join(" "), tail.join(" "))
}

/// How many of these lengths fit into `room`.
fn fitting(room: usize, lengths: impl Iterator<Item = usize>) -> usize {
    let sums = lengths.scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= room).count()
}

/// ` (file:line)`, if it is known; without the directories, which the list of operations has.
pub(crate) fn at(op: &OpRef) -> String {
    let Some(place) = &op.place else { return String::new() };
    let full = place.to_string();
    let short = full.rsplit(['/', '\\']).next().unwrap_or(&full);
    format!(" ({})", clean(short))
}

fn is_number(name: &str) -> bool {
    let digits = name.strip_prefix('-').unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `text` with control characters made visible.
pub fn clean(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// Levels that forbid something, in short: whatever one level of the ladder forbids, those above it
/// forbid too.
pub(crate) fn levels(levels: &[Level]) -> String {
    let beside = levels
        .iter()
        .filter(|&&level| level == Level::CutIsolation)
        .map(|level| format!("{level}, "));
    let on_ladder: Vec<Level> =
        levels.iter().copied().filter(|&level| level != Level::CutIsolation).collect();
    let lowest = match on_ladder.as_slice() {
        [] => String::new(),
        [only] => only.to_string(),
        [lowest, ..] => format!("{lowest} and above"),
    };
    beside.collect::<String>() + &lowest
}

/// `a, b and c`.
pub(crate) fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
    }

    #[test]
    fn long_values_are_cut_in_the_middle() {
        let cut = word(&"12".repeat(500));
        assert!(cut.contains('…') && cut.chars().count() == VALUE_CHARS_MAX + 1, "{cut}");
    }

    #[test]
    fn a_list_is_cut_between_its_elements() {
        let numbers: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        let cut = list(&numbers);
        assert_eq!(cut, "[0 1 2 3 4 5 6 7 8 9 10 11 12 … 293 294 295 296 297 298 299]");
        assert!(list(&["7".repeat(99)]).contains('…'));
        // The text of an element may have blanks; it is not cut there.
        let texts: Vec<String> = (0..20).map(|number| format!("number {number}")).collect();
        assert_eq!(list(&texts), "[number 0 number 1 number 2 … number 18 number 19]");
    }

    #[test]
    fn numbers_are_not_mistaken_for_names() {
        assert_eq!(key("7"), "key 7");
        assert_eq!(key("x7"), "x7");
    }

    #[test]
    fn values_with_blanks_are_quoted_and_lists_are_not() {
        assert_eq!(word("Found it!"), "\"Found it!\"");
        assert_eq!(list(&["1".to_owned(), "2".to_owned()]), "[1 2]");
    }
}
