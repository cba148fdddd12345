//! The database as the applications see it: a client's connection with transactions of reads and
//! writes of cells.

use crate::layout::Layout;
use crate::value::Value;
use seriatim_store::{Session, StoreError, Turn, Txn};
use std::fmt;

/// Why an operation on the database failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DbError {
    /// The database aborted the transaction; it may be tried again.
    #[error("serialization failure")]
    SerializationFailure,
    /// The connection is closed because the run ends here: give up.
    #[error("the run ends here")]
    Closed,
    /// Anything else: give up.
    #[error("{0}")]
    Failed(String),
}

/// A client's connection.
pub trait Db {
    /// Begins a transaction.
    fn begin(&mut self) -> Result<(), DbError>;
    /// What a cell holds.
    fn read(&mut self, key: &str) -> Result<Value, DbError>;
    /// Sets what a cell holds.
    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError>;
    /// Ends the transaction.
    fn commit(&mut self) -> Result<(), DbError>;
    /// Takes a transaction back that failed.
    fn abort(&mut self);
    /// Takes the transaction back because the application wants it so. The client knows what it has
    /// read, so that this obeys the level like what others read; a database where it cannot any
    /// more may say so.
    fn withdraw(&mut self) -> Result<(), DbError>;
    /// Which keys its tables have.
    fn layout(&self) -> Layout {
        Layout::Cells
    }
}

/// How often a transaction is tried.
const ATTEMPTS: usize = 100;

/// Runs `body` as one transaction, again if the database aborts it. A body that returns `None` is
/// taken back.
pub fn transact<T>(
    db: &mut dyn Db,
    mut body: impl FnMut(&mut dyn Db) -> Result<Option<T>, DbError>,
) -> Result<Option<T>, DbError> {
    for _ in 0..ATTEMPTS {
        db.begin()?;
        match attempt(db, &mut body) {
            Err(DbError::SerializationFailure) => db.abort(),
            other => return other,
        }
    }
    Err(DbError::Failed(format!("a transaction failed {ATTEMPTS} times")))
}

fn attempt<T>(
    db: &mut dyn Db,
    body: &mut impl FnMut(&mut dyn Db) -> Result<Option<T>, DbError>,
) -> Result<Option<T>, DbError> {
    let result = body(db)?;
    if result.is_none() {
        db.withdraw()?;
        return Ok(None);
    }
    db.commit()?;
    Ok(result)
}

/// What a client does for its user.
pub(crate) trait Operation: Send + Sync {
    /// Does it; what the user sees.
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError>;
}

/// An operation that is one transaction.
pub(crate) trait Transaction: Send + Sync + fmt::Display {
    /// What it does inside of the transaction, and what that leaves; `None` takes it back.
    fn body(&self, db: &mut dyn Db) -> Result<Option<Value>, DbError>;
    /// What the user sees of what the body left.
    fn answer(&self, left: Option<Value>) -> Value;
}

impl<T: Transaction> Operation for T {
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError> {
        Ok(self.answer(transact(db, |db| self.body(db))?))
    }
}

/// A session of the mock store as a connection.
#[derive(Debug)]
pub struct StoreDb {
    session: Session<Value>,
    txn: Option<Txn<Value>>,
    turn: Option<Turn>,
    /// Whether other clients may go on in the middle of a transaction.
    interleaved: bool,
}

impl StoreDb {
    /// A connection that no other client interrupts.
    pub fn new(session: Session<Value>) -> StoreDb {
        StoreDb { session, txn: None, turn: None, interleaved: false }
    }

    /// A connection that waits for its turn before each transaction and, if `interleaved`, before
    /// each read and commit.
    pub fn with_turn(session: Session<Value>, turn: Turn, interleaved: bool) -> StoreDb {
        StoreDb { session, txn: None, turn: Some(turn), interleaved }
    }

    fn pause(&self) {
        if let Some(turn) = self.turn.as_ref().filter(|_| self.interleaved) {
            turn.next();
        }
    }

    fn open(&mut self) -> Result<&mut Txn<Value>, DbError> {
        self.txn.as_mut().ok_or_else(|| DbError::Failed("no transaction is open".to_owned()))
    }
}

fn as_db_error(error: StoreError) -> DbError {
    match error {
        StoreError::SerializationFailure(_) | StoreError::ConcurrentUpdate => {
            DbError::SerializationFailure
        }
        other => DbError::Failed(other.to_string()),
    }
}

impl Db for StoreDb {
    fn begin(&mut self) -> Result<(), DbError> {
        if let Some(turn) = &self.turn {
            turn.next();
        }
        self.txn = Some(self.session.begin().map_err(as_db_error)?);
        Ok(())
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        self.pause();
        let value = self.open()?.read(key).map_err(as_db_error)?;
        Ok(value.unwrap_or(Value::Null))
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        self.open()?.write(key, value).map_err(as_db_error)
    }

    fn commit(&mut self) -> Result<(), DbError> {
        self.pause();
        let txn =
            self.txn.take().ok_or_else(|| DbError::Failed("no transaction is open".to_owned()))?;
        txn.commit().map_err(as_db_error)
    }

    fn abort(&mut self) {
        self.txn = None;
    }

    fn withdraw(&mut self) -> Result<(), DbError> {
        self.pause();
        let txn =
            self.txn.take().ok_or_else(|| DbError::Failed("no transaction is open".to_owned()))?;
        txn.withdraw().map_err(as_db_error)
    }
}
