//! Rows that are written anew, into another heap: when a column gets another type, or a table
//! another identity of its rows. They become the initial state of that heap.

use super::keys::key;
use super::{Exec, Row};
use crate::catalog::Table;
use crate::cells::RowNo;
use crate::error::{Result, SqlError, code};
use crate::types::HashKey;
use std::sync::Arc;

impl Exec<'_> {
    /// All rows that exist now, with a value for each column ever.
    pub fn all_rows(&mut self, table: &Arc<Table>) -> Result<Vec<Row>> {
        let heap = self.database().heap(table.heap)?;
        let count = heap.rows().count();
        let mut rows = Vec::new();
        for number in (0..count).map(RowNo) {
            self.tick()?;
            if self.exists_now(&heap, number) {
                let columns = 1..=table.columns.len() as u16;
                rows.push(columns.map(|it| self.current(&heap, table, number, it)).collect());
            }
        }
        Ok(rows)
    }

    /// Whether a table has rows now.
    pub fn has_rows(&mut self, table: &Arc<Table>) -> Result<bool> {
        let heap = self.database().heap(table.heap)?;
        let count = heap.rows().count();
        Ok((0..count).map(RowNo).any(|number| self.exists_now(&heap, number)))
    }

    /// Puts rows into the heap of a table, which is new, as its initial state.
    pub fn load(&mut self, table: &Arc<Table>, rows: Vec<Row>) -> Result<()> {
        let heap = self.database().heap(table.heap)?;
        for values in rows {
            self.tick()?;
            let Some((columns, index)) = table.primary_key() else {
                heap.rows_mut().load(None, None, values);
                continue;
            };
            let keys: Vec<HashKey> = columns
                .iter()
                .map(|&column| key(&values[column as usize - 1], table.column(column).ty))
                .collect();
            if let Some(&column) =
                columns.iter().find(|&&column| values[column as usize - 1].is_null())
            {
                return Err(contains_null(table, &table.column(column).name));
            }
            let name = super::modify::key_name(self.env, table, &keys);
            let shown = name.to_string();
            if heap.rows_mut().load(Some(keys.into()), Some(name), values).is_none() {
                let catalog = &self.env.catalog;
                let index = catalog.index(index).map(|it| it.name.to_string()).unwrap_or_default();
                let names: Vec<&str> =
                    columns.iter().map(|&column| &*table.column(column).name).collect();
                return Err(SqlError::new(
                    code::UNIQUE_VIOLATION,
                    format!("could not create unique index \"{index}\""),
                )
                .detail(format!(
                    "Key ({})=({}) is duplicated.",
                    names.join(", "),
                    shown.replace(',', ", ")
                )));
            }
        }
        Ok(())
    }

    /// Lets indexes know of all rows and checks what the table asks for, with the errors of a
    /// change of the table instead of those of a change of rows.
    pub fn check_all(&mut self, table: &Arc<Table>) -> Result<()> {
        self.index_all(table).map_err(|error| as_of_table(error, table))?;
        let due = self.take_checks();
        self.run_checks(due)
    }
}

/// NOT NULL that rows do not satisfy.
pub fn contains_null(table: &Table, column: &str) -> SqlError {
    let message =
        format!("column \"{column}\" of relation \"{}\" contains null values", table.name);
    let mut error = SqlError::new(code::NOT_NULL_VIOLATION, message);
    error.fields_mut().table = Some(table.name.to_string());
    error.fields_mut().column = Some(column.to_owned());
    error
}

fn as_of_table(mut error: SqlError, table: &Table) -> SqlError {
    let fields = error.fields_mut();
    match fields.code {
        code::NOT_NULL_VIOLATION => {
            let column = fields.column.clone().unwrap_or_default();
            return contains_null(table, &column);
        }
        code::CHECK_VIOLATION => {
            let name = fields.constraint.clone().unwrap_or_default();
            fields.message = format!(
                "check constraint \"{name}\" of relation \"{}\" is violated by some row",
                table.name
            );
            fields.detail = None;
        }
        code::UNIQUE_VIOLATION => {
            let name = fields.constraint.clone().unwrap_or_default();
            fields.message = format!("could not create unique index \"{name}\"");
            let detail = fields.detail.take();
            fields.detail = detail.map(|it| it.replace("already exists.", "is duplicated."));
        }
        _ => {}
    }
    error
}
