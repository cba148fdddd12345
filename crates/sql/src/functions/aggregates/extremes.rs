//! The smallest and the largest value of any type that has an order.

use super::{Accumulator, Call};
use crate::error::Result;
use crate::functions::arguments::argument;
use crate::functions::values::order;
use crate::types::{Datum, Oid};
use std::cmp::Ordering;

struct Extreme {
    best: Datum,
    /// How the best one is to the others.
    wanted: Ordering,
}

impl Extreme {
    /// Of two that are equal (1.0 and 1.00) the later one stays, but of bpchar the first one, as
    /// in PostgreSQL.
    fn is_replaced_by(&self, ty: Oid, value: &Datum) -> bool {
        if self.best.is_null() {
            return true;
        }
        let order = order(ty, &self.best, value);
        if ty == Oid::BPCHAR { order == self.wanted.reverse() } else { order != self.wanted }
    }
}

impl Accumulator for Extreme {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let ty = call.args.first().copied().unwrap_or_default();
        let value: &Datum = argument(args, 0)?;
        if self.is_replaced_by(ty, value) {
            self.best = value.clone();
        }
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.best.clone())
    }
}

pub(super) fn min(_call: &Call<'_>) -> Box<dyn Accumulator> {
    Box::new(Extreme { best: Datum::Null, wanted: Ordering::Less })
}

pub(super) fn max(_call: &Call<'_>) -> Box<dyn Accumulator> {
    Box::new(Extreme { best: Datum::Null, wanted: Ordering::Greater })
}
