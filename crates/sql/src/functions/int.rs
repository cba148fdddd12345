//! smallint, integer and bigint, also with each other. What does not fit is an error, never a
//! number that wrapped.

use super::arguments::Entry;
use crate::error::{Result, SqlError, code};

/// A result that does not fit into this type of integer.
pub(super) fn out_of_range<T: Integer>() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, format!("{} out of range", T::NAME))
}

/// A division by zero.
pub(super) fn division_by_zero() -> SqlError {
    SqlError::new(code::DIVISION_BY_ZERO, "division by zero")
}

/// A type of integers with the arithmetic that PostgreSQL has for it.
pub(super) trait Integer: Copy + Ord + Default + TryFrom<i128> + Into<i128> {
    /// Its name in messages.
    const NAME: &'static str;
    /// How many bits it has.
    const BITS: u32;
    fn shift_left(self, by: u32) -> Self;
    fn shift_right(self, by: u32) -> Self;
}

macro_rules! integers {
    ($($ty:ty, $name:literal;)*) => {$(
        impl Integer for $ty {
            const NAME: &'static str = $name;
            const BITS: u32 = <$ty>::BITS;
            fn shift_left(self, by: u32) -> Self {
                self.wrapping_shl(by)
            }
            fn shift_right(self, by: u32) -> Self {
                self.wrapping_shr(by)
            }
        }
    )*};
}

integers! {
    i16, "smallint";
    i32, "integer";
    i64, "bigint";
}

/// The result if it fits. Sums and products of two bigints fit into the wider type.
pub(super) fn fit<T: Integer>(value: i128) -> Result<T> {
    T::try_from(value).map_err(|_| out_of_range::<T>())
}

fn add<T: Integer>(a: impl Into<i128>, b: impl Into<i128>) -> Result<T> {
    fit(a.into() + b.into())
}

fn subtract<T: Integer>(a: impl Into<i128>, b: impl Into<i128>) -> Result<T> {
    fit(a.into() - b.into())
}

fn multiply<T: Integer>(a: impl Into<i128>, b: impl Into<i128>) -> Result<T> {
    fit(a.into() * b.into())
}

fn divide<T: Integer>(a: impl Into<i128>, b: impl Into<i128>) -> Result<T> {
    match b.into() {
        0 => Err(division_by_zero()),
        b => fit(a.into() / b),
    }
}

fn modulo<T: Integer>(a: T, b: T) -> Result<T> {
    match b.into() {
        0 => Err(division_by_zero()),
        b => fit(a.into() % b),
    }
}

fn negate<T: Integer>(a: T) -> Result<T> {
    fit(-a.into())
}

fn absolute<T: Integer>(a: T) -> Result<T> {
    fit(a.into().abs())
}

fn gcd<T: Integer>(a: T, b: T) -> Result<T> {
    fit(num_integer::gcd(a.into(), b.into()))
}

fn lcm<T: Integer>(a: T, b: T) -> Result<T> {
    fit(num_integer::lcm(a.into(), b.into()))
}

/// PostgreSQL leaves shifts by too much to the processor, which takes them modulo the size; a
/// smallint is shifted as an integer and cut.
fn shift_left<T: Integer>(a: T, by: i32) -> T {
    if T::BITS < 32 && by as u32 % 32 >= T::BITS { T::default() } else { a.shift_left(by as u32) }
}

fn shift_right<T: Integer>(a: T, by: i32) -> T {
    let by = by as u32;
    let by = if T::BITS < 32 { (by % 32).min(T::BITS - 1) } else { by };
    a.shift_right(by)
}

/// Whether a value is within an offset of another one, for frames of windows.
fn in_range(value: i128, base: i128, offset: i128, before: bool, less: bool) -> Result<bool> {
    if offset < 0 {
        let message = "invalid preceding or following size in window function";
        return Err(SqlError::new(code::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message));
    }
    let bound = if before { base - offset } else { base + offset };
    Ok(if less { value <= bound } else { value >= bound })
}

macro_rules! ranges {
    ($($name:literal, $value:ty, $offset:ty;)*) => {
        functions! {$(
            $name, (value: $value, base: $value, offset: $offset, before: bool, less: bool) =>
                in_range(value.into(), base.into(), offset.into(), before, less);
        )*}
    };
}

/// What each type has with itself.
macro_rules! own {
    ($prefix:literal, $ty:ty) => {
        functions! {
            concat!($prefix, "pl"), (a: $ty, b: $ty) => add::<$ty>(a, b);
            concat!($prefix, "mi"), (a: $ty, b: $ty) => subtract::<$ty>(a, b);
            concat!($prefix, "mul"), (a: $ty, b: $ty) => multiply::<$ty>(a, b);
            concat!($prefix, "div"), (a: $ty, b: $ty) => divide::<$ty>(a, b);
            concat!($prefix, "mod"), (a: $ty, b: $ty) => modulo(a, b);
            concat!($prefix, "um"), (a: $ty) => negate(a);
            concat!($prefix, "up"), (a: $ty) => a;
            concat!($prefix, "abs"), (a: $ty) => absolute(a);
            concat!($prefix, "larger"), (a: $ty, b: $ty) => a.max(b);
            concat!($prefix, "smaller"), (a: $ty, b: $ty) => a.min(b);
            concat!($prefix, "and"), (a: $ty, b: $ty) => a & b;
            concat!($prefix, "or"), (a: $ty, b: $ty) => a | b;
            concat!($prefix, "xor"), (a: $ty, b: $ty) => a ^ b;
            concat!($prefix, "not"), (a: $ty) => !a;
            concat!($prefix, "shl"), (a: $ty, b: i32) => shift_left(a, b);
            concat!($prefix, "shr"), (a: $ty, b: i32) => shift_right(a, b);
        }
    };
}

/// What two types have with each other; the result is the wider one.
macro_rules! cross {
    ($prefix:literal, $a:ty, $b:ty, $wide:ty) => {
        functions! {
            concat!($prefix, "pl"), (a: $a, b: $b) => add::<$wide>(a, b);
            concat!($prefix, "mi"), (a: $a, b: $b) => subtract::<$wide>(a, b);
            concat!($prefix, "mul"), (a: $a, b: $b) => multiply::<$wide>(a, b);
            concat!($prefix, "div"), (a: $a, b: $b) => divide::<$wide>(a, b);
        }
    };
}

pub(super) const TABLES: &[&[Entry]] = &[
    own!("int2", i16),
    own!("int4", i32),
    own!("int8", i64),
    cross!("int24", i16, i32, i32),
    cross!("int42", i32, i16, i32),
    cross!("int28", i16, i64, i64),
    cross!("int82", i64, i16, i64),
    cross!("int48", i32, i64, i64),
    cross!("int84", i64, i32, i64),
    comparisons!("int2"; a: i16, b: i16 => a.cmp(&b)),
    comparisons!("int4"; a: i32, b: i32 => a.cmp(&b)),
    comparisons!("int8"; a: i64, b: i64 => a.cmp(&b)),
    comparisons!("int24"; a: i16, b: i32 => i32::from(a).cmp(&b)),
    comparisons!("int42"; a: i32, b: i16 => a.cmp(&i32::from(b))),
    comparisons!("int28"; a: i16, b: i64 => i64::from(a).cmp(&b)),
    comparisons!("int82"; a: i64, b: i16 => a.cmp(&i64::from(b))),
    comparisons!("int48"; a: i32, b: i64 => i64::from(a).cmp(&b)),
    comparisons!("int84"; a: i64, b: i32 => a.cmp(&i64::from(b))),
    ranges! {
        "in_range_int2_int2", i16, i16;
        "in_range_int2_int4", i16, i32;
        "in_range_int2_int8", i16, i64;
        "in_range_int4_int2", i32, i16;
        "in_range_int4_int4", i32, i32;
        "in_range_int4_int8", i32, i64;
        "in_range_int8_int8", i64, i64;
    },
    functions! {
        "int4gcd", (a: i32, b: i32) => gcd(a, b);
        "int8gcd", (a: i64, b: i64) => gcd(a, b);
        "int4lcm", (a: i32, b: i32) => lcm(a, b);
        "int8lcm", (a: i64, b: i64) => lcm(a, b);
        "int4inc", (a: i32) => add::<i32>(a, 1);
        "int8inc", (a: i64) => add::<i64>(a, 1);
        "int8dec", (a: i64) => subtract::<i64>(a, 1);
        "i2toi4", (a: i16) => i32::from(a);
        "i4toi2", (a: i32) => fit::<i16>(a.into());
        "int28", (a: i16) => i64::from(a);
        "int48", (a: i32) => i64::from(a);
        "int82", (a: i64) => fit::<i16>(a.into());
        "int84", (a: i64) => fit::<i32>(a.into());
        "to_hex32", (a: i32) => format!("{a:x}");
        "to_hex64", (a: i64) => format!("{a:x}");
    },
];
