//! What a session does otherwise for clients of MySQL: a statement that fails takes back only
//! itself, and the transaction goes on.

use super::{Reply, Session, Status};
use crate::bind::Params;
use crate::cells::TxnLevel;
use crate::error::{Result, SqlError, code};
use crate::ir::OutColumn;
use crate::parse::Parsed;
use crate::transaction::Changes;
use crate::types::{Datum, Dialect, Oid};
use sqlparser::ast::Statement;

/// How long a transaction is to last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// One statement.
    Statement,
    /// Until it is committed or rolled back.
    Block,
}

impl Session {
    /// From now on names and types follow MySQL's rules.
    pub fn speak_mysql(&mut self) {
        self.settings.set_dialect(Dialect::Mysql);
    }

    /// Begins a transaction if none is open.
    pub fn open_at(
        &mut self,
        level: Option<TxnLevel>,
        is_read_only: bool,
        extent: Extent,
    ) -> Result<()> {
        if self.txn.is_none() {
            self.start(level.unwrap_or_default(), level.is_some(), is_read_only)?;
        }
        if extent == Extent::Block {
            self.status = Status::InTransaction;
            if let Some(txn) = &mut self.txn {
                txn.implicit = false;
            }
        }
        Ok(())
    }

    /// Commits what is open.
    pub fn commit_open(&mut self) -> Result<()> {
        self.commit_transaction()
    }

    /// Takes back what is open.
    pub fn abort_open(&mut self) {
        self.abort_transaction();
    }

    /// Runs a statement. One that fails takes back what it has done; in a deadlock, and where the
    /// store cannot go on, the whole transaction.
    pub fn run_parsed(
        &mut self,
        parsed: &Parsed,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Reply> {
        let before =
            self.txn.as_mut().map(|txn| (txn.cells.mark(), txn.edit.clone(), txn.pending.len()));
        self.changes = Changes::default();
        let result = self.statement(parsed, params, types);
        if let Some(txn) = &self.txn {
            self.changes = txn.changes;
        }
        let Err(error) = result else { return result };
        let is_over = matches!(error.code(), code::DEADLOCK_DETECTED | code::SERIALIZATION_FAILURE);
        match (before, &mut self.txn) {
            (Some((mark, edit, pending)), Some(txn)) if !is_over && !txn.implicit => {
                txn.cells.roll_back_to(mark);
                txn.edit = edit;
                txn.pending.truncate(pending);
            }
            _ => self.abort_transaction(),
        }
        Err(error)
    }

    /// What the last statement has changed.
    pub fn changes(&self) -> Changes {
        self.changes
    }

    /// The columns of the result of a statement, if it is a query.
    pub fn columns_of(&mut self, parsed: &Parsed) -> Result<Option<Vec<OutColumn>>> {
        let Statement::Query(query) = &parsed.statement else { return Ok(None) };
        if parsed.utility.is_some() {
            return Ok(None);
        }
        self.see_catalog();
        let env = self.env();
        let mut binder = env.binder_with(&parsed.text, Params::default());
        Ok(Some(binder.bind_query(query)?.columns))
    }

    /// SAVEPOINT, which replaces one of the same name.
    pub fn set_savepoint(&mut self, name: &str) -> Result<()> {
        if let Some(txn) = &mut self.txn {
            txn.savepoints.retain(|it| it.name != name);
        }
        self.savepoint(name.to_owned())
    }

    /// ROLLBACK TO SAVEPOINT
    pub fn back_to_savepoint(&mut self, name: &str) -> Result<()> {
        self.rollback_to(name)
    }

    /// RELEASE SAVEPOINT
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        self.release(name)
    }

    /// Warns the client.
    pub fn note(&mut self, notice: SqlError) {
        self.notices.push(notice);
    }
}
