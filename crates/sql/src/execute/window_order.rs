//! In which order PostgreSQL works out the windows of a query. Nothing promises it, but rows come
//! out in the order of the last sort, and applications get used to that.
//!
//! It numbers the expressions of the windows as they are written (of a window, first those of its
//! ORDER BY), compares windows by the numbers of what they are sorted by, the largest first, and
//! puts longer lists before their beginnings, so that a sort serves as many windows as it can
//! (`select_active_windows` in its planner).

use crate::ir::{Expr, SortKey, WindowCall};
use std::cmp::Ordering;

/// What rows are sorted by for a window: its partitions, then its order.
pub(super) fn keys(call: &WindowCall) -> Vec<(Expr, SortKey)> {
    let ascending = SortKey { column: 0, descending: false, nulls_first: false };
    let partition = call.partition.iter().map(|expr| (expr.clone(), ascending.clone()));
    let mut keys: Vec<(Expr, SortKey)> = Vec::new();
    for key in partition.chain(call.order.iter().cloned()) {
        if !keys.iter().any(|known| known.0 == key.0) {
            keys.push(key);
        }
    }
    keys
}

/// The places of the calls in the order in which they are worked out.
pub(super) fn of(calls: &[WindowCall]) -> Vec<usize> {
    let numbers = numbers(calls);
    let number = |expr: &Expr| numbers.iter().position(|it| *it == expr).unwrap_or(numbers.len());
    let keys: Vec<Vec<(usize, SortKey)>> = calls
        .iter()
        .map(|call| keys(call).into_iter().map(|(expr, key)| (number(&expr), key)).collect())
        .collect();
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by(|&left, &right| compare(&keys[left], &keys[right]));
    order
}

/// The expressions in the order in which they are met.
fn numbers(calls: &[WindowCall]) -> Vec<&Expr> {
    let mut numbers: Vec<&Expr> = Vec::new();
    for call in calls {
        for expr in call.order.iter().map(|(expr, _)| expr).chain(&call.partition) {
            if !numbers.contains(&expr) {
                numbers.push(expr);
            }
        }
    }
    numbers
}

fn compare(left: &[(usize, SortKey)], right: &[(usize, SortKey)]) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        let order = right.0.cmp(&left.0);
        let order = order.then(left.1.descending.cmp(&right.1.descending));
        let order = order.then(right.1.nulls_first.cmp(&left.1.nulls_first));
        if order != Ordering::Equal {
            return order;
        }
    }
    right.len().cmp(&left.len())
}
