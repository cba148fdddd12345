//! Numbers with units, as flags have them.

use std::time::Duration;

/// How many of something: at least one, and at most `max`; `example` is a flag with such a number.
pub fn count<T: TryFrom<u64>>(
    max: u64,
    example: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| (1..=max).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match max {
            u64::MAX => format!("expected a number, at least 1, like {example}"),
            _ => format!("expected a number from 1 to {max}, like {example}"),
        })
    }
}

/// A time: a number with one of the units ms, s, m and h; seconds without one.
pub fn duration(text: &str) -> Result<Duration, String> {
    let expected =
        || "expected a time like 30s, 500ms, 2m or 1h (without a unit: seconds)".to_owned();
    let (number, unit) = split(text);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| "this time is out of range".to_owned())
}

/// A size in bytes: a number with one of the units K, M, G and T, which are powers of 1024 (also
/// KiB and so on); KB and so on are powers of 1000. A bare number is refused: it is not clear of
/// what.
pub fn size(text: &str) -> Result<u64, String> {
    let expected = || "expected a size like 4G, 512M or 2GiB".to_owned();
    let (number, unit) = split(text);
    let unit = unit.to_ascii_lowercase();
    let power =
        unit.chars().next().and_then(|letter| "kmgt".find(letter)).ok_or_else(expected)? as i32 + 1;
    let base: f64 = match &unit[1..] {
        "" | "ib" => 1024.0,
        "b" => 1000.0,
        _ => return Err(expected()),
    };
    let bytes = number.parse::<f64>().map_err(|_| expected())? * base.powi(power);
    match bytes {
        _ if bytes < 1.0 => Err("a size of at least one byte is needed".to_owned()),
        _ if bytes >= u64::MAX as f64 => Err("this size is out of range".to_owned()),
        _ => Ok(bytes as u64),
    }
}

/// Digits with a point, and what follows.
fn split(text: &str) -> (&str, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    (number, unit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_say_what_is_accepted() {
        assert_eq!(count(u64::MAX, "--runs 1000")("7"), Ok(7u64));
        let problem = count::<u64>(u64::MAX, "--runs 1000")("0").unwrap_err();
        assert_eq!(problem, "expected a number, at least 1, like --runs 1000");
        let problem = count::<u16>(64, "--threads 4")("many").unwrap_err();
        assert_eq!(problem, "expected a number from 1 to 64, like --threads 4");
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5 m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        for bad in ["", "soon", "-1s", "1d", "1.2.3s", "99999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1.5 kib"), Ok(1536));
        assert_eq!(size("3KB"), Ok(3000));
        assert_eq!(size("1t"), Ok(1 << 40));
        for bad in [
            "",
            "4",
            "G",
            "lots",
            "-1G",
            "1.2.3G",
            "4X",
            "4Gb/s",
            "4é",
            "0G",
            "99999999999T",
            "nanG",
            "infG",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
