//! The functions of the extension uuid-ossp (RFC 4122): uuids of time and node, of names, and
//! random ones.

use super::arguments::Entry;
use super::random;
use sha1::Digest;
use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name spaces that the RFC lists differ in one byte.
const fn namespace(number: u8) -> [u8; 16] {
    let low = [0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8];
    let mut bytes = [0x6B, 0xA7, 0xB8, number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut at = 0;
    while at < low.len() {
        bytes[at + 4] = low[at];
        at += 1;
    }
    bytes
}

/// From 15 October 1582, where the time of uuids begins, to 1970, in tenths of microseconds.
const EPOCH: u64 = 0x01B2_1DD2_1381_4000;

thread_local! {
    /// The time of the last uuid of this thread: none is given twice.
    static LAST: Cell<u64> = const { Cell::new(0) };
    /// The node and the clock sequence of this thread, in place of the address of a network card.
    static NODE: [u8; 8] = random::next().to_be_bytes();
}

/// A uuid of version 1, with a node that says that it is not the address of a network card.
fn of_time(node: [u8; 8]) -> [u8; 16] {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = EPOCH + (since.as_nanos() / 100) as u64;
    let time = LAST.with(|last| {
        let time = now.max(last.get() + 1);
        last.set(time);
        time
    });
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((time >> 48) as u16).to_be_bytes());
    bytes[8..].copy_from_slice(&node);
    bytes[10] |= 0x01;
    versioned(bytes, 1)
}

/// A uuid of a name: the beginning of a hash of the name space and the name.
fn of_name<D: Digest>(space: [u8; 16], name: &str, version: u8) -> [u8; 16] {
    let hash = D::new().chain_update(space).chain_update(name).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    versioned(bytes, version)
}

fn versioned(mut bytes: [u8; 16], version: u8) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0F | version << 4;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    bytes
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "uuid_nil", () => [0_u8; 16];
    "uuid_ns_dns", () => namespace(0x10);
    "uuid_ns_url", () => namespace(0x11);
    "uuid_ns_oid", () => namespace(0x12);
    "uuid_ns_x500", () => namespace(0x14);
    "uuid_generate_v1", () => of_time(NODE.with(|node| *node));
    "uuid_generate_v1mc", () => of_time(random::next().to_be_bytes());
    "uuid_generate_v3", (space: [u8; 16], name: &str) => of_name::<md5::Md5>(space, name, 3);
    "uuid_generate_v4", () => random::random_uuid();
    "uuid_generate_v5", (space: [u8; 16], name: &str) => of_name::<sha1::Sha1>(space, name, 5);
}];
