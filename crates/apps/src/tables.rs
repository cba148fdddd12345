//! Tables on a key-value database.
//!
//! A query by primary key reads one row. Any other query reads which rows exist, then the
//! condition's columns of each row that does, then what is selected from those that match. A
//! key-value database has no list of rows, so the caller of a query says which rows there can be.
//! The [`Layout`] says which keys all that is.

use crate::db::{Db, DbError};
use crate::layout::{Layout, cell, with_cell};
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

    /// A row that is there from the beginning, as cells.
    pub fn load(self, key: &str, cells: Cells<'_>) -> Vec<(String, Value)> {
        let row = (self.row(key), Value::Int(1));
        let cells = cells.iter().map(|(column, value)| (self.cell(key, column), value.clone()));
        std::iter::once(row).chain(cells).collect()
    }

    pub fn exists(self, db: &mut dyn Db, key: &str) -> Result<bool, DbError> {
        match db.layout() {
            Layout::Cells => Ok(db.read(&self.row(key))? != Value::Null),
            Layout::Rows => Ok(db.read(self.0)?.has_text(key)),
        }
    }

    /// Several cells of a row.
    pub fn columns<const N: usize>(
        self,
        db: &mut dyn Db,
        key: &str,
        columns: [&str; N],
    ) -> Result<[Value; N], DbError> {
        let mut values = [const { Value::Null }; N];
        let row = match db.layout() {
            Layout::Cells => None,
            Layout::Rows => Some(db.read(&self.row(key))?),
        };
        for (value, column) in values.iter_mut().zip(columns) {
            *value = match &row {
                None => db.read(&self.cell(key, column))?,
                Some(row) => cell(row, column),
            };
        }
        Ok(values)
    }

    pub fn get(self, db: &mut dyn Db, key: &str, column: &str) -> Result<Value, DbError> {
        self.columns(db, key, [column]).map(|[value]| value)
    }

    /// A number; nothing counts as 0.
    pub fn int(self, db: &mut dyn Db, key: &str, column: &str) -> Result<i64, DbError> {
        Ok(self.get(db, key, column)?.number())
    }

    /// Reads several cells of a row whose content the caller does not need.
    pub fn look_at<const N: usize>(
        self,
        db: &mut dyn Db,
        key: &str,
        columns: [&str; N],
    ) -> Result<(), DbError> {
        self.columns(db, key, columns).map(|_| ())
    }

    pub fn set(
        self,
        db: &mut dyn Db,
        key: &str,
        column: &str,
        value: impl Into<Value>,
    ) -> Result<(), DbError> {
        self.update(db, key, &[(column, value.into())])
    }

    /// Sets several cells of a row.
    pub fn update(self, db: &mut dyn Db, key: &str, cells: Cells<'_>) -> Result<(), DbError> {
        match db.layout() {
            Layout::Cells => cells
                .iter()
                .try_for_each(|(column, value)| db.write(&self.cell(key, column), value.clone())),
            Layout::Rows => {
                let row = db.read(&self.row(key))?;
                let set = |row: Value, (column, value): &(&str, Value)| {
                    with_cell(&row, column, value.clone())
                };
                db.write(&self.row(key), cells.iter().fold(row, set))
            }
        }
    }

    pub fn insert(self, db: &mut dyn Db, key: &str, cells: Cells<'_>) -> Result<(), DbError> {
        match db.layout() {
            Layout::Cells => {
                db.write(&self.row(key), Value::Int(1))?;
                self.update(db, key, cells)
            }
            Layout::Rows => {
                let rows = db.read(self.0)?.with_new(key.into());
                db.write(self.0, rows)?;
                let row = cells
                    .iter()
                    .flat_map(|(column, value)| [(*column).into(), value.clone()])
                    .collect();
                db.write(&self.row(key), row)
            }
        }
    }

    pub fn delete(self, db: &mut dyn Db, key: &str) -> Result<(), DbError> {
        match db.layout() {
            Layout::Cells => db.write(&self.row(key), Value::Null),
            Layout::Rows => {
                let rows = db.read(self.0)?.without(&key.into());
                db.write(self.0, rows)
            }
        }
    }

    /// Does something with each of `rows` that exists.
    pub fn each(
        self,
        db: &mut dyn Db,
        rows: impl IntoIterator<Item = String>,
        mut body: impl FnMut(&mut dyn Db, String) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let all = match db.layout() {
            Layout::Cells => None,
            Layout::Rows => Some(db.read(self.0)?),
        };
        for key in rows {
            let exists = match &all {
                None => self.exists(db, &key)?,
                Some(all) => all.has_text(&key),
            };
            if exists {
                body(db, key)?;
            }
        }
        Ok(())
    }

    /// Those of `rows` that exist.
    pub fn rows(
        self,
        db: &mut dyn Db,
        rows: impl IntoIterator<Item = String>,
    ) -> Result<Vec<String>, DbError> {
        let mut found = Vec::new();
        self.each(db, rows, |_, key| {
            found.push(key);
            Ok(())
        })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmarks::{BENCHMARKS, benchmark};
    use crate::workload::Workload;
    use std::collections::HashMap;

    /// A database for one client at a time.
    struct Map {
        layout: Layout,
        values: HashMap<String, Value>,
        /// What they were when the transaction began.
        before: HashMap<String, Value>,
    }

    impl Map {
        fn new(layout: Layout, cells: Vec<(String, Value)>) -> Map {
            Map {
                layout,
                values: layout.arrange(cells).into_iter().collect(),
                before: HashMap::new(),
            }
        }
    }

    impl Db for Map {
        fn begin(&mut self) -> Result<(), DbError> {
            self.before = self.values.clone();
            Ok(())
        }

        fn read(&mut self, key: &str) -> Result<Value, DbError> {
            Ok(self.values.get(key).cloned().unwrap_or_default())
        }

        fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
            self.values.insert(key.to_owned(), value);
            Ok(())
        }

        fn commit(&mut self) -> Result<(), DbError> {
            Ok(())
        }

        fn abort(&mut self) {
            self.values = self.before.clone();
        }

        fn withdraw(&mut self) -> Result<(), DbError> {
            self.abort();
            Ok(())
        }

        fn layout(&self) -> Layout {
            self.layout
        }
    }

    /// What the users of an application see when they come one after the other, and whether its
    /// assertion holds.
    fn seen(name: &str, seed: u64, layout: Layout) -> (Vec<Vec<Value>>, Result<(), String>) {
        let app = benchmark(name, Workload::large(seed)).unwrap();
        let mut db = Map::new(layout, app.load());
        let client = |client| {
            let mut seen = Vec::new();
            app.run(client, &mut db, &mut |value| seen.push(value)).unwrap();
            seen
        };
        let seen: Vec<Vec<Value>> = (0..app.clients()).map(client).collect();
        let verdict = app.verify(&seen, &mut db).unwrap();
        (seen, verdict)
    }

    #[test]
    fn applications_do_the_same_whatever_the_keys_of_their_tables() {
        for name in BENCHMARKS {
            for seed in 0..5 {
                let cells = seen(name, seed, Layout::Cells);
                assert_eq!(cells.1, Ok(()), "{name} with seed {seed}");
                assert_eq!(cells, seen(name, seed, Layout::Rows), "{name} with seed {seed}");
            }
        }
    }

    #[test]
    fn rows_are_a_set_and_a_key_each() {
        let table = Table("t");
        let cells = [table.load("1", &[("a", Value::Int(5))]), table.load("2", &[])].concat();
        let mut db = Map::new(Layout::Rows, cells);
        table.update(&mut db, "1", &[("a", Value::Int(6)), ("b", Value::Int(7))]).unwrap();
        table.insert(&mut db, "3", &[("a", Value::Int(8))]).unwrap();
        table.delete(&mut db, "2").unwrap();
        let all = ["1", "2", "3"].map(str::to_owned);
        assert_eq!(table.rows(&mut db, all.clone()).unwrap(), ["1", "3"]);
        assert_eq!(table.select(&mut db, all, "a", &Value::Int(8)).unwrap(), ["3"]);
        assert_eq!(
            table.columns(&mut db, "1", ["b", "a", "c"]).unwrap(),
            [Value::Int(7), Value::Int(6), Value::Null]
        );
        let mut keys: Vec<_> = db.values.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["t", "t/1", "t/3"]);
    }
}
