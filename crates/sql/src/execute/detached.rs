//! Expressions outside of any transaction: checks of domains, constants.

use super::Exec;
use super::session_functions::is_session_function;
use crate::catalog::builtin::Proc;
use crate::catalog::{CatalogEdit, HeapId};
use crate::cells::{Cell, CellTxn, Group, Lock, RowNo, RowSet, Statement, TxnLevel};
use crate::env::{Env, Executor};
use crate::error::{Result, SqlError};
use crate::ir::Expr;
use crate::locks::Owner;
use crate::transaction::TxnState;
use crate::types::Datum;
use std::sync::Arc;

/// The value of an expression over a value that stands for its placeholder.
pub fn value_over(env: &Env, expr: &Expr, value: &Datum) -> Result<Datum> {
    let mut txn = detached(env);
    let mut exec = Exec::new(env, &mut txn, &[]);
    exec.with_placeholder(value.clone(), expr)
}

/// The executor outside of any statement.
#[derive(Clone, Copy, Debug)]
pub struct Detached;

impl Executor for Detached {
    fn runs(&self, proc: &Proc) -> bool {
        is_session_function(proc)
    }

    fn value_over(&self, env: &Env, expr: &Expr, value: &Datum) -> Result<Datum> {
        value_over(env, expr, value)
    }
}

fn detached(env: &Env) -> TxnState {
    TxnState {
        changes: crate::transaction::Changes::default(),
        has_snapshot: false,
        cells: Box::new(NoCells),
        owner: Owner(0),
        edit: CatalogEdit::new(Arc::clone(&env.catalog)),
        pending: Vec::new(),
        deferral: (None, std::collections::BTreeMap::new()),
        savepoints: Vec::new(),
        read_only: true,
        level: TxnLevel::ReadCommitted,
        asked: false,
        begun: 0,
        uses_locks: false,
        implicit: true,
        rows_inserted: 0,
        started: false,
        values: Vec::new(),
        setting_changes: Vec::new(),
        dropped_heaps: Vec::new(),
        letters: Vec::new(),
        restarted: Vec::new(),
    }
}

/// No table can be read here.
struct NoCells;

fn nothing<T>() -> Result<T> {
    Err(SqlError::unsupported("a table in a constraint of a domain"))
}

impl CellTxn for NoCells {
    fn begin_statement(&mut self, _: &Statement<'_>) -> Result<()> {
        Ok(())
    }
    fn read(&mut self, _: Cell) -> Result<Option<Datum>> {
        nothing()
    }
    fn read_column(&mut self, _: HeapId, _: u16, _: RowSet<'_>) -> Result<Vec<(RowNo, Datum)>> {
        nothing()
    }
    fn read_group(&mut self, _: Group) -> Result<()> {
        nothing()
    }
    fn enter_group(&mut self, _: Group, _: RowNo) -> Result<()> {
        nothing()
    }
    fn read_latest(&mut self, _: Cell) -> Result<Option<Datum>> {
        nothing()
    }
    fn peek(&self, _: Cell) -> Option<Datum> {
        None
    }
    fn write(&mut self, _: Cell, _: Datum) -> Result<()> {
        nothing()
    }
    fn mark(&mut self) -> usize {
        0
    }
    fn roll_back_to(&mut self, _: usize) {}
    fn hand_over(&mut self, _: Lock, _: bool) -> Result<()> {
        Ok(())
    }
    fn commit(self: Box<Self>) -> Result<()> {
        Ok(())
    }
    fn abort(self: Box<Self>) {}
}
