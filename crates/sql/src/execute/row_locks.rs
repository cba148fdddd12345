//! Locks of tables and rows, and what a locked row holds: the latest, not what was seen before.

use super::found_rows::RowWish;
use super::scan::{row_of_tid, tid};
use super::{Exec, Row};
use crate::cells::{Cell, Lock, RowNo};
use crate::error::{Result, SqlError, code};
use crate::heap::Heap;
use crate::ir::{Body, From, LockStrength, Query, RowLock, TableRef, WaitPolicy};
use crate::locks::{Mode, Outcome, Target};
use crate::plan::{Access, Node, NodeKind};
use crate::types::{Datum, Oid};

/// Which scans lock what they find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Marked {
    /// Those by key.
    ByKey,
    All,
}

/// Lets scans lock what they find.
pub(super) fn mark(node: &mut Node, locks: &[RowLock], which: Marked) {
    match &mut node.kind {
        NodeKind::Scan(scan) => {
            if let Some(lock) = lock_of(locks, scan.table.start)
                && (which == Marked::All || matches!(scan.access, Access::Keys { .. }))
            {
                scan.lock = Some((lock.strength, lock.wait));
            }
        }
        NodeKind::Join { left, right, .. } => {
            mark(left, locks, which);
            mark(right, locks, which);
        }
        NodeKind::Source { .. } | NodeKind::Nothing => {}
    }
}

/// The strongest lock for a table.
fn lock_of(locks: &[RowLock], start: usize) -> Option<&RowLock> {
    let meant = locks.iter().filter(|lock| lock.of.is_empty() || lock.of.contains(&start));
    meant.max_by_key(|lock| lock.strength)
}

impl Exec<'_> {
    /// Locks a row; false if others hold it and it is to be skipped.
    pub(super) fn lock_row(
        &mut self,
        heap: &Heap,
        row: RowNo,
        strength: LockStrength,
        wait: WaitPolicy,
        name: &str,
    ) -> Result<bool> {
        if !self.txn.uses_locks {
            return Ok(true);
        }
        let mode = match strength {
            LockStrength::KeyShare => Mode::KeyShare,
            LockStrength::Share => Mode::RowForShare,
            LockStrength::NoKeyUpdate => Mode::NoKeyUpdate,
            LockStrength::Update => Mode::Update,
        };
        let target = Target::Row(heap.id, row);
        let patience = match wait {
            WaitPolicy::Wait => self.env.patience(),
            _ => crate::locks::Patience::None,
        };
        let locks = &self.database().locks;
        match locks.acquire(self.txn.owner, target, mode, patience, self.interrupt())? {
            Outcome::Held => {
                let exclusive = strength >= LockStrength::NoKeyUpdate;
                self.txn.cells.hand_over(Lock::Row(heap.id, row), exclusive)?;
                Ok(true)
            }
            Outcome::Busy if wait == WaitPolicy::SkipLocked => Ok(false),
            Outcome::Busy => Err(SqlError::new(
                code::LOCK_NOT_AVAILABLE,
                format!("could not obtain lock on row in relation \"{name}\""),
            )),
        }
    }

    /// What a cell of a locked row holds. A lock shows the latest version; without locks there is
    /// nothing special about the row.
    fn read_locked(&mut self, cell: Cell) -> Result<Option<Datum>> {
        if self.txn.uses_locks {
            self.txn.cells.read_latest(cell)
        } else {
            self.txn.cells.read(cell)
        }
    }

    /// Reads columns of a locked row as they are now; false if it is gone.
    pub(super) fn refresh(
        &mut self,
        table: &TableRef,
        heap: &Heap,
        number: RowNo,
        columns: &[u16],
        row: &mut Row,
    ) -> Result<bool> {
        let cell = Cell { heap: heap.id, row: number, column: Cell::EXISTENCE };
        let exists = match self.read_locked(cell)? {
            Some(value) => matches!(value, Datum::Bool(true)),
            None => heap.rows().exists(number),
        };
        if !exists {
            return Ok(false);
        }
        for &column in columns {
            let latest = self.read_locked(Cell { heap: heap.id, row: number, column })?;
            let value = match latest {
                Some(value) => value,
                None => initial(heap, number, column, &table.table),
            };
            row[table.start + column as usize - 1] = value;
        }
        Ok(true)
    }

    /// Locks the rows of a result, reads them as they are then, and keeps those that still satisfy
    /// the conditions. Each row has the row of FROM behind its results.
    pub(super) fn lock_rows(
        &mut self,
        query: &Query,
        rows: Vec<Row>,
        most: Option<usize>,
    ) -> Result<Vec<Row>> {
        let Body::Select(select) = &query.body else { return Ok(rows) };
        let mut tables = Vec::new();
        if let Some(from) = &select.from {
            tables_of(from, &mut tables);
        }
        let shown = select.targets.len();
        let mut kept = Vec::new();
        for mut row in rows {
            if most.is_some_and(|most| kept.len() >= most) {
                break;
            }
            let mut flat = row.split_off(shown);
            if !self.lock_one(query, &tables, &mut flat)? {
                continue;
            }
            if let Some(filter) = &select.filter
                && !self.holds(filter, &flat)?
            {
                continue;
            }
            kept.push(self.eval_all(&select.targets, &flat)?);
        }
        Ok(kept)
    }

    fn lock_one(&mut self, query: &Query, tables: &[&TableRef], flat: &mut Row) -> Result<bool> {
        for table in tables {
            let Some(lock) = lock_of(&query.locks, table.start) else { continue };
            let count = table.table.columns.len();
            let Some(number) = row_of_tid(&flat[table.start + count]) else { continue };
            let heap = self.database().heap(table.table.heap)?;
            let wish = RowWish { strength: lock.strength, wait: lock.wait, changes: false };
            let locked = self.lock_found(table, &heap, number, wish)?;
            let Some(number) = locked else { return Ok(false) };
            flat[table.start + count] = tid(number);
            let columns: Vec<u16> = table.table.live().map(|(number, _)| number).collect();
            if !self.refresh(table, &heap, number, &columns, flat)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Locks a table.
    pub fn lock_table(&mut self, table: Oid, mode: Mode) -> Result<()> {
        let target = Target::Object(table);
        let patience = self.env.patience();
        let locks = &self.database().locks;
        locks.acquire(self.txn.owner, target, mode, patience, self.interrupt())?;
        Ok(())
    }
}

/// What a row held initially in a column.
pub(super) fn initial(
    heap: &Heap,
    row: RowNo,
    column: u16,
    table: &crate::catalog::Table,
) -> Datum {
    let rows = heap.rows();
    let value = rows.initial(row, column);
    value.or_else(|| table.column(column).missing.clone()).unwrap_or(Datum::Null)
}

/// The tables of FROM.
pub(super) fn tables_of<'f>(from: &'f From, tables: &mut Vec<&'f TableRef>) {
    match from {
        From::Table(table) => tables.push(table),
        From::Join { left, right, .. } => {
            tables_of(left, tables);
            tables_of(right, tables);
        }
        _ => {}
    }
}
