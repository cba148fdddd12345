//! Where in the input an operation stands, for messages to people.

use std::fmt;
use std::sync::Arc;

/// What the number of a [`Place`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaceUnit {
    /// Lines of a text file, from 1.
    Line,
    /// Bytes of a binary file, from 0.
    Byte,
}

/// A place in an input: file, and line or byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, as the user named it (inside a directory: with the directory's name).
    pub file: Arc<str>,
    /// What `number` counts.
    pub unit: PlaceUnit,
    /// Line (from 1) or byte (from 0).
    pub number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            PlaceUnit::Line => write!(f, "{}:{}", self.file, self.number),
            PlaceUnit::Byte => write!(f, "{}@{}", self.file, self.number),
        }
    }
}

/// The places of all operations of a history, in file order until [`crate::Columns::finish`] sorts
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Places {
    /// The history does not come from a file.
    #[default]
    None,
    /// Operation i of the file stands in line `first + i`: the common text file, at no cost.
    Consecutive {
        /// The line of the first operation.
        first: u64,
    },
    /// One number for each operation.
    Each(Vec<u32>),
}
