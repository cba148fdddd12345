//! Tables: which rows there are, what their columns hold. Cells are read in this order: whether the
//! rows exist; the columns of the conditions, of those that do; the other columns, of those that
//! satisfy them.

use super::keys::key;
use super::nodes::Sink;
use super::{Exec, Row};
use crate::catalog::Table;
use crate::cells::{Cell, Group, RowNo, RowSet};
use crate::error::{Result, SqlError, code};
use crate::heap::Heap;
use crate::ir::{Expr, LockStrength, WaitPolicy};
use crate::plan::{Access, KeyPart, Scan};
use crate::types::{Datum, HashKey};
use rustc_hash::FxHashMap;
use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

/// A materialized view that was never filled has no rows yet, which is not the same as none.
fn check_populated(table: &Table) -> Result<()> {
    if table.materialized.as_ref().is_none_or(|view| view.populated) {
        return Ok(());
    }
    let message = format!("materialized view \"{}\" has not been populated", table.name);
    Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("Use the REFRESH MATERIALIZED VIEW command."))
}

/// The rows that may be meant.
pub(super) enum Candidates {
    All,
    These(Vec<RowNo>),
}

/// A column of rows that a statement reads.
struct Column {
    number: u16,
    /// The values that are not initial, in the order of the rows.
    changed: Peekable<IntoIter<(RowNo, Datum)>>,
    /// What rows have that are older than the column.
    missing: Option<Datum>,
}

/// Rows that satisfy conditions.
struct Matching {
    rows: Vec<RowNo>,
    /// Values of the columns that the conditions look at, by the number of the column.
    columns: Vec<(u16, Vec<Datum>)>,
    /// Why the row behind these could not be tested.
    failure: Option<SqlError>,
}

impl Matching {
    fn add(&mut self, row: RowNo, values: &[Vec<Datum>], place: usize) {
        self.rows.push(row);
        for ((_, kept), values) in self.columns.iter_mut().zip(values) {
            kept.push(values[place].clone());
        }
    }
}

/// So many rows have their values in memory at once.
const PART: usize = 1024;

impl Exec<'_> {
    pub(super) fn each_scanned(
        &mut self,
        scan: &Scan,
        filters: &[Expr],
        row: &mut Row,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        check_populated(&scan.table.table)?;
        let heap = self.database().heap(scan.table.table.heap)?;
        if let Some(lock) = self.innodb_lock(scan) {
            return self.each_innodb(scan, &heap, filters, lock, row, sink);
        }
        let Some(candidates) = self.candidates(scan, &heap, row)? else { return Ok(true) };
        if let (Some(lock), Candidates::These(rows)) = (scan.lock, &candidates) {
            return self.each_locked(scan, &heap, filters, lock, rows, row, sink);
        }
        let existing = self.existing(&heap, &candidates)?;
        let mut first = self.columns(scan, &heap, &scan.first, &existing)?;
        if scan.rest.is_empty() {
            return self.each_part(&existing, |exec, part| {
                let values = exec.values(&heap, &mut first, part);
                for (place, &number) in part.iter().enumerate() {
                    exec.show(scan, number, &first, &values, place, row)?;
                    if exec.passes(filters, row)? && !sink(exec, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            });
        }
        let matching = self.matching_rows(scan, &heap, filters, &existing, first, row)?;
        let mut rest = self.columns(scan, &heap, &scan.rest, &matching.rows)?;
        let mut done = 0;
        let going = self.each_part(&matching.rows, |exec, part| {
            let values = exec.values(&heap, &mut rest, part);
            for (place, &number) in part.iter().enumerate() {
                exec.show(scan, number, &rest, &values, place, row)?;
                for (column, found) in &matching.columns {
                    row[scan.table.start + *column as usize - 1] = found[done + place].clone();
                }
                if !sink(exec, row)? {
                    return Ok(false);
                }
            }
            done += part.len();
            Ok(true)
        })?;
        match matching.failure {
            // Rows before the one that fails may be enough.
            Some(error) if going => Err(error),
            _ => Ok(going),
        }
    }

    /// Goes through rows in parts, so that not all their values are in memory at once.
    fn each_part(
        &mut self,
        rows: &[RowNo],
        mut each: impl FnMut(&mut Self, &[RowNo]) -> Result<bool>,
    ) -> Result<bool> {
        for part in rows.chunks(PART) {
            if !each(self, part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts a row into its place: values of these columns, and null for the others.
    fn show(
        &mut self,
        scan: &Scan,
        number: RowNo,
        columns: &[Column],
        values: &[Vec<Datum>],
        place: usize,
        row: &mut Row,
    ) -> Result<()> {
        self.tick()?;
        let (start, count) = (scan.table.start, scan.table.table.columns.len());
        row[start..start + count].fill(Datum::Null);
        for (column, values) in columns.iter().zip(values) {
            row[start + column.number as usize - 1] = values[place].clone();
        }
        row[start + count] = tid(number);
        Ok(())
    }

    /// The rows that satisfy the conditions. These are tested for all rows first, so that the other
    /// columns are read together, but not behind a row that fails.
    fn matching_rows(
        &mut self,
        scan: &Scan,
        heap: &Heap,
        filters: &[Expr],
        rows: &[RowNo],
        mut columns: Vec<Column>,
        row: &mut Row,
    ) -> Result<Matching> {
        let numbers = columns.iter().map(|column| (column.number, Vec::new()));
        let mut found = Matching { rows: Vec::new(), columns: numbers.collect(), failure: None };
        if columns.is_empty() && filters.is_empty() {
            found.rows = rows.to_vec();
            return Ok(found);
        }
        self.each_part(rows, |exec, part| {
            let values = exec.values(heap, &mut columns, part);
            for (place, &number) in part.iter().enumerate() {
                exec.show(scan, number, &columns, &values, place, row)?;
                match exec.passes(filters, row) {
                    Ok(true) => found.add(number, &values, place),
                    Ok(false) => {}
                    Err(error) => {
                        found.failure = Some(error);
                        return Ok(false);
                    }
                }
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// Rows that are found by their key are locked first, and read as they are then.
    #[allow(clippy::too_many_arguments)]
    fn each_locked(
        &mut self,
        scan: &Scan,
        heap: &Arc<Heap>,
        filters: &[Expr],
        (strength, wait): (LockStrength, WaitPolicy),
        rows: &[RowNo],
        row: &mut Row,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        let table = &scan.table;
        let (start, count) = (table.start, table.table.columns.len());
        let columns: Vec<u16> = scan.first.iter().chain(&scan.rest).copied().collect();
        for &number in rows {
            // A row that is not there cannot be locked: its absence is read.
            let cell = Cell { heap: heap.id, row: number, column: Cell::EXISTENCE };
            let is_there = match self.txn.cells.peek(cell) {
                Some(value) => matches!(value, Datum::Bool(true)),
                None => heap.rows().exists(number),
            };
            if is_there && !self.lock_row(heap, number, strength, wait, &table.table.name)? {
                continue;
            }
            row[start..start + count].fill(Datum::Null);
            row[start + count] = tid(number);
            if !self.refresh(table, heap, number, &columns, row)? || !self.passes(filters, row)? {
                continue;
            }
            if !sink(self, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rows that may satisfy the conditions; none if a key is null.
    pub(super) fn candidates(
        &mut self,
        scan: &Scan,
        heap: &Arc<Heap>,
        row: &Row,
    ) -> Result<Option<Candidates>> {
        // Rows that are locked are read one by one, and not by the snapshot.
        let is_locked = self.innodb_lock(scan).is_some();
        let Access::Keys { index, columns, parts } = &scan.access else {
            // Those that come later are absent.
            self.txn.cells.read_group(Group::Heap(heap.id))?;
            return Ok(Some(Candidates::All));
        };
        let Some(keys) = self.key_values(scan, columns, parts, row)? else { return Ok(None) };
        let mut found = Vec::new();
        for values in keys {
            match index {
                None => found.push(self.row_of_key(scan, heap, values)),
                Some(index) => {
                    let entries = self.database().entries(*index, heap.id);
                    let number = entries.number(values.into());
                    if !is_locked {
                        self.txn.cells.read_group(Group::Key(entries.id, number))?;
                    }
                    // Only now: of the rows that came until the group was read none may be missed.
                    found.extend(entries.rows(number));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Some(Candidates::These(found)))
    }

    /// The row of a primary key, which gets a number even if it has never been there: its absence
    /// is read, too.
    fn row_of_key(&mut self, scan: &Scan, heap: &Heap, values: Vec<HashKey>) -> RowNo {
        if let Some(row) = heap.rows().find(&values) {
            return row;
        }
        let name = crate::execute::modify::key_name(self.env, &scan.table.table, &values);
        heap.rows_mut().row_of(Some(values.into()), Some(name))
    }

    /// All combinations of the values of a key.
    pub(super) fn key_values(
        &mut self,
        scan: &Scan,
        columns: &[u16],
        parts: &[KeyPart],
        row: &Row,
    ) -> Result<Option<Vec<Vec<HashKey>>>> {
        let mut all: Vec<Vec<HashKey>> = vec![Vec::new()];
        for (&column, part) in columns.iter().zip(parts) {
            let ty = scan.table.table.column(column).ty;
            let values: Vec<Datum> = match part {
                KeyPart::Equal(expr) => vec![self.eval(expr, row)?],
                KeyPart::Any(expr) => match self.eval(expr, row)? {
                    Datum::Array(array) => array.elements.clone(),
                    _ => Vec::new(),
                },
            };
            let keys = values.iter().filter(|value| !value.is_null()).map(|value| key(value, ty));
            let keys: Vec<HashKey> = keys.collect();
            if keys.is_empty() {
                return Ok(None);
            }
            let mut next = Vec::with_capacity(all.len() * keys.len());
            for before in &all {
                for value in &keys {
                    self.tick()?;
                    next.push(before.iter().cloned().chain([value.clone()]).collect());
                }
            }
            all = next;
        }
        Ok(Some(all))
    }

    /// Which of the rows exist.
    fn existing(&mut self, heap: &Heap, candidates: &Candidates) -> Result<Vec<RowNo>> {
        let set = match candidates {
            Candidates::All => RowSet::All(heap.rows().count()),
            Candidates::These(rows) => RowSet::These(rows),
        };
        let changed: FxHashMap<RowNo, Datum> =
            self.txn.cells.read_column(heap.id, Cell::EXISTENCE, set)?.into_iter().collect();
        let rows = heap.rows();
        let before = |row: &RowNo| self.before.as_ref()?.get(&(heap.id, *row));
        let exists = |row: &RowNo| match (before(row), changed.get(row)) {
            (Some(old), _) => old.is_some(),
            (None, Some(value)) => matches!(value, Datum::Bool(true)),
            (None, None) => rows.exists(*row),
        };
        Ok(match candidates {
            // Only now: of the rows that came until the column was read none may be missed.
            Candidates::All => (0..rows.count()).map(RowNo).filter(exists).collect(),
            Candidates::These(list) => list.iter().copied().filter(exists).collect(),
        })
    }

    /// Reads columns of rows that exist.
    fn columns(
        &mut self,
        scan: &Scan,
        heap: &Heap,
        columns: &[u16],
        rows: &[RowNo],
    ) -> Result<Vec<Column>> {
        let mut all = Vec::with_capacity(columns.len());
        for &number in columns {
            let changed = self.txn.cells.read_column(heap.id, number, RowSet::These(rows))?;
            let missing = scan.table.table.column(number).missing.clone();
            all.push(Column { number, changed: changed.into_iter().peekable(), missing });
        }
        Ok(all)
    }

    /// The values of columns for the next of the rows that they were read for.
    fn values(&self, heap: &Heap, columns: &mut [Column], rows: &[RowNo]) -> Vec<Vec<Datum>> {
        let directory = heap.rows();
        let value = |column: &mut Column, row: RowNo| {
            // Both are in the same order.
            let found = column.changed.next_if(|(number, _)| *number == row);
            let before = self.before.as_ref().and_then(|it| it.get(&(heap.id, row)));
            if let Some(Some(old)) = before {
                return old[column.number as usize - 1].clone();
            }
            let initial = || directory.initial(row, column.number);
            let found = found.map(|(_, value)| value).or_else(initial);
            found.or_else(|| column.missing.clone()).unwrap_or(Datum::Null)
        };
        let all = columns.iter_mut();
        all.map(|column| rows.iter().map(|&row| value(column, row)).collect()).collect()
    }
}

/// The place of a row, as PostgreSQL's tid shows it: a block and a number.
pub(super) fn tid(row: RowNo) -> Datum {
    Datum::Int8(((i64::from(row.0) / 100) << 16) | (i64::from(row.0) % 100 + 1))
}

/// The row that a tid names.
pub(super) fn row_of_tid(value: &Datum) -> Option<RowNo> {
    match value {
        Datum::Int8(value) => Some(RowNo(((value >> 16) * 100 + (value & 0xffff) - 1) as u32)),
        _ => None,
    }
}
