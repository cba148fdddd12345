//! What columns hold that nothing was given for.

use super::{Binder, Clause};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, Table};
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
            crate::catalog::UserTypeKind::Domain(domain) => domain.default.clone(),
            _ => None,
        }
    }
}
