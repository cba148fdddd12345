//! Tables on a key-value database, at cell granularity as MonkeyDB maps SQL: one key for each cell, and one for each row that says
//! whether the row exists.
//!
//! A query by primary key reads one row. Any other query reads whether each row of the table exists, then the cells of the condition in
//! each row that does, then what is selected from those that match. A key-value database has no list of rows, so whoever
//! queries says which rows there can be.

use crate::db::{Db, DbError};
use crate::value::Value;

/// A table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table(pub &'static str);

/// Cells of a row: column and content.
pub(crate) type Cells<'c> = &'c [(&'c str, Value)];

impl Table {
    fn row(self, key: &str) -> String {
        format!("{}/{key}", self.0)
    }

    fn cell(self, key: &str, column: &str) -> String {
        format!("{}/{key}/{column}", self.0)
    }

    /// A row that is there from the beginning.
    pub fn load(self, key: &str, cells: Cells<'_>) -> Vec<(String, Value)> {
        let row = (self.row(key), Value::Int(1));
        let cells = cells.iter().map(|(column, value)| (self.cell(key, column), value.clone()));
        std::iter::once(row).chain(cells).collect()
    }

    pub fn exists(self, db: &mut dyn Db, key: &str) -> Result<bool, DbError> {
        Ok(db.read(&self.row(key))? != Value::Null)
    }

    pub fn get(self, db: &mut dyn Db, key: &str, column: &str) -> Result<Value, DbError> {
        db.read(&self.cell(key, column))
    }

    /// A number; nothing counts as 0.
    pub fn int(self, db: &mut dyn Db, key: &str, column: &str) -> Result<i64, DbError> {
        Ok(self.get(db, key, column)?.number())
    }

    /// Reads several cells of a row whose content nobody needs.
    pub fn look_at(self, db: &mut dyn Db, key: &str, columns: &[&str]) -> Result<(), DbError> {
        for column in columns {
            self.get(db, key, column)?;
        }
        Ok(())
    }

    pub fn set(self, db: &mut dyn Db, key: &str, column: &str, value: impl Into<Value>) -> Result<(), DbError> {
        db.write(&self.cell(key, column), value.into())
    }

    pub fn insert(self, db: &mut dyn Db, key: &str, cells: Cells<'_>) -> Result<(), DbError> {
        db.write(&self.row(key), Value::Int(1))?;
        for (column, value) in cells {
            self.set(db, key, column, value.clone())?;
        }
        Ok(())
    }

    pub fn delete(self, db: &mut dyn Db, key: &str) -> Result<(), DbError> {
        db.write(&self.row(key), Value::Null)
    }

    /// Those of `rows` that exist.
    pub fn rows(self, db: &mut dyn Db, rows: impl IntoIterator<Item = String>) -> Result<Vec<String>, DbError> {
        let mut found = Vec::new();
        for key in rows {
            if self.exists(db, &key)? {
                found.push(key);
            }
        }
        Ok(found)
    }

    /// Those of `rows` that exist and have `value` in `column`.
    pub fn select(
        self,
        db: &mut dyn Db,
        rows: impl IntoIterator<Item = String>,
        column: &str,
        value: &Value,
    ) -> Result<Vec<String>, DbError> {
        let mut found = Vec::new();
        for key in self.rows(db, rows)? {
            if self.get(db, &key, column)? == *value {
                found.push(key);
            }
        }
        Ok(found)
    }
}
