//! Numbers of other types from and to numeric.

use super::{Decimal, Numeric};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

impl Numeric {
    /// From a bigint.
    pub fn from_i64(value: i64) -> Numeric {
        Numeric::Finite(Decimal { unscaled: value.into(), scale: 0 })
    }

    /// From a wide integer, as sums of bigint are.
    pub fn from_i128(value: i128) -> Numeric {
        Numeric::Finite(Decimal { unscaled: value.into(), scale: 0 })
    }

    /// `value / 10^scale`: seconds from microseconds, for example. The scale must be at most 18.
    pub fn from_scaled(value: i64, scale: u32) -> Numeric {
        Numeric::Finite(Decimal { unscaled: value.into(), scale: scale.min(18) })
    }

    /// What [`Numeric::from_scaled`] makes this number of, if there is something.
    pub fn to_scaled(&self) -> Option<(i64, u32)> {
        let decimal = self.as_finite().filter(|decimal| decimal.scale <= 18)?;
        Some((decimal.unscaled.to_i64()?, decimal.scale))
    }

    /// `value / 10^scale` of a wide integer. The scale must be at most 18.
    pub fn from_i128_scaled(value: i128, scale: u32) -> Numeric {
        Numeric::Finite(Decimal { unscaled: value.into(), scale: scale.min(18) })
    }

    /// From a double: its first 15 digits, as PostgreSQL casts.
    pub fn from_f64(value: f64) -> Numeric {
        from_float(value, 15)
    }

    /// From a float: its first 6 digits.
    pub fn from_f32(value: f32) -> Numeric {
        from_float(f64::from(value), 6)
    }

    /// The nearest integer (halves away from zero), if it is one of 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        self.as_finite()?.rounded_integer().to_i64()
    }

    /// The nearest integer, if it is one of 128 bits.
    pub fn to_i128(&self) -> Option<i128> {
        self.as_finite()?.rounded_integer().to_i128()
    }

    /// The nearest double; an infinity if it is too large for one.
    pub fn to_f64(&self) -> f64 {
        match self {
            Numeric::NaN => f64::NAN,
            Numeric::PosInfinity => f64::INFINITY,
            Numeric::NegInfinity => f64::NEG_INFINITY,
            Numeric::Finite(decimal) => decimal.to_f64(),
        }
    }

    /// The nearest float.
    pub fn to_f32(&self) -> f32 {
        match self {
            Numeric::Finite(decimal) => decimal.to_string().parse().unwrap_or(f32::NAN),
            other => other.to_f64() as f32,
        }
    }
}

impl Decimal {
    pub(super) fn rounded_integer(&self) -> BigInt {
        if self.scale == 0 { self.unscaled.clone() } else { self.rescaled(0).unscaled }
    }

    pub(super) fn to_f64(&self) -> f64 {
        // Integers below 2^53 and powers of ten up to 10^22 are exact, so their quotient is right.
        if let Some(small) = self.unscaled.to_i64()
            && small.unsigned_abs() < (1 << 53)
            && self.scale <= 22
        {
            return small as f64 / 10f64.powi(self.scale as i32);
        }
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

fn from_float(value: f64, digits: usize) -> Numeric {
    if value.is_nan() {
        return Numeric::NaN;
    }
    if value.is_infinite() {
        return if value > 0.0 { Numeric::PosInfinity } else { Numeric::NegInfinity };
    }
    let text = format!("{value:.precision$e}", precision = digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    Numeric::parse(&format!("{mantissa}e{exponent}")).unwrap_or(Numeric::NaN)
}
