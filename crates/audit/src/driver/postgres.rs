//! PostgreSQL, and whatever speaks its protocol.

use super::{Client, Driver, DriverError, Sent};
use crate::setting::Setting;
use crate::url::without_password;
use postgres::error::SqlState;
use postgres::{Config, NoTls, SimpleQueryMessage};
use seriatim_isolation::Level;
use std::ops::Range;
use std::time::Duration;

/// How long to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a server may say nothing at all.
const ANSWER_MAX: Duration = Duration::from_secs(40);
/// How long a statement may take.
const STATEMENT_MAX: &str = "30s";

/// A server of PostgreSQL's protocol.
#[derive(Clone, Debug)]
pub struct Postgres {
    config: Config,
    /// What people may see of the address.
    shown: String,
    product: String,
    prefix: String,
}

impl Postgres {
    /// The server at an address, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<Postgres, DriverError> {
        let shown = without_password(url);
        let refused = |error: postgres::Error| DriverError::Connect(shown.clone(), told(&error));
        let mut config: Config = url.parse().map_err(refused)?;
        config.connect_timeout(CONNECT_MAX).application_name("seriatim audit");
        config.tcp_user_timeout(ANSWER_MAX).keepalives_idle(ANSWER_MAX);
        let mut client = config.connect(NoTls).map_err(refused)?;
        let row = client.query_one("SHOW server_version", &[]).map_err(failed)?;
        let version: String = row.try_get(0).map_err(failed)?;
        // Distributors add words of their own.
        let version = version.split_whitespace().next().unwrap_or_default();
        let product = format!("PostgreSQL {version}");
        Ok(Postgres { config, shown, product, prefix: prefix.to_owned() })
    }

    fn client(&self) -> Result<postgres::Client, DriverError> {
        let connect =
            |error: postgres::Error| DriverError::Connect(self.shown.clone(), told(&error));
        let mut client = self.config.connect(NoTls).map_err(connect)?;
        client
            .batch_execute(&format!("SET statement_timeout = '{STATEMENT_MAX}'"))
            .map_err(failed)?;
        Ok(client)
    }
}

impl Driver for Postgres {
    fn product(&self) -> String {
        self.product.clone()
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::ReadCommitted, Setting::RepeatableRead, Setting::Serializable]
    }

    fn promise(&self, setting: Setting) -> Level {
        match setting {
            Setting::ReadUncommitted | Setting::ReadCommitted => Level::ReadCommitted,
            Setting::RepeatableRead => Level::SnapshotIsolation,
            Setting::Serializable => Level::Serializable,
        }
    }

    fn set_up(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let prefix = &self.prefix;
        let (first, last) = (registers.start, registers.end.saturating_sub(1));
        let script = format!(
            "CREATE TABLE {prefix}_register (id bigint PRIMARY KEY, value bigint NOT NULL);
             CREATE TABLE {prefix}_row (id bigint PRIMARY KEY, part bigint NOT NULL, \
             value bigint NOT NULL);
             INSERT INTO {prefix}_register SELECT id, 0 FROM generate_series({first}, {last}) id;"
        );
        self.client()?.batch_execute(&script).map_err(failed)
    }

    fn clean_up(&self) -> Result<(), DriverError> {
        let prefix = &self.prefix;
        let script = format!("DROP TABLE IF EXISTS {prefix}_register, {prefix}_row");
        self.client()?.batch_execute(&script).map_err(failed)
    }

    fn connect(&self) -> Result<Box<dyn Client>, DriverError> {
        Ok(Box::new(PostgresClient { client: self.client()?, prefix: self.prefix.clone() }))
    }
}

struct PostgresClient {
    client: postgres::Client,
    prefix: String,
}

impl PostgresClient {
    fn query(&mut self, text: String) -> Result<Sent, DriverError> {
        let messages = self.client.simple_query(&text).map_err(failed)?;
        let mut rows = Vec::new();
        for message in messages {
            if let SimpleQueryMessage::Row(row) = message {
                let value = |column| row.try_get(column).ok().flatten().map(str::to_owned);
                rows.push((0..row.len()).map(value).collect());
            }
        }
        Ok(Sent { text, rows: Some(rows) })
    }

    fn change(&mut self, text: String) -> Result<Sent, DriverError> {
        self.query(text).map(|sent| Sent { rows: None, ..sent })
    }
}

impl Client for PostgresClient {
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError> {
        let text = format!("BEGIN ISOLATION LEVEL {setting}");
        self.client.batch_execute(&text).map_err(failed)
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        let prefix = &self.prefix;
        let sent =
            self.query(format!("SELECT value FROM {prefix}_register WHERE id = {register}"))?;
        Ok((super::mysql::number(&sent), sent))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        let prefix = &self.prefix;
        self.change(format!("UPDATE {prefix}_register SET value = {value} WHERE id = {register}"))
    }

    fn scan(&mut self, part: u64) -> Result<(Vec<(u64, i64)>, Sent), DriverError> {
        let prefix = &self.prefix;
        let sent = self.query(format!("SELECT id, value FROM {prefix}_row WHERE part = {part}"))?;
        Ok((super::mysql::pairs(&sent), sent))
    }

    fn insert(&mut self, part: u64, row: u64, value: i64) -> Result<Sent, DriverError> {
        let prefix = &self.prefix;
        self.change(format!("INSERT INTO {prefix}_row VALUES ({row}, {part}, {value})"))
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.client.batch_execute("COMMIT").map_err(failed)
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        self.client.batch_execute("ROLLBACK").map_err(failed)
    }
}

/// The words of the server, or of the driver.
fn told(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} [{}]", error.message(), error.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
        }
    }
}

/// Refusals that are a transaction's lot: serialization failures, deadlocks, locks that are not to
/// be had.
const REFUSALS: [&SqlState; 4] = [
    &SqlState::T_R_SERIALIZATION_FAILURE,
    &SqlState::T_R_DEADLOCK_DETECTED,
    &SqlState::LOCK_NOT_AVAILABLE,
    &SqlState::UNIQUE_VIOLATION,
];

fn failed(error: postgres::Error) -> DriverError {
    let text = told(&error);
    match error.code() {
        Some(code) if REFUSALS.contains(&code) => DriverError::Refused(text),
        // The server ends connections with errors of class 57P and 08.
        Some(code) if code.code().starts_with("57P") || code.code().starts_with("08") => {
            DriverError::Lost(text)
        }
        Some(_) => DriverError::Other(text),
        None => DriverError::Lost(text),
    }
}
