//! How the benchmark applications are driven: each session attempts a fixed number of transactions,
//! and the seed decides which, with which parameters. A transaction that the application or the
//! database aborts counts as attempted; it is not tried again.

use crate::db::{Db, DbError};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// The seed of a benchmark application that was given none.
pub(crate) const SEED_DEFAULT: u64 = 10_000;

/// How much a benchmark application does, and what decides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What decides the transactions and their parameters.
    pub seed: u64,
    /// How many sessions there are.
    pub sessions: usize,
    /// How many transactions each session attempts.
    pub transactions: usize,
}

impl Workload {
    /// 3 sessions of 4 transactions.
    pub const fn small(seed: u64) -> Workload {
        Workload { seed, sessions: 3, transactions: 4 }
    }

    /// 3 sessions of 8 transactions.
    pub const fn large(seed: u64) -> Workload {
        Workload { seed, sessions: 3, transactions: 8 }
    }

    /// What a client draws from: it does not depend on what the others do.
    pub(crate) fn random(&self, client: usize) -> Random {
        Random(Pcg64Mcg::seed_from_u64(
            self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (client as u64 + 1),
        ))
    }

    /// How many transactions all sessions attempt together.
    pub(crate) fn total(&self) -> usize {
        self.sessions * self.transactions
    }
}

/// Draws numbers.
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub fn of_seed(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    /// A place in a list of so many.
    pub fn index(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    /// One of so many cases.
    pub fn case(&mut self, count: i32) -> i32 {
        self.0.random_range(0..count)
    }

    /// A small number from `low` to `high`, both included.
    pub fn few(&mut self, low: i32, high: i32) -> i32 {
        self.0.random_range(low..=high)
    }

    /// Whether a coin shows heads.
    pub fn coin(&mut self) -> bool {
        self.0.random_bool(0.5)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    /// Whether something happens that does in `percent` of 100 cases.
    pub fn percent(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of `choices`, by its weight.
    pub fn weighted<T: Copy>(&mut self, choices: &[(T, i64)]) -> T {
        let total: i64 = choices.iter().map(|choice| choice.1).sum();
        let mut drawn = self.between(1, total);
        for &(choice, weight) in choices {
            drawn -= weight;
            if drawn <= 0 {
                return choice;
            }
        }
        choices[choices.len() - 1].0
    }
}

/// How the body of a transaction ends.
pub(crate) enum End {
    Commit,
    Abort,
}

/// Attempts a transaction once; whether it committed.
pub(crate) fn attempt(
    db: &mut dyn Db,
    body: impl FnOnce(&mut dyn Db) -> Result<End, DbError>,
) -> Result<bool, DbError> {
    db.begin()?;
    let ended = match body(db) {
        Ok(End::Commit) => db.commit().map(|()| true),
        Ok(End::Abort) => db.withdraw().map(|()| false),
        Err(error) => Err(error),
    };
    match ended {
        Err(DbError::SerializationFailure) => {
            db.abort();
            Ok(false)
        }
        other => other,
    }
}

/// Reads what an assertion needs, in one transaction.
pub(crate) fn look<T>(
    db: &mut dyn Db,
    body: impl FnOnce(&mut dyn Db) -> Result<T, DbError>,
) -> Result<T, DbError> {
    db.begin()?;
    let seen = body(db)?;
    db.commit()?;
    Ok(seen)
}
