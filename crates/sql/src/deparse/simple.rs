//! Where parentheses may be left out.

use super::operators::{is_cast, operator_of};
use crate::ir::{Collated, Expr, ExprKind};

/// What an expression stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Around<'a> {
    /// An operator, and whether it is its first operand.
    Operator(&'a str, bool),
    And,
    Or,
    Not,
    /// A conversion.
    Cast,
    /// IS NULL and the like.
    Other,
}

/// What an expression is, as far as parentheses are concerned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shape<'a> {
    /// Needs none ever.
    Atom,
    /// As its argument.
    Cast(&'a Expr),
    Operator(&'static str),
    And,
    Or,
    Not,
    /// IS NULL, IS TRUE, IS DISTINCT FROM, subqueries.
    Test,
    /// Everything else.
    Compound,
}

/// The shape of an expression.
pub(super) fn shape(expr: &Expr) -> Shape<'_> {
    match &expr.kind {
        ExprKind::Call { callee, args, .. } => {
            if let Some(from) = cast_argument(expr) {
                return Shape::Cast(from);
            }
            match operator_of(callee.proc.oid) {
                Some(name) if args.len() <= 2 => Shape::Operator(name),
                _ => Shape::Atom,
            }
        }
        ExprKind::Collated { arg, by, .. } if *by != Collated::Explicit => shape(arg),
        ExprKind::Relabel(arg)
        | ExprKind::ThroughText(arg)
        | ExprKind::Typmod { arg, .. }
        | ExprKind::CheckDomain(arg)
        | ExprKind::ArrayCast { array: arg, .. }
        | ExprKind::RowCast { row: arg, .. } => Shape::Cast(arg),
        ExprKind::And(_) => Shape::And,
        ExprKind::Or(_) => Shape::Or,
        ExprKind::Not(_) => Shape::Not,
        ExprKind::IsNull(_)
        | ExprKind::IsNotNull(_)
        | ExprKind::BoolTest(..)
        | ExprKind::IsDistinct { .. } => Shape::Test,
        ExprKind::QuantifiedArray { .. } | ExprKind::Subscript { .. } => Shape::Compound,
        _ => Shape::Atom,
    }
}

/// The value that a call converts, if it is a conversion.
pub(super) fn cast_argument(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { callee, args, .. } = &expr.kind else { return None };
    let from = args.first()?;
    is_cast(callee.proc.oid, from.ty, expr.ty).then_some(from)
}

/// Whether an expression needs no parentheses where it stands.
pub(super) fn is_simple(expr: &Expr, around: Around<'_>) -> bool {
    match shape(expr) {
        Shape::Atom => true,
        Shape::Cast(arg) => is_simple(arg, Around::Cast),
        Shape::Operator(name) => match around {
            Around::Operator(outer, is_first) => binds_stronger(name, outer, is_first),
            around => is_test_simple(around),
        },
        Shape::Test => is_test_simple(around),
        Shape::And | Shape::Not => {
            matches!(around, Around::And | Around::Or)
        }
        Shape::Or => matches!(around, Around::Or),
        Shape::Compound => false,
    }
}

fn is_test_simple(around: Around<'_>) -> bool {
    matches!(around, Around::And | Around::Or | Around::Not)
}

/// Only the operators of arithmetic are known to bind stronger or weaker than each other.
fn binds_stronger(inner: &str, outer: &str, is_first: bool) -> bool {
    let strength = |name: &str| match name {
        "+" | "-" => Some(1),
        "*" | "/" | "%" => Some(2),
        _ => None,
    };
    match (strength(inner), strength(outer)) {
        (Some(inner), Some(outer)) => inner > outer || (inner == outer && is_first),
        _ => false,
    }
}
