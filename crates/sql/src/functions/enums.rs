//! Values of enumerated types: their order is that of the type's declaration.

use super::Call;
use super::arguments::Entry;
use crate::error::{Result, SqlError, code};
use crate::types::{Array, Datum, EnumValue, Oid, TypeKind};
use std::cmp::Ordering;
use std::sync::Arc;

fn order(a: &EnumValue, b: &EnumValue) -> Ordering {
    a.order.total_cmp(&b.order)
}

fn larger(a: &Datum, b: &Datum) -> Datum {
    chosen(a, b, Ordering::Greater)
}

fn smaller(a: &Datum, b: &Datum) -> Datum {
    chosen(a, b, Ordering::Less)
}

fn chosen(a: &Datum, b: &Datum, wanted: Ordering) -> Datum {
    match (a, b) {
        (Datum::Enum(x), Datum::Enum(y)) if order(x, y) != wanted => b.clone(),
        _ => a.clone(),
    }
}

/// The labels of the type of the first argument, which may be null itself.
fn labels(call: &Call<'_>) -> Result<(Oid, Arc<[Arc<EnumValue>]>)> {
    let ty = call.args.first().copied().unwrap_or(Oid::NONE);
    match call.types.kind(ty) {
        Some(TypeKind::Enum(labels)) => Ok((ty, labels)),
        _ => {
            let message = "could not determine actual enum type";
            Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message))
        }
    }
}

fn at_end(call: &Call<'_>, last: bool) -> Result<Datum> {
    let (ty, labels) = labels(call)?;
    let label = if last { labels.last() } else { labels.first() };
    let empty = || {
        let message = format!("enum {} contains no values", call.types.type_name(ty, -1));
        SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
    };
    label.cloned().map(Datum::Enum).ok_or_else(empty)
}

fn range(call: &Call<'_>, from: Option<&EnumValue>, to: Option<&EnumValue>) -> Result<Array> {
    let (ty, labels) = labels(call)?;
    let inside = |label: &&Arc<EnumValue>| {
        from.is_none_or(|from| order(from, label).is_le())
            && to.is_none_or(|to| order(label, to).is_le())
    };
    let labels = labels.iter().filter(inside).cloned().map(Datum::Enum);
    Ok(Array::of(ty, labels.collect()))
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("enum_"; a: &EnumValue, b: &EnumValue => order(a, b)),
    functions! {
        "enum_cmp", (a: &EnumValue, b: &EnumValue) => order(a, b) as i32;
        "enum_larger", (a: &Datum, b: &Datum) => larger(a, b);
        "enum_smaller", (a: &Datum, b: &Datum) => smaller(a, b);
        "enum_first", () [call, _args] => at_end(call, false);
        "enum_last", () [call, _args] => at_end(call, true);
        "enum_range_all", () [call, _args] => range(call, None, None);
        "enum_range_bounds", (a: Option<&EnumValue>, b: Option<&EnumValue>) [call, _args] =>
            range(call, a, b);
    },
];
