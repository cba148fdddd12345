//! Runs statements: expressions, plans, grouping and order, changes and constraints.
//!
//! [`Exec`] is one statement while it runs. Rows are handed on one by one as far as that goes, so
//! that a LIMIT ends what is behind it.

mod aggregate;
mod array;
mod constraints;
mod detached;
mod eval;
mod exists;
mod found_rows;
mod innodb;
mod keys;
mod members;
mod modify;
mod new_values;
mod nodes;
mod query;
mod references;
mod rewrite;
mod row_checks;
mod row_locks;
mod rows;
mod scan;
mod scan_order;
mod session_functions;
mod set_part;
mod subquery;
mod unique;
mod window;
mod window_order;
mod write;

pub use crate::types::Row;
pub use detached::{Detached, value_over};
pub use innodb::reads;
pub use modify::RowWriter;
pub use rewrite::contains_null;

use crate::database::Database;
use crate::env::Env;
use crate::error::Result;
use crate::functions::Call;
use crate::interrupt::Interrupt;
use crate::ir::LockStrength;
use crate::transaction::{PendingCheck, TxnState};
use crate::types::{Datum, Oid};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A statement that runs.
pub struct Exec<'e> {
    /// What it may know of the session and the catalog.
    pub env: &'e Env,
    /// The transaction that it is part of.
    pub txn: &'e mut TxnState,
    /// Its parameters.
    pub params: &'e [Datum],
    /// The rows of the queries around the one that runs, outermost first.
    levels: Vec<Row>,
    /// What stands for placeholders, innermost last.
    placeholders: Vec<Datum>,
    /// The rows of the queries of WITH, by number.
    ctes: FxHashMap<usize, Arc<Vec<Row>>>,
    /// Queries of WITH that nothing has asked for yet, with how many levels are around them.
    waiting: FxHashMap<usize, (crate::ir::Cte, usize)>,
    /// The rows of subqueries that look at nothing around them, by number.
    results: FxHashMap<usize, Arc<Vec<Row>>>,
    /// The same as sets, for IN.
    members: FxHashMap<usize, members::Members>,
    /// Queries of EXISTS that look at the row around them, by number.
    searches: FxHashMap<usize, exists::Search>,
    /// Arrays as sets, by where they are.
    elements: FxHashMap<(usize, crate::ir::Quantified), members::Elements>,
    /// Rows that were changed or locked, so that a statement does so once.
    touched: rustc_hash::FxHashSet<(crate::catalog::HeapId, crate::cells::RowNo)>,
    /// What the client is to be told besides.
    pub notices: Vec<crate::error::SqlError>,
    ticks: u32,
    /// The rows of system tables, by relation.
    system: FxHashMap<Oid, Arc<Vec<Row>>>,
    /// What the rows of tables have to satisfy.
    rules: FxHashMap<Oid, Arc<constraints::Rules>>,
    /// What is to be checked when the statement ends.
    checks: Vec<PendingCheck>,
    /// In a statement with several parts of which one changes rows: changed rows as they were
    /// before, which is how all parts see them; `None` for a row that was not there.
    before: Option<FxHashMap<(crate::catalog::HeapId, crate::cells::RowNo), Option<Row>>>,
    /// In InnoDB: how rows are locked that are only read.
    locked_reads: Option<LockStrength>,
    /// In InnoDB: whether it is an UPDATE.
    is_update: bool,
}

impl std::fmt::Debug for Exec<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Exec({} levels)", self.levels.len())
    }
}

impl<'e> Exec<'e> {
    /// A statement that begins.
    pub fn new(env: &'e Env, txn: &'e mut TxnState, params: &'e [Datum]) -> Exec<'e> {
        Exec {
            env,
            txn,
            params,
            levels: Vec::new(),
            placeholders: Vec::new(),
            ctes: FxHashMap::default(),
            waiting: FxHashMap::default(),
            results: FxHashMap::default(),
            members: FxHashMap::default(),
            searches: FxHashMap::default(),
            elements: FxHashMap::default(),
            touched: rustc_hash::FxHashSet::default(),
            notices: Vec::new(),
            ticks: 0,
            system: FxHashMap::default(),
            rules: FxHashMap::default(),
            checks: Vec::new(),
            before: None,
            locked_reads: None,
            is_update: false,
        }
    }

    /// From now on all scans see rows as they are now.
    fn keep_snapshot(&mut self) {
        self.before.get_or_insert_default();
    }

    /// A row is about to be changed; `old` is what it holds.
    fn remember(
        &mut self,
        heap: crate::catalog::HeapId,
        row: crate::cells::RowNo,
        old: Option<&Row>,
    ) {
        if let Some(before) = &mut self.before {
            before.entry((heap, row)).or_insert_with(|| old.cloned());
        }
    }

    /// The database.
    pub fn database(&self) -> &'e Database {
        &self.env.database
    }

    fn interrupt(&self) -> &'e Interrupt {
        &self.env.interrupt
    }

    /// Looks from time to time whether the statement is to end.
    fn tick(&mut self) -> Result<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(256) { self.interrupt().check() } else { Ok(()) }
    }

    /// What functions may know.
    fn call<'c>(&self, args: &'c [Oid], result: Oid) -> Call<'c>
    where
        'e: 'c,
    {
        Call { args, result, style: &self.env.style, types: self.env }
    }
}
