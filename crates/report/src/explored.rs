//! What an exploration of a program came to, as text for people and as JSON for machines.
//!
//! The data is the caller's; nothing here knows how programs are explored.

use crate::checked::Checked;
use crate::prose::{clean, summary};
use crate::style::{self, BOLD, DIM, paint};
use crate::text::{self, Layout, grouped};
use crate::wrap::wrap;
use serde::Serialize;
use seriatim_check::Answer;
use seriatim_history::{History, OpId, OpKind, Status, TxnId};
use std::time::Duration;

/// A transaction with more operations than this is told in short, with so many.
const OPERATIONS_MAX: usize = 12;
const OPERATIONS_SHOWN: usize = 8;
/// A value with more characters than this is told in short, with so many.
const VALUE_MAX: usize = 40;
const VALUE_SHOWN: usize = 30;

/// What was asked of every behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// Whether the assertions hold.
    Assertions,
    /// Whether it is serializable.
    Robust,
    /// Nothing: they were only counted.
    Count,
}

/// An exploration.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The program as the user named it.
    pub input: String,
    /// The level, for people.
    pub level: String,
    /// The short name of the level.
    pub level_code: &'static str,
    /// The short name of the level that histories were kept consistent with on the way.
    pub base_code: &'static str,
    /// The algorithm.
    pub algorithm: &'static str,
    /// Whether the algorithm comes to a history many times, so that what is counted are executions.
    pub has_repetitions: bool,
    /// The command that explores this, to which `--replay TOKEN` can be added.
    pub command: String,
    /// What was asked.
    pub question: Question,
    /// The answer.
    pub outcome: Answer,
    /// Histories at the level.
    pub histories: u64,
    /// Complete histories, those included that only the base allows.
    pub ends: u64,
    /// Calls that led nowhere.
    pub blocked: u64,
    /// Behaviours that are too long.
    pub cut: u64,
    /// Histories that violate what was asked.
    pub counterexamples: u64,
    /// The share of the tree that was visited.
    pub share: f64,
    /// Whether every behaviour was visited (of the part).
    pub is_complete: bool,
    /// Which part of how many.
    pub part: (usize, usize),
    /// How long it took.
    pub elapsed: Duration,
    /// How it ended early, if it did.
    pub stopped: Option<Stopped>,
    /// Whether it is one behaviour that was replayed.
    pub is_replay: bool,
    /// The first counterexample, or the behaviour that was replayed.
    pub behaviour: Option<Behaviour>,
    /// All counterexamples, if they were asked for.
    pub groups: Vec<Cycle>,
}

/// The early end of an exploration.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// Whether somebody interrupted it; otherwise its budget was spent.
    pub is_interrupted: bool,
    /// The file from which it can go on.
    pub checkpoint: Option<String>,
}

/// One behaviour.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Why it violates what was asked, if it does.
    pub reason: Option<String>,
    /// For each session its name and its local state.
    pub locals: Vec<(String, String)>,
    /// What each session did.
    pub sessions: Vec<Story>,
    /// What the checker says of it.
    pub checked: Checked,
    /// What reruns it.
    pub token: String,
}

/// What a session did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Story {
    /// Its name.
    pub session: String,
    /// Its transactions.
    pub transactions: Vec<Txn>,
}

/// A transaction of a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Txn {
    /// Its name.
    pub name: String,
    /// Whether it committed.
    pub committed: bool,
    /// Its operations: `r` or `w`, the key, the value.
    pub operations: Vec<(char, String, String)>,
}

/// Counterexamples with the same cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// The anomaly and its cycle.
    pub cycle: String,
    /// How many.
    pub count: u64,
    /// Why the first violates what was asked.
    pub reason: String,
    /// What reruns the first.
    pub token: String,
}

/// What each session of a history did.
pub fn stories(history: &History) -> Vec<Story> {
    let txn = |id: TxnId| {
        let operation = |op: OpId| {
            let op = history.op(op);
            let kind = if op.kind == OpKind::Read { 'r' } else { 'w' };
            (kind, history.key_name(op.key).to_string(), history.value_text(op.value))
        };
        Txn {
            name: history.txn_name(id).to_string(),
            committed: history.status(id) == Status::Committed,
            operations: history.ops_of(id).map(OpId).map(operation).collect(),
        }
    };
    let story = |session| Story {
        session: history.session_name(session).to_string(),
        transactions: history.txns_of(session).map(TxnId).map(txn).collect(),
    };
    history.sessions().map(story).collect()
}

/// The page.
pub fn render(explored: &Explored, width: usize) -> String {
    let headline = paint(style::of(explored.outcome), &headline(explored));
    let mut page = format!("{}: {headline}\n", paint(BOLD, &clean(&explored.input)));
    page += &paint(DIM, wrap(&numbers(explored), "  ", width).trim_end());
    page.push('\n');
    if explored.cut > 0 {
        page += &wrap(&told_cut(explored), "  ", width);
    }
    if let Some(stopped) = &explored.stopped {
        page += &wrap(&told_stopped(stopped), "  ", width);
    }
    if let Some(behaviour) = &explored.behaviour {
        page += &render_behaviour(behaviour, &explored.command, width);
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

fn headline(explored: &Explored) -> String {
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

fn numbers(explored: &Explored) -> String {
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
    if explored.stopped.is_some() {
        text += &format!(", {} of the tree", share(explored.share));
    }
    text
}

fn render_behaviour(behaviour: &Behaviour, command: &str, width: usize) -> String {
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
    page += &text::render(&behaviour.checked, &Layout { width, ..Layout::default() });
    page += &format!(
        "\nSee this behaviour again:\n  {command} --replay {}\n",
        told_token(&behaviour.token)
    );
    page
}

fn is_told_in_short(txn: &Txn) -> bool {
    let is_long = |(_, _, value): &(char, String, String)| value.chars().count() > VALUE_MAX;
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

/// A transaction, in short if there is much in it.
fn told(txn: &Txn) -> String {
    let shown =
        if txn.operations.len() > OPERATIONS_MAX { OPERATIONS_SHOWN } else { txn.operations.len() };
    let operation = |(kind, key, value): &(char, String, String)| {
        format!("{kind}({},{})", clean(key), short(&clean(value)))
    };
    let mut all = txn.operations[..shown].iter().map(operation).collect::<Vec<_>>().join(" ");
    if shown < txn.operations.len() {
        all += &format!(" … ({} more)", txn.operations.len() - shown);
    }
    match (txn.committed, all.is_empty()) {
        (true, true) => "(nothing)".to_owned(),
        (true, false) => all,
        (false, _) => format!("{all} aborted").trim_start().to_owned(),
    }
}

#[derive(Serialize)]
struct Object<'a> {
    input: &'a str,
    level: &'a str,
    base: &'a str,
    algorithm: &'a str,
    question: Question,
    verdict: &'a str,
    histories: u64,
    end_states: u64,
    blocked: u64,
    cut: u64,
    counterexamples: u64,
    share: f64,
    complete: bool,
    part: usize,
    parts: usize,
    time_ms: f64,
    behaviour: Option<BehaviourObject<'a>>,
    groups: &'a [Cycle],
}

#[derive(Serialize)]
struct BehaviourObject<'a> {
    reason: Option<&'a str>,
    locals: Vec<LocalObject<'a>>,
    sessions: &'a [Story],
    strongest: Option<&'a str>,
    anomalies: Vec<AnomalyObject<'a>>,
    token: &'a str,
}

#[derive(Serialize)]
struct LocalObject<'a> {
    session: &'a str,
    state: &'a str,
}

#[derive(Serialize)]
struct AnomalyObject<'a> {
    kind: &'a str,
    summary: String,
}

/// The line, without a line end, as [`crate::schema::EXPLORE`] describes it.
pub fn json(explored: &Explored) -> String {
    let object = Object {
        input: &explored.input,
        level: explored.level_code,
        base: explored.base_code,
        algorithm: explored.algorithm,
        question: explored.question,
        verdict: explored.outcome.word(),
        histories: explored.histories,
        end_states: explored.ends,
        blocked: explored.blocked,
        cut: explored.cut,
        counterexamples: explored.counterexamples,
        // The shares of the children of a node may not add up to its own exactly.
        share: if explored.is_complete && explored.part.1 == 1 {
            1.0
        } else {
            explored.share.min(1.0)
        },
        complete: explored.is_complete,
        part: explored.part.0,
        parts: explored.part.1,
        time_ms: explored.elapsed.as_secs_f64() * 1e3,
        behaviour: explored.behaviour.as_ref().map(behaviour_object),
        groups: &explored.groups,
    };
    // Structs of strings and numbers always serialise; no error can occur.
    serde_json::to_string(&object).unwrap_or_default()
}

fn behaviour_object(behaviour: &Behaviour) -> BehaviourObject<'_> {
    let report = &behaviour.checked.report;
    let anomaly = |group: &seriatim_check::AnomalyGroup| AnomalyObject {
        kind: group.kind.info().code,
        summary: summary(&group.exemplar),
    };
    BehaviourObject {
        reason: behaviour.reason.as_deref(),
        locals: behaviour
            .locals
            .iter()
            .map(|(session, state)| LocalObject { session, state })
            .collect(),
        sessions: &behaviour.sessions,
        strongest: report.strongest().map(|level| level.code()),
        anomalies: report.anomalies.iter().map(anomaly).collect(),
        token: &behaviour.token,
    }
}

/// How far an exploration has come, for the progress line. A narrow terminal cuts off its end.
pub fn progress(histories: u64, ends: u64, seconds: f64, visited: f64) -> String {
    let rate = (ends as f64 / seconds.max(f64::EPSILON)) as u64;
    let of = if ends == histories { String::new() } else { format!(" of {}", grouped(ends)) };
    format!(
        "{}{of}, {}/s, {} of the tree",
        plural_histories(histories),
        grouped(rate),
        share(visited)
    )
}

/// A share of the tree, which is an estimate.
fn share(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 0.01 => "< 0.01 %".to_owned(),
        percent => format!("~{percent:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_line_tells_histories_rate_and_share() {
        assert_eq!(progress(1, 1, 0.5, 0.25), "1 history, 2/s, ~25.00 % of the tree");
        assert_eq!(
            progress(52_537, 52_537, 3.0, 0.115),
            "52,537 histories, 17,512/s, ~11.50 % of the tree"
        );
        assert_eq!(
            progress(290, 31_341, 3.0, 1e-9),
            "290 histories of 31,341, 10,447/s, < 0.01 % of the tree"
        );
        assert_eq!(progress(0, 0, 0.0, 0.0), "0 histories, 0/s, < 0.01 % of the tree");
    }
}
