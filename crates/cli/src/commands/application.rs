//! What `fuzz`, `observe` and `replay` have to know about a command of the user.

use super::serve_sql::{Like, Locks};
use crate::exit::Failure;
use crate::interrupt;
use crate::quantities::{count, duration};
use seriatim_trial::{Application, Command, Protocol, TrialError};
use std::ffi::OsString;
use std::time::Duration;

/// The flags that a command of the user needs.
#[derive(clap::Args, Debug)]
pub struct ApplicationArgs {
    /// A command that runs once, before everything else; what it leaves in the database is there
    /// in every run
    #[arg(long, value_name = "CMD", requires = "command")]
    setup: Option<String>,
    /// How many copies of the command run at once, instead of one
    #[arg(
        long,
        value_name = "N",
        requires = "command",
        value_parser = count::<u32>(1000, "--clients 3")
    )]
    clients: Option<u32>,
    /// A command that runs after all clients and reads the latest values; if it fails, the run
    /// has failed
    #[arg(long, value_name = "CMD", requires = "command")]
    check: Option<String>,
    /// A run has failed if a line that the command writes has this in it, and not by its exit code;
    /// --check fails by its own all the same
    #[arg(long, value_name = "TEXT", requires = "command")]
    expect: Option<String>,
    /// How long a command may take; one that takes longer has failed [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "command")]
    timeout: Option<Duration>,
    /// Whose URL DATABASE_URL is, if that is not clear from other flags; clients of both find
    /// their server by the other variables [default: postgres]
    #[arg(long, value_enum, value_name = "SERVER", requires = "command")]
    speaks: Option<Like>,
    /// Whether statements lock rows and tables, as in every database, or not, as in the paper about
    /// MonkeyDB [default: on]
    #[arg(long, value_enum, value_name = "WHETHER", requires = "command")]
    locks: Option<Locks>,
    /// `innodb_snapshot_isolation` is ON for all sessions of MySQL, as from MariaDB 11.6 on: at
    /// REPEATABLE READ a row that has changed since the snapshot is error 1020
    #[arg(long, requires = "command")]
    innodb_snapshot_isolation: bool,
    /// A command of your own and its arguments, behind `--`
    #[arg(last = true, value_name = "CMD", conflicts_with = "app")]
    command: Vec<OsString>,
}

impl ApplicationArgs {
    /// Whether there is a command.
    pub fn is_given(&self) -> bool {
        !self.command.is_empty()
    }

    /// The command, as it is told.
    pub fn text(&self) -> String {
        Command::Program(self.command.clone()).text()
    }

    /// Whether statements are to lock nothing.
    pub fn is_without_locks(&self) -> bool {
        self.locks == Some(Locks::Off)
    }

    /// Whether there is a flag that only clients of MySQL have, and something else is said.
    pub fn contradicts(&self, like: Option<Like>) -> Option<&'static str> {
        let says_postgres = [like, self.speaks].contains(&Some(Like::Postgres));
        (self.innodb_snapshot_isolation && says_postgres).then_some(
            "--innodb-snapshot-isolation needs a server of MySQL: --like mysql or --speaks mysql",
        )
    }

    /// What is to be run. What was not said may be known from an earlier run.
    pub fn application(&self, known: &Known) -> Application {
        let line = |given: &Option<String>, known: &Option<String>| {
            given.clone().or_else(|| known.clone()).map(Command::Line)
        };
        Application {
            set_up: line(&self.setup, &known.setup),
            command: Command::Program(self.command.clone()),
            clients: self.clients.or(known.clients).unwrap_or(1),
            one_by_one: false,
            check: line(&self.check, &known.check),
            expect: self.expect.clone().or_else(|| known.expect.clone()),
            limit: self.timeout.or(known.timeout).unwrap_or(TIMEOUT),
            protocol: match self.speaks {
                Some(Like::Postgres) => Protocol::Postgres,
                Some(Like::Mysql) => Protocol::Mysql,
                None => known.protocol.unwrap_or_default(),
            },
            uses_locks: match self.locks {
                Some(locks) => locks == Locks::On,
                None => !known.without_locks,
            },
            forces_level: known.forced_level,
            innodb_snapshot_isolation: self.innodb_snapshot_isolation
                || known.innodb_snapshot_isolation,
        }
    }
}

/// How long a command may take if nothing is said.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is known of an application from an earlier run.
#[derive(Default)]
pub struct Known {
    pub setup: Option<String>,
    pub clients: Option<u32>,
    pub check: Option<String>,
    pub expect: Option<String>,
    pub timeout: Option<Duration>,
    pub protocol: Option<Protocol>,
    pub without_locks: bool,
    pub forced_level: bool,
    pub innodb_snapshot_isolation: bool,
}

/// An error of a trial, as an end of the program.
pub fn told(error: TrialError) -> Failure {
    if let (TrialError::Interrupted, Some(signal)) = (&error, interrupt::asked()) {
        interrupt::end(signal);
    }
    Failure::Message(error.to_string())
}
