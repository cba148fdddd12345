//! Rows that are locked and changed as in InnoDB, on a store that does what one node of MySQL does.
//!
//! UPDATE, DELETE and locking reads look at rows as they are now: they lock each row that they look
//! at, wait for its holder, and read its newest version, whatever the snapshot of the transaction
//! shows. At REPEATABLE READ and SERIALIZABLE rows that do not satisfy the conditions stay locked,
//! and so do the gaps in which rows could come: a key that is looked for by itself, or the table,
//! where InnoDB locks the range of an index (so more waits here than there). At READ COMMITTED and
//! READ UNCOMMITTED rows that do not satisfy the conditions are given back, and UPDATE (but neither
//! DELETE nor a locking read) passes over a row that others hold if its last committed version does
//! not satisfy them, which MySQL calls a semi-consistent read. SERIALIZABLE locks whatever a
//! transaction of several statements reads.
//!
//! Rows are looked at in the order of the primary key, as long as somebody wants more of them: what
//! is behind a LIMIT is not locked, if the rows need not be sorted first (`scan_order`).
//!
//! With `innodb_snapshot_isolation` a row that has changed since the snapshot was taken is an error
//! as soon as it is locked.

use super::constraints::{IndexRule, Rules};
use super::nodes::Sink;
use super::scan::{Candidates, tid};
use super::{Exec, Row};
use crate::cells::{Cell, Reads, RowNo, TxnLevel};
use crate::error::{Result, SqlError};
use crate::heap::Heap;
use crate::ir::{Body, Expr, LockStrength, ModifyKind, Query, WaitPolicy};
use crate::locks::{Mode, Outcome, Patience, Target};
use crate::plan::{Access, Scan};
use crate::transaction::TxnState;
use crate::types::{Datum, HashKey};
use std::sync::Arc;

/// The setting that is `innodb_snapshot_isolation`.
const REFUSE_CHANGED: &str = "seriatim.refuse_changed";
/// The SQLSTATE of a row that has changed since the snapshot: MySQL's error 1020.
pub const RECORD_CHANGED: &str = "HY020";

/// How a statement reads: by the snapshot if it is a plain query.
pub fn reads(query: &Query, txn: &TxnState) -> Reads {
    let is_plain = !matches!(query.body, Body::Modify(_)) && query.locks.is_empty();
    let locks_all = txn.level == TxnLevel::Serializable && !txn.implicit;
    if is_plain && !(txn.cells.is_innodb() && locks_all) { Reads::Snapshot } else { Reads::Locked }
}

impl Exec<'_> {
    /// Whether rows are locked and changed as in InnoDB.
    pub(super) fn is_innodb(&self) -> bool {
        self.txn.uses_locks && self.txn.cells.is_innodb()
    }

    /// Whether gaps are locked, and rows that do not satisfy the conditions stay so.
    fn keeps_locks(&self) -> bool {
        self.txn.level >= TxnLevel::RepeatableRead
    }

    /// A statement is about to read: decides how rows are locked that it only reads.
    pub fn begin_reading(&mut self, query: &Query) {
        if !self.is_innodb() {
            return;
        }
        let is_change = matches!(query.body, Body::Modify(_));
        self.is_update = match &query.body {
            Body::Modify(modify) => matches!(modify.kind, ModifyKind::Update { .. }),
            _ => false,
        };
        let is_serializable = self.txn.level == TxnLevel::Serializable;
        let locks = is_change && self.keeps_locks() || is_serializable && !self.txn.implicit;
        self.locked_reads = locks.then_some(LockStrength::Share);
        if query.locks.is_empty() && !is_change {
            self.txn.has_snapshot = true;
        }
    }

    /// Whether a transaction that changes a row makes this cell its own, too: a version of InnoDB
    /// is a whole row, so what others have changed since the snapshot is seen from then on.
    pub(super) fn takes_over(&mut self, cell: Cell) -> Result<bool> {
        let has_snapshot = self.txn.level == TxnLevel::RepeatableRead && self.txn.has_snapshot;
        Ok(self.is_innodb() && has_snapshot && self.txn.cells.is_changed(cell)?)
    }

    /// How a scan locks what it finds, if it does.
    pub(super) fn innodb_lock(&self, scan: &Scan) -> Option<(LockStrength, WaitPolicy)> {
        if !self.is_innodb() {
            return None;
        }
        scan.lock.or(self.locked_reads.map(|strength| (strength, WaitPolicy::Wait)))
    }

    /// The rows of a scan, each locked and as it is then.
    pub(super) fn each_innodb(
        &mut self,
        scan: &Scan,
        heap: &Arc<Heap>,
        filters: &[Expr],
        lock: (LockStrength, WaitPolicy),
        row: &mut Row,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        // First, because rows may come while this one waits for the gap.
        self.lock_gap(scan, heap, row)?;
        let mut rows: Vec<RowNo> = match self.candidates(scan, heap, row)? {
            None => return Ok(true),
            Some(Candidates::All) => (0..heap.rows().count()).map(RowNo).collect(),
            Some(Candidates::These(rows)) => rows,
        };
        heap.rows().put_in_key_order(&mut rows);
        if scan.is_backwards {
            rows.reverse();
        }
        let by_key = matches!(&scan.access, Access::Keys { index: None, .. });
        for number in rows {
            self.tick()?;
            if !self.is_candidate(heap, number) {
                self.lock_absent(heap, number, by_key)?;
                continue;
            }
            if !self.look_at(scan, heap, filters, lock, number, row)? {
                continue;
            }
            if !sink(self, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a row is there, or is for somebody who has not committed.
    fn is_candidate(&self, heap: &Heap, number: RowNo) -> bool {
        let cell = Cell { heap: heap.id, row: number, column: Cell::EXISTENCE };
        self.exists_now(heap, number) || self.txn.cells.is_pending(cell)
    }

    /// Locks a row and reads it; whether it is there and satisfies the conditions.
    fn look_at(
        &mut self,
        scan: &Scan,
        heap: &Arc<Heap>,
        filters: &[Expr],
        (strength, wait): (LockStrength, WaitPolicy),
        number: RowNo,
        row: &mut Row,
    ) -> Result<bool> {
        let (target, mode) = (Target::Row(heap.id, number), mode_of(strength));
        let locks = &self.database().locks;
        let held = locks.held_mode(self.txn.owner, target);
        if held.is_none() && self.is_update && !self.keeps_locks() {
            let free =
                locks.acquire(self.txn.owner, target, mode, Patience::None, self.interrupt())?;
            // A version that does not satisfy the conditions is not waited for.
            if free == Outcome::Busy && !self.read_row(scan, heap, filters, number, row)? {
                return Ok(false);
            }
            if free == Outcome::Held {
                locks.release(self.txn.owner, target, mode);
            }
        }
        let name = &scan.table.table.name;
        if !self.lock_row(heap, number, strength, wait, name)? {
            return Ok(false);
        }
        self.refuse_record(scan, heap, number)?;
        let passes = self.read_row(scan, heap, filters, number, row)?;
        if !passes && held.is_none() && !self.keeps_locks() {
            self.database().locks.release(self.txn.owner, target, mode);
        }
        Ok(passes)
    }

    /// Reads the newest version of a row; whether it satisfies the conditions.
    fn read_row(
        &mut self,
        scan: &Scan,
        heap: &Arc<Heap>,
        filters: &[Expr],
        number: RowNo,
        row: &mut Row,
    ) -> Result<bool> {
        let table = &scan.table;
        let (start, count) = (table.start, table.table.columns.len());
        let columns: Vec<u16> = scan.first.iter().chain(&scan.rest).copied().collect();
        row[start..start + count].fill(Datum::Null);
        row[start + count] = tid(number);
        Ok(self.refresh(table, heap, number, &columns, row)? && self.passes(filters, row)?)
    }

    /// With `innodb_snapshot_isolation`: a row that has changed since the snapshot.
    fn refuse_record(&mut self, scan: &Scan, heap: &Heap, number: RowNo) -> Result<()> {
        let refuses = self.txn.level == TxnLevel::RepeatableRead
            && self.txn.has_snapshot
            && self.env.settings.find(REFUSE_CHANGED).as_deref() == Some("on");
        if refuses && self.has_changed(&scan.table.table, heap, number)? {
            let name = &scan.table.table.name;
            let message = format!("Record has changed since last read in table '{name}'");
            return Err(SqlError::new(RECORD_CHANGED, message));
        }
        Ok(())
    }

    /// Locks the places where rows could come that the scan has to find.
    fn lock_gap(&mut self, scan: &Scan, heap: &Heap, row: &Row) -> Result<()> {
        if !self.keeps_locks() {
            return Ok(());
        }
        match &scan.access {
            Access::Keys { index: Some(index), columns, parts } => {
                let entries = self.database().entries(*index, heap.id);
                for values in self.key_values(scan, columns, parts, row)?.unwrap_or_default() {
                    let number = entries.number(values.into());
                    self.take_gap(Target::KeyGap(entries.id, number))?;
                }
                Ok(())
            }
            // Those that are absent are locked one by one.
            Access::Keys { index: None, .. } => Ok(()),
            _ => self.take_gap(Target::Gap(heap.id)),
        }
    }

    fn take_gap(&mut self, target: Target) -> Result<()> {
        self.acquire(target, Mode::Gap)
    }

    fn acquire(&mut self, target: Target, mode: Mode) -> Result<()> {
        let (patience, owner) = (self.env.patience(), self.txn.owner);
        let locks = &self.database().locks;
        locks.acquire(owner, target, mode, patience, self.interrupt())?;
        Ok(())
    }

    /// A row that was looked for by its key and is not there must not come.
    fn lock_absent(&mut self, heap: &Heap, number: RowNo, by_key: bool) -> Result<()> {
        match by_key && self.keeps_locks() {
            true => self.take_gap(Target::KeyGap(heap.id, crate::cells::KeyNo(number.0))),
            false => Ok(()),
        }
    }

    /// A row is about to come: those who have locked its place are waited for, and others who look
    /// for it wait for this transaction.
    pub(super) fn come(&mut self, rules: &Rules, number: RowNo) -> Result<()> {
        if !self.is_innodb() {
            return Ok(());
        }
        let heap = rules.heap.id;
        self.pass_gap(Target::Gap(heap))?;
        self.pass_gap(Target::KeyGap(heap, crate::cells::KeyNo(number.0)))?;
        self.acquire(Target::Row(heap, number), Mode::Update)
    }

    /// The same for a key of an index.
    pub(super) fn come_to_key(&mut self, rule: &IndexRule, keys: &[HashKey]) -> Result<()> {
        if !self.is_innodb() {
            return Ok(());
        }
        let number = rule.entries.number(keys.into());
        self.pass_gap(Target::KeyGap(rule.entries.id, number))
    }

    fn pass_gap(&mut self, target: Target) -> Result<()> {
        self.acquire(target, Mode::InsertIntention)?;
        self.database().locks.release(self.txn.owner, target, Mode::InsertIntention);
        Ok(())
    }
}

fn mode_of(strength: LockStrength) -> Mode {
    match strength {
        LockStrength::KeyShare => Mode::KeyShare,
        LockStrength::Share => Mode::RowForShare,
        LockStrength::NoKeyUpdate => Mode::NoKeyUpdate,
        LockStrength::Update => Mode::Update,
    }
}
