//! SET: which columns are given which values.

use super::target::Target;
use super::{Binder, Clause};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Assignment, Expr, ExprKind, TableRef};
use crate::types::Oid;
use sqlparser::ast;
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn assignments(
        &mut self,
        target: &Target,
        place: &TableRef,
        list: &[ast::Assignment],
    ) -> Result<Vec<Assignment>> {
        let table = &*target.table;
        let mut all: Vec<Assignment> = Vec::new();
        // Columns of which parts were assigned: another part may be.
        let mut parts: Vec<u16> = Vec::new();
        for assignment in list {
            if let Some((column, path)) = self.assigned_path(target, assignment)? {
                let before = all.iter().position(|it| it.column == column);
                let base = match before {
                    Some(at) if parts.contains(&column) => all.remove(at).value,
                    Some(_) => return Err(assigned_twice(&table.column(column).name)),
                    None => {
                        let it = table.column(column);
                        Expr::column(place.start + column as usize - 1, it.ty, it.typmod)
                    }
                };
                self.check_assignable(table.column(column), false)?;
                let value = self.with_part(base, &path, &assignment.value, table.column(column))?;
                parts.push(column);
                super::parts::refuse_many_parts(parts.iter().copied())?;
                all.push(Assignment { column, value });
                continue;
            }
            for (column, value) in self.assignment(target, assignment)? {
                if all.iter().any(|other| other.column == column) {
                    return Err(assigned_twice(&table.column(column).name));
                }
                all.push(Assignment { column, value });
            }
        }
        Ok(all)
    }

    fn assignment(
        &mut self,
        target: &Target,
        assignment: &ast::Assignment,
    ) -> Result<Vec<(u16, Expr)>> {
        let table = &*target.table;
        match &assignment.target {
            ast::AssignmentTarget::ColumnName(name) => {
                let number = self.assigned_column(target, name)?;
                let expr = self.in_clause(Clause::Set, |binder| binder.expr(&assignment.value))?;
                let value = self.assigned_value(table, number, expr, &assignment.value)?;
                Ok(vec![(number, value)])
            }
            ast::AssignmentTarget::Tuple(names) => {
                let mut numbers = Vec::new();
                for name in names {
                    numbers.push(self.assigned_column(target, name)?);
                }
                let values = self.assigned_row(&assignment.value, numbers.len())?;
                let pairs = numbers.into_iter().zip(values);
                pairs
                    .map(|(number, expr)| {
                        let value = self.assigned_value(table, number, expr, &assignment.value)?;
                        Ok((number, value))
                    })
                    .collect()
            }
        }
    }

    pub(super) fn assigned_column(&self, target: &Target, name: &ast::ObjectName) -> Result<u16> {
        let parts = super::name_parts(name)?;
        let last = parts.last().map_or("", String::as_str);
        let position = match name.0.last() {
            Some(ast::ObjectNamePart::Identifier(ident)) => self.position(ident.span),
            _ => 0,
        };
        if parts.len() > 1 || last.starts_with(crate::parse::MARK) {
            return Err(SqlError::unsupported("a part of a column in a list of columns"));
        }
        target.find(last, position)
    }

    fn assigned_value(
        &mut self,
        table: &Table,
        number: u16,
        expr: Expr,
        ast: &ast::Expr,
    ) -> Result<Expr> {
        let column = table.column(number);
        let is_default = matches!(expr.kind, ExprKind::Default);
        self.check_assignable(column, is_default)?;
        if is_default && column.default.as_ref().is_some_and(|it| it.generated) {
            return Ok(Expr { ty: column.ty, ..expr });
        }
        if is_default {
            return self.default_or_null(column);
        }
        self.assign(expr, column, value_position(ast))
    }

    /// Generated columns and identity columns are not given values.
    fn check_assignable(&self, column: &Column, is_default: bool) -> Result<()> {
        if let Some(default) = &column.default
            && default.generated
        {
            if is_default {
                return Ok(());
            }
            return Err(SqlError::new(
                code::GENERATED_ALWAYS,
                format!("column \"{}\" can only be updated to DEFAULT", column.name),
            )
            .detail(format!("Column \"{}\" is a generated column.", column.name)));
        }
        if column.identity.is_some_and(|identity| identity.always) && !is_default {
            return Err(SqlError::new(
                code::GENERATED_ALWAYS,
                format!("column \"{}\" can only be updated to DEFAULT", column.name),
            )
            .detail(format!(
                "Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
                column.name
            )));
        }
        Ok(())
    }

    /// SET (a, b) = (…, …), or = (SELECT …, …).
    fn assigned_row(&mut self, ast: &ast::Expr, count: usize) -> Result<Vec<Expr>> {
        let wrong = || {
            SqlError::new(code::SYNTAX_ERROR, "number of columns does not match number of values")
        };
        let values = match super::expr::strip(ast) {
            ast::Expr::Tuple(list) => self.in_clause(Clause::Set, |binder| binder.exprs(list))?,
            ast::Expr::Subquery(query) => {
                let query = self.subquery(query)?;
                // Each column is a query of its own that takes one column of the same rows.
                let columns = query.query.columns.clone();
                let row_names = columns.iter().map(|it| Arc::clone(&it.name)).collect::<Vec<_>>();
                let base =
                    Expr { kind: ExprKind::Scalar(Box::new(query)), ty: Oid::RECORD, typmod: -1 };
                let _ = row_names;
                let fields = columns.iter().enumerate();
                fields
                    .map(|(index, column)| Expr {
                        kind: ExprKind::Field { base: Box::new(base.clone()), index },
                        ty: column.ty,
                        typmod: column.typmod,
                    })
                    .collect()
            }
            other => match self.in_clause(Clause::Set, |binder| binder.expr(other))?.kind {
                ExprKind::Row { fields, .. } => fields,
                _ => {
                    return Err(SqlError::new(
                        code::FEATURE_NOT_SUPPORTED,
                        "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() \
                         expression",
                    ));
                }
            },
        };
        if values.len() == count { Ok(values) } else { Err(wrong()) }
    }

    /// Converts a value to what a column holds.
    pub(super) fn assign(
        &mut self,
        expr: Expr,
        column: &Column,
        span: Option<sqlparser::tokenizer::Span>,
    ) -> Result<Expr> {
        if matches!(expr.kind, ExprKind::Default) {
            return Ok(Expr { ty: column.ty, ..expr });
        }
        let position = span.map_or(0, |span| self.position(span));
        let from = expr.ty;
        let done = self.try_coerce(expr, column.ty, column.typmod, CastContext::Assignment);
        match done.map_err(|error| error.at(position))? {
            Some(expr) => Ok(expr),
            None => Err(SqlError::new(
                code::DATATYPE_MISMATCH,
                format!(
                    "column \"{}\" is of type {} but expression is of type {}",
                    column.name,
                    self.type_name(column.ty),
                    self.type_name(from)
                ),
            )
            .hint("You will need to rewrite or cast the expression.")
            .at(position)),
        }
    }
}

fn assigned_twice(column: &str) -> SqlError {
    let message = format!("multiple assignments to same column \"{column}\"");
    SqlError::new(code::SYNTAX_ERROR, message)
}

pub(super) fn value_position(ast: &ast::Expr) -> Option<sqlparser::tokenizer::Span> {
    match ast {
        ast::Expr::Value(value) => Some(value.span),
        _ => None,
    }
}
