//! What is known about each anomaly and each level, as data: definition, smallest example, who
//! allows it.
//!
//! The anomalies that are checked are in `anomalies.rs` and `strong.rs`, the levels in `levels.rs`,
//! and names that people look for but that are no kind or level of the checker in `beyond.rs`.
//! Every example is in the notation of [`seriatim_history::notation`] and is checked by a test.
//! Definitions call the transactions of a pattern by capital letters; t1, t2, … are those of the
//! example.

mod anomalies;
mod beyond;
mod find;
mod levels;
mod page;
mod strong;

pub use find::{Unknown, alike, find};
pub use page::{index, render};

use seriatim_isolation::{Anomaly, Level};

// Examples that several entries share.
const WRITE_SKEW: &str = "a: r(y,nil) w(x,1)\nb: r(x,nil) w(y,1)";
const LOST_UPDATE: &str = "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)";
const LONG_FORK: &str = "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,nil)\nd: r(y,1) r(x,nil)";
const STALE_READ: &str = "a: w(x,1) @1-2\nb: r(x,nil) @3-4";

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An anomaly that is checked.
    Anomaly(Anomaly),
    /// A level that is checked.
    Level(Level),
    /// An anomaly or a level that the checker does not report under this name.
    Beyond {
        /// Which of the two it is.
        sort: Sort,
        /// Its name in commands.
        code: &'static str,
        /// Its name for people.
        name: &'static str,
        /// Which levels forbid it (an anomaly) or where it stands among the levels (a level), in
        /// words.
        levels: &'static str,
        /// The checked levels that the example violates.
        violated: &'static [Level],
    },
}

/// The two sorts of things that have an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Something that can go wrong.
    Anomaly,
    /// A promise that it does not.
    Level,
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
    /// Which well-known databases allow it (an anomaly) or offer it (a level), each at which
    /// setting, by documentation and published tests.
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

    /// Whether it is an anomaly or a level.
    pub fn sort(&self) -> Sort {
        match self.subject {
            Subject::Anomaly(_) => Sort::Anomaly,
            Subject::Level(_) => Sort::Level,
            Subject::Beyond { sort, .. } => sort,
        }
    }

    /// The levels that the example violates.
    pub fn violated_by_example(&self) -> Vec<Level> {
        match self.subject {
            Subject::Anomaly(kind) => kind.info().forbidden_by.to_vec(),
            Subject::Level(level) => from(level).to_vec(),
            Subject::Beyond { violated, .. } => violated.to_vec(),
        }
    }
}

/// The levels that forbid what `level` forbids: read committed and cut isolation do not contain
/// each other, all others contain those before them.
const fn from(level: Level) -> &'static [Level] {
    if matches!(level, Level::ReadCommitted) {
        return &Level::LADDER;
    }
    let mut first = 0;
    while (Level::ALL[first] as usize) < level as usize {
        first += 1;
    }
    Level::ALL.split_at(first).1
}

/// All entries: the levels, the anomalies, then what lies beyond.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    levels::ENTRIES.iter().chain(anomalies::ENTRIES).chain(strong::ENTRIES).chain(beyond::ENTRIES)
}
