//! What is asked of a database, one file a database.
//!
//! A database has registers, which hold numbers and are there from the beginning, and rows, which
//! are not there until they are inserted. All of it is in tables of the audit's own, with a name
//! that nothing else has, and gone afterwards.

mod mysql;
mod postgres;

pub use self::mysql::MySql;
pub use self::postgres::Postgres;

use crate::setting::Setting;
use seriatim_isolation::Level;

/// A database.
pub trait Driver: Sync {
    /// What it is, with its version: "PostgreSQL 15.20".
    fn product(&self) -> String;

    /// The isolation levels that it can be asked for, weakest first.
    fn settings(&self) -> Vec<Setting>;

    /// What it promises at a setting.
    fn promise(&self, setting: Setting) -> Level;

    /// Makes registers with these numbers, which hold 0, and a table of rows.
    fn set_up(&self, registers: std::ops::Range<u64>) -> Result<(), DriverError>;

    /// Takes away all that it made.
    fn clean_up(&self) -> Result<(), DriverError>;

    /// A connection.
    fn connect(&self) -> Result<Box<dyn Client>, DriverError>;
}

/// A statement that was sent, for explanations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Its text, with its values.
    pub text: String,
    /// The rows that it returned; `None` if it returns none.
    pub rows: Option<Vec<Vec<Option<String>>>>,
}

/// A connection. Errors end its transaction.
pub trait Client: Send {
    /// Begins a transaction.
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError>;

    /// What a register holds.
    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError>;

    /// Makes a register hold something else.
    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError>;

    /// The rows of a part of the table, with what they hold.
    fn scan(&mut self, part: u64) -> Result<(Vec<(u64, i64)>, Sent), DriverError>;

    /// Inserts a row into a part of the table.
    fn insert(&mut self, part: u64, row: u64, value: i64) -> Result<Sent, DriverError>;

    /// Ends the transaction. After an error that says nothing of the outcome it is unknown.
    fn commit(&mut self) -> Result<(), DriverError>;

    /// Takes the transaction back.
    fn rollback(&mut self) -> Result<(), DriverError>;
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
}
