//! What a condition costs for a row, counted in operators as PostgreSQL does: of the conditions of
//! one node it tests the cheapest first, and those that cost the same as they are written. Which
//! comes first decides whether another one fails.
//!
//! A call costs what the catalog says; constants, columns, tests for null, rows and the logic
//! between conditions are free. A query that looks at nothing around it is asked before the rows
//! are gone through, and is free then, except that its values are looked up for IN and compared
//! one by one for ANY and ALL otherwise. What a query costs that is asked for each row depends on
//! statistics in PostgreSQL; here it is more than any number of operators that somebody writes.

use super::columns::places;
use crate::catalog::builtin::builtin;
use crate::ir::{Body, Expr, ExprKind, From, Quantified, Query, Subquery};
use crate::types::Datum;

/// A scan of a table without statistics.
const TABLE: f64 = 7000.0;
/// A row that comes from no table.
const ROW: f64 = 4.0;
/// An array of which nothing is known has so many elements.
const ELEMENTS: usize = 10;
/// From so many constants on they are looked up by a hash.
const HASHED_MIN: usize = 9;

/// Puts the conditions of a node into the order in which they are tested.
pub fn sort(conditions: &mut [Expr]) {
    sort_as(conditions, &Expr::clone);
}

/// The same, for conditions that are worked out in another form.
pub fn sort_as(conditions: &mut [Expr], form: &dyn Fn(&Expr) -> Expr) {
    if conditions.len() < 2 {
        return;
    }
    // PostgreSQL joins with these, which comes after what is tested for single rows.
    let mut costs: Vec<(bool, f64)> =
        conditions.iter().map(|it| (is_joined(it), per_row(&form(it)))).collect();
    // There are few, and the order of equals matters.
    for end in 1..conditions.len() {
        let mut place = end;
        while place > 0 && costs[place] < costs[place - 1] {
            costs.swap(place, place - 1);
            conditions.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Whether a condition is EXISTS or IN of a query, which is like a join.
fn is_joined(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Exists(sub) => looks_around(sub),
        ExprKind::Not(inner) => matches!(&inner.kind, ExprKind::Exists(sub) if looks_around(sub)),
        ExprKind::QuantifiedQuery { left, quantified: Quantified::Any, query, .. } => {
            let mut found = Vec::new();
            left.iter().for_each(|it| places(it, &mut found));
            !found.is_empty() && !looks_around(query)
        }
        _ => false,
    }
}

/// What an expression costs for each row.
pub fn per_row(expr: &Expr) -> f64 {
    measure(expr).unwrap_or(0.0)
}

/// The cost; none if the value is known before the rows are gone through.
fn measure(expr: &Expr) -> Option<f64> {
    let (mut cost, mut is_known) = (0.0, expr.is_known_by_parts());
    for part in parts(expr).into_iter().map(measure) {
        cost += part.unwrap_or(0.0);
        is_known &= part.is_none();
    }
    (!is_known).then(|| cost + own(expr))
}

/// The cost without that of its parts.
fn own(expr: &Expr) -> f64 {
    match &expr.kind {
        ExprKind::Call { callee, .. } => f64::from(callee.proc.cost),
        // Written by one function, read by another.
        ExprKind::ThroughText(_) => 2.0,
        ExprKind::Typmod { .. }
        | ExprKind::CheckDomain(_)
        | ExprKind::Extreme { .. }
        | ExprKind::NextValue(_) => 1.0,
        ExprKind::ArrayCast { array, element } => per_row(element) * elements(array) as f64,
        ExprKind::QuantifiedArray { test, array, .. } => {
            let count = elements(array);
            let is_hashed = count >= HASHED_MIN && array.is_known() && is_hashable(test);
            own(test) * if is_hashed { 2.0 } else { count as f64 * 0.5 }
        }
        ExprKind::Scalar(sub) | ExprKind::Exists(sub) | ExprKind::ArrayOf(sub)
            if looks_around(sub) =>
        {
            query_cost(&sub.query)
        }
        ExprKind::QuantifiedQuery { test, quantified, query, .. } => {
            let compare = comparisons(test);
            let is_hashed = *quantified == Quantified::Any && is_hashable(test);
            if is_hashed && !looks_around(query) {
                compare
            } else {
                compare + 0.5 * query_cost(&query.query)
            }
        }
        _ => 0.0,
    }
}

/// The parts that are worked out for each row, too.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Call { args, .. }
        | ExprKind::And(args)
        | ExprKind::Or(args)
        | ExprKind::Coalesce(args)
        | ExprKind::Extreme { args, .. }
        | ExprKind::Array { elements: args, .. }
        | ExprKind::Row { fields: args, .. }
        | ExprKind::QuantifiedQuery { left: args, .. } => args.iter().collect(),
        ExprKind::Relabel(arg)
        | ExprKind::Collated { arg, .. }
        | ExprKind::ThroughText(arg)
        | ExprKind::Typmod { arg, .. }
        | ExprKind::CheckDomain(arg)
        | ExprKind::Not(arg)
        | ExprKind::IsNull(arg)
        | ExprKind::IsNotNull(arg)
        | ExprKind::BoolTest(arg, _)
        | ExprKind::Field { base: arg, .. }
        | ExprKind::ArrayCast { array: arg, .. }
        | ExprKind::RowCast { row: arg, .. }
        // These have the values of the comparison in them once more.
        | ExprKind::IsDistinct { equal: arg, .. }
        | ExprKind::NullIf { equal: arg, .. } => vec![arg],
        ExprKind::Case { operand, arms, otherwise } => {
            let arms = arms.iter().flat_map(|(condition, result)| [condition, result]);
            operand.as_deref().into_iter().chain(arms).chain([&**otherwise]).collect()
        }
        ExprKind::QuantifiedArray { left, array, .. } => vec![left, array],
        ExprKind::Subscript { base, .. } => vec![base],
        _ => Vec::new(),
    }
}

/// How many elements an array is taken to have.
fn elements(array: &Expr) -> usize {
    match &array.kind {
        ExprKind::Array { elements, nested: false } => elements.len(),
        ExprKind::Const(Datum::Array(array)) => array.elements.len(),
        ExprKind::Const(Datum::Null) => 0,
        _ => ELEMENTS,
    }
}

/// The operators by which rows are compared.
fn comparisons(test: &Expr) -> f64 {
    match &test.kind {
        ExprKind::And(list) => list.iter().map(comparisons).sum(),
        _ => own(test),
    }
}

/// Whether all comparisons are equalities that hashes can decide.
fn is_hashable(test: &Expr) -> bool {
    match &test.kind {
        ExprKind::And(list) => list.iter().all(is_hashable),
        ExprKind::Call { callee, .. } => {
            builtin().operators_named("=").any(|it| it.proc == callee.proc.oid && it.hashable)
        }
        _ => false,
    }
}

/// Whether a query looks at the row that it is asked for.
fn looks_around(sub: &Subquery) -> bool {
    let mut found = false;
    sub.correlated && {
        sub.query.clone().walk(1, &mut |expr, level| {
            found |= match &expr.kind {
                ExprKind::Column { depth, .. }
                | ExprKind::WholeRow { depth, .. }
                | ExprKind::Aggregate { depth, .. } => *depth == level,
                _ => false,
            };
            !found
        });
        found
    }
}

fn query_cost(query: &Query) -> f64 {
    match &query.body {
        Body::Select(select) => {
            let is_empty = select.filter.as_ref().is_some_and(is_never);
            if is_empty { 0.0 } else { select.from.as_ref().map_or(ROW, from_cost) }
        }
        Body::SetOp { left, right, .. } => query_cost(left) + query_cost(right),
        Body::Values(rows) => ROW * rows.len() as f64,
        Body::Modify(_) => TABLE,
    }
}

fn is_never(filter: &Expr) -> bool {
    match &filter.kind {
        ExprKind::And(list) => list.iter().any(is_never),
        kind => matches!(kind, ExprKind::Const(Datum::Bool(false) | Datum::Null)),
    }
}

fn from_cost(from: &From) -> f64 {
    match from {
        From::Query { query, .. } => query_cost(query),
        From::Join { left, right, .. } => from_cost(left) + from_cost(right),
        From::Functions { .. } => ROW,
        From::Table(_) | From::System { .. } | From::Cte { .. } => TABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Oid;

    fn call(source: &str, args: Vec<Expr>) -> Expr {
        let proc = builtin().procs_named(source).next().unwrap();
        let run = crate::ir::CallKind::Session;
        let callee = crate::ir::Callee { proc, run };
        Expr::bool(ExprKind::Call { callee, args, variadic: false })
    }

    fn column(index: usize) -> Expr {
        Expr::column(index, Oid::INT4, -1)
    }

    fn one() -> Expr {
        Expr::constant(Datum::Int4(1), Oid::INT4)
    }

    #[test]
    fn constants_columns_and_logic_are_free() {
        let equal = call("int4eq", vec![column(0), call("int4pl", vec![one(), one()])]);
        assert_eq!(per_row(&equal), 1.0);
        let both = Expr::bool(ExprKind::Or(vec![equal.clone(), equal]));
        assert_eq!(per_row(&both), 2.0);
    }

    #[test]
    fn half_of_an_array_is_compared() {
        let array = ExprKind::Array { elements: vec![column(1), one(), one()], nested: false };
        let any = ExprKind::QuantifiedArray {
            left: Box::new(column(0)),
            test: Box::new(call("int4eq", vec![column(0), column(1)])),
            quantified: Quantified::Any,
            array: Box::new(Expr { kind: array, ty: Oid::INT4, typmod: -1 }),
        };
        assert_eq!(per_row(&Expr::bool(any)), 1.5);
    }

    #[test]
    fn what_costs_less_comes_first_and_equals_keep_their_order() {
        let cheap = |place| call("int4eq", vec![column(place), one()]);
        let costly = call("int4eq", vec![call("int4pl", vec![column(0), one()]), one()]);
        let mut conditions = [costly.clone(), cheap(1), cheap(0)];
        sort(&mut conditions);
        assert_eq!(conditions, [cheap(1), cheap(0), costly]);
    }
}
