//! What a renderer is given: an input with its verdicts, or an input that could not be read.

use seriatim_check::{Duplicate, Report};
use seriatim_history::{ColumnsError, Counts, ENABLE_COMPRESSION, ReadError, Spot};
use seriatim_isolation::{Anomaly, Level};
use std::time::Duration;

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
    /// The value that was written twice, if verdicts are undecided for that reason.
    pub duplicate: Option<Duplicate>,
    /// The kinds of anomalies that were looked for; none if all were.
    pub kinds: Vec<Anomaly>,
}

/// An input that is too large to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The input as the user named it.
    pub input: String,
    /// The levels that were asked for, all undecided.
    pub levels: Vec<Level>,
    /// How many bytes it might have.
    pub bytes_max: u64,
    /// How large it is, if that is known without reading it.
    pub size: Option<Size>,
}

/// The size of an input that was not read; of a compressed one this is only the least that it can
/// be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many bytes it has at least.
    pub bytes: u64,
    /// The memory limit that would let so many in.
    pub memory: u64,
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
            ReadError::Syntax { spot, problem, hint } => {
                (problem.clone(), spot.clone(), hint.clone())
            }
            ReadError::Io { file, source } => (source.to_string(), in_file(file), None),
            ReadError::UnknownFormat { spot, detail } => {
                let hint = "name the format with --from".to_owned();
                (format!("not a history in any known format ({detail})"), spot.clone(), Some(hint))
            }
            ReadError::OverLimit { file, bytes_max } => {
                let hint = Some("raise --memory".to_owned());
                (format!("larger than the {bytes_max} bytes that may be read"), in_file(file), hint)
            }
            ReadError::Compressed { file, compression } => {
                let hint = Some(ENABLE_COMPRESSION.to_owned());
                (format!("compressed with {compression}"), in_file(file), hint)
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
