//! real and double precision, also with each other: arithmetic, comparison, conversion.
//!
//! Not-a-number equals itself and is larger than everything. A result that became infinite from
//! finite numbers is an overflow, one that became zero from others an underflow.

use super::arguments::Entry;
use super::int::{Integer, division_by_zero, out_of_range};
use crate::error::{Result, SqlError, code};
use std::cmp::Ordering;

/// A type of floating-point numbers.
pub(super) trait Float: Copy + PartialOrd + Into<f64> + num_traits::Float {}
impl Float for f32 {}
impl Float for f64 {}

pub(super) fn overflow() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

pub(super) fn underflow() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

/// The order of PostgreSQL: not-a-number is equal to itself and behind all others, and zeros are
/// equal.
pub(super) fn order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    }
}

fn checked<F: Float>(result: F, infinite_before: bool) -> Result<F> {
    if result.is_infinite() && !infinite_before { Err(overflow()) } else { Ok(result) }
}

fn add<F: Float>(a: F, b: F) -> Result<F> {
    checked(a + b, a.is_infinite() || b.is_infinite())
}

fn subtract<F: Float>(a: F, b: F) -> Result<F> {
    checked(a - b, a.is_infinite() || b.is_infinite())
}

fn multiply<F: Float>(a: F, b: F) -> Result<F> {
    let result = checked(a * b, a.is_infinite() || b.is_infinite())?;
    if result.is_zero() && !a.is_zero() && !b.is_zero() { Err(underflow()) } else { Ok(result) }
}

fn divide<F: Float>(a: F, b: F) -> Result<F> {
    if b.is_zero() && !a.is_nan() {
        return Err(division_by_zero());
    }
    let result = checked(a / b, a.is_infinite() || b.is_infinite())?;
    let lost = result.is_zero() && !a.is_zero() && !b.is_infinite();
    if lost { Err(underflow()) } else { Ok(result) }
}

fn larger<F: Float>(a: F, b: F) -> F {
    if order(a.into(), b.into()).is_gt() { a } else { b }
}

fn smaller<F: Float>(a: F, b: F) -> F {
    if order(a.into(), b.into()).is_lt() { a } else { b }
}

fn narrow(value: f64) -> Result<f32> {
    let result = value as f32;
    if result.is_infinite() && !value.is_infinite() {
        return Err(overflow());
    }
    if result == 0.0 && value != 0.0 { Err(underflow()) } else { Ok(result) }
}

/// To the nearest integer, and of two to the even one.
pub(super) fn to_integer<T: Integer>(value: f64) -> Result<T> {
    let rounded = value.round_ties_even();
    // Beyond this the conversion to a wide integer would not be exact, and no type is that large.
    if rounded.is_nan() || rounded.abs() > 9_223_372_036_854_775_808.0 {
        return Err(out_of_range::<T>());
    }
    T::try_from(rounded as i128).map_err(|_| out_of_range::<T>())
}

macro_rules! own {
    ($prefix:literal, $ty:ty) => {
        functions! {
            concat!($prefix, "pl"), (a: $ty, b: $ty) => add(a, b);
            concat!($prefix, "mi"), (a: $ty, b: $ty) => subtract(a, b);
            concat!($prefix, "mul"), (a: $ty, b: $ty) => multiply(a, b);
            concat!($prefix, "div"), (a: $ty, b: $ty) => divide(a, b);
            concat!($prefix, "um"), (a: $ty) => -a;
            concat!($prefix, "up"), (a: $ty) => a;
            concat!($prefix, "abs"), (a: $ty) => a.abs();
            concat!($prefix, "larger"), (a: $ty, b: $ty) => larger(a, b);
            concat!($prefix, "smaller"), (a: $ty, b: $ty) => smaller(a, b);
        }
    };
}

macro_rules! cross {
    ($prefix:literal, $a:ty, $b:ty) => {
        functions! {
            concat!($prefix, "pl"), (a: $a, b: $b) => add::<f64>(a.into(), b.into());
            concat!($prefix, "mi"), (a: $a, b: $b) => subtract::<f64>(a.into(), b.into());
            concat!($prefix, "mul"), (a: $a, b: $b) => multiply::<f64>(a.into(), b.into());
            concat!($prefix, "div"), (a: $a, b: $b) => divide::<f64>(a.into(), b.into());
        }
    };
}

pub(super) const TABLES: &[&[Entry]] = &[
    own!("float4", f32),
    own!("float8", f64),
    cross!("float48", f32, f64),
    cross!("float84", f64, f32),
    comparisons!("float4"; a: f32, b: f32 => order(a.into(), b.into())),
    comparisons!("float8"; a: f64, b: f64 => order(a, b)),
    comparisons!("float48"; a: f32, b: f64 => order(a.into(), b)),
    comparisons!("float84"; a: f64, b: f32 => order(a, b.into())),
    functions! {
        "ftod", (a: f32) => f64::from(a);
        "dtof", (a: f64) => narrow(a);
        "i2tod", (a: i16) => f64::from(a);
        "i4tod", (a: i32) => f64::from(a);
        "i8tod", (a: i64) => a as f64;
        "i2tof", (a: i16) => f32::from(a);
        "i4tof", (a: i32) => a as f32;
        "i8tof", (a: i64) => a as f32;
        "dtoi2", (a: f64) => to_integer::<i16>(a);
        "dtoi4", (a: f64) => to_integer::<i32>(a);
        "dtoi8", (a: f64) => to_integer::<i64>(a);
        "ftoi2", (a: f32) => to_integer::<i16>(a.into());
        "ftoi4", (a: f32) => to_integer::<i32>(a.into());
        "ftoi8", (a: f32) => to_integer::<i64>(a.into());
    },
];
