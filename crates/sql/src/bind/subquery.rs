//! Queries inside of expressions.

use super::Binder;
use super::query::Unknowns;
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, Subquery};
use sqlparser::ast;

impl Binder<'_> {
    pub(super) fn subquery(&mut self, query: &ast::Query) -> Result<Subquery> {
        let (query, correlated) = self.inside(|binder| binder.query(query, Unknowns::Resolve))?;
        Ok(Subquery { query, correlated, number: self.number() })
    }

    pub(super) fn scalar_subquery(&mut self, query: &ast::Query) -> Result<Expr> {
        let query = self.subquery(query)?;
        let [column] = &query.query.columns[..] else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "subquery must return only one column"));
        };
        let (ty, typmod) = (column.ty, column.typmod);
        Ok(Expr { kind: ExprKind::Scalar(Box::new(query)), ty, typmod })
    }

    pub(super) fn exists(&mut self, query: &ast::Query, negated: bool) -> Result<Expr> {
        let query = self.subquery(query)?;
        let exists = Expr::bool(ExprKind::Exists(Box::new(query)));
        Ok(if negated { Expr::bool(ExprKind::Not(Box::new(exists))) } else { exists })
    }

    /// ARRAY(SELECT …).
    pub(super) fn array_subquery(&mut self, query: &ast::Query) -> Result<Expr> {
        let query = self.subquery(query)?;
        let [column] = &query.query.columns[..] else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "subquery must return only one column"));
        };
        let element = column.ty;
        let ty = match self.catalog.element_of(element) {
            Some(_) => element,
            None => self.catalog.array_of(element).ok_or_else(|| {
                let name = self.type_name(element);
                let message = format!("could not find array type for data type {name}");
                SqlError::new(code::UNDEFINED_OBJECT, message)
            })?,
        };
        Ok(Expr { kind: ExprKind::ArrayOf(Box::new(query)), ty, typmod: -1 })
    }
}
