//! What the rows of a table have to satisfy, made once a statement, and what of it is checked at
//! the end of the statement or transaction.

use super::Exec;
use crate::catalog::{Constraint, ConstraintKind, ForeignKey, Index, IndexedExpr, Table};
use crate::error::Result;
use crate::heap::{Heap, IndexEntries};
use crate::ir::Expr;
use crate::transaction::PendingCheck;
use crate::types::Oid;
use std::sync::Arc;

/// What the rows of a table have to satisfy.
#[derive(Debug)]
pub struct Rules {
    /// The table.
    pub table: Arc<Table>,
    /// Its rows.
    pub heap: Arc<Heap>,
    pub(super) generated: Vec<(u16, Expr)>,
    pub(super) checks: Vec<(Arc<str>, Expr)>,
    pub(super) indexes: Vec<IndexRule>,
    /// References of this table.
    pub(super) references: Vec<(Constraint, ForeignKey)>,
    /// References to this table: the table that refers, and how.
    pub(super) referenced: Vec<(Arc<Table>, Constraint, ForeignKey)>,
    /// Whether the session replays what another server has checked: no foreign key is looked at.
    replica: bool,
}

#[derive(Debug)]
pub(super) struct IndexRule {
    pub(super) index: Arc<Index>,
    pub(super) keys: Vec<Expr>,
    pub(super) predicate: Option<Expr>,
    pub(super) entries: Arc<IndexEntries>,
    /// A collation under which equal keys are not the same bytes.
    pub(super) nondeterministic: Option<Arc<str>>,
    /// Whether it is checked when the statement or transaction ends, and the constraint.
    pub(super) deferrable: Option<Oid>,
}

impl Rules {
    /// Whether the triggers do not fire that make a foreign key hold when this table changes.
    pub(super) fn is_silent(&self, constraint: Oid) -> bool {
        self.replica || self.table.silent.contains(&constraint)
    }

    /// Whether a column is part of a unique key.
    pub fn is_key(&self, column: u16) -> bool {
        self.indexes.iter().any(|rule| {
            rule.index.unique
                && rule.index.keys.iter().any(|key| match key.what {
                    IndexedExpr::Column(number) => number == column,
                    IndexedExpr::Expr(_) => false,
                })
        })
    }
}

impl Exec<'_> {
    /// The rules of a table, made once a statement.
    pub(super) fn rules(&mut self, table: &Arc<Table>) -> Result<Arc<Rules>> {
        if let Some(rules) = self.rules.get(&table.oid) {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(self.make_rules(table)?);
        self.rules.insert(table.oid, Arc::clone(&rules));
        Ok(rules)
    }

    fn make_rules(&mut self, table: &Arc<Table>) -> Result<Rules> {
        let heap = self.database().heap(table.heap)?;
        let mut binder = self.env.binder("");
        let mut generated = Vec::new();
        for (number, column) in table.live() {
            if let Some(default) = &column.default
                && default.generated
            {
                generated.push((number, binder.generated_expr(table, column)?));
            }
        }
        let mut checks = Vec::new();
        let mut references = Vec::new();
        for constraint in &table.constraints {
            match &constraint.kind {
                ConstraintKind::Check { text, .. } => {
                    let expr = binder.check_expr(table, text)?;
                    checks.push((Arc::clone(&constraint.name), expr));
                }
                ConstraintKind::ForeignKey(it) => {
                    references.push((constraint.clone(), it.clone()));
                }
                _ => {}
            }
        }
        checks.sort_by(|left, right| left.0.cmp(&right.0));
        let mut indexes = Vec::new();
        for &oid in &table.indexes {
            let Some(index) = self.env.catalog.index(oid) else { continue };
            let mut keys = Vec::new();
            for key in &index.keys {
                keys.push(binder.index_expr(table, &key.what)?);
            }
            let predicate = match &index.predicate {
                Some(text) => Some(binder.check_expr(table, text)?),
                None => None,
            };
            let constraint = table.constraints.iter().find(|it| Some(it.oid) == index.constraint);
            indexes.push(IndexRule {
                index: Arc::clone(index),
                keys,
                predicate,
                entries: self.database().entries(oid, table.heap),
                nondeterministic: self.nondeterministic(table, index)?,
                deferrable: constraint.filter(|it| it.deferrable).map(|it| it.oid),
            });
        }
        let referenced = self.referenced_by(table.oid);
        Ok(Rules {
            table: Arc::clone(table),
            heap,
            generated,
            checks,
            indexes,
            references,
            referenced,
            replica: self.is_replica(),
        })
    }

    fn is_replica(&self) -> bool {
        self.env.settings.find("session_replication_role").as_deref() == Some("replica")
    }

    /// A collation of an index under which texts of different bytes are equal.
    fn nondeterministic(&self, table: &Table, index: &Index) -> Result<Option<Arc<str>>> {
        for key in &index.keys {
            let own = match key.what {
                IndexedExpr::Column(number) => table.column(number).collation,
                IndexedExpr::Expr(_) => None,
            };
            let found = self.env.catalog.own_collation(key.collation.or(own))?;
            if let Some(collation) = found.filter(|it| !it.deterministic) {
                return Ok(Some(Arc::clone(&collation.name)));
            }
        }
        Ok(None)
    }

    fn referenced_by(&self, oid: Oid) -> Vec<(Arc<Table>, Constraint, ForeignKey)> {
        let mut found = Vec::new();
        for (_, object) in self.env.catalog.objects() {
            let crate::catalog::Object::Table(table) = object else { continue };
            for constraint in &table.constraints {
                if let ConstraintKind::ForeignKey(it) = &constraint.kind
                    && it.table == oid
                {
                    found.push((Arc::clone(table), constraint.clone(), it.clone()));
                }
            }
        }
        found
    }

    /// Makes the checks that are due: those that are not deferred, or all.
    pub fn run_checks(&mut self, pending: Vec<PendingCheck>) -> Result<()> {
        for check in pending {
            self.tick()?;
            match check {
                PendingCheck::Reference { table, constraint, row } => {
                    self.check_reference(table, constraint, row)?;
                }
                PendingCheck::Referenced { table, constraint, key } => {
                    self.check_referenced(table, constraint, &key)?;
                }
                PendingCheck::Unique { table, index, row } => {
                    self.check_unique(table, index, row)?;
                }
            }
        }
        Ok(())
    }

    /// What is to be checked when the statement ends; what is deferred stays for later.
    pub fn take_checks(&mut self) -> Vec<PendingCheck> {
        let all = std::mem::take(&mut self.checks);
        let (now, later): (Vec<PendingCheck>, Vec<PendingCheck>) = all
            .into_iter()
            .partition(|check| !self.txn.is_deferred(&self.env.catalog, check.constraint()));
        self.txn.pending.extend(later);
        now
    }
}
