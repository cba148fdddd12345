//! Transactions of a session: begun, committed, rolled back, with savepoints.

use super::{Session, Status, now};
use crate::catalog::CatalogEdit;
use crate::cells::{Snapshots, TxnLevel};
use crate::error::{Result, SqlError, code};
use crate::execute::Exec;
use crate::locks::Owner;
use crate::transaction::{Changes, Savepoint, TxnState};
use sqlparser::ast::{TransactionAccessMode, TransactionIsolationLevel, TransactionMode};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The level of a name.
pub(super) fn level_of(name: &str) -> TxnLevel {
    match name {
        "serializable" => TxnLevel::Serializable,
        "repeatable read" => TxnLevel::RepeatableRead,
        "read uncommitted" => TxnLevel::ReadUncommitted,
        _ => TxnLevel::ReadCommitted,
    }
}

pub(super) fn level_name(level: TransactionIsolationLevel) -> Result<&'static str> {
    Ok(match level {
        TransactionIsolationLevel::ReadUncommitted => "read uncommitted",
        TransactionIsolationLevel::ReadCommitted => "read committed",
        TransactionIsolationLevel::RepeatableRead => "repeatable read",
        TransactionIsolationLevel::Serializable => "serializable",
        TransactionIsolationLevel::Snapshot => {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \"SNAPSHOT\""));
        }
    })
}

impl Session {
    /// Begins a transaction if none is open.
    pub(super) fn need_transaction(&mut self) -> Result<()> {
        if self.txn.is_some() {
            return Ok(());
        }
        let get = |name: &str| self.settings.find(name).unwrap_or_default();
        let level = get("default_transaction_isolation");
        let read_only = get("default_transaction_read_only");
        self.settings_before = Some(self.settings.clone());
        self.settings.force("transaction_isolation", &level);
        self.settings.force("transaction_read_only", &read_only);
        // A level that nobody asked for is the store's to choose.
        let asked = self.settings.is_set("default_transaction_isolation");
        self.start(level_of(&level), asked, read_only == "on")
    }

    pub(super) fn start(&mut self, level: TxnLevel, asked: bool, read_only: bool) -> Result<()> {
        let cells = self.cells.begin(asked.then_some(level))?;
        let owner = Owner(self.cluster.counters.txn.fetch_add(1, Ordering::Relaxed));
        self.entry.begin(owner, now());
        self.txn = Some(TxnState {
            cells,
            owner,
            edit: CatalogEdit::new(self.database.catalog()),
            pending: Vec::new(),
            deferral: (None, std::collections::BTreeMap::new()),
            savepoints: Vec::new(),
            read_only,
            level,
            asked,
            begun: now(),
            uses_locks: self.uses_locks,
            implicit: true,
            rows_inserted: 0,
            started: false,
            values: Vec::new(),
            changes: Changes::default(),
            has_snapshot: false,
            setting_changes: Vec::new(),
            dropped_heaps: Vec::new(),
            letters: Vec::new(),
            restarted: Vec::new(),
        });
        Ok(())
    }

    /// BEGIN
    pub(super) fn begin(&mut self, modes: &[TransactionMode]) -> Result<()> {
        if self.status == Status::InTransaction {
            self.notices.push(SqlError::new(
                code::ACTIVE_SQL_TRANSACTION,
                "there is already a transaction in progress",
            ));
            return Ok(());
        }
        self.need_transaction()?;
        if let Some(txn) = &mut self.txn {
            txn.implicit = false;
        }
        self.status = Status::InTransaction;
        self.set_modes(modes)
    }

    /// SET TRANSACTION
    pub(super) fn set_modes(&mut self, modes: &[TransactionMode]) -> Result<()> {
        for mode in modes {
            match mode {
                TransactionMode::IsolationLevel(level) => self.set_level(level_name(*level)?)?,
                TransactionMode::AccessMode(access) => {
                    let read_only = *access == TransactionAccessMode::ReadOnly;
                    self.set_read_only(read_only)?;
                }
            }
        }
        Ok(())
    }

    /// The level of this transaction, before its first statement.
    pub(super) fn set_level(&mut self, name: &str) -> Result<()> {
        self.need_transaction()?;
        let Some(txn) = &mut self.txn else { return Ok(()) };
        let level = level_of(name);
        if level == txn.level && txn.asked {
            self.settings.force("transaction_isolation", name);
            return Ok(());
        }
        if txn.started {
            return Err(SqlError::new(
                code::ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION ISOLATION LEVEL must be called before any query",
            ));
        }
        // Nothing was read or written yet: another one at that level takes its place.
        let (implicit, read_only, begun) = (txn.implicit, txn.read_only, txn.begun);
        if let Some(txn) = self.txn.take() {
            txn.cells.abort();
        }
        self.start(level, true, read_only)?;
        if let Some(txn) = &mut self.txn {
            (txn.implicit, txn.begun) = (implicit, begun);
        }
        self.settings.force("transaction_isolation", name);
        Ok(())
    }

    /// Before the first statement of a transaction: it gets the level that those have that begin
    /// like this, if it is a higher one than its own.
    pub(super) fn raise(&mut self, text: &str) -> Result<()> {
        let Some(txn) = &self.txn else { return Ok(()) };
        if self.cluster.raised.is_empty() || txn.started || !txn.savepoints.is_empty() {
            return Ok(());
        }
        let (shape, present) = (crate::parse::shape(text), txn.level);
        let raised = self.cluster.raised.iter().find(|(of, _)| *of == shape);
        match raised.filter(|(_, level)| *level > present).map(|(_, level)| *level) {
            Some(TxnLevel::Serializable) => self.set_level("serializable")?,
            Some(TxnLevel::RepeatableRead) => self.set_level("repeatable read")?,
            _ => return Ok(()),
        }
        self.see_catalog();
        Ok(())
    }

    pub(super) fn set_read_only(&mut self, read_only: bool) -> Result<()> {
        self.need_transaction()?;
        let Some(txn) = &mut self.txn else { return Ok(()) };
        if txn.read_only && !read_only {
            let refused = |message| Err(SqlError::new(code::ACTIVE_SQL_TRANSACTION, message));
            if !txn.savepoints.is_empty() {
                return refused(
                    "cannot set transaction read-write mode inside a read-only transaction",
                );
            }
            if txn.started {
                return refused("transaction read-write mode must be set before any query");
            }
        }
        txn.read_only = read_only;
        self.settings.force("transaction_read_only", if read_only { "on" } else { "off" });
        Ok(())
    }

    /// COMMIT: what was done instead, if the transaction had failed.
    pub(super) fn commit(&mut self) -> Result<&'static str> {
        match self.status {
            Status::Failed => {
                self.abort_transaction();
                return Ok("ROLLBACK");
            }
            Status::Idle if self.txn.as_ref().is_none_or(|txn| txn.implicit) => {
                self.notices.push(SqlError::new(
                    code::NO_ACTIVE_SQL_TRANSACTION,
                    "there is no transaction in progress",
                ));
            }
            _ => {}
        }
        self.commit_transaction()?;
        Ok("COMMIT")
    }

    /// Commits what is open.
    pub(super) fn commit_transaction(&mut self) -> Result<()> {
        if self.txn.is_none() {
            return Ok(());
        }
        if let Err(error) = self.check_deferred() {
            self.abort_transaction();
            return Err(error);
        }
        if let Err(error) = self.end_temporary() {
            self.abort_transaction();
            return Err(error);
        }
        let Some(txn) = self.txn.take() else { return Ok(()) };
        let owner = txn.owner;
        let edit = txn.edit.clone();
        let forgets = txn.cells.takes_columns_as_initial();
        let (channels, cells) = (&self.database.channels, txn.cells);
        let committed = channels.commit(self.number, &txn.letters, || cells.commit());
        if committed.is_ok() && edit.is_changed() {
            self.database.change_catalog(|catalog| edit.apply_to(catalog));
            if forgets {
                self.database.forget_heaps(&txn.dropped_heaps);
            }
        }
        if committed.is_err() {
            put_back(&self.database, txn.restarted.into_iter());
        }
        self.database.locks.release_all(owner);
        if committed.is_err()
            && let Some(before) = self.settings_before.take()
        {
            self.settings = before;
        }
        self.end_transaction();
        committed
    }

    /// Temporary tables whose rows, or which themselves, end with the transaction.
    fn end_temporary(&mut self) -> Result<()> {
        let Some(schema) = self.temporary else { return Ok(()) };
        let env = self.env();
        let Some(txn) = &mut self.txn else { return Ok(()) };
        crate::ddl::Ddl::new(env, txn, "").end_of_transaction(schema)
    }

    /// Checks what was deferred.
    fn check_deferred(&mut self) -> Result<()> {
        let Some(txn) = &mut self.txn else { return Ok(()) };
        if txn.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut txn.pending);
        let env = self.env();
        let Some(txn) = &mut self.txn else { return Ok(()) };
        Exec::new(&env, txn, &[]).run_checks(pending)
    }

    /// Checks at once what SET CONSTRAINTS no longer defers.
    pub(super) fn check_no_longer_deferred(&mut self) -> Result<()> {
        let env = self.env();
        let Some(txn) = &mut self.txn else { return Ok(()) };
        let all = std::mem::take(&mut txn.pending);
        let (later, now): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|check| txn.is_deferred(&env.catalog, check.constraint()));
        txn.pending = later;
        Exec::new(&env, txn, &[]).run_checks(now)
    }

    /// ROLLBACK
    pub(super) fn rollback(&mut self) {
        if self.status == Status::Idle && self.txn.as_ref().is_none_or(|txn| txn.implicit) {
            self.notices.push(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "there is no transaction in progress",
            ));
        }
        self.abort_transaction();
    }

    /// Takes back what is open.
    pub(super) fn abort_transaction(&mut self) {
        if let Some(txn) = self.txn.take() {
            txn.cells.abort();
            put_back(&self.database, txn.restarted.into_iter());
            self.database.locks.release_all(txn.owner);
        }
        if let Some(before) = self.settings_before.take() {
            self.settings = before;
        }
        self.end_transaction();
    }

    fn end_transaction(&mut self) {
        self.status = Status::Idle;
        self.entry.end();
        self.settings_before = None;
        for (name, before) in std::mem::take(&mut self.local).into_iter().rev() {
            let _ = self.settings.set(&name, before.as_deref());
        }
        self.settings.force(
            "transaction_isolation",
            &self.settings.find("default_transaction_isolation").unwrap_or_default(),
        );
        self.settings.force(
            "transaction_read_only",
            &self.settings.find("default_transaction_read_only").unwrap_or_default(),
        );
        self.portals.retain(|_, portal| portal.is_held());
        if !self.listed.cursors.is_empty() {
            self.list_again();
        }
    }

    /// A statement has failed.
    pub(super) fn fail(&mut self) {
        match &mut self.txn {
            Some(txn) if !txn.implicit => {
                self.status = Status::Failed;
                // Nothing can save it any more: others need not wait until it is rolled back.
                if txn.savepoints.is_empty() {
                    if txn.cells.snapshots() != Snapshots::None {
                        txn.cells.roll_back_to(0);
                    }
                    self.database.locks.release_all(txn.owner);
                }
            }
            _ => self.abort_transaction(),
        }
    }

    fn need_block(&self, what: &str) -> Result<()> {
        if self.status == Status::Idle {
            return Err(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                format!("{what} can only be used in transaction blocks"),
            ));
        }
        Ok(())
    }

    /// SAVEPOINT
    pub(super) fn savepoint(&mut self, name: String) -> Result<()> {
        self.need_block("SAVEPOINT")?;
        let settings = self.settings.clone();
        if let Some(txn) = &mut self.txn {
            let mark = txn.cells.mark();
            txn.savepoints.push(Savepoint {
                name,
                mark,
                edit: txn.edit.clone(),
                pending: txn.pending.len(),
                letters: txn.letters.len(),
                restarted: txn.restarted.len(),
                deferral: txn.deferral.clone(),
                read_only: txn.read_only,
                settings,
            });
        }
        Ok(())
    }

    /// RELEASE SAVEPOINT
    pub(super) fn release(&mut self, name: &str) -> Result<()> {
        self.need_block("RELEASE SAVEPOINT")?;
        let Some(txn) = &mut self.txn else { return Ok(()) };
        let place = txn.savepoints.iter().rposition(|it| it.name == name);
        let place = place.ok_or_else(|| no_savepoint(name))?;
        // What is around it may be read-write again.
        txn.read_only = txn.savepoints[place].read_only;
        txn.savepoints.truncate(place);
        let shown = if txn.read_only { "on" } else { "off" };
        self.settings.force("transaction_read_only", shown);
        Ok(())
    }

    /// ROLLBACK TO SAVEPOINT
    pub(super) fn rollback_to(&mut self, name: &str) -> Result<()> {
        self.need_block("ROLLBACK TO SAVEPOINT")?;
        let catalog = self.database.catalog();
        let Some(txn) = &mut self.txn else { return Ok(()) };
        let place = txn.savepoints.iter().rposition(|it| it.name == name);
        let place = place.ok_or_else(|| no_savepoint(name))?;
        txn.savepoints.truncate(place + 1);
        let savepoint = &txn.savepoints[place];
        txn.cells.roll_back_to(savepoint.mark);
        txn.edit = savepoint.edit.clone();
        txn.edit.rebase(&catalog);
        txn.pending.truncate(savepoint.pending);
        txn.letters.truncate(savepoint.letters);
        put_back(&self.database, txn.restarted.drain(savepoint.restarted..));
        txn.deferral = savepoint.deferral.clone();
        txn.read_only = savepoint.read_only;
        self.settings = savepoint.settings.clone();
        self.status = Status::InTransaction;
        Ok(())
    }

    /// The transaction sees what others have committed to the catalog.
    pub(super) fn see_catalog(&mut self) {
        let catalog = self.database.catalog();
        if let Some(txn) = &mut self.txn {
            txn.edit.rebase(&catalog);
        }
        let _: Arc<crate::catalog::Catalog> = catalog;
    }
}

/// Sequences that TRUNCATE or ALTER SEQUENCE let begin anew go on from where they were.
fn put_back(
    database: &crate::database::Database,
    restarted: impl DoubleEndedIterator<Item = (crate::types::Oid, Option<i64>)>,
) {
    restarted.rev().for_each(|(sequence, before)| {
        database.replace_value(sequence, before);
    });
}

fn no_savepoint(name: &str) -> SqlError {
    SqlError::new(
        code::INVALID_SAVEPOINT_SPECIFICATION,
        format!("savepoint \"{name}\" does not exist"),
    )
}
