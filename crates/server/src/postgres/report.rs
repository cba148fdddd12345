//! Errors, notices and settings, as clients are told of them.

use pgwire::messages::response::{ErrorResponse, NoticeResponse};
use pgwire::messages::startup::ParameterStatus;
use seriatim_sql::error::code;
use seriatim_sql::settings::Settings;
use seriatim_sql::{Oid, SqlError};

/// The settings that clients are told of, at first and whenever they change.
const REPORTED: [&str; 13] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

/// What the client was last told of the settings.
#[derive(Default, Debug)]
pub(super) struct Reported([String; REPORTED.len()], bool);

impl Reported {
    /// What has changed since.
    pub fn changes(&mut self, settings: &Settings) -> Vec<ParameterStatus> {
        let mut changes = Vec::new();
        let is_first = !std::mem::replace(&mut self.1, true);
        for (name, told) in REPORTED.iter().zip(&mut self.0) {
            let value = settings.find(name).unwrap_or_default();
            if is_first || *told != value {
                changes.push(ParameterStatus::new((*name).to_owned(), value.clone()));
                *told = value;
            }
        }
        changes
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Severity {
    Notice,
    Warning,
    Error,
    Fatal,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
        }
    }

    /// A notice about warnings (class 01) and about the state of transactions (class 25) is a
    /// warning in PostgreSQL; the others say that something was skipped or done along with it.
    pub fn of_notice(notice: &SqlError) -> Severity {
        match &notice.code()[..2] {
            "01" | "25" => Severity::Warning,
            _ => Severity::Notice,
        }
    }

    /// The least severity that the client wants to be told of.
    pub fn least(settings: &Settings) -> Severity {
        match settings.find("client_min_messages").unwrap_or_default().as_str() {
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            _ => Severity::Notice,
        }
    }
}

/// The fields of an error.
fn fields(error: &SqlError, severity: Severity) -> Vec<(u8, String)> {
    let it = error.fields();
    let mut fields = vec![
        (b'S', severity.name().to_owned()),
        (b'V', severity.name().to_owned()),
        (b'C', it.code.to_owned()),
        (b'M', it.message.clone()),
    ];
    let position = it.position.map(|position| position.to_string());
    let rest = [
        (b'D', &it.detail),
        (b'H', &it.hint),
        (b'P', &position),
        (b'W', &it.context),
        (b's', &it.schema),
        (b't', &it.table),
        (b'c', &it.column),
        (b'd', &it.data_type),
        (b'n', &it.constraint),
        (b'R', &it.routine),
    ];
    fields.extend(rest.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))));
    // A zero byte would end the field early.
    fields.iter_mut().for_each(|(_, value)| value.retain(|c| c != '\0'));
    fields
}

/// An error, as it is sent.
pub(super) fn error(error: &SqlError, severity: Severity) -> ErrorResponse {
    ErrorResponse::new(fields(error, severity))
}

/// A notice, as it is sent.
pub(super) fn notice(notice: &SqlError, severity: Severity) -> NoticeResponse {
    NoticeResponse::new(fields(notice, severity))
}

/// Whether the session is over after such an error.
pub(super) fn is_fatal(error: &SqlError) -> bool {
    error.code() == code::ADMIN_SHUTDOWN
}

/// The end of a session because the server stops.
pub(super) fn shutdown() -> SqlError {
    SqlError::new(code::ADMIN_SHUTDOWN, "terminating connection due to administrator command")
}

/// Columns have 0 for what is no column of a table.
pub(super) fn origin(origin: Option<(Oid, u16)>) -> (i32, i16) {
    origin.map_or((0, 0), |(table, column)| (table.0 as i32, column as i16))
}
