//! Hashes as PostgreSQL computes them: programs take locks by `hashtext(…)`.

use super::arguments::Entry;

/// The state of Bob Jenkins' lookup3.
struct State {
    a: u32,
    b: u32,
    c: u32,
}

/// `x -= y; x ^= rotated y; y += z`, as the mixing step does six times.
fn step(x: u32, y: u32, z: u32, bits: u32) -> (u32, u32) {
    (x.wrapping_sub(y) ^ y.rotate_left(bits), y.wrapping_add(z))
}

impl State {
    fn mix(&mut self) {
        let State { a, b, c } = self;
        (*a, *c) = step(*a, *c, *b, 4);
        (*b, *a) = step(*b, *a, *c, 6);
        (*c, *b) = step(*c, *b, *a, 8);
        (*a, *c) = step(*a, *c, *b, 16);
        (*b, *a) = step(*b, *a, *c, 19);
        (*c, *b) = step(*c, *b, *a, 4);
    }

    fn finish(&mut self) {
        let State { a, b, c } = self;
        let last = |x: u32, y: u32, bits: u32| (x ^ y).wrapping_sub(y.rotate_left(bits));
        *c = last(*c, *b, 14);
        *a = last(*a, *c, 11);
        *b = last(*b, *a, 25);
        *c = last(*c, *b, 16);
        *a = last(*a, *c, 4);
        *b = last(*b, *a, 14);
        *c = last(*c, *b, 24);
    }
}

fn hash(bytes: &[u8], seed: u64) -> (u32, u32) {
    let start = 0x9e37_79b9_u32.wrapping_add(bytes.len() as u32).wrapping_add(3_923_095);
    let mut state = State { a: start, b: start, c: start };
    if seed != 0 {
        state.a = state.a.wrapping_add((seed >> 32) as u32);
        state.b = state.b.wrapping_add(seed as u32);
        state.mix();
    }
    let word =
        |part: &[u8]| part.iter().rev().fold(0u32, |word, &byte| (word << 8) | u32::from(byte));
    let mut blocks = bytes.chunks_exact(12);
    for block in &mut blocks {
        state.a = state.a.wrapping_add(word(&block[..4]));
        state.b = state.b.wrapping_add(word(&block[4..8]));
        state.c = state.c.wrapping_add(word(&block[8..]));
        state.mix();
    }
    // The lowest byte of c is for the length.
    let rest = blocks.remainder();
    let part = |from: usize, to: usize| word(&rest[from.min(rest.len())..to.min(rest.len())]);
    state.a = state.a.wrapping_add(part(0, 4));
    state.b = state.b.wrapping_add(part(4, 8));
    state.c = state.c.wrapping_add(part(8, 11) << 8);
    state.finish();
    (state.b, state.c)
}

fn plain(bytes: &[u8]) -> i32 {
    hash(bytes, 0).1 as i32
}

fn extended(bytes: &[u8], seed: i64) -> i64 {
    let (high, low) = hash(bytes, seed as u64);
    (u64::from(high) << 32 | u64::from(low)) as i64
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "hashtext", (a: &str) => plain(a.as_bytes());
    "hashtextextended", (a: &str, seed: i64) => extended(a.as_bytes(), seed);
}];
