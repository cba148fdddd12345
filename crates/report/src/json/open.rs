//! Levels that are undecided, and how far a search came.

use super::milliseconds;
use super::steps::Operation;
use crate::checked::Checked;
use crate::effort;
use serde::Serialize;
use seriatim_check::{Answer, Duplicate, Effort, Report, Undecided, Verdict};
use seriatim_isolation::Level;

#[derive(Serialize)]
pub(super) struct Open<'a> {
    level: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<Operation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transactions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proved: Option<Proved<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<Done<'a>>,
}

/// What is known of the levels, whichever were asked for.
#[derive(Serialize)]
struct Proved<'a> {
    holds: Option<&'a str>,
    violated: Option<&'a str>,
}

/// What was done at a strong level.
#[derive(Serialize)]
pub(super) struct Done<'a> {
    level: &'a str,
    orders: u64,
    forced: u64,
    broken_first: u64,
    broken_last: u64,
    choices: u64,
    models: u64,
    decisions: u64,
    conflicts: u64,
    time_ms: StepMs,
}

#[derive(Serialize)]
struct StepMs {
    build: f64,
    prune: f64,
    solve: f64,
    explain: f64,
}

pub(super) fn open(checked: &Checked) -> Vec<Open<'_>> {
    let undecided =
        checked.report.verdicts.iter().filter(|verdict| verdict.answer() == Answer::Undecided);
    undecided.map(|verdict| Open::new(verdict, checked)).collect()
}

impl<'a> Open<'a> {
    fn new(verdict: &'a Verdict, checked: &'a Checked) -> Self {
        let empty = Open::empty(verdict.level);
        match verdict.undecided() {
            Some(Undecided::DuplicateValue { key, value, reads }) => Open {
                reason: "duplicate-value",
                key: Some(key),
                value: Some(value.to_string()),
                reads: Some(*reads),
                writes: writes(checked.duplicate.as_ref()),
                ..empty
            },
            Some(Undecided::Budget) => Open::given_up(verdict.level, "budget", &checked.report),
            Some(Undecided::Memory) => Open::given_up(verdict.level, "memory", &checked.report),
            Some(Undecided::UnknownContent { transactions }) => {
                Open { reason: "unknown-content", transactions: Some(*transactions), ..empty }
            }
            Some(Undecided::ManyWithoutSessions) => {
                Open { reason: "many-without-sessions", ..empty }
            }
            Some(Undecided::NoTimes) => Open { reason: "no-times", ..empty },
            _ => empty,
        }
    }

    /// A level of an input that was too large to be read.
    pub fn unread(level: Level) -> Self {
        Open { reason: "memory", ..Open::empty(level) }
    }

    fn empty(level: Level) -> Self {
        Open {
            level: level.code(),
            reason: "other",
            key: None,
            value: None,
            reads: None,
            writes: Vec::new(),
            transactions: None,
            proved: None,
            effort: None,
        }
    }

    /// A search that came to no end: what is known all the same, and how far it came.
    fn given_up(level: Level, reason: &'a str, report: &'a Report) -> Self {
        let effort = effort::of_level(report, level).map(|effort| Done::new(level, effort));
        let code = |level: Level| level.code();
        let proved = Proved {
            holds: report.proved.holds.map(code),
            violated: report.proved.violated.map(code),
        };
        Open { reason, proved: Some(proved), effort, ..Open::empty(level) }
    }
}

fn writes(duplicate: Option<&Duplicate>) -> Vec<Operation<'_>> {
    duplicate.map_or(&[][..], |duplicate| &duplicate.writes).iter().map(Operation::new).collect()
}

impl Done<'_> {
    pub fn new(level: Level, effort: &Effort) -> Self {
        Done {
            level: level.code(),
            orders: effort.rounds,
            forced: effort.forced,
            broken_first: effort.broken_first,
            broken_last: effort.broken_last,
            choices: effort.choices,
            models: effort.models,
            decisions: effort.decisions,
            conflicts: effort.conflicts,
            time_ms: StepMs {
                build: milliseconds(effort.build),
                prune: milliseconds(effort.prune),
                solve: milliseconds(effort.solve),
                explain: milliseconds(effort.explain),
            },
        }
    }
}
