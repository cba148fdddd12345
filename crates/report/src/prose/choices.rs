//! Violations that do not depend on which of several appends an element of a list is.

use super::{and, of, summary, txn, value};
use seriatim_check::{Alternative, OpRef, Violation};

/// How many choices are told.
const CHOICES_TOLD: usize = 6;

/// What was appended several times, and that it does not matter.
pub(super) fn whichever(violation: &Violation) -> Option<String> {
    let mut appends: Vec<&OpRef> = Vec::new();
    for append in violation.alternatives.iter().flat_map(|choice| &choice.appends) {
        if !appends.iter().any(|known| known.id == append.id) {
            appends.push(append);
        }
    }
    appends.sort_by_key(|append| (&append.key, append.id));
    let elements = appends.chunk_by(|a, b| (&a.key, &a.value) == (&b.key, &b.value));
    let elements: Vec<String> = elements.map(appended).collect();
    if elements.is_empty() {
        return None;
    }
    Some(format!(
        "{}, so that a list does not tell which of them it shows. Whichever it is, something is \
         wrong.",
        and(&elements)
    ))
}

/// `t1 and t2 appended 7 to x`.
fn appended(appends: &[&OpRef]) -> String {
    let mut who: Vec<String> = appends.iter().map(|append| txn(&append.txn)).collect();
    who.dedup();
    let several = if who.len() == 1 { " several times" } else { "" };
    let element = &appends[0];
    let list = super::key(&element.key);
    format!("{} appended {} to {list}{several}", and(&who), value(&element.value))
}

/// What is wrong by each choice.
pub(super) fn choices(violation: &Violation) -> Vec<String> {
    let choice = |choice: &Alternative| {
        let appends: Vec<String> = choice.appends.iter().map(of).collect();
        let order = if appends.len() > 1 { ", in this order" } else { "" };
        let (kind, what) = (choice.violation.kind, summary(&choice.violation));
        format!("If lists show {}{order} ({}): {what}", and(&appends), kind.info().name)
    };
    let told = violation.alternatives.iter().take(CHOICES_TOLD).map(choice);
    let more = violation.alternatives.len().saturating_sub(CHOICES_TOLD);
    let more = (more > 0).then(|| format!("So it is with {more} more."));
    told.chain(more).collect()
}
