//! UNION, INTERSECT and EXCEPT: their sides get the same types.

use super::Binder;
use super::query::Unknowns;
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Expr, ExprKind, OutColumn, Query, SetOp};
use crate::types::Oid;
use sqlparser::ast::{self, SetExpr, SetOperator, SetQuantifier};

impl Binder<'_> {
    pub(super) fn set_operation(
        &mut self,
        op: SetOperator,
        quantifier: SetQuantifier,
        left: &SetExpr,
        right: &SetExpr,
        order_by: &[ast::OrderByExpr],
    ) -> Result<Query> {
        let (op, name) = match op {
            SetOperator::Union => (SetOp::Union, "UNION"),
            SetOperator::Intersect => (SetOp::Intersect, "INTERSECT"),
            SetOperator::Except | SetOperator::Minus => (SetOp::Except, "EXCEPT"),
        };
        let all = match quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            other => return Err(SqlError::unsupported(format!("{name} {other}"))),
        };
        let (first, second) = (left, right);
        let (mut left, _) = self.inside(|binder| binder.body(left, &[], Unknowns::Keep))?;
        let (mut right, _) = self.inside(|binder| binder.body(right, &[], Unknowns::Keep))?;
        if left.columns.len() != right.columns.len() {
            let result = super::places::result_of(second, 0);
            return Err(set_op_columns(name).at(result.map_or(0, |it| self.place_of(it))));
        }
        let mut columns = left.columns.clone();
        for (place, column) in columns.iter_mut().enumerate() {
            let types = [left.columns[place].ty, right.columns[place].ty];
            let ty = self.common_type(&types, name).map_err(|error| {
                let result = super::places::result_of(second, place);
                result.map_or_else(|| error.clone(), |it| self.at_wrong_type(error.clone(), it))
            })?;
            if !all || op != SetOp::Union {
                let equality = self.need_equality(ty);
                equality.map_err(|error| match super::places::result_of(first, place) {
                    Some(result) => error.at(self.place_of(result)),
                    None => error,
                })?;
            }
            for (side, body) in [(&mut left, first), (&mut right, second)] {
                let done = self.convert_column(side, place, ty, CastContext::Implicit);
                done.map_err(|error| match super::places::result_of(body, place) {
                    Some(result) => self.at_literal(error, result),
                    None => error,
                })?;
            }
            let (one, other) = (&left.columns[place], &right.columns[place]);
            column.ty = ty;
            column.typmod = if one.typmod == other.typmod { one.typmod } else { -1 };
            column.origin = None;
            column.collation = self.common_collation(one, other, !all || op != SetOp::Union)?;
        }
        let sort = self.sort_outputs(order_by, &columns)?;
        let body = Body::SetOp { op, all, left: Box::new(left), right: Box::new(right) };
        Ok(Query { body, sort, ..Query::values(Vec::new(), columns) })
    }

    /// The collation of a column of a set operation.
    fn common_collation(
        &self,
        one: &OutColumn,
        other: &OutColumn,
        compares: bool,
    ) -> Result<Option<std::sync::Arc<crate::types::Collation>>> {
        let (one, other) = (one.collation.clone(), other.collation.clone());
        if one.is_some() && other.is_some() && one != other {
            return Err(SqlError::unsupported("a set operation of different collations"));
        }
        match one.or(other) {
            Some(it) if compares && !it.deterministic => {
                let name = &it.name;
                let what = format!("a set operation under the collation \"{name}\"");
                Err(SqlError::unsupported(what))
            }
            found => Ok(found),
        }
    }

    /// Converts the columns of a query to the types of others.
    pub(super) fn convert_columns(
        &mut self,
        query: &mut Query,
        columns: &[OutColumn],
        recursive: Option<&str>,
    ) -> Result<()> {
        let from = query.columns.clone();
        for (place, (have, want)) in from.iter().zip(columns).enumerate() {
            if have.ty == want.ty {
                continue;
            }
            let implicit =
                if self.is_mysql() { CastContext::Explicit } else { CastContext::Implicit };
            if let Some(name) = recursive
                && have.ty != Oid::UNKNOWN
                && !self.is_mysql()
            {
                return Err(SqlError::new(
                    code::DATATYPE_MISMATCH,
                    format!(
                        "recursive query \"{name}\" column {} has type {} in non-recursive term \
                         but type {} overall",
                        place + 1,
                        self.type_name(want.ty),
                        self.type_name(have.ty)
                    ),
                ));
            }
            self.convert_column(query, place, want.ty, implicit)?;
        }
        Ok(())
    }

    /// Converts one column of a query, where it is computed.
    pub(super) fn convert_column(
        &mut self,
        query: &mut Query,
        place: usize,
        ty: Oid,
        context: CastContext,
    ) -> Result<()> {
        if query.columns[place].ty == ty {
            return Ok(());
        }
        let convert = |binder: &mut Self, expr: &mut Expr| -> Result<()> {
            *expr = binder.coerce(std::mem::replace(expr, Expr::null(ty)), ty, -1, context)?;
            Ok(())
        };
        match &mut query.body {
            Body::Select(select) => {
                // Sorting and DISTINCT go by the values as they were before.
                let in_place = select.distinct == crate::ir::Distinct::No
                    && !query.sort.iter().any(|key| key.column == place);
                if !in_place && query.columns[place].ty != Oid::UNKNOWN {
                    return self.convert_outside(query, place, ty, context);
                }
                convert(self, &mut select.targets[place])?;
            }
            Body::Values(rows) => {
                for row in rows {
                    convert(self, &mut row[place])?;
                }
            }
            Body::SetOp { .. } | Body::Modify(_) => {
                return self.convert_outside(query, place, ty, context);
            }
        }
        query.columns[place].ty = ty;
        query.columns[place].typmod = -1;
        Ok(())
    }

    /// Converts one column by a query around this one.
    fn convert_outside(
        &mut self,
        query: &mut Query,
        place: usize,
        ty: Oid,
        context: CastContext,
    ) -> Result<()> {
        let mut columns = query.columns.clone();
        let width = columns.len();
        let mut targets: Vec<Expr> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| Expr::column(place, column.ty, column.typmod))
            .collect();
        targets[place] = self.coerce(targets[place].clone(), ty, -1, context)?;
        columns[place].ty = ty;
        columns[place].typmod = -1;
        let mut inner = std::mem::replace(query, Query::values(Vec::new(), Vec::new()));
        // One level further in than before.
        inner.walk(0, &mut |expr, level| {
            if let ExprKind::Column { depth, .. }
            | ExprKind::WholeRow { depth, .. }
            | ExprKind::Aggregate { depth, .. } = &mut expr.kind
                && *depth > level
            {
                *depth += 1;
            }
            true
        });
        let select = crate::ir::Select {
            from: Some(crate::ir::From::Query {
                query: Box::new(inner),
                lateral: false,
                start: 0,
                correlated: true,
            }),
            width,
            filter: None,
            grouping: None,
            having: None,
            windows: Vec::new(),
            sets: Vec::new(),
            targets,
            distinct: crate::ir::Distinct::No,
        };
        *query =
            Query { body: Body::Select(Box::new(select)), ..Query::values(Vec::new(), columns) };
        Ok(())
    }
}

pub(super) fn set_op_columns(name: &str) -> SqlError {
    SqlError::new(
        code::SYNTAX_ERROR,
        format!("each {name} query must have the same number of columns"),
    )
}
