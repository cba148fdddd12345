//! INSERT: what is inserted, converted to the types of the columns.

use super::assignments::value_position;
use super::parts::Place;
use super::query::Unknowns;
use super::target::{Change, Target};
use super::{Binder, Clause};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Expr, ExprKind, InsertSource, ModifyKind, OutColumn, Overriding, Query};
use crate::types::Oid;
use sqlparser::ast;
use std::cmp::Ordering;
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn insert(&mut self, insert: &ast::Insert) -> Result<Query> {
        if insert.overwrite || insert.ignore || insert.replace_into || insert.or.is_some() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in INSERT"));
        }
        let ast::TableObject::TableName(name) = &insert.table else {
            return Err(SqlError::unsupported("INSERT into something that is no table"));
        };
        let target = self.change_target(name, Change::Insert)?;
        let table = Arc::clone(&target.table);
        let places = self.insert_places(&target, &insert.columns)?;
        let (source, columns) = if places.iter().any(|place| !place.path.is_empty()) {
            self.insert_parts(insert, &table, &places)?
        } else {
            let columns = places.iter().map(|place| place.column).collect();
            self.insert_source(insert, &target, columns)?
        };
        let alias = insert.table_alias.as_ref().map(|alias| ast::TableAlias {
            explicit: true,
            name: alias.alias.clone(),
            columns: Vec::new(),
            at: None,
        });
        let defaults = self.row_defaults(&table, &[])?;
        let placed = self.target_ref(&target, alias.as_ref())?;
        let on_conflict = match &insert.on {
            None => None,
            Some(ast::OnInsert::OnConflict(conflict)) => {
                Some(self.on_conflict(&target, &placed.reference, conflict)?)
            }
            Some(_) => {
                return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \"ON\""));
            }
        };
        // Said by the parser in a field of another dialect.
        let overriding = insert.priority.map(|it| match it {
            ast::MysqlInsertPriority::HighPriority => Overriding::System,
            _ => Overriding::User,
        });
        let kind = ModifyKind::Insert { source, columns, defaults, on_conflict, overriding };
        self.finish(&target, placed, kind, insert.returning.as_ref())
    }

    /// The source of an INSERT that names parts of columns.
    fn insert_parts(
        &mut self,
        insert: &ast::Insert,
        table: &Table,
        places: &[Place],
    ) -> Result<(InsertSource, Vec<u16>)> {
        let source = insert.source.as_deref().filter(|source| is_plain_values(source));
        let Some(ast::SetExpr::Values(values)) = source.map(|source| &*source.body) else {
            return Err(SqlError::unsupported("INSERT of a query into parts of columns"));
        };
        let mut columns: Vec<u16> = Vec::new();
        for place in places {
            if !columns.contains(&place.column) {
                columns.push(place.column);
            }
        }
        let (query, _) = self.inside(|binder| {
            let mut rows = Vec::new();
            for row in &values.rows {
                check_width(row.content.len(), places.len())?;
                rows.push(binder.with_parts(&row.content, table, places)?);
            }
            let out =
                columns.iter().enumerate().map(|(at, it)| value_column(at, table.column(*it)));
            let out = out.collect();
            Ok(Query { body: Body::Values(rows), ..Query::values(Vec::new(), out) })
        })?;
        Ok((InsertSource::Query(Box::new(query)), columns))
    }

    /// A value of VALUES for a column; it may be DEFAULT.
    pub(super) fn insert_value(&mut self, ast: &ast::Expr, column: &Column) -> Result<Expr> {
        let expr = self.in_clause(Clause::Values, |binder| binder.expr(ast))?;
        refuse_default(&expr)?;
        self.assign(expr, column, value_position(ast))
    }

    fn insert_source(
        &mut self,
        insert: &ast::Insert,
        target: &Target,
        columns: Vec<u16>,
    ) -> Result<(InsertSource, Vec<u16>)> {
        let table = &*target.table;
        let Some(source) = &insert.source else { return Ok((InsertSource::Defaults, Vec::new())) };
        // Columns of a view that are computed have no place for a value.
        let mut computed = None;
        let all: Vec<u16> = if columns.is_empty() {
            let all = target.columns();
            computed = all.iter().find(|(_, number)| number.is_none()).cloned();
            all.into_iter().map_while(|(_, number)| number).collect()
        } else {
            columns.clone()
        };
        let too_many = || match &computed {
            Some((name, _)) => target.computed(name),
            None => {
                SqlError::new(code::SYNTAX_ERROR, "INSERT has more expressions than target columns")
            }
        };
        let ctes = self.ctes.len();
        let (mut query, _) = self.inside(|binder| {
            let kept = binder.insert_rows(source, table, &all, &too_many);
            match kept {
                Some(query) => query,
                None => binder.query(source, Unknowns::Keep),
            }
        })?;
        self.ctes.truncate(ctes);
        let given = query.columns.len();
        if given > all.len() {
            let first = super::places::result_of(&source.body, all.len());
            return Err(self.at_surplus(too_many(), first));
        }
        if given < all.len() && !columns.is_empty() {
            let message = "INSERT has more target columns than expressions";
            let first = insert.columns.get(given).and_then(|it| it.0.first()?.as_ident());
            let position = first.map_or(0, |it| self.position(it.span));
            return Err(SqlError::new(code::SYNTAX_ERROR, message).at(position));
        }
        let all = all[..given].to_vec();
        for (place, &number) in all.iter().enumerate() {
            let column = table.column(number);
            self.assign_column(&mut query, place, column)?;
        }
        Ok((InsertSource::Query(Box::new(query)), all))
    }

    /// The first expression that is too many is pointed at, but not if its column takes no value.
    fn at_surplus(&self, error: SqlError, first: Option<&ast::Expr>) -> SqlError {
        match first {
            Some(first) if error.code() == code::SYNTAX_ERROR => error.at(self.place_of(first)),
            _ => error,
        }
    }

    /// VALUES of an INSERT: each value is converted to its column by itself, and may be DEFAULT.
    fn insert_rows(
        &mut self,
        source: &ast::Query,
        table: &Table,
        columns: &[u16],
        too_many: &dyn Fn() -> SqlError,
    ) -> Option<Result<Query>> {
        let ast::SetExpr::Values(values) = &*source.body else { return None };
        is_plain_values(source).then(|| self.convert_rows(values, table, columns, too_many))
    }

    fn convert_rows(
        &mut self,
        values: &ast::Values,
        table: &Table,
        columns: &[u16],
        too_many: &dyn Fn() -> SqlError,
    ) -> Result<Query> {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        if width > columns.len() {
            let first = values.rows.first().and_then(|row| row.content.get(columns.len()));
            return Err(self.at_surplus(too_many(), first));
        }
        let mut rows = Vec::new();
        // One row is a SELECT without FROM, whose results may be several rows.
        self.level().takes_sets = values.rows.len() == 1;
        for row in &values.rows {
            if row.content.len() != width {
                return Err(self.unequal_rows(values));
            }
            let mut cells = Vec::new();
            for (place, ast) in row.content.iter().enumerate() {
                cells.push(self.insert_value(ast, table.column(columns[place]))?);
            }
            rows.push(cells);
        }
        let sets = std::mem::take(&mut self.level().sets);
        let body = match rows.pop() {
            Some(mut targets) if !sets.is_empty() => {
                self.fill_defaults(&mut targets, table, columns)?;
                super::select::results(targets, sets)
            }
            last => Body::Values(rows.into_iter().chain(last).collect()),
        };
        let out = |place: usize| value_column(place, table.column(columns[place]));
        let columns = (0..width).map(out).collect();
        Ok(Query { body, ..Query::values(Vec::new(), columns) })
    }

    /// Beside sets DEFAULT is worked out with each of the rows.
    fn fill_defaults(
        &mut self,
        targets: &mut [Expr],
        table: &Table,
        columns: &[u16],
    ) -> Result<()> {
        for (target, &number) in targets.iter_mut().zip(columns) {
            if !matches!(target.kind, ExprKind::Default) {
                continue;
            }
            let column = table.column(number);
            let is_generated = column.default.as_ref().is_some_and(|it| it.generated);
            if is_generated || column.identity.is_some() {
                return Err(SqlError::unsupported("DEFAULT of a generated column beside a set"));
            }
            *target = self.default_or_null(column)?;
        }
        Ok(())
    }

    /// Converts a column of the source of an INSERT.
    fn assign_column(&mut self, query: &mut Query, place: usize, column: &Column) -> Result<()> {
        let have = &query.columns[place];
        if have.ty == column.ty && (column.typmod < 0 || have.typmod == column.typmod) {
            return Ok(());
        }
        if let Body::Values(rows) = &mut query.body {
            for row in rows {
                let expr = std::mem::replace(&mut row[place], Expr::null(column.ty));
                row[place] = self.assign(expr, column, None)?;
            }
            query.columns[place].ty = column.ty;
            return Ok(());
        }
        if have.ty != column.ty {
            let from = have.ty;
            if from != Oid::UNKNOWN && self.path(from, column.ty, CastContext::Assignment).is_none()
            {
                let placeholder = Expr { kind: ExprKind::Placeholder, ty: from, typmod: -1 };
                self.assign(placeholder, column, None)?;
            }
            self.convert_column(query, place, column.ty, CastContext::Assignment)?;
        }
        // The length and the like are applied where the row is made.
        Ok(())
    }
}

/// Whether a query is VALUES and nothing else.
fn is_plain_values(source: &ast::Query) -> bool {
    matches!(&*source.body, ast::SetExpr::Values(_))
        && source.with.is_none()
        && source.order_by.is_none()
        && source.limit_clause.is_none()
        && source.fetch.is_none()
}

/// A column of VALUES that has the values of a column of the table.
fn value_column(place: usize, column: &Column) -> OutColumn {
    let name = format!("column{}", place + 1).into();
    OutColumn { name, ty: column.ty, typmod: column.typmod, origin: None, collation: None }
}

fn check_width(given: usize, wanted: usize) -> Result<()> {
    let message = match given.cmp(&wanted) {
        Ordering::Equal => return Ok(()),
        Ordering::Greater => "INSERT has more expressions than target columns",
        Ordering::Less => "INSERT has more target columns than expressions",
    };
    Err(SqlError::new(code::SYNTAX_ERROR, message))
}

/// DEFAULT stands alone: it is no part of an expression.
pub(super) fn refuse_default(expr: &Expr) -> Result<()> {
    let is_plain = matches!(expr.kind, ExprKind::Default | ExprKind::Const(_) | ExprKind::Param(_));
    let is_inside = !is_plain && expr.any(|it, _| matches!(it.kind, ExprKind::Default));
    if is_inside {
        let message = "DEFAULT is not allowed in this context";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    Ok(())
}
