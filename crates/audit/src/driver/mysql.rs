//! MySQL and MariaDB, and whatever speaks their protocol.

use super::{Client, Driver, DriverError, Sent};
use crate::setting::Setting;
use crate::url::without_password;
use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Opts, OptsBuilder, Row, Value};
use seriatim_isolation::Level;
use std::ops::Range;
use std::time::Duration;

/// How long to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a statement may take.
const STATEMENT_MAX: Duration = Duration::from_secs(30);
/// Refusals that are a transaction's lot: deadlock, lock wait timeout, a row that has changed, a
/// row that is there, a conflict of a cluster.
const REFUSALS: [u16; 5] = [1213, 1205, 1020, 1062, 1047];

/// What is said of connections that end: shutdown, interrupted, killed, timed out.
const LOST: [u16; 4] = [1053, 1317, 1927, 4031];

/// A server of MySQL's protocol.
#[derive(Clone, Debug)]
pub struct MySql {
    opts: Opts,
    /// What people may see of the address.
    shown: String,
    product: String,
    /// Whether REPEATABLE READ refuses to overwrite what a snapshot does not show.
    is_snapshot: bool,
    prefix: String,
}

impl MySql {
    /// The server at an address, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<MySql, DriverError> {
        let shown = without_password(url);
        let connect = |text: String| DriverError::Connect(shown.clone(), text);
        let opts = Opts::from_url(url).map_err(|error| connect(error.to_string()))?;
        let opts: Opts = OptsBuilder::from_opts(opts)
            .tcp_connect_timeout(Some(CONNECT_MAX))
            .read_timeout(Some(STATEMENT_MAX))
            .write_timeout(Some(STATEMENT_MAX))
            .into();
        let mut conn = Conn::new(opts.clone()).map_err(|error| connect(error.to_string()))?;
        let version: Option<String> = conn.query_first("SELECT VERSION()").map_err(failed)?;
        let version = version.unwrap_or_default();
        let number = version.split('-').next().unwrap_or_default();
        let name = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
        let setting: Option<(String, String)> =
            conn.query_first("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").map_err(failed)?;
        let is_snapshot = setting.is_some_and(|(_, value)| value == "ON");
        let product = format!("{name} {number}");
        Ok(MySql { opts, shown, product, is_snapshot, prefix: prefix.to_owned() })
    }

    fn conn(&self) -> Result<Conn, DriverError> {
        Conn::new(self.opts.clone())
            .map_err(|error| DriverError::Connect(self.shown.clone(), error.to_string()))
    }
}

impl Driver for MySql {
    fn product(&self) -> String {
        let snapshot = if self.is_snapshot { " (innodb_snapshot_isolation=ON)" } else { "" };
        format!("{}{snapshot}", self.product)
    }

    fn settings(&self) -> Vec<Setting> {
        Setting::ALL.to_vec()
    }

    fn promise(&self, setting: Setting) -> Level {
        match setting {
            Setting::ReadUncommitted => Level::Unconstrained,
            Setting::ReadCommitted => Level::ReadCommitted,
            Setting::RepeatableRead if self.is_snapshot => Level::SnapshotIsolation,
            // What the standard asks for: reads repeat.
            Setting::RepeatableRead => Level::CutIsolation,
            Setting::Serializable => Level::Serializable,
        }
    }

    fn set_up(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let (prefix, mut conn) = (&self.prefix, self.conn()?);
        conn.query_drop(format!(
            "CREATE TABLE {prefix}_register (id BIGINT PRIMARY KEY, value BIGINT NOT NULL) \
             ENGINE=InnoDB"
        ))
        .map_err(failed)?;
        conn.query_drop(format!(
            "CREATE TABLE {prefix}_row (id BIGINT PRIMARY KEY, part BIGINT NOT NULL, value BIGINT \
             NOT NULL, KEY (part)) ENGINE=InnoDB"
        ))
        .map_err(failed)?;
        let ids: Vec<u64> = registers.collect();
        for part in ids.chunks(1000) {
            let rows: Vec<String> = part.iter().map(|id| format!("({id}, 0)")).collect();
            let rows = rows.join(", ");
            conn.query_drop(format!("INSERT INTO {prefix}_register VALUES {rows}"))
                .map_err(failed)?;
        }
        Ok(())
    }

    fn clean_up(&self) -> Result<(), DriverError> {
        let prefix = &self.prefix;
        self.conn()?
            .query_drop(format!("DROP TABLE IF EXISTS {prefix}_register, {prefix}_row"))
            .map_err(failed)
    }

    fn connect(&self) -> Result<Box<dyn Client>, DriverError> {
        Ok(Box::new(MySqlClient { conn: self.conn()?, prefix: self.prefix.clone() }))
    }
}

struct MySqlClient {
    conn: Conn,
    prefix: String,
}

impl MySqlClient {
    fn query(&mut self, text: String) -> Result<Sent, DriverError> {
        let rows: Vec<Row> = self.conn.query(&text).map_err(failed)?;
        let rows = rows.into_iter().map(|row| row.unwrap().iter().map(shown).collect()).collect();
        Ok(Sent { text, rows: Some(rows) })
    }

    fn change(&mut self, text: String) -> Result<Sent, DriverError> {
        self.conn.query_drop(&text).map_err(failed)?;
        Ok(Sent { text, rows: None })
    }
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

/// The first value of the first row, as a number.
pub(super) fn number(sent: &Sent) -> Option<i64> {
    sent.rows.as_ref()?.first()?.first()?.as_ref()?.parse().ok()
}

/// The first two values of each row, as numbers.
pub(super) fn pairs(sent: &Sent) -> Vec<(u64, i64)> {
    let pair = |row: &Vec<Option<String>>| {
        Some((row.first()?.as_ref()?.parse().ok()?, row.get(1)?.as_ref()?.parse().ok()?))
    };
    sent.rows.iter().flatten().filter_map(pair).collect()
}

impl Client for MySqlClient {
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError> {
        let level = format!("SET TRANSACTION ISOLATION LEVEL {setting}");
        self.conn.query_drop(level).map_err(failed)?;
        self.conn.query_drop("START TRANSACTION").map_err(failed)
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        let prefix = &self.prefix;
        let sent =
            self.query(format!("SELECT value FROM {prefix}_register WHERE id = {register}"))?;
        Ok((number(&sent), sent))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        let prefix = &self.prefix;
        self.change(format!("UPDATE {prefix}_register SET value = {value} WHERE id = {register}"))
    }

    fn scan(&mut self, part: u64) -> Result<(Vec<(u64, i64)>, Sent), DriverError> {
        let prefix = &self.prefix;
        let sent = self.query(format!("SELECT id, value FROM {prefix}_row WHERE part = {part}"))?;
        Ok((pairs(&sent), sent))
    }

    fn insert(&mut self, part: u64, row: u64, value: i64) -> Result<Sent, DriverError> {
        let prefix = &self.prefix;
        self.change(format!("INSERT INTO {prefix}_row VALUES ({row}, {part}, {value})"))
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.conn.query_drop("COMMIT").map_err(failed)
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        self.conn.query_drop("ROLLBACK").map_err(failed)
    }
}

fn failed(error: ::mysql::Error) -> DriverError {
    match error {
        ::mysql::Error::MySqlError(error) if REFUSALS.contains(&error.code) => {
            DriverError::Refused(error.to_string())
        }
        ::mysql::Error::MySqlError(error) if LOST.contains(&error.code) => {
            DriverError::Lost(error.to_string())
        }
        ::mysql::Error::MySqlError(error) => DriverError::Other(error.to_string()),
        other => DriverError::Lost(other.to_string()),
    }
}
