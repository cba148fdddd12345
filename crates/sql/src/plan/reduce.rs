//! Outer joins whose rows with nulls no condition lets through are inner joins, or keep one side
//! instead of both; PostgreSQL knows that, too. More conditions can be tested early then.

use super::access::conjuncts;
use super::joins::range;
use crate::ir::{BoolTest, Expr, ExprKind, From, JoinKind, Quantified};

/// Whether there is an outer join.
pub fn has_outer(from: &From) -> bool {
    match from {
        From::Join { kind, left, right, .. } => {
            *kind != JoinKind::Inner || has_outer(left) || has_outer(right)
        }
        _ => false,
    }
}

/// Places of the row that are not null where all these conditions hold.
pub fn not_null(conditions: &[Expr]) -> Vec<usize> {
    let mut found = Vec::new();
    for condition in conditions {
        match &condition.kind {
            // PostgreSQL makes a join of it before it looks at outer joins, but not inside of OR.
            ExprKind::QuantifiedQuery { left, test, quantified: Quantified::Any, query }
                if !query.correlated && all_strict(test) =>
            {
                left.iter().for_each(|it| collect(it, false, &mut found));
            }
            _ => collect(condition, true, &mut found),
        }
    }
    found
}

/// Whether a comparison of rows is not true if one of its values is null.
fn all_strict(test: &Expr) -> bool {
    match &test.kind {
        ExprKind::And(list) => list.iter().all(all_strict),
        _ => is_strict(test),
    }
}

/// Adds the places without which an expression is null, or, if `is_condition`, is not true.
fn collect(expr: &Expr, is_condition: bool, found: &mut Vec<usize>) {
    let mut any = |list: &[Expr]| list.iter().for_each(|it| collect(it, false, found));
    match &expr.kind {
        ExprKind::Column { depth: 0, index } => found.push(*index),
        ExprKind::Call { callee, args, .. } if callee.proc.strict => any(args),
        ExprKind::And(list) if is_condition => {
            list.iter().for_each(|it| collect(it, true, found));
        }
        // Null and false is false, so that all must be null; the same for what is true.
        ExprKind::And(list) | ExprKind::Or(list) => {
            let is_condition = is_condition && matches!(expr.kind, ExprKind::Or(_));
            let mut parts = list.iter().map(|it| {
                let mut places = Vec::new();
                collect(it, is_condition, &mut places);
                places
            });
            let Some(mut common) = parts.next() else { return };
            parts.for_each(|places| common.retain(|place| places.contains(place)));
            found.extend(common);
        }
        ExprKind::Not(inner)
        | ExprKind::Relabel(inner)
        | ExprKind::ThroughText(inner)
        | ExprKind::Typmod { arg: inner, .. } => collect(inner, false, found),
        ExprKind::BoolTest(inner, BoolTest::True | BoolTest::False | BoolTest::NotUnknown)
            if is_condition =>
        {
            collect(inner, false, found);
        }
        ExprKind::IsNotNull(inner) if is_condition && is_column(inner) => {
            collect(inner, false, found);
        }
        ExprKind::QuantifiedArray { left, test, quantified: Quantified::Any, .. }
            if is_condition && is_strict(test) =>
        {
            collect(left, false, found);
        }
        _ => {}
    }
}

/// Adds what is known before anything runs, and without which an expression is null, or, if
/// `is_condition`, is not true.
pub fn known_not_null(expr: &Expr, is_condition: bool, found: &mut Vec<Expr>) {
    if expr.is_known() {
        if !matches!(&expr.kind, ExprKind::Const(value) if !value.is_null()) {
            found.push(expr.clone());
        }
        return;
    }
    match &expr.kind {
        ExprKind::Call { callee, args, .. } if callee.proc.strict => {
            args.iter().for_each(|it| known_not_null(it, false, found));
        }
        ExprKind::And(list) if is_condition => {
            list.iter().for_each(|it| known_not_null(it, true, found));
        }
        ExprKind::Not(inner)
        | ExprKind::Relabel(inner)
        | ExprKind::ThroughText(inner)
        | ExprKind::Typmod { arg: inner, .. } => known_not_null(inner, false, found),
        ExprKind::BoolTest(inner, BoolTest::True | BoolTest::False | BoolTest::NotUnknown)
            if is_condition =>
        {
            known_not_null(inner, false, found);
        }
        _ => {}
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column { .. })
}

fn is_strict(test: &Expr) -> bool {
    matches!(&test.kind, ExprKind::Call { callee, .. } if callee.proc.strict)
}

/// Makes inner joins of outer ones where these places of the row are not null.
pub fn reduce(from: &mut From, not_null_here: &[usize]) {
    let From::Join { kind, left, right, on } = from else { return };
    let needs = |part: &From| {
        let (start, end) = range(part);
        not_null_here.iter().any(|place| (start..end).contains(place))
    };
    let (needs_left, needs_right) = (needs(left), needs(right));
    let keeps_left = matches!(kind, JoinKind::Left | JoinKind::Full) && !needs_right;
    let keeps_right = matches!(kind, JoinKind::Right | JoinKind::Full) && !needs_left;
    *kind = match (keeps_left, keeps_right) {
        (true, true) => JoinKind::Full,
        (true, false) => JoinKind::Left,
        (false, true) => JoinKind::Right,
        (false, false) => JoinKind::Inner,
    };
    let by_join = not_null(&on.clone().map(conjuncts).unwrap_or_default());
    let both: Vec<usize> = by_join.iter().chain(not_null_here).copied().collect();
    let (for_left, for_right) = match kind {
        JoinKind::Inner => (&both[..], &both[..]),
        JoinKind::Left => (not_null_here, &by_join[..]),
        JoinKind::Right => (&by_join[..], not_null_here),
        JoinKind::Full => (&[][..], &[][..]),
    };
    reduce(left, for_left);
    reduce(right, for_right);
}
