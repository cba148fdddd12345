//! SQLite, in this process: a connection for each session, on one file.

use super::sql::SqlDriver;
use super::tls::take_parameter;
use super::{Answer, Dialect, DriverError, Speaker};
use crate::setting::Setting;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};
use seriatim_isolation::Level;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a session waits for the lock of the file.
const BUSY_MAX: Duration = Duration::from_secs(5);

/// A file of SQLite.
#[derive(Clone, Debug)]
pub struct Sqlite {
    path: PathBuf,
    /// Whether the file was not there before: then it goes away afterwards.
    is_new: bool,
    journal: String,
    prefix: String,
}

impl Sqlite {
    /// The file of `sqlite:PATH`, perhaps with `?journal=wal`, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<Sqlite, DriverError> {
        let (journal, rest) = take_parameter(url, "journal");
        let path = rest.strip_prefix("sqlite:").unwrap_or(&rest);
        let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
        let connect = |text: String| DriverError::Connect(path.display().to_string(), text);
        let is_word = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric());
        if path.as_os_str().is_empty() || !journal.iter().all(is_word) {
            return Err(connect("use sqlite:FILE or sqlite:FILE?journal=wal".to_owned()));
        }
        let is_new = !path.exists();
        let mut sqlite = Sqlite {
            path: path.clone(),
            is_new,
            journal: String::new(),
            prefix: prefix.to_owned(),
        };
        let mut speaker = sqlite.speaker()?;
        if let Some(journal) = journal {
            speaker.say(&format!("PRAGMA journal_mode = {journal}"))?;
        }
        let mode = speaker.say("PRAGMA journal_mode")?;
        let mode = mode.rows.into_iter().flatten().flatten().flatten().next();
        sqlite.journal = mode.unwrap_or_default();
        Ok(sqlite)
    }
}

impl SqlDriver for Sqlite {
    type Speaker = SqliteSpeaker;
    const DIALECT: Dialect = Dialect::Standard;

    fn product(&self) -> String {
        format!("SQLite {} (journal_mode={})", rusqlite::version(), self.journal)
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::Serializable]
    }

    fn promise(&self, _: Setting) -> Level {
        Level::Serializable
    }

    fn clean_up(&self) -> Result<(), DriverError> {
        if !self.is_new {
            return self.say_all(&Dialect::Standard.drop(&self.prefix));
        }
        // SQLite keeps what belongs to a file beside it.
        for ending in ["-wal", "-shm", "-journal", ""] {
            let mut name = self.path.clone().into_os_string();
            name.push(ending);
            if Path::new(&name).exists() {
                std::fs::remove_file(&name)
                    .map_err(|error| DriverError::Other(error.to_string()))?;
            }
        }
        Ok(())
    }

    fn take_back(&self, tables: usize) -> Result<(), DriverError> {
        match self.is_new {
            true => self.clean_up(),
            false => self.say_all(&Dialect::Standard.drop(&self.prefix)[..tables]),
        }
    }

    fn speaker(&self) -> Result<SqliteSpeaker, DriverError> {
        let connect = |error: rusqlite::Error| {
            DriverError::Connect(self.path.display().to_string(), error.to_string())
        };
        let conn = Connection::open(&self.path).map_err(connect)?;
        conn.busy_timeout(BUSY_MAX).map_err(connect)?;
        Ok(SqliteSpeaker(conn))
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// A connection of SQLite.
#[derive(Debug)]
pub struct SqliteSpeaker(Connection);

impl SqliteSpeaker {
    fn rows(&mut self, text: &str) -> rusqlite::Result<Answer> {
        let mut statement = self.0.prepare_cached(text)?;
        let columns = statement.column_count();
        if columns == 0 {
            let changed = statement.execute([])?;
            return Ok(Answer { rows: None, changed: changed as u64 });
        }
        let mut rows = statement.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let value = |column| row.get_ref(column).map(shown);
            all.push((0..columns).map(value).collect::<rusqlite::Result<_>>()?);
        }
        Ok(Answer { rows: Some(all), changed: 0 })
    }
}

fn shown(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

impl Speaker for SqliteSpeaker {
    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        // A refused transaction may be over, or not.
        if text == "ROLLBACK" && self.0.is_autocommit() {
            return Ok(Answer::default());
        }
        let answer = self.rows(text).map_err(failed);
        // A COMMIT that is refused could be tried again; here it is over.
        if text == "COMMIT" && matches!(answer, Err(DriverError::Refused(_))) {
            self.rows("ROLLBACK").map_err(failed)?;
        }
        answer
    }

    fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
        self.say("BEGIN").map(drop)
    }
}

fn failed(error: rusqlite::Error) -> DriverError {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ConstraintViolation,
        ) => DriverError::Refused(error.to_string()),
        _ => DriverError::Other(error.to_string()),
    }
}
