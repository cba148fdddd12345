//! What a session keeps between statements, as pg_prepared_statements and pg_cursors list it.

use crate::types::Oid;

/// A prepared statement.
#[derive(Clone, Debug)]
pub struct ListedStatement {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// When it was prepared.
    pub at: i64,
    /// The types of its parameters.
    pub params: Vec<Oid>,
    /// Whether it was prepared by PREPARE.
    pub from_sql: bool,
}

/// A cursor.
#[derive(Clone, Debug)]
pub struct ListedCursor {
    /// Its name.
    pub name: String,
    /// The statement that declared it.
    pub text: String,
    /// When that was.
    pub at: i64,
    /// Whether it outlives its transaction.
    pub hold: bool,
    /// Whether its rows are sent in binary.
    pub binary: bool,
    /// Whether it goes backwards.
    pub scroll: bool,
}

/// All of them.
#[derive(Clone, Default, Debug)]
pub struct Listed {
    /// Statements.
    pub statements: Vec<ListedStatement>,
    /// Cursors.
    pub cursors: Vec<ListedCursor>,
}
