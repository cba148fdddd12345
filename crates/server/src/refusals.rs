//! Counts how often clients were told that their transaction cannot go on beside others: what an
//! application has to try again.

use seriatim_sql::SqlError;
use seriatim_sql::error::code;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// MySQL's errors: a deadlock, a wait that was too long, a row that has changed.
const OF_MYSQL: [u16; 3] = [1213, 1205, 1020];

/// A count that servers and those who run them share.
#[derive(Clone, Default, Debug)]
pub struct Refusals(Arc<AtomicU64>);

impl Refusals {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A client of PostgreSQL is told this.
    pub(crate) fn note(&self, error: &SqlError) {
        if matches!(error.code(), code::SERIALIZATION_FAILURE | code::DEADLOCK_DETECTED) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A client of MySQL is told this.
    pub(crate) fn note_of_mysql(&self, number: u16) {
        if OF_MYSQL.contains(&number) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
