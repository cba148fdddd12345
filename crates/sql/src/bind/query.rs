//! Queries: their bodies, VALUES and ORDER BY. WITH, set operations, LIMIT and row locks have files
//! of their own.

use super::aggregate::sort_key;
use super::{Binder, Clause, fold};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Expr, ExprKind, OutColumn, Query, SortKey};
use crate::types::Oid;
use sqlparser::ast::{self, OrderByKind, SetExpr};

/// What becomes of literals whose type is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unknowns {
    /// They are text.
    Resolve,
    /// The query around decides.
    Keep,
}

impl Binder<'_> {
    /// Binds a query at the innermost level.
    pub(super) fn query(&mut self, query: &ast::Query, unknowns: Unknowns) -> Result<Query> {
        if query.fetch.as_ref().is_some_and(|fetch| fetch.percent) {
            return Err(SqlError::unsupported("FETCH … PERCENT"));
        }
        let ctes = match &query.with {
            Some(with) => self.with(with)?,
            None => Vec::new(),
        };
        let order_by = match &query.order_by {
            Some(ast::OrderBy { kind: OrderByKind::Expressions(keys), .. }) => &keys[..],
            Some(_) => return Err(SqlError::unsupported("ORDER BY ALL")),
            None => &[],
        };
        let mut bound = self.body(&query.body, order_by, unknowns)?;
        let mut all = ctes;
        // What nothing names is run only if it changes something.
        all.retain_mut(|cte| {
            let found = self.ctes.iter().find(|name| name.number == cte.number);
            cte.is_once = found.is_some_and(|name| name.uses == 1);
            cte.is_inlined &= cte.is_once;
            found.is_none_or(|name| name.uses > 0) || is_change(&cte.query)
        });
        all.append(&mut bound.ctes);
        bound.ctes = all;
        self.limits(query, &mut bound)?;
        for lock in &query.locks {
            let lock = self.row_lock(lock, &bound)?;
            bound.locks.push(lock);
        }
        Ok(bound)
    }

    pub(super) fn body(
        &mut self,
        body: &SetExpr,
        order_by: &[ast::OrderByExpr],
        unknowns: Unknowns,
    ) -> Result<Query> {
        match body {
            SetExpr::Select(select) => self.select(select, order_by, unknowns),
            SetExpr::Query(query) => {
                let (mut bound, _) = self.inside(|binder| binder.query(query, unknowns))?;
                // Parentheses with an order of their own inside.
                if order_by.is_empty() && bound.ctes.is_empty() {
                    unshift(&mut bound);
                    return Ok(bound);
                }
                self.around(bound, order_by)
            }
            SetExpr::Values(values) => self.values(values, order_by, unknowns),
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                self.set_operation(*op, *set_quantifier, left, right, order_by)
            }
            SetExpr::Table(table) => self.table_command(table, order_by),
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => self.modify(statement),
        }
    }

    /// TABLE name.
    fn table_command(
        &mut self,
        table: &ast::Table,
        order_by: &[ast::OrderByExpr],
    ) -> Result<Query> {
        let part = |name: &Option<String>| name.clone().map(ast::Ident::new);
        let parts: Vec<ast::Ident> =
            part(&table.schema_name).into_iter().chain(part(&table.table_name)).collect();
        let name = parts.iter().map(ToString::to_string).collect::<Vec<String>>().join(".");
        let ast = crate::parse::query(&format!("SELECT * FROM {name}"))?;
        self.body(&ast.body, order_by, Unknowns::Resolve)
    }

    /// A query whose rows are those of another one, in another order.
    fn around(&mut self, mut inner: Query, order_by: &[ast::OrderByExpr]) -> Result<Query> {
        let columns = inner.columns.clone();
        let sort = self.sort_outputs(order_by, &columns)?;
        if inner.sort.is_empty() && inner.limit.is_none() && inner.offset.is_none() {
            inner.sort = sort;
            unshift(&mut inner);
            return Ok(inner);
        }
        let targets = columns.iter().enumerate();
        let targets = targets.map(|(place, it)| Expr::column(place, it.ty, it.typmod)).collect();
        let width = columns.len();
        let from = crate::ir::From::Query {
            query: Box::new(inner),
            lateral: false,
            start: 0,
            correlated: true,
        };
        let select = crate::ir::Select {
            from: Some(from),
            width,
            filter: None,
            grouping: None,
            having: None,
            windows: Vec::new(),
            sets: Vec::new(),
            targets,
            distinct: crate::ir::Distinct::No,
        };
        let body = Body::Select(Box::new(select));
        Ok(Query { body, sort, ..Query::values(Vec::new(), columns) })
    }

    fn values(
        &mut self,
        values: &ast::Values,
        order_by: &[ast::OrderByExpr],
        unknowns: Unknowns,
    ) -> Result<Query> {
        let mut rows = Vec::new();
        for row in &values.rows {
            let row = self.in_clause(Clause::Values, |binder| binder.exprs(&row.content))?;
            row.iter().try_for_each(super::insert::refuse_default)?;
            rows.push(row);
        }
        let width = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != width) {
            return Err(self.unequal_rows(values));
        }
        let mut columns = Vec::new();
        for place in 0..width {
            let types: Vec<Oid> = rows.iter().map(|row| row[place].ty).collect();
            let keep = unknowns == Unknowns::Keep && types.iter().all(|&ty| ty == Oid::UNKNOWN);
            let column: Vec<Expr> = rows.iter().map(|row| row[place].clone()).collect();
            let (column, ty) =
                if keep { (column, Oid::UNKNOWN) } else { self.unify_rows(column, values, place)? };
            let typmod = Self::common_typmod(&column);
            for (row, expr) in rows.iter_mut().zip(column) {
                row[place] = expr;
            }
            let name = format!("column{}", place + 1).into();
            let own: Vec<Expr> = rows.iter().map(|row| row[place].clone()).collect();
            let collation = self.collation_of_all(&own)?;
            columns.push(OutColumn { name, ty, typmod, origin: None, collation });
        }
        let sort = self.sort_outputs(order_by, &columns)?;
        Ok(Query { body: Body::Values(rows), sort, ..Query::values(Vec::new(), columns) })
    }

    /// One column of VALUES gets one type.
    fn unify_rows(
        &mut self,
        column: Vec<Expr>,
        values: &ast::Values,
        place: usize,
    ) -> Result<(Vec<Expr>, Oid)> {
        let unified = self.unify(column, "VALUES");
        unified.map_err(|error| {
            let column: Vec<&ast::Expr> =
                values.rows.iter().filter_map(|row| row.content.get(place)).collect();
            self.at_one_of(error, &column)
        })
    }

    pub(super) fn unequal_rows(&self, values: &ast::Values) -> SqlError {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        let other = values.rows.iter().find(|row| row.content.len() != width);
        let position = other.and_then(|row| row.content.first()).map_or(0, |it| self.place_of(it));
        let message = "VALUES lists must all be the same length";
        SqlError::new(code::SYNTAX_ERROR, message).at(position)
    }

    /// An order by columns of the result alone: by name or place.
    pub(super) fn sort_outputs(
        &mut self,
        order_by: &[ast::OrderByExpr],
        columns: &[OutColumn],
    ) -> Result<Vec<SortKey>> {
        let mut keys = Vec::new();
        for key in order_by {
            let place = match &key.expr {
                ast::Expr::Identifier(ident) => {
                    let name = fold(ident);
                    columns.iter().position(|column| *column.name == *name).ok_or_else(|| {
                        let message = format!("column \"{name}\" does not exist");
                        SqlError::new(code::UNDEFINED_COLUMN, message).at(self.position(ident.span))
                    })?
                }
                other => match ordinal(other) {
                    Some(place) => check_ordinal(place, columns.len(), "ORDER BY")
                        .map_err(|error| error.at(self.place_of(other)))?,
                    None => {
                        return Err(SqlError::new(
                            code::FEATURE_NOT_SUPPORTED,
                            "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                        )
                        .detail(
                            "Only result column names can be used, not expressions or functions.",
                        )
                        .at(self.place_of(other)));
                    }
                },
            };
            if let Some(collation) = &columns[place].collation {
                let name = &collation.name;
                let what = format!("an order of such a query under the collation \"{name}\"");
                return Err(SqlError::unsupported(what));
            }
            keys.push(sort_key(&key.options, place)?);
        }
        Ok(keys)
    }
}

/// The place that an integer literal stands for in ORDER BY and GROUP BY.
pub(super) fn ordinal(ast: &ast::Expr) -> Option<i64> {
    match super::expr::strip(ast) {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match &**expr {
            ast::Expr::Value(_) => ordinal(expr).map(|place| -place),
            _ => None,
        },
        _ => None,
    }
}

/// A constant that is no place among the results means nothing.
pub(super) fn refuse_constant(ast: &ast::Expr, what: &str) -> Result<()> {
    match super::expr::strip(ast) {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Placeholder(_) => Ok(()),
            ast::Value::Number(text, _) if text.parse::<i64>().is_ok() => Ok(()),
            _ => {
                let message = format!("non-integer constant in {what}");
                Err(SqlError::new(code::SYNTAX_ERROR, message))
            }
        },
        _ => Ok(()),
    }
}

pub(super) fn check_ordinal(place: i64, count: usize, what: &str) -> Result<usize> {
    if place < 1 || place > count as i64 {
        return Err(SqlError::new(
            code::INVALID_COLUMN_REFERENCE,
            format!("{what} position {place} is not in select list"),
        ));
    }
    Ok(place as usize - 1)
}

impl Binder<'_> {
    /// What is told apart must have an equality.
    pub(super) fn need_equality(&self, ty: Oid) -> Result<()> {
        let base = self.catalog.base_type(ty);
        let element = self.catalog.element_of(base).unwrap_or(base);
        if element != Oid::JSON {
            return Ok(());
        }
        let name = self.type_name(ty);
        let message = format!("could not identify an equality operator for type {name}");
        Err(SqlError::new(code::UNDEFINED_FUNCTION, message))
    }
}

/// Whether a query changes rows.
pub(super) fn is_change(query: &Query) -> bool {
    matches!(query.body, Body::Modify(_))
}

/// Gives columns the names of an alias.
pub(super) fn rename(columns: &mut [OutColumn], names: &[String], alias: &str) -> Result<()> {
    if names.len() > columns.len() {
        return Err(SqlError::new(
            code::INVALID_COLUMN_REFERENCE,
            format!(
                "table \"{alias}\" has {} columns available but {} columns specified",
                columns.len(),
                names.len()
            ),
        ));
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = name.as_str().into();
    }
    Ok(())
}

/// A query that was bound one level further in stands here instead: its outer columns are one level
/// nearer.
fn unshift(query: &mut Query) {
    query.walk(0, &mut |expr, level| {
        if let ExprKind::Column { depth, .. }
        | ExprKind::WholeRow { depth, .. }
        | ExprKind::Aggregate { depth, .. } = &mut expr.kind
            && *depth > level
        {
            *depth -= 1;
        }
        true
    });
}
