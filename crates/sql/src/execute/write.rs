//! Rows that are inserted, changed and deleted with all that their table asks for.

use super::constraints::Rules;
use super::keys::key;
use super::row_locks::initial;
use super::{Exec, Row};
use crate::catalog::Table;
use crate::cells::{Cell, Group, RowNo};
use crate::error::Result;
use crate::heap::Heap;
use crate::ir::Assignment;
use crate::types::{Datum, HashKey};
use std::sync::Arc;

/// A transaction that has inserted so many rows is a load.
const LOAD_MIN: u64 = 1000;

impl Exec<'_> {
    /// What a row holds now: the own transaction's or the latest committed values.
    pub(super) fn current_values(&self, rules: &Rules, row: RowNo) -> Row {
        (1..=rules.table.columns.len() as u16)
            .map(|column| self.current(&rules.heap, &rules.table, row, column))
            .collect()
    }

    pub(super) fn current(&self, heap: &Heap, table: &Table, row: RowNo, column: u16) -> Datum {
        let cell = Cell { heap: heap.id, row, column };
        self.txn.cells.peek(cell).unwrap_or_else(|| initial(heap, row, column, table))
    }

    pub(super) fn exists_now(&self, heap: &Heap, row: RowNo) -> bool {
        let cell = Cell { heap: heap.id, row, column: Cell::EXISTENCE };
        match self.txn.cells.peek(cell) {
            Some(value) => matches!(value, Datum::Bool(true)),
            None => heap.rows().exists(row),
        }
    }

    /// Inserts a row: its number, and its values with those that were generated.
    pub(super) fn insert_row(&mut self, rules: &Arc<Rules>, values: Row) -> Result<(RowNo, Row)> {
        let values = self.finish_values(rules, values)?;
        self.check_row(rules, &values)?;
        let number = self.row_number(rules, &values)?;
        self.come(rules, number)?;
        if self.exists_now(&rules.heap, number) {
            // Its primary key is taken; a deferred one is looked at later, under another number.
            self.enter_indexes(rules, number, &values, None)?;
            let primary = rules.indexes.iter().find(|rule| rule.index.primary);
            if let Some(rule) = primary {
                let found = self.index_key(rule, &values)?.unwrap_or_default();
                return Err(self.duplicate(rules, rule, &found));
            }
        }
        self.enter_indexes(rules, number, &values, None)?;
        let heap = rules.heap.id;
        self.remember(heap, number, None);
        let existence = Cell { heap, row: number, column: Cell::EXISTENCE };
        self.txn.cells.enter_group(Group::Heap(heap), number)?;
        self.txn.cells.write(existence, Datum::Bool(true))?;
        if !self.makes_columns_initial(rules, number, &values) {
            for (column, _) in rules.table.live() {
                let value = values[column as usize - 1].clone();
                self.txn.cells.write(Cell { heap, row: number, column }, value)?;
            }
        }
        self.touched.insert((heap, number));
        self.refer(rules, number, &values, None)?;
        Ok((number, values))
    }

    /// Whether the columns of a row that is inserted have become initial, which saves a load most
    /// of its work. Only those that nobody has ever written may.
    fn makes_columns_initial(&mut self, rules: &Rules, row: RowNo, values: &Row) -> bool {
        self.txn.rows_inserted += 1;
        if self.txn.rows_inserted < LOAD_MIN || !self.txn.cells.takes_columns_as_initial() {
            return false;
        }
        let cell = |(column, _)| Cell { heap: rules.heap.id, row, column };
        let is_untouched = |cell: Cell| self.txn.cells.peek(cell).is_none();
        rules.table.live().map(cell).all(is_untouched)
            && rules.heap.rows_mut().make_columns_initial(row, values)
    }

    /// The number of a row: by its primary key, or a new one.
    fn row_number(&mut self, rules: &Arc<Rules>, values: &Row) -> Result<RowNo> {
        let Some((columns, _)) = rules.table.primary_key() else {
            return Ok(rules.heap.rows_mut().row_of(None, None));
        };
        let keys: Vec<HashKey> = columns
            .iter()
            .map(|&column| key(&values[column as usize - 1], rules.table.column(column).ty))
            .collect();
        // Others that insert the same key are waited for first.
        if let Some(rule) = rules.indexes.iter().find(|rule| rule.index.primary) {
            self.await_key(rules, rule, &keys)?;
            let number = rule.entries.number(keys.clone().into());
            self.hold_key(rule, number)?;
        }
        let name = super::modify::key_name(self.env, &rules.table, &keys);
        Ok(rules.heap.rows_mut().row_of(Some(keys.into()), Some(name)))
    }

    /// Changes a row: its number, which is another one if its primary key changes, and its values.
    pub(super) fn update_row(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        old: &Row,
        new: Row,
        set: &[Assignment],
    ) -> Result<(RowNo, Row)> {
        let new = self.finish_values(rules, new)?;
        self.check_row(rules, &new)?;
        if let Some((columns, _)) = rules.table.primary_key() {
            let of = |row: &Row| -> Vec<HashKey> {
                let columns = columns.iter();
                columns.map(|&it| key(&row[it as usize - 1], rules.table.column(it).ty)).collect()
            };
            if of(old) != of(&new) {
                return self.move_row(rules, number, old, new);
            }
        }
        self.enter_indexes(rules, number, &new, Some(old))?;
        let heap = rules.heap.id;
        self.remember(heap, number, Some(old));
        for (column, _) in rules.table.live() {
            let is_set = set.iter().any(|assignment| assignment.column == column)
                || rules.generated.iter().any(|(it, _)| *it == column);
            let cell = Cell { heap, row: number, column };
            if is_set || self.takes_over(cell)? {
                let value = new[column as usize - 1].clone();
                self.txn.cells.write(cell, value)?;
            }
        }
        let existence = Cell { heap, row: number, column: Cell::EXISTENCE };
        if self.takes_over(existence)? {
            self.txn.cells.write(existence, Datum::Bool(true))?;
        }
        self.refer(rules, number, &new, Some(old))?;
        self.propagate(rules, old, Some(&new))?;
        Ok((number, new))
    }

    /// A changed primary key: a deletion and an insertion.
    fn move_row(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        old: &Row,
        new: Row,
    ) -> Result<(RowNo, Row)> {
        let heap = rules.heap.id;
        self.remember(heap, number, Some(old));
        let existence = Cell { heap, row: number, column: Cell::EXISTENCE };
        self.txn.cells.write(existence, Datum::Bool(false))?;
        let from = number;
        let (number, new) = self.insert_row(rules, new)?;
        if self.has_snapshots() {
            rules.heap.rows_mut().note_move(from, number);
        }
        self.propagate(rules, old, Some(&new))?;
        Ok((number, new))
    }

    /// Deletes a row.
    pub(super) fn delete_row(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        old: &Row,
    ) -> Result<()> {
        self.remember(rules.heap.id, number, Some(old));
        let existence = Cell { heap: rules.heap.id, row: number, column: Cell::EXISTENCE };
        self.txn.cells.write(existence, Datum::Bool(false))?;
        if self.has_snapshots() {
            rules.heap.rows_mut().note_deletion(number);
        }
        self.propagate(rules, old, None)
    }

    /// Lets indexes and references know of all rows of a table that exist, and checks them: after
    /// one was added.
    pub fn index_all(&mut self, table: &Arc<Table>) -> Result<()> {
        self.rules.remove(&table.oid);
        let rules = self.rules(table)?;
        let count = rules.heap.rows().count();
        for number in (0..count).map(RowNo) {
            self.tick()?;
            if !self.exists_now(&rules.heap, number) {
                continue;
            }
            let values = self.current_values(&rules, number);
            self.check_row(&rules, &values)?;
            self.enter_indexes(&rules, number, &values, None)?;
            self.refer(&rules, number, &values, None)?;
        }
        Ok(())
    }
}
