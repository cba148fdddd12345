//! inet and cidr: addresses of hosts and networks.

use crate::error::{Result, SqlError, code};
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address of a host or network with the length of its prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inet {
    /// Whether it has 128 bits instead of 32.
    pub v6: bool,
    /// How many bits from the left are the network.
    pub bits: u8,
    /// The address from the left; four bytes of version 4.
    pub address: [u8; 16],
}

fn invalid(text: &str, cidr: bool) -> SqlError {
    let ty = if cidr { "cidr" } else { "inet" };
    let message = format!("invalid input syntax for type {ty}: \"{text}\"");
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
}

impl Inet {
    /// How many bits an address has.
    pub fn width(&self) -> u8 {
        if self.v6 { 128 } else { 32 }
    }

    /// The bytes of the address.
    pub fn octets(&self) -> &[u8] {
        &self.address[..usize::from(self.width() / 8)]
    }

    /// The address as a number.
    pub fn number(&self) -> u128 {
        self.octets().iter().fold(0, |number, octet| number << 8 | u128::from(*octet))
    }

    /// From a number; bits that are too high are dropped.
    pub fn from_number(number: u128, v6: bool, bits: u8) -> Inet {
        let mut address = [0; 16];
        if v6 {
            address = number.to_be_bytes();
        } else {
            address[..4].copy_from_slice(&(number as u32).to_be_bytes());
        }
        Inet { v6, bits, address }
    }

    /// The bits of the network set, those of the host not.
    pub fn netmask_number(&self) -> u128 {
        self.all_ones() & !self.hostmask_number()
    }

    /// The bits of the host set, those of the network not.
    pub fn hostmask_number(&self) -> u128 {
        self.all_ones().checked_shr(u32::from(self.bits)).unwrap_or(0)
    }

    fn all_ones(&self) -> u128 {
        if self.v6 { u128::MAX } else { u128::from(u32::MAX) }
    }

    /// Whether no bit of the host is set.
    pub fn is_network(&self) -> bool {
        self.number() & self.hostmask_number() == 0
    }

    /// Reads an address with an optional prefix.
    pub fn parse(text: &str, cidr: bool) -> Result<Inet> {
        let parsed = if text.contains(':') { parse_v6(text) } else { parse_v4(text, cidr) };
        let inet = parsed.ok_or_else(|| invalid(text, cidr))?;
        if cidr && !inet.is_network() {
            let message = format!("invalid cidr value: \"{text}\"");
            return Err(SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
                .detail("Value has bits set to right of mask."));
        }
        Ok(inet)
    }

    /// The address without the prefix.
    pub fn host(&self) -> String {
        if !self.v6 {
            let [a, b, c, d, ..] = self.address;
            return Ipv4Addr::new(a, b, c, d).to_string();
        }
        let address = Ipv6Addr::from(self.address);
        let segments = address.segments();
        // Addresses of version 4 in version 6 are written with points.
        if segments[..6].iter().all(|segment| *segment == 0) && segments[6] != 0 {
            let [.., a, b, c, d] = self.address;
            return format!("::{}", Ipv4Addr::new(a, b, c, d));
        }
        address.to_string()
    }

    /// As inet is written: the prefix only if it is not the whole address.
    pub fn to_inet_text(&self) -> String {
        if self.bits == self.width() { self.host() } else { self.to_cidr_text() }
    }

    /// As cidr is written: always with the prefix.
    pub fn to_cidr_text(&self) -> String {
        format!("{}/{}", self.host(), self.bits)
    }

    /// The order: version 4 first, then the common network bits, the prefixes, the addresses.
    pub fn order(&self, other: &Inet) -> std::cmp::Ordering {
        let shared = self.bits.min(other.bits);
        let network = |inet: &Inet| {
            let width = u32::from(inet.width());
            inet.number().checked_shr(width - u32::from(shared)).unwrap_or(0)
        };
        (self.v6.cmp(&other.v6))
            .then_with(|| network(self).cmp(&network(other)))
            .then_with(|| self.bits.cmp(&other.bits))
            .then_with(|| self.number().cmp(&other.number()))
    }
}

fn split_prefix(text: &str, width: u8) -> Option<(&str, Option<u8>)> {
    let Some((address, bits)) = text.split_once('/') else { return Some((text, None)) };
    if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let bits: u8 = bits.parse().ok().filter(|bits| *bits <= width)?;
    Some((address, Some(bits)))
}

fn parse_v6(text: &str) -> Option<Inet> {
    let (address, bits) = split_prefix(text, 128)?;
    let address: Ipv6Addr = address.parse().ok()?;
    Some(Inet { v6: true, bits: bits.unwrap_or(128), address: address.octets() })
}

/// Octets at the end may be missing if there is a prefix, or in cidr, where they then give it.
fn parse_v4(text: &str, cidr: bool) -> Option<Inet> {
    let (address, bits) = split_prefix(text, 32)?;
    let octets: Vec<u8> = match address.strip_prefix("0x").filter(|_| cidr) {
        Some(hex) => hex_octets(hex)?,
        None => address.split('.').map(parse_octet).collect::<Option<_>>()?,
    };
    if octets.is_empty() || octets.len() > 4 || (octets.len() < 4 && bits.is_none() && !cidr) {
        return None;
    }
    let bits = bits.unwrap_or_else(|| default_bits(&octets));
    let mut bytes = [0; 16];
    bytes[..octets.len()].copy_from_slice(&octets);
    let needed = if cidr { bits.div_ceil(8) } else { 0 };
    (octets.len() >= usize::from(needed.min(4))
        || cidr
        || bits.div_ceil(8) as usize <= octets.len())
    .then_some(Inet { v6: false, bits, address: bytes })
}

fn parse_octet(part: &str) -> Option<u8> {
    let digits = !part.is_empty() && part.len() <= 9 && part.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| part.parse::<u32>().ok()?.try_into().ok()).flatten()
}

fn hex_octets(hex: &str) -> Option<Vec<u8>> {
    if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let padded = if hex.len() % 2 == 1 { format!("{hex}0") } else { hex.to_string() };
    let pair = |at: usize| u8::from_str_radix(&padded[at..at + 2], 16).ok();
    (0..padded.len()).step_by(2).map(pair).collect()
}

/// The prefix that the class of a network gives, at least the octets that are there.
fn default_bits(octets: &[u8]) -> u8 {
    let class = match octets[0] {
        240.. => 32,
        224.. => 8,
        192.. => 24,
        128.. => 16,
        _ => 8,
    };
    // A multicast network of one octet is known by four bits.
    if octets.len() == 1 && octets[0] == 224 {
        return 4;
    }
    class.max(8 * octets.len() as u8)
}
