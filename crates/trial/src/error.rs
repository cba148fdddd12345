//! Why a command could not be tried.

use crate::command::Ended;
use std::io;

/// Why a command could not be tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// It cannot be started.
    #[error("cannot start `{command}`: {source}; is it installed, and is its name right?")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// The set-up failed.
    #[error("the set-up `{command}` {}:\n{output}", how(*.ended))]
    SetUp {
        /// The command.
        command: String,
        /// How it ended.
        ended: Ended,
        /// The end of what it wrote.
        output: String,
    },
    /// It fails on a database that does nothing wrong.
    #[error(
        "`{command}` {failure} on a serializable database, where nothing is weak; {}",
        wrote(.output)
    )]
    FailsAnyway {
        /// The command.
        command: String,
        /// How.
        failure: String,
        /// The end of what it wrote.
        output: String,
    },
    /// Its copies fail together on a database that does nothing wrong, and not one by one.
    #[error(
        "the copies of `{command}` fail together ({failure}) even on a serializable database, and \
         not one after the other. If they share nothing but the database, what one of them reads \
         and what it then writes are in different transactions, which no isolation level keeps \
         together: put them into one transaction, or let one statement do both; {}",
        wrote(.output)
    )]
    FailsTogether {
        /// The command.
        command: String,
        /// How it, or the check, failed.
        failure: String,
        /// The end of what was written.
        output: String,
    },
    /// Nobody connected.
    #[error(
        "`{command}` never connected to the database; it is told where it is by DATABASE_URL and \
         by PGHOST, PGPORT, PGUSER and PGDATABASE (for clients of MySQL: MYSQL_HOST, \
         MYSQL_TCP_PORT, MYSQL_USER, MYSQL_PASSWORD and MYSQL_DATABASE): use one of these in its \
         configuration"
    )]
    NeverConnected {
        /// The command.
        command: String,
    },
    /// The prediction cannot be run.
    #[error(transparent)]
    Plan(#[from] seriatim_runs::PlanError),
    /// The server cannot run.
    #[error(transparent)]
    Serve(#[from] seriatim_server::ServeError),
    /// The store cannot work like that.
    #[error(transparent)]
    Store(#[from] seriatim_store::StoreError),
    /// The state of the set-up cannot be kept.
    #[error("cannot keep the state that the set-up left: {0}")]
    State(String),
    /// The system gives us no threads or processes.
    #[error("{0}")]
    System(#[from] io::Error),
    /// Somebody asked for an end.
    #[error("interrupted")]
    Interrupted,
}

impl TrialError {
    /// Whether somebody asked for an end.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, TrialError::Interrupted)
    }
}

/// The end of what a command wrote, as a clause.
fn wrote(output: &str) -> String {
    if output.is_empty() {
        return "it wrote nothing".to_owned();
    }
    format!("what it wrote last:\n{output}")
}

/// How a command ended, as a clause.
pub fn how(ended: Ended) -> String {
    match ended {
        Ended::Code(code) => format!("failed with exit code {code}"),
        Ended::Signal(signal) => format!("was ended by signal {signal}"),
        Ended::Late => "did not end in time (see --timeout)".to_owned(),
        Ended::Interrupted => "was interrupted".to_owned(),
    }
}
