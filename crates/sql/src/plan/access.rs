//! How the rows of a table are found: all of them, or those with given keys.

use super::columns::places;
use crate::catalog::{Catalog, IndexedExpr};
use crate::ir::{Expr, ExprKind, Quantified, TableRef};
use crate::types::Oid;

/// How rows are found.
#[derive(Clone, Debug)]
pub enum Access {
    /// All of them.
    All,
    /// Those whose columns have given values.
    Keys {
        /// The index; none for the primary key.
        index: Option<Oid>,
        /// Its columns.
        columns: Vec<u16>,
        /// The values for each.
        parts: Vec<KeyPart>,
    },
}

/// The values of one column of a key.
#[derive(Clone, Debug)]
pub enum KeyPart {
    /// This one.
    Equal(Expr),
    /// Those of this array.
    Any(Expr),
}

/// The parts of a condition that must all hold.
pub fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr.kind {
        ExprKind::And(list) => list.into_iter().flat_map(conjuncts).collect(),
        kind => vec![Expr { kind, ..expr }],
    }
}

/// The best way to the rows of a table, for conditions of which those count that look at nothing
/// else but `known` places.
pub fn choose(
    catalog: &Catalog,
    table: &TableRef,
    conditions: &[Expr],
    known: &dyn Fn(usize) -> bool,
) -> Access {
    let given = |column: u16| -> Option<KeyPart> {
        let place = table.start + column as usize - 1;
        let ty = table.table.column(column).ty;
        conditions.iter().find_map(|condition| key_part(condition, place, ty, known))
    };
    let mut best: Option<Access> = None;
    if let Some((columns, _)) = table.table.primary_key() {
        let parts: Option<Vec<KeyPart>> = columns.iter().map(|&column| given(column)).collect();
        if let Some(parts) = parts {
            return Access::Keys { index: None, columns: columns.to_vec(), parts };
        }
    }
    for &oid in &table.table.indexes {
        let Some(index) = catalog.index(oid) else { continue };
        if index.predicate.is_some() || index.primary {
            continue;
        }
        let columns: Option<Vec<u16>> = index
            .keys
            .iter()
            .map(|key| match key.what {
                IndexedExpr::Column(number) => Some(number),
                IndexedExpr::Expr(_) => None,
            })
            .collect();
        let Some(columns) = columns else { continue };
        let parts: Option<Vec<KeyPart>> = columns.iter().map(|&column| given(column)).collect();
        let Some(parts) = parts else { continue };
        let access = Access::Keys { index: Some(oid), columns, parts };
        if index.unique {
            return access;
        }
        best.get_or_insert(access);
    }
    best.unwrap_or(Access::All)
}

/// Whether conditions give a column one value for all rows.
pub fn is_given(table: &TableRef, conditions: &[Expr], column: u16) -> bool {
    let place = table.start + column as usize - 1;
    let ty = table.table.column(column).ty;
    let part = |condition: &Expr| key_part(condition, place, ty, &|_| false);
    conditions.iter().any(|condition| matches!(part(condition), Some(KeyPart::Equal(_))))
}

/// The value that a condition gives to a column.
fn key_part(
    condition: &Expr,
    place: usize,
    ty: Oid,
    known: &dyn Fn(usize) -> bool,
) -> Option<KeyPart> {
    match &condition.kind {
        ExprKind::Call { callee, args, .. } if is_equality(callee.proc.source) => {
            let [left, right] = &args[..] else { return None };
            for (column, value) in [(left, right), (right, left)] {
                if is_column(column, place) && is_known(value, known) && comparable(ty, value.ty) {
                    return Some(KeyPart::Equal(value.clone()));
                }
            }
            None
        }
        ExprKind::QuantifiedArray { left, test, quantified: Quantified::Any, array } => {
            let ExprKind::Call { callee, .. } = &test.kind else { return None };
            let fits = is_equality(callee.proc.source)
                && is_column(left, place)
                && is_known(array, known)
                && comparable_args(&callee.proc.args, ty);
            fits.then(|| KeyPart::Any((**array).clone()))
        }
        _ => None,
    }
}

fn comparable_args(args: &[Oid], ty: Oid) -> bool {
    args.iter().all(|&arg| comparable(ty, arg))
}

/// Whether equality of the two types is equality of their keys.
fn comparable(column: Oid, value: Oid) -> bool {
    let class = |ty: Oid| match ty {
        Oid::INT2 | Oid::INT4 | Oid::INT8 => 1,
        Oid::TEXT | Oid::VARCHAR => 2,
        Oid::OID | Oid::REGCLASS | Oid::REGTYPE => 3,
        Oid::UUID => 4,
        Oid::DATE => 5,
        Oid::TIMESTAMP => 6,
        Oid::TIMESTAMPTZ => 7,
        Oid::NUMERIC => 8,
        Oid::BOOL => 9,
        Oid::NAME => 10,
        Oid::BYTEA => 11,
        _ => 0,
    };
    class(column) != 0 && class(column) == class(value)
}

/// The functions of equality operators whose equality is that of keys.
fn is_equality(source: &str) -> bool {
    matches!(
        source,
        "int2eq"
            | "int4eq"
            | "int8eq"
            | "int24eq"
            | "int42eq"
            | "int28eq"
            | "int82eq"
            | "int48eq"
            | "int84eq"
            | "texteq"
            | "oideq"
            | "uuid_eq"
            | "date_eq"
            | "timestamp_eq"
            | "numeric_eq"
            | "booleq"
            | "byteaeq"
    )
}

/// A column, also under another name of its type.
fn is_column(expr: &Expr, place: usize) -> bool {
    match &expr.kind {
        ExprKind::Column { depth: 0, index } => *index == place,
        ExprKind::Relabel(inner) => is_column(inner, place),
        _ => false,
    }
}

fn is_known(expr: &Expr, known: &dyn Fn(usize) -> bool) -> bool {
    let mut found = Vec::new();
    places(expr, &mut found);
    let volatile = expr.any(|it, _| match &it.kind {
        ExprKind::Call { callee, .. } => callee.proc.volatility == b'v',
        ExprKind::NextValue(_) | ExprKind::SetReturning(_) => true,
        _ => false,
    });
    !volatile && found.into_iter().all(known)
}
