//! Exponential function and logarithms.
//!
//! PostgreSQL chooses the scale of a result by an estimate of its size, which is repeated here
//! step by step ([`Decimal::ln_exponent`]); the digits themselves are computed on integers that
//! stand for `x * 2^bits`, with enough bits that the last digit shown is right.

use super::arith::{display_scale, division_by_zero};
use super::{
    Decimal, Numeric, RESULT_SCALE_MAX, SIGNIFICANT_MIN, WEIGHT_DIGITS, divide_rounded, overflow,
    ten,
};
use crate::error::{Result, SqlError, code};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// log10(e), with the digits that PostgreSQL's estimates use.
#[allow(clippy::approx_constant)]
pub(super) const LOG10_E: f64 = 0.434_294_481_903_252;
/// Bits that absorb the rounding of the steps.
const GUARD: u64 = 64;

/// How many bits so many decimal digits need.
pub(super) fn bits_of(digits: i64) -> u64 {
    (digits.max(0) as f64 * std::f64::consts::LOG2_10).ceil() as u64
}

/// `x * 2^bits` as a number of a scale.
pub(super) fn from_fixed(value: &BigInt, bits: u64, scale: u32) -> BigInt {
    divide_rounded(&(value * ten(scale)), &(BigInt::one() << bits))
}

/// 2 * artanh(1/n), times 2^bits.
fn artanh_of_inverse(n: u32, bits: u64) -> BigInt {
    let square = u64::from(n) * u64::from(n);
    let mut power = (BigInt::one() << (bits + 1)) / n;
    let (mut sum, mut odd) = (BigInt::zero(), 1u32);
    while !power.is_zero() {
        sum += &power / odd;
        power /= square;
        odd += 2;
    }
    sum
}

/// ln 2, times 2^bits, by Machin's way.
fn ln_two(bits: u64) -> BigInt {
    let bits_more = bits + 16;
    let sum = artanh_of_inverse(26, bits_more) * 9 - artanh_of_inverse(4801, bits_more)
        + artanh_of_inverse(8749, bits_more) * 4;
    sum >> 16u32
}

/// e^x of `x * 2^bits`, as a mantissa with the same bits and a power of two.
pub(super) fn exp_fixed(x: &BigInt, bits: u64) -> (BigInt, i64) {
    let ln_two = ln_two(bits);
    let shift = num_integer::Integer::div_floor(x, &ln_two);
    let rest = x - &shift * ln_two;
    // Halving the argument and squaring the result back shortens the series.
    let halvings = (bits as f64).sqrt() as u64;
    let bits_more = bits + 2 * halvings + 8;
    let small = (rest << (bits_more - bits)) >> halvings;
    let mut term: BigInt = BigInt::one() << bits_more;
    let mut sum = BigInt::zero();
    let mut n = 1u32;
    while !term.is_zero() {
        sum += &term;
        term = ((term * &small) >> bits_more) / n;
        n += 1;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> bits_more;
    }
    (sum >> (bits_more - bits), shift.to_i64().unwrap_or(i64::MAX))
}

impl Decimal {
    /// ln of a positive number, times 2^bits.
    pub(super) fn ln_fixed(&self, bits: u64) -> BigInt {
        let bits_of_scale = bits_of(i64::from(self.scale)) as i64;
        let power = self.unscaled.bits() as i64 - bits_of_scale;
        let roots = (bits as f64).sqrt() as u64 / 2 + 1;
        let work = bits + 2 * roots + GUARD;
        // The mantissa is near 1; its logarithm comes from that of its 2^roots-th root.
        let shift = work as i64 - power;
        let divisor = ten(self.scale);
        let mut mantissa = match u64::try_from(shift) {
            Ok(shift) => (&self.unscaled << shift) / divisor,
            Err(_) => &self.unscaled / (divisor << shift.unsigned_abs()),
        };
        for _ in 0..roots {
            mantissa = (mantissa << work).sqrt();
        }
        let one = BigInt::one() << work;
        let ratio = ((&mantissa - &one) << work) / (&mantissa + &one);
        let logarithm = artanh_series(&ratio, work) << (roots + 1);
        let power = ln_two(work) * power;
        (logarithm + power) >> (work - bits)
    }

    /// The decimal exponent of ln x, as PostgreSQL estimates it.
    pub(super) fn ln_exponent(&self) -> i64 {
        let near = |tenths: i64, order| {
            self.compare(&Decimal { unscaled: tenths.into(), scale: 1 }) != order
        };
        if near(9, Ordering::Less) && near(11, Ordering::Greater) {
            let rest = Decimal { unscaled: &self.unscaled - ten(self.scale), scale: self.scale };
            let (weight, first) = rest.weight();
            return match first {
                0 => 0,
                _ => weight * WEIGHT_DIGITS + (first as f64).log10() as i64,
            };
        }
        let Some(exponent) = self.exponent() else { return 0 };
        let weight = exponent.div_euclid(WEIGHT_DIGITS) * WEIGHT_DIGITS;
        let digits = self.leading(exponent - weight + 1 + WEIGHT_DIGITS);
        let ln = (digits as f64).ln() + (weight - WEIGHT_DIGITS) as f64 * std::f64::consts::LN_10;
        ln.abs().log10() as i64
    }

    /// ln of a positive number, rounded to a scale.
    pub(super) fn ln(&self, scale: u32) -> Decimal {
        let bits = bits_of(i64::from(scale)) + GUARD;
        Decimal { unscaled: from_fixed(&self.ln_fixed(bits), bits, scale), scale }
    }
}

/// artanh of `x * 2^bits` with |x| well below 1.
fn artanh_series(x: &BigInt, bits: u64) -> BigInt {
    let square = (x * x) >> bits;
    let mut power = x.clone();
    let (mut sum, mut odd) = (BigInt::zero(), 1u32);
    // Shifts round down, so that a negative power ends at -1 instead of 0.
    while power.bits() > 1 {
        sum += &power / odd;
        power = (power * &square) >> bits;
        odd += 2;
    }
    sum
}

fn not_for_logarithm(what: &str) -> SqlError {
    let message = format!("cannot take logarithm of {what}");
    SqlError::new(code::INVALID_ARGUMENT_FOR_LOGARITHM, message)
}

impl Numeric {
    fn check_logarithm(&self) -> Result<()> {
        match self.direction() {
            Some(Ordering::Less) => Err(not_for_logarithm("a negative number")),
            Some(Ordering::Equal) => Err(not_for_logarithm("zero")),
            _ => Ok(()),
        }
    }

    /// e to this power.
    pub fn exp(&self) -> Result<Numeric> {
        let decimal = match self {
            Numeric::Finite(decimal) => decimal,
            Numeric::NegInfinity => return Ok(Numeric::zero()),
            other => return Ok(other.clone()),
        };
        let bound = RESULT_SCALE_MAX as f64;
        let value = decimal.to_f64();
        let digits = (value * LOG10_E).clamp(-bound, bound) as i64;
        let scale = display_scale(SIGNIFICANT_MIN - digits, [decimal.scale]);
        if value.abs() >= bound * 3.0 {
            if value > 0.0 {
                return Err(overflow());
            }
            return Numeric::finite(BigInt::zero(), scale);
        }
        let bits = bits_of(i64::from(scale) + (value * LOG10_E).max(0.0) as i64) + GUARD;
        let x = (&decimal.unscaled << bits) / ten(decimal.scale);
        exp_to_scale(&x, bits, scale)
    }

    /// The natural logarithm.
    pub fn ln(&self) -> Result<Numeric> {
        self.check_logarithm()?;
        let Numeric::Finite(decimal) = self else { return Ok(self.clone()) };
        let scale = display_scale(SIGNIFICANT_MIN - decimal.ln_exponent(), [decimal.scale]);
        Ok(Numeric::Finite(decimal.ln(scale)))
    }

    /// The logarithm to a base.
    pub fn log(base: &Numeric, number: &Numeric) -> Result<Numeric> {
        if base.is_nan() || number.is_nan() {
            return Ok(Numeric::NaN);
        }
        base.check_logarithm()?;
        number.check_logarithm()?;
        match (base, number) {
            (Numeric::Finite(base), Numeric::Finite(number)) => log_finite(base, number),
            (Numeric::Finite(_), _) => Ok(Numeric::PosInfinity),
            (_, Numeric::Finite(_)) => Ok(Numeric::zero()),
            _ => Ok(Numeric::NaN),
        }
    }
}

fn log_finite(base: &Decimal, number: &Decimal) -> Result<Numeric> {
    let (of_base, of_number) = (base.ln_exponent(), number.ln_exponent());
    let wanted = SIGNIFICANT_MIN - (of_number - of_base);
    let scale = display_scale(wanted, [base.scale, number.scale]);
    let digits = i64::from(scale) + 2 * of_base.abs() + of_number.abs();
    let bits = bits_of(digits) + GUARD;
    let divisor = base.ln_fixed(bits);
    if base.compare(&Decimal { unscaled: BigInt::one(), scale: 0 }) == Ordering::Equal {
        return Err(division_by_zero());
    }
    let dividend = number.ln_fixed(bits) * ten(scale);
    Numeric::finite(divide_rounded(&dividend, &divisor), scale)
}

/// e^x of `x * 2^bits`, rounded to a scale.
pub(super) fn exp_to_scale(x: &BigInt, bits: u64, scale: u32) -> Result<Numeric> {
    let (mantissa, shift) = exp_fixed(x, bits);
    let shifted = match u64::try_from(shift) {
        Ok(shift) => from_fixed(&(mantissa << shift), bits, scale),
        Err(_) => from_fixed(&mantissa, bits + shift.unsigned_abs(), scale),
    };
    debug_assert!(!shifted.is_negative());
    Numeric::finite(shifted, scale)
}
