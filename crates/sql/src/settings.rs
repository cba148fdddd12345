//! The settings of a session: SET, SHOW, and what they mean to values and names.

use crate::error::{Result, SqlError, code};
use crate::types::{DateOrder, DateStyle, Dialect, IntervalStyle, Style, Zone};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    values: BTreeMap<String, String>,
    /// What the client asked for when it connected: RESET goes back to that.
    at_start: BTreeMap<String, String>,
    zone: Zone,
    /// The zone that goes with `at_start`.
    zone_at_start: Zone,
    dialect: Dialect,
}

/// Settings with what they are at first. Those in capitals are shown so.
const DEFAULTS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("array_nulls", "on"),
    ("backslash_quote", "safe_encoding"),
    ("bytea_output", "hex"),
    ("check_function_bodies", "on"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("constraint_exclusion", "partition"),
    ("DateStyle", "ISO, MDY"),
    ("default_table_access_method", "heap"),
    ("default_tablespace", ""),
    ("default_text_search_config", "pg_catalog.english"),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("deadlock_timeout", "1s"),
    ("enable_seqscan", "on"),
    ("enable_indexscan", "on"),
    ("enable_bitmapscan", "on"),
    ("enable_hashjoin", "on"),
    ("enable_mergejoin", "on"),
    ("enable_nestloop", "on"),
    ("enable_hashagg", "on"),
    ("enable_sort", "on"),
    ("escape_string_warning", "on"),
    ("extra_float_digits", "1"),
    ("from_collapse_limit", "8"),
    ("geqo", "on"),
    ("gin_fuzzy_search_limit", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "on"),
    ("jit", "off"),
    ("join_collapse_limit", "8"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
    ("lock_timeout", "0"),
    ("log_statement", "none"),
    ("log_min_messages", "warning"),
    ("maintenance_work_mem", "64MB"),
    ("max_connections", "100"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("password_encryption", "scram-sha-256"),
    ("plan_cache_mode", "auto"),
    ("quote_all_identifiers", "off"),
    ("random_page_cost", "4"),
    ("role", "none"),
    ("row_security", "on"),
    ("search_path", "\"$user\", public"),
    ("seq_page_cost", "1"),
    ("server_encoding", "UTF8"),
    ("server_version", "15.0"),
    ("server_version_num", "150000"),
    ("session_authorization", "postgres"),
    ("session_replication_role", "origin"),
    ("shared_buffers", "128MB"),
    ("ssl", "off"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("synchronous_commit", "on"),
    ("temp_buffers", "8MB"),
    ("TimeZone", "UTC"),
    ("timezone_abbreviations", "Default"),
    ("transaction_deferrable", "off"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "off"),
    ("transform_null_equals", "off"),
    ("vacuum_cost_delay", "0"),
    ("wal_level", "replica"),
    ("work_mem", "4MB"),
    ("xmlbinary", "base64"),
    ("xmloption", "content"),
];

/// Settings that cannot be set.
const FIXED: &[&str] = &[
    "server_version",
    "server_version_num",
    "server_encoding",
    "integer_datetimes",
    "is_superuser",
    "max_identifier_length",
    "max_index_keys",
    "lc_collate",
    "lc_ctype",
    "in_hot_standby",
    "max_connections",
    "shared_buffers",
    "wal_level",
    "ssl",
];

/// Those that are true or false.
const SWITCHES: &[&str] = &[
    "array_nulls",
    "check_function_bodies",
    "default_transaction_deferrable",
    "default_transaction_read_only",
    "enable_seqscan",
    "enable_indexscan",
    "enable_bitmapscan",
    "enable_hashjoin",
    "enable_mergejoin",
    "enable_nestloop",
    "enable_hashagg",
    "enable_sort",
    "escape_string_warning",
    "geqo",
    "jit",
    "quote_all_identifiers",
    "row_security",
    "standard_conforming_strings",
    "synchronize_seqscans",
    "transaction_deferrable",
    "transaction_read_only",
    "transform_null_equals",
];

/// A setting that there is, with its default.
fn known(name: &str) -> Option<(&'static str, &'static str)> {
    let own = DEFAULTS.iter().copied().find(|(it, _)| it.eq_ignore_ascii_case(name));
    own.or_else(|| {
        others().iter().copied().find(|(it, _, _)| *it == name).map(|(it, value, _)| (it, value))
    })
}

/// When a setting may be set, of those that mean nothing here.
fn context(name: &str) -> Option<&'static str> {
    others().iter().find(|(it, _, _)| *it == name).map(|(_, _, context)| *context)
}

/// What PostgreSQL knows beside the settings that mean something here: name, value, context.
fn others() -> &'static [(&'static str, &'static str, &'static str)] {
    static OTHERS: LazyLock<Vec<(&str, &str, &str)>> = LazyLock::new(|| {
        let rows = include_str!("../data/system_rows.tsv").lines();
        let rows = rows.skip_while(|line| *line != "@pg_settings").skip(1);
        let row = |line: &'static str| {
            let mut fields = line.split('\t');
            Some((fields.next()?, fields.next()?, fields.nth(4)?))
        };
        rows.take_while(|line| !line.starts_with('@')).filter_map(row).collect()
    });
    &OTHERS
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            values: BTreeMap::new(),
            at_start: BTreeMap::new(),
            zone: Zone::utc(),
            zone_at_start: Zone::utc(),
            dialect: Dialect::default(),
        }
    }
}

impl Settings {
    /// The value of a setting.
    pub fn show(&self, name: &str) -> Result<String> {
        self.find(name).ok_or_else(|| unrecognized(name))
    }

    /// Whether a backslash begins an escape in every string.
    pub fn escapes_strings(&self) -> bool {
        self.values.get("standard_conforming_strings").is_some_and(|it| it == "off")
    }

    /// The value of a setting, if there is one of the name.
    pub fn find(&self, name: &str) -> Option<String> {
        let key = name.to_lowercase();
        let value = self.values.get(&key).cloned();
        value.or_else(|| known(&key).map(|(_, value)| value.to_owned()))
    }

    /// Whether a setting was set.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(&name.to_lowercase())
    }

    /// All settings, by name.
    pub fn all(&self) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, String> = DEFAULTS
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        for (name, value) in &self.values {
            let shown = known(name).map_or(name.as_str(), |(name, _)| name);
            all.insert(shown.to_owned(), value.clone());
        }
        all.into_iter().collect()
    }

    /// Sets it for good; `None` is its default.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let key = name.to_lowercase();
        if known(&key).is_none() && !is_custom(&key) {
            return Err(unrecognized(name));
        }
        if FIXED.contains(&key.as_str()) {
            return Err(SqlError::new(
                code::CANT_CHANGE_RUNTIME_PARAM,
                format!("parameter \"{key}\" cannot be changed"),
            ));
        }
        let is_own = DEFAULTS.iter().any(|(it, _)| it.eq_ignore_ascii_case(&key));
        if let Some(problem) = context(&key).filter(|_| !is_own).and_then(unchangeable) {
            let text = format!("parameter \"{key}\" {problem}");
            return Err(SqlError::new(code::CANT_CHANGE_RUNTIME_PARAM, text));
        }
        let Some(value) = value else {
            match self.at_start.get(&key) {
                Some(value) => self.values.insert(key, value.clone()),
                None => self.values.remove(&key),
            };
            if name.eq_ignore_ascii_case("timezone") {
                self.zone = self.zone_at_start.clone();
            }
            return Ok(());
        };
        let value = self.checked(&key, value)?;
        self.values.insert(key, value);
        Ok(())
    }

    /// Sets what clients cannot set.
    pub fn force(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_lowercase(), value.to_owned());
    }

    /// Whose rules names and types follow.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// From now on names and types follow these rules.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// All settings are what they were at first.
    pub fn reset_all(&mut self) {
        let kept =
            ["role", "session_authorization", "transaction_isolation", "transaction_read_only"];
        self.values.retain(|name, _| kept.contains(&name.as_str()));
        for (name, value) in &self.at_start {
            self.values.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self.zone = self.zone_at_start.clone();
    }

    /// The session begins with what has been set so far.
    pub fn begin_session(&mut self) {
        self.at_start = self.values.clone();
        self.zone_at_start = self.zone.clone();
    }

    /// A value as the setting has it.
    fn checked(&mut self, key: &str, value: &str) -> Result<String> {
        let invalid = || {
            let shown = known(key).map_or(key, |(name, _)| name);
            SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                format!("invalid value for parameter \"{shown}\": \"{value}\""),
            )
        };
        if SWITCHES.contains(&key) {
            return switch(value).map(str::to_owned).ok_or_else(|| {
                SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    format!("parameter \"{key}\" requires a Boolean value"),
                )
            });
        }
        Ok(match key {
            "timezone" => {
                self.zone = Zone::parse(value).map_err(|_| invalid())?;
                self.zone.name.to_string()
            }
            "datestyle" => self.date_style(value).ok_or_else(invalid)?,
            "client_encoding" => match encoding_name(value).as_str() {
                "utf8" | "unicode" => "UTF8".to_owned(),
                "sqlascii" => "SQL_ASCII".to_owned(),
                // Text is sent as it is kept; to convert it is nobody's business yet.
                "latin1" | "iso88591" => {
                    return Err(SqlError::unsupported("client_encoding LATIN1"));
                }
                _ => return Err(invalid()),
            },
            "intervalstyle" => match value.to_lowercase().as_str() {
                it @ ("postgres" | "postgres_verbose" | "sql_standard" | "iso_8601") => {
                    it.to_owned()
                }
                _ => return Err(invalid()),
            },
            "session_replication_role" => match value.to_lowercase().as_str() {
                it @ ("origin" | "replica" | "local") => it.to_owned(),
                _ => return Err(invalid().hint("Available values: origin, replica, local.")),
            },
            "bytea_output" => match value.to_lowercase().as_str() {
                it @ ("hex" | "escape") => it.to_owned(),
                _ => return Err(invalid()),
            },
            "extra_float_digits" => {
                let digits: i32 = value.trim().parse().map_err(|_| invalid())?;
                if !(-15..=3).contains(&digits) {
                    return Err(SqlError::new(
                        code::INVALID_PARAMETER_VALUE,
                        format!(
                            "{digits} is outside the valid range for parameter \
                             \"extra_float_digits\" (-15 .. 3)"
                        ),
                    ));
                }
                digits.to_string()
            }
            "transaction_isolation" | "default_transaction_isolation" => {
                match value.to_lowercase().as_str() {
                    it @ ("serializable" | "repeatable read" | "read committed"
                    | "read uncommitted") => it.to_owned(),
                    _ => return Err(invalid()),
                }
            }
            "statement_timeout"
            | "lock_timeout"
            | "idle_in_transaction_session_timeout"
            | "idle_session_timeout" => {
                let time = duration(value).ok_or_else(invalid)?;
                shown_duration(time)
            }
            _ => value.to_owned(),
        })
    }

    fn date_style(&self, value: &str) -> Option<String> {
        let now = self.find("datestyle")?;
        let (mut style, mut order) = match now.split_once(", ") {
            Some((style, order)) => (style.to_owned(), order.to_owned()),
            None => (now.clone(), "MDY".to_owned()),
        };
        for part in value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.to_lowercase().as_str() {
                "iso" => style = "ISO".to_owned(),
                "sql" => style = "SQL".to_owned(),
                "postgres" => style = "Postgres".to_owned(),
                "german" => {
                    style = "German".to_owned();
                    order = "DMY".to_owned();
                }
                "mdy" | "us" | "noneuro" | "noneuropean" => order = "MDY".to_owned(),
                "dmy" | "euro" | "european" => order = "DMY".to_owned(),
                "ymd" => order = "YMD".to_owned(),
                "default" => {}
                _ => return None,
            }
        }
        Some(format!("{style}, {order}"))
    }

    /// How values are read and written.
    pub fn style(&self, transaction_time: i64, statement_time: i64) -> Style {
        let get = |name: &str| self.find(name).unwrap_or_default();
        let dates = get("datestyle");
        Style {
            zone: self.zone.clone(),
            date_order: if dates.ends_with("DMY") {
                DateOrder::Dmy
            } else if dates.ends_with("YMD") {
                DateOrder::Ymd
            } else {
                DateOrder::Mdy
            },
            date_style: if dates.starts_with("SQL") {
                DateStyle::Sql
            } else if dates.starts_with("Postgres") {
                DateStyle::Postgres
            } else if dates.starts_with("German") {
                DateStyle::German
            } else {
                DateStyle::Iso
            },
            interval_style: match get("intervalstyle").as_str() {
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                _ => IntervalStyle::Postgres,
            },
            bytea_escape: get("bytea_output") == "escape",
            extra_float_digits: get("extra_float_digits").parse().unwrap_or(1),
            transaction_time,
            statement_time,
            dialect: self.dialect,
        }
    }

    /// Whether statements are to read the newest versions, whatever the level allows: a setting
    /// of the mock database alone, for the assertions of tests.
    pub fn reads_latest(&self) -> bool {
        self.find("seriatim.reads").is_some_and(|reads| reads.eq_ignore_ascii_case("latest"))
    }

    /// A time that may be without end.
    pub fn time(&self, name: &str) -> Option<Duration> {
        let time = duration(&self.find(name)?)?;
        (!time.is_zero()).then_some(time)
    }

    /// The schemas of the search path, as they were written.
    pub fn search_path(&self) -> Vec<String> {
        let text = self.find("search_path").unwrap_or_default();
        let mut names = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            if let Some(quoted) = rest.strip_prefix('"') {
                let end = quoted.find('"').unwrap_or(quoted.len());
                names.push(quoted[..end].to_owned());
                rest = quoted.get(end + 1..).unwrap_or("");
            } else {
                let end = rest.find(',').unwrap_or(rest.len());
                names.push(rest[..end].trim().to_lowercase());
                rest = &rest[end..];
            }
            rest = rest.trim_start().trim_start_matches(',').trim_start();
        }
        names.retain(|name| !name.is_empty());
        names
    }
}

/// Settings of extensions have a dot in their name.
fn is_custom(name: &str) -> bool {
    name.contains('.')
}

/// Why a setting of this context cannot be set by a session.
fn unchangeable(context: &str) -> Option<&'static str> {
    match context {
        "internal" => Some("cannot be changed"),
        "postmaster" => Some("cannot be changed without restarting the server"),
        "sighup" => Some("cannot be changed now"),
        "backend" | "superuser-backend" => Some("cannot be set after connection start"),
        _ => None,
    }
}

/// The name of an encoding as names are compared: by letters and digits alone.
fn encoding_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn unrecognized(name: &str) -> SqlError {
    SqlError::new(
        code::UNDEFINED_OBJECT,
        format!("unrecognized configuration parameter \"{name}\""),
    )
}

fn switch(value: &str) -> Option<&'static str> {
    match value.trim().to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" | "t" | "y" => Some("on"),
        "off" | "false" | "no" | "0" | "f" | "n" => Some("off"),
        _ => None,
    }
}

/// A time: milliseconds, or with a unit.
fn duration(value: &str) -> Option<Duration> {
    let value = value.trim();
    let split = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let number: f64 = value[..split].parse().ok()?;
    let millis = match value[split..].trim() {
        "" | "ms" => number,
        "us" => number / 1000.0,
        "s" => number * 1000.0,
        "min" => number * 60_000.0,
        "h" => number * 3_600_000.0,
        "d" => number * 86_400_000.0,
        _ => return None,
    };
    (millis.is_finite() && millis <= 2_147_483_647.0)
        .then(|| Duration::from_millis(millis.round() as u64))
}

fn shown_duration(time: Duration) -> String {
    let millis = time.as_millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")];
    match units.iter().find(|(size, _)| millis > 0 && millis.is_multiple_of(*size)) {
        _ if millis == 0 => "0".to_owned(),
        Some((size, unit)) => format!("{}{unit}", millis / size),
        None => format!("{millis}ms"),
    }
}
