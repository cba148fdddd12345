//! Queries inside of expressions.

use super::query::Unknowns;
use super::{Binder, Clause};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Distinct, Expr, ExprKind, From, Query, Select, Subquery};
use sqlparser::ast;

/// One column of a query.
fn only_column(mut query: Query, place: usize) -> Query {
    let columns = query.columns.clone();
    let column = columns[place].clone();
    let target = Expr::column(place, column.ty, column.typmod);
    // The query is one level further in than before.
    query.walk(0, &mut |expr, level| {
        if let ExprKind::Column { depth, .. }
        | ExprKind::WholeRow { depth, .. }
        | ExprKind::Aggregate { depth, .. } = &mut expr.kind
            && *depth > level
        {
            *depth += 1;
        }
        true
    });
    let from = From::Query { query: Box::new(query), lateral: false, start: 0, correlated: true };
    let select = Select {
        from: Some(from),
        width: columns.len(),
        filter: None,
        grouping: None,
        having: None,
        windows: Vec::new(),
        sets: Vec::new(),
        targets: vec![target],
        distinct: Distinct::No,
    };
    Query { body: Body::Select(Box::new(select)), ..Query::values(Vec::new(), vec![column]) }
}

impl Binder<'_> {
    pub(super) fn subquery(&mut self, query: &ast::Query) -> Result<Subquery> {
        let place = match self.level().clause {
            Clause::Check => Some("check constraint"),
            Clause::Default => Some("DEFAULT expression"),
            Clause::Generated => Some("column generation expression"),
            Clause::IndexExpr => Some("index expression"),
            _ => None,
        };
        if let Some(place) = place {
            let message = format!("cannot use subquery in {place}");
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        let (query, correlated) = self.inside(|binder| binder.query(query, Unknowns::Resolve))?;
        Ok(Subquery { query, correlated, number: self.number() })
    }

    pub(super) fn scalar_subquery(&mut self, query: &ast::Query) -> Result<Expr> {
        let ast = query;
        let query = self.subquery(ast)?;
        let [column] = &query.query.columns[..] else {
            let error = SqlError::new(code::SYNTAX_ERROR, "subquery must return only one column");
            return Err(error.at(self.place_before(ast)));
        };
        let (ty, typmod) = (column.ty, column.typmod);
        Ok(Expr { kind: ExprKind::Scalar(Box::new(query)), ty, typmod })
    }

    /// The one row of a query, to compare another row with: each column is a query of its own.
    pub(super) fn row_subquery(&mut self, query: &ast::Query, width: usize) -> Result<Expr> {
        let subquery = self.subquery(query)?;
        let found = subquery.query.columns.len();
        if found != width {
            let how = if found < width { "few" } else { "many" };
            let message = format!("subquery has too {how} columns");
            return Err(SqlError::new(code::SYNTAX_ERROR, message));
        }
        let mut fields = Vec::new();
        for (place, column) in subquery.query.columns.iter().enumerate() {
            let query = only_column(subquery.query.clone(), place);
            let one = Subquery { query, correlated: subquery.correlated, number: self.number() };
            let kind = ExprKind::Scalar(Box::new(one));
            fields.push(Expr { kind, ty: column.ty, typmod: column.typmod });
        }
        Ok(super::composite::row_of(fields))
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
