//! Random numbers: the generator xoroshiro128** of Blackman and Vigna ("Scrambled linear
//! pseudorandom number generators", 2021), seeded by splitmix64, which is what PostgreSQL 15 uses:
//! after `setseed` the numbers are the same.
//!
//! The state belongs to the thread, which is where a session runs.

use super::arguments::Entry;
use crate::error::{Result, SqlError, code};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    static STATE: Cell<[u64; 2]> = Cell::new(seeded(RandomState::new().hash_one(0)));
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

fn seeded(mut seed: u64) -> [u64; 2] {
    let state = [splitmix(&mut seed), splitmix(&mut seed)];
    if state == [0, 0] { [0x5851_F42D_4C95_7F2D, 0x1405_7B7E_F767_814F] } else { state }
}

/// The next 64 random bits of this thread.
pub(super) fn next() -> u64 {
    STATE.with(|cell| {
        let [first, second] = cell.get();
        let mixed = second ^ first;
        cell.set([first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37)]);
        first.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    })
}

/// Seeds the random numbers of this thread, so that a run can be repeated.
pub fn seed_random(seed: u64) {
    STATE.with(|cell| cell.set(seeded(seed)));
}

fn random() -> f64 {
    (next() >> 12) as f64 / (1_u64 << 52) as f64
}

fn set_seed(seed: f64) -> Result<&'static str> {
    if !(-1.0..=1.0).contains(&seed) {
        let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    seed_random((((1_u64 << 52) - 1) as f64 * seed) as i64 as u64);
    Ok("")
}

/// A uuid of version 4.
pub(super) fn random_uuid() -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&next().to_be_bytes());
    bytes[8..].copy_from_slice(&next().to_be_bytes());
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    bytes
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "drandom", () => random();
    "setseed", (seed: f64) => set_seed(seed);
    "gen_random_uuid", () => random_uuid();
}];
