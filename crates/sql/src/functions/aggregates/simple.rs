//! Aggregates that fold their rows by one operation: counting, AND, OR, XOR.

use super::{Accumulator, Call};
use crate::error::{Result, SqlError};
use crate::functions::{Function, registry};
use crate::types::{Datum, Oid};

/// How many rows.
#[derive(Default)]
pub(super) struct Count(i64);

impl Accumulator for Count {
    fn add(&mut self, _call: &Call<'_>, _args: &[Datum]) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(Datum::Int8(self.0))
    }
}

/// The first value, and an operation for each further one.
struct Fold {
    state: Datum,
    operation: Option<Function>,
}

impl Accumulator for Fold {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let Some(value) = args.first() else {
            return Err(SqlError::internal("an aggregate without argument"));
        };
        if self.state.is_null() {
            self.state = value.clone();
            return Ok(());
        }
        let operation = self.operation.ok_or_else(|| SqlError::unsupported("this aggregate"))?;
        let state = std::mem::replace(&mut self.state, Datum::Null);
        self.state = operation(call, &[state, value.clone()])?;
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.state.clone())
    }
}

/// A fold by the function of this name.
fn fold(operation: &str) -> Box<dyn Accumulator> {
    Box::new(Fold { state: Datum::Null, operation: registry::function(0, operation) })
}

pub(super) fn all(_call: &Call<'_>) -> Box<dyn Accumulator> {
    fold("booland_statefunc")
}

pub(super) fn any(_call: &Call<'_>) -> Box<dyn Accumulator> {
    fold("boolor_statefunc")
}

/// The bitwise operation of the argument's type.
fn bits(call: &Call<'_>, operation: &str) -> Box<dyn Accumulator> {
    let prefix = match call.args.first() {
        Some(&Oid::INT2) => "int2",
        Some(&Oid::INT4) => "int4",
        Some(&Oid::INT8) => "int8",
        _ if operation == "xor" => return fold("bitxor"),
        _ => return fold(&format!("bit_{operation}")),
    };
    fold(&format!("{prefix}{operation}"))
}

pub(super) fn bit_and(call: &Call<'_>) -> Box<dyn Accumulator> {
    bits(call, "and")
}

pub(super) fn bit_or(call: &Call<'_>) -> Box<dyn Accumulator> {
    bits(call, "or")
}

pub(super) fn bit_xor(call: &Call<'_>) -> Box<dyn Accumulator> {
    bits(call, "xor")
}
