//! The shortest digits of a float that are strictly nearer to it than to its neighbours.
//!
//! Rust's shortest digits may lie exactly between two floats if rounding to even reads them back;
//! PostgreSQL's may not, so that it writes 1e23 as 9.999999999999999e22. A decimal of so few
//! digits can only be such a middle if it is an integer.

use num_bigint::BigInt;
use num_traits::FromPrimitive;

/// In scientific notation.
pub(super) fn float8(value: f64) -> String {
    let bits = value.abs().to_bits();
    let neighbours = [bits.saturating_sub(1), bits + 1].map(f64::from_bits);
    let text = format!("{value:e}");
    shortest(value, neighbours, &text, |text| text.parse() == Ok(value))
}

/// In scientific notation.
pub(super) fn float4(value: f32) -> String {
    let bits = value.abs().to_bits();
    let neighbours = [bits.saturating_sub(1), bits + 1].map(|bits| f32::from_bits(bits).into());
    let text = format!("{value:e}");
    shortest(value.into(), neighbours, &text, |text| text.parse() == Ok(value))
}

fn shortest(value: f64, around: [f64; 2], text: &str, same: impl Fn(&str) -> bool) -> String {
    // Smaller numbers have neighbours that no short integer is in the middle of.
    if value.abs() < f64::from(1 << 24) || !is_middle(value, around, text) {
        return text.to_owned();
    }
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let longer = (digits.min(17)..=17).map(|precision| format!("{value:.precision$e}"));
    let fits = |text: &String| same(text) && !is_middle(value, around, text);
    longer.map(|text| without_zeros(&text)).find(fits).unwrap_or_else(|| text.to_owned())
}

fn without_zeros(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    if !mantissa.contains('.') {
        return text.to_owned();
    }
    format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

/// Whether a decimal is exactly between a number and one of those around it.
fn is_middle(value: f64, around: [f64; 2], text: &str) -> bool {
    let Some(decimal) = integer(text) else {
        return false;
    };
    let exact = |number: f64| BigInt::from_f64(number).filter(|_| number.fract() == 0.0);
    let Some(value) = exact(value.abs()) else {
        return false;
    };
    let doubled = decimal * 2;
    around.into_iter().filter_map(exact).any(|neighbour| &value + neighbour == doubled)
}

/// The magnitude of a decimal in scientific notation, if it is an integer.
fn integer(text: &str) -> Option<BigInt> {
    let (mantissa, exponent) = text.trim_start_matches('-').split_once('e')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = exponent.parse::<u32>().ok()?.checked_sub(fraction.len() as u32)?;
    let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
    Some(digits * BigInt::from(10).pow(zeros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_never_in_the_middle() {
        // What PostgreSQL writes for these.
        assert_eq!(float4(30_000_001_024.0), "3.0000001e10");
        assert_eq!(float4(-30_000_001_024.0), "-3.0000001e10");
        assert_eq!(float8(1.599_999_999_24e19), "1.5999999992399999e19");
        assert_eq!(float8(1e23), "9.999999999999999e22");
        assert_eq!(float8(9_007_199_254_740_992.0), "9.007199254740992e15");
        assert_eq!(float8(f64::MAX), "1.7976931348623157e308");
        assert_eq!(float4(f32::MAX), "3.4028235e38");
        assert_eq!(float4(16_777_216.0), "1.6777216e7");
        assert_eq!(float8(0.1), "1e-1");
    }
}
