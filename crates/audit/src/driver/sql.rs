//! What databases with SQL have in common: the tables of the audit and the statements on them. A
//! driver has a [`Speaker`], which sends a text and returns what was answered, and a [`Dialect`].

use super::{Client, Driver, DriverError, Sent};
use crate::setting::Setting;
use crate::workload::{Workload, rows_of};
use seriatim_isolation::Level;
use std::ops::Range;

/// What a statement came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// Its rows as text; `None` if it returns none.
    pub rows: Option<Vec<Vec<Option<String>>>>,
    /// How many rows it changed.
    pub changed: u64,
}

/// A connection to a database with SQL.
pub trait Speaker: Send {
    /// Sends one statement.
    fn say(&mut self, text: &str) -> Result<Answer, DriverError>;

    /// Begins a transaction.
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError>;
}

/// How databases say what they do not all say alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `||` joins texts: the standard, PostgreSQL, SQLite, DuckDB.
    Standard,
    /// `CONCAT` does, and tables have an engine: MySQL and MariaDB.
    MySql,
}

/// How many rows an INSERT of the set-up has.
const ROWS_OF_INSERT: usize = 500;

impl Dialect {
    /// The statements that make the tables.
    pub fn create(self, prefix: &str) -> Vec<String> {
        let (text, engine) = match self {
            Dialect::Standard => ("text", ""),
            Dialect::MySql => ("longtext", " ENGINE=InnoDB"),
        };
        vec![
            format!(
                "CREATE TABLE {prefix}_register (id bigint PRIMARY KEY, value bigint NOT \
                 NULL){engine}"
            ),
            format!(
                "CREATE TABLE {prefix}_list (id bigint PRIMARY KEY, value {text} NOT NULL){engine}"
            ),
            format!(
                "CREATE TABLE {prefix}_row (id bigint PRIMARY KEY, part bigint NOT NULL, value \
                 bigint NOT NULL){engine}"
            ),
            format!("CREATE INDEX {prefix}_part ON {prefix}_row (part)"),
        ]
    }

    /// The statements that make registers and lists.
    pub fn make(self, prefix: &str, registers: Range<u64>) -> Vec<String> {
        let ids: Vec<u64> = registers.collect();
        let inserts = ids.chunks(ROWS_OF_INSERT).flat_map(|part| {
            let rows = |value: &str| {
                let rows: Vec<String> = part.iter().map(|id| format!("({id}, {value})")).collect();
                rows.join(", ")
            };
            [
                format!("INSERT INTO {prefix}_register VALUES {}", rows("0")),
                format!("INSERT INTO {prefix}_list VALUES {}", rows("''")),
            ]
        });
        inserts.collect()
    }

    /// The statements that take registers, lists and rows away.
    pub fn retire(self, prefix: &str, registers: Range<u64>, rows: Range<u64>) -> Vec<String> {
        let Range { start, end } = registers;
        vec![
            format!("DELETE FROM {prefix}_register WHERE id >= {start} AND id < {end}"),
            format!("DELETE FROM {prefix}_list WHERE id >= {start} AND id < {end}"),
            format!("DELETE FROM {prefix}_row WHERE id >= {} AND id < {}", rows.start, rows.end),
        ]
    }

    /// The statements that take the tables away.
    pub fn drop(self, prefix: &str) -> Vec<String> {
        let table = |name| format!("DROP TABLE IF EXISTS {prefix}_{name}");
        ["register", "list", "row"].map(table).to_vec()
    }

    fn append(self, prefix: &str, list: u64, value: i64) -> String {
        let longer = match self {
            Dialect::Standard => format!("value || ',{value}'"),
            Dialect::MySql => format!("CONCAT(value, ',{value}')"),
        };
        format!("UPDATE {prefix}_list SET value = {longer} WHERE id = {list}")
    }
}

/// A database with SQL: whatever is one is a [`Driver`].
pub trait SqlDriver: Sync {
    /// Its connections.
    type Speaker: Speaker + 'static;
    /// How it says things.
    const DIALECT: Dialect;

    /// What it is, with its version.
    fn product(&self) -> String;

    /// The isolation levels that it can be asked for, weakest first.
    fn settings(&self) -> Vec<Setting>;

    /// What the database calls a setting.
    fn setting_name(&self, setting: Setting) -> String {
        setting.to_string()
    }

    /// What it promises at a setting.
    fn promise(&self, setting: Setting) -> Level;

    /// Another connection.
    fn speaker(&self) -> Result<Self::Speaker, DriverError>;

    /// The name that tables of the audit begin with.
    fn prefix(&self) -> &str;

    /// Sends several statements.
    fn say_all(&self, statements: &[String]) -> Result<(), DriverError> {
        let mut speaker = self.speaker()?;
        statements.iter().try_for_each(|text| speaker.say(text).map(drop))
    }

    /// Takes away all that it made.
    fn clean_up(&self) -> Result<(), DriverError> {
        self.say_all(&Self::DIALECT.drop(self.prefix()))
    }

    /// Takes away the first so many tables: the others could not be made, and if there is one of
    /// such a name it is somebody else's.
    fn take_back(&self, tables: usize) -> Result<(), DriverError> {
        self.say_all(&Self::DIALECT.drop(self.prefix())[..tables.min(TABLES)])
    }
}

/// How many tables there are.
const TABLES: usize = 3;

impl<D: SqlDriver> Driver for D {
    fn product(&self) -> String {
        SqlDriver::product(self)
    }

    fn settings(&self) -> Vec<Setting> {
        SqlDriver::settings(self)
    }

    fn setting_name(&self, setting: Setting) -> String {
        SqlDriver::setting_name(self, setting)
    }

    fn promise(&self, setting: Setting) -> Level {
        SqlDriver::promise(self, setting)
    }

    fn can(&self, _: Workload) -> bool {
        true
    }

    fn set_up(&self) -> Result<(), DriverError> {
        let (mut speaker, mut made) = (self.speaker()?, 0);
        for text in D::DIALECT.create(SqlDriver::prefix(self)) {
            if let Err(error) = speaker.say(&text) {
                // What was sent may have been done if nobody says that it was not.
                made += usize::from(matches!(error, DriverError::Lost(_)));
                let _ = self.take_back(made);
                return Err(error);
            }
            made += 1;
        }
        Ok(())
    }

    fn make(&self, registers: Range<u64>) -> Result<(), DriverError> {
        self.say_all(&D::DIALECT.make(SqlDriver::prefix(self), registers))
    }

    fn retire(&self, registers: Range<u64>) -> Result<(), DriverError> {
        let rows = rows_of(&registers);
        self.say_all(&D::DIALECT.retire(SqlDriver::prefix(self), registers, rows))
    }

    fn clean_up(&self) -> Result<(), DriverError> {
        SqlDriver::clean_up(self)
    }

    fn connect(&self, _: u32) -> Result<Box<dyn Client>, DriverError> {
        Ok(Box::new(SqlClient::new(self.speaker()?, D::DIALECT, SqlDriver::prefix(self))))
    }

    fn speak(&self, _: u32) -> Result<Box<dyn Speaker>, DriverError> {
        Ok(Box::new(self.speaker()?))
    }

    fn prefix(&self) -> &str {
        SqlDriver::prefix(self)
    }
}

/// A client of a database with SQL.
#[derive(Debug)]
pub struct SqlClient<S> {
    speaker: S,
    dialect: Dialect,
    prefix: String,
}

impl<S: Speaker> SqlClient<S> {
    /// A client whose tables begin with `prefix`.
    pub fn new(speaker: S, dialect: Dialect, prefix: &str) -> SqlClient<S> {
        SqlClient { speaker, dialect, prefix: prefix.to_owned() }
    }

    fn query(&mut self, text: String) -> Result<Sent, DriverError> {
        let answer = self.speaker.say(&text)?;
        Ok(Sent { text, rows: Some(answer.rows.unwrap_or_default()) })
    }

    fn change(&mut self, text: String) -> Result<Sent, DriverError> {
        self.speaker.say(&text)?;
        Ok(Sent { text, rows: None })
    }

    /// Changes what is there already. A transaction that does not see it cannot go on: it would
    /// have written nothing.
    fn update(&mut self, text: String) -> Result<Sent, DriverError> {
        match self.speaker.say(&text)?.changed {
            0 => Err(DriverError::Refused(format!("no row for `{text}`"))),
            _ => Ok(Sent { text, rows: None }),
        }
    }
}

/// The first value of the first row.
fn first(sent: &Sent) -> Option<&str> {
    sent.rows.as_ref()?.first()?.first()?.as_deref()
}

/// The first two values of each row, as numbers.
fn pairs(sent: &Sent) -> Vec<(u64, i64)> {
    let pair = |row: &Vec<Option<String>>| {
        Some((row.first()?.as_ref()?.parse().ok()?, row.get(1)?.as_ref()?.parse().ok()?))
    };
    sent.rows.iter().flatten().filter_map(pair).collect()
}

/// The numbers of a list, which are behind commas.
pub(crate) fn numbers(text: &str) -> Vec<i64> {
    text.split(',').filter_map(|number| number.parse().ok()).collect()
}

impl<S: Speaker> Client for SqlClient<S> {
    fn begin(&mut self, setting: Setting) -> Result<(), DriverError> {
        self.speaker.begin(setting)
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        let prefix = &self.prefix;
        let sent =
            self.query(format!("SELECT value FROM {prefix}_register WHERE id = {register}"))?;
        Ok((first(&sent).and_then(|value| value.parse().ok()), sent))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        let prefix = &self.prefix;
        self.update(format!("UPDATE {prefix}_register SET value = {value} WHERE id = {register}"))
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.speaker.say("COMMIT").map(drop)
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        self.speaker.say("ROLLBACK").map(drop)
    }

    /// A transaction sees what it has written itself, so that the SELECT behind the UPDATE tells
    /// what the UPDATE has found.
    fn add(&mut self, register: u64) -> Result<(i64, Vec<Sent>), DriverError> {
        let prefix = &self.prefix;
        let added = self.update(format!(
            "UPDATE {prefix}_register SET value = value + 1 WHERE id = {register}"
        ))?;
        let (value, seen) = self.read(register)?;
        let value = value.ok_or_else(|| {
            DriverError::Other(format!("register {register} is gone after `{}`", added.text))
        })?;
        Ok((value, vec![added, seen]))
    }

    fn read_list(&mut self, list: u64) -> Result<(Option<Vec<i64>>, Sent), DriverError> {
        let prefix = &self.prefix;
        let sent = self.query(format!("SELECT value FROM {prefix}_list WHERE id = {list}"))?;
        Ok((first(&sent).map(numbers), sent))
    }

    fn append(&mut self, list: u64, value: i64) -> Result<Sent, DriverError> {
        self.update(self.dialect.append(&self.prefix, list, value))
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

    fn delete(&mut self, _part: u64, row: u64) -> Result<(bool, Sent), DriverError> {
        let text = format!("DELETE FROM {}_row WHERE id = {row}", self.prefix);
        let answer = self.speaker.say(&text)?;
        Ok((answer.changed > 0, Sent { text, rows: None }))
    }

    fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
        self.speaker.say(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A database that remembers what it was told, and does not make one of the tables.
    struct Stubborn {
        told: Arc<Mutex<Vec<String>>>,
        refused: &'static str,
        error: DriverError,
    }

    struct Told(Arc<Mutex<Vec<String>>>, &'static str, DriverError);

    impl Speaker for Told {
        fn say(&mut self, text: &str) -> Result<Answer, DriverError> {
            self.0.lock().unwrap().push(text.to_owned());
            let is_refused = text.starts_with("CREATE") && text.contains(self.1);
            if is_refused { Err(self.2.clone()) } else { Ok(Answer::default()) }
        }

        fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
            Ok(())
        }
    }

    impl SqlDriver for Stubborn {
        type Speaker = Told;
        const DIALECT: Dialect = Dialect::Standard;

        fn product(&self) -> String {
            "stubborn".to_owned()
        }

        fn settings(&self) -> Vec<Setting> {
            vec![Setting::Serializable]
        }

        fn promise(&self, _: Setting) -> Level {
            Level::Serializable
        }

        fn speaker(&self) -> Result<Told, DriverError> {
            Ok(Told(Arc::clone(&self.told), self.refused, self.error.clone()))
        }

        fn prefix(&self) -> &str {
            "p"
        }
    }

    /// The tables that are taken away when this cannot be made.
    fn dropped(refused: &'static str, error: DriverError) -> Vec<String> {
        let told = Arc::default();
        let driver = Stubborn { told: Arc::clone(&told), refused, error: error.clone() };
        let asked = crate::audit::Audit::new(Setting::Serializable);
        let failed = crate::audit::audit(&driver, &asked).unwrap_err();
        assert_eq!(failed.to_string(), error.to_string());
        let told = told.lock().unwrap();
        let name = |text: &String| Some(text.strip_prefix("DROP TABLE IF EXISTS p_")?.to_owned());
        told.iter().filter_map(name).collect()
    }

    #[test]
    fn a_table_that_is_there_already_is_not_touched() {
        let exists = || DriverError::Other("it exists".to_owned());
        assert!(dropped("p_register", exists()).is_empty());
        assert_eq!(dropped("p_list", exists()), ["register"]);
        assert_eq!(dropped("p_row (", exists()), ["register", "list"]);
        assert_eq!(dropped("p_part", exists()), ["register", "list", "row"]);
        // One that may have been made goes away.
        let lost = DriverError::Lost("gone".to_owned());
        assert_eq!(dropped("p_list", lost), ["register", "list"]);
    }

    #[test]
    fn a_recording_of_before_stays_if_nothing_can_be_made() {
        let path = std::env::temp_dir().join(format!("seriatim-before-{}", std::process::id()));
        std::fs::write(&path, "of before").unwrap();
        let error = DriverError::Other("no rights".to_owned());
        let driver = Stubborn { told: Arc::default(), refused: "p_register", error };
        let setting = Setting::Serializable;
        let output = Some(path.clone());
        let asked = crate::audit::Audit { output, ..crate::audit::Audit::new(setting) };
        crate::audit::audit(&driver, &asked).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "of before");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_is_not_there_is_neither_written_nor_empty() {
        let told = Told(Arc::default(), "nothing", DriverError::unable("nothing"));
        let mut client = SqlClient::new(told, Dialect::Standard, "p");
        assert_eq!(client.read_list(1).unwrap().0, None);
        assert!(matches!(client.write(1, 2), Err(DriverError::Refused(_))));
        assert!(matches!(client.append(1, 2), Err(DriverError::Refused(_))));
        assert!(matches!(client.add(1), Err(DriverError::Refused(_))));
    }
}
