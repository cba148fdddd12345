//! Time zones: names, abbreviations and POSIX rules, and which offset they mean.
//!
//! The rules are jiff's, which knows years up to 9999. The Gregorian calendar repeats after 400
//! years, and so do the rules of a zone in the far future: an instant beyond is looked up as many
//! times 400 years earlier. Before the first known transition nothing changes.

use crate::error::{Result, SqlError, code};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// Seconds between 1970-01-01 and 2000-01-01.
const EPOCH_SECONDS: i64 = 946_684_800;
/// Seconds of 400 years.
const CYCLE_SECONDS: i64 = 146_097 * 86_400;
/// Seconds since 1970 that jiff is asked about; one cycle is kept off its own limits.
const ASKED: std::ops::Range<i64> = -200_000_000_000..200_000_000_000;
/// The rule of zones that name a daylight time and no rule.
const DEFAULT_RULE: &str = ",M3.2.0,M11.1.0";

/// A time zone as a session sets it.
#[derive(Clone, Debug)]
pub struct Zone {
    /// What `SHOW timezone` says.
    pub name: Arc<str>,
    /// The rules.
    pub rules: TimeZone,
}

/// What a zone says about an instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ZoneInfo {
    /// Seconds east of UTC.
    pub offset: i32,
    /// Whether it is daylight saving time.
    pub daylight: bool,
    /// The abbreviation, `CET` for example.
    pub abbreviation: String,
}

impl Zone {
    /// UTC.
    pub fn utc() -> Zone {
        Zone { name: "UTC".into(), rules: TimeZone::UTC }
    }

    /// A zone as `SET timezone` takes it: a name, POSIX rules, or hours east of UTC.
    pub fn parse(text: &str) -> Result<Zone> {
        if let Some(interval) = text.strip_prefix("INTERVAL '").or(text.strip_prefix("interval '"))
        {
            return Zone::parse_interval(text, interval.split('\'').next().unwrap_or(""));
        }
        if let Ok(hours) = text.parse::<f64>()
            && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.'))
        {
            return Zone::fixed((hours * 3600.0) as i32).ok_or_else(|| not_a_setting(text));
        }
        Zone::named(text).ok_or_else(|| not_a_setting(text))
    }

    fn parse_interval(text: &str, interval: &str) -> Result<Zone> {
        let interval = super::datetime::parse_interval_plain(interval)?;
        if interval.months != 0 {
            return Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                "cannot specify months in time zone interval",
            ));
        }
        if interval.days != 0 {
            return Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                "cannot specify days in time zone interval",
            ));
        }
        Zone::fixed((interval.micros / 1_000_000) as i32).ok_or_else(|| not_a_setting(text))
    }

    /// A zone by its name in any case, or by POSIX rules (`FOO-3`); none if it is neither.
    pub fn named(name: &str) -> Option<Zone> {
        if name.eq_ignore_ascii_case("gmt") {
            return Some(Zone { name: "GMT".into(), ..Zone::fixed_as("GMT", 0)? });
        }
        let known = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b));
        if known
            && name.bytes().any(|b| b.is_ascii_alphabetic())
            && let Ok(rules) = TimeZone::get(name)
        {
            let name = rules.iana_name().unwrap_or(name).into();
            return Some(Zone { name, rules });
        }
        let upper = name.to_ascii_uppercase();
        Some(Zone { name: upper.as_str().into(), rules: posix(&upper)? })
    }

    /// So many seconds east of UTC, with the name that PostgreSQL gives it.
    pub fn fixed(seconds: i32) -> Option<Zone> {
        let display = clock(seconds.unsigned_abs());
        let (sign, inverse) = if seconds < 0 { ("-", "+") } else { ("+", "-") };
        Zone::fixed_as(&format!("<{sign}{display}>{inverse}{display}"), seconds)
    }

    fn fixed_as(name: &str, seconds: i32) -> Option<Zone> {
        if seconds.abs() >= 168 * 3600 {
            return None;
        }
        let rules = TimeZone::posix(name)
            .or_else(|_| Offset::from_seconds(seconds).map(TimeZone::fixed))
            .ok()?;
        Some(Zone { name: name.into(), rules })
    }

    /// What is true at an instant: microseconds since 2000-01-01 UTC.
    pub fn at(&self, instant: i64) -> ZoneInfo {
        let info = self.rules.to_offset_info(asked(instant));
        ZoneInfo {
            offset: info.offset().seconds(),
            daylight: info.dst().is_dst(),
            abbreviation: info.abbreviation().to_string(),
        }
    }

    /// Seconds east of UTC at an instant.
    pub fn offset_at(&self, instant: i64) -> i32 {
        self.rules.to_offset(asked(instant)).seconds()
    }

    /// Seconds east of UTC at a local time: microseconds since 2000-01-01 there. A time that was
    /// skipped has the offset from before, one that came twice the later one.
    pub fn offset_of_local(&self, local: i64) -> i32 {
        let seconds = asked(local).as_second();
        let midnight = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
        let Ok(civil) = midnight.checked_add(SignedDuration::from_secs(seconds)) else {
            return self.offset_at(local);
        };
        match self.rules.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
            AmbiguousOffset::Gap { before, .. } => before.seconds(),
            AmbiguousOffset::Fold { after, .. } => after.seconds(),
        }
    }

    /// What an abbreviation of this zone means about an instant: its last use until then, or its
    /// first one later; the zone's own offset if it was never used.
    pub fn offset_of_abbreviation(&self, abbreviation: &str, instant: i64) -> (i32, bool) {
        let now = self.at(instant);
        if now.abbreviation.eq_ignore_ascii_case(abbreviation) {
            return (now.offset, now.daylight);
        }
        let before = self.rules.preceding(asked(instant)).take(300);
        let after = self.rules.following(asked(instant)).take(300);
        for transition in before.chain(after) {
            if transition.abbreviation().eq_ignore_ascii_case(abbreviation) {
                return (transition.offset().seconds(), transition.dst().is_dst());
            }
        }
        (now.offset, now.daylight)
    }
}

fn not_a_setting(text: &str) -> SqlError {
    let message = format!("invalid value for parameter \"TimeZone\": \"{text}\"");
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// `02`, `02:30` or `02:30:15`.
fn clock(seconds: u32) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (minutes, rest) {
        (0, 0) => format!("{hours:02}"),
        (_, 0) => format!("{hours:02}:{minutes:02}"),
        _ => format!("{hours:02}:{minutes:02}:{rest:02}"),
    }
}

/// The instant that jiff is asked about instead of this one.
fn asked(micros: i64) -> Timestamp {
    let seconds = micros.div_euclid(1_000_000).saturating_add(EPOCH_SECONDS);
    let seconds = if seconds >= ASKED.end {
        let cycles = (seconds - ASKED.end) / CYCLE_SECONDS + 1;
        seconds - cycles * CYCLE_SECONDS
    } else {
        seconds.max(ASKED.start)
    };
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// POSIX rules; PostgreSQL also takes short and empty names, and a daylight time without a rule.
fn posix(text: &str) -> Option<TimeZone> {
    if text.len() > 100 {
        return None;
    }
    if let Ok(rules) = TimeZone::posix(text) {
        return Some(rules);
    }
    if let Ok(rules) = TimeZone::posix(&format!("{text}{DEFAULT_RULE}")) {
        return Some(rules);
    }
    let digits = text.find(|c: char| c.is_ascii_digit() || "+-,".contains(c))?;
    if !text[..digits].bytes().all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    TimeZone::posix(&format!("<+00>{}", &text[digits..])).ok()
}
