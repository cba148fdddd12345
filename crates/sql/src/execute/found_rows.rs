//! Rows that a statement has found by its snapshot and is about to lock or change, on stores that
//! read by snapshots: others may have changed them since.
//!
//! At READ COMMITTED the statement goes on with the newest version of the row, also if its primary
//! key has changed, which in the heap is another row; a row that is gone is passed over, and so is
//! one that has come back with the same key. With one snapshot a transaction such a row fails. The
//! words are PostgreSQL's: that a row was deleted it says only to those who change it.

use super::constraints::{IndexRule, Rules};
use super::{Exec, Row};
use crate::catalog::Table;
use crate::cells::{Cell, RowNo, Snapshots};
use crate::error::{Result, SqlError, code};
use crate::heap::Heap;
use crate::ir::{LockStrength, TableRef, WaitPolicy};
use crate::locks::{Mode, Target};
use crate::types::{Datum, HashKey};

/// How a row is to be locked, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowWish {
    pub strength: LockStrength,
    pub wait: WaitPolicy,
    /// Whether it is to be changed, and not only locked.
    pub changes: bool,
}

/// What others have done to a row since the snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    None,
    /// Columns have other values.
    Columns,
    /// It is gone; there may be another one under its number.
    Gone,
}

impl Exec<'_> {
    /// Whether reads are by snapshots.
    pub(super) fn has_snapshots(&self) -> bool {
        self.txn.cells.snapshots() != Snapshots::None
    }

    pub(super) fn has_changed(&mut self, table: &Table, heap: &Heap, row: RowNo) -> Result<bool> {
        Ok(self.change_of(table, heap, row)? != Change::None)
    }

    fn change_of(&mut self, table: &Table, heap: &Heap, row: RowNo) -> Result<Change> {
        let cell = |column| Cell { heap: heap.id, row, column };
        if self.txn.cells.is_changed(cell(Cell::EXISTENCE))? {
            return Ok(Change::Gone);
        }
        for (column, _) in table.live() {
            if self.txn.cells.is_changed(cell(column))? {
                return Ok(Change::Columns);
            }
        }
        Ok(Change::None)
    }

    /// Locks a row that was found by the snapshot; the row to go on with, or none if it is gone or
    /// to be skipped.
    pub(super) fn lock_found(
        &mut self,
        table: &TableRef,
        heap: &Heap,
        found: RowNo,
        wish: RowWish,
    ) -> Result<Option<RowNo>> {
        let name = &table.table.name;
        if !self.lock_row(heap, found, wish.strength, wish.wait, name)? {
            return Ok(None);
        }
        // There rows are found by their newest versions.
        if self.is_innodb() {
            return Ok(Some(found));
        }
        match self.txn.cells.snapshots() {
            Snapshots::None => Ok(Some(found)),
            Snapshots::Statement => self.follow(table, heap, found, wish),
            Snapshots::Transaction => {
                self.refuse_changed(&table.table, heap, found, wish)?;
                Ok(Some(found))
            }
        }
    }

    /// The row that a locked row is now.
    fn follow(
        &mut self,
        table: &TableRef,
        heap: &Heap,
        found: RowNo,
        wish: RowWish,
    ) -> Result<Option<RowNo>> {
        let existence = Cell { heap: heap.id, row: found, column: Cell::EXISTENCE };
        if !self.txn.cells.is_changed(existence)? {
            return Ok(Some(found));
        }
        let mut next = heap.rows().moved_to(found);
        while let Some(row) = next {
            if !self.lock_row(heap, row, wish.strength, wish.wait, &table.table.name)? {
                return Ok(None);
            }
            if self.exists_now(heap, row) {
                return Ok(Some(row));
            }
            next = heap.rows().moved_to(row);
        }
        Ok(None)
    }

    fn refuse_changed(
        &mut self,
        table: &Table,
        heap: &Heap,
        row: RowNo,
        wish: RowWish,
    ) -> Result<()> {
        let change = self.change_of(table, heap, row)?;
        // Columns of keys do not change without the row: it moves.
        let is_harmless = change == Change::Columns && wish.strength == LockStrength::KeyShare;
        if change == Change::None || is_harmless {
            return Ok(());
        }
        let has_moved = heap.rows().moved_to(row).is_some();
        let is_deletion = change == Change::Gone && wish.changes && !has_moved;
        Err(concurrent(if is_deletion { "delete" } else { "update" }))
    }

    /// A row that was found by its newest version, as constraints do: with one snapshot a
    /// transaction, it fails if others have changed it since.
    pub(super) fn refuse_newer(&mut self, rules: &Rules, row: RowNo) -> Result<()> {
        if self.txn.cells.snapshots() == Snapshots::Transaction
            && self.change_of(&rules.table, &rules.heap, row)? != Change::None
        {
            return Err(concurrent("update"));
        }
        Ok(())
    }

    /// Whether a row is there for a transaction that has one snapshot; to others it is.
    pub(super) fn was_there(&mut self, heap: &Heap, row: RowNo) -> Result<bool> {
        if self.txn.cells.snapshots() != Snapshots::Transaction {
            return Ok(true);
        }
        let cell = Cell { heap: heap.id, row, column: Cell::EXISTENCE };
        Ok(match self.txn.cells.glimpse(cell)? {
            Some(value) => matches!(value, Datum::Bool(true)),
            None => heap.rows().exists(row),
        })
    }

    /// Waits for transactions that have written to a row with this key, which is there as far as
    /// has committed: whether it stays there is theirs to decide.
    pub(super) fn await_key(
        &mut self,
        rules: &Rules,
        rule: &IndexRule,
        keys: &[HashKey],
    ) -> Result<()> {
        if !self.has_snapshots() || !self.txn.uses_locks {
            return Ok(());
        }
        let (_, rows) = rule.entries.get(keys.into());
        for row in rows {
            while self.is_being_written(rules, row) && self.exists_now(&rules.heap, row) {
                let there: Row = self.current_values(rules, row);
                let found = self.index_key(rule, &there)?;
                if found.is_none_or(|found| Self::hash_keys(rule, &found) != keys) {
                    break;
                }
                self.await_row(&rules.heap, row)?;
            }
        }
        Ok(())
    }

    fn is_being_written(&self, rules: &Rules, row: RowNo) -> bool {
        let cell = |column| Cell { heap: rules.heap.id, row, column };
        let columns = rules.table.live().map(|(column, _)| column);
        columns.chain([Cell::EXISTENCE]).any(|column| self.txn.cells.is_pending(cell(column)))
    }

    /// Waits until no other transaction holds a row for a change.
    fn await_row(&mut self, heap: &Heap, row: RowNo) -> Result<()> {
        let (target, mode) = (Target::Row(heap.id, row), Mode::RowForShare);
        let (patience, owner) = (self.env.patience(), self.txn.owner);
        let locks = &self.database().locks;
        locks.acquire(owner, target, mode, patience, self.interrupt())?;
        locks.release(owner, target, mode);
        Ok(())
    }
}

/// A transaction with one snapshot meets something newer.
pub(super) fn concurrent(what: &str) -> SqlError {
    let message = format!("could not serialize access due to concurrent {what}");
    SqlError::new(code::SERIALIZATION_FAILURE, message)
}
