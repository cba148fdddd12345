//! What a reader of a verdict should know: times of the input that are missing or go back, what was
//! left out of it, and a violation that no anomaly shows.

use crate::checked::Checked;
use crate::numbers::{grouped, plural};
use crate::prose::and;
use seriatim_check::{Breach, Outcome, Verdict};
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
    let alone = told(checked.counts.repairs.without_process, "transaction", |count| {
        let session = if count == 1 { "it is a session" } else { "each is a session" };
        format!("{} no process: {session} of its own", have(count))
    });
    let left_out = left_out(&checked.counts.repairs);
    let first = unexplained(checked).into_iter().chain(nothing);
    first.chain(alone).chain(times).chain(left_out).collect()
}

/// That levels are violated and nothing that is listed says why. A search that a limit ended is
/// told of elsewhere; if only some kinds were looked for, nothing is missing.
fn unexplained(checked: &Checked) -> Option<String> {
    let report = &checked.report;
    if report.search_ended_early || report.kind.is_some() || !checked.kinds.is_empty() {
        return None;
    }
    let txns_of = |verdict: &Verdict| match &verdict.outcome {
        Outcome::Violated(Breach::Unexplained(txns)) if !txns.is_empty() => {
            Some((verdict.level, txns.len() as u64))
        }
        _ => None,
    };
    let is_shown =
        |level: Level| report.anomalies.iter().any(|group| group.exemplar.levels.contains(&level));
    let open: Vec<(Level, u64)> =
        report.verdicts.iter().filter_map(txns_of).filter(|(level, _)| !is_shown(*level)).collect();
    let fewest = open.iter().map(|(_, txns)| *txns).min()?;
    let levels: Vec<String> = open.iter().map(|(level, _)| level.to_string()).collect();
    Some(format!(
        "no operations by themselves show what violates {}: {} contradict each other, of which one \
         may have no operations or an unknown outcome",
        and(&levels),
        plural(fewest, "transaction")
    ))
}

/// What is wrong with the times of a history.
fn of_times(counts: &Counts) -> Vec<String> {
    let mut notes = Vec::new();
    let total = plural(counts.transactions as u64, "transaction");
    if counts.untimed > 0 {
        let (count, have) = (grouped(counts.untimed as u64), have(counts.untimed as u64));
        let them = if counts.untimed == 1 { "it" } else { "them" };
        notes.push(format!(
            "{count} of {total} {have} no times: real time says nothing about {them}"
        ));
    }
    if counts.half_timed > 0 {
        let (count, have) = (grouped(counts.half_timed as u64), have(counts.half_timed as u64));
        let them = if counts.half_timed == 1 { "it" } else { "them" };
        notes.push(format!(
            "{count} of {total} {have} only a begin or only an end: real time says less about \
             {them}"
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
