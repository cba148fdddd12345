//! Values as keys of hash tables.

use crate::types::{Datum, HashKey, Oid};

/// A value as a key; integers of all sizes are alike, and so are texts of all lengths.
pub(crate) fn key(value: &Datum, ty: Oid) -> HashKey {
    let (ty, value) = match value {
        Datum::Int2(value) => (Oid::INT8, Datum::Int8(i64::from(*value))),
        Datum::Int4(value) => (Oid::INT8, Datum::Int8(i64::from(*value))),
        Datum::Text(text) if ty == Oid::BPCHAR => {
            (Oid::TEXT, Datum::text(text.trim_end_matches(' ')))
        }
        Datum::Text(_) => (Oid::TEXT, value.clone()),
        other => (ty, other.clone()),
    };
    HashKey { ty, value }
}

/// The values of a row as a key.
pub(crate) fn row_key(values: &[Datum], types: &[Oid]) -> Vec<HashKey> {
    values.iter().zip(types).map(|(value, &ty)| key(value, ty)).collect()
}
