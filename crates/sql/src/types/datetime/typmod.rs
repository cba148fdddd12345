//! The modifiers of times and intervals: how many digits of a second, and which fields.

use super::keywords::Unit;
use super::{HOUR, MINUTE};
use crate::error::{Result, SqlError, code};
use crate::types::Interval;

/// Digits of a second that are kept at most.
pub const PRECISION_MAX: i32 = 6;
/// The precision in an interval's modifier that means none.
const FULL_PRECISION: i32 = 0xffff;

/// The fields of an interval that are kept, as bits of PostgreSQL's modifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntervalFields(pub i32);

#[allow(missing_docs)]
impl IntervalFields {
    pub const MONTH: IntervalFields = IntervalFields(1 << 1);
    pub const YEAR: IntervalFields = IntervalFields(1 << 2);
    pub const DAY: IntervalFields = IntervalFields(1 << 3);
    pub const HOUR: IntervalFields = IntervalFields(1 << 10);
    pub const MINUTE: IntervalFields = IntervalFields(1 << 11);
    pub const SECOND: IntervalFields = IntervalFields(1 << 12);
    pub const MINUTE_TO_SECOND: IntervalFields = IntervalFields(3 << 11);
    pub const FULL: IntervalFields = IntervalFields(0x7fff);

    /// Whether this field is the last one that is kept.
    fn ends_with(self, field: IntervalFields) -> bool {
        let last = [Self::SECOND, Self::MINUTE, Self::HOUR, Self::DAY, Self::MONTH, Self::YEAR]
            .into_iter()
            .find(|field| self.0 & field.0 != 0);
        last == Some(field)
    }

    /// The unit of a last number that has none.
    pub fn default_unit(self) -> Unit {
        if self == IntervalFields::FULL || self.ends_with(Self::SECOND) {
            return Unit::Second;
        }
        let units = [
            (Self::MINUTE, Unit::Minute),
            (Self::HOUR, Unit::Hour),
            (Self::DAY, Unit::Day),
            (Self::MONTH, Unit::Month),
            (Self::YEAR, Unit::Year),
        ];
        let unit = units.into_iter().find(|(field, _)| self.ends_with(*field));
        unit.map_or(Unit::Second, |(_, unit)| unit)
    }

    /// As SQL writes it behind `interval`; none if all fields are kept.
    pub fn name(self) -> Option<&'static str> {
        let (y, mo, d) = (Self::YEAR.0, Self::MONTH.0, Self::DAY.0);
        let (h, mi, s) = (Self::HOUR.0, Self::MINUTE.0, Self::SECOND.0);
        let names = [
            (y, "year"),
            (mo, "month"),
            (d, "day"),
            (h, "hour"),
            (mi, "minute"),
            (s, "second"),
            (y | mo, "year to month"),
            (d | h, "day to hour"),
            (d | h | mi, "day to minute"),
            (d | h | mi | s, "day to second"),
            (h | mi, "hour to minute"),
            (h | mi | s, "hour to second"),
            (mi | s, "minute to second"),
        ];
        names.into_iter().find(|(bits, _)| *bits == self.0).map(|(_, name)| name)
    }
}

/// The fields and the precision of an interval's modifier.
pub fn decode_interval_typmod(typmod: i32) -> (IntervalFields, Option<i32>) {
    if typmod < 0 {
        return (IntervalFields::FULL, None);
    }
    let precision = typmod & 0xffff;
    (IntervalFields((typmod >> 16) & 0x7fff), (precision != FULL_PRECISION).then_some(precision))
}

/// The modifier of fields and a precision.
pub fn encode_interval_typmod(fields: IntervalFields, precision: Option<i32>) -> i32 {
    (fields.0 << 16) | (precision.unwrap_or(FULL_PRECISION) & 0xffff)
}

/// Rounds microseconds to a precision, halves away from zero.
///
/// PostgreSQL does not look at overflows or the range of timestamps here.
pub fn round_micros(micros: i64, precision: i32) -> i64 {
    if !(0..PRECISION_MAX).contains(&precision) {
        return micros;
    }
    let scale = 10i64.pow((PRECISION_MAX - precision) as u32);
    let half = if micros < 0 { -(scale / 2) } else { scale / 2 };
    micros.wrapping_add(half) / scale * scale
}

/// Drops the fields of an interval that are behind its last one, and rounds its seconds.
pub fn apply_interval_typmod(interval: Interval, typmod: i32) -> Interval {
    let (fields, precision) = decode_interval_typmod(typmod);
    let mut kept = interval;
    if fields != IntervalFields::FULL {
        if fields.ends_with(IntervalFields::YEAR) {
            kept.months = interval.months / 12 * 12;
        }
        if fields.ends_with(IntervalFields::YEAR) || fields.ends_with(IntervalFields::MONTH) {
            (kept.days, kept.micros) = (0, 0);
        } else if fields.ends_with(IntervalFields::DAY) {
            kept.micros = 0;
        } else if fields.ends_with(IntervalFields::HOUR) {
            kept.micros = interval.micros / HOUR * HOUR;
        } else if fields.ends_with(IntervalFields::MINUTE) {
            kept.micros = interval.micros / MINUTE * MINUTE;
        }
    }
    if let Some(precision) = precision {
        kept.micros = round_micros(kept.micros, precision);
    }
    kept
}

/// Checks the precision in parentheses behind a type; more digits than six become six.
pub fn check_precision(precision: i64, name: &str) -> Result<i32> {
    if precision < 0 {
        let message = format!("{name} precision must not be negative");
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    Ok(precision.min(i64::from(PRECISION_MAX)) as i32)
}
