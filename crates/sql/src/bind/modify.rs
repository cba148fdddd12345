//! Changes of rows: what INSERT, UPDATE, DELETE and MERGE have in common; UPDATE and DELETE.

use super::names::NamedTable;
use super::query::Unknowns;
use super::target::{Change, Placed, Target};
use super::{Binder, Clause};
use crate::catalog::{Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Expr, ExprKind, Modify, ModifyKind, Query};
use sqlparser::ast::{self, SelectItem};
use std::sync::Arc;

impl Binder<'_> {
    /// Binds a change at the innermost level.
    pub(super) fn modify(&mut self, statement: &ast::Statement) -> Result<Query> {
        match statement {
            ast::Statement::Insert(insert) => self.insert(insert),
            ast::Statement::Update(update) => self.update(update),
            ast::Statement::Delete(delete) => self.delete(delete),
            ast::Statement::Merge(merge) => self.merge(merge),
            other => Err(SqlError::unsupported(format!("the statement {other}"))),
        }
    }

    /// Binds a change that is a statement of its own.
    pub fn bind_modify(&mut self, statement: &ast::Statement) -> Result<Query> {
        Ok(self.inside(|binder| binder.modify(statement))?.0)
    }

    pub(super) fn target_table(&self, name: &ast::ObjectName) -> Result<Arc<Table>> {
        match self.find_table(name)? {
            NamedTable::Relation(Relation::Table(table)) if table.materialized.is_some() => {
                Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("cannot change materialized view \"{}\"", table.name),
                ))
            }
            NamedTable::Relation(Relation::Table(table)) => Ok(table),
            NamedTable::Relation(Relation::View(view)) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("\"{}\" is not a table", view.name),
            )),
            NamedTable::Relation(Relation::Sequence(it)) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("cannot change sequence \"{}\"", it.name),
            )),
            NamedTable::Relation(Relation::Index(it)) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("cannot open relation \"{}\"", it.name),
            )
            .detail("This operation is not supported for indexes.")),
            NamedTable::System(table) => Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                format!("permission denied: \"{}\" is a system catalog", table.name),
            )),
        }
    }

    pub(super) fn finish(
        &mut self,
        target: &Target,
        placed: Placed,
        kind: ModifyKind,
        returning: Option<&Vec<SelectItem>>,
    ) -> Result<Query> {
        let only_target = matches!(kind, ModifyKind::Insert { .. });
        let checks = match kind {
            ModifyKind::Delete { .. } => Vec::new(),
            _ => target.checks(&placed),
        };
        let target = placed.reference;
        if only_target {
            let level = self.level();
            level.items.truncate(1);
            let start = target.start;
            let end = start + target.width();
            level.visible.retain(|it| match it.expr.kind {
                ExprKind::Column { depth: 0, index } => (start..end).contains(&index),
                _ => true,
            });
        }
        let (columns, returning) = match returning {
            Some(items) => self
                .in_clause(Clause::Returning, |binder| binder.targets(items, Unknowns::Resolve))?,
            None => (Vec::new(), Vec::new()),
        };
        if !self.level().aggregates.is_empty() {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                "aggregate functions are not allowed in RETURNING",
            ));
        }
        let width = self.level().width;
        let modify = Modify { target, kind, returning, width, checks };
        Ok(Query { body: Body::Modify(Box::new(modify)), ..Query::values(Vec::new(), columns) })
    }

    fn update(&mut self, update: &ast::Update) -> Result<Query> {
        let ast::TableFactor::Table { name, alias, .. } = &update.table.relation else {
            return Err(SqlError::unsupported("UPDATE of something that is no table"));
        };
        if !update.table.joins.is_empty() || !update.order_by.is_empty() || update.limit.is_some() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in UPDATE"));
        }
        let target = self.change_target(name, Change::Update)?;
        let placed = self.target_ref(&target, alias.as_ref())?;
        let from = match &update.from {
            Some(
                ast::UpdateTableFromKind::AfterSet(list)
                | ast::UpdateTableFromKind::BeforeSet(list),
            ) => self.bind_from(list)?,
            None => None,
        };
        let filter = self.where_clause(update.selection.as_ref())?;
        let set = self.assignments(&target, &placed.reference, &update.assignments)?;
        let filter = placed.filter(filter);
        let kind = ModifyKind::Update { from, filter, set };
        self.finish(&target, placed, kind, update.returning.as_ref())
    }

    fn where_clause(&mut self, selection: Option<&ast::Expr>) -> Result<Option<Expr>> {
        match selection {
            Some(ast) => self.in_clause(Clause::Where, |it| it.condition(ast, "WHERE")).map(Some),
            None => Ok(None),
        }
    }

    fn delete(&mut self, delete: &ast::Delete) -> Result<Query> {
        let (ast::FromTable::WithFromKeyword(tables) | ast::FromTable::WithoutKeyword(tables)) =
            &delete.from;
        let [ast::TableWithJoins { relation: ast::TableFactor::Table { name, alias, .. }, joins }] =
            &tables[..]
        else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in DELETE"));
        };
        if !joins.is_empty() || !delete.order_by.is_empty() || delete.limit.is_some() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in DELETE"));
        }
        let target = self.change_target(name, Change::Delete)?;
        let placed = self.target_ref(&target, alias.as_ref())?;
        let from = match &delete.using {
            Some(list) => self.bind_from(list)?,
            None => None,
        };
        let filter = self.where_clause(delete.selection.as_ref())?;
        let kind = ModifyKind::Delete { from, filter: placed.filter(filter) };
        self.finish(&target, placed, kind, delete.returning.as_ref())
    }
}
