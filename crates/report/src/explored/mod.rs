//! What an exploration of a program came to, as text for people and as JSON for machines.
//!
//! The data is the caller's; nothing here knows how programs are explored.

#[cfg(feature = "json")]
mod json;
mod text;

#[cfg(feature = "json")]
pub use json::json;
#[cfg(feature = "pages")]
pub(crate) use text::{again, headline, numbers, operation_text, remarks, told_aborted};
pub use text::{progress, render, render_counterexample};

use crate::checked::Checked;
use seriatim_check::{Answer, ValueRef};
use seriatim_history::OpKind;
use std::time::Duration;

/// What was asked of every behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "lowercase"))]
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
    /// The histories that were looked at by how they begin, if a page is asked for.
    pub tree: Option<Branch>,
}

/// Histories that begin alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// The last transaction that they have in common, and what it reads from.
    pub name: String,
    /// How many there are.
    pub histories: u64,
    /// How many of them violate what was asked.
    pub counterexamples: u64,
    /// The same by the next transaction, as far as that is told.
    pub below: Vec<Branch>,
}

/// The early end of an exploration.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// Whether the user interrupted it; otherwise its budget was spent.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// Its name.
    pub session: String,
    /// Its transactions.
    pub transactions: Vec<Txn>,
}

/// A transaction of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Txn {
    /// Its name.
    pub name: String,
    /// Whether it committed.
    pub committed: bool,
    /// Its operations.
    pub operations: Vec<Operation>,
}

/// An operation of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: OpKind,
    /// The key.
    pub key: String,
    /// What it read or wrote.
    pub value: ValueRef,
}

impl Operation {
    /// What it does, in a letter; programs read and write.
    fn letter(&self) -> char {
        match self.kind {
            OpKind::Read => 'r',
            OpKind::Write | OpKind::Append => 'w',
        }
    }
}

/// Counterexamples with the same cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
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
