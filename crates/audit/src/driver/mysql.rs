//! MySQL and MariaDB, and whatever speaks their protocol.

use super::sql::SqlDriver;
use super::tls::{Encryption, take_parameter};
use super::{Answer, Dialect, DriverError, Speaker, is_silence, silent};
use crate::setting::Setting;
use crate::url::without_password;
use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Opts, OptsBuilder, Row, SslOpts, Value};
use seriatim_isolation::Level;
use std::time::Duration;

/// How long to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a statement may take.
const STATEMENT_MAX: Duration = Duration::from_secs(30);
/// Refusals that are a transaction's lot: deadlock, lock wait timeout, a row that has changed, a
/// row that is there, a node of a cluster that is not ready; of TiDB a conflict of writes, one that
/// could be tried again, and a lock that was lost.
const REFUSALS: [u16; 8] = [1213, 1205, 1020, 1062, 1047, 9007, 8002, 8022];
/// What is said of connections that end: shutdown, interrupted, killed, timed out.
const LOST: [u16; 4] = [1053, 1317, 1927, 4031];

/// A server of MySQL's protocol.
#[derive(Clone, Debug)]
pub struct MySql {
    opts: Opts,
    /// What people may see of the address.
    shown: String,
    product: String,
    kind: Kind,
    /// Whether REPEATABLE READ refuses to overwrite what a snapshot does not show.
    is_snapshot: bool,
    prefix: String,
}

/// What an address says of encryption, and the rest of it.
fn encryption(url: &str) -> Result<(Encryption, String), String> {
    let (mode, url) = take_parameter(url, "ssl-mode");
    let (root, url) = take_parameter(&url, "ssl-ca");
    let encryption = match mode.map(|mode| mode.to_uppercase()).as_deref() {
        None | Some("DISABLED" | "PREFERRED") => Encryption::Off,
        Some("REQUIRED") => Encryption::Required,
        Some("VERIFY_CA" | "VERIFY_IDENTITY") => Encryption::Verified(root.map(Into::into)),
        Some(other) => {
            return Err(format!(
                "there is no ssl-mode `{other}`; use DISABLED, REQUIRED or VERIFY_IDENTITY"
            ));
        }
    };
    Ok((encryption, url))
}

fn ssl_options(encryption: Encryption) -> Option<SslOpts> {
    match encryption {
        Encryption::Off | Encryption::Preferred => None,
        Encryption::Required => {
            let anyone = SslOpts::default().with_danger_accept_invalid_certs(true);
            Some(anyone.with_danger_skip_domain_validation(true))
        }
        Encryption::Verified(root) => Some(SslOpts::default().with_root_cert_path(root)),
    }
}

impl MySql {
    /// The server at an address, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<MySql, DriverError> {
        let shown = without_password(url);
        let connect = |text: String| DriverError::Connect(shown.clone(), text);
        let (encryption, url) = encryption(url).map_err(connect)?;
        let opts = Opts::from_url(&url).map_err(|error| connect(error.to_string()))?;
        let opts: Opts = OptsBuilder::from_opts(opts)
            .tcp_connect_timeout(Some(CONNECT_MAX))
            // A server may stand behind the address of something else.
            .prefer_socket(false)
            // Of a statement as well as of a greeting: the client has one for both.
            .read_timeout(Some(STATEMENT_MAX))
            .write_timeout(Some(STATEMENT_MAX))
            .ssl_opts(ssl_options(encryption))
            .into();
        let mut conn = Conn::new(opts.clone()).map_err(|error| connect(told(&error)))?;
        let version: Option<String> = conn.query_first("SELECT VERSION()").map_err(failed)?;
        let version = version.unwrap_or_default();
        // Servers that only speak the protocol may not have it.
        let comment: Option<String> = conn.query_first("SELECT @@version_comment").ok().flatten();
        let kind = Kind::of(&version, &comment.unwrap_or_default());
        let mut is_on = |variable: &str| {
            let asked = format!("SHOW VARIABLES LIKE '{variable}'");
            let found: Option<(String, String)> = conn.query_first(asked).map_err(failed)?;
            Ok::<bool, DriverError>(found.is_some_and(|(_, value)| value == "ON"))
        };
        let is_snapshot = is_on("innodb_snapshot_isolation")?;
        let cluster = if is_on("wsrep_on")? { " Galera" } else { "" };
        let product = format!("{}{cluster} {}", kind.name(), kind.number(&version));
        Ok(MySql { opts, shown, product, kind, is_snapshot, prefix: prefix.to_owned() })
    }
}

/// What speaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    MySql,
    MariaDb,
    Percona,
    TiDb,
}

impl Kind {
    fn of(version: &str, comment: &str) -> Kind {
        match () {
            () if version.contains("MariaDB") => Kind::MariaDb,
            () if version.contains("TiDB") => Kind::TiDb,
            () if comment.contains("Percona") => Kind::Percona,
            () => Kind::MySql,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::MySql => "MySQL",
            Kind::MariaDb => "MariaDB",
            Kind::Percona => "Percona Server",
            Kind::TiDb => "TiDB",
        }
    }

    /// `10.11.19` of `10.11.19-MariaDB-log`, and `7.5.0` of `8.0.11-TiDB-v7.5.0`.
    fn number(self, version: &str) -> &str {
        let own = match self {
            Kind::TiDb => version.split_once("TiDB-v").map_or(version, |(_, own)| own),
            _ => version,
        };
        own.split('-').next().unwrap_or_default()
    }
}

impl SqlDriver for MySql {
    type Speaker = MySqlSpeaker;
    const DIALECT: Dialect = Dialect::MySql;

    fn product(&self) -> String {
        let snapshot = if self.is_snapshot { " (innodb_snapshot_isolation=ON)" } else { "" };
        format!("{}{snapshot}", self.product)
    }

    fn settings(&self) -> Vec<Setting> {
        match self.kind {
            // Its documentation: the others are refused.
            Kind::TiDb => vec![Setting::ReadCommitted, Setting::RepeatableRead],
            _ => Setting::ALL.to_vec(),
        }
    }

    fn promise(&self, setting: Setting) -> Level {
        match setting {
            Setting::ReadUncommitted => Level::Unconstrained,
            Setting::ReadCommitted => Level::ReadCommitted,
            // TiDB's documentation: snapshot isolation, which it calls so to be like MySQL.
            Setting::RepeatableRead if self.is_snapshot || self.kind == Kind::TiDb => {
                Level::SnapshotIsolation
            }
            // What the standard asks for: reads repeat.
            Setting::RepeatableRead => Level::CutIsolation,
            Setting::Serializable => Level::Serializable,
        }
    }

    fn speaker(&self) -> Result<MySqlSpeaker, DriverError> {
        Conn::new(self.opts.clone())
            .map(|conn| MySqlSpeaker { conn, may_be_open: false })
            .map_err(|error| DriverError::Connect(self.shown.clone(), told(&error)))
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// A connection of MySQL.
#[derive(Debug)]
pub struct MySqlSpeaker {
    conn: Conn,
    /// Whether the end of a transaction was refused, so that it may still be under way.
    may_be_open: bool,
}

impl Speaker for MySqlSpeaker {
    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        self.may_be_open = text == "COMMIT";
        let mut result = self.conn.query_iter(text).map_err(failed)?;
        let has_rows = !result.columns().as_ref().is_empty();
        // Behind the last row it is forgotten.
        let changed = result.affected_rows();
        let mut rows = Vec::new();
        for row in result.by_ref() {
            let row: Row = row.map_err(failed)?;
            rows.push(row.unwrap().iter().map(shown).collect());
        }
        drop(result);
        self.may_be_open = false;
        Ok(Answer { rows: has_rows.then_some(rows), changed })
    }

    fn begin(&mut self, setting: Setting) -> Result<(), DriverError> {
        if self.may_be_open {
            self.say("ROLLBACK").map_err(|error| DriverError::Lost(error.to_string()))?;
        }
        self.say(&format!("SET TRANSACTION ISOLATION LEVEL {setting}"))?;
        self.say("START TRANSACTION").map(drop)
    }
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

/// The words of the server, or what became of the connection.
fn told(error: &::mysql::Error) -> String {
    match error {
        ::mysql::Error::MySqlError(error) => error.to_string(),
        ::mysql::Error::DriverError(error) => error.to_string(),
        ::mysql::Error::IoError(error) if is_silence(error) => silent(STATEMENT_MAX),
        ::mysql::Error::CodecError(error) if is_silence(error) => silent(STATEMENT_MAX),
        ::mysql::Error::IoError(error) => error.to_string(),
        other => other.to_string(),
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
        other => DriverError::Lost(told(&other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_told_by_their_versions() {
        for (version, comment, expected) in [
            ("10.11.19-MariaDB-0+deb12u1", "Debian 12", "MariaDB 10.11.19"),
            ("8.0.36", "MySQL Community Server - GPL", "MySQL 8.0.36"),
            ("8.0.36-28", "Percona Server (GPL), Release 28", "Percona Server 8.0.36"),
            ("8.0.11-TiDB-v7.5.0", "TiDB Server (Apache License 2.0)", "TiDB 7.5.0"),
            ("5.7.25-TiDB-v7.1.0-alpha", "", "TiDB 7.1.0"),
        ] {
            let kind = Kind::of(version, comment);
            assert_eq!(format!("{} {}", kind.name(), kind.number(version)), expected);
        }
    }
}
