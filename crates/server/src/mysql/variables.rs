//! Variables of the server and of a session: what drivers ask for when they connect, and what
//! decides how statements run.

use super::error::MysqlError;
use sqlparser::ast::{Expr, Value};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Variables with what they are at first.
const DEFAULTS: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
    ("autocommit", "ON"),
    ("basedir", "/usr"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_filesystem", "binary"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("character_set_system", "utf8mb3"),
    ("check_constraint_checks", "ON"),
    ("collation_connection", "utf8mb4_bin"),
    ("collation_database", "utf8mb4_bin"),
    ("collation_server", "utf8mb4_bin"),
    ("default_storage_engine", "InnoDB"),
    ("default_week_format", "0"),
    ("div_precision_increment", "4"),
    ("foreign_key_checks", "ON"),
    ("group_concat_max_len", "1048576"),
    ("have_ssl", "DISABLED"),
    ("hostname", "localhost"),
    ("init_connect", ""),
    ("innodb_lock_wait_timeout", "50"),
    ("innodb_snapshot_isolation", "OFF"),
    ("innodb_version", "10.11.6"),
    ("interactive_timeout", "28800"),
    ("license", "Apache-2.0"),
    ("lock_wait_timeout", "86400"),
    ("lower_case_file_system", "OFF"),
    ("lower_case_table_names", "0"),
    ("max_allowed_packet", "16777216"),
    ("max_connections", "500"),
    ("max_execution_time", "0"),
    ("max_statement_time", "0.000000"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "30"),
    ("net_write_timeout", "60"),
    ("performance_schema", "OFF"),
    ("port", "3306"),
    ("protocol_version", "10"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("sql_auto_is_null", "OFF"),
    ("sql_big_selects", "ON"),
    ("sql_log_bin", "ON"),
    (
        "sql_mode",
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
    ),
    ("sql_notes", "ON"),
    ("sql_quote_show_create", "ON"),
    ("sql_safe_updates", "OFF"),
    ("sql_select_limit", "18446744073709551615"),
    ("sql_warnings", "OFF"),
    ("storage_engine", "InnoDB"),
    ("system_time_zone", "UTC"),
    ("time_zone", "SYSTEM"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("transaction_read_only", "OFF"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("tx_read_only", "OFF"),
    ("unique_checks", "ON"),
    ("version", super::VERSION),
    ("version_comment", "Seriatim"),
    ("version_compile_machine", "x86_64"),
    ("version_compile_os", "Linux"),
    ("wait_timeout", "28800"),
];

/// Those that cannot be set.
const FIXED: &[&str] = &[
    "basedir",
    "character_set_system",
    "have_ssl",
    "hostname",
    "innodb_version",
    "license",
    "lower_case_file_system",
    "lower_case_table_names",
    "performance_schema",
    "port",
    "protocol_version",
    "system_time_zone",
    "version",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
];

/// Those that are on or off.
const SWITCHES: &[&str] = &[
    "autocommit",
    "check_constraint_checks",
    "foreign_key_checks",
    "innodb_snapshot_isolation",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_log_bin",
    "sql_notes",
    "sql_safe_updates",
    "sql_warnings",
    "transaction_read_only",
    "tx_read_only",
    "unique_checks",
];

/// The value of a variable of a user.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum UserValue {
    Null,
    Number(String),
    Text(String),
}

/// Values that were set for sessions to come.
#[derive(Default, Debug)]
pub(super) struct Globals(Mutex<BTreeMap<String, String>>);

impl Globals {
    pub fn set(&self, name: &str, value: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(name.to_owned(), value);
    }

    fn all(&self) -> BTreeMap<String, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The variables of a session.
#[derive(Clone, Debug)]
pub(super) struct Variables {
    set: BTreeMap<String, String>,
}

/// Two names of one variable.
fn canonical(name: &str) -> String {
    let name = name.to_lowercase();
    match name.as_str() {
        "tx_isolation" => "transaction_isolation".to_owned(),
        "tx_read_only" => "transaction_read_only".to_owned(),
        _ => name,
    }
}

impl Variables {
    pub fn new(globals: &Globals) -> Variables {
        Variables { set: globals.all() }
    }

    pub fn get(&self, name: &str) -> Option<String> {
        let key = canonical(name);
        let known = || {
            let found = DEFAULTS.iter().find(|(it, _)| *it == key);
            found.map(|(_, value)| (*value).to_owned())
        };
        self.set.get(&key).cloned().or_else(known)
    }

    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).as_deref() == Some("ON")
    }

    pub fn all(&self) -> Vec<(String, String)> {
        let value = |name: &str| self.get(name).unwrap_or_default();
        DEFAULTS.iter().map(|(name, _)| ((*name).to_owned(), value(name))).collect()
    }

    /// A value as the variable has it, or an error if it cannot be that.
    pub fn checked(&self, name: &str, value: &str) -> Result<(String, String), MysqlError> {
        let key = canonical(name);
        if self.get(&key).is_none() {
            return Err(MysqlError::unknown_variable(name));
        }
        if FIXED.contains(&key.as_str()) {
            let message = format!("Variable '{name}' is a read only variable");
            return Err(MysqlError::new(1238, "HY000", message));
        }
        let wrong = || {
            let message = format!("Variable '{name}' can't be set to the value of '{value}'");
            MysqlError::new(1231, "42000", message)
        };
        let value = if SWITCHES.contains(&key.as_str()) {
            match value.to_lowercase().as_str() {
                "1" | "on" | "true" => "ON".to_owned(),
                "0" | "off" | "false" => "OFF".to_owned(),
                _ => return Err(wrong()),
            }
        } else if key == "transaction_isolation" {
            let level = value.to_uppercase().replace(' ', "-");
            let levels = ["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];
            if !levels.contains(&level.as_str()) {
                return Err(wrong());
            }
            level
        } else {
            value.to_owned()
        };
        Ok((key, value))
    }

    pub fn put(&mut self, key: String, value: String) {
        self.set.insert(key, value);
    }

    /// What a variable was at first.
    pub fn default_of(name: &str) -> Option<String> {
        let key = canonical(name);
        DEFAULTS.iter().find(|(it, _)| *it == key).map(|(_, value)| (*value).to_owned())
    }

    /// A variable in an expression: switches and whole numbers are numbers.
    pub fn literal(&self, name: &str) -> Result<Expr, MysqlError> {
        let key = canonical(name);
        let value = self.get(&key).ok_or_else(|| MysqlError::unknown_variable(name))?;
        let is_switch = SWITCHES.contains(&key.as_str());
        let literal = match value.as_str() {
            "ON" if is_switch => Value::Number("1".to_owned(), false),
            "OFF" if is_switch => Value::Number("0".to_owned(), false),
            digits if digits.parse::<i64>().is_ok() => Value::Number(value, false),
            _ => Value::SingleQuotedString(value),
        };
        Ok(Expr::Value(literal.into()))
    }
}

/// A value of a user's variable as text, for SET.
pub(super) fn shown(value: &UserValue) -> String {
    match value {
        UserValue::Null => "NULL".to_owned(),
        UserValue::Number(text) | UserValue::Text(text) => text.clone(),
    }
}
