//! Conditions over the results of a query in FROM are tested inside of it, before its other results
//! are worked out: fewer rows are read, keys find them, and what is wrong with the results of rows
//! that are not meant is not found, as in PostgreSQL.

use super::access::conjuncts;
use crate::ir::{Body, Distinct, Expr, ExprKind, From, Grouping, Query, Select, SetOp};

/// Tests a condition over the results of a query (whose columns begin at `start` in the row)
/// inside of the query as well; whether it need not be tested outside any more.
pub fn push(query: &mut Query, start: usize, condition: &Expr) -> bool {
    let is_cut = query.limit.is_some() || query.offset.is_some() || !query.locks.is_empty();
    if is_cut || condition.is_volatile() {
        return false;
    }
    let shown = query.columns.len();
    match &mut query.body {
        Body::Select(select) => push_select(select, start, shown, condition),
        Body::SetOp { op: SetOp::Union | SetOp::Intersect, left, right, .. } => {
            // The columns of the arms have places of their own, one level further in.
            let mut condition = condition.clone();
            step_in(&mut condition, start);
            let is_left_done = push(left, 0, &condition);
            push(right, 0, &condition) && is_left_done
        }
        Body::SetOp { .. } | Body::Values(_) | Body::Modify(_) => false,
    }
}

/// The same columns, counted from 0, and everything else around one level further out.
fn step_in(condition: &mut Expr, start: usize) {
    condition.walk(0, &mut |expr, level| {
        match &mut expr.kind {
            ExprKind::Column { depth, index } if *depth == level => {
                *index = index.saturating_sub(start);
            }
            ExprKind::Column { depth, .. }
            | ExprKind::WholeRow { depth, .. }
            | ExprKind::Aggregate { depth, .. }
                if *depth > level =>
            {
                *depth += 1;
            }
            _ => {}
        }
        true
    });
}

fn push_select(select: &mut Select, start: usize, shown: usize, condition: &Expr) -> bool {
    let is_plain = select.grouping.is_none();
    let has_sets = !select.sets.is_empty() || !select.windows.is_empty();
    if has_sets || matches!(select.distinct, Distinct::On(_)) {
        return false;
    }
    // PostgreSQL asks a query for each row of a result, and not for each group.
    if !is_plain && asks_for_each_row(condition) {
        return false;
    }
    let Some(inside) = over_targets(condition, start, &select.targets[..shown]) else {
        return false;
    };
    add(if is_plain { &mut select.filter } else { &mut select.having }, inside);
    true
}

/// Whether there is a query in it that is asked for each row.
fn asks_for_each_row(condition: &Expr) -> bool {
    condition.any(|expr, level| match &expr.kind {
        ExprKind::Scalar(sub) | ExprKind::Exists(sub) | ExprKind::ArrayOf(sub) => {
            level == 0 && sub.correlated
        }
        ExprKind::QuantifiedQuery { .. } => level == 0,
        _ => false,
    })
}

/// A condition with what makes the columns instead of these; none if that cannot be.
fn over_targets(condition: &Expr, start: usize, targets: &[Expr]) -> Option<Expr> {
    let mut is_possible = true;
    let mut inside = condition.clone();
    inside.walk(0, &mut |expr, level| {
        match &mut expr.kind {
            ExprKind::Column { depth, index } if *depth == level => {
                match index.checked_sub(start).and_then(|place| targets.get(place)) {
                    Some(target) if !target.is_volatile() && target.ty == expr.ty => {
                        *expr = moved_in(target, level);
                    }
                    _ => is_possible = false,
                }
                return false;
            }
            ExprKind::WholeRow { depth, .. } if *depth == level => is_possible = false,
            ExprKind::Column { depth, .. }
            | ExprKind::WholeRow { depth, .. }
            | ExprKind::Aggregate { depth, .. }
                if *depth > level =>
            {
                *depth += 1;
            }
            _ => {}
        }
        true
    });
    is_possible.then_some(inside)
}

/// An expression as it is inside of so many queries more.
fn moved_in(expr: &Expr, by: u32) -> Expr {
    let mut moved = expr.clone();
    moved.walk(0, &mut |expr, level| {
        if let ExprKind::Column { depth, .. }
        | ExprKind::WholeRow { depth, .. }
        | ExprKind::Aggregate { depth, .. } = &mut expr.kind
            && *depth >= level
        {
            *depth += by;
        }
        true
    });
    moved
}

/// One condition more.
pub fn add(place: &mut Option<Expr>, condition: Expr) {
    *place = Some(match place.take() {
        None => condition,
        Some(before) => {
            let ty = before.ty;
            Expr { kind: ExprKind::And(vec![before, condition]), ty, typmod: -1 }
        }
    });
}

/// Conditions of HAVING over what is grouped by hold for all rows of a group or for none, so that
/// rows are tested before they are grouped; those that are left for the groups.
pub fn before_groups(having: &Expr, grouping: &Grouping) -> (Vec<Expr>, Vec<Expr>) {
    let keys = grouping.keys.len();
    // With several sets a key is null in the groups of some of them.
    let is_whole = matches!(&grouping.sets[..], [set] if set.len() == keys);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for condition in conjuncts(having.clone()) {
        // What sets return is not there before the rows are multiplied.
        let is_movable = is_whole
            && grouping.expanded.is_empty()
            && !condition.is_volatile()
            && !asks_for_each_row(&condition);
        let inside = is_movable.then(|| over_keys(&condition, &grouping.keys)).flatten();
        // Without keys there is a group even if there are no rows.
        if keys == 0 || inside.is_none() {
            after.push(condition);
        }
        before.extend(inside);
    }
    super::cost::sort_as(&mut after, &|condition| with_keys(condition, &grouping.keys));
    (before, after)
}

/// A condition over groups with what they are grouped by written out.
fn with_keys(condition: &Expr, keys: &[Expr]) -> Expr {
    let mut whole = condition.clone();
    whole.walk(0, &mut |expr, level| {
        if let ExprKind::Column { depth, index } = &expr.kind
            && *depth == level
            && let Some(key) = keys.get(*index)
        {
            *expr = moved_in(key, level);
            return false;
        }
        true
    });
    whole
}

/// A condition over groups as one over their rows; none if it looks at more than keys.
fn over_keys(condition: &Expr, keys: &[Expr]) -> Option<Expr> {
    let mut is_possible = true;
    let mut inside = condition.clone();
    inside.walk(0, &mut |expr, level| {
        match &expr.kind {
            ExprKind::Column { depth, index } if *depth == level => {
                match keys.get(*index) {
                    Some(key) if !key.is_volatile() => *expr = moved_in(key, level),
                    _ => is_possible = false,
                }
                return false;
            }
            ExprKind::WholeRow { depth, .. } if *depth == level => is_possible = false,
            ExprKind::Grouping(_) => is_possible = false,
            _ => {}
        }
        true
    });
    is_possible.then_some(inside)
}

/// Whether a condition means the same where a query of WITH runs: it looks at nothing around it,
/// and at no other query of WITH, which may not be known there.
pub fn stands_alone(condition: &Expr) -> bool {
    !condition.any(|expr, level| match &expr.kind {
        ExprKind::Column { depth, .. }
        | ExprKind::WholeRow { depth, .. }
        | ExprKind::Aggregate { depth, .. } => *depth > level,
        ExprKind::Scalar(sub) | ExprKind::Exists(sub) | ExprKind::ArrayOf(sub) => {
            names_with(&sub.query)
        }
        ExprKind::QuantifiedQuery { query, .. } => names_with(&query.query),
        _ => false,
    })
}

/// Whether a query of WITH is named in FROM, other than inside of expressions.
fn names_with(query: &Query) -> bool {
    fn in_from(from: &From) -> bool {
        match from {
            From::Cte { .. } => true,
            From::Query { query, .. } => names_with(query),
            From::Join { left, right, .. } => in_from(left) || in_from(right),
            From::Table(_) | From::System { .. } | From::Functions { .. } => false,
        }
    }
    match &query.body {
        Body::Select(select) => select.from.as_ref().is_some_and(in_from),
        Body::SetOp { left, right, .. } => names_with(left) || names_with(right),
        Body::Values(_) => false,
        Body::Modify(_) => true,
    }
}
