//! Functions that return series and the elements of arrays as rows. Rows are made one by one, so
//! that a limit above them is a limit of the work.

use super::arguments::argument;
use super::{Call, Function, Rows, SetFunction, Style, registry};
use crate::error::{Result, SqlError, code};
use crate::types::numeric::Numeric;
use crate::types::{Array, Datum, Interval, Oid, TypeKind, TypeLookup};
use std::sync::Arc;

fn invalid(message: &str) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

fn zero_step() -> SqlError {
    invalid("step size cannot equal zero")
}

/// Numbers from one to another one; a sum that does not fit is the end.
fn integers(start: i64, stop: i64, step: i64, make: fn(i64) -> Datum, max: i64) -> Result<Rows> {
    if step == 0 {
        return Err(zero_step());
    }
    let inside = move |at: &i64| if step > 0 { *at <= stop } else { *at >= stop };
    let fits = move |at: &i64| (-max - 1..=max).contains(at);
    let next = move |at: &i64| at.checked_add(step).filter(fits).filter(inside);
    let numbers = std::iter::successors(Some(start).filter(inside), next);
    Ok(Box::new(numbers.map(move |at| Ok(vec![make(at)]))))
}

fn int4(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let step: i32 = if args.len() > 2 { argument(args, 2)? } else { 1 };
    let (start, stop): (i32, i32) = (argument(args, 0)?, argument(args, 1)?);
    let make = |at| Datum::Int4(at as i32);
    integers(start.into(), stop.into(), step.into(), make, i32::MAX.into())
}

fn int8(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let step = if args.len() > 2 { argument(args, 2)? } else { 1 };
    integers(argument(args, 0)?, argument(args, 1)?, step, Datum::Int8, i64::MAX)
}

fn check_number(value: &Numeric, name: &str) -> Result<()> {
    if value.is_nan() {
        return Err(invalid(&format!("{name} cannot be NaN")));
    }
    if value.is_infinite() {
        return Err(invalid(&format!("{name} cannot be infinity")));
    }
    Ok(())
}

fn numeric(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let (start, stop): (&Numeric, &Numeric) = (argument(args, 0)?, argument(args, 1)?);
    check_number(start, "start value")?;
    check_number(stop, "stop value")?;
    let step = match args.get(2) {
        Some(_) => argument::<&Numeric>(args, 2)?.clone(),
        None => Numeric::from_i64(1),
    };
    check_number(&step, "step size")?;
    if step.is_zero() {
        return Err(zero_step());
    }
    let mut next = Some(start.clone());
    let stop = stop.clone();
    Ok(Box::new(std::iter::from_fn(move || {
        let current = next.take()?;
        let order = current.cmp(&stop);
        if if step.is_negative() { order.is_lt() } else { order.is_gt() } {
            return None;
        }
        match current.add(&step) {
            Ok(following) => next = Some(following),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(vec![Datum::Numeric(Arc::new(current))]))
    })))
}

/// The sign of an interval, where a month has 30 days.
fn sign(interval: Interval) -> i128 {
    const DAY: i128 = 86_400_000_000;
    let days = i128::from(interval.months) * 30 + i128::from(interval.days);
    (days * DAY + i128::from(interval.micros)).signum()
}

/// Points in time. Adding an interval goes by the calendar and the zone, which another file does.
struct Times {
    next: Option<i64>,
    stop: i64,
    step: Interval,
    add: Function,
    args: [Oid; 2],
    style: Style,
}

impl Times {
    fn following(&self, current: i64) -> Result<i64> {
        let call =
            Call { args: &self.args, result: self.args[0], style: &self.style, types: &NoTypes };
        let sum = (self.add)(&call, &[Datum::Timestamp(current), Datum::Interval(self.step)])?;
        match sum {
            Datum::Timestamp(sum) => Ok(sum),
            _ => Err(SqlError::internal("a point in time plus an interval is none")),
        }
    }
}

impl Iterator for Times {
    type Item = Result<Vec<Datum>>;

    fn next(&mut self) -> Option<Self::Item> {
        let current = self.next.take()?;
        if if sign(self.step) < 0 { current < self.stop } else { current > self.stop } {
            return None;
        }
        match self.following(current) {
            Ok(following) => self.next = Some(following),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(vec![Datum::Timestamp(current)]))
    }
}

fn times(call: &Call<'_>, args: &[Datum], add: &str, ty: Oid) -> Result<Rows> {
    let instant = |number| match argument::<&Datum>(args, number)? {
        Datum::Timestamp(instant) => Ok(*instant),
        _ => Err(SqlError::internal("not a point in time")),
    };
    let step: Interval = argument(args, 2)?;
    if sign(step) == 0 {
        return Err(zero_step());
    }
    let add = registry::function(0, add).ok_or_else(|| SqlError::unsupported("generate_series"))?;
    Ok(Box::new(Times {
        next: Some(instant(0)?),
        stop: instant(1)?,
        step,
        add,
        args: [ty, Oid::INTERVAL],
        style: call.style.clone(),
    }))
}

fn timestamp(call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    times(call, args, "timestamp_pl_interval", Oid::TIMESTAMP)
}

fn timestamptz(call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    times(call, args, "timestamptz_pl_interval", Oid::TIMESTAMPTZ)
}

/// Arithmetic of time asks for no user-defined type.
struct NoTypes;

impl TypeLookup for NoTypes {
    fn kind(&self, _ty: Oid) -> Option<TypeKind> {
        None
    }
    fn type_name(&self, ty: Oid, _typmod: i32) -> String {
        ty.to_string()
    }
    fn array_of(&self, _ty: Oid) -> Option<Oid> {
        None
    }
    fn reg_in(&self, _ty: Oid, _text: &str) -> Result<u32> {
        Err(SqlError::internal("no catalog here"))
    }
    fn reg_out(&self, _ty: Oid, value: u32) -> String {
        value.to_string()
    }
    fn check_domain(&self, _domain: Oid, _value: &Datum) -> Result<()> {
        Ok(())
    }
}

fn unnest(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let Datum::Array(array) = argument::<&Datum>(args, 0)? else {
        return Err(SqlError::internal("not an array"));
    };
    let array = array.clone();
    let elements = (0..array.elements.len()).map(move |at| Ok(vec![array.elements[at].clone()]));
    Ok(Box::new(elements))
}

fn subscripts(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let array: &Array = argument(args, 0)?;
    let number: i32 = argument(args, 1)?;
    let reverse = if args.len() > 2 { argument(args, 2)? } else { false };
    let dimension = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let Some(dimension) = dimension.and_then(|number| array.dimensions.get(number).copied()) else {
        return Ok(Box::new(std::iter::empty()));
    };
    let count = dimension.length;
    let place = move |at| if reverse { count - 1 - at } else { at };
    let subscript = move |at| Ok(vec![Datum::Int4(dimension.lower.wrapping_add(place(at)))]);
    Ok(Box::new((0..count).map(subscript)))
}

pub(super) const SETS: &[(&str, SetFunction)] = &[
    ("generate_series_int4", int4),
    ("generate_series_step_int4", int4),
    ("generate_series_int8", int8),
    ("generate_series_step_int8", int8),
    ("generate_series_numeric", numeric),
    ("generate_series_step_numeric", numeric),
    ("generate_series_timestamp", timestamp),
    ("generate_series_timestamptz", timestamptz),
    ("array_unnest", unnest),
    ("generate_subscripts", subscripts),
    ("generate_subscripts_nodir", subscripts),
];
