//! Trigonometry in degrees, exact where the exact answer is a short number (sind(30) = 0.5).
//!
//! Values are scaled by what the same expression gives at the angle whose exact result is known,
//! within the octant of the argument, so that errors of rounding cancel there.

use super::arguments::Entry;
use crate::error::{Result, SqlError, code};

pub(super) const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

fn outside() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn sine_to_30(degrees: f64) -> f64 {
    let sine = (degrees * RADIANS_PER_DEGREE).sin();
    sine / (30.0 * RADIANS_PER_DEGREE).sin() / 2.0
}

fn cosine_to_60(degrees: f64) -> f64 {
    let rest = 1.0 - (degrees * RADIANS_PER_DEGREE).cos();
    1.0 - rest / (1.0 - (60.0 * RADIANS_PER_DEGREE).cos()) / 2.0
}

/// The sine of 0 to 90 degrees.
fn sine_first(degrees: f64) -> f64 {
    if degrees <= 30.0 { sine_to_30(degrees) } else { cosine_to_60(90.0 - degrees) }
}

/// The cosine of 0 to 90 degrees.
fn cosine_first(degrees: f64) -> f64 {
    if degrees <= 60.0 { cosine_to_60(degrees) } else { sine_to_30(90.0 - degrees) }
}

fn sine(degrees: f64) -> f64 {
    let mut degrees = degrees % 360.0;
    let mut sign = 1.0;
    if degrees < 0.0 {
        degrees = -degrees;
        sign = -sign;
    }
    if degrees > 180.0 {
        degrees = 360.0 - degrees;
        sign = -sign;
    }
    if degrees > 90.0 {
        degrees = 180.0 - degrees;
    }
    sign * sine_first(degrees)
}

fn cosine(degrees: f64) -> f64 {
    let mut degrees = (degrees % 360.0).abs();
    let mut sign = 1.0;
    if degrees > 180.0 {
        degrees = 360.0 - degrees;
    }
    if degrees > 90.0 {
        degrees = 180.0 - degrees;
        sign = -1.0;
    }
    sign * cosine_first(degrees)
}

/// The tangent or cotangent of the first quadrant with the sign of the argument's one.
fn quotient(degrees: f64, first: fn(f64) -> f64) -> f64 {
    let mut degrees = degrees % 360.0;
    let mut sign = 1.0;
    if degrees < 0.0 {
        degrees = -degrees;
        sign = -sign;
    }
    if degrees > 180.0 {
        degrees = 360.0 - degrees;
        sign = -sign;
    }
    if degrees > 90.0 {
        degrees = 180.0 - degrees;
        sign = -sign;
    }
    let result = sign * first(degrees);
    // A zero without sign.
    if result == 0.0 { 0.0 } else { result }
}

fn tangent_first(degrees: f64) -> f64 {
    let at_45 = sine_first(45.0) / cosine_first(45.0);
    sine_first(degrees) / cosine_first(degrees) / at_45
}

fn cotangent_first(degrees: f64) -> f64 {
    let at_45 = cosine_first(45.0) / sine_first(45.0);
    cosine_first(degrees) / sine_first(degrees) / at_45
}

/// The inverse sine of 0 to 1.
fn inverse_sine_first(value: f64) -> f64 {
    if value <= 0.5 {
        value.asin() / 0.5_f64.asin() * 30.0
    } else {
        90.0 - value.acos() / 0.5_f64.acos() * 60.0
    }
}

/// The inverse cosine of 0 to 1.
fn inverse_cosine_first(value: f64) -> f64 {
    if value <= 0.5 {
        90.0 - value.asin() / 0.5_f64.asin() * 30.0
    } else {
        value.acos() / 0.5_f64.acos() * 60.0
    }
}

fn inverse_sine(value: f64) -> f64 {
    if value >= 0.0 { inverse_sine_first(value) } else { -inverse_sine_first(-value) }
}

fn inverse_cosine(value: f64) -> f64 {
    if value >= 0.0 { inverse_cosine_first(value) } else { 90.0 + inverse_sine_first(-value) }
}

fn inverse_tangent(radians: f64) -> f64 {
    radians / 1.0_f64.atan() * 45.0
}

fn finite(a: f64, of: impl Fn(f64) -> f64) -> Result<f64> {
    if a.is_infinite() { Err(outside()) } else { Ok(if a.is_nan() { a } else { of(a) }) }
}

fn unit(a: f64, of: fn(f64) -> f64) -> Result<f64> {
    if a.is_nan() {
        return Ok(a);
    }
    if (-1.0..=1.0).contains(&a) { Ok(of(a)) } else { Err(outside()) }
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "dsind", (a: f64) => finite(a, sine);
    "dcosd", (a: f64) => finite(a, cosine);
    "dtand", (a: f64) => finite(a, |a| quotient(a, tangent_first));
    "dcotd", (a: f64) => finite(a, |a| quotient(a, cotangent_first));
    "dasind", (a: f64) => unit(a, inverse_sine);
    "dacosd", (a: f64) => unit(a, inverse_cosine);
    "datand", (a: f64) => inverse_tangent(a.atan());
    "datan2d", (a: f64, b: f64) => inverse_tangent(a.atan2(b));
}];
