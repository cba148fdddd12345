//! A whole history as a page needs it: what a caller who has the history has counted and picked.

use seriatim_history::TimeUnit;

/// A history, counted: how many transactions of each session fall into each part of it.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// How many transactions there are.
    pub transactions: u64,
    /// The sessions that are shown by themselves.
    pub sessions: Vec<Strip>,
    /// All others together, if there are too many.
    pub others: Option<Strip>,
    /// From the first begin to the last end, if the parts are parts of that time, and not of the
    /// sessions.
    pub span: Option<(i64, i64)>,
    /// What times count.
    pub unit: TimeUnit,
    /// How many transactions the longest session has.
    pub longest: u32,
    /// How many transactions are in no part, because no time of theirs is known.
    pub timeless: u64,
    /// What is around each anomaly, in the order of the report.
    pub windows: Vec<Window>,
}

/// A session, from its beginning to its end.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    /// What it is called.
    pub name: String,
    /// How many transactions fall into each part.
    pub counts: Vec<u32>,
    /// Where transactions of anomalies are.
    pub marks: Vec<Mark>,
}

/// A part of a session that has transactions of an anomaly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The part.
    pub part: u32,
    /// The anomaly, by its place in the report.
    pub anomaly: usize,
}

/// Transactions that were at work when an anomaly happened, and those of the anomaly.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The transactions, by their sessions and in session order.
    pub txns: Vec<Neighbour>,
    /// How many others fall into the same time and are not shown.
    pub more: u64,
    /// The keys that the anomaly is about.
    pub keys: Vec<String>,
    /// The sessions that it is about.
    pub sessions: Vec<String>,
}

/// When a transaction began and ended, as far as that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lasting {
    /// When it began.
    pub begin: Option<i64>,
    /// When it ended; nothing if nobody saw it end.
    pub end: Option<i64>,
}

impl Lasting {
    /// Begin and end as histories have them: the least and the largest number stand for what is
    /// not known.
    pub fn of((begin, end): (i64, i64)) -> Lasting {
        Lasting {
            begin: (begin != i64::MIN).then_some(begin),
            end: (end != i64::MAX).then_some(end),
        }
    }

    /// The first and the last time that is known of it.
    pub fn known(self) -> Option<(i64, i64)> {
        let first = self.begin.or(self.end)?;
        Some((first, self.end.unwrap_or(first).max(first)))
    }
}

/// A transaction of a window.
#[derive(Clone, Debug, Default)]
pub struct Neighbour {
    /// What it is called.
    pub name: String,
    /// Its session.
    pub session: String,
    /// When it began and ended.
    pub times: Option<Lasting>,
    /// What it did, with values, or its statements.
    pub acts: Vec<String>,
    /// How many operations are not told.
    pub more: u64,
    /// Whether it is part of the anomaly.
    pub is_guilty: bool,
    /// Whether it aborted, or nobody knows.
    pub note: Option<&'static str>,
}
