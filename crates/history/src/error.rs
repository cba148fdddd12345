//! What can be wrong with an input or an output: the place, the cause, and what to do.

use crate::columns::ColumnsError;
use std::error::Error;
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
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    Io {
        /// The file or directory.
        file: Arc<str>,
        /// What it said.
        source: std::io::Error,
    },
    /// The content does not follow the format.
    Syntax {
        /// Where.
        spot: Spot,
        /// What was expected and what was found.
        problem: String,
        /// What to do about it, if that is not obvious.
        hint: Option<String>,
    },
    /// No format fits the content.
    UnknownFormat {
        /// The file or directory, and the first thing in it that no format expects.
        spot: Spot,
        /// What the content looks like.
        detail: String,
    },
    /// The input is larger than [`crate::formats::ReadOptions::bytes_max`].
    OverLimit {
        /// The file.
        file: Arc<str>,
        /// How much may be read.
        bytes_max: u64,
    },
    /// The input is compressed, and this build leaves that to others.
    Compressed {
        /// The file.
        file: Arc<str>,
        /// `gzip` or `zstd`.
        compression: &'static str,
    },
    /// The history is too large.
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

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io { file, source } => write!(f, "{file}: {source}"),
            ReadError::Syntax { spot, problem, hint: None } => write!(f, "{spot}: {problem}"),
            ReadError::Syntax { spot, problem, hint: Some(hint) } => {
                write!(f, "{spot}: {problem}; {hint}")
            }
            ReadError::UnknownFormat { spot, detail } => write!(
                f,
                "{spot}: not a history in any format that we know ({detail}); name the format \
                 with --from"
            ),
            ReadError::OverLimit { file, bytes_max } => write!(
                f,
                "{file}: larger than the {bytes_max} bytes that may be read; raise the limit"
            ),
            ReadError::Compressed { file, compression } => {
                write!(f, "{file}: compressed with {compression}; {ENABLE_COMPRESSION}")
            }
            ReadError::TooLarge { file, source } => write!(f, "{file}: {source}"),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ReadError::Io { source, .. } => Some(source),
            ReadError::TooLarge { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Why a history could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system refused.
    Io(std::io::Error),
    /// The name asks for a compressed file, and this build cannot make one.
    Compressed {
        /// `gzip` or `zstd`.
        compression: &'static str,
    },
    /// The format cannot express something that the history has.
    Unsupported {
        /// The name of the format.
        format: &'static str,
        /// What it cannot hold, with the first place where it occurs.
        what: String,
        /// What to do, for example which format can.
        hint: String,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Io(source) => source.fmt(f),
            WriteError::Compressed { compression } => write!(
                f,
                "this build does not write {compression}; enable the feature `compression` of \
                 seriatim"
            ),
            WriteError::Unsupported { format, what, hint } => {
                write!(f, "the {format} format cannot hold {what}; {hint}")
            }
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            WriteError::Io(source) => Some(source),
            _ => None,
        }
    }
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        WriteError::Io(error)
    }
}
