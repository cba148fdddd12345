//! `OVERLAPS`: whether two periods have a moment in common. A period's ends may be in any order,
//! and one of them may be null.

use super::add::{stamp_plus, stamptz_plus, time_plus};
use super::values::{Stamp, Time, TimeTz};
use crate::error::Result;
use crate::functions::Style;
use crate::functions::arguments::Entry;
use crate::types::Interval;
use std::cmp::Ordering;

type Ends<T> = (Option<T>, Option<T>);

/// By the SQL standard's definition; a null end leaves the answer open unless the other decides.
fn overlap<T: Copy>(a: Ends<T>, b: Ends<T>, order: fn(T, T) -> Ordering) -> Option<bool> {
    let (a_start, a_end) = sorted(a, order)?;
    let (b_start, b_end) = sorted(b, order)?;
    match order(a_start, b_start) {
        Ordering::Greater => starts_inside(a_start, a_end, b_end, order),
        Ordering::Less => starts_inside(b_start, b_end, a_end, order),
        // Both begin at the same moment; with a null end the answer is not known.
        Ordering::Equal => (a_end.is_some() && b_end.is_some()).then_some(true),
    }
}

/// The later period begins before the end of the earlier one.
fn starts_inside<T: Copy>(
    start: T,
    own_end: Option<T>,
    other_end: Option<T>,
    order: fn(T, T) -> Ordering,
) -> Option<bool> {
    let other_end = other_end?;
    if order(start, other_end).is_lt() {
        return Some(true);
    }
    own_end.map(|_| false)
}

/// The earlier end first; an end that is not null first.
fn sorted<T: Copy>((a, b): Ends<T>, order: fn(T, T) -> Ordering) -> Option<(T, Option<T>)> {
    match (a, b) {
        (None, None) => None,
        (None, Some(b)) => Some((b, None)),
        (Some(a), None) => Some((a, None)),
        (Some(a), Some(b)) if order(a, b).is_gt() => Some((b, Some(a))),
        (Some(a), Some(b)) => Some((a, Some(b))),
    }
}

fn stamps(a: Ends<Stamp>, b: Ends<Stamp>) -> Option<bool> {
    overlap(a, b, |a, b| a.cmp(&b))
}

fn times(a: Ends<Time>, b: Ends<Time>) -> Option<bool> {
    overlap(a, b, |a, b| a.cmp(&b))
}

fn both<A, B>(a: Option<A>, b: Option<B>) -> Option<(A, B)> {
    a.zip(b)
}

/// The end of a period that is given by its length.
fn stamp_end(start: Option<Stamp>, span: Option<Interval>) -> Result<Option<Stamp>> {
    both(start, span).map(|(start, span)| stamp_plus(start, span)).transpose()
}

fn stamptz_end(
    start: Option<Stamp>,
    span: Option<Interval>,
    style: &Style,
) -> Result<Option<Stamp>> {
    both(start, span).map(|(start, span)| stamptz_plus(start, span, style)).transpose()
}

fn time_end(start: Option<Time>, span: Option<Interval>) -> Option<Time> {
    both(start, span).map(|(start, span)| Time(time_plus(start.0, span.micros)))
}

type Moment = Option<Stamp>;
type Length = Option<Interval>;
type Clock = Option<Time>;
type Zoned = Option<TimeTz>;

pub(super) const TABLE: &[Entry] = functions! {
    "overlaps_timestamp", (a: Moment, b: Moment, c: Moment, d: Moment) => stamps((a, b), (c, d));
    "#2042", (a: Moment, b: Length, c: Moment, d: Length) =>
        Ok(stamps((a, stamp_end(a, b)?), (c, stamp_end(c, d)?)));
    "#2043", (a: Moment, b: Moment, c: Moment, d: Length) =>
        Ok(stamps((a, b), (c, stamp_end(c, d)?)));
    "#2044", (a: Moment, b: Length, c: Moment, d: Moment) =>
        Ok(stamps((a, stamp_end(a, b)?), (c, d)));
    "#1305", (a: Moment, b: Length, c: Moment, d: Length) [call, _all] =>
        Ok(stamps((a, stamptz_end(a, b, call.style)?), (c, stamptz_end(c, d, call.style)?)));
    "#1306", (a: Moment, b: Moment, c: Moment, d: Length) [call, _all] =>
        Ok(stamps((a, b), (c, stamptz_end(c, d, call.style)?)));
    "#1307", (a: Moment, b: Length, c: Moment, d: Moment) [call, _all] =>
        Ok(stamps((a, stamptz_end(a, b, call.style)?), (c, d)));
    "overlaps_time", (a: Clock, b: Clock, c: Clock, d: Clock) => times((a, b), (c, d));
    "#1309", (a: Clock, b: Length, c: Clock, d: Length) =>
        times((a, time_end(a, b)), (c, time_end(c, d)));
    "#1310", (a: Clock, b: Clock, c: Clock, d: Length) => times((a, b), (c, time_end(c, d)));
    "#1311", (a: Clock, b: Length, c: Clock, d: Clock) => times((a, time_end(a, b)), (c, d));
    "overlaps_timetz", (a: Zoned, b: Zoned, c: Zoned, d: Zoned) =>
        overlap((a, b), (c, d), TimeTz::cmp);
};
