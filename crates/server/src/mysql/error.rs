//! Errors as MySQL tells them: a number, an SQLSTATE, a message.
//!
//! What SQL refuses comes with PostgreSQL's SQLSTATE, which decides the number; messages are made
//! of the fields of the error. A construct that is not there is number 1235.

use super::dialect::names::index_shown;
use seriatim_sql::SqlError;
use seriatim_sql::error::{Fields, code};
use std::fmt;

/// An error of MySQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MysqlError {
    /// Its number.
    pub number: u16,
    /// SQLSTATE.
    pub state: &'static str,
    /// The message.
    pub message: String,
}

impl fmt::Display for MysqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.number, self.state, self.message)
    }
}

impl MysqlError {
    /// An error.
    pub fn new(number: u16, state: &'static str, message: impl Into<String>) -> MysqlError {
        MysqlError { number, state, message: message.into() }
    }

    /// A construct that is not there: never a wrong result instead.
    pub fn unsupported(what: impl fmt::Display) -> MysqlError {
        let message = format!("This version of Seriatim doesn't yet support '{what}'");
        MysqlError::new(1235, "42000", message)
    }

    /// A syntax error at this text.
    pub fn syntax(near: &str, line: u64) -> MysqlError {
        let near: String = near.chars().take(80).collect();
        let message = format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your \
             MariaDB server version for the right syntax to use near '{near}' at line {line}"
        );
        MysqlError::new(1064, "42000", message)
    }

    pub(super) fn handshake() -> MysqlError {
        MysqlError::new(1043, "08S01", "Bad handshake")
    }

    pub(super) fn packet_too_large() -> MysqlError {
        let message = "Got a packet bigger than 'max_allowed_packet' bytes";
        MysqlError::new(1153, "08S01", message)
    }

    pub(super) fn malformed() -> MysqlError {
        MysqlError::new(1835, "HY000", "Malformed communication packet")
    }

    pub(super) fn unknown_command() -> MysqlError {
        MysqlError::new(1047, "08S01", "Unknown command")
    }

    pub(super) fn shutdown() -> MysqlError {
        MysqlError::new(1053, "08S01", "Server shutdown in progress")
    }

    pub(super) fn internal() -> MysqlError {
        let message = "The session has ended by an internal error";
        MysqlError::new(1815, "HY000", message)
    }

    pub(super) fn too_many_connections() -> MysqlError {
        MysqlError::new(1040, "08004", "Too many connections")
    }

    pub(super) fn access_denied(user: &str, has_password: bool) -> MysqlError {
        let using = if has_password { "YES" } else { "NO" };
        let message =
            format!("Access denied for user '{user}'@'localhost' (using password: {using})");
        MysqlError::new(1045, "28000", message)
    }

    pub(super) fn unknown_database(name: &str) -> MysqlError {
        MysqlError::new(1049, "42000", format!("Unknown database '{name}'"))
    }

    pub(super) fn no_database() -> MysqlError {
        MysqlError::new(1046, "3D000", "No database selected")
    }

    pub(super) fn unknown_variable(name: &str) -> MysqlError {
        MysqlError::new(1193, "HY000", format!("Unknown system variable '{name}'"))
    }

    /// An error of SQL in the words of MySQL.
    pub(super) fn of(error: &SqlError, database: &str) -> MysqlError {
        let fields = error.fields();
        let (number, state, message) = told(fields, database);
        MysqlError { number, state, message }
    }
}

fn told(fields: &Fields, database: &str) -> (u16, &'static str, String) {
    let message = fields.message.clone();
    let named = quoted(&message);
    let column = fields.column.clone().or_else(|| named.clone()).unwrap_or_default();
    match fields.code {
        code::UNIQUE_VIOLATION => (1062, "23000", duplicate(fields)),
        code::NOT_NULL_VIOLATION => (1048, "23000", format!("Column '{column}' cannot be null")),
        code::FOREIGN_KEY_VIOLATION => foreign_key(fields, database),
        code::CHECK_VIOLATION => check(fields, database),
        code::UNDEFINED_TABLE => match message.starts_with("missing FROM") {
            true => (1054, "42S22", no_column(&message)),
            false => (1146, "42S02", no_table(&message, database)),
        },
        code::UNDEFINED_COLUMN => (1054, "42S22", no_column(&message)),
        code::AMBIGUOUS_COLUMN => {
            let name = named.unwrap_or_default();
            (1052, "23000", format!("Column '{name}' in field list is ambiguous"))
        }
        code::DUPLICATE_TABLE => {
            let name = named.unwrap_or_default();
            match index_shown(&name) {
                Some(index) => (1061, "42000", format!("Duplicate key name '{index}'")),
                None => (1050, "42S01", format!("Table '{name}' already exists")),
            }
        }
        code::DUPLICATE_COLUMN => (1060, "42S21", format!("Duplicate column name '{column}'")),
        code::DUPLICATE_SCHEMA => {
            let name = named.unwrap_or_default();
            (1007, "HY000", format!("Can't create database '{name}'; database exists"))
        }
        code::INVALID_SCHEMA_NAME => {
            (1049, "42000", format!("Unknown database '{}'", named.unwrap_or_default()))
        }
        code::DEADLOCK_DETECTED | code::SERIALIZATION_FAILURE => (
            1213,
            "40001",
            "Deadlock found when trying to get lock; try restarting transaction".to_owned(),
        ),
        RECORD_CHANGED => (1020, "HY000", message),
        code::LOCK_NOT_AVAILABLE => {
            (1205, "HY000", "Lock wait timeout exceeded; try restarting transaction".to_owned())
        }
        code::QUERY_CANCELED => (1317, "70100", "Query execution was interrupted".to_owned()),
        code::ADMIN_SHUTDOWN => (1053, "08S01", "Server shutdown in progress".to_owned()),
        code::SYNTAX_ERROR if message.starts_with("INSERT has more") => {
            (1136, "21S01", "Column count doesn't match value count at row 1".to_owned())
        }
        code::SYNTAX_ERROR => (1064, "42000", message),
        code::FEATURE_NOT_SUPPORTED => {
            (1235, "42000", format!("This version of Seriatim doesn't yet support '{message}'"))
        }
        code::UNDEFINED_FUNCTION => no_function(&message, database),
        code::GROUPING_ERROR => (1055, "42000", message),
        code::STRING_DATA_RIGHT_TRUNCATION => {
            (1406, "22001", format!("Data too long for column '{column}' at row 1"))
        }
        code::NUMERIC_VALUE_OUT_OF_RANGE => {
            (1264, "22003", format!("Out of range value: {message}"))
        }
        code::INVALID_TEXT_REPRESENTATION => (1366, "22007", format!("Incorrect value: {message}")),
        code::INVALID_DATETIME_FORMAT | code::DATETIME_FIELD_OVERFLOW => {
            (1292, "22007", format!("Incorrect datetime value: {message}"))
        }
        code::DIVISION_BY_ZERO => (1365, "22012", "Division by 0".to_owned()),
        code::CARDINALITY_VIOLATION => {
            (1242, "21000", "Subquery returns more than 1 row".to_owned())
        }
        code::READ_ONLY_SQL_TRANSACTION => {
            (1792, "25006", "Cannot execute statement in a READ ONLY transaction".to_owned())
        }
        code::INVALID_SAVEPOINT_SPECIFICATION => {
            let name = named.unwrap_or_default();
            (1305, "42000", format!("SAVEPOINT {name} does not exist"))
        }
        code::UNDEFINED_OBJECT => (1091, "42000", message),
        code::DEPENDENT_OBJECTS_STILL_EXIST => (1451, "23000", message),
        code::STATEMENT_TOO_COMPLEX => (1436, "HY000", message),
        code::TOO_MANY_CONNECTIONS => (1040, "08004", message),
        _ => (1105, "HY000", message),
    }
}

/// The SQLSTATE by which a node of MariaDB says that a row has changed since the snapshot.
pub(super) const RECORD_CHANGED: &str = "HY020";

/// What stands in quotes.
fn quoted(message: &str) -> Option<String> {
    message.split('"').nth(1).map(str::to_owned)
}

/// `Key (a, b)=(1, x) already exists.`
fn duplicate(fields: &Fields) -> String {
    let detail = fields.detail.as_deref().unwrap_or_default();
    let values = detail.split_once(")=(").map_or("", |(_, rest)| rest);
    let values = values.rsplit_once(") ").map_or(values, |(values, _)| values);
    let constraint = fields.constraint.clone().unwrap_or_default();
    let key = index_shown(&constraint).unwrap_or(&constraint);
    format!("Duplicate entry '{}' for key '{key}'", values.replace(", ", "-"))
}

fn no_table(message: &str, database: &str) -> String {
    let name = quoted(message).unwrap_or_default();
    match name.contains('.') {
        true => format!("Table '{name}' doesn't exist"),
        false => format!("Table '{database}.{name}' doesn't exist"),
    }
}

fn no_column(message: &str) -> String {
    let name = quoted(message).unwrap_or_else(|| {
        let words = message.strip_prefix("column ").unwrap_or(message);
        words.strip_suffix(" does not exist").unwrap_or(words).to_owned()
    });
    format!("Unknown column '{name}' in 'field list'")
}

fn no_function(message: &str, database: &str) -> (u16, &'static str, String) {
    let call = message.strip_prefix("function ").and_then(|rest| rest.split_once('('));
    match call {
        Some((name, _)) => {
            let name = name.to_uppercase();
            (1305, "42000", format!("FUNCTION {database}.{name} does not exist"))
        }
        None => {
            (1235, "42000", format!("This version of Seriatim doesn't yet support '{message}'"))
        }
    }
}

fn foreign_key(fields: &Fields, database: &str) -> (u16, &'static str, String) {
    let table = fields.table.clone().unwrap_or_default();
    let constraint = fields.constraint.clone().unwrap_or_default();
    let whose = format!("(`{database}`.`{table}`, CONSTRAINT `{constraint}`)");
    match fields.message.starts_with("update or delete") {
        true => (
            1451,
            "23000",
            format!("Cannot delete or update a parent row: a foreign key constraint fails {whose}"),
        ),
        false => (
            1452,
            "23000",
            format!("Cannot add or update a child row: a foreign key constraint fails {whose}"),
        ),
    }
}

fn check(fields: &Fields, database: &str) -> (u16, &'static str, String) {
    let table = fields.table.clone().unwrap_or_default();
    let constraint = fields.constraint.clone().unwrap_or_default();
    if let Some(column) = constraint.strip_prefix(super::dialect::names::RANGE) {
        return (1264, "22003", format!("Out of range value for column '{column}' at row 1"));
    }
    if let Some(column) = constraint.strip_prefix(super::dialect::names::LABELS) {
        return (1265, "01000", format!("Data truncated for column '{column}' at row 1"));
    }
    let message = format!("CONSTRAINT `{constraint}` failed for `{database}`.`{table}`");
    (4025, "23000", message)
}
