//! numeric: arithmetic, comparison and casts.

use super::arguments::{Argument, Entry};
use crate::error::{Result, SqlError, code};
use crate::types::Datum;
use crate::types::numeric::{Numeric, Typmod};
use std::cmp::Ordering;

fn out_of_range(message: impl Into<String>) -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
}

/// The nearest integer, if it is one of the type.
fn integer<T: TryFrom<i64>>(number: &Numeric, ty: &str) -> Result<T> {
    let special = match number {
        Numeric::Finite(_) => None,
        Numeric::NaN => Some("NaN"),
        _ => Some("infinity"),
    };
    if let Some(special) = special {
        let message = format!("cannot convert {special} to {ty}");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let wide = number.to_i64().and_then(|wide| T::try_from(wide).ok());
    wide.ok_or_else(|| out_of_range(format!("{ty} out of range")))
}

/// The nearest double; a number that is none is refused.
pub(super) fn float8(number: &Numeric) -> Result<f64> {
    let value = number.to_f64();
    let lost = value == 0.0 && !number.is_zero();
    if (value.is_infinite() && !number.is_infinite()) || lost {
        let message = format!("\"{number}\" is out of range for type double precision");
        return Err(out_of_range(message));
    }
    Ok(value)
}

/// The nearest float; a number that is none is refused.
pub(super) fn float4(number: &Numeric) -> Result<f32> {
    let value = number.to_f32();
    let lost = value == 0.0 && !number.is_zero();
    if (value.is_infinite() && !number.is_infinite()) || lost {
        let message = format!("\"{number}\" is out of range for type real");
        return Err(out_of_range(message));
    }
    Ok(value)
}

fn apply_modifier(number: &Numeric, typmod: i32) -> Result<Numeric> {
    match Typmod::decode(typmod) {
        Some(typmod) => number.with_typmod(typmod),
        None => Ok(number.clone()),
    }
}

fn invalid_bucket(message: &str) -> SqlError {
    SqlError::new(code::INVALID_ARGUMENT_FOR_WIDTH_BUCKET, message)
}

/// In which of `count` buckets of equal width between two bounds a number is; 0 and `count + 1`
/// are outside.
fn width_bucket(value: &Numeric, low: &Numeric, high: &Numeric, count: i32) -> Result<i32> {
    if count <= 0 {
        return Err(invalid_bucket("count must be greater than zero"));
    }
    if value.is_nan() || low.is_nan() || high.is_nan() {
        let message = "operand, lower bound, and upper bound cannot be NaN";
        return Err(invalid_bucket(message));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(invalid_bucket("lower and upper bounds must be finite"));
    }
    let descending = match low.cmp(high) {
        Ordering::Equal => return Err(invalid_bucket("lower bound cannot equal upper bound")),
        order => order == Ordering::Greater,
    };
    let order = |a: &Numeric, b: &Numeric| if descending { b.cmp(a) } else { a.cmp(b) };
    if order(value, low).is_lt() {
        return Ok(0);
    }
    if order(value, high).is_ge() {
        return count.checked_add(1).ok_or_else(|| out_of_range("integer out of range"));
    }
    let count = Numeric::from_i64(i64::from(count));
    let bucket = value.sub(low)?.mul(&count)?.div_trunc(&high.sub(low)?)?;
    integer(&bucket.add(&Numeric::from_i64(1))?, "integer")
}

/// Whether a value is within an offset of another one, for windows with RANGE.
fn in_range(
    value: &Numeric,
    base: &Numeric,
    offset: &Numeric,
    before: bool,
    less: bool,
) -> Result<bool> {
    if offset.is_nan() || offset.is_negative() {
        let message = "invalid preceding or following size in window function";
        return Err(SqlError::new(code::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message));
    }
    if value.is_nan() || base.is_nan() {
        // Not a number is equal to itself and above everything else.
        let (value, base) = (value.is_nan(), base.is_nan());
        return Ok(if less { !value || base } else { value || !base });
    }
    let bound = if before { base.sub(offset)? } else { base.add(offset)? };
    // An infinity that an infinite offset leads away from stays where it is.
    let bound = if bound.is_nan() { base.clone() } else { bound };
    if offset.is_infinite() && base.is_infinite() && before != base.is_negative() {
        return Ok(true);
    }
    Ok(if less { value.cmp(&bound).is_le() } else { value.cmp(&bound).is_ge() })
}

fn smaller<'a>(a: &'a Numeric, b: &'a Numeric) -> Numeric {
    if a.cmp(b).is_lt() { a.clone() } else { b.clone() }
}

fn larger<'a>(a: &'a Numeric, b: &'a Numeric) -> Numeric {
    if a.cmp(b).is_gt() { a.clone() } else { b.clone() }
}

fn ten() -> Numeric {
    Numeric::from_i64(10)
}

/// A log sequence number.
struct Lsn(u64);

impl<'a> Argument<'a> for Lsn {
    fn take(datum: &'a Datum) -> Option<Self> {
        i64::take(datum).map(|bits| Lsn(bits as u64))
    }
}

fn lsn_difference(a: &Lsn, b: &Lsn) -> Numeric {
    Numeric::from_i128(i128::from(a.0) - i128::from(b.0))
}

/// Moves a log sequence number by a number of bytes.
fn lsn_moved(lsn: &Lsn, bytes: &Numeric, backwards: bool) -> Result<Datum> {
    let verb = if backwards { "subtract NaN from" } else { "add NaN to" };
    if bytes.is_nan() {
        let message = format!("cannot {verb} pg_lsn");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let start = Numeric::from_i128(i128::from(lsn.0));
    let sum = if backwards { start.sub(bytes)? } else { start.add(bytes)? };
    numeric_lsn(&sum)
}

fn numeric_lsn(number: &Numeric) -> Result<Datum> {
    if number.as_finite().is_none() {
        let special = if number.is_nan() { "NaN" } else { "infinity" };
        let message = format!("cannot convert {special} to pg_lsn");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let wide = number.to_i128().and_then(|wide| u64::try_from(wide).ok());
    wide.map(|wide| Datum::Int8(wide as i64))
        .ok_or_else(|| SqlError::new(code::INVALID_PARAMETER_VALUE, "pg_lsn out of range"))
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("numeric_"; a: &Numeric, b: &Numeric => a.cmp(b)),
    functions! {
        "numeric_cmp", (a: &Numeric, b: &Numeric) => a.cmp(b) as i32;
        "numeric_add", (a: &Numeric, b: &Numeric) => a.add(b);
        "numeric_sub", (a: &Numeric, b: &Numeric) => a.sub(b);
        "numeric_mul", (a: &Numeric, b: &Numeric) => a.mul(b);
        "numeric_div", (a: &Numeric, b: &Numeric) => a.div(b);
        "numeric_div_trunc", (a: &Numeric, b: &Numeric) => a.div_trunc(b);
        "numeric_mod", (a: &Numeric, b: &Numeric) => a.rem(b);
        "numeric_power", (a: &Numeric, b: &Numeric) => a.power(b);
        "numeric_log", (base: &Numeric, a: &Numeric) => Numeric::log(base, a);
        "#1481", (a: &Numeric) => Numeric::log(&ten(), a);
        "#1741", (a: &Numeric) => Numeric::log(&ten(), a);
        "numeric_gcd", (a: &Numeric, b: &Numeric) => a.gcd(b);
        "numeric_lcm", (a: &Numeric, b: &Numeric) => a.lcm(b);
        "numeric_smaller", (a: &Numeric, b: &Numeric) => smaller(a, b);
        "numeric_larger", (a: &Numeric, b: &Numeric) => larger(a, b);
        "numeric_uplus", (a: &Numeric) => a.clone();
        "numeric_uminus", (a: &Numeric) => a.neg();
        "numeric_abs", (a: &Numeric) => a.abs();
        "numeric_sign", (a: &Numeric) => a.sign();
        "numeric_sqrt", (a: &Numeric) => a.sqrt();
        "numeric_exp", (a: &Numeric) => a.exp();
        "numeric_ln", (a: &Numeric) => a.ln();
        "numeric_ceil", (a: &Numeric) => a.ceil();
        "numeric_floor", (a: &Numeric) => a.floor();
        "numeric_round", (a: &Numeric, scale: i32) => a.round(i64::from(scale));
        "numeric_trunc", (a: &Numeric, scale: i32) => a.trunc(i64::from(scale));
        "#1708", (a: &Numeric) => a.round(0);
        "#1710", (a: &Numeric) => a.trunc(0);
        "numeric_inc", (a: &Numeric) => a.add(&Numeric::from_i64(1));
        "numeric_fac", (a: i64) => Numeric::factorial(a);
        "numeric_scale", (a: &Numeric) => a.scale().map(|scale| scale as i32);
        "numeric_min_scale", (a: &Numeric) => a.trim_scale().scale().map(|scale| scale as i32);
        "numeric_trim_scale", (a: &Numeric) => a.trim_scale();
        "width_bucket_numeric", (a: &Numeric, low: &Numeric, high: &Numeric, count: i32) =>
            width_bucket(a, low, high, count);
        "in_range_numeric_numeric",
            (a: &Numeric, base: &Numeric, offset: &Numeric, before: bool, less: bool) =>
            in_range(a, base, offset, before, less);
    },
    functions! {
        "numeric", (a: &Numeric, typmod: i32) => apply_modifier(a, typmod);
        "int2_numeric", (a: i16) => Numeric::from_i64(i64::from(a));
        "int4_numeric", (a: i32) => Numeric::from_i64(i64::from(a));
        "int8_numeric", (a: i64) => Numeric::from_i64(a);
        "float4_numeric", (a: f32) => Numeric::from_f32(a);
        "float8_numeric", (a: f64) => Numeric::from_f64(a);
        "numeric_int2", (a: &Numeric) => integer::<i16>(a, "smallint");
        "numeric_int4", (a: &Numeric) => integer::<i32>(a, "integer");
        "numeric_int8", (a: &Numeric) => integer::<i64>(a, "bigint");
        "numeric_float4", (a: &Numeric) => float4(a);
        "numeric_float8", (a: &Numeric) => float8(a);
    },
    functions! {
        "pg_lsn_mi", (a: Lsn, b: Lsn) => lsn_difference(&a, &b);
        "pg_wal_lsn_diff", (a: Lsn, b: Lsn) => lsn_difference(&a, &b);
        "pg_lsn_pli", (lsn: Lsn, bytes: &Numeric) => lsn_moved(&lsn, bytes, false);
        "pg_lsn_mii", (lsn: Lsn, bytes: &Numeric) => lsn_moved(&lsn, bytes, true);
        "#5023", (bytes: &Numeric, lsn: Lsn) => lsn_moved(&lsn, bytes, false);
        "numeric_pg_lsn", (a: &Numeric) => numeric_lsn(a);
    },
];
