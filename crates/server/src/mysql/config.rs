//! How a server of MySQL's protocol is to work.

use super::auth::NativePassword;
use crate::holding::Holding;
use crate::postgres::Tls;
use crate::refusals::Refusals;
use seriatim_sql::cells::TxnLevel;
use std::sync::Arc;
use std::time::Duration;

/// How a server of MySQL's protocol is to work; the defaults suit a test on one machine.
#[derive(Clone, Debug)]
pub struct MysqlConfig {
    /// How many sessions may be open.
    pub connections_max: usize,
    /// Whether statements lock rows and tables.
    pub uses_locks: bool,
    /// The largest packet of a client, in bytes.
    pub packet_bytes_max: usize,
    /// How long a client may take until it has a session.
    pub startup_wait_max: Duration,
    /// How long a client may read nothing of its answer.
    pub write_wait_max: Duration,
    /// The password of every user; without one everybody is trusted.
    pub password: Option<NativePassword>,
    /// What it takes to encrypt connections, if clients ask for it.
    pub tls: Option<Tls>,
    /// Holds statements so that clients overlap; without it none is held.
    pub holding: Option<Arc<Holding>>,
    /// The database that is there from the beginning.
    pub database: String,
    /// The level of transactions that ask for none: MySQL has REPEATABLE READ. Without it the store
    /// decides.
    pub default_level: Option<TxnLevel>,
    /// Whether transactions have that level whatever they ask for.
    pub is_level_forced: bool,
    /// What is added to statements of certain shapes (see [`seriatim_sql::parse::shape`]), to see
    /// what that would change: `FOR UPDATE`.
    pub additions: Vec<(String, String)>,
    /// Counts how often clients have to try a transaction again.
    pub refusals: Refusals,
    /// What `innodb_snapshot_isolation` is at first.
    pub snapshot_isolation: bool,
}

impl Default for MysqlConfig {
    fn default() -> MysqlConfig {
        MysqlConfig {
            connections_max: 500,
            uses_locks: true,
            packet_bytes_max: 256 << 20,
            startup_wait_max: Duration::from_secs(60),
            write_wait_max: Duration::from_secs(30),
            password: None,
            tls: None,
            holding: None,
            database: "test".to_owned(),
            default_level: None,
            is_level_forced: false,
            additions: Vec::new(),
            refusals: Refusals::default(),
            snapshot_isolation: false,
        }
    }
}
