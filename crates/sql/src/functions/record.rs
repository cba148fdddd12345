//! Comparison of rows as values. Unlike a comparison of row constructors, which is an expression,
//! this one takes nulls for equal and last.

use super::Call;
use super::arguments::Entry;
use super::values::order;
use crate::error::{Result, SqlError, code};
use crate::types::RecordValue;
use std::cmp::Ordering;

fn compare(call: &Call<'_>, a: &RecordValue, b: &RecordValue) -> Result<Ordering> {
    for at in 0..a.fields.len().min(b.fields.len()) {
        check_types(call, a, b, at)?;
        let order =
            order(a.types.get(at).copied().unwrap_or_default(), &a.fields[at], &b.fields[at]);
        if order.is_ne() {
            return Ok(order);
        }
    }
    if a.fields.len() != b.fields.len() {
        let message = "cannot compare record types with different numbers of columns";
        return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
    }
    Ok(Ordering::Equal)
}

fn check_types(call: &Call<'_>, a: &RecordValue, b: &RecordValue, at: usize) -> Result<()> {
    match (a.types.get(at), b.types.get(at)) {
        (Some(x), Some(y)) if x != y => {
            let message = format!(
                "cannot compare dissimilar column types {} and {} at record column {}",
                call.types.type_name(*x, -1),
                call.types.type_name(*y, -1),
                at + 1
            );
            Err(SqlError::new(code::DATATYPE_MISMATCH, message))
        }
        _ => Ok(()),
    }
}

/// The comparisons of records, and those of their images, which differ only for values that are
/// equal and not identical.
macro_rules! records {
    ($prefix:literal) => {
        functions! {
            concat!($prefix, "eq"), (a: &RecordValue, b: &RecordValue) [call, _args] =>
                compare(call, a, b).map(Ordering::is_eq);
            concat!($prefix, "ne"), (a: &RecordValue, b: &RecordValue) [call, _args] =>
                compare(call, a, b).map(Ordering::is_ne);
            concat!($prefix, "lt"), (a: &RecordValue, b: &RecordValue) [call, _args] =>
                compare(call, a, b).map(Ordering::is_lt);
            concat!($prefix, "le"), (a: &RecordValue, b: &RecordValue) [call, _args] =>
                compare(call, a, b).map(Ordering::is_le);
            concat!($prefix, "gt"), (a: &RecordValue, b: &RecordValue) [call, _args] =>
                compare(call, a, b).map(Ordering::is_gt);
            concat!($prefix, "ge"), (a: &RecordValue, b: &RecordValue) [call, _args] =>
                compare(call, a, b).map(Ordering::is_ge);
        }
    };
}

pub(super) const TABLES: &[&[Entry]] = &[records!("record_"), records!("record_image_")];
