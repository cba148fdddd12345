//! What a renderer is given: an input with its verdicts, or an input that could not be read.

use seriatim_check::Report;
use seriatim_history::{ColumnsError, History, ReadError, Spot};
use std::time::Duration;

/// How large a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sessions.
    pub sessions: usize,
    /// Transactions, aborted and unknown ones included.
    pub transactions: usize,
    /// Operations.
    pub operations: usize,
    /// Keys.
    pub keys: usize,
    /// Lines or records that the reader passed over because they match nothing.
    pub skipped: u64,
}

impl Counts {
    /// The size of `history`.
    pub fn of(history: &History) -> Self {
        Counts {
            sessions: history.session_count(),
            transactions: history.txn_count(),
            operations: history.op_count(),
            keys: history.keys_that_occur(),
            skipped: history.skipped(),
        }
    }
}

/// How long an input took beside what [`seriatim_check::Timings`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Times {
    /// Reading and parsing.
    pub read: Duration,
    /// Everything, from opening the input to the last verdict.
    pub total: Duration,
}

/// An input that was read and checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The input as the user named it.
    pub input: String,
    /// The short name of its format.
    pub format: &'static str,
    /// How large it is.
    pub counts: Counts,
    /// The verdicts and the anomalies.
    pub report: Report,
    /// How long it took.
    pub times: Times,
}

/// An input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The input as the user named it.
    pub input: String,
    /// What is wrong, without the place.
    pub message: String,
    /// Where.
    pub spot: Spot,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Unreadable {
    /// Takes `error` apart into place, cause and next step.
    pub fn new(input: &str, error: &ReadError) -> Self {
        let (message, spot, hint) = match error {
            ReadError::Syntax { spot, problem, hint } => (problem.clone(), spot.clone(), hint.clone()),
            ReadError::Io { file, source } => (source.to_string(), in_file(file), None),
            ReadError::UnknownFormat { spot, detail } => {
                let hint = "name the format with --from".to_owned();
                (format!("not a history in any known format ({detail})"), spot.clone(), Some(hint))
            }
            ReadError::TooLarge { file, source } => (too_large(source), in_file(file), None),
            other => (other.to_string(), in_file(input), None),
        };
        Unreadable { input: input.to_owned(), message, spot, hint }
    }
}

fn in_file(file: &str) -> Spot {
    Spot { file: Some(file.into()), ..Spot::default() }
}

fn too_large(error: &ColumnsError) -> String {
    error.to_string()
}
