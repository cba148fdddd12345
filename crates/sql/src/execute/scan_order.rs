//! Whether a query has its rows as soon as it has enough of them.
//!
//! Without an order it has. InnoDB locks what it looks at, and looks at it in the order of the
//! primary key, from either end: if that is the order which a query asks for, its LIMIT ends the
//! scan, and the rows behind it stay free. Any other order needs all rows first, and locks them.

use super::Exec;
use crate::ir::{Expr, ExprKind, JoinKind, Query, Select};
use crate::plan::{Node, NodeKind, Scan, is_given};

impl Exec<'_> {
    /// Whether the rows of a plan are those of the query as they come; its scan then begins where
    /// the order does.
    pub(super) fn is_ended_early(&self, query: &Query, select: &Select, node: &mut Node) -> bool {
        if query.sort.is_empty() && query.locks.is_empty() {
            return true;
        }
        let keys = query.sort.iter();
        let sort = keys.map(|key| Some((select.targets.get(key.column)?, key.descending)));
        sort.collect::<Option<Vec<_>>>().is_some_and(|sort| self.comes_in_order(&sort, node))
    }

    /// Whether the rows of a plan that locks them come in an order, also if there is none: by
    /// expressions, with whether each is from the greatest to the smallest.
    pub(super) fn comes_in_order(&self, sort: &[(&Expr, bool)], node: &mut Node) -> bool {
        let Some((scan, filters)) = outermost(node) else { return false };
        if self.innodb_lock(scan).is_none() {
            return false;
        }
        let Some(is_backwards) = (Wanted { sort }).direction(scan, filters) else {
            return false;
        };
        scan.is_backwards = is_backwards;
        true
    }
}

/// The scan whose order is that of the rows.
fn outermost(node: &mut Node) -> Option<(&mut Scan, &[Expr])> {
    let mut node = node;
    loop {
        let Node { kind, filters, .. } = node;
        match kind {
            NodeKind::Scan(scan) => return Some((scan, filters)),
            NodeKind::Join { kind: JoinKind::Inner | JoinKind::Left, left, .. } => node = left,
            _ => return None,
        }
    }
}

/// The order that a query asks for.
struct Wanted<'q> {
    sort: &'q [(&'q Expr, bool)],
}

impl Wanted<'_> {
    /// Whether the scan has to go backwards for that; none if it does not help. What is ordered by
    /// behind the whole key is a sort of its own for MariaDB, although no two rows share a key.
    fn direction(&self, scan: &Scan, filters: &[Expr]) -> Option<bool> {
        let table = &scan.table;
        let key = table.table.primary_key().map_or(&[][..], |(columns, _)| columns);
        // What is the same in all rows orders nothing.
        let is_free = |column: &u16| !is_given(table, filters, *column);
        let mut rest = key.iter().copied().filter(is_free);
        let mut direction = None;
        for &(wanted, descending) in self.sort {
            let place = place_of(wanted)?;
            let column = place.checked_sub(table.start)? as u16 + 1;
            if column as usize > table.table.columns.len() {
                return None;
            }
            if !is_free(&column) {
                continue;
            }
            let fits = rest.next() == Some(column);
            if !fits || *direction.get_or_insert(descending) != descending {
                return None;
            }
        }
        Some(direction.unwrap_or(false))
    }
}

/// The place of the row that an expression is, in its order.
fn place_of(expr: &Expr) -> Option<usize> {
    let mut expr = expr;
    loop {
        expr = match &expr.kind {
            ExprKind::Column { depth: 0, index } => return Some(*index),
            ExprKind::Relabel(inner) | ExprKind::Collated { arg: inner, .. } => inner,
            _ => return None,
        }
    }
}
