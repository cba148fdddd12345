//! numeric: decimal numbers of any size, with the scale that PostgreSQL shows.
//!
//! A finite number is an integer and a display scale: `1.50` is 150 with scale 2. PostgreSQL works
//! with digits of base 10,000 instead, which can be seen from outside at one place only: the scale
//! of quotients, roots and powers is chosen by the *weight* in that base (`Decimal::weight`).
//!
//! Limits are PostgreSQL's: 131,072 digits before the point, 16,383 behind it. Every operation
//! checks them before it builds a number, so that no input makes memory explode.

mod arith;
mod bytes;
mod convert;
mod explog;
mod power;
#[cfg(test)]
mod tests;
mod text;
mod typmod;

use crate::error::{Result, SqlError, code};
use num_bigint::{BigInt, Sign};
use num_traits::{Signed, Zero};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

pub use typmod::Typmod;

/// Digits of base 10,000 have four decimal ones.
const WEIGHT_DIGITS: i64 = 4;
/// The largest number of digits before the point.
const DIGITS_MAX: i64 = 131_072;
/// The largest number of digits behind the point.
pub(super) const SCALE_MAX: u32 = 16_383;
/// The largest scale that operations choose by themselves.
const DISPLAY_SCALE_MAX: i64 = 1_000;
/// Quotients, roots and logarithms have at least so many significant digits.
const SIGNIFICANT_MIN: i64 = 16;
/// The largest scale that `round` accepts, and a bound on exponents.
const RESULT_SCALE_MAX: i64 = 2_000;

/// A decimal number, or one of the values that are none.
#[derive(Clone, Debug)]
pub enum Numeric {
    /// Not a number: equal to itself and above everything else.
    NaN,
    /// Above every number.
    PosInfinity,
    /// Below every number.
    NegInfinity,
    /// A number.
    Finite(Decimal),
}

/// A finite decimal number: `unscaled / 10^scale`.
#[derive(Clone, Debug)]
pub struct Decimal {
    unscaled: BigInt,
    scale: u32,
}

/// The error of numbers that are too large for the format.
pub(crate) fn overflow() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

/// 10 to a power.
pub(super) fn ten(power: u32) -> BigInt {
    match 10u64.checked_pow(power) {
        Some(small) => BigInt::from(small),
        None => BigInt::from(10).pow(power),
    }
}

/// How many decimal digits the number has; 0 has one.
fn digit_count(number: &BigInt) -> i64 {
    let bits = number.bits();
    if bits <= 64 {
        let small = number.iter_u64_digits().next().unwrap_or(0);
        return i64::from(small.checked_ilog10().unwrap_or(0)) + 1;
    }
    // 2^(bits - 1) <= |number| < 2^bits leaves two candidates at most.
    let low = ((bits - 1) as f64 * std::f64::consts::LOG10_2).floor() as u32;
    let reached = number.magnitude() >= ten(low + 1).magnitude();
    i64::from(low) + 1 + i64::from(reached)
}

/// Divides and rounds half away from zero. The divisor must not be zero.
pub(super) fn divide_rounded(dividend: &BigInt, divisor: &BigInt) -> BigInt {
    let negative = dividend.is_negative() != divisor.is_negative();
    let (dividend, divisor) = (dividend.magnitude(), divisor.magnitude());
    let quotient = (dividend * 2u32 + divisor) / (divisor * 2u32);
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, quotient)
}

impl Decimal {
    /// `unscaled / 10^scale`, if that is within the limits.
    pub(super) fn new(unscaled: BigInt, scale: u32) -> Result<Decimal> {
        let decimal = Decimal { unscaled, scale };
        if scale <= SCALE_MAX && decimal.exponent().is_none_or(|e| e < DIGITS_MAX) {
            return Ok(decimal);
        }
        Err(overflow())
    }

    /// The integer that the number is with its point removed.
    pub fn unscaled(&self) -> &BigInt {
        &self.unscaled
    }

    /// How many digits are shown behind the point.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// The decimal exponent of the first digit; none for zero.
    fn exponent(&self) -> Option<i64> {
        let digits = || digit_count(&self.unscaled);
        (!self.unscaled.is_zero()).then(|| digits() - 1 - i64::from(self.scale))
    }

    /// The exponent of the first digit in base 10,000, and that digit; 0 and 0 for zero.
    fn weight(&self) -> (i64, i64) {
        let Some(exponent) = self.exponent() else { return (0, 0) };
        let weight = exponent.div_euclid(WEIGHT_DIGITS);
        let digits = self.leading(exponent - weight * WEIGHT_DIGITS + 1);
        (weight, digits)
    }

    /// The number that the first `count` (at most 18) digits form, with zeros behind if needed.
    fn leading(&self, count: i64) -> i64 {
        let excess = digit_count(&self.unscaled) - count;
        let magnitude = self.unscaled.abs();
        let shifted = match u32::try_from(excess) {
            Ok(excess) => magnitude / ten(excess),
            Err(_) => magnitude * ten(excess.unsigned_abs() as u32),
        };
        i64::try_from(shifted).unwrap_or(i64::MAX)
    }

    /// The same number with another scale: exact if that is larger, rounded half away from zero if
    /// it is smaller.
    pub(super) fn rescaled(&self, scale: u32) -> Decimal {
        let unscaled = match scale.cmp(&self.scale) {
            Ordering::Equal => self.unscaled.clone(),
            Ordering::Greater => &self.unscaled * ten(scale - self.scale),
            Ordering::Less => divide_rounded(&self.unscaled, &ten(self.scale - scale)),
        };
        Decimal { unscaled, scale }
    }

    /// The number without zeros at the end of its fraction.
    pub(super) fn trimmed(&self) -> Decimal {
        if self.unscaled.is_zero() {
            return Decimal { unscaled: BigInt::zero(), scale: 0 };
        }
        let (mut unscaled, mut scale) = (self.unscaled.clone(), self.scale);
        // Large steps first: a fraction may have thousands of zeros.
        for step in [4096, 512, 64, 8, 1] {
            while scale >= step {
                let divisor = ten(step);
                if !(&unscaled % &divisor).is_zero() {
                    break;
                }
                unscaled /= divisor;
                scale -= step;
            }
        }
        Decimal { unscaled, scale }
    }

    fn compare(&self, other: &Decimal) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        let signs = self.unscaled.sign().cmp(&other.unscaled.sign());
        if signs != Ordering::Equal || self.unscaled.is_zero() {
            return signs;
        }
        let scale = self.scale.max(other.scale);
        self.rescaled(scale).unscaled.cmp(&other.rescaled(scale).unscaled)
    }
}

impl Numeric {
    /// A number of the given scale, if it is within the limits.
    pub(super) fn finite(unscaled: BigInt, scale: u32) -> Result<Numeric> {
        Decimal::new(unscaled, scale).map(Numeric::Finite)
    }

    /// 0.
    pub fn zero() -> Numeric {
        Numeric::from_i64(0)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self, Numeric::Finite(decimal) if decimal.unscaled.is_zero())
    }

    /// Whether it is not a number.
    pub fn is_nan(&self) -> bool {
        matches!(self, Numeric::NaN)
    }

    /// Whether it is one of the infinities.
    pub fn is_infinite(&self) -> bool {
        matches!(self, Numeric::PosInfinity | Numeric::NegInfinity)
    }

    /// The finite number that it is, if so.
    pub fn as_finite(&self) -> Option<&Decimal> {
        match self {
            Numeric::Finite(decimal) => Some(decimal),
            _ => None,
        }
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        match self {
            Numeric::NegInfinity => true,
            Numeric::Finite(decimal) => decimal.unscaled.is_negative(),
            _ => false,
        }
    }

    /// How many digits are shown behind the point; none for what is not a number.
    pub fn scale(&self) -> Option<u32> {
        self.as_finite().map(|decimal| decimal.scale)
    }

    /// The order: negative infinity, the numbers, infinity, not a number.
    #[allow(clippy::should_implement_trait)]
    pub fn cmp(&self, other: &Numeric) -> Ordering {
        match (self, other) {
            (Numeric::Finite(a), Numeric::Finite(b)) => a.compare(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Numeric::NegInfinity => 0,
            Numeric::Finite(_) => 1,
            Numeric::PosInfinity => 2,
            Numeric::NaN => 3,
        }
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Numeric) -> bool {
        Numeric::cmp(self, other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl Hash for Numeric {
    /// Numbers that differ in scale only are equal, so zeros behind them do not count.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        if let Numeric::Finite(decimal) = self {
            let trimmed = decimal.trimmed();
            trimmed.scale.hash(state);
            trimmed.unscaled.hash(state);
        }
    }
}
