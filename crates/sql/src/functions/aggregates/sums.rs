//! Sums and averages. Integers are summed exactly in a wider type, numerics exactly; floats in the
//! order of the rows, as PostgreSQL does.

use super::variance::FloatMoments;
use super::{Accumulator, Call, Start, new};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::argument;
use crate::functions::{int, registry};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Interval, Oid};
use std::sync::Arc;

/// The accumulator for `sum` over this type.
pub(super) fn sum(ty: Oid) -> Option<Start> {
    Some(match ty {
        Oid::INT2 | Oid::INT4 => new::<Integers<BIGINT>>,
        Oid::INT8 => new::<Integers<NUMERIC>>,
        Oid::NUMERIC => new::<Numerics<false>>,
        Oid::FLOAT4 => new::<Floats4>,
        Oid::FLOAT8 => new::<Floats8>,
        Oid::INTERVAL => new::<Intervals<false>>,
        _ => return None,
    })
}

/// The accumulator for `avg` over this type.
pub(super) fn average(ty: Oid) -> Option<Start> {
    Some(match ty {
        Oid::INT2 | Oid::INT4 | Oid::INT8 => new::<Integers<AVERAGE>>,
        Oid::NUMERIC => new::<Numerics<true>>,
        Oid::FLOAT4 | Oid::FLOAT8 => new::<FloatAverage>,
        Oid::INTERVAL => new::<Intervals<true>>,
        _ => return None,
    })
}

const BIGINT: u8 = 0;
const NUMERIC: u8 = 1;
const AVERAGE: u8 = 2;

/// A sum of integers, which is returned as bigint, as numeric, or divided by the count.
#[derive(Default)]
struct Integers<const RESULT: u8> {
    sum: i128,
    count: i64,
}

/// The integer in an argument, whatever its size.
pub(super) fn integer(args: &[Datum]) -> Result<i64> {
    match args.first() {
        Some(Datum::Int2(value)) => Ok((*value).into()),
        Some(Datum::Int4(value)) => Ok((*value).into()),
        Some(Datum::Int8(value)) => Ok(*value),
        other => Err(SqlError::internal(format!("{other:?} is not an integer"))),
    }
}

impl<const RESULT: u8> Accumulator for Integers<RESULT> {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.sum += i128::from(integer(args)?);
        self.count += 1;
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        if RESULT == BIGINT {
            return int::fit(self.sum).map(Datum::Int8);
        }
        let sum = Numeric::from_i128(self.sum);
        let result = if RESULT == AVERAGE { sum.div(&Numeric::from_i64(self.count))? } else { sum };
        Ok(Datum::Numeric(Arc::new(result)))
    }
}

/// A sum of numerics, or their average.
#[derive(Default)]
struct Numerics<const AVERAGE: bool> {
    sum: Option<Numeric>,
    count: i64,
}

impl<const AVERAGE: bool> Accumulator for Numerics<AVERAGE> {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let value: &Numeric = argument(args, 0)?;
        let sum = match &self.sum {
            Some(sum) => sum.add(value)?,
            None => value.clone(),
        };
        self.sum = Some(sum);
        self.count += 1;
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        let Some(sum) = &self.sum else {
            return Ok(Datum::Null);
        };
        let result = if AVERAGE { sum.div(&Numeric::from_i64(self.count))? } else { sum.clone() };
        Ok(Datum::Numeric(Arc::new(result)))
    }
}

fn overflowed() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

#[derive(Default)]
struct Floats4(Option<f32>);

impl Accumulator for Floats4 {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let value: f32 = argument(args, 0)?;
        let before = self.0.unwrap_or(0.0);
        let sum = self.0.map_or(value, |sum| sum + value);
        if sum.is_infinite() && before.is_finite() && value.is_finite() {
            return Err(overflowed());
        }
        self.0 = Some(sum);
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.0.map_or(Datum::Null, Datum::Float4))
    }
}

#[derive(Default)]
struct Floats8(Option<f64>);

impl Accumulator for Floats8 {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let value: f64 = argument(args, 0)?;
        let before = self.0.unwrap_or(0.0);
        let sum = self.0.map_or(value, |sum| sum + value);
        if sum.is_infinite() && before.is_finite() && value.is_finite() {
            return Err(overflowed());
        }
        self.0 = Some(sum);
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.0.map_or(Datum::Null, Datum::Float8))
    }
}

/// The average of floats comes from the sums that the variance needs too, with their overflow.
#[derive(Default)]
struct FloatAverage(FloatMoments);

impl Accumulator for FloatAverage {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.0.add(args)
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.0.average().map_or(Datum::Null, Datum::Float8))
    }
}

/// A sum of intervals field by field, or their average.
#[derive(Default)]
struct Intervals<const AVERAGE: bool> {
    sum: Interval,
    count: i64,
}

fn add_intervals(a: Interval, b: Interval) -> Option<Interval> {
    Some(Interval {
        months: a.months.checked_add(b.months)?,
        days: a.days.checked_add(b.days)?,
        micros: a.micros.checked_add(b.micros)?,
    })
}

impl<const AVERAGE: bool> Accumulator for Intervals<AVERAGE> {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let error = || SqlError::new(code::DATETIME_FIELD_OVERFLOW, "interval out of range");
        self.sum = add_intervals(self.sum, argument(args, 0)?).ok_or_else(error)?;
        self.count += 1;
        Ok(())
    }

    fn finish(&self, call: &Call<'_>) -> Result<Datum> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        let sum = Datum::Interval(self.sum);
        if !AVERAGE {
            return Ok(sum);
        }
        let divide = registry::function(0, "interval_div");
        let divide = divide.ok_or_else(|| SqlError::unsupported("avg(interval)"))?;
        divide(call, &[sum, Datum::Float8(self.count as f64)])
    }
}
