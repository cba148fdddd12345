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
    /// The mode of the journal that was asked for, and the one that there is.
    asked: Option<String>,
    journal: String,
    prefix: String,
}

impl Sqlite {
    /// The file of `sqlite:PATH`, perhaps with `?journal=wal`, in which tables begin with `prefix`.
    pub fn open(url: &str, prefix: &str) -> Result<Sqlite, DriverError> {
        let (journal_asked, rest) = take_parameter(url, "journal");
        let path = rest.strip_prefix("sqlite:").unwrap_or(&rest);
        let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
        let connect = |text: String| DriverError::Connect(path.display().to_string(), text);
        let is_word = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric());
        if path.as_os_str().is_empty() || !journal_asked.iter().all(is_word) {
            return Err(connect("use sqlite:FILE or sqlite:FILE?journal=wal".to_owned()));
        }
        let is_new = !path.exists();
        let (journal, prefix) = (String::new(), prefix.to_owned());
        let mut sqlite = Sqlite { path, is_new, asked: journal_asked, journal, prefix };
        let found = sqlite.speaker().and_then(|mut speaker| mode(&mut speaker));
        // It is there again when there is something to do.
        sqlite.remove_new()?;
        sqlite.journal = found?;
        Ok(sqlite)
    }

    /// Takes the file away, if it was not there before.
    fn remove_new(&self) -> Result<(), DriverError> {
        // SQLite keeps what belongs to a file beside it.
        for ending in ["-wal", "-shm", "-journal", ""].iter().filter(|_| self.is_new) {
            let mut name = self.path.clone().into_os_string();
            name.push(ending);
            if Path::new(&name).exists() {
                std::fs::remove_file(&name)
                    .map_err(|error| DriverError::Other(error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// The mode of the journal.
fn mode(speaker: &mut SqliteSpeaker) -> Result<String, DriverError> {
    let mode = speaker.say("PRAGMA journal_mode")?;
    let mode = mode.rows.into_iter().flatten().flatten().flatten().next();
    Ok(mode.unwrap_or_default())
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
        match self.is_new {
            true => self.remove_new(),
            false => self.say_all(&Dialect::Standard.drop(&self.prefix)),
        }
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
        let mut speaker = SqliteSpeaker(conn);
        // Most modes are those of a connection, not of the file.
        if let Some(journal) = &self.asked {
            speaker.say(&format!("PRAGMA journal_mode = {journal}"))?;
        }
        Ok(speaker)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_has_the_journal_that_was_asked_for_and_nothing_is_left_behind() {
        let path = std::env::temp_dir().join(format!("seriatim-journal-{}.db", std::process::id()));
        for asked in ["wal", "memory"] {
            let url = format!("sqlite:{}?journal={asked}", path.display());
            let sqlite = Sqlite::open(&url, "p").unwrap();
            assert!(!path.exists(), "nothing is there before something is done");
            let modes: Vec<String> =
                (0..2).map(|_| mode(&mut sqlite.speaker().unwrap()).unwrap()).collect();
            assert_eq!(modes, [asked, asked]);
            assert!(SqlDriver::product(&sqlite).ends_with(&format!("(journal_mode={asked})")));
            SqlDriver::clean_up(&sqlite).unwrap();
            assert!(!path.exists());
        }
    }
}
