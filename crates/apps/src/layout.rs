//! Which keys of a key-value database a table has: cells or whole rows.

use crate::value::Value;

/// Which keys a table has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// As MonkeyDB maps SQL: a key for each cell, and one for each row that says whether the row
    /// exists.
    #[default]
    Cells,
    /// As in the evaluation of the explorer's paper (Section 7.2): a key for each row, and one for
    /// the set of rows that exist.
    Rows,
}

impl Layout {
    /// The keys of loaded tables, which are given as [`Layout::Cells`] has them.
    pub(crate) fn arrange(self, cells: Vec<(String, Value)>) -> Vec<(String, Value)> {
        if self == Layout::Cells {
            return cells;
        }
        let mut keys: Vec<(String, Value)> = Vec::new();
        for (cell, value) in cells {
            // table/row, or table/row/column
            let mut parts = cell.splitn(3, '/');
            let (table, row, column) =
                (parts.next().unwrap_or_default(), parts.next(), parts.next());
            let Some(row) = row else { continue };
            match column {
                None => change(&mut keys, table.to_owned(), |rows| rows.with_new(row.into())),
                Some(column) => change(&mut keys, format!("{table}/{row}"), |row| {
                    with_cell(&row, column, value)
                }),
            }
        }
        keys
    }
}

fn change(keys: &mut Vec<(String, Value)>, key: String, by: impl FnOnce(Value) -> Value) {
    match keys.iter_mut().find(|(known, _)| *known == key) {
        Some((_, value)) => *value = by(std::mem::take(value)),
        None => keys.push((key, by(Value::Null))),
    }
}

/// A cell of a row, which is a list of columns and what they hold in turn.
pub(crate) fn cell(row: &Value, column: &str) -> Value {
    let cells = row.items().chunks_exact(2);
    let found =
        cells.into_iter().find(|cell| matches!(&cell[0], Value::Text(name) if **name == *column));
    found.map_or(Value::Null, |cell| cell[1].clone())
}

/// The row with something else in a cell.
pub(crate) fn with_cell(row: &Value, column: &str, value: Value) -> Value {
    let mut cells = row.items().to_vec();
    match cells
        .chunks_exact_mut(2)
        .find(|cell| matches!(&cell[0], Value::Text(name) if **name == *column))
    {
        Some(cell) => cell[1] = value,
        None => cells.extend([column.into(), value]),
    }
    Value::from(cells)
}
