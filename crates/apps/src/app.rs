//! What an application is to the code that runs it.

use crate::db::{Db, DbError};
use crate::value::Value;
use crate::workload::Workload;

/// An application with its clients and what must hold of it under serializability.
pub trait App: Sync {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;
    /// What its assertion says, in one line.
    fn assertion(&self) -> &'static str;
    /// The initial content of the database.
    fn load(&self) -> Vec<(String, Value)>;
    /// How many clients there are.
    fn clients(&self) -> usize;
    /// What client number `client` does; it tells `see` what its user gets to see.
    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError>;
    /// What decides how much its clients do and with which parameters, if that is not fixed.
    fn workload(&self) -> Option<Workload> {
        None
    }
    /// Whether the assertion holds, by what the users saw and what is in the database at the end;
    /// otherwise why not.
    fn verify(&self, seen: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError>;
}
