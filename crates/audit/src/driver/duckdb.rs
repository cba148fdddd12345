//! DuckDB, in this process: a connection for each session, on one database.

use super::duckdb_library::{Connection, Database};
use super::sql::SqlDriver;
use super::{Answer, Dialect, DriverError, Speaker};
use crate::setting::Setting;
use seriatim_isolation::Level;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A database of DuckDB.
pub struct DuckDb {
    database: Arc<Database>,
    product: String,
    prefix: String,
    /// What goes away with it, because it was not there before.
    _made: Made,
}

impl std::fmt::Debug for DuckDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.product)
    }
}

/// Files that were made for an audit. They are taken away when the database is closed.
struct Made(Option<PathBuf>);

impl Drop for Made {
    fn drop(&mut self) {
        let Some(path) = &self.0 else { return };
        for ending in ["", ".wal"] {
            let mut name = path.clone().into_os_string();
            name.push(ending);
            // There is nobody to tell.
            let _ = std::fs::remove_file(Path::new(&name));
        }
    }
}

impl DuckDb {
    /// The file of `duckdb:PATH`, or `duckdb::memory:`, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<DuckDb, DriverError> {
        let path = url.strip_prefix("duckdb:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        let connect = |text: String| DriverError::Connect(url.to_owned(), text);
        if path.is_empty() {
            return Err(connect("use duckdb:FILE or duckdb::memory:".to_owned()));
        }
        let is_new = path != ":memory:" && !Path::new(path).exists();
        let database = Arc::new(Database::open(path).map_err(connect)?);
        let product = format!("DuckDB {}", database.version().trim_start_matches('v'));
        let made = Made(is_new.then(|| PathBuf::from(path)));
        Ok(DuckDb { database, product, prefix: prefix.to_owned(), _made: made })
    }
}

impl SqlDriver for DuckDb {
    type Speaker = DuckDbSpeaker;
    const DIALECT: Dialect = Dialect::Standard;

    fn product(&self) -> String {
        self.product.clone()
    }

    /// There is one level, which nobody asks for by name.
    fn settings(&self) -> Vec<Setting> {
        vec![Setting::RepeatableRead]
    }

    fn setting_name(&self, _: Setting) -> String {
        "its only level".to_owned()
    }

    /// Its documentation: snapshot isolation, by versions of rows and optimistic checks.
    fn promise(&self, _: Setting) -> Level {
        Level::SnapshotIsolation
    }

    fn speaker(&self) -> Result<DuckDbSpeaker, DriverError> {
        self.database.connect().map(DuckDbSpeaker).map_err(DriverError::Other)
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// A connection of DuckDB.
#[derive(Debug)]
pub struct DuckDbSpeaker(Connection);

impl Speaker for DuckDbSpeaker {
    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        let (rows, changed) = self.0.run(text).map_err(failed)?;
        Ok(Answer { rows, changed })
    }

    fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
        self.say("BEGIN TRANSACTION").map(drop)
    }
}

/// A transaction that loses a race is told so by an error that begins with one of these.
const REFUSALS: [&str; 2] = ["TransactionContext Error", "Constraint Error"];

fn failed(text: String) -> DriverError {
    match REFUSALS.iter().any(|beginning| text.starts_with(beginning)) {
        true => DriverError::Refused(text),
        false => DriverError::Other(text),
    }
}
