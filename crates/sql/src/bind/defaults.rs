//! What columns hold that nothing was given for.

use super::{Binder, Clause};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, Table, UserTypeKind};
use crate::error::Result;
use crate::ir::{Expr, ExprKind};
use crate::types::Oid;
use std::sync::Arc;

impl Binder<'_> {
    /// What the columns get that are not given.
    pub(crate) fn defaults(&mut self, table: &Table, given: &[u16]) -> Result<Vec<(u16, Expr)>> {
        let mut defaults = Vec::new();
        for (number, column) in table.live() {
            let generated = column.default.as_ref().is_some_and(|it| it.generated);
            if given.contains(&number) || generated {
                continue;
            }
            if let Some(expr) = self.column_default(column)? {
                defaults.push((number, expr));
            }
        }
        Ok(defaults)
    }

    /// What the columns of a new row get that are not given. Null has to satisfy a domain, too;
    /// PostgreSQL does not ask for that in COPY.
    pub(super) fn row_defaults(
        &mut self,
        table: &Table,
        given: &[u16],
    ) -> Result<Vec<(u16, Expr)>> {
        let mut defaults = self.defaults(table, given)?;
        for (number, column) in table.live() {
            let is_given = given.contains(&number) || defaults.iter().any(|it| it.0 == number);
            let is_generated = column.default.as_ref().is_some_and(|it| it.generated);
            if !is_given && !is_generated && self.is_domain(column.ty) {
                defaults.push((number, self.null_of(column)?));
            }
        }
        Ok(defaults)
    }

    /// What DEFAULT is for a column.
    pub(super) fn default_or_null(&mut self, column: &Column) -> Result<Expr> {
        match self.column_default(column)? {
            Some(default) => Ok(default),
            None => self.null_of(column),
        }
    }

    fn null_of(&mut self, column: &Column) -> Result<Expr> {
        if self.is_domain(column.ty) {
            return self.assign(Expr::null(Oid::UNKNOWN), column, None);
        }
        Ok(Expr::null(column.ty))
    }

    fn is_domain(&self, ty: Oid) -> bool {
        let found = self.catalog.user_type(ty);
        found.is_some_and(|it| matches!(it.kind, UserTypeKind::Domain(_)))
    }

    /// The default of a column.
    pub(crate) fn column_default(&mut self, column: &Column) -> Result<Option<Expr>> {
        if let Some(identity) = &column.identity {
            let next =
                Expr { kind: ExprKind::NextValue(identity.sequence), ty: Oid::INT8, typmod: -1 };
            return self.coerce(next, column.ty, -1, CastContext::Assignment).map(Some);
        }
        // The sequence of a serial column may have got another name since.
        if let Some(sequence) = column.default.as_ref().and_then(|it| it.sequence) {
            let next = Expr { kind: ExprKind::NextValue(sequence), ty: Oid::INT8, typmod: -1 };
            return self.coerce(next, column.ty, -1, CastContext::Assignment).map(Some);
        }
        let text = match &column.default {
            Some(default) => Arc::clone(&default.text),
            None => match self.domain_default(column.ty) {
                Some(text) => text,
                None => return Ok(None),
            },
        };
        let ast = crate::parse::expression(&text)?;
        let source = std::mem::take(&mut self.source);
        let bound =
            self.inside(|binder| binder.in_clause(Clause::Default, |binder| binder.expr(&ast)));
        self.source = source;
        let expr = bound?.0;
        let expr = self.assign(expr, column, None)?;
        Ok(Some(expr))
    }

    fn domain_default(&self, ty: Oid) -> Option<Arc<str>> {
        match &self.catalog.user_type(ty)?.kind {
            UserTypeKind::Domain(domain) => domain.default.clone(),
            _ => None,
        }
    }
}
