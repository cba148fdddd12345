//! Turso: `BEGIN CONCURRENT` on versions of rows.

use crate::kv::other;
use seriatim_audit::{Answer, Dialect, DriverError, Setting, Speaker, SqlDriver};
use seriatim_isolation::Level;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use turso::{Builder, Connection, Database, Error, Value};

/// A database of Turso.
pub struct Turso {
    database: Database,
    runtime: Arc<Runtime>,
}

impl Turso {
    pub fn open(folder: &Path, runtime: &Arc<Runtime>) -> Result<Turso, DriverError> {
        let path = folder.join("turso.db");
        let build = Builder::new_local(&path.to_string_lossy()).build();
        let database = runtime.block_on(build).map_err(other)?;
        let turso = Turso { database, runtime: Arc::clone(runtime) };
        turso.speaker()?.say("PRAGMA journal_mode = 'mvcc'")?;
        Ok(turso)
    }
}

impl SqlDriver for Turso {
    type Speaker = TursoSpeaker;
    const DIALECT: Dialect = Dialect::Standard;

    fn product(&self) -> String {
        "Turso 0.8".to_owned()
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::RepeatableRead]
    }

    fn setting_name(&self, _: Setting) -> String {
        "BEGIN CONCURRENT".to_owned()
    }

    /// Its documentation: every transaction sees a snapshot, and of two that change the same rows
    /// one fails.
    fn promise(&self, _: Setting) -> Level {
        Level::SnapshotIsolation
    }

    fn speaker(&self) -> Result<TursoSpeaker, DriverError> {
        let conn = self.database.connect().map_err(other)?;
        Ok(TursoSpeaker { conn, runtime: Arc::clone(&self.runtime) })
    }

    fn prefix(&self) -> &str {
        "audit"
    }
}

/// A connection of Turso.
pub struct TursoSpeaker {
    conn: Connection,
    runtime: Arc<Runtime>,
}

fn shown(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) => Some(text),
        Value::Blob(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn failed(error: Error) -> DriverError {
    let text = error.to_string();
    match error {
        Error::Busy(_) | Error::BusySnapshot(_) | Error::Constraint(_) => {
            DriverError::Refused(text)
        }
        // As its documentation tells applications to look for it.
        Error::Error(_) if text.contains("conflict") => DriverError::Refused(text),
        _ => DriverError::Other(text),
    }
}

async fn ask(conn: &Connection, text: &str) -> Result<Answer, Error> {
    let mut statement = conn.prepare(text).await?;
    if statement.column_count() == 0 {
        let changed = statement.execute(()).await?;
        return Ok(Answer { rows: None, changed });
    }
    let mut found = Vec::new();
    let mut rows = statement.query(()).await?;
    while let Some(row) = rows.next().await? {
        let values = (0..row.column_count()).map(|place| row.get_value(place).map(shown));
        found.push(values.collect::<Result<_, Error>>()?);
    }
    Ok(Answer { rows: Some(found), changed: 0 })
}

impl Speaker for TursoSpeaker {
    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        // A conflict may have taken the transaction back already.
        if text == "ROLLBACK" && self.conn.is_autocommit().map_err(failed)? {
            return Ok(Answer::default());
        }
        self.runtime.block_on(ask(&self.conn, text)).map_err(failed)
    }

    fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
        self.say("BEGIN CONCURRENT").map(drop)
    }
}
