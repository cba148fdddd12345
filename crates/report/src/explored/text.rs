//! An exploration as text for people.

use super::{Behaviour, Explored, Operation, Question, Stopped, Txn};
use crate::prose::clean;
use crate::style::{self, BOLD, DIM, paint};
use crate::text::{self, Layout, grouped};
use crate::wrap::wrap;
use seriatim_check::Answer;
use seriatim_history::OpKind;

/// A transaction with more operations than this is told in short, with so many.
const OPERATIONS_MAX: usize = 12;

const OPERATIONS_SHOWN: usize = 8;

/// A value with more characters than this is told in short, with so many.
const VALUE_MAX: usize = 40;

const VALUE_SHOWN: usize = 30;

/// The page.
pub fn render(explored: &Explored, width: usize) -> String {
    let headline = paint(style::of(explored.outcome), &headline(explored));
    let mut page = format!("{}: {headline}\n", paint(BOLD, &clean(&explored.input)));
    page += &paint(DIM, wrap(&numbers(explored), "  ", width).trim_end());
    page.push('\n');
    for remark in remarks(explored) {
        page += &wrap(&remark, "  ", width);
    }
    if let Some(behaviour) = &explored.behaviour {
        page += &render_counterexample(behaviour, &again(explored, behaviour), width);
    }
    if !explored.groups.is_empty() {
        page += &format!(
            "\n{}\n",
            paint(BOLD, "Counterexamples by the cycle of dependencies that they show:")
        );
        page += &wrap(
            &format!("See the first of each again with {} --replay TOKEN.", explored.command),
            "  ",
            width,
        );
        for group in &explored.groups {
            let line = format!("{}: {}", clean(&group.cycle), clean(&group.reason));
            page += &wrap(&line, &format!("  {} × ", grouped(group.count)), width);
            page +=
                &format!("{}\n", paint(DIM, &format!("    --replay {}", told_token(&group.token))));
        }
    }
    page
}

/// What is to be known of how it ended.
pub(crate) fn remarks(explored: &Explored) -> Vec<String> {
    let cut = (explored.cut > 0).then(|| told_cut(explored));
    cut.into_iter().chain(explored.stopped.as_ref().map(told_stopped)).collect()
}

fn told_cut(explored: &Explored) -> String {
    let was = if explored.cut == 1 { "behaviour was" } else { "behaviours were" };
    let limit = "a program may have 128 transactions, of which each client gets an equal share";
    let told = format!(
        "{} {was} cut, because a client needed more transactions: {limit}.",
        grouped(explored.cut)
    );
    // More time would not help.
    if explored.histories == 0 {
        told + " Not one came to its end: try fewer or smaller clients."
    } else {
        told
    }
}

fn told_stopped(stopped: &Stopped) -> String {
    let why = if stopped.is_interrupted { "It was interrupted." } else { "The budget is spent." };
    match &stopped.checkpoint {
        Some(file) => format!("{why} The same command goes on from {}.", clean(file)),
        None => {
            format!("{why} With --checkpoint FILE a later run can go on where one has stopped.")
        }
    }
}

pub(crate) fn headline(explored: &Explored) -> String {
    let level = &explored.level;
    let all = counted(explored, explored.histories);
    let part = match explored.part {
        (_, 1) => String::new(),
        (number, of) => format!(" of part {number} of {of}"),
    };
    match (explored.question, explored.outcome) {
        (Question::Assertions, Answer::Holds) if explored.is_replay => {
            format!("the assertions hold in this behaviour at {level}")
        }
        (Question::Robust, Answer::Holds) if explored.is_replay => {
            format!("this behaviour at {level} is serializable")
        }
        (Question::Robust, Answer::Violated) if explored.is_replay => {
            format!("this behaviour at {level} is not serializable")
        }
        (Question::Count, Answer::Holds) => {
            "nothing to check: no assertions; try --robust".to_owned()
        }
        (Question::Count, Answer::Violated) => format!("the program goes wrong at {level}"),
        (Question::Count, Answer::Undecided) => {
            format!("at least {all}{part} at {level}; not all were visited")
        }
        (Question::Assertions, Answer::Holds) if explored.histories == 1 => {
            format!(
                "the assertions hold in the only {}{part} at {level}",
                all.trim_start_matches("1 ")
            )
        }
        (Question::Assertions, Answer::Holds) => {
            format!("the assertions hold in all {all}{part} at {level}")
        }
        (Question::Robust, Answer::Holds) if explored.histories == 1 => {
            format!(
                "robust: the only {}{part} at {level} is serializable",
                all.trim_start_matches("1 ")
            )
        }
        (Question::Assertions, Answer::Violated) => {
            format!("the assertions do not hold at {level}")
        }
        (Question::Robust, Answer::Holds) => {
            format!("robust: all {all}{part} at {level} are serializable")
        }
        (Question::Robust, Answer::Violated) => {
            format!("not robust: not everything at {level} is serializable")
        }
        (_, Answer::Undecided) => {
            format!("undecided: nothing found in {all}{part} at {level}, and not all were visited")
        }
    }
}

/// Histories, or executions if one history may be visited many times.
fn counted(explored: &Explored, count: u64) -> String {
    match explored.has_repetitions {
        true => text::plural(count, "execution"),
        false => plural_histories(count),
    }
}

fn plural_histories(count: u64) -> String {
    format!("{} {}", grouped(count), if count == 1 { "history" } else { "histories" })
}

pub(crate) fn numbers(explored: &Explored) -> String {
    let seconds = explored.elapsed.as_secs_f64();
    let mut text = counted(explored, explored.histories);
    if explored.ends != explored.histories {
        text += &format!(" of {} at {}", grouped(explored.ends), explored.base_code);
    }
    if explored.question == Question::Count && explored.outcome == Answer::Holds {
        text += &match explored.part {
            (_, 1) => format!(" at {}", explored.level),
            (number, of) => format!(" of part {number} of {of} at {}", explored.level),
        };
    }
    if explored.counterexamples > 1 {
        text += &format!(", {} of them counterexamples", grouped(explored.counterexamples));
    }
    text += &format!(" in {seconds:.2} s");
    if seconds > 0.1 {
        text += &format!(" ({} a second)", grouped((explored.ends as f64 / seconds) as u64));
    }
    text
}

/// The command that shows a behaviour again.
pub(crate) fn again(explored: &Explored, behaviour: &Behaviour) -> String {
    format!("{} --replay {}", explored.command, told_token(&behaviour.token))
}

/// A behaviour: why it is wrong, what its sessions did, what the checker says, and how to see it
/// `again`.
pub fn render_counterexample(behaviour: &Behaviour, again: &str, width: usize) -> String {
    let mut page = String::new();
    if let Some(reason) = &behaviour.reason {
        page += &wrap(&format!("Counterexample: {}.", clean(reason)), "  ", width);
    }
    let is_short =
        behaviour.sessions.iter().flat_map(|story| &story.transactions).any(is_told_in_short);
    let title = if is_short {
        "What the sessions did, in short (--format json has all):"
    } else {
        "What the sessions did:"
    };
    page += &format!("\n{}\n", paint(BOLD, title));
    for story in &behaviour.sessions {
        let txns: Vec<String> = story.transactions.iter().map(told).collect();
        page += &wrap(&txns.join(" | "), &format!("  {}: ", clean(&story.session)), width);
    }
    let locals: Vec<_> = behaviour.locals.iter().filter(|(_, local)| !local.is_empty()).collect();
    if !locals.is_empty() {
        page += &format!("\n{}\n", paint(BOLD, "Their local states at the end:"));
    }
    for (session, local) in locals {
        page += &wrap(&clean(local), &format!("  {}: ", clean(session)), width);
    }
    page.push('\n');
    if let Some(aborted) = told_aborted(behaviour) {
        page += &wrap(&aborted, "", width);
        page.push('\n');
    }
    page += &text::render(&behaviour.checked, &Layout { width, ..Layout::default() });
    page += &format!("\nSee this behaviour again:\n  {again}\n");
    page
}

/// That transactions that aborted are in what follows, if some that read something are.
pub(crate) fn told_aborted(behaviour: &Behaviour) -> Option<String> {
    let has_read = |txn: &&Txn| txn.operations.iter().any(|op| op.kind == OpKind::Read);
    let all = behaviour.sessions.iter().flat_map(|story| &story.transactions);
    let names: Vec<String> =
        all.filter(|txn| !txn.committed).filter(has_read).map(|txn| clean(&txn.name)).collect();
    match names.len() {
        0 => None,
        1 => Some(format!(
            "{} aborted. What it wrote has no effect; what it read obeys the level, and below it \
             stands as a transaction that only read.",
            names[0]
        )),
        _ => Some(format!(
            "{} aborted. What they wrote has no effect; what they read obeys the level, and below \
             they stand as transactions that only read.",
            names.join(", ")
        )),
    }
}

fn is_told_in_short(txn: &Txn) -> bool {
    let is_long = |op: &Operation| op.value.to_string().chars().count() > VALUE_MAX;
    txn.operations.len() > OPERATIONS_MAX || txn.operations.iter().any(is_long)
}

/// The beginning of a long value.
fn short(value: &str) -> String {
    match value.char_indices().nth(VALUE_MAX) {
        Some(_) => value.chars().take(VALUE_SHOWN).chain(['…']).collect(),
        None => value.to_owned(),
    }
}

/// A token as an argument of a shell: that of a program without transactions is empty.
fn told_token(token: &str) -> &str {
    if token.is_empty() { "''" } else { token }
}

/// An operation.
pub(crate) fn operation_text(op: &Operation) -> String {
    format!("{}({},{})", op.letter(), clean(&op.key), short(&clean(&op.value.to_string())))
}

/// A transaction, in short if there is much in it.
fn told(txn: &Txn) -> String {
    let shown =
        if txn.operations.len() > OPERATIONS_MAX { OPERATIONS_SHOWN } else { txn.operations.len() };
    let mut all = txn.operations[..shown].iter().map(operation_text).collect::<Vec<_>>().join(" ");
    if shown < txn.operations.len() {
        all += &format!(" … ({} more)", txn.operations.len() - shown);
    }
    match (txn.committed, all.is_empty()) {
        (true, true) => "(nothing)".to_owned(),
        (true, false) => all,
        (false, _) => format!("{all} aborted").trim_start().to_owned(),
    }
}

/// How far an exploration has come, for the progress line. A narrow terminal cuts off its end. What
/// is left is not known: a share that takes all subtrees to be of one size may stand still for
/// hours.
pub fn progress(histories: u64, ends: u64, seconds: f64) -> String {
    let rate = (ends as f64 / seconds.max(f64::EPSILON)) as u64;
    let of = if ends == histories { String::new() } else { format!(" of {}", grouped(ends)) };
    format!("{}{of} so far, {}/s", plural_histories(histories), grouped(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_line_tells_histories_and_rate_and_no_share_that_would_mislead() {
        assert_eq!(progress(1, 1, 0.5), "1 history so far, 2/s");
        assert_eq!(progress(52_537, 52_537, 3.0), "52,537 histories so far, 17,512/s");
        assert_eq!(progress(290, 31_341, 3.0), "290 histories of 31,341 so far, 10,447/s");
        assert_eq!(progress(0, 0, 0.0), "0 histories so far, 0/s");
    }
}
