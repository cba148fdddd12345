//! Variance and standard deviation: exact for integers and numerics, by the recurrence of Youngs
//! and Cramer ("Some results relevant to choice of sum and sum-of-product algorithms", 1971) for
//! floats, with the same operations in the same order as PostgreSQL.

use super::sums::integer;
use super::{Accumulator, Call, Start, new};
use crate::error::{Result, SqlError};
use crate::functions::float::overflow;
use crate::types::numeric::Numeric;
use crate::types::{Datum, Oid};
use num_bigint::BigInt;
use std::sync::Arc;

/// The accumulator of this name, if it is a variance.
pub(super) fn find(name: &str, args: &[Oid]) -> Option<Start> {
    let float = matches!(args.first(), Some(&(Oid::FLOAT4 | Oid::FLOAT8)));
    Some(match (name, float) {
        ("var_pop", false) => new::<Numerics<false, false>>,
        ("var_samp" | "variance", false) => new::<Numerics<true, false>>,
        ("stddev_pop", false) => new::<Numerics<false, true>>,
        ("stddev_samp" | "stddev", false) => new::<Numerics<true, true>>,
        ("var_pop", true) => new::<Floats<false, false>>,
        ("var_samp" | "variance", true) => new::<Floats<true, false>>,
        ("stddev_pop", true) => new::<Floats<false, true>>,
        ("stddev_samp" | "stddev", true) => new::<Floats<true, true>>,
        _ => return None,
    })
}

/// Sums of values and of their squares.
struct Numerics<const SAMPLE: bool, const ROOT: bool> {
    count: i64,
    special: bool,
    sum: Numeric,
    squares: Numeric,
}

impl<const SAMPLE: bool, const ROOT: bool> Default for Numerics<SAMPLE, ROOT> {
    fn default() -> Self {
        Numerics { count: 0, special: false, sum: Numeric::zero(), squares: Numeric::zero() }
    }
}

/// An argument as a numeric.
fn numeric(args: &[Datum]) -> Result<Numeric> {
    match args.first() {
        Some(Datum::Numeric(value)) => Ok((**value).clone()),
        _ => integer(args).map(Numeric::from_i64),
    }
}

/// The root with as many digits behind the point as the number has.
fn root(value: &Numeric) -> Result<Numeric> {
    let Some(decimal) = value.as_finite() else {
        return Ok(value.clone());
    };
    let scale = decimal.scale() as usize;
    let radicand = decimal.unscaled() * BigInt::from(10).pow(scale as u32);
    let floor = radicand.sqrt();
    // Rounded: up if the radicand is beyond the square of the floor and a half.
    let up = &radicand - &floor * &floor > floor;
    let digits = (floor + i32::from(up)).to_string();
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    Numeric::parse(&format!("{whole}{point}{fraction}"))
}

impl<const SAMPLE: bool, const ROOT: bool> Numerics<SAMPLE, ROOT> {
    fn result(&self) -> Result<Numeric> {
        let count = Numeric::from_i64(self.count);
        let spread = count.mul(&self.squares)?.sub(&self.sum.mul(&self.sum)?)?;
        if spread.is_zero() || spread.is_negative() {
            return Ok(Numeric::zero());
        }
        let divisor = if SAMPLE { self.count - 1 } else { self.count };
        let variance = spread.div(&count.mul(&Numeric::from_i64(divisor))?)?;
        if ROOT { root(&variance) } else { Ok(variance) }
    }
}

impl<const SAMPLE: bool, const ROOT: bool> Accumulator for Numerics<SAMPLE, ROOT> {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let value = numeric(args)?;
        self.count += 1;
        if value.is_nan() || value.is_infinite() {
            self.special = true;
            return Ok(());
        }
        self.squares = self.squares.add(&value.mul(&value)?)?;
        self.sum = self.sum.add(&value)?;
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.count <= i64::from(SAMPLE) {
            return Ok(Datum::Null);
        }
        let result = if self.special { Numeric::parse("NaN")? } else { self.result()? };
        Ok(Datum::Numeric(Arc::new(result)))
    }
}

/// Count, sum, and sum of the squared differences from the mean.
#[derive(Clone, Copy, Default)]
pub(super) struct FloatMoments {
    count: f64,
    sum: f64,
    spread: f64,
}

/// A float of either size.
pub(super) fn float(args: &[Datum], number: usize) -> Result<f64> {
    match args.get(number) {
        Some(Datum::Float4(value)) => Ok((*value).into()),
        Some(Datum::Float8(value)) => Ok(*value),
        other => Err(SqlError::internal(format!("{other:?} is not a float"))),
    }
}

impl FloatMoments {
    pub fn add(&mut self, args: &[Datum]) -> Result<()> {
        let value = float(args, 0)?;
        let before = *self;
        self.count += 1.0;
        self.sum += value;
        if before.count == 0.0 {
            if !value.is_finite() {
                self.spread = f64::NAN;
            }
            return Ok(());
        }
        let difference = value * self.count - self.sum;
        self.spread += difference * difference / (self.count * before.count);
        if self.sum.is_infinite() || self.spread.is_infinite() {
            if !before.sum.is_infinite() && !value.is_infinite() {
                return Err(overflow());
            }
            self.spread = f64::NAN;
        }
        Ok(())
    }

    pub fn average(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

#[derive(Default)]
struct Floats<const SAMPLE: bool, const ROOT: bool>(FloatMoments);

impl<const SAMPLE: bool, const ROOT: bool> Accumulator for Floats<SAMPLE, ROOT> {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.0.add(args)
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        let divisor = if SAMPLE { self.0.count - 1.0 } else { self.0.count };
        if divisor <= 0.0 {
            return Ok(Datum::Null);
        }
        let variance = self.0.spread / divisor;
        Ok(Datum::Float8(if ROOT { variance.sqrt() } else { variance }))
    }
}
