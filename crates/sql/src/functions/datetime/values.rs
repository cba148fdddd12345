//! The values of dates and times as Rust's types, for tables of functions.

use crate::error::Result;
use crate::functions::arguments::{Argument, Outcome};
use crate::types::{Datum, Interval};

/// Days since 2000-01-01.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub i32);

/// Microseconds since midnight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

/// Microseconds since midnight, and seconds west of UTC.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TimeTz(pub i64, pub i32);

/// A timestamp with or without a zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub i64);

/// An interval as a result.
#[derive(Clone, Copy)]
pub struct Span(pub Interval);

macro_rules! wrapped {
    ($($ty:ty: $pattern:pat => $value:expr, $back:expr;)*) => {$(
        impl<'a> Argument<'a> for $ty {
            fn take(datum: &'a Datum) -> Option<Self> {
                match datum {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        }

        impl Outcome for $ty {
            fn datum(self) -> Result<Datum> {
                Ok($back(self))
            }
        }
    )*};
}

wrapped! {
    Date: Datum::Date(v) => Date(*v), |v: Date| Datum::Date(v.0);
    Time: Datum::Time(v) => Time(*v), |v: Time| Datum::Time(v.0);
    TimeTz: Datum::TimeTz(v, west) => TimeTz(*v, *west), |v: TimeTz| Datum::TimeTz(v.0, v.1);
    Stamp: Datum::Timestamp(v) => Stamp(*v), |v: Stamp| Datum::Timestamp(v.0);
    Span: Datum::Interval(v) => Span(*v), |v: Span| Datum::Interval(v.0);
}

impl Date {
    /// Whether it is not one of the infinities.
    pub fn is_finite(self) -> bool {
        crate::types::datetime::is_finite_date(self.0)
    }
}

impl Stamp {
    /// Whether it is not one of the infinities.
    pub fn is_finite(self) -> bool {
        crate::types::datetime::is_finite(self.0)
    }
}

impl TimeTz {
    /// The order: by instant, then by zone.
    pub fn cmp(self, other: TimeTz) -> std::cmp::Ordering {
        crate::types::compare::compare_timetz((self.0, self.1), (other.0, other.1))
    }
}
