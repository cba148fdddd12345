//! How many reads and commits a second the store does, at each level, as the history grows, and
//! SQLite in memory beside it.
//!
//! Usage: throughput [TRANSACTIONS [SESSIONS [KEYS [LEVEL|sqlite|horizon|all [RUNS]]]]]
//!
//! With several runs, which all do the same, each hundredth of a run counts with the least time
//! that it took in any of them: what the machine does beside disturbs a run, but hardly the same
//! hundredth of all of them.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rusqlite::{Connection, params};
use seriatim::isolation::Level;
use seriatim::store::{LEVELS, Random, Session, Store};
use std::error::Error;
use std::num::NonZeroU32;
use std::time::Instant;

const READS: usize = 2;
const WRITES: usize = 2;
/// The version horizon of the row that has one.
const HORIZON: u32 = 1000;
/// How many parts of a run are reported, and how many of each are timed.
const PARTS: usize = 5;
const SLICES: usize = 20;

/// Something that runs transactions of two reads and two writes.
trait Subject {
    /// Runs one in some session; false if it was refused.
    fn transact(
        &mut self,
        reads: [&str; READS],
        writes: [&str; WRITES],
        value: i64,
    ) -> Result<bool, Box<dyn Error>>;
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default| {
        arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (txns, sessions, keys) = (number(0, 100_000), number(1, 10), number(2, 1_000));
    let only = arguments.get(3).filter(|name| *name != "all").map(String::as_str);
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let names: Vec<String> = (0..keys).map(|key| format!("key{key}")).collect();
    let load = Load { txns, keys: names, runs: number(4, 1).max(1) };
    println!(
        "| store | transactions so far | reads a second | commits a second | refused \
         |\n|---|---|---|---|---|"
    );
    for level in LEVELS.into_iter().filter(|level| wanted(level.code())) {
        load.measure(level.code(), || Mock::new(level, sessions, None))?;
    }
    if wanted("horizon") {
        let horizon = NonZeroU32::new(HORIZON);
        load.measure(&format!("cc, horizon {HORIZON}"), || {
            Mock::new(Level::Causal, sessions, horizon)
        })?;
    }
    if wanted("sqlite") {
        load.measure("SQLite in memory", Sqlite::new)?;
    }
    Ok(())
}

/// What is to be done.
struct Load {
    txns: usize,
    keys: Vec<String>,
    runs: usize,
}

/// A slice of a run: how long it took, and how many transactions were refused.
#[derive(Clone, Copy)]
struct Slice {
    seconds: f64,
    refused: usize,
}

impl Load {
    fn measure<S: Subject>(
        &self,
        name: &str,
        subject: impl Fn() -> Result<S, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let mut best = self.run(&mut subject()?)?;
        for _ in 1..self.runs {
            for (best, slice) in best.iter_mut().zip(self.run(&mut subject()?)?) {
                best.seconds = best.seconds.min(slice.seconds);
            }
        }
        let part = self.slice() * SLICES;
        for (number, slices) in best.chunks(SLICES).enumerate() {
            let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
            let refused: usize = slices.iter().map(|slice| slice.refused).sum();
            let (reads, commits) =
                ((part * READS) as f64 / seconds, (part - refused) as f64 / seconds);
            println!(
                "| {name} | {} | {reads:.0} | {commits:.0} | {refused} |",
                part * (number + 1)
            );
        }
        Ok(())
    }

    /// How many transactions are timed together.
    fn slice(&self) -> usize {
        (self.txns / (PARTS * SLICES)).max(1)
    }

    fn run(&self, subject: &mut dyn Subject) -> Result<Vec<Slice>, Box<dyn Error>> {
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let mut slices = Vec::new();
        for _ in 0..PARTS * SLICES {
            let start = Instant::now();
            let mut refused = 0;
            for number in 0..self.slice() {
                let mut key = || self.keys[random.random_range(0..self.keys.len())].as_str();
                let (reads, writes) = ([key(), key()], [key(), key()]);
                refused += usize::from(!subject.transact(reads, writes, number as i64)?);
            }
            slices.push(Slice { seconds: start.elapsed().as_secs_f64(), refused });
        }
        Ok(slices)
    }
}

struct Mock {
    sessions: Vec<Session<i64>>,
    random: Pcg64Mcg,
}

impl Mock {
    fn new(
        level: Level,
        sessions: usize,
        horizon: Option<NonZeroU32>,
    ) -> Result<Mock, Box<dyn Error>> {
        let builder = Store::<i64>::builder(level).chooser(Random::new(1));
        let builder = match horizon {
            Some(commits) => builder.horizon(commits),
            None => builder,
        };
        let store: Store<i64> = builder.build()?;
        let sessions = (0..sessions).map(|_| store.session()).collect();
        Ok(Mock { sessions, random: Pcg64Mcg::seed_from_u64(3) })
    }
}

impl Subject for Mock {
    fn transact(
        &mut self,
        reads: [&str; READS],
        writes: [&str; WRITES],
        value: i64,
    ) -> Result<bool, Box<dyn Error>> {
        let mut txn = self.sessions[self.random.random_range(0..self.sessions.len())].begin()?;
        for key in reads {
            if txn.read(key).is_err() {
                return Ok(false);
            }
        }
        for key in writes {
            txn.write(key, value)?;
        }
        Ok(txn.commit().is_ok())
    }
}

struct Sqlite(Connection);

impl Sqlite {
    fn new() -> Result<Sqlite, Box<dyn Error>> {
        let connection = Connection::open_in_memory()?;
        connection.execute(
            "CREATE TABLE cells (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID",
            [],
        )?;
        Ok(Sqlite(connection))
    }
}

impl Subject for Sqlite {
    fn transact(
        &mut self,
        reads: [&str; READS],
        writes: [&str; WRITES],
        value: i64,
    ) -> Result<bool, Box<dyn Error>> {
        let txn = self.0.transaction()?;
        {
            let mut select = txn.prepare_cached("SELECT value FROM cells WHERE key = ?1")?;
            for key in reads {
                let mut rows = select.query([key])?;
                let _: Option<i64> = rows.next()?.map(|row| row.get(0)).transpose()?;
            }
            let mut upsert = txn.prepare_cached(
                "INSERT INTO cells VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = \
                 excluded.value",
            )?;
            for key in writes {
                upsert.execute(params![key, value])?;
            }
        }
        txn.commit()?;
        Ok(true)
    }
}
