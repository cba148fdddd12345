//! LIMIT, OFFSET, FETCH, and FOR UPDATE and the like.

use super::{Binder, Clause, fold};
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Expr, ExprKind, LockStrength, Query, RowLock, WaitPolicy};
use crate::types::{Datum, Oid};
use sqlparser::ast::{self, LimitClause};

impl Binder<'_> {
    pub(super) fn limits(&mut self, query: &ast::Query, bound: &mut Query) -> Result<()> {
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            None => (None, None),
        };
        if let Some(limit) = limit {
            bound.limit = self.limit_expr(limit, "LIMIT")?;
        }
        if let Some(offset) = offset {
            bound.offset = self.limit_expr(offset, "OFFSET")?;
        }
        if let Some(fetch) = &query.fetch {
            if fetch.with_ties && query.order_by.is_none() {
                return Err(SqlError::new(
                    code::SYNTAX_ERROR,
                    "WITH TIES cannot be specified without ORDER BY clause",
                ));
            }
            bound.with_ties = fetch.with_ties;
            bound.limit = match &fetch.quantity {
                Some(quantity) => match crate::parse::marked_literal(quantity) {
                    Some(text) => self.limit_expr(&crate::parse::expression(text)?, "LIMIT")?,
                    None => self.limit_expr(quantity, "LIMIT")?,
                },
                None => Some(Expr::constant(Datum::Int8(1), Oid::INT8)),
            };
        }
        Ok(())
    }

    pub(super) fn limit_expr(&mut self, ast: &ast::Expr, what: &str) -> Result<Option<Expr>> {
        if let ast::Expr::Identifier(word) = ast
            && fold(word) == "all"
        {
            return Ok(None);
        }
        let expr = self.in_clause(Clause::Limit, |binder| binder.expr(ast))?;
        let varies = expr
            .any(|it, level| matches!(it.kind, ExprKind::Column { depth, .. } if depth == level));
        if varies {
            let message = format!("argument of {what} must not contain variables");
            let error = SqlError::new(code::INVALID_COLUMN_REFERENCE, message);
            return Err(error.at(self.place_of(ast)));
        }
        let limit = self.coerce(expr, Oid::INT8, -1, CastContext::Assignment);
        Ok(Some(limit.map_err(|error| self.at_literal(error, ast))?))
    }

    pub(super) fn row_lock(&mut self, lock: &ast::LockClause, bound: &Query) -> Result<RowLock> {
        let Body::Select(select) = &bound.body else {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT",
            ));
        };
        let name = match lock.lock_type {
            ast::LockType::Share => "FOR SHARE",
            ast::LockType::Update => "FOR UPDATE",
        };
        let refused = if let Some(grouping) = &select.grouping {
            let is_grouped = !grouping.keys.is_empty();
            Some(if is_grouped { "GROUP BY clause" } else { "aggregate functions" })
        } else if select.distinct != crate::ir::Distinct::No {
            Some("DISTINCT clause")
        } else if !select.windows.is_empty() {
            Some("window functions")
        } else {
            None
        };
        if let Some(what) = refused {
            let message = format!("{name} is not allowed with {what}");
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        let mut of = Vec::new();
        let mut parts = match &lock.of {
            Some(tables) => super::name_parts(tables)?,
            None => Vec::new(),
        };
        // Weaker locks are marked in the name, see `parse/rewrite.rs`.
        let weaker = parts.first().is_some_and(|part| part.starts_with(crate::parse::MARK));
        if weaker {
            parts.remove(0);
        }
        if let Some(table) = parts.pop() {
            let items = self.level().items.clone();
            let item = items.iter().find(|item| *item.name == *table).ok_or_else(|| {
                let message =
                    format!("relation \"{table}\" in {name} clause not found in FROM clause");
                let last = lock.of.as_ref().and_then(|of| of.0.last()).and_then(|it| it.as_ident());
                let position = last.map_or(0, |it| self.position(it.span));
                SqlError::new(code::UNDEFINED_TABLE, message).at(position)
            })?;
            of.push(item.start);
        }
        let strength = match (lock.lock_type, weaker) {
            (ast::LockType::Share, false) => LockStrength::Share,
            (ast::LockType::Share, true) => LockStrength::KeyShare,
            (ast::LockType::Update, false) => LockStrength::Update,
            (ast::LockType::Update, true) => LockStrength::NoKeyUpdate,
        };
        let wait = match lock.nonblock {
            None => WaitPolicy::Wait,
            Some(ast::NonBlock::Nowait) => WaitPolicy::NoWait,
            Some(ast::NonBlock::SkipLocked) => WaitPolicy::SkipLocked,
        };
        Ok(RowLock { strength, of, wait })
    }
}
