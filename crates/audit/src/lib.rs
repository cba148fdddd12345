//! Does a real database keep the isolation level that it promises?
//!
//! Sessions run transactions of known shapes ([`Workload`]) on tables of the audit's own, over a
//! [`Driver`] for each database; what they saw is recorded and checked, round by round ([`Audit`]).
//! What an application of yours does is recorded by a [`Recorder`] around its client.

mod adaptive;
mod again;
mod audit;
mod audited;
mod driver;
mod error;
mod fault;
pub mod hermitage;
mod judge;
mod lost;
mod network;
mod record;
mod round;
mod run;
mod server;
mod session;
mod setting;
mod shell;
mod template;
mod traffic;
mod url;
mod workload;

pub use again::{RecordedRound, Recording};
pub use audit::{Audit, audit, audit_again};
pub use audited::{Audited, Exemplar, Kept, Moment, Watcher};
pub use driver::{
    Answer, Client, Dialect, Driver, DriverError, DuckDb, MySql, Nodes, Postgres, Redis, Role,
    Sent, Speaker, SqlClient, SqlDriver, Sqlite,
};
pub use error::AuditError;
pub use fault::{Fault, FaultDone, NoFault};
pub use lost::LostWrite;
pub use record::{Outcome, RecordedTxn, Recorder};
pub use round::{Round, Tally};
pub use server::ServerProcess;
pub use setting::{NoSetting, Setting};
pub use template::{NoTemplate, Template};
pub use traffic::{SessionRecorder, TxnRecorder};
pub use url::without_password;
pub use workload::{NoWorkload, Shape, Step, Workload};

use std::hash::{BuildHasher, RandomState};

/// The database at an address, or the nodes of one at several. `read=` before an address means that
/// its sessions only read, `write=` that they do both, as without. Tables get a name that nobody
/// can guess.
pub fn open<T: AsRef<str>>(urls: &[T]) -> Result<Box<dyn Driver>, AuditError> {
    if urls.iter().all(|url| url.as_ref().starts_with("read=")) {
        return Err(AuditError::NoWriter);
    }
    let prefix = format!("seriatim_{:016x}", RandomState::new().hash_one("a name"));
    let mut nodes = urls.iter().map(|url| {
        let url = url.as_ref();
        let (role, url) = match (url.strip_prefix("read="), url.strip_prefix("write=")) {
            (Some(rest), _) => (Role::Read, rest),
            (None, Some(rest)) => (Role::All, rest),
            (None, None) => (Role::All, url),
        };
        Ok((role, open_one(url, &prefix)?))
    });
    if urls.len() == 1
        && let Some(node) = nodes.next()
    {
        return node.map(|(_, driver)| driver);
    }
    let nodes = nodes.collect::<Result<Vec<_>, AuditError>>()?;
    Ok(Box::new(Nodes::new(nodes)?))
}

fn open_one(url: &str, prefix: &str) -> Result<Box<dyn Driver>, AuditError> {
    let scheme = url.split(':').next().unwrap_or_default();
    Ok(match scheme {
        "postgres" | "postgresql" => Box::new(Postgres::open(url, prefix)?),
        "mysql" => Box::new(MySql::open(url, prefix)?),
        "mariadb" => Box::new(MySql::open(&url.replacen("mariadb", "mysql", 1), prefix)?),
        "redis" | "valkey" => Box::new(Redis::open(&url.replacen("valkey", "redis", 1), prefix)?),
        "duckdb" => Box::new(DuckDb::open(url, prefix)?),
        "sqlite" => Box::new(Sqlite::open(url, prefix)?),
        _ => return Err(AuditError::Url(without_password(url))),
    })
}
