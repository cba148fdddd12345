//! Stories of reads that are wrong by themselves, or in their transaction.

use super::{and, did, does, edge_clause, item, item_with, key, read_from, txn, value, who, word};
use seriatim_check::{OpRef, Reason, ValueRef, Violation};
use seriatim_history::OpKind;

pub(super) fn thin_air(violation: &Violation) -> Option<String> {
    let read = violation.ops.first()?;
    if let Some(element) = &read.element {
        return Some(format!(
            "{} reads {}, but {}, element {} of the list, was appended by nobody: it came out of \
             thin air.",
            who(&read.txn),
            item_with(read, &[&ValueRef::Scalar(element.value.clone())]),
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

pub(super) fn aborted(violation: &Violation) -> Option<String> {
    let [write, read, ..] = violation.ops.as_slice() else { return None };
    let did = if write.kind == OpKind::Append { "appended" } else { "wrote" };
    Some(format!(
        "{} reads {} from {}, but {} aborted: what it {did} must not be seen by anybody.",
        who(&read.txn),
        item(read),
        who(&write.txn),
        txn(&write.txn),
    ))
}

pub(super) fn future(violation: &Violation) -> Option<String> {
    let [read, write, ..] = violation.ops.as_slice() else { return None };
    let it = who(&read.txn);
    Some(format!(
        "{it} reads {} and only then {}: it reads its own future.",
        item(read),
        does(write)
    ))
}

pub(super) fn not_my_own(violation: &Violation) -> Option<String> {
    let (own, rest) = violation.ops.split_first()?;
    let (read, others) = rest.split_last()?;
    let it = who(&read.txn);
    let source = match others.first() {
        Some(other) => read_from(read, other),
        None if own.kind == OpKind::Append => item(read),
        None => format!("{}, which nobody wrote", item(read)),
    };
    let ignored = if own.kind == OpKind::Append { "append" } else { "write" };
    Some(format!("{it} {} and then reads {source}: its own {ignored} is ignored.", does(own)))
}

pub(super) fn not_my_last(violation: &Violation) -> Option<String> {
    let [older, newer, read, ..] = violation.ops.as_slice() else { return None };
    if newer.kind == OpKind::Append {
        return Some(format!(
            "{} {}, then {}, and then reads {}: without its own last append.",
            who(&read.txn),
            does(older),
            value(&newer.value),
            item(read),
        ));
    }
    Some(format!(
        "{} writes {}, then {}, and then reads {}: its own older write instead of its last one.",
        who(&read.txn),
        item(older),
        item(newer),
        item(read),
    ))
}

pub(super) fn intermediate(violation: &Violation) -> Option<String> {
    let [write, newer, read, ..] = violation.ops.as_slice() else { return None };
    if newer.kind == OpKind::Append {
        return Some(format!(
            "{} reads {} from {}, but {} itself {} after that: others may see all appends of a \
             transaction or none.",
            who(&read.txn),
            item(read),
            who(&write.txn),
            txn(&write.txn),
            did(newer),
        ));
    }
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

pub(super) fn non_repeatable(violation: &Violation) -> Option<String> {
    let [first, second, writes @ ..] = violation.ops.as_slice() else { return None };
    let from = |read: &OpRef| match writes
        .iter()
        .find(|write| write.key == read.key && write.value == read.value)
    {
        Some(write) => read_from(read, write),
        None => item(read),
    };
    let is_own = |write: &&OpRef| write.kind == OpKind::Append && write.txn == first.txn;
    let own: Vec<String> = writes.iter().filter(is_own).map(|write| value(&write.value)).collect();
    if !own.is_empty() {
        return Some(format!(
            "{} reads {}, appends {} and then reads {}: the list changed under its eyes, and not \
             only by its own appends.",
            who(&first.txn),
            item(first),
            and(&own),
            item(second),
        ));
    }
    let is_list = [first, second].iter().any(|read| matches!(read.value, ValueRef::List(_)));
    let (changed, what) = if is_list { ("appended to", "list") } else { ("written", "value") };
    Some(format!(
        "{} reads {} and later {}, without having {changed} {} in between: the {what} changed \
         under its eyes.",
        who(&first.txn),
        from(first),
        from(second),
        key(&first.key),
    ))
}

pub(super) fn incompatible(violation: &Violation) -> Option<String> {
    let [one, two, rest @ ..] = violation.ops.as_slice() else { return None };
    if let (OpKind::Append, [later]) = (two.kind, rest) {
        return Some(format!(
            "{} reads {}, but {} appended {} before {}: the list has them the other way round.",
            who(&one.txn),
            item_with(one, &[&two.value, &later.value]),
            who(&two.txn),
            value(&two.value),
            value(&later.value),
        ));
    }
    let differing: Vec<&ValueRef> = rest.iter().map(|append| &append.value).collect();
    Some(format!(
        "{} reads {}, and {} reads {}: neither list begins with the other, so no order of the \
         appends explains both.",
        who(&one.txn),
        item_with(one, &differing),
        who(&two.txn),
        item_with(two, &differing),
    ))
}

/// An append that is not in a list although it came before one that is.
pub(super) fn lost_element(violation: &Violation) -> Option<String> {
    if violation.cycle.is_empty() {
        let [lost, kept, read] = violation.ops.as_slice() else { return None };
        return Some(format!(
            "{} appended {} to {} and then {}, but {} reads {}: {} is lost.",
            who(&lost.txn),
            value(&lost.value),
            key(&lost.key),
            value(&kept.value),
            who(&read.txn),
            item_with(read, &[&kept.value]),
            value(&lost.value),
        ));
    }
    let (last, path) = violation.cycle.split_last()?;
    let Reason::VersionOrder { earlier: kept, later: lost, read } = &last.reason else {
        return None;
    };
    let before = and(&path.iter().map(edge_clause).collect::<Vec<_>>());
    Some(format!(
        "{} appended {} to {} before {} appended {} ({before}), but {} reads {}: {} is lost.",
        who(&lost.txn),
        value(&lost.value),
        key(&lost.key),
        who(&kept.txn),
        value(&kept.value),
        who(&read.txn),
        item_with(read, &[&kept.value]),
        value(&lost.value),
    ))
}

pub(super) fn duplicate_element(violation: &Violation) -> Option<String> {
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
    let twice: Vec<&ValueRef> = rest.iter().map(|append| &append.value).collect();
    Some(format!("{} reads {}: {appended}.", who(&read.txn), item_with(read, &twice)))
}
