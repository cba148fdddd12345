//! Addition to remainder, rounding, and the integer functions.

use super::{
    DIGITS_MAX, DISPLAY_SCALE_MAX, Decimal, Numeric, RESULT_SCALE_MAX, SCALE_MAX, SIGNIFICANT_MIN,
    WEIGHT_DIGITS, divide_rounded, overflow, ten,
};
use crate::error::{Result, SqlError, code};
use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;

use Numeric::{Finite, NaN, NegInfinity, PosInfinity};

pub(super) fn division_by_zero() -> SqlError {
    SqlError::new(code::DIVISION_BY_ZERO, "division by zero")
}

/// Which way a number is brought to fewer digits.
#[derive(Clone, Copy)]
enum Rounding {
    HalfAway,
    ToZero,
    Up,
    Down,
}

impl Decimal {
    /// The scale that PostgreSQL chooses for a quotient: 16 significant digits at least.
    fn quotient_scale(&self, divisor: &Decimal) -> u32 {
        let (weight, first) = self.weight();
        let (divisor_weight, divisor_first) = divisor.weight();
        let mut quotient_weight = weight - divisor_weight;
        if first <= divisor_first {
            quotient_weight -= 1;
        }
        display_scale(
            SIGNIFICANT_MIN - quotient_weight * WEIGHT_DIGITS,
            [self.scale, divisor.scale],
        )
    }

    /// The quotient, rounded to a scale.
    pub(super) fn divided(&self, divisor: &Decimal, scale: u32) -> BigInt {
        let shift = i64::from(scale) + i64::from(divisor.scale) - i64::from(self.scale);
        match u32::try_from(shift) {
            Ok(shift) => divide_rounded(&(&self.unscaled * ten(shift)), &divisor.unscaled),
            Err(_) => {
                let divisor = &divisor.unscaled * ten(shift.unsigned_abs() as u32);
                divide_rounded(&self.unscaled, &divisor)
            }
        }
    }

    fn to_integer(&self, power: u32, rounding: Rounding) -> BigInt {
        let divisor = ten(power);
        match rounding {
            Rounding::HalfAway => divide_rounded(&self.unscaled, &divisor),
            Rounding::ToZero => &self.unscaled / divisor,
            Rounding::Up => Integer::div_ceil(&self.unscaled, &divisor),
            Rounding::Down => self.unscaled.div_floor(&divisor),
        }
    }

    fn to_scale(&self, scale: i64, rounding: Rounding) -> Result<Decimal> {
        let drop = i64::from(self.scale) - scale;
        if drop <= 0 {
            return Ok(self.rescaled(scale.clamp(0, i64::from(SCALE_MAX)) as u32));
        }
        // Beyond all digits the number is nothing; the power of ten need not be built.
        let bounded = drop.min(DIGITS_MAX + i64::from(SCALE_MAX) + 1) as u32;
        let unscaled = self.to_integer(bounded, rounding);
        if scale >= 0 {
            return Decimal::new(unscaled, scale as u32);
        }
        if unscaled.is_zero() {
            return Ok(Decimal { unscaled, scale: 0 });
        }
        Decimal::new(unscaled * ten(scale.unsigned_abs() as u32), 0)
    }
}

/// At least the scales of the operands, at most what is ever shown.
pub(super) fn display_scale<const N: usize>(wanted: i64, operands: [u32; N]) -> u32 {
    let least = operands.into_iter().map(i64::from).max().unwrap_or(0);
    wanted.max(least).clamp(0, DISPLAY_SCALE_MAX) as u32
}

impl Numeric {
    /// The sum.
    pub fn add(&self, other: &Numeric) -> Result<Numeric> {
        match (self, other) {
            (Finite(a), Finite(b)) => {
                if a.scale == b.scale {
                    return Numeric::finite(&a.unscaled + &b.unscaled, a.scale);
                }
                let scale = a.scale.max(b.scale);
                Numeric::finite(a.rescaled(scale).unscaled + b.rescaled(scale).unscaled, scale)
            }
            (NaN, _) | (_, NaN) | (PosInfinity, NegInfinity) | (NegInfinity, PosInfinity) => {
                Ok(NaN)
            }
            (PosInfinity, _) | (_, PosInfinity) => Ok(PosInfinity),
            (NegInfinity, _) | (_, NegInfinity) => Ok(NegInfinity),
        }
    }

    /// The difference.
    pub fn sub(&self, other: &Numeric) -> Result<Numeric> {
        self.add(&other.neg())
    }

    /// The number with its sign changed.
    #[must_use]
    pub fn neg(&self) -> Numeric {
        match self {
            NaN => NaN,
            PosInfinity => NegInfinity,
            NegInfinity => PosInfinity,
            Finite(a) => Finite(Decimal { unscaled: -&a.unscaled, scale: a.scale }),
        }
    }

    /// The number without its sign.
    #[must_use]
    pub fn abs(&self) -> Numeric {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// -1, 0, 1, or not a number.
    #[must_use]
    pub fn sign(&self) -> Numeric {
        match self.direction() {
            Some(direction) => Numeric::from_i64(direction as i64),
            None => NaN,
        }
    }

    /// How it compares with zero; none if it is not a number.
    pub(super) fn direction(&self) -> Option<Ordering> {
        match self {
            NaN => None,
            PosInfinity => Some(Ordering::Greater),
            NegInfinity => Some(Ordering::Less),
            Finite(a) => Some(match a.unscaled.sign() {
                Sign::Minus => Ordering::Less,
                Sign::NoSign => Ordering::Equal,
                Sign::Plus => Ordering::Greater,
            }),
        }
    }

    /// The product; its scale is the sum of both.
    pub fn mul(&self, other: &Numeric) -> Result<Numeric> {
        let (Some(left), Some(right)) = (self.direction(), other.direction()) else {
            return Ok(NaN);
        };
        if let (Finite(a), Finite(b)) = (self, other) {
            let product = Decimal { unscaled: &a.unscaled * &b.unscaled, scale: a.scale + b.scale };
            let product =
                if product.scale > SCALE_MAX { product.rescaled(SCALE_MAX) } else { product };
            return Numeric::finite(product.unscaled, product.scale);
        }
        Ok(match left as i8 * right as i8 {
            0 => NaN,
            1 => PosInfinity,
            _ => NegInfinity,
        })
    }

    /// The quotient, with the scale that PostgreSQL chooses.
    pub fn div(&self, other: &Numeric) -> Result<Numeric> {
        match (self, other) {
            (Finite(a), Finite(b)) => {
                if b.unscaled.is_zero() {
                    return Err(division_by_zero());
                }
                let scale = a.quotient_scale(b);
                Numeric::finite(a.divided(b, scale), scale)
            }
            _ => self.divide_special(other),
        }
    }

    /// The quotient cut to an integer.
    pub fn div_trunc(&self, other: &Numeric) -> Result<Numeric> {
        match (self, other) {
            (Finite(a), Finite(b)) => {
                if b.unscaled.is_zero() {
                    return Err(division_by_zero());
                }
                let scale = a.scale.max(b.scale);
                let quotient = a.rescaled(scale).unscaled / b.rescaled(scale).unscaled;
                Numeric::finite(quotient, 0)
            }
            _ => self.divide_special(other),
        }
    }

    fn divide_special(&self, other: &Numeric) -> Result<Numeric> {
        let (Some(left), Some(right)) = (self.direction(), other.direction()) else {
            return Ok(NaN);
        };
        if other.is_infinite() {
            return Ok(if self.is_infinite() { NaN } else { Numeric::zero() });
        }
        match left as i8 * right as i8 {
            0 => Err(division_by_zero()),
            1 => Ok(PosInfinity),
            _ => Ok(NegInfinity),
        }
    }

    /// The remainder, with the sign of the dividend.
    pub fn rem(&self, other: &Numeric) -> Result<Numeric> {
        match (self, other) {
            (NaN, _) | (_, NaN) => Ok(NaN),
            _ if other.is_zero() => Err(division_by_zero()),
            (Finite(a), Finite(b)) => {
                let scale = a.scale.max(b.scale);
                let remainder = a.rescaled(scale).unscaled % b.rescaled(scale).unscaled;
                Numeric::finite(remainder, scale)
            }
            (Finite(_), _) => Ok(self.clone()),
            _ => Ok(NaN),
        }
    }

    fn to_scale(&self, scale: i64, rounding: Rounding) -> Result<Numeric> {
        match self {
            Finite(a) => a.to_scale(scale, rounding).map(Finite),
            other => Ok(other.clone()),
        }
    }

    /// Rounded half away from zero to so many digits behind the point, or before it if negative.
    pub fn round(&self, scale: i64) -> Result<Numeric> {
        self.to_scale(scale.clamp(-RESULT_SCALE_MAX, RESULT_SCALE_MAX), Rounding::HalfAway)
    }

    /// Cut to so many digits behind the point, or before it if negative.
    pub fn trunc(&self, scale: i64) -> Result<Numeric> {
        self.to_scale(scale.clamp(-RESULT_SCALE_MAX, RESULT_SCALE_MAX), Rounding::ToZero)
    }

    /// The integer that is not below.
    pub fn ceil(&self) -> Result<Numeric> {
        self.to_scale(0, Rounding::Up)
    }

    /// The integer that is not above.
    pub fn floor(&self) -> Result<Numeric> {
        self.to_scale(0, Rounding::Down)
    }

    /// Without zeros at the end of the fraction.
    #[must_use]
    pub fn trim_scale(&self) -> Numeric {
        match self {
            Finite(a) => Finite(a.trimmed()),
            other => other.clone(),
        }
    }

    /// The square root.
    pub fn sqrt(&self) -> Result<Numeric> {
        if self.is_negative() {
            let message = "cannot take square root of a negative number";
            return Err(SqlError::new(code::INVALID_ARGUMENT_FOR_POWER, message));
        }
        let Finite(a) = self else { return Ok(self.clone()) };
        // Half of the decimal exponent, rounded as PostgreSQL rounds it.
        let weight = a.weight().0;
        let exponent = (weight + 1) * WEIGHT_DIGITS / 2 - 1;
        let scale = display_scale(SIGNIFICANT_MIN - exponent, [a.scale]);
        // One more digit, cut, decides the rounding.
        let shifted = a.rescaled(2 * (scale + 1)).unscaled;
        Numeric::finite(divide_rounded(&shifted.sqrt(), &BigInt::from(10)), scale)
    }

    /// The greatest common divisor, also of fractions.
    pub fn gcd(&self, other: &Numeric) -> Result<Numeric> {
        let (Finite(a), Finite(b)) = (self, other) else { return Ok(NaN) };
        let scale = a.scale.max(b.scale);
        Numeric::finite(a.rescaled(scale).unscaled.gcd(&b.rescaled(scale).unscaled), scale)
    }

    /// The least common multiple, also of fractions.
    pub fn lcm(&self, other: &Numeric) -> Result<Numeric> {
        let (Finite(a), Finite(b)) = (self, other) else { return Ok(NaN) };
        let scale = a.scale.max(b.scale);
        let (a, b) = (a.rescaled(scale).unscaled, b.rescaled(scale).unscaled);
        if a.is_zero() || b.is_zero() {
            return Numeric::finite(BigInt::zero(), scale);
        }
        Numeric::finite((&a / a.gcd(&b) * b).abs(), scale)
    }

    /// The factorial of an integer.
    pub fn factorial(number: i64) -> Result<Numeric> {
        if number < 0 {
            let message = "factorial of a negative number is undefined";
            return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
        }
        // 32178! has more digits than the format.
        if number >= 32_178 {
            return Err(overflow());
        }
        Numeric::finite(product(1, number.max(1) as u64), 0)
    }
}

/// The product of the integers of a range, in halves: few multiplications of large numbers. The
/// depth is the logarithm of the range.
fn product(low: u64, high: u64) -> BigInt {
    if high < low {
        return BigInt::one();
    }
    if high - low < 16 {
        return (low..=high).map(BigInt::from).product();
    }
    let middle = low.midpoint(high);
    product(low, middle) * product(middle + 1, high)
}
