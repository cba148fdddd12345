//! Expressions that belong to a table or domain: checks, generated columns, keys of indexes.

use super::{Binder, Clause};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, IndexedExpr, Table};
use crate::error::{Result, SqlError};
use crate::ir::Expr;
use crate::types::Oid;
use std::sync::Arc;

impl Binder<'_> {
    fn over_table(&mut self, table: &Arc<Table>, text: &str, clause: Clause) -> Result<Expr> {
        let ast = crate::parse::expression(text)?;
        let bound = self.inside(|binder| {
            binder.table_ref(Arc::clone(table), None)?;
            binder.in_clause(clause, |binder| binder.expr(&ast))
        });
        Ok(bound?.0)
    }

    /// A condition over the row of a table.
    pub fn check_expr(&mut self, table: &Arc<Table>, text: &str) -> Result<Expr> {
        let expr = self.over_table(table, text, Clause::Check)?;
        self.coerce_to_bool(expr, "CHECK")
    }

    /// The value of a generated column.
    pub fn generated_expr(&mut self, table: &Arc<Table>, column: &Column) -> Result<Expr> {
        let Some(default) = &column.default else {
            return Err(SqlError::internal("a generated column has an expression"));
        };
        let expr = self.over_table(table, &default.text, Clause::Generated)?;
        self.coerce(expr, column.ty, column.typmod, CastContext::Assignment)
    }

    /// The same without the conversion to the type of the column.
    pub(crate) fn generated_source(&mut self, table: &Arc<Table>, column: &Column) -> Result<Expr> {
        let Some(default) = &column.default else {
            return Err(SqlError::internal("a generated column has an expression"));
        };
        let expr = self.over_table(table, &default.text, Clause::Generated)?;
        self.known_as(expr, column.ty)
    }

    /// The default of a column without the conversion to its type.
    pub(crate) fn default_source(&mut self, column: &Column) -> Result<Expr> {
        let Some(default) = &column.default else {
            return Err(SqlError::internal("the column has a default"));
        };
        let ast = crate::parse::expression(&default.text)?;
        let bound =
            self.inside(|binder| binder.in_clause(Clause::Default, |binder| binder.expr(&ast)));
        self.known_as(bound?.0, column.ty)
    }

    /// A literal without a type is of the column's.
    fn known_as(&mut self, expr: Expr, ty: Oid) -> Result<Expr> {
        if expr.ty != Oid::UNKNOWN {
            return Ok(expr);
        }
        let base = self.catalog.base_type(ty);
        self.coerce(expr, base, -1, CastContext::Assignment)
    }

    /// A part of an index.
    pub fn index_expr(&mut self, table: &Arc<Table>, what: &IndexedExpr) -> Result<Expr> {
        match what {
            IndexedExpr::Column(number) => {
                let column = table.column(*number);
                Ok(Expr::column(*number as usize - 1, column.ty, column.typmod))
            }
            IndexedExpr::Expr(text) => {
                let expr = self.over_table(table, text, Clause::IndexExpr)?;
                self.resolve_unknown(expr)
            }
        }
    }

    /// The type and modifier of a part of an index.
    pub fn key_type(&mut self, table: &Arc<Table>, what: &IndexedExpr) -> (Oid, i32) {
        match self.index_expr(table, what) {
            Ok(expr) => (expr.ty, expr.typmod),
            Err(_) => (Oid::TEXT, -1),
        }
    }

    /// An expression without any row, converted to a type.
    pub fn value_of(
        &mut self,
        ast: &sqlparser::ast::Expr,
        ty: Oid,
        context: CastContext,
    ) -> Result<Expr> {
        let expr = self.inside(|binder| binder.expr(ast))?.0;
        self.coerce(expr, ty, -1, context)
    }

    /// An expression over the row of a table, whatever its type.
    pub fn check_or_value(&mut self, table: &Arc<Table>, text: &str) -> Result<Expr> {
        self.over_table(table, text, Clause::IndexExpr)
    }

    /// What a column becomes of another type: the expression of USING, or the column itself.
    pub fn conversion(
        &mut self,
        table: &Arc<Table>,
        number: u16,
        using: Option<&str>,
        (ty, typmod): (Oid, i32),
    ) -> Result<Option<Expr>> {
        let column = table.column(number);
        let expr = match using {
            Some(text) => self.over_table(table, text, Clause::Generated)?,
            None => Expr::column(number as usize - 1, column.ty, column.typmod),
        };
        self.try_coerce(expr, ty, typmod, CastContext::Assignment)
    }

    /// The check of a domain over `VALUE`.
    pub fn domain_check(&mut self, text: &str, base: Oid) -> Result<Expr> {
        let ast = crate::parse::expression(text)?;
        let before = self.domain_value.replace(base);
        let bound =
            self.inside(|binder| binder.in_clause(Clause::Check, |binder| binder.expr(&ast)));
        self.domain_value = before;
        let expr = bound?.0;
        self.coerce_to_bool(expr, "CHECK")
    }
}
