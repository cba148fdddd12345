//! Powers.

use super::arith::{display_scale, division_by_zero};
use super::explog::{LOG10_E, bits_of, exp_to_scale};
use super::{
    DIGITS_MAX, DISPLAY_SCALE_MAX, Decimal, Numeric, RESULT_SCALE_MAX, SIGNIFICANT_MIN,
    digit_count, divide_rounded, overflow, ten,
};
use crate::error::{Result, SqlError, code};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

fn not_for_power(message: &str) -> SqlError {
    SqlError::new(code::INVALID_ARGUMENT_FOR_POWER, message)
}

fn one() -> Decimal {
    Decimal { unscaled: BigInt::one(), scale: 0 }
}

impl Numeric {
    /// This number to a power.
    pub fn power(&self, exponent: &Numeric) -> Result<Numeric> {
        let is_one = |n: &Numeric| n.cmp(&Numeric::from_i64(1)) == Ordering::Equal;
        if self.is_nan() || exponent.is_nan() {
            let defined = is_one(self) || exponent.is_zero();
            return Ok(if defined { Numeric::from_i64(1) } else { Numeric::NaN });
        }
        if self.is_zero() && exponent.is_negative() {
            return Err(not_for_power("zero raised to a negative power is undefined"));
        }
        if self.is_negative() && exponent.as_finite().is_some_and(|e| e.integer().is_none()) {
            return Err(not_for_power(
                "a negative number raised to a non-integer power yields a complex result",
            ));
        }
        match (self, exponent) {
            (Numeric::Finite(base), Numeric::Finite(exponent)) => base.power(exponent),
            _ => Ok(self.power_infinite(exponent)),
        }
    }

    /// Powers with an infinity on at least one side.
    fn power_infinite(&self, exponent: &Numeric) -> Numeric {
        let one = Numeric::from_i64(1);
        if exponent.is_zero() || (exponent.is_infinite() && self.abs() == one) {
            return one;
        }
        if self.is_zero() {
            return Numeric::zero();
        }
        if exponent.is_infinite() {
            let grows = self.abs().cmp(&one) == Ordering::Greater;
            let infinite = grows != exponent.is_negative();
            return if infinite { Numeric::PosInfinity } else { Numeric::zero() };
        }
        if exponent.is_negative() {
            return Numeric::zero();
        }
        let odd = exponent.as_finite().and_then(Decimal::integer).is_some_and(|e| e.is_odd());
        if self.is_negative() && odd { Numeric::NegInfinity } else { Numeric::PosInfinity }
    }
}

impl Decimal {
    /// The integer that it is, if it is one.
    fn integer(&self) -> Option<BigInt> {
        let (quotient, rest) = self.unscaled.div_rem(&ten(self.scale));
        rest.is_zero().then_some(quotient)
    }

    fn power(&self, exponent: &Decimal) -> Result<Numeric> {
        let integer = exponent.integer();
        if let Some(small) = integer.as_ref().and_then(ToPrimitive::to_i32) {
            return self.power_integer(small);
        }
        if self.unscaled.is_zero() {
            return Numeric::finite(BigInt::zero(), SIGNIFICANT_MIN as u32);
        }
        let magnitude = Decimal { unscaled: self.unscaled.abs(), scale: self.scale };
        let power = magnitude.power_real(exponent)?;
        let negative = self.unscaled.is_negative() && integer.is_some_and(|e| e.is_odd());
        Ok(if negative { power.neg() } else { power })
    }

    /// A positive number to any power: e^(exponent * ln x).
    fn power_real(&self, exponent: &Decimal) -> Result<Numeric> {
        // The size of the result comes from about eight digits of the logarithm.
        let rough_scale = display_scale(8 - self.ln_exponent(), []);
        let ln = Numeric::Finite(self.ln(rough_scale));
        let rough = ln.mul(&Numeric::Finite(exponent.clone()))?;
        let rough = rough.as_finite().map_or(0.0, |r| r.rescaled(rough_scale).to_f64());
        if rough.abs() > RESULT_SCALE_MAX as f64 * 3.01 {
            if rough > 0.0 {
                return Err(overflow());
            }
            return Numeric::finite(BigInt::zero(), DISPLAY_SCALE_MAX as u32);
        }
        let digits = (rough * LOG10_E) as i64;
        let scale = display_scale(SIGNIFICANT_MIN - digits, [self.scale, exponent.scale]);
        let bits = bits_of(i64::from(scale) + digits.max(0)) + 64;
        // An error of the logarithm is multiplied by the exponent.
        let bits_ln = bits + exponent.unscaled.bits();
        let product = self.ln_fixed(bits_ln) * &exponent.unscaled / ten(exponent.scale);
        exp_to_scale(&(product >> (bits_ln - bits)), bits, scale)
    }

    /// The decimal logarithm of the magnitude, roughly.
    fn log10(&self) -> f64 {
        let digits = digit_count(&self.unscaled);
        let leading = self.leading(16);
        (leading as f64).log10() + (digits - 16 - i64::from(self.scale)) as f64
    }

    fn power_integer(&self, exponent: i32) -> Result<Numeric> {
        let scale = display_scale(SIGNIFICANT_MIN, [self.scale]);
        if exponent == 0 {
            return Ok(Numeric::Finite(one().rescaled(scale)));
        }
        if self.unscaled.is_zero() {
            if exponent < 0 {
                return Err(division_by_zero());
            }
            return Numeric::finite(BigInt::zero(), scale);
        }
        let size = f64::from(exponent) * self.log10();
        if size > DIGITS_MAX as f64 + 1.0 {
            return Err(overflow());
        }
        if size + 1.0 < -f64::from(scale) {
            return Numeric::finite(BigInt::zero(), scale);
        }
        let digits = size.max(0.0) as i64 + i64::from(scale) + 24;
        let power = Rough::of(self).power(exponent.unsigned_abs(), digits);
        Numeric::finite(power.to_scale(scale, exponent < 0), scale)
    }
}

/// A number cut to a number of digits: `mantissa * 10^exponent`.
#[derive(Clone)]
struct Rough {
    mantissa: BigInt,
    exponent: i64,
}

impl Rough {
    fn of(decimal: &Decimal) -> Rough {
        Rough { mantissa: decimal.unscaled.clone(), exponent: -i64::from(decimal.scale) }
    }

    fn times(&self, other: &Rough, digits: i64) -> Rough {
        let mantissa = &self.mantissa * &other.mantissa;
        let exponent = self.exponent + other.exponent;
        let excess = digit_count(&mantissa) - digits;
        match u32::try_from(excess) {
            Ok(excess) if excess > 0 => {
                Rough { mantissa: mantissa / ten(excess), exponent: exponent + i64::from(excess) }
            }
            _ => Rough { mantissa, exponent },
        }
    }

    /// By squaring.
    fn power(&self, mut exponent: u32, digits: i64) -> Rough {
        let mut square = self.clone();
        let mut result = Rough { mantissa: BigInt::one(), exponent: 0 };
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = result.times(&square, digits);
            }
            exponent /= 2;
            if exponent > 0 {
                square = square.times(&square.clone(), digits);
            }
        }
        result
    }

    /// The unscaled integer of the number, or of its inverse, at a scale.
    fn to_scale(&self, scale: u32, inverse: bool) -> BigInt {
        let (mantissa, exponent) = if inverse {
            (BigInt::one(), -self.exponent)
        } else {
            (self.mantissa.clone(), self.exponent)
        };
        let divisor = if inverse { self.mantissa.clone() } else { BigInt::one() };
        let shift = exponent + i64::from(scale);
        let power = ten(u32::try_from(shift.abs()).unwrap_or(u32::MAX).min(4 * DIGITS_MAX as u32));
        if shift >= 0 {
            divide_rounded(&(mantissa * power), &divisor)
        } else {
            divide_rounded(&mantissa, &(divisor * power))
        }
    }
}
