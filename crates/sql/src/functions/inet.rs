//! inet and cidr.

use super::arguments::{Argument, Entry, Outcome};
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Inet};
use std::sync::Arc;

impl<'a> Argument<'a> for &'a Inet {
    fn take(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Inet(inet) => Some(inet),
            _ => None,
        }
    }
}

impl Outcome for Inet {
    fn datum(self) -> Result<Datum> {
        Ok(Datum::Inet(Arc::new(self)))
    }
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

fn out_of_range() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "result is out of range")
}

/// The same address with another prefix; -1 is the whole address.
fn with_bits(inet: &Inet, bits: i32) -> Result<Inet> {
    let width = i32::from(inet.width());
    let bits = if bits == -1 { width } else { bits };
    if !(0..=width).contains(&bits) {
        return Err(invalid(format!("invalid mask length: {bits}")));
    }
    Ok(Inet { bits: bits as u8, ..*inet })
}

/// The network that the address is in.
fn network(inet: &Inet) -> Inet {
    Inet::from_number(inet.number() & inet.netmask_number(), inet.v6, inet.bits)
}

fn whole(number: u128, inet: &Inet) -> Inet {
    Inet::from_number(number, inet.v6, inet.width())
}

fn broadcast(inet: &Inet) -> Inet {
    Inet::from_number(inet.number() | inet.hostmask_number(), inet.v6, inet.bits)
}

/// Whether the first bits of two addresses are the same.
fn share(a: &Inet, b: &Inet, bits: u8) -> bool {
    let width = u32::from(a.width());
    let shift = width - u32::from(bits).min(width);
    let network = |inet: &Inet| inet.number().checked_shr(shift).unwrap_or(0);
    a.v6 == b.v6 && network(a) == network(b)
}

/// The order as a number: the difference of what differs first.
fn difference(a: &Inet, b: &Inet) -> i32 {
    if a.v6 != b.v6 || !share(a, b, a.bits.min(b.bits)) {
        return first_octets(a, b, a.bits.min(b.bits)).unwrap_or(a.order(b) as i32);
    }
    if a.bits != b.bits {
        return i32::from(a.bits) - i32::from(b.bits);
    }
    first_octets(a, b, a.width()).unwrap_or(0)
}

/// The difference of the first octets that differ, if they are whole ones of the prefix.
fn first_octets(a: &Inet, b: &Inet, bits: u8) -> Option<i32> {
    let whole = usize::from(bits / 8);
    let pairs = a.octets().iter().zip(b.octets()).take(whole);
    let mut differences = pairs.map(|(a, b)| i32::from(*a) - i32::from(*b));
    differences.find(|difference| *difference != 0).filter(|_| a.v6 == b.v6)
}

/// Whether the first is a network or address inside of the second.
fn inside(a: &Inet, b: &Inet) -> bool {
    a.bits > b.bits && share(a, b, b.bits)
}

fn inside_or_same(a: &Inet, b: &Inet) -> bool {
    a.bits >= b.bits && share(a, b, b.bits)
}

fn combine(a: &Inet, b: &Inet, verb: &str, bits: fn(u128, u128) -> u128) -> Result<Inet> {
    if a.v6 != b.v6 {
        return Err(invalid(format!("cannot {verb} inet values of different sizes")));
    }
    Ok(Inet::from_number(bits(a.number(), b.number()), a.v6, a.bits.max(b.bits)))
}

fn inverse(inet: &Inet) -> Inet {
    Inet::from_number(!inet.number(), inet.v6, inet.bits)
}

fn plus(inet: &Inet, distance: i128) -> Result<Inet> {
    let number = inet.number();
    let moved = if distance < 0 {
        number.checked_sub(distance.unsigned_abs())
    } else {
        number.checked_add(distance.unsigned_abs())
    };
    let limit = if inet.v6 { u128::MAX } else { u128::from(u32::MAX) };
    let moved = moved.filter(|moved| *moved <= limit).ok_or_else(out_of_range)?;
    Ok(Inet::from_number(moved, inet.v6, inet.bits))
}

fn distance(a: &Inet, b: &Inet) -> Result<i64> {
    if a.v6 != b.v6 {
        return Err(invalid("cannot subtract inet values of different sizes"));
    }
    let (a, b) = (a.number(), b.number());
    let size = i128::try_from(a.abs_diff(b)).map_err(|_| out_of_range())?;
    i64::try_from(if a < b { -size } else { size }).map_err(|_| out_of_range())
}

/// The smallest network with both.
fn merge(a: &Inet, b: &Inet) -> Result<Inet> {
    if a.v6 != b.v6 {
        return Err(invalid("cannot merge addresses from different families"));
    }
    let most = a.bits.min(b.bits);
    let bits = (0..=most).rev().find(|bits| share(a, b, *bits)).unwrap_or(0);
    Ok(network(&Inet { bits, ..*a }))
}

/// A network without the octets or words that it does not need.
fn abbreviated(inet: &Inet) -> String {
    let bits = inet.bits;
    if inet.v6 {
        return format!("{}/{bits}", abbreviated_words(inet));
    }
    let count = usize::from(bits.div_ceil(8).max(1));
    let octets: Vec<String> = network(inet).octets()[..count].iter().map(u8::to_string).collect();
    format!("{}/{bits}", octets.join("."))
}

fn abbreviated_words(inet: &Inet) -> String {
    if inet.bits == 0 {
        return "::".into();
    }
    let network = network(inet);
    let count = usize::from(inet.bits.div_ceil(16).max(2));
    let word = |pair: &[u8]| u16::from(pair[0]) << 8 | u16::from(pair[1]);
    let words: Vec<u16> = network.octets().chunks(2).map(word).take(count).collect();
    let (start, length) = longest_zeros(&words);
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if at >= start && at < start + length {
            if at == start {
                text.push(':');
            }
            if at == count - 1 {
                text.push(':');
            }
            continue;
        }
        if !text.is_empty() {
            text.push(':');
        }
        text.push_str(&format!("{word:x}"));
    }
    text
}

/// Where the longest run of zeros is and how long.
fn longest_zeros(words: &[u16]) -> (usize, usize) {
    let mut best = (0, 0);
    let mut at = 0;
    while at < words.len() {
        let length = words[at..].iter().take_while(|word| **word == 0).count();
        if length > best.1 {
            best = (at, length);
        }
        at += length.max(1);
    }
    best
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("network_"; a: &Inet, b: &Inet => a.order(b)),
    functions! {
        "network_cmp", (a: &Inet, b: &Inet) => difference(a, b);
        "network_smaller", (a: &Inet, b: &Inet) => if a.order(b).is_lt() { *a } else { *b };
        "network_larger", (a: &Inet, b: &Inet) => if a.order(b).is_gt() { *a } else { *b };
        "network_sub", (a: &Inet, b: &Inet) => inside(a, b);
        "network_subeq", (a: &Inet, b: &Inet) => inside_or_same(a, b);
        "network_sup", (a: &Inet, b: &Inet) => inside(b, a);
        "network_supeq", (a: &Inet, b: &Inet) => inside_or_same(b, a);
        "network_overlap", (a: &Inet, b: &Inet) => share(a, b, a.bits.min(b.bits));
        "inet_same_family", (a: &Inet, b: &Inet) => a.v6 == b.v6;
        "inet_merge", (a: &Inet, b: &Inet) => merge(a, b);
        "inet_abbrev", (a: &Inet) => a.to_inet_text();
        "cidr_abbrev", (a: &Inet) => abbreviated(a);
        "inet_set_masklen", (a: &Inet, bits: i32) => with_bits(a, bits);
        "cidr_set_masklen", (a: &Inet, bits: i32) => Ok(network(&with_bits(a, bits)?));
        "inet_to_cidr", (a: &Inet) => network(a);
        "network_network", (a: &Inet) => network(a);
        "network_netmask", (a: &Inet) => whole(a.netmask_number(), a);
        "network_hostmask", (a: &Inet) => whole(a.hostmask_number(), a);
        "network_broadcast", (a: &Inet) => broadcast(a);
        "network_masklen", (a: &Inet) => i32::from(a.bits);
        "network_host", (a: &Inet) => a.host();
        "network_family", (a: &Inet) => if a.v6 { 6 } else { 4 };
        "network_show", (a: &Inet) => a.to_cidr_text();
        "inetnot", (a: &Inet) => inverse(a);
        "inetand", (a: &Inet, b: &Inet) => combine(a, b, "AND", |a, b| a & b);
        "inetor", (a: &Inet, b: &Inet) => combine(a, b, "OR", |a, b| a | b);
        "inetpl", (a: &Inet, distance: i64) => plus(a, i128::from(distance));
        "#2631", (distance: i64, a: &Inet) => plus(a, i128::from(distance));
        "inetmi_int8", (a: &Inet, distance: i64) => plus(a, i128::from(distance.wrapping_neg()));
        "inetmi", (a: &Inet, b: &Inet) => distance(a, b);
    },
];
