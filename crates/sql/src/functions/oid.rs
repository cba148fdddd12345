//! oid and the other system identifiers. Types that only name an object (regclass, …) are oids.

use super::arguments::{Argument, Entry, argument};
use crate::error::{Result, SqlError, code};
use crate::types::{Array, Datum};
use std::cmp::Ordering;

fn oid_of(value: i64) -> Result<u32> {
    let error = || SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "OID out of range");
    u32::try_from(value).map_err(|_| error())
}

/// A transaction identifier, which `xideqint4` compares with an integer.
struct Xid(u32);

impl<'a> Argument<'a> for Xid {
    fn take(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Oid(value) => Some(Xid(*value)),
            Datum::Int4(value) => Some(Xid(*value as u32)),
            _ => None,
        }
    }
}

/// A place of a row: block and number within it, as one number.
struct Tid(i64);

impl<'a> Argument<'a> for Tid {
    fn take(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Int8(place) => Some(Tid(*place)),
            _ => None,
        }
    }
}

fn tid_order(a: &Tid, b: &Tid) -> Ordering {
    a.0.cmp(&b.0)
}

fn chosen(args: &[Datum], first: bool) -> Result<&Datum> {
    argument(args, usize::from(!first))
}

/// Vectors are compared by their lengths first.
fn vector_order(a: &Array, b: &Array) -> Ordering {
    let numbers = |vector: &Array| -> Vec<u32> {
        let number = |datum: &Datum| if let Datum::Oid(oid) = datum { *oid } else { 0 };
        vector.elements.iter().map(number).collect()
    };
    a.elements.len().cmp(&b.elements.len()).then_with(|| numbers(a).cmp(&numbers(b)))
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("oid"; a: u32, b: u32 => a.cmp(&b)),
    comparisons!("tid"; a: Tid, b: Tid => tid_order(&a, &b)),
    comparisons!("oidvector"; a: &Array, b: &Array => vector_order(a, b)),
    functions! {
        "oidlarger", (a: u32, b: u32) => a.max(b);
        "oidsmaller", (a: u32, b: u32) => a.min(b);
        "i8tooid", (a: i64) => oid_of(a);
        "oidtoi8", (a: u32) => i64::from(a);
        "xideq", (a: Xid, b: Xid) => a.0 == b.0;
        "xidneq", (a: Xid, b: Xid) => a.0 != b.0;
        "cideq", (a: u32, b: u32) => a == b;
        "tidlarger", (a: Tid, b: Tid) [_call, args] => chosen(args, tid_order(&a, &b).is_gt());
        "tidsmaller", (a: Tid, b: Tid) [_call, args] => chosen(args, tid_order(&a, &b).is_lt());
    },
];
