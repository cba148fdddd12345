//! `to_char` of each type of number: its digits, as far as the template has places for them.

use super::number::Picture;
use super::number_write::{Digits, write};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::numeric::Numeric;

/// The significant digits of doubles and floats.
const DOUBLE_DIGITS: usize = 15;
const FLOAT_DIGITS: usize = 6;

const ROMAN: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

/// Roman digits; there are none below 1 and above 3999.
fn roman(number: i64) -> String {
    if !(1..=3999).contains(&number) {
        return "#".repeat(15);
    }
    let (mut rest, mut text) = (number, String::new());
    for (value, digits) in ROMAN {
        while rest >= value {
            text.push_str(digits);
            rest -= value;
        }
    }
    text
}

fn plain(text: String) -> Digits {
    Digits { text, negative: false, spaces: 0 }
}

/// Digits with a sign, compared with the places of the template.
fn fitted(signed: &str, before: usize, behind: usize) -> Digits {
    let (negative, text) = match signed.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, signed),
    };
    let whole = text.find('.').unwrap_or(text.len());
    if whole > before {
        let text = format!("{}.{}", "#".repeat(before), "#".repeat(behind));
        return Digits { text, negative, spaces: 0 };
    }
    Digits { text: text.into(), negative, spaces: before - whole }
}

/// What an exponent cannot say.
fn no_exponent(picture: &Picture) -> Digits {
    let (before, behind) = (picture.before, picture.behind);
    let mut text: Vec<u8> = vec![b'#'; before + behind + 6];
    text[0] = b' ';
    text[before + 1] = b'.';
    plain(String::from_utf8_lossy(&text).into_owned())
}

/// A space where a minus would be.
fn aligned(text: String) -> Digits {
    plain(if text.starts_with('-') { text } else { format!(" {text}") })
}

/// The mantissa and the exponent, both with signs as C writes them.
fn scientific(number: &Numeric, digits: usize) -> Result<String> {
    let trimmed = number.abs().to_string();
    let all: String = trimmed.chars().filter(char::is_ascii_digit).collect();
    let point = trimmed.find('.').unwrap_or(trimmed.len()) as i64;
    let exponent = match all.find(|c| c != '0') {
        Some(first) => point - 1 - first as i64,
        None => 0,
    };
    let shifted = shift(number, -exponent)?.round(digits as i64)?;
    let mark = if exponent < 0 { '-' } else { '+' };
    Ok(format!("{shifted}e{mark}{:02}", exponent.abs()))
}

/// A number times a power of ten, exactly.
fn shift(number: &Numeric, power: i64) -> Result<Numeric> {
    number.mul(&Numeric::parse(&format!("1e{power}"))?)
}

fn numeric(number: &Numeric, template: &str) -> Result<String> {
    if template.is_empty() {
        return Ok(String::new());
    }
    let picture = Picture::parse(template)?;
    let digits = if picture.is_roman {
        plain(roman(roman_integer(number)?))
    } else if picture.has_exponent {
        match number.as_finite() {
            Some(_) => aligned(scientific(number, picture.behind)?),
            None => no_exponent(&picture),
        }
    } else {
        let shifted = match picture.has_shift {
            true => shift(number, picture.shift as i64)?,
            false => number.clone(),
        };
        let rounded = shifted.round(picture.behind as i64)?.to_string();
        fitted(&rounded, picture.before + shift_places(&picture), picture.behind)
    };
    write(&widened(picture), &digits)
}

fn shift_places(picture: &Picture) -> usize {
    if picture.has_shift { picture.shift } else { 0 }
}

/// Digits behind `V` have places like those before it.
fn widened(mut picture: Picture) -> Picture {
    if picture.has_shift {
        picture.before += picture.shift;
    }
    picture
}

fn roman_integer(number: &Numeric) -> Result<i64> {
    let special = match number {
        Numeric::Finite(_) => None,
        Numeric::NaN => Some("NaN"),
        _ => Some("infinity"),
    };
    if let Some(special) = special {
        let message = format!("cannot convert {special} to integer");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let wide = number.to_i64().filter(|wide| i32::try_from(*wide).is_ok());
    wide.ok_or_else(|| out_of_range("integer out of range"))
}

fn out_of_range(message: &str) -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
}

/// An integer of 32 bits; PostgreSQL does not look at overflows of what `V` makes of it.
fn shifted_int4(number: i64, power: u32) -> Result<i64> {
    let factor = 10f64.powi(power as i32) as i32;
    Ok(i64::from((number as i32).wrapping_mul(factor)))
}

/// An integer of 64 bits; what `V` makes of it must fit too.
fn shifted_int8(number: i64, power: u32) -> Result<i64> {
    let shifted = 10i64.checked_pow(power).and_then(|power| number.checked_mul(power));
    shifted.ok_or_else(|| out_of_range("bigint out of range"))
}

fn int4_scientific(number: i64, digits: usize) -> Result<String> {
    Ok(float_scientific(number as f64, digits))
}

fn int8_scientific(number: i64, digits: usize) -> Result<String> {
    scientific(&Numeric::from_i64(number), digits)
}

fn integer(
    number: i64,
    template: &str,
    shift: fn(i64, u32) -> Result<i64>,
    scientific: fn(i64, usize) -> Result<String>,
) -> Result<String> {
    if template.is_empty() {
        return Ok(String::new());
    }
    let picture = Picture::parse(template)?;
    let digits = if picture.is_roman {
        let small = i32::try_from(number).map_err(|_| out_of_range("integer out of range"))?;
        plain(roman(i64::from(small)))
    } else if picture.has_exponent {
        aligned(scientific(number, picture.behind)?)
    } else {
        let shifted = shift(number, shift_places(&picture) as u32)?;
        let zeros = "0".repeat(picture.behind);
        let point = if picture.behind > 0 { "." } else { "" };
        let text = format!("{shifted}{point}{zeros}");
        fitted(&text, picture.before + shift_places(&picture), picture.behind)
    };
    write(&widened(picture), &digits)
}

/// A double or float; digits beyond its precision are not written.
fn float(value: f64, template: &str, precision: usize) -> Result<String> {
    if template.is_empty() {
        return Ok(String::new());
    }
    let mut picture = Picture::parse(template)?;
    let digits = if picture.is_roman {
        plain(roman(value.round_ties_even() as i64))
    } else if picture.has_exponent {
        match value.is_finite() {
            true => aligned(float_scientific(value, picture.behind)),
            false => no_exponent(&picture),
        }
    } else {
        let shifted = value * 10f64.powi(shift_places(&picture) as i32);
        let whole = fixed(shifted.abs(), 0).len();
        picture.behind = picture.behind.min(precision.saturating_sub(whole));
        let text = fixed(shifted, picture.behind);
        fitted(&text, picture.before + shift_places(&picture), picture.behind)
    };
    write(&widened(picture), &digits)
}

/// As C's `%.*f`, which writes infinities and NaN in words.
fn fixed(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    format!("{value:.digits$}")
}

/// As C's `%.*e`.
fn float_scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mark = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{mark}{:02}", exponent.abs())
}

pub(super) const TABLE: &[Entry] = functions! {
    "numeric_to_char", (a: &Numeric, template: &str) => numeric(a, template);
    "int4_to_char", (a: i32, template: &str) =>
        integer(i64::from(a), template, shifted_int4, int4_scientific);
    "int8_to_char", (a: i64, template: &str) =>
        integer(a, template, shifted_int8, int8_scientific);
    "float4_to_char", (a: f32, template: &str) => float(f64::from(a), template, FLOAT_DIGITS);
    "float8_to_char", (a: f64, template: &str) => float(a, template, DOUBLE_DIGITS);
};
