//! `numeric(precision, scale)`.

use super::{Numeric, SCALE_MAX, ten};
use crate::error::{Result, SqlError, code};
use num_traits::{Signed, Zero};

/// The modifiers of a numeric column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Typmod {
    /// How many digits in all.
    pub precision: i32,
    /// How many of them behind the point; negative: how many zeros before it.
    pub scale: i32,
}

fn invalid(message: String) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

impl Typmod {
    /// From the list of modifiers in parentheses.
    pub fn from_modifiers(modifiers: &[i64]) -> Result<Typmod> {
        let (precision, scale) = match *modifiers {
            [precision] => (precision, 0),
            [precision, scale] => (precision, scale),
            _ => return Err(invalid("invalid NUMERIC type modifier".into())),
        };
        if !(1..=1000).contains(&precision) {
            let message = format!("NUMERIC precision {precision} must be between 1 and 1000");
            return Err(invalid(message));
        }
        if !(-1000..=1000).contains(&scale) {
            let message = format!("NUMERIC scale {scale} must be between -1000 and 1000");
            return Err(invalid(message));
        }
        Ok(Typmod { precision: precision as i32, scale: scale as i32 })
    }

    /// From PostgreSQL's number for it; none if that is -1.
    pub fn decode(typmod: i32) -> Option<Typmod> {
        if typmod < 4 {
            return None;
        }
        let packed = typmod - 4;
        // The scale is a signed number of 11 bits.
        let scale = ((packed & 0x7ff) ^ 1024) - 1024;
        Some(Typmod { precision: (packed >> 16) & 0xffff, scale })
    }

    /// As PostgreSQL's number.
    pub fn encode(self) -> i32 {
        ((self.precision << 16) | (self.scale & 0x7ff)) + 4
    }
}

impl Numeric {
    /// Rounds to the scale of the modifiers and checks that the precision is enough.
    pub fn with_typmod(&self, typmod: Typmod) -> Result<Numeric> {
        let Typmod { precision, scale } = typmod;
        let decimal = match self {
            Numeric::NaN => return Ok(Numeric::NaN),
            Numeric::PosInfinity | Numeric::NegInfinity => {
                return Err(field_overflow(format!(
                    "A field with precision {precision}, scale {scale} \
                     cannot hold an infinite value."
                )));
            }
            Numeric::Finite(decimal) => decimal,
        };
        let rounded = self.round(i64::from(scale))?;
        let whole = precision - scale;
        let unscaled = rounded.as_finite().unwrap_or(decimal).unscaled().abs();
        // 10^(precision - scale), in units of the rounded number's last place.
        let exponent = if scale < 0 { whole } else { precision };
        let limit = ten(exponent.clamp(0, SCALE_MAX as i32) as u32);
        if unscaled < limit || unscaled.is_zero() {
            return Ok(rounded);
        }
        let bound = if whole == 0 { "1".to_string() } else { format!("10^{whole}") };
        Err(field_overflow(format!(
            "A field with precision {precision}, scale {scale} \
             must round to an absolute value less than {bound}."
        )))
    }
}

fn field_overflow(detail: String) -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail)
}
