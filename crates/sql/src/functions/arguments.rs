//! From values to Rust's types and back, so that an implementation is one expression in a table.
//!
//! The binder gives a function what its declaration says; a value of another kind is an error of
//! ours (`XX000`), never a panic.

use super::Function;
use crate::error::{Result, SqlError};
use crate::types::numeric::Numeric;
use crate::types::{Array, Datum, EnumValue, Interval, RecordValue};
use std::sync::Arc;

/// A name inside of PostgreSQL (or `#OID`) and what it does.
pub(super) type Entry = (&'static str, Function);

/// A Rust type that an argument can be taken as.
pub(super) trait Argument<'a>: Sized {
    /// The value as this type, if it is one.
    fn take(datum: &'a Datum) -> Option<Self>;
}

macro_rules! arguments {
    ($($ty:ty: $pattern:pat => $value:expr;)*) => {$(
        impl<'a> Argument<'a> for $ty {
            fn take(datum: &'a Datum) -> Option<Self> {
                match datum {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        }
    )*};
}

arguments! {
    bool: Datum::Bool(v) => *v;
    i16: Datum::Int2(v) => *v;
    i32: Datum::Int4(v) => *v;
    i64: Datum::Int8(v) => *v;
    u32: Datum::Oid(v) => *v;
    f32: Datum::Float4(v) => *v;
    f64: Datum::Float8(v) => *v;
    &'a str: Datum::Text(v) => v;
    &'a [u8]: Datum::Bytea(v) => v;
    &'a Numeric: Datum::Numeric(v) => v;
    &'a Array: Datum::Array(v) => v;
    &'a RecordValue: Datum::Record(v) => v;
    &'a EnumValue: Datum::Enum(v) => v;
    [u8; 16]: Datum::Uuid(v) => *v;
    Interval: Datum::Interval(v) => *v;
}

impl<'a> Argument<'a> for &'a Datum {
    fn take(datum: &'a Datum) -> Option<Self> {
        Some(datum)
    }
}

impl<'a, T: Argument<'a>> Argument<'a> for Option<T> {
    fn take(datum: &'a Datum) -> Option<Self> {
        if datum.is_null() { Some(None) } else { T::take(datum).map(Some) }
    }
}

/// The argument with this number, from 0.
pub(super) fn argument<'a, T: Argument<'a>>(args: &'a [Datum], number: usize) -> Result<T> {
    let datum = args.get(number);
    datum.and_then(T::take).ok_or_else(|| mismatch(number, datum, std::any::type_name::<T>()))
}

fn mismatch(number: usize, datum: Option<&Datum>, wanted: &str) -> SqlError {
    let number = number + 1;
    SqlError::internal(format!("argument {number} is {datum:?}, where {wanted} was expected"))
}

/// What an implementation may return.
pub(super) trait Outcome {
    /// As a value.
    fn datum(self) -> Result<Datum>;
}

macro_rules! outcomes {
    ($($ty:ty: $value:pat => $datum:expr;)*) => {$(
        impl Outcome for $ty {
            fn datum(self) -> Result<Datum> {
                let $value = self;
                Ok($datum)
            }
        }
    )*};
}

outcomes! {
    bool: v => Datum::Bool(v);
    i16: v => Datum::Int2(v);
    i32: v => Datum::Int4(v);
    i64: v => Datum::Int8(v);
    u32: v => Datum::Oid(v);
    f32: v => Datum::Float4(v);
    f64: v => Datum::Float8(v);
    &str: v => Datum::text(v);
    String: v => Datum::text(v);
    Vec<u8>: v => Datum::Bytea(v.into());
    &[u8]: v => Datum::Bytea(v.into());
    [u8; 16]: v => Datum::Uuid(v);
    Array: v => Datum::Array(Arc::new(v));
    Numeric: v => Datum::Numeric(Arc::new(v));
    Datum: v => v;
    &Datum: v => v.clone();
}

impl<T: Outcome> Outcome for Option<T> {
    fn datum(self) -> Result<Datum> {
        self.map_or(Ok(Datum::Null), T::datum)
    }
}

impl<T: Outcome> Outcome for Result<T> {
    fn datum(self) -> Result<Datum> {
        self?.datum()
    }
}

/// A table of functions: name, arguments with their types, body. `call` names the [`Call`] and
/// `all` the slice of all arguments where the body needs them.
///
/// [`Call`]: super::Call
macro_rules! functions {
    ($($name:expr, ($($arg:ident: $ty:ty),*) $([$call:ident, $all:ident])? => $body:expr;)*) => {
        &[$(($name, {
            #[allow(unused_variables, unused_mut, unused_assignments)]
            fn implementation(
                call: &$crate::functions::Call<'_>,
                args: &[$crate::types::Datum],
            ) -> $crate::error::Result<$crate::types::Datum> {
                $(let ($call, $all) = (call, args);)?
                let mut next = 0;
                $(
                    let $arg: $ty = $crate::functions::arguments::argument(args, next)?;
                    next += 1;
                )*
                $crate::functions::arguments::Outcome::datum($body)
            }
            implementation as $crate::functions::Function
        })),*]
    };
}

/// The six comparisons of a type by the beginnings of their names, from an expression that is an
/// [`std::cmp::Ordering`].
macro_rules! comparisons {
    ($lt:expr, $le:expr, $eq:expr, $ge:expr, $gt:expr, $ne:expr;
     $a:ident: $ta:ty, $b:ident: $tb:ty => $order:expr) => {
        functions! {
            $lt, ($a: $ta, $b: $tb) => $order.is_lt();
            $le, ($a: $ta, $b: $tb) => $order.is_le();
            $eq, ($a: $ta, $b: $tb) => $order.is_eq();
            $ge, ($a: $ta, $b: $tb) => $order.is_ge();
            $gt, ($a: $ta, $b: $tb) => $order.is_gt();
            $ne, ($a: $ta, $b: $tb) => $order.is_ne();
        }
    };
    ($prefix:literal; $a:ident: $ta:ty, $b:ident: $tb:ty => $order:expr) => {
        comparisons!(
            concat!($prefix, "lt"), concat!($prefix, "le"), concat!($prefix, "eq"),
            concat!($prefix, "ge"), concat!($prefix, "gt"), concat!($prefix, "ne");
            $a: $ta, $b: $tb => $order
        )
    };
}
