//! Changes of rows: what INSERT, UPDATE, DELETE and MERGE have in common; UPDATE and DELETE.

use super::aggregate::sort_key;
use super::names::NamedTable;
use super::query::Unknowns;
use super::target::{Change, Placed, Target};
use super::{Binder, Clause};
use crate::catalog::{Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Expr, ExprKind, Modify, ModifyKind, Query, SortKey};
use sqlparser::ast::{self, SelectItem};
use std::sync::Arc;

/// In which order rows are changed, and how many.
type OrderAndLimit = (Vec<(Expr, SortKey)>, Option<Expr>);

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
        if !self.level().windows.is_empty() {
            let message = "window functions are not allowed in RETURNING";
            return Err(SqlError::new(code::WINDOWING_ERROR, message));
        }
        super::expr::refuse_sets(&returning, "RETURNING")?;
        let width = self.level().width;
        let (order, limit) = (Vec::new(), None);
        let modify = Modify { target, kind, order, limit, returning, width, checks };
        Ok(Query { body: Body::Modify(Box::new(modify)), ..Query::values(Vec::new(), columns) })
    }

    fn update(&mut self, update: &ast::Update) -> Result<Query> {
        let ast::TableFactor::Table { name, alias, .. } = &update.table.relation else {
            return Err(SqlError::unsupported("UPDATE of something that is no table"));
        };
        let is_limited = !update.order_by.is_empty() || update.limit.is_some();
        if !update.table.joins.is_empty() || is_limited && !self.is_mysql() {
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
        let (order, limit) = self.first_of(&update.order_by, update.limit.as_ref())?;
        let kind = ModifyKind::Update { from, filter, set };
        let bound = self.finish(&target, placed, kind, update.returning.as_ref())?;
        Ok(limited(bound, order, limit))
    }

    /// MySQL's ORDER BY and LIMIT of a change.
    fn first_of(
        &mut self,
        order: &[ast::OrderByExpr],
        limit: Option<&ast::Expr>,
    ) -> Result<OrderAndLimit> {
        let mut keys = Vec::with_capacity(order.len());
        for key in order {
            let expr = self.in_clause(Clause::OrderBy, |binder| binder.expr(&key.expr))?;
            keys.push((self.sortable(expr)?, sort_key(&key.options, 0)?));
        }
        let limit = match limit {
            Some(limit) => self.limit_expr(limit, "LIMIT")?,
            None => None,
        };
        Ok((keys, limit))
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
        let is_limited = !delete.order_by.is_empty() || delete.limit.is_some();
        if !joins.is_empty() || is_limited && !self.is_mysql() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in DELETE"));
        }
        let target = self.change_target(name, Change::Delete)?;
        let placed = self.target_ref(&target, alias.as_ref())?;
        let from = match &delete.using {
            Some(list) => self.bind_from(list)?,
            None => None,
        };
        let filter = self.where_clause(delete.selection.as_ref())?;
        let (order, limit) = self.first_of(&delete.order_by, delete.limit.as_ref())?;
        let kind = ModifyKind::Delete { from, filter: placed.filter(filter) };
        let bound = self.finish(&target, placed, kind, delete.returning.as_ref())?;
        Ok(limited(bound, order, limit))
    }
}

/// A change of the first rows only.
fn limited(mut bound: Query, order: Vec<(Expr, SortKey)>, limit: Option<Expr>) -> Query {
    if let Body::Modify(modify) = &mut bound.body {
        (modify.order, modify.limit) = (order, limit);
    }
    bound
}
