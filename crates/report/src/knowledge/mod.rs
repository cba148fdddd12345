//! What is known about each anomaly and each level, as data: definition, smallest example, who allows it.
//!
//! The anomalies that are checked are in `anomalies.rs` and `strong.rs`, the levels in `levels.rs`, and names that people look for but
//! that no check reports by that name in `beyond.rs`. Every example is in the notation of
//! [`seriatim_history::notation`] and is checked by a test.

mod anomalies;
mod beyond;
mod find;
mod levels;
mod page;
mod strong;

pub use find::{Unknown, find};
pub use page::{index, render};

use seriatim_check::{Kind, Level};

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An anomaly that is checked.
    Anomaly(Kind),
    /// A level that is checked.
    Level(Level),
    /// An anomaly that no check reports by that name.
    Beyond {
        /// Its name in commands.
        code: &'static str,
        /// Its name for people.
        name: &'static str,
        /// Which levels it belongs to, in words.
        levels: &'static str,
        /// The weakest level that its example violates.
        weakest_violated: Option<Level>,
    },
}

/// The smallest history that shows the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The history, one session a line.
    pub history: &'static str,
    /// What to see in it.
    pub remark: &'static str,
}

/// What is known about one anomaly or level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is about.
    pub subject: Subject,
    /// Further names under which people know it.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub definition: &'static str,
    /// The smallest example.
    pub example: Example,
    /// Which well-known databases allow it (an anomaly) or offer it (a level), each at which setting, by documentation.
    pub databases: &'static [&'static str],
}

impl Entry {
    /// The name in commands and JSON.
    pub fn code(&self) -> &'static str {
        match self.subject {
            Subject::Anomaly(kind) => kind.info().code,
            Subject::Level(level) => level.code(),
            Subject::Beyond { code, .. } => code,
        }
    }

    /// The name for people.
    pub fn name(&self) -> &'static str {
        match self.subject {
            Subject::Anomaly(kind) => kind.info().name,
            Subject::Level(level) => level.name(),
            Subject::Beyond { name, .. } => name,
        }
    }

    /// The levels that the example violates.
    pub fn violated_by_example(&self) -> Vec<Level> {
        match self.subject {
            Subject::Anomaly(kind) => kind.info().forbidden_by.to_vec(),
            Subject::Level(Level::CutIsolation) => Kind::NonRepeatableRead.info().forbidden_by.to_vec(),
            Subject::Level(level) | Subject::Beyond { weakest_violated: Some(level), .. } => {
                Level::LADDER.into_iter().filter(|&other| other >= level).collect()
            }
            Subject::Beyond { weakest_violated: None, .. } => Vec::new(),
        }
    }
}

/// All entries: the levels, the anomalies, then what lies beyond.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    levels::ENTRIES.iter().chain(anomalies::ENTRIES).chain(strong::ENTRIES).chain(beyond::ENTRIES)
}
