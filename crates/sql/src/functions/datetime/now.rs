//! What time it is: the session knows when its transaction and its statement began. Real time does
//! not go on within a statement, so that a run can be repeated.

use super::values::Stamp;
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::types::datetime::{Civil, calendar::weekday, clock, parts};

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The time as text in one style.
fn time_of_day(style: &Style) -> String {
    let instant = style.statement_time;
    let zone = style.zone.at(instant);
    let parts = parts(super::local_of(instant, &style.zone));
    let Civil { year, month, day } = parts.date;
    let (hour, minute, second, micros) = clock(parts.time);
    let weekday = WEEKDAYS[usize::from(weekday(parts.date.days()))];
    let month = MONTHS[(month - 1) as usize % 12];
    let zone = zone.abbreviation;
    format!(
        "{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02}.{micros:06} {year} {zone}"
    )
}

pub(super) const TABLE: &[Entry] = functions! {
    "now", () [call, _all] => Stamp(call.style.transaction_time);
    "statement_timestamp", () [call, _all] => Stamp(call.style.statement_time);
    "clock_timestamp", () [call, _all] => Stamp(call.style.statement_time);
    "timeofday", () [call, _all] => time_of_day(call.style);
};
