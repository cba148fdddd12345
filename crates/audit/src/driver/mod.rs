//! What is asked of a database, one file a database.
//!
//! A database has *registers*, which hold numbers and are there from the beginning, and perhaps
//! *lists*, to which numbers are appended, and *rows*, which are not there until they are inserted.
//! All of it is in tables (or under keys) of the audit's own, with a name that nothing else has,
//! and gone afterwards.

mod duckdb;
mod duckdb_library;
mod mysql;
mod nodes;
mod postgres;
mod redis;
mod sql;
mod sqlite;
mod tls;

pub use self::duckdb::DuckDb;
pub use self::mysql::MySql;
pub use self::nodes::{Nodes, Role};
pub use self::postgres::Postgres;
pub use self::redis::Redis;
pub(crate) use self::sql::numbers;
pub use self::sql::{Answer, Dialect, Speaker, SqlClient, SqlDriver};
pub use self::sqlite::Sqlite;

use crate::setting::Setting;
use crate::workload::Workload;
use seriatim_isolation::Level;
use std::error::Error;
use std::io;
use std::ops::Range;
use std::time::Duration;

/// A database. A database of one's own needs [`Driver::product`], [`Driver::settings`],
/// [`Driver::promise`], [`Driver::make`] and [`Driver::connect`].
pub trait Driver: Sync {
    /// What it is, with its version: "PostgreSQL 15.20".
    fn product(&self) -> String;

    /// The isolation levels that it can be asked for, weakest first.
    fn settings(&self) -> Vec<Setting>;

    /// What the database calls a setting.
    fn setting_name(&self, setting: Setting) -> String {
        setting.to_string()
    }

    /// What it promises at a setting.
    fn promise(&self, setting: Setting) -> Level;

    /// Whether it can do what a workload asks for. Registers are what every database has.
    fn can(&self, workload: Workload) -> bool {
        workload.needs_registers_only()
    }

    /// Makes the tables, before anything else. If it cannot, it leaves nothing of them behind.
    fn set_up(&self) -> Result<(), DriverError> {
        Ok(())
    }

    /// Makes registers with these numbers, which hold 0, and lists, which are empty. When it
    /// returns, every session sees them, if there is one node only.
    fn make(&self, registers: Range<u64>) -> Result<(), DriverError>;

    /// Whether sessions on every node see a register that was made. It is asked again for a while.
    fn has_arrived(&self, register: u64) -> Result<bool, DriverError> {
        let _ = register;
        Ok(true)
    }

    /// Takes registers, lists and rows away that are not used any more.
    fn retire(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let _ = registers;
        Ok(())
    }

    /// Takes away all that it made.
    fn clean_up(&self) -> Result<(), DriverError> {
        Ok(())
    }

    /// A connection for the session of this number.
    fn connect(&self, session: u32) -> Result<Box<dyn Client>, DriverError>;

    /// The node that a session is connected to, from 0; `None` if there is one only.
    fn node(&self, session: u32) -> Option<usize> {
        let _ = session;
        None
    }

    /// What a session may do.
    fn role(&self, session: u32) -> Role {
        let _ = session;
        Role::All
    }

    /// A connection that takes any statement, for scripts. Databases without SQL have none.
    fn speak(&self, session: u32) -> Result<Box<dyn Speaker>, DriverError> {
        let _ = session;
        Err(DriverError::unable("statements of SQL"))
    }

    /// The name that tables of the audit begin with.
    fn prefix(&self) -> &str {
        ""
    }
}

/// What is said of a server that says nothing.
fn silent(time: Duration) -> String {
    format!("no answer within {} s", time.as_secs())
}

/// Whether an error is a wait that took too long: systems call it by other names.
fn is_silence(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        }
        next = error.source();
    }
    false
}

/// A statement that was sent, for explanations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Its text, with its values.
    pub text: String,
    /// The rows that it returned; `None` if it returns none.
    pub rows: Option<Vec<Vec<Option<String>>>>,
}

/// A connection. Errors end its transaction. What a database cannot do (see [`Driver::can`]) has a
/// method that says so.
pub trait Client: Send {
    /// Begins a transaction.
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError>;

    /// What a register holds.
    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError>;

    /// Makes a register hold something else.
    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError>;

    /// Ends the transaction. After an error that says nothing of the outcome it is unknown.
    fn commit(&mut self) -> Result<(), DriverError>;

    /// Takes the transaction back.
    fn rollback(&mut self) -> Result<(), DriverError>;

    /// Adds one to a register without looking at it; what it holds then.
    fn add(&mut self, register: u64) -> Result<(i64, Vec<Sent>), DriverError> {
        let _ = register;
        Err(DriverError::unable("counters"))
    }

    /// What a list holds; none if it is not there.
    fn read_list(&mut self, list: u64) -> Result<(Option<Vec<i64>>, Sent), DriverError> {
        let _ = list;
        Err(DriverError::unable("lists"))
    }

    /// Appends to a list.
    fn append(&mut self, list: u64, value: i64) -> Result<Sent, DriverError> {
        let _ = (list, value);
        Err(DriverError::unable("lists"))
    }

    /// The rows of a part of the table, with what they hold.
    fn scan(&mut self, part: u64) -> Result<(Vec<(u64, i64)>, Sent), DriverError> {
        let _ = part;
        Err(DriverError::unable("rows"))
    }

    /// Inserts a row into a part of the table.
    fn insert(&mut self, part: u64, row: u64, value: i64) -> Result<Sent, DriverError> {
        let _ = (part, row, value);
        Err(DriverError::unable("rows"))
    }

    /// Deletes a row of a part of the table; whether it was there.
    fn delete(&mut self, part: u64, row: u64) -> Result<(bool, Sent), DriverError> {
        let _ = (part, row);
        Err(DriverError::unable("rows"))
    }

    /// Sends a statement of the user's.
    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        let _ = text;
        Err(DriverError::unable("statements of SQL"))
    }
}

/// Why a database did not do as told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// It refused a transaction, as databases do; the transaction has no effect.
    #[error("the database refused a transaction: {0}")]
    Refused(String),
    /// The connection is gone.
    #[error("the connection is lost: {0}")]
    Lost(String),
    /// It cannot be reached at all.
    #[error("cannot connect to {0}: {1}")]
    Connect(String, String),
    /// It says something else.
    #[error("the database says: {0}")]
    Other(String),
    /// It has no such thing.
    #[error("this database has no {0}")]
    Unable(String),
}

impl DriverError {
    /// The error of a database that has no `what`.
    pub fn unable(what: &str) -> DriverError {
        DriverError::Unable(what.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("codec")]
    struct Wrapped(#[source] io::Error);

    #[test]
    fn a_wait_that_took_too_long_is_told_from_other_errors() {
        for (kind, expected) in [
            (io::ErrorKind::WouldBlock, true),
            (io::ErrorKind::TimedOut, true),
            (io::ErrorKind::ConnectionReset, false),
        ] {
            assert_eq!(is_silence(&io::Error::from(kind)), expected, "{kind}");
            assert_eq!(is_silence(&Wrapped(io::Error::from(kind))), expected, "{kind}");
        }
        assert!(!is_silence(&DriverError::unable("lists")));
    }
}
