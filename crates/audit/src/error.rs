//! Why a database could not be audited.

use crate::driver::DriverError;
use std::io;

/// Why a database could not be audited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The database does not do as told.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// There is no driver for this.
    #[error(
        "`{0}` is no database that can be audited; use postgres://user@host:port/database, \
         mysql://user@host:port/database, redis://host:port, sqlite:FILE or duckdb:FILE"
    )]
    Url(String),
    /// Nothing can be written anywhere.
    #[error("sessions only read at `read=URL`; give the address of a node that is written to, too")]
    NoWriter,
    /// It has no such isolation level.
    #[error("{product} has no {setting}")]
    Setting {
        /// The database.
        product: String,
        /// What was asked for.
        setting: String,
    },
    /// It cannot do what a workload asks for.
    #[error("{product} cannot do what the workload {workload} asks for")]
    Workload {
        /// The database.
        product: String,
        /// The workload.
        workload: &'static str,
    },
    /// Its sizes make no sense.
    #[error("{0}")]
    Shape(String),
    /// The file is no recording of an audit.
    #[error("no recording of an audit; `seriatim check` reads other histories")]
    NoRecording,
    /// A server cannot be started.
    #[error("{0}")]
    Server(String),
    /// The recording cannot be begun.
    #[error("{0} cannot be written: {1}")]
    Unwritable(String, String),
    /// A recording cannot be read.
    #[error("{0}")]
    Record(#[from] io::Error),
    /// The recording cannot be read again: a mistake of ours.
    #[error("the recording cannot be read: {0}")]
    Read(String),
    /// A line of a recording is none.
    #[error("line {line} of the recording: {problem}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}
