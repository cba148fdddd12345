//! Does a real database keep the isolation level that it promises?
//!
//! Sessions run transactions of known shapes ([`Workload`]) on tables of the audit's own, over a
//! [`Driver`] for each database; what they saw is recorded ([`Recorder`]) and checked, round by
//! round ([`Audit`]).

mod audit;
mod driver;
mod error;
mod record;
mod run;
mod setting;
mod url;
mod workload;

pub use audit::{Audit, Audited, Exemplar, Kept, Watcher};
pub use driver::{Client, Driver, DriverError, MySql, Postgres, Sent};
pub use error::AuditError;
pub use record::{Outcome, RecordedTxn, Recorder};
pub use run::{Round, Tally};
pub use setting::{NoSetting, Setting};
pub use url::without_password;
pub use workload::{NoWorkload, Step, Workload};

use std::hash::{BuildHasher, RandomState};

/// The database at an address. Its tables get a name that nobody can guess.
pub fn open(url: &str) -> Result<Box<dyn Driver>, AuditError> {
    let prefix = format!("seriatim_{:016x}", RandomState::new().hash_one(url));
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Box::new(Postgres::open(url, &prefix)?));
    }
    if url.starts_with("mysql://") || url.starts_with("mariadb://") {
        let url = url.replacen("mariadb://", "mysql://", 1);
        return Ok(Box::new(MySql::open(&url, &prefix)?));
    }
    Err(AuditError::Url(without_password(url)))
}
