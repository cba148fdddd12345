//! EXISTS of a query that looks at the row around it by equalities only: whether there is a row is
//! whether the values around are among keys, which are the same for all rows around.

use super::access::{Access, choose, conjuncts};
use super::columns::places;
use super::joins::equality_sides;
use crate::catalog::Catalog;
use crate::ir::{Body, Distinct, Expr, ExprKind, From, OutColumn, Query, Select};
use crate::types::Datum;

/// EXISTS as a search for keys.
#[derive(Debug)]
pub struct Semi {
    /// What is looked for, over the row around.
    pub wanted: Vec<Expr>,
    /// What it is looked for in: a query that looks at nothing around it.
    pub keys: Query,
}

/// A query of EXISTS as a search for keys; none if it cannot be one, or if a key of a table leads
/// to its rows anyway.
pub fn semi(catalog: &Catalog, query: &Query) -> Option<Semi> {
    let Body::Select(select) = &query.body else { return None };
    let is_whole = query.ctes.is_empty() && query.locks.is_empty() && query.offset.is_none();
    if !is_whole || !query.limit.as_ref().is_none_or(is_one_or_more) || !is_plain(select) {
        return None;
    }
    let from = select.from.as_ref()?;
    let conditions = select.filter.clone().map(conjuncts)?;
    if looks_out(from) || has_key(catalog, from, &conditions) {
        return None;
    }
    let (mut wanted, mut keys, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for condition in conditions {
        if condition.is_volatile() {
            return None;
        }
        if !condition.any(is_outside) {
            rest.push(condition);
        } else {
            let (around, inside) = sides(&condition)?;
            wanted.push(around);
            keys.push(inside);
        }
    }
    (!keys.is_empty()).then(|| Semi { wanted, keys: query_of(select, rest, keys) })
}

/// Whether a SELECT has rows exactly if its FROM and WHERE have.
fn is_plain(select: &Select) -> bool {
    select.grouping.is_none()
        && select.having.is_none()
        && select.windows.is_empty()
        && select.sets.is_empty()
        && !select.targets.iter().any(Expr::is_volatile)
}

fn is_one_or_more(limit: &Expr) -> bool {
    match &limit.kind {
        ExprKind::Const(Datum::Int8(count)) => *count > 0,
        ExprKind::Const(Datum::Null) => true,
        _ => false,
    }
}

/// Whether an expression is, at `level` levels in, about a row around the query.
fn is_outside(expr: &Expr, level: u32) -> bool {
    match &expr.kind {
        ExprKind::Column { depth, .. }
        | ExprKind::WholeRow { depth, .. }
        | ExprKind::Aggregate { depth, .. } => *depth > level,
        _ => false,
    }
}

fn looks_out(from: &From) -> bool {
    let mut found = false;
    from.clone().walk(0, &mut |expr, level| {
        found |= is_outside(expr, level);
        !found
    });
    found
}

/// Whether one of the tables is looked into by a key.
fn has_key(catalog: &Catalog, from: &From, conditions: &[Expr]) -> bool {
    match from {
        From::Table(table) => {
            !matches!(choose(catalog, table, conditions, &|_| false), Access::All)
        }
        From::Join { left, right, .. } => {
            has_key(catalog, left, conditions) || has_key(catalog, right, conditions)
        }
        _ => false,
    }
}

/// The sides of an equality of the row around and the query's own: the first over the row around.
fn sides(condition: &Expr) -> Option<(Expr, Expr)> {
    let (one, other) = equality_sides(condition)?;
    match (around(one), around(other)) {
        (Some(around), None) if is_own(other) => Some((around, other.clone())),
        (None, Some(around)) if is_own(one) => Some((around, one.clone())),
        _ => None,
    }
}

/// An expression over the row around as it is there; none if it looks at anything else.
fn around(expr: &Expr) -> Option<Expr> {
    let (mut is_possible, mut found) = (!expr.has_query(), false);
    let mut there = expr.clone();
    there.walk(0, &mut |expr, _| {
        match &mut expr.kind {
            ExprKind::Column { depth, .. } if *depth == 1 => {
                *depth = 0;
                found = true;
            }
            ExprKind::Column { .. }
            | ExprKind::WholeRow { .. }
            | ExprKind::Aggregate { .. }
            | ExprKind::Grouping(_)
            | ExprKind::Placeholder => is_possible = false,
            _ => {}
        }
        true
    });
    (is_possible && found).then_some(there)
}

/// Whether an expression looks at the query's own rows and at nothing around it.
fn is_own(expr: &Expr) -> bool {
    let mut found = Vec::new();
    places(expr, &mut found);
    !found.is_empty() && !expr.any(is_outside)
}

/// The query of the keys.
fn query_of(select: &Select, conditions: Vec<Expr>, keys: Vec<Expr>) -> Query {
    let column = |key: &Expr| OutColumn {
        name: "key".into(),
        ty: key.ty,
        typmod: -1,
        origin: None,
        collation: None,
    };
    let columns = keys.iter().map(column).collect();
    let mut filter = None;
    conditions.into_iter().for_each(|condition| super::add(&mut filter, condition));
    let select = Select {
        from: select.from.clone(),
        width: select.width,
        filter,
        grouping: None,
        having: None,
        windows: Vec::new(),
        sets: Vec::new(),
        targets: keys,
        distinct: Distinct::No,
    };
    Query { body: Body::Select(Box::new(select)), ..Query::values(Vec::new(), columns) }
}
