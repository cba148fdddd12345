//! PostgreSQL, and whatever speaks its protocol.

use super::sql::SqlDriver;
use super::tls::{self, Encryption, take_parameter};
use super::{Answer, Dialect, DriverError, Speaker, silent};
use crate::setting::Setting;
use crate::url::without_password;
use seriatim_isolation::Level;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a statement may take.
const STATEMENT_MAX: &str = "30s";
/// How long a server may say nothing at all.
const ANSWER_MAX: Duration = Duration::from_secs(40);

/// A server of PostgreSQL's protocol.
#[derive(Clone)]
pub struct Postgres {
    config: Config,
    tls: MakeRustlsConnect,
    /// What people may see of the address.
    shown: String,
    product: String,
    /// Whether it follows another server: then nothing can be written, and it has no SERIALIZABLE.
    is_standby: bool,
    prefix: String,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.product, self.shown)
    }
}

/// What an address says of encryption, and the rest of it.
fn encryption(url: &str) -> Result<(Encryption, String), String> {
    let (mode, url) = take_parameter(url, "sslmode");
    let (root, url) = take_parameter(&url, "sslrootcert");
    let encryption = match mode.as_deref() {
        None | Some("prefer" | "allow") => Encryption::Preferred,
        Some("disable") => Encryption::Off,
        Some("require") => Encryption::Required,
        Some("verify-ca" | "verify-full") => Encryption::Verified(root.map(Into::into)),
        Some(other) => {
            return Err(format!(
                "there is no sslmode `{other}`; use disable, prefer, require or verify-full"
            ));
        }
    };
    Ok((encryption, url))
}

impl Postgres {
    /// The server at an address, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<Postgres, DriverError> {
        let shown = without_password(url);
        let refused = |text: String| DriverError::Connect(shown.clone(), text);
        let (encryption, url) = encryption(url).map_err(refused)?;
        let mut config: Config = url.parse().map_err(|error| refused(told(&error)))?;
        config.connect_timeout(CONNECT_MAX).application_name("seriatim audit");
        config.tcp_user_timeout(ANSWER_MAX).keepalives_idle(ANSWER_MAX);
        config.ssl_mode(match encryption {
            Encryption::Off => SslMode::Disable,
            Encryption::Preferred => SslMode::Prefer,
            Encryption::Required | Encryption::Verified(_) => SslMode::Require,
        });
        let tls = MakeRustlsConnect::new(tls::config(&encryption).map_err(refused)?);
        let prefix = prefix.to_owned();
        let product = String::new();
        let mut server = Postgres { config, tls, shown, product, is_standby: false, prefix };
        server.look()?;
        Ok(server)
    }

    /// Asks what it is.
    fn look(&mut self) -> Result<(), DriverError> {
        let mut speaker = self.speaker()?;
        let mut first = |text| {
            let answer = speaker.say(text)?;
            let value =
                answer.rows.into_iter().flatten().next().and_then(|row| row.into_iter().next());
            Ok::<String, DriverError>(value.flatten().unwrap_or_default())
        };
        let version = first("SHOW server_version")?;
        self.product = product(&version, &first("SELECT version()").unwrap_or_default());
        // Servers that only speak the protocol may not know what a standby is.
        self.is_standby = first("SELECT pg_is_in_recovery()").is_ok_and(|value| value == "t");
        Ok(())
    }
}

/// What speaks the protocol, with its version, by what it says of itself.
fn product(version: &str, about: &str) -> String {
    if let Some(cockroach) = about.strip_prefix("CockroachDB") {
        // CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, …)
        let own = cockroach.split_whitespace().find_map(|word| word.strip_prefix('v'));
        return format!("CockroachDB {}", own.unwrap_or(version));
    }
    // PostgreSQL 11.2-YB-2.18.1.0-b0 on x86_64-pc-linux-gnu, …
    if let Some((_, own)) = about.split_once("-YB-") {
        return format!("YugabyteDB {}", own.split(['-', ' ']).next().unwrap_or_default());
    }
    // Distributors add words of their own.
    format!("PostgreSQL {}", version.split_whitespace().next().unwrap_or_default())
}

impl SqlDriver for Postgres {
    type Speaker = PostgresSpeaker;
    const DIALECT: Dialect = Dialect::Standard;

    fn product(&self) -> String {
        let standby = if self.is_standby { " (standby)" } else { "" };
        format!("{}{standby}", self.product)
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::ReadCommitted, Setting::RepeatableRead, Setting::Serializable]
    }

    fn promise(&self, setting: Setting) -> Level {
        match setting {
            Setting::ReadUncommitted | Setting::ReadCommitted => Level::ReadCommitted,
            Setting::RepeatableRead => Level::SnapshotIsolation,
            Setting::Serializable if self.is_standby => Level::SnapshotIsolation,
            Setting::Serializable => Level::Serializable,
        }
    }

    fn speaker(&self) -> Result<PostgresSpeaker, DriverError> {
        let connect = |text: String| DriverError::Connect(self.shown.clone(), text);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| connect(error.to_string()))?;
        let client = runtime.block_on(async {
            let connected =
                tokio::time::timeout(CONNECT_MAX, self.config.connect(self.tls.clone()));
            let (client, connection) = match connected.await {
                Ok(connected) => connected.map_err(|error| connect(told(&error)))?,
                Err(_) => return Err(connect(silent(CONNECT_MAX))),
            };
            // It is over when the client is, and whoever asks the client is told of its errors.
            tokio::spawn(async move { drop(connection.await) });
            Ok(client)
        })?;
        let mut speaker = PostgresSpeaker { runtime, client, is_standby: self.is_standby };
        speaker.say(&format!("SET statement_timeout = '{STATEMENT_MAX}'"))?;
        Ok(speaker)
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// A connection of PostgreSQL.
#[derive(Debug)]
pub struct PostgresSpeaker {
    /// Drives the connection while an answer is awaited, and not otherwise.
    runtime: Runtime,
    client: tokio_postgres::Client,
    is_standby: bool,
}

impl Speaker for PostgresSpeaker {
    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        let asked = self.client.simple_query(text);
        let messages =
            self.runtime.block_on(async { tokio::time::timeout(ANSWER_MAX, asked).await });
        let messages = match messages {
            Ok(messages) => messages.map_err(failed)?,
            Err(_) => return Err(DriverError::Lost(silent(ANSWER_MAX))),
        };
        let mut answer = Answer::default();
        for message in messages {
            match message {
                SimpleQueryMessage::RowDescription(_) => answer.rows = Some(Vec::new()),
                SimpleQueryMessage::Row(row) => {
                    let value = |column| row.try_get(column).ok().flatten().map(str::to_owned);
                    let values = (0..row.len()).map(value).collect();
                    answer.rows.get_or_insert_default().push(values);
                }
                SimpleQueryMessage::CommandComplete(changed) => answer.changed = changed,
                _ => {}
            }
        }
        Ok(answer)
    }

    fn begin(&mut self, setting: Setting) -> Result<(), DriverError> {
        let setting = match setting {
            Setting::Serializable if self.is_standby => Setting::RepeatableRead,
            other => other,
        };
        self.say(&format!("BEGIN ISOLATION LEVEL {setting}")).map(drop)
    }
}

/// The words of the server, or of the driver.
fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} [{}]", error.message(), error.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
        }
    }
}

/// Refusals that are a transaction's lot: serialization failures, deadlocks, locks that are not to
/// be had, keys that are there.
const REFUSALS: [&SqlState; 4] = [
    &SqlState::T_R_SERIALIZATION_FAILURE,
    &SqlState::T_R_DEADLOCK_DETECTED,
    &SqlState::LOCK_NOT_AVAILABLE,
    &SqlState::UNIQUE_VIOLATION,
];

fn failed(error: tokio_postgres::Error) -> DriverError {
    let text = told(&error);
    match error.code() {
        Some(code) if REFUSALS.contains(&code) => DriverError::Refused(text),
        // The server ends connections with errors of class 57P and 08; CockroachDB says by 40003
        // that it does not know what became of a statement.
        Some(code) if ["57P", "08", "40003"].iter().any(|it| code.code().starts_with(it)) => {
            DriverError::Lost(text)
        }
        Some(_) => DriverError::Other(text),
        None => DriverError::Lost(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_told_by_their_versions() {
        for (version, about, expected) in [
            ("15.20 (Debian 15.20-0+deb12u1)", "PostgreSQL 15.20 (Debian …", "PostgreSQL 15.20"),
            ("13.0.0", "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, …", "CockroachDB 23.1.11"),
            ("11.2-YB-2.18.1.0-b0", "PostgreSQL 11.2-YB-2.18.1.0-b0 on x86", "YugabyteDB 2.18.1.0"),
            ("16.1", "", "PostgreSQL 16.1"),
        ] {
            assert_eq!(product(version, about), expected);
        }
    }
}
