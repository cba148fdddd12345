//! Comparison of values where null is one of them.

use crate::types::{Datum, Oid, compare_as};
use std::cmp::Ordering;

/// The order of two values of a type; null is behind all others.
pub(super) fn order(ty: Oid, a: &Datum, b: &Datum) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => compare_as(ty, a, b),
    }
}

/// Whether two values are the same, as IS NOT DISTINCT FROM says.
pub(super) fn equal(ty: Oid, a: &Datum, b: &Datum) -> bool {
    order(ty, a, b).is_eq()
}
