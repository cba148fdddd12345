//! Numbers in PostgreSQL's binary format: digits of base 10,000.

use super::{Decimal, Numeric, WEIGHT_DIGITS, ten};
use crate::error::{Result, SqlError, code};
use num_bigint::BigInt;
use num_traits::Signed;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const POS_INFINITY: u16 = 0xD000;
const NEG_INFINITY: u16 = 0xF000;

fn invalid(what: &str) -> SqlError {
    let message = format!("invalid {what} in external \"numeric\" value");
    SqlError::new(code::INVALID_BINARY_REPRESENTATION, message)
}

/// The head of the format: how many digits, the exponent of the first, sign and scale.
struct Head {
    count: i16,
    weight: i16,
    sign: u16,
    scale: i16,
}

impl Numeric {
    /// The binary format.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Numeric::NaN => pack(Head { count: 0, weight: 0, sign: NAN, scale: 0 }, &[]),
            // PostgreSQL's infinities have this scale.
            Numeric::PosInfinity => {
                pack(Head { count: 0, weight: 0, sign: POS_INFINITY, scale: 0x20 }, &[])
            }
            Numeric::NegInfinity => {
                pack(Head { count: 0, weight: 0, sign: NEG_INFINITY, scale: 0x20 }, &[])
            }
            Numeric::Finite(decimal) => decimal.to_bytes(),
        }
    }

    /// From the binary format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Numeric> {
        let words: Vec<u16> =
            bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        let [count, weight, sign, scale, ref digits @ ..] = *words else {
            return Err(SqlError::new(
                code::PROTOCOL_VIOLATION,
                "insufficient data left in message",
            ));
        };
        if usize::from(count) != digits.len() || !bytes.len().is_multiple_of(2) {
            return Err(invalid("length"));
        }
        match sign {
            NAN => return Ok(Numeric::NaN),
            POS_INFINITY => return Ok(Numeric::PosInfinity),
            NEG_INFINITY => return Ok(Numeric::NegInfinity),
            0 | NEGATIVE => {}
            _ => return Err(invalid("sign")),
        }
        if scale > super::SCALE_MAX as u16 {
            return Err(invalid("scale"));
        }
        let magnitude = from_digits(digits, weight as i16)?.trunc(i64::from(scale))?;
        Ok(if sign == NEGATIVE { magnitude.neg() } else { magnitude })
    }
}

/// The number that digits of base 10,000 form.
fn from_digits(digits: &[u16], weight: i16) -> Result<Numeric> {
    if digits.iter().any(|digit| *digit > 9999) {
        return Err(invalid("digit"));
    }
    let text: String = digits.iter().map(|digit| format!("{digit:04}")).collect();
    let whole = BigInt::parse_bytes(text.as_bytes(), 10).unwrap_or_default();
    let behind = (digits.len() as i64 - 1 - i64::from(weight)) * WEIGHT_DIGITS;
    match u32::try_from(behind) {
        // The scale may pass the limit by a part of one digit, which is cut off afterwards.
        Ok(behind) => Ok(Numeric::Finite(Decimal { unscaled: whole, scale: behind })),
        Err(_) => Numeric::finite(whole * ten(behind.unsigned_abs() as u32), 0),
    }
}

impl Decimal {
    fn to_bytes(&self) -> Vec<u8> {
        let (digits, weight) = self.digits();
        let sign = if self.unscaled.is_negative() { NEGATIVE } else { 0 };
        let head = Head {
            count: digits.len() as i16,
            weight: weight as i16,
            sign,
            scale: self.scale as i16,
        };
        pack(head, &digits)
    }

    /// The digits of base 10,000 without zeros at both ends, and the exponent of the first.
    fn digits(&self) -> (Vec<u16>, i64) {
        let padding = (4 - self.scale % 4) % 4;
        let text = (self.unscaled.abs() * ten(padding)).to_string();
        let behind = i64::from((self.scale + padding) / 4);
        let text = format!("{}{text}", "0".repeat((4 - text.len() % 4) % 4));
        let mut digits: Vec<u16> =
            (0..text.len()).step_by(4).map(|at| text[at..at + 4].parse().unwrap_or(0)).collect();
        let mut weight = digits.len() as i64 - 1 - behind;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        weight -= zeros as i64;
        if digits.is_empty() { (digits, 0) } else { (digits, weight) }
    }
}

fn pack(head: Head, digits: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + digits.len() * 2);
    bytes.extend(head.count.to_be_bytes());
    bytes.extend(head.weight.to_be_bytes());
    bytes.extend(head.sign.to_be_bytes());
    bytes.extend(head.scale.to_be_bytes());
    for digit in digits {
        bytes.extend(digit.to_be_bytes());
    }
    bytes
}
