//! Queries: WITH, set operations, VALUES, ORDER BY, LIMIT and row locks.

use super::aggregate::sort_key;
use super::{Binder, Clause, CteName, fold};
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::ir::{
    Body, Cte, Expr, ExprKind, LockStrength, OutColumn, Query, RowLock, SetOp, SortKey, WaitPolicy,
};
use crate::types::{Datum, Oid};
use sqlparser::ast::{
    self, JoinOperator, LimitClause, OrderByKind, SetExpr, SetOperator, SetQuantifier,
};

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
            cte.is_inlined &= found.is_some_and(|name| name.uses == 1);
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

    fn limits(&mut self, query: &ast::Query, bound: &mut Query) -> Result<()> {
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

    fn limit_expr(&mut self, ast: &ast::Expr, what: &str) -> Result<Option<Expr>> {
        if let ast::Expr::Identifier(word) = ast
            && fold(word) == "all"
        {
            return Ok(None);
        }
        let expr = self.in_clause(Clause::Limit, |binder| binder.expr(ast))?;
        let varies = expr
            .any(|it, level| matches!(it.kind, ExprKind::Column { depth, .. } if depth == level));
        if varies {
            return Err(SqlError::new(
                code::INVALID_COLUMN_REFERENCE,
                format!("argument of {what} must not contain variables"),
            ));
        }
        Ok(Some(self.coerce(expr, Oid::INT8, -1, CastContext::Assignment)?))
    }

    fn row_lock(&mut self, lock: &ast::LockClause, bound: &Query) -> Result<RowLock> {
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
            let items = &self.level().items;
            let item = items.iter().find(|item| *item.name == *table).ok_or_else(|| {
                let message =
                    format!("relation \"{table}\" in {name} clause not found in FROM clause");
                SqlError::new(code::UNDEFINED_TABLE, message)
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

    fn with(&mut self, with: &ast::With) -> Result<Vec<Cte>> {
        let mut ctes = Vec::new();
        for cte in &with.cte_tables {
            let name: std::sync::Arc<str> = fold(&cte.alias.name).into();
            let names: Vec<String> =
                cte.alias.columns.iter().map(|column| fold(&column.name)).collect();
            if ctes.iter().any(|other: &Cte| other.name == name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(SqlError::new(code::DUPLICATE_ALIAS, message));
            }
            let bound = if with.recursive && mentions(&cte.query, &name) {
                self.recursive_cte(&name, &names, &cte.query)?
            } else {
                let (mut query, _) = self.sealed(|binder| {
                    binder.inside(|binder| binder.query(&cte.query, Unknowns::Resolve))
                })?;
                rename_cte(&mut query.columns, &names, &name)?;
                let is_inlined =
                    !matches!(cte.materialized, Some(ast::CteAsMaterialized::Materialized));
                let number = self.number();
                Cte { number, name: name.clone(), query, recursive: None, is_inlined }
            };
            let columns = bound.query.columns.clone();
            let is_silent = is_change(&bound.query) && columns.is_empty();
            let number = bound.number;
            self.ctes.push(CteName { name, number, columns, is_silent, uses: 0 });
            ctes.push(bound);
        }
        Ok(ctes)
    }

    /// Binds something that does not see the row of this level.
    pub(super) fn sealed<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.level().sealed, true);
        let result = bind(self);
        self.level().sealed = before;
        result
    }

    fn recursive_cte(
        &mut self,
        name: &std::sync::Arc<str>,
        names: &[String],
        query: &ast::Query,
    ) -> Result<Cte> {
        let SetExpr::SetOperation { op: SetOperator::Union, left, right, set_quantifier } =
            &*query.body
        else {
            return Err(SqlError::new(
                code::INVALID_RECURSION,
                format!(
                    "recursive query \"{name}\" does not have the form non-recursive-term UNION \
                     [ALL] recursive-term"
                ),
            ));
        };
        check_recursion(name, query, left, right)?;
        let all = *set_quantifier == SetQuantifier::All;
        let number = self.number();
        let (mut start, _) = self
            .sealed(|binder| binder.inside(|binder| binder.body(left, &[], Unknowns::Resolve)))?;
        rename_cte(&mut start.columns, names, name)?;
        let columns = start.columns.clone();
        self.ctes.push(CteName {
            name: name.clone(),
            number,
            columns: columns.clone(),
            is_silent: false,
            uses: 1,
        });
        let step =
            self.sealed(|binder| binder.inside(|binder| binder.body(right, &[], Unknowns::Keep)));
        self.ctes.pop();
        let (mut step, _) = step?;
        if matches!(&step.body, Body::Select(select) if select.grouping.is_some()) {
            return Err(SqlError::new(
                code::INVALID_RECURSION,
                "aggregate functions are not allowed in a recursive query's recursive term",
            ));
        }
        if step.columns.len() != columns.len() {
            return Err(set_op_columns("UNION"));
        }
        self.convert_columns(&mut step, &columns, Some(name))?;
        Ok(Cte {
            number,
            name: name.clone(),
            query: start,
            recursive: Some((Box::new(step), !all)),
            is_inlined: false,
        })
    }

    /// Converts the columns of a query to the types of others.
    fn convert_columns(
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

    fn body(
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
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "VALUES lists must all be the same length",
            ));
        }
        let mut columns = Vec::new();
        for place in 0..width {
            let types: Vec<Oid> = rows.iter().map(|row| row[place].ty).collect();
            let keep = unknowns == Unknowns::Keep && types.iter().all(|&ty| ty == Oid::UNKNOWN);
            let column: Vec<Expr> = rows.iter().map(|row| row[place].clone()).collect();
            let (column, ty) =
                if keep { (column, Oid::UNKNOWN) } else { self.unify(column, "VALUES")? };
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

    fn set_operation(
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
        let (mut left, _) = self.inside(|binder| binder.body(left, &[], Unknowns::Keep))?;
        let (mut right, _) = self.inside(|binder| binder.body(right, &[], Unknowns::Keep))?;
        if left.columns.len() != right.columns.len() {
            return Err(set_op_columns(name));
        }
        let mut columns = left.columns.clone();
        for (place, column) in columns.iter_mut().enumerate() {
            let types = [left.columns[place].ty, right.columns[place].ty];
            let ty = self.common_type(&types, name)?;
            if !all || op != SetOp::Union {
                self.need_equality(ty)?;
            }
            self.convert_column(&mut left, place, ty, CastContext::Implicit)?;
            self.convert_column(&mut right, place, ty, CastContext::Implicit)?;
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

    /// An order by columns of the result alone: by name or place.
    fn sort_outputs(
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
                    Some(place) => check_ordinal(place, columns.len(), "ORDER BY")?,
                    None => {
                        return Err(SqlError::new(
                            code::FEATURE_NOT_SUPPORTED,
                            "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                        )
                        .detail(
                            "Only result column names can be used, not expressions or functions.",
                        ));
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

fn set_op_columns(name: &str) -> SqlError {
    SqlError::new(
        code::SYNTAX_ERROR,
        format!("each {name} query must have the same number of columns"),
    )
}

/// Whether a query changes rows.
fn is_change(query: &Query) -> bool {
    matches!(query.body, Body::Modify(_))
}

fn rename_cte(columns: &mut [OutColumn], names: &[String], name: &str) -> Result<()> {
    if names.len() > columns.len() {
        return Err(SqlError::new(
            code::INVALID_COLUMN_REFERENCE,
            format!(
                "WITH query \"{name}\" has {} columns available but {} columns specified",
                columns.len(),
                names.len()
            ),
        ));
    }
    rename(columns, names, name)
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

/// Whether a query names a table.
fn mentions(query: &ast::Query, name: &str) -> bool {
    count_mentions(query, name) > 0
}

fn count_mentions(part: &impl ast::Visit, name: &str) -> usize {
    let mut found = 0;
    let _ = ast::visit_relations(part, |relation| {
        if let [ast::ObjectNamePart::Identifier(ident)] = &relation.0[..] {
            found += usize::from(fold(ident) == name);
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    found
}

/// A recursive query names itself once, in its recursive term, where no row is left out.
fn check_recursion(name: &str, query: &ast::Query, start: &SetExpr, step: &SetExpr) -> Result<()> {
    let invalid = |what: &str| {
        let message = format!("recursive reference to query \"{name}\" must not appear {what}");
        Err(SqlError::new(code::INVALID_RECURSION, message))
    };
    if count_mentions(start, name) > 0 {
        return invalid("within its non-recursive term");
    }
    if count_mentions(step, name) > 1 {
        return invalid("more than once");
    }
    let refused = [
        (query.order_by.is_some(), "ORDER BY"),
        (query.limit_clause.is_some() || query.fetch.is_some(), "LIMIT"),
        (!query.locks.is_empty(), "FOR UPDATE/SHARE"),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_there, _)| *is_there) {
        let message = format!("{what} in a recursive query is not implemented");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let SetExpr::Select(select) = step else { return Ok(()) };
    let in_from = select.from.iter().any(|it| count_mentions(it, name) > 0);
    if !in_from {
        return invalid("within a subquery");
    }
    let is_optional = |join: &ast::Join| match &join.join_operator {
        JoinOperator::Left(_) | JoinOperator::LeftOuter(_) | JoinOperator::FullOuter(_) => {
            count_mentions(&join.relation, name) > 0
        }
        _ => false,
    };
    if select.from.iter().any(|it| it.joins.iter().any(is_optional)) {
        return invalid("within an outer join");
    }
    Ok(())
}
