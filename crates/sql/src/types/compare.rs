//! The order of values, and keys for hashing that agree with it.
//!
//! Two values are compared only if they have the same type, which the caller knows. Text is ordered
//! by bytes, as under the C collation. Blanks at the end of bpchar do not count; since bpchar has
//! the representation of text, [`compare_as`] must be told the type. Inside of arrays and rows the
//! types are known.

use super::{Array, Datum, Interval, Oid, RecordValue};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The order of two values of the same type; null is above everything else.
pub fn compare(a: &Datum, b: &Datum) -> Ordering {
    match (a, b) {
        (Datum::Int4(a), Datum::Int4(b)) => a.cmp(b),
        (Datum::Int8(a), Datum::Int8(b)) => a.cmp(b),
        (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
        (Datum::Int2(a), Datum::Int2(b)) => a.cmp(b),
        (Datum::Oid(a), Datum::Oid(b)) => a.cmp(b),
        (Datum::Float4(a), Datum::Float4(b)) => compare_floats(f64::from(*a), f64::from(*b)),
        (Datum::Float8(a), Datum::Float8(b)) => compare_floats(*a, *b),
        (Datum::Numeric(a), Datum::Numeric(b)) => a.cmp(b),
        (Datum::Bytea(a), Datum::Bytea(b)) => a.cmp(b),
        (Datum::Date(a), Datum::Date(b)) => a.cmp(b),
        (Datum::Time(a), Datum::Time(b)) => a.cmp(b),
        (Datum::TimeTz(a, west_a), Datum::TimeTz(b, west_b)) => {
            compare_timetz((*a, *west_a), (*b, *west_b))
        }
        (Datum::Timestamp(a), Datum::Timestamp(b)) => a.cmp(b),
        (Datum::Interval(a), Datum::Interval(b)) => a.span().cmp(&b.span()),
        (Datum::Uuid(a), Datum::Uuid(b)) => a.cmp(b),
        (Datum::Json(a), Datum::Json(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Jsonb(a), Datum::Jsonb(b)) => a.order(b),
        (Datum::Array(a), Datum::Array(b)) => compare_arrays(a, b),
        (Datum::Record(a), Datum::Record(b)) => compare_records(a, b),
        (Datum::Enum(a), Datum::Enum(b)) => a.order.total_cmp(&b.order),
        (Datum::Bits(a), Datum::Bits(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Inet(a), Datum::Inet(b)) => a.order(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// The order of two values of a type.
pub fn compare_as(ty: Oid, a: &Datum, b: &Datum) -> Ordering {
    match (ty, a, b) {
        (Oid::BPCHAR, Datum::Text(a), Datum::Text(b)) => {
            trim_blanks(a).as_bytes().cmp(trim_blanks(b).as_bytes())
        }
        _ => compare(a, b),
    }
}

/// Text without blanks at its end, which do not count in bpchar.
pub fn trim_blanks(text: &str) -> &str {
    text.trim_end_matches(' ')
}

/// Floats with NaN above all others and equal to itself; both zeros are equal.
pub fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Times with a zone: first by the instant, then by the zone, so that equal ones are the same.
pub fn compare_timetz(a: (i64, i32), b: (i64, i32)) -> Ordering {
    let instant = |(micros, west): (i64, i32)| micros + i64::from(west) * 1_000_000;
    instant(a).cmp(&instant(b)).then(a.1.cmp(&b.1))
}

impl Interval {
    /// Its length in microseconds if a month has 30 days and a day 24 hours.
    pub fn span(&self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(super::datetime::DAY) + i128::from(self.micros)
    }
}

/// Variants of a mistake come in some order; null comes last.
fn rank(value: &Datum) -> u8 {
    match value {
        Datum::Null => 2,
        Datum::Record(_) => 1,
        _ => 0,
    }
}

/// Element by element, then the number of elements, the dimensions, the bounds.
pub fn compare_arrays(a: &Array, b: &Array) -> Ordering {
    for (left, right) in a.elements.iter().zip(&b.elements) {
        match compare_as(a.element, left, right) {
            Ordering::Equal => {}
            different => return different,
        }
    }
    a.elements
        .len()
        .cmp(&b.elements.len())
        .then_with(|| a.dimensions.len().cmp(&b.dimensions.len()))
        .then_with(|| {
            let bounds = |array: &Array| -> Vec<(i32, i32)> {
                array.dimensions.iter().map(|d| (d.length, d.lower)).collect()
            };
            bounds(a).cmp(&bounds(b))
        })
}

/// Field by field.
pub fn compare_records(a: &RecordValue, b: &RecordValue) -> Ordering {
    for (at, (left, right)) in a.fields.iter().zip(&b.fields).enumerate() {
        let ty = a.types.get(at).copied().unwrap_or(Oid::NONE);
        match compare_as(ty, left, right) {
            Ordering::Equal => {}
            different => return different,
        }
    }
    a.fields.len().cmp(&b.fields.len())
}

/// Whether two values of a type are the same, with null the same as null.
pub fn not_distinct(ty: Oid, a: &Datum, b: &Datum) -> bool {
    compare_as(ty, a, b) == Ordering::Equal
}

impl PartialEq for Datum {
    /// Not distinct: null equals null.
    fn eq(&self, other: &Datum) -> bool {
        compare(self, other) == Ordering::Equal
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_as(Oid::NONE, self, state);
    }
}

/// A value of a type as a key for grouping and hash joins.
#[derive(Clone, Debug)]
pub struct HashKey {
    /// The type.
    pub ty: Oid,
    /// The value.
    pub value: Datum,
}

impl PartialEq for HashKey {
    fn eq(&self, other: &HashKey) -> bool {
        not_distinct(self.ty, &self.value, &other.value)
    }
}

impl Eq for HashKey {}

impl Hash for HashKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_as(self.ty, &self.value, state);
    }
}

/// Feeds a value of a type to a hasher, equal values alike.
pub fn hash_as<H: Hasher>(ty: Oid, value: &Datum, state: &mut H) {
    match value {
        Datum::Null => 0u8.hash(state),
        Datum::Bool(value) => value.hash(state),
        Datum::Int2(value) => value.hash(state),
        Datum::Int4(value) => value.hash(state),
        Datum::Int8(value) => value.hash(state),
        Datum::Oid(value) => value.hash(state),
        Datum::Float4(value) => hash_float(f64::from(*value), state),
        Datum::Float8(value) => hash_float(*value, state),
        Datum::Numeric(value) => value.hash(state),
        Datum::Text(text) if ty == Oid::BPCHAR => trim_blanks(text).hash(state),
        Datum::Text(text) | Datum::Json(text) | Datum::Bits(text) => text.hash(state),
        Datum::Bytea(bytes) => bytes.hash(state),
        Datum::Date(days) => days.hash(state),
        Datum::Time(micros) | Datum::Timestamp(micros) => micros.hash(state),
        Datum::TimeTz(micros, west) => (micros, west).hash(state),
        Datum::Interval(interval) => interval.span().hash(state),
        Datum::Uuid(bytes) => bytes.hash(state),
        Datum::Jsonb(json) => json.hash(state),
        Datum::Array(array) => {
            for element in &array.elements {
                hash_as(array.element, element, state);
            }
        }
        Datum::Record(record) => {
            for (at, field) in record.fields.iter().enumerate() {
                let ty = record.types.get(at).copied().unwrap_or(Oid::NONE);
                hash_as(ty, field, state);
            }
        }
        Datum::Enum(value) => value.order.to_bits().hash(state),
        Datum::Inet(inet) => inet.hash(state),
    }
}

fn hash_float<H: Hasher>(value: f64, state: &mut H) {
    let canonical = if value == 0.0 {
        0.0
    } else if value.is_nan() {
        f64::NAN
    } else {
        value
    };
    canonical.to_bits().hash(state);
}
