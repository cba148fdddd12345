//! Numbers and times in sentences.

use std::time::Duration;

pub(crate) fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        return format!("{:.1} ms", time.as_secs_f64() * 1e3);
    }
    format!("{:.2} s", time.as_secs_f64())
}

/// `1 read`, `2 reads`; thousands are grouped.
pub fn plural(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(count))
}

/// A number with its thousands grouped: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
