//! Ordered-set aggregates: rows come sorted, and the fractions of percentiles are direct arguments.

use super::{Accumulator, AggregateKind, Call, new};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::argument;
use crate::functions::registry;
use crate::functions::values::equal;
use crate::types::{Array, Datum, Oid};
use std::sync::Arc;

/// The ordered-set aggregate of this name; the types are those of the direct arguments and then of
/// the others.
pub(super) fn find(name: &str, _args: &[Oid]) -> Option<AggregateKind> {
    let direct: Option<super::super::Direct> = match name {
        "mode" => None,
        "percentile_disc" => Some(|_, args| percentile(args, discrete)),
        "percentile_cont" => Some(|_, args| percentile(args, continuous)),
        _ => return None,
    };
    Some(AggregateKind { skips_nulls: true, start: new::<Mode>, direct })
}

/// The value that occurs most, the first one of several.
#[derive(Default)]
struct Mode {
    best: (Value, u64),
    current: (Value, u64),
}

/// A value that is not there at first.
type Value = Option<Datum>;

impl Accumulator for Mode {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let value: &Datum = argument(args, 0)?;
        let ty = call.args.first().copied().unwrap_or_default();
        match &self.current.0 {
            Some(current) if equal(ty, current, value) => self.current.1 += 1,
            _ => self.current = (Some(value.clone()), 1),
        }
        if self.current.1 > self.best.1 {
            self.best = self.current.clone();
        }
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.best.0.clone().unwrap_or(Datum::Null))
    }
}

/// The value at a fraction of the rows.
type At = fn(&Call<'_>, &[Datum], f64) -> Result<Datum>;

struct Percentile {
    fractions: Datum,
    rows: Vec<Datum>,
    at: At,
}

fn percentile(args: &[Datum], at: At) -> Result<Box<dyn Accumulator>> {
    let fractions = argument::<&Datum>(args, 0)?.clone();
    Ok(Box::new(Percentile { fractions, rows: Vec::new(), at }))
}

fn checked(fraction: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&fraction) {
        return Ok(fraction);
    }
    let message = format!("percentile value {fraction} is not between 0 and 1");
    Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message))
}

impl Percentile {
    fn one(&self, call: &Call<'_>, fraction: &Datum) -> Result<Datum> {
        match fraction {
            Datum::Null => Ok(Datum::Null),
            Datum::Float8(fraction) => (self.at)(call, &self.rows, checked(*fraction)?),
            _ => Err(SqlError::internal("a fraction that is no number")),
        }
    }

    fn element(&self, call: &Call<'_>) -> Oid {
        match self.rows.first() {
            Some(Datum::Float8(_)) => Oid::FLOAT8,
            Some(Datum::Interval(_)) => Oid::INTERVAL,
            _ => call.args.last().copied().unwrap_or(Oid::TEXT),
        }
    }
}

impl Accumulator for Percentile {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.rows.push(argument::<&Datum>(args, 0)?.clone());
        Ok(())
    }

    fn finish(&self, call: &Call<'_>) -> Result<Datum> {
        let Datum::Array(fractions) = &self.fractions else {
            if self.rows.is_empty() {
                if let Datum::Float8(fraction) = self.fractions {
                    checked(fraction)?;
                }
                return Ok(Datum::Null);
            }
            return self.one(call, &self.fractions);
        };
        if self.rows.is_empty() {
            return Ok(Datum::Null);
        }
        let values: Result<Vec<Datum>> =
            fractions.elements.iter().map(|fraction| self.one(call, fraction)).collect();
        let array = Array {
            element: self.element(call),
            dimensions: fractions.dimensions.clone(),
            elements: values?,
        };
        Ok(Datum::Array(Arc::new(array)))
    }
}

fn discrete(_call: &Call<'_>, rows: &[Datum], fraction: f64) -> Result<Datum> {
    let number = (fraction * rows.len() as f64).ceil() as usize;
    Ok(rows.get(number.max(1) - 1).cloned().unwrap_or(Datum::Null))
}

/// Between two rows it is as far as the fraction is.
fn continuous(call: &Call<'_>, rows: &[Datum], fraction: f64) -> Result<Datum> {
    let place = fraction * (rows.len() - 1) as f64;
    let (low, high) = (place.floor(), place.ceil());
    let (first, second) = match (rows.get(low as usize), rows.get(high as usize)) {
        (Some(first), Some(second)) => (first, second),
        _ => return Ok(Datum::Null),
    };
    if low == high {
        return Ok(first.clone());
    }
    interpolated(call, first, second, place - low)
}

fn interpolated(call: &Call<'_>, low: &Datum, high: &Datum, part: f64) -> Result<Datum> {
    if let (Datum::Float8(low), Datum::Float8(high)) = (low, high) {
        return Ok(Datum::Float8(low + part * (high - low)));
    }
    let apply = |name: &str, args: &[Datum]| {
        let function = registry::function(0, name);
        function.ok_or_else(|| SqlError::unsupported("percentile_cont"))?(call, args)
    };
    let span = apply("interval_mi", &[high.clone(), low.clone()])?;
    let share = apply("interval_mul", &[span, Datum::Float8(part)])?;
    apply("interval_pl", &[share, low.clone()])
}
