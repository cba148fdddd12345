//! A transaction while it is open: its cells, its catalog, its savepoints and what is still to be
//! checked. Sessions begin and end it; statements run in it.

use crate::catalog::{Catalog, CatalogEdit, ConstraintKind, Object};
use crate::cells::{CellTxn, RowNo, TxnLevel};
use crate::channels::Letter;
use crate::error::{Result, SqlError, code};
use crate::ir::Modify;
use crate::locks::Owner;
use crate::settings::Settings;
use crate::types::{Oid, Row};
use std::collections::BTreeMap;

/// A transaction.
pub struct TxnState {
    /// Its cells.
    pub cells: Box<dyn CellTxn>,
    /// Who holds its locks.
    pub owner: Owner,
    /// The catalog as it sees it.
    pub edit: CatalogEdit,
    /// What is checked when it commits.
    pub pending: Vec<PendingCheck>,
    /// SET CONSTRAINTS ALL, and of single ones.
    pub deferral: (Option<bool>, BTreeMap<Oid, bool>),
    /// Its savepoints.
    pub savepoints: Vec<Savepoint>,
    /// Whether it may not write.
    pub read_only: bool,
    /// Its level.
    pub level: TxnLevel,
    /// Whether that was asked for.
    pub asked: bool,
    /// When it began: microseconds since 2000-01-01.
    pub begun: i64,
    /// Whether rows are locked.
    pub uses_locks: bool,
    /// Whether it was begun for one statement only.
    pub implicit: bool,
    /// How many rows it has inserted.
    pub rows_inserted: u64,
    /// Whether a statement has run: then its level is fixed.
    pub started: bool,
    /// Numbers that were taken from sequences, for `currval`.
    pub values: Vec<(Oid, i64)>,
    /// In InnoDB: whether a statement has read by the snapshot.
    pub has_snapshot: bool,
    /// What the present statement has changed so far.
    pub changes: Changes,
    /// What `set_config` is to change when the statement ends.
    pub setting_changes: Vec<SettingChange>,
    /// The rows of tables that it dropped or wrote anew.
    pub dropped_heaps: Vec<crate::catalog::HeapId>,
    /// What it does to channels when it commits.
    pub letters: Vec<Letter>,
    /// Sequences that it let begin anew, and what they gave before: they go on there if it ends
    /// without a commit.
    pub restarted: Vec<(Oid, Option<i64>)>,
}

/// What a statement has changed, as clients of MySQL are told.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// Rows that are new.
    pub inserted: u64,
    /// Rows that were to be updated.
    pub matched: u64,
    /// Those of them that have other values now.
    pub changed: u64,
    /// The first number that a column gave itself.
    pub generated: Option<i64>,
    /// The last number that was given to such a column.
    pub given: Option<i64>,
}

impl std::fmt::Debug for TxnState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TxnState({:?}, {:?})", self.owner, self.level)
    }
}

/// Something that is checked at the end of the statement or transaction.
#[derive(Clone, Debug)]
pub enum PendingCheck {
    /// The row that a row refers to is there.
    Reference {
        /// The table.
        table: Oid,
        /// The constraint.
        constraint: Oid,
        /// The row.
        row: RowNo,
    },
    /// No row refers to a key that is gone.
    Referenced {
        /// The table that refers.
        table: Oid,
        /// The constraint.
        constraint: Oid,
        /// The key that is gone.
        key: Row,
    },
    /// No other row has the same key.
    Unique {
        /// The table.
        table: Oid,
        /// The index.
        index: Oid,
        /// The row.
        row: RowNo,
    },
}

impl PendingCheck {
    /// The constraint or index that it is about.
    pub fn constraint(&self) -> Oid {
        match self {
            PendingCheck::Reference { constraint, .. }
            | PendingCheck::Referenced { constraint, .. } => *constraint,
            PendingCheck::Unique { index, .. } => *index,
        }
    }
}

/// A setting that a function has set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingChange {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it holds until the transaction ends.
    pub local: bool,
}

/// A savepoint: what comes back with ROLLBACK TO.
#[derive(Debug)]
pub struct Savepoint {
    /// Its name.
    pub name: String,
    /// Where the cells stood.
    pub mark: usize,
    /// The catalog.
    pub edit: CatalogEdit,
    /// The checks.
    pub pending: usize,
    /// The letters.
    pub letters: usize,
    /// The sequences that began anew.
    pub restarted: usize,
    /// What SET CONSTRAINTS had said.
    pub deferral: (Option<bool>, BTreeMap<Oid, bool>),
    /// Whether nothing may be written.
    pub read_only: bool,
    /// The settings.
    pub settings: Settings,
}

impl TxnState {
    /// Remembers a number for `currval`.
    pub fn remember_value(&mut self, sequence: Oid, value: i64) {
        self.values.push((sequence, value));
    }

    /// An error if the transaction may not write to the table.
    pub fn check_writable(&self, modify: &Modify) -> Result<()> {
        use crate::ir::ModifyKind as K;
        let temporary = modify.target.table.persistence != crate::catalog::Persistence::Permanent;
        if !self.read_only || temporary {
            return Ok(());
        }
        let what = match modify.kind {
            K::Insert { .. } => "INSERT",
            K::Update { .. } => "UPDATE",
            K::Delete { .. } => "DELETE",
            K::Merge { .. } => "MERGE",
        };
        Err(read_only(what))
    }

    /// Whether a constraint (or the one of an index) is checked when the transaction ends.
    pub fn is_deferred(&self, catalog: &Catalog, oid: Oid) -> bool {
        let oid = match catalog.index(oid) {
            Some(index) => index.constraint.unwrap_or(oid),
            None => oid,
        };
        let found = catalog.objects().find_map(|(_, object)| match object {
            Object::Table(table) => table.constraints.iter().find(|it| it.oid == oid),
            _ => None,
        });
        let Some(constraint) = found.filter(|it| it.deferrable) else { return false };
        let _: &ConstraintKind = &constraint.kind;
        let said = self.deferral.1.get(&oid).copied().or(self.deferral.0);
        said.unwrap_or(constraint.deferred)
    }
}

/// What a transaction that may not write is told.
pub(crate) fn read_only(what: &str) -> SqlError {
    SqlError::new(
        code::READ_ONLY_SQL_TRANSACTION,
        format!("cannot execute {what} in a read-only transaction"),
    )
}
