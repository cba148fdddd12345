//! What can be wrong with an input or an output: the place, the cause, and what to do.

use crate::columns::ColumnsError;
use std::fmt;
use std::sync::Arc;

/// Where in an input a problem is. Lines and columns count from 1, bytes from 0.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Spot {
    /// The file, as the user named it.
    pub file: Option<Arc<str>>,
    /// The line, in text.
    pub line: Option<u64>,
    /// The column in bytes, in text.
    pub column: Option<u64>,
    /// The byte, in binary input.
    pub byte: Option<u64>,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("<input>"))?;
        match (self.line, self.column, self.byte) {
            (Some(line), Some(column), _) => write!(f, ":{line}:{column}"),
            (Some(line), None, _) => write!(f, ":{line}"),
            (None, _, Some(byte)) => write!(f, " at byte {byte}"),
            (None, _, None) => Ok(()),
        }
    }
}

/// Why an input could not be read. Rendered as `place: problem; hint`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file or directory.
        file: Arc<str>,
        /// What it said.
        source: std::io::Error,
    },
    /// The content does not follow the format.
    #[error("{spot}: {problem}{}", hint_text(.hint))]
    Syntax {
        /// Where.
        spot: Spot,
        /// What was expected and what was found.
        problem: String,
        /// What to do about it, if that is not obvious.
        hint: Option<String>,
    },
    /// No format fits the content.
    #[error(
        "{spot}: not a history in any format that we know ({detail}); name the format with --from"
    )]
    UnknownFormat {
        /// The file or directory, and the first thing in it that no format expects.
        spot: Spot,
        /// What the content looks like.
        detail: String,
    },
    /// The input is larger than [`crate::formats::ReadOptions::bytes_max`].
    #[error("{file}: larger than the {bytes_max} bytes that may be read; raise the limit")]
    OverLimit {
        /// The file.
        file: Arc<str>,
        /// How much may be read.
        bytes_max: u64,
    },
    /// The input is compressed, and this build leaves that to others.
    #[error("{file}: compressed with {compression}; {}", ENABLE_COMPRESSION)]
    Compressed {
        /// The file.
        file: Arc<str>,
        /// `gzip` or `zstd`.
        compression: &'static str,
    },
    /// The history is too large.
    #[error("{file}: {source}")]
    TooLarge {
        /// The file or directory.
        file: Arc<str>,
        /// What is too large.
        source: ColumnsError,
    },
}

/// What to do about a compressed file.
pub const ENABLE_COMPRESSION: &str =
    "enable the feature `compression` of seriatim, or decompress the file first";

fn hint_text(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default()
}

/// Why a history could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The name asks for a compressed file, and this build cannot make one.
    #[error(
        "this build does not write {compression}; enable the feature `compression` of seriatim"
    )]
    Compressed {
        /// `gzip` or `zstd`.
        compression: &'static str,
    },
    /// The format cannot express something that the history has.
    #[error("the {format} format cannot hold {what}; {hint}")]
    Unsupported {
        /// The name of the format.
        format: &'static str,
        /// What it cannot hold, with the first place where it occurs.
        what: String,
        /// What to do, for example which format can.
        hint: String,
    },
}
