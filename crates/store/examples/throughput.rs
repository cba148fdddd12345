//! How many reads and commits a second the store does, at each level, as the history grows.
//!
//! Usage: throughput [TRANSACTIONS [SESSIONS [KEYS [LEVEL]]]]

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use seriatim_check::Level;
use seriatim_store::{LEVELS, Random, Store, StoreError};
use std::time::Instant;

const READS: usize = 2;
const WRITES: usize = 2;

fn main() -> Result<(), StoreError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (txns, sessions, keys) = (number(0, 100_000), number(1, 10), number(2, 1_000));
    let only: Option<Level> = arguments.get(3).and_then(|text| text.parse().ok());
    println!("| level | transactions so far | reads a second | commits a second | refused |\n|---|---|---|---|---|");
    for level in LEVELS {
        if only.is_none_or(|only| only == level) {
            run(level, txns, sessions, keys)?;
        }
    }
    Ok(())
}

fn run(level: Level, txns: usize, sessions: usize, keys: usize) -> Result<(), StoreError> {
    let store: Store<u64> = Store::<u64>::builder(level).chooser(Random::new(1)).build()?;
    let sessions: Vec<_> = (0..sessions).map(|_| store.session()).collect();
    let names: Vec<String> = (0..keys).map(|key| format!("key{key}")).collect();
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let part = (txns / 5).max(1);
    for done in 1..=5 {
        let start = Instant::now();
        let mut refused = 0;
        for number in 0..part {
            let session = &sessions[random.random_range(0..sessions.len())];
            let mut txn = session.begin()?;
            let mut body = || -> Result<(), StoreError> {
                for _ in 0..READS {
                    txn.read(&names[random.random_range(0..keys)])?;
                }
                for _ in 0..WRITES {
                    txn.write(&names[random.random_range(0..keys)], number as u64)?;
                }
                Ok(())
            };
            refused += usize::from(body().is_err() || txn.commit().is_err());
        }
        let seconds = start.elapsed().as_secs_f64();
        let rate = |count: usize| (count as f64 / seconds).round();
        println!("| {} | {} | {} | {} | {refused} |", level.code(), part * done, rate(part * READS), rate(part));
    }
    Ok(())
}
