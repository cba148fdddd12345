//! What a reader of a verdict should know about the input: times that are missing or go back, and
//! what was left out of it.

use crate::checked::Checked;
use crate::numbers::{grouped, plural};
use seriatim_history::{Counts, Repairs, Tally};
use seriatim_isolation::{Level, Order};

/// The notes about an input that was checked, each a sentence without a full stop.
pub(crate) fn notes(checked: &Checked) -> Vec<String> {
    let report = &checked.report;
    let asks_for_times =
        report.order == Order::RealTime || report.verdict(Level::StrictSerializable).is_some();
    let times = if asks_for_times { of_times(&checked.counts) } else { Vec::new() };
    let nothing = (checked.counts.committed == 0).then(|| {
        "no transaction is known to have committed and done something: there is nothing to check"
            .to_owned()
    });
    nothing.into_iter().chain(times).chain(left_out(&checked.counts.repairs)).collect()
}

/// What is wrong with the times of a history.
fn of_times(counts: &Counts) -> Vec<String> {
    let mut notes = Vec::new();
    let total = plural(counts.transactions as u64, "transaction");
    if counts.untimed > 0 {
        let (count, have) = (grouped(counts.untimed as u64), have(counts.untimed as u64));
        notes
            .push(format!("{count} of {total} {have} no times: real time says nothing about them"));
    }
    if counts.half_timed > 0 {
        let (count, have) = (grouped(counts.half_timed as u64), have(counts.half_timed as u64));
        notes.push(format!(
            "{count} of {total} {have} only a begin or only an end: real time says less about them"
        ));
    }
    notes.extend(told(counts.repairs.events_without_time, "event", |count| {
        format!("{} no time: the order of the file counts instead of all times", have(count))
    }));
    notes.extend(told(counts.repairs.ends_before_begin, "transaction", |count| match count {
        1 => "ends before it begins: it is taken to end when it begins".to_owned(),
        _ => "end before they begin: they are taken to end when they begin".to_owned(),
    }));
    notes.extend(told(counts.backward, "transaction", |count| {
        let begins = if count == 1 { "begins" } else { "begin" };
        format!(
            "{begins}, by the clock, before the last one of the session ended: did the clock go \
             back?"
        )
    }));
    notes
}

/// What was left out because it is about transactions of unknown content.
pub fn left_out(repairs: &Repairs) -> Vec<String> {
    let reads = told(repairs.reads_left_out, "read", |count| {
        let was = if count == 1 { "was" } else { "were" };
        format!("{was} left out: only what was passed over can have written what was read")
    });
    let lists = told(repairs.lists_shortened, "list", |_| {
        "without elements that only what was passed over can have appended".to_owned()
    });
    reads.into_iter().chain(lists).collect()
}

/// How many there are and where the first stands, and what `about` says of so many.
fn told(tally: Tally, what: &str, about: impl Fn(u64) -> String) -> Option<String> {
    let place = match (tally.count, tally.first_line) {
        (0, _) => return None,
        (_, 0) => String::new(),
        (1, line) => format!(" (line {})", grouped(line)),
        (_, line) => format!(" (the first in line {})", grouped(line)),
    };
    Some(format!("{}{place} {}", plural(tally.count, what), about(tally.count)))
}

fn have(count: u64) -> &'static str {
    if count == 1 { "has" } else { "have" }
}
