//! The mathematical functions of double precision.

use super::arguments::Entry;
use super::float::{order, overflow, underflow};
use super::float_degrees::RADIANS_PER_DEGREE;
use crate::error::{Result, SqlError, code};

fn outside() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

/// A result that may not become infinite from a finite argument.
fn bounded(result: f64, a: f64) -> Result<f64> {
    if result.is_infinite() && !a.is_infinite() { Err(overflow()) } else { Ok(result) }
}

fn square_root(a: f64) -> Result<f64> {
    if a < 0.0 {
        let message = "cannot take square root of a negative number";
        return Err(SqlError::new(code::INVALID_ARGUMENT_FOR_POWER, message));
    }
    Ok(a.sqrt())
}

fn exponential(a: f64) -> Result<f64> {
    let result = a.exp();
    if result == 0.0 && a.is_finite() { Err(underflow()) } else { bounded(result, a) }
}

fn logarithm(a: f64, of: fn(f64) -> f64) -> Result<f64> {
    let message = if a == 0.0 {
        "cannot take logarithm of zero"
    } else if a < 0.0 {
        "cannot take logarithm of a negative number"
    } else {
        return Ok(of(a));
    };
    Err(SqlError::new(code::INVALID_ARGUMENT_FOR_LOGARITHM, message))
}

/// Powers follow the C standard for infinities and not-a-number, but a zero to a negative power
/// and a negative number to a fraction are errors.
fn power(a: f64, b: f64) -> Result<f64> {
    if a == 0.0 && b < 0.0 {
        let message = "zero raised to a negative power is undefined";
        return Err(SqlError::new(code::INVALID_ARGUMENT_FOR_POWER, message));
    }
    if a < 0.0 && b.is_finite() && b.fract() != 0.0 {
        let message = "a negative number raised to a non-integer power yields a complex result";
        return Err(SqlError::new(code::INVALID_ARGUMENT_FOR_POWER, message));
    }
    let result = a.powf(b);
    if a.is_infinite() || b.is_infinite() || a.is_nan() || b.is_nan() {
        return Ok(result);
    }
    if result == 0.0 && a != 0.0 { Err(underflow()) } else { bounded(result, a) }
}

fn sign(a: f64) -> f64 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Arguments of trigonometric functions are finite.
fn finite(a: f64, of: fn(f64) -> f64) -> Result<f64> {
    if a.is_infinite() { Err(outside()) } else { Ok(of(a)) }
}

/// Arguments that have to be in a range; not-a-number stays what it is.
fn within(a: f64, from: f64, to: f64, of: fn(f64) -> f64) -> Result<f64> {
    if a.is_nan() {
        Ok(a)
    } else if a < from || a > to {
        Err(outside())
    } else {
        Ok(of(a))
    }
}

/// The inverse hyperbolic functions by the formulas that C libraries use, which lose fewer digits
/// than the textbook's.
fn inverse_hyperbolic_sine(a: f64) -> f64 {
    let x = a.abs();
    let result = if !x.is_finite() {
        x
    } else if x > f64::from(1 << 28) {
        x.ln() + std::f64::consts::LN_2
    } else if x > 2.0 {
        (2.0 * x + 1.0 / ((x * x + 1.0).sqrt() + x)).ln()
    } else {
        (x + x * x / (1.0 + (1.0 + x * x).sqrt())).ln_1p()
    };
    result.copysign(a)
}

fn inverse_hyperbolic_cosine(a: f64) -> f64 {
    if a > f64::from(1 << 28) {
        a.ln() + std::f64::consts::LN_2
    } else if a > 2.0 {
        (2.0 * a - 1.0 / (a + (a * a - 1.0).sqrt())).ln()
    } else {
        let t = a - 1.0;
        (t + (2.0 * t + t * t).sqrt()).ln_1p()
    }
}

fn inverse_hyperbolic_tangent(a: f64) -> f64 {
    let x = a.abs();
    if x == 1.0 {
        return a * f64::INFINITY;
    }
    let double = x + x;
    let part = if x < 0.5 { double + double * x / (1.0 - x) } else { double / (1.0 - x) };
    (0.5 * part.ln_1p()).copysign(a)
}

fn bucket_error(message: &str) -> SqlError {
    SqlError::new(code::INVALID_ARGUMENT_FOR_WIDTH_BUCKET, message)
}

fn width_bucket(operand: f64, low: f64, high: f64, count: i32) -> Result<i32> {
    if count <= 0 {
        return Err(bucket_error("count must be greater than zero"));
    }
    if operand.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bucket_error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bucket_error("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(bucket_error("lower bound cannot equal upper bound"));
    }
    let ascending = low < high;
    let (before, behind) =
        if ascending { (operand < low, operand >= high) } else { (operand > low, operand <= high) };
    if before {
        return Ok(0);
    }
    if behind {
        let message = "integer out of range";
        let error = || SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message);
        return count.checked_add(1).ok_or_else(error);
    }
    Ok(bucket_inside(operand, low, high, count))
}

/// Halves keep the differences finite where the bounds are far apart.
fn bucket_inside(operand: f64, low: f64, high: f64, count: i32) -> i32 {
    let span = high - low;
    let part = if span.is_infinite() {
        (operand / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    } else {
        (operand - low) / span
    };
    let bucket = (f64::from(count) * part) as i32;
    bucket.min(count - 1) + 1
}

/// Whether a value is within an offset of another one, for frames of windows.
fn in_range(value: f64, base: f64, offset: f64, before: bool, less: bool) -> Result<bool> {
    if offset.is_nan() || offset < 0.0 {
        let message = "invalid preceding or following size in window function";
        return Err(SqlError::new(code::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message));
    }
    if value.is_nan() || base.is_nan() {
        let position = order(value, base);
        return Ok(if less { position.is_le() } else { position.is_ge() });
    }
    // An infinite offset from an infinite base in its own direction covers everything.
    let same = if before { base.is_sign_positive() } else { base.is_sign_negative() };
    if offset.is_infinite() && base.is_infinite() && same {
        return Ok(true);
    }
    let bound = if before { base - offset } else { base + offset };
    Ok(if less { value <= bound } else { value >= bound })
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "dround", (a: f64) => a.round_ties_even();
    "dtrunc", (a: f64) => a.trunc();
    "dceil", (a: f64) => a.ceil();
    "dfloor", (a: f64) => a.floor();
    "dsign", (a: f64) => sign(a);
    "dsqrt", (a: f64) => square_root(a);
    "dcbrt", (a: f64) => a.cbrt();
    "dpow", (a: f64, b: f64) => power(a, b);
    "dexp", (a: f64) => exponential(a);
    "dlog1", (a: f64) => logarithm(a, f64::ln);
    "dlog10", (a: f64) => logarithm(a, f64::log10);
    "dasin", (a: f64) => within(a, -1.0, 1.0, f64::asin);
    "dacos", (a: f64) => within(a, -1.0, 1.0, f64::acos);
    "datan", (a: f64) => a.atan();
    "datan2", (a: f64, b: f64) => a.atan2(b);
    "dsin", (a: f64) => finite(a, f64::sin);
    "dcos", (a: f64) => finite(a, f64::cos);
    "dtan", (a: f64) => finite(a, f64::tan);
    "dcot", (a: f64) => finite(a, |a| 1.0 / a.tan());
    "dsinh", (a: f64) => a.sinh();
    "dcosh", (a: f64) => a.cosh();
    "dtanh", (a: f64) => a.tanh();
    "dasinh", (a: f64) => inverse_hyperbolic_sine(a);
    "dacosh", (a: f64) => within(a, 1.0, f64::INFINITY, inverse_hyperbolic_cosine);
    "datanh", (a: f64) => within(a, -1.0, 1.0, inverse_hyperbolic_tangent);
    "degrees", (a: f64) => bounded(a / RADIANS_PER_DEGREE, a);
    "radians", (a: f64) => a * RADIANS_PER_DEGREE;
    "dpi", () => std::f64::consts::PI;
    "width_bucket_float8", (a: f64, low: f64, high: f64, n: i32) => width_bucket(a, low, high, n);
    "in_range_float8_float8", (value: f64, base: f64, offset: f64, before: bool, less: bool) =>
        in_range(value, base, offset, before, less);
    "in_range_float4_float8", (value: f32, base: f32, offset: f64, before: bool, less: bool) =>
        in_range(value.into(), base.into(), offset, before, less);
}];
