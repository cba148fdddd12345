//! Times with colons, offsets of zones, and fractions.

use super::decode::ParseError;

/// A time in parts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Clock {
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micros: i64,
}

/// The 32-bit integer at the beginning, and what is behind it. 0 if there are no digits.
pub fn leading_integer(text: &str) -> Result<(i64, &str), ParseError> {
    let (value, rest) = leading_wide(text)?;
    match i32::try_from(value) {
        Ok(_) => Ok((value, rest)),
        Err(_) => Err(ParseError::Field),
    }
}

/// The 64-bit integer at the beginning, and what is behind it.
pub fn leading_wide(text: &str) -> Result<(i64, &str), ParseError> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(sign + digits);
    if digits == 0 {
        return Ok((0, text));
    }
    number.parse().map(|value| (value, rest)).map_err(|_| ParseError::Field)
}

/// A fraction with its point: `.5` is 0.5, `.` is 0.
pub fn fraction(text: &str) -> Result<f64, ParseError> {
    let digits = text.strip_prefix('.').ok_or(ParseError::Format)?;
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ParseError::Format);
    }
    if digits.is_empty() {
        return Ok(0.0);
    }
    text.parse().map_err(|_| ParseError::Format)
}

/// Microseconds of a fraction of a second.
pub fn fraction_micros(text: &str) -> Result<i64, ParseError> {
    Ok((fraction(text)? * 1e6).round_ties_even() as i64)
}

/// `hh:mm`, `hh:mm:ss` or `mm:ss.fraction`. Two parts are minutes and seconds if `minutes` say so.
/// The caller checks the hours.
pub fn decode_time(text: &str, minutes: bool) -> Result<Clock, ParseError> {
    let (hour, rest) = leading_wide(text)?;
    let rest = rest.strip_prefix(':').ok_or(ParseError::Format)?;
    let (minute, rest) = leading_integer(rest)?;
    let time = match rest.as_bytes().first() {
        None if minutes => Clock { hour: 0, minute: hour, second: minute, micros: 0 },
        None => Clock { hour, minute, second: 0, micros: 0 },
        Some(b'.') => {
            Clock { hour: 0, minute: hour, second: minute, micros: fraction_micros(rest)? }
        }
        Some(b':') => {
            let (second, rest) = leading_integer(&rest[1..])?;
            let micros = if rest.is_empty() { 0 } else { fraction_micros(rest)? };
            Clock { hour, minute, second, micros }
        }
        _ => return Err(ParseError::Format),
    };
    let valid = time.hour >= 0 && (0..60).contains(&time.minute) && (0..=60).contains(&time.second);
    if valid { Ok(time) } else { Err(ParseError::Field) }
}

/// Seconds east of UTC: `+hh`, `+hhmm`, `+hh:mm` or `+hh:mm:ss`.
pub fn parse_offset(text: &str) -> Result<i64, ParseError> {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(ParseError::Format),
    };
    let part = |text| leading_integer(text).map_err(|_| ParseError::Zone);
    let (mut hour, mut rest) = part(&text[1..])?;
    let (mut minute, mut second) = (0, 0);
    if let Some(minutes) = rest.strip_prefix(':') {
        (minute, rest) = part(minutes)?;
        if let Some(seconds) = rest.strip_prefix(':') {
            (second, rest) = part(seconds)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hour, minute) = (hour / 100, hour % 100);
    }
    let in_range = (0..=15).contains(&hour) && (0..60).contains(&minute);
    if !in_range || !(0..60).contains(&second) {
        return Err(ParseError::Zone);
    }
    if !rest.is_empty() {
        return Err(ParseError::Format);
    }
    Ok(sign * (hour * 3600 + minute * 60 + second))
}
