//! Which columns of a table are looked at, and which of them first.

use super::{Access, KeyPart, Node, NodeKind};
use crate::ir::{Body, Distinct, Expr, ExprKind, From, FromFunction, Query};
use crate::types::Datum;

/// The places of the row at `level` that an expression looks at.
pub fn places(expr: &Expr, found: &mut Vec<usize>) {
    expr.clone().walk(0, &mut |expr, level| {
        match &expr.kind {
            ExprKind::Column { depth, index } if *depth == level => found.push(*index),
            ExprKind::WholeRow { depth, columns, .. } if *depth == level => {
                found.extend(columns);
            }
            _ => {}
        }
        true
    });
}

/// The same for a part of FROM that depends on the row so far.
pub fn from_places(from: &From, found: &mut Vec<usize>) {
    from.clone().walk(0, &mut |expr, level| {
        match &expr.kind {
            ExprKind::Column { depth, index } if *depth == level => found.push(*index),
            ExprKind::WholeRow { depth, columns, .. } if *depth == level => {
                found.extend(columns);
            }
            _ => {}
        }
        true
    });
    // Its own functions see the row as it is; queries are one level in, which `walk` knows.
    if let From::Functions { functions, .. } = from {
        for function in functions {
            match function {
                FromFunction::Set(call) => call.args.iter().for_each(|arg| places(arg, found)),
                FromFunction::Scalar(expr, _) => places(expr, found),
            }
        }
    }
}

/// All places that a plan looks at.
pub fn collect(node: &Node, found: &mut Vec<usize>) {
    node.filters.iter().for_each(|filter| places(filter, found));
    match &node.kind {
        NodeKind::Scan(scan) => {
            if let Access::Keys { parts, .. } = &scan.access {
                for part in parts {
                    match part {
                        KeyPart::Equal(expr) | KeyPart::Any(expr) => places(expr, found),
                    }
                }
            }
        }
        NodeKind::Source { from, .. } => from_places(from, found),
        NodeKind::Join { left, right, hash, on, .. } => {
            collect(left, found);
            collect(right, found);
            for (one, other) in hash {
                places(one, found);
                places(other, found);
            }
            on.iter().for_each(|expr| places(expr, found));
        }
        NodeKind::Nothing => {}
    }
}

/// Tells each table which of its columns are looked at.
pub fn assign(node: &mut Node, needed: &[usize]) {
    let (start, end) = (node.start, node.end);
    match &mut node.kind {
        NodeKind::Scan(scan) => {
            let count = scan.table.table.columns.len();
            let number = |place: usize| {
                let inside = place >= start && place < (start + count).min(end);
                inside.then(|| (place - start) as u16 + 1)
            };
            let mut first = Vec::new();
            node.filters.iter().for_each(|filter| places(filter, &mut first));
            let mut first: Vec<u16> = first.into_iter().filter_map(number).collect();
            if let Access::Keys { columns, .. } = &scan.access {
                first.extend(columns);
            }
            first.sort_unstable();
            first.dedup();
            let rest = needed.iter().filter_map(|&place| number(place));
            scan.rest = rest.filter(|column| !first.contains(column)).collect();
            scan.first = first;
        }
        NodeKind::Join { left, right, .. } => {
            assign(left, needed);
            assign(right, needed);
        }
        NodeKind::Source { from: From::Query { query, .. }, .. } => {
            leave_out(query, &|column| needed.binary_search(&(start + column)).is_ok());
        }
        NodeKind::Source { from: From::Cte { unused, width, .. }, .. } => {
            let is_unused = |column: &usize| needed.binary_search(&(start + column)).is_err();
            *unused = (0..*width).filter(is_unused).collect();
        }
        NodeKind::Source { .. } | NodeKind::Nothing => {}
    }
}

/// Results of a query that nothing looks at are not worked out, nor is what is wrong with them
/// found, as in PostgreSQL.
pub fn leave_out(query: &mut Query, is_used: &dyn Fn(usize) -> bool) {
    let (sort, shown) = (&query.sort, query.columns.len());
    let Body::Select(select) = &mut query.body else { return };
    if select.distinct != Distinct::No {
        return;
    }
    for (column, target) in select.targets.iter_mut().enumerate().take(shown) {
        let is_plain = matches!(target.kind, ExprKind::Column { .. } | ExprKind::Const(_));
        let is_key = || sort.iter().any(|key| key.column == column);
        if !is_plain && !is_used(column) && !is_key() && !target.is_volatile() {
            *target = Expr::constant(Datum::Null, target.ty);
        }
    }
}
