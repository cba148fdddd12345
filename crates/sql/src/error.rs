//! Errors as PostgreSQL has them: a code of five characters, a message, and what it is about.

use std::fmt;

/// What went wrong, or what the client should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlError(Box<Fields>);

/// The fields of an error or notice of the protocol.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Fields {
    /// SQLSTATE.
    pub code: &'static str,
    /// The primary message.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// Where in the text of the statement, in characters from 1.
    pub position: Option<u32>,
    /// Where it happened, for example in which line of a COPY.
    pub context: Option<String>,
    /// The schema of the object.
    pub schema: Option<String>,
    /// The table of the object.
    pub table: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// The data type.
    pub data_type: Option<String>,
    /// The constraint.
    pub constraint: Option<String>,
    /// The function of PostgreSQL that says so, where drivers look at it.
    pub routine: Option<String>,
}

/// What most functions here return.
pub type Result<T> = std::result::Result<T, SqlError>;

/// The codes that are used here, by their names in PostgreSQL's documentation.
pub mod code {
    #![allow(missing_docs)]
    pub const WARNING: &str = "01000";
    pub const CONNECTION_FAILURE: &str = "08006";
    pub const PROTOCOL_VIOLATION: &str = "08P01";
    pub const FEATURE_NOT_SUPPORTED: &str = "0A000";
    pub const CARDINALITY_VIOLATION: &str = "21000";
    pub const DATA_EXCEPTION: &str = "22000";
    pub const STRING_DATA_RIGHT_TRUNCATION: &str = "22001";
    pub const NUMERIC_VALUE_OUT_OF_RANGE: &str = "22003";
    pub const NULL_VALUE_NOT_ALLOWED: &str = "22004";
    pub const INVALID_DATETIME_FORMAT: &str = "22007";
    pub const DATETIME_FIELD_OVERFLOW: &str = "22008";
    pub const INVALID_TIME_ZONE_DISPLACEMENT_VALUE: &str = "22009";
    pub const SUBSTRING_ERROR: &str = "22011";
    pub const DIVISION_BY_ZERO: &str = "22012";
    pub const INVALID_PRECEDING_OR_FOLLOWING_SIZE: &str = "22013";
    pub const INVALID_ARGUMENT_FOR_LOGARITHM: &str = "2201E";
    pub const INVALID_ARGUMENT_FOR_POWER: &str = "2201F";
    pub const INVALID_ARGUMENT_FOR_WIDTH_BUCKET: &str = "2201G";
    pub const INVALID_ROW_COUNT_IN_LIMIT: &str = "2201W";
    pub const INVALID_ROW_COUNT_IN_OFFSET: &str = "2201X";
    pub const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";
    pub const INVALID_PARAMETER_VALUE: &str = "22023";
    pub const INVALID_ESCAPE_SEQUENCE: &str = "22025";
    pub const ARRAY_SUBSCRIPT_ERROR: &str = "2202E";
    pub const INVALID_REGULAR_EXPRESSION: &str = "2201B";
    pub const INVALID_TEXT_REPRESENTATION: &str = "22P02";
    pub const INVALID_BINARY_REPRESENTATION: &str = "22P03";
    pub const BAD_COPY_FILE_FORMAT: &str = "22P04";
    pub const UNTRANSLATABLE_CHARACTER: &str = "22P05";
    pub const INVALID_JSON_TEXT: &str = "22032";
    pub const INTEGRITY_CONSTRAINT_VIOLATION: &str = "23000";
    pub const RESTRICT_VIOLATION: &str = "23001";
    pub const NOT_NULL_VIOLATION: &str = "23502";
    pub const FOREIGN_KEY_VIOLATION: &str = "23503";
    pub const UNIQUE_VIOLATION: &str = "23505";
    pub const CHECK_VIOLATION: &str = "23514";
    pub const EXCLUSION_VIOLATION: &str = "23P01";
    pub const INVALID_CURSOR_STATE: &str = "24000";
    pub const INVALID_TRANSACTION_STATE: &str = "25000";
    pub const ACTIVE_SQL_TRANSACTION: &str = "25001";
    pub const READ_ONLY_SQL_TRANSACTION: &str = "25006";
    pub const NO_ACTIVE_SQL_TRANSACTION: &str = "25P01";
    pub const IN_FAILED_SQL_TRANSACTION: &str = "25P02";
    pub const INVALID_SQL_STATEMENT_NAME: &str = "26000";
    pub const DEPENDENT_OBJECTS_STILL_EXIST: &str = "2BP01";
    pub const INVALID_PASSWORD: &str = "28P01";
    pub const INVALID_CURSOR_NAME: &str = "34000";
    pub const INVALID_SAVEPOINT_SPECIFICATION: &str = "3B001";
    pub const INVALID_CATALOG_NAME: &str = "3D000";
    pub const INVALID_SCHEMA_NAME: &str = "3F000";
    pub const SERIALIZATION_FAILURE: &str = "40001";
    pub const DEADLOCK_DETECTED: &str = "40P01";
    pub const SYNTAX_ERROR: &str = "42601";
    pub const INSUFFICIENT_PRIVILEGE: &str = "42501";
    pub const CANNOT_COERCE: &str = "42846";
    pub const GROUPING_ERROR: &str = "42803";
    pub const WINDOWING_ERROR: &str = "42P20";
    pub const INVALID_RECURSION: &str = "42P19";
    pub const INVALID_FOREIGN_KEY: &str = "42830";
    pub const INVALID_NAME: &str = "42602";
    pub const NAME_TOO_LONG: &str = "42622";
    pub const AMBIGUOUS_ALIAS: &str = "42P09";
    pub const RESERVED_NAME: &str = "42939";
    pub const DATATYPE_MISMATCH: &str = "42804";
    pub const INDETERMINATE_COLLATION: &str = "42P22";
    pub const INDETERMINATE_DATATYPE: &str = "42P18";
    pub const COLLATION_MISMATCH: &str = "42P21";
    pub const WRONG_OBJECT_TYPE: &str = "42809";
    pub const GENERATED_ALWAYS: &str = "428C9";
    pub const UNDEFINED_COLUMN: &str = "42703";
    pub const UNDEFINED_FUNCTION: &str = "42883";
    pub const UNDEFINED_TABLE: &str = "42P01";
    pub const UNDEFINED_PARAMETER: &str = "42P02";
    pub const UNDEFINED_OBJECT: &str = "42704";
    pub const DUPLICATE_COLUMN: &str = "42701";
    pub const DUPLICATE_CURSOR: &str = "42P03";
    pub const DUPLICATE_DATABASE: &str = "42P04";
    pub const DUPLICATE_FUNCTION: &str = "42723";
    pub const DUPLICATE_PREPARED_STATEMENT: &str = "42P05";
    pub const DUPLICATE_SCHEMA: &str = "42P06";
    pub const DUPLICATE_TABLE: &str = "42P07";
    pub const DUPLICATE_ALIAS: &str = "42712";
    pub const DUPLICATE_OBJECT: &str = "42710";
    pub const AMBIGUOUS_COLUMN: &str = "42702";
    pub const AMBIGUOUS_FUNCTION: &str = "42725";
    pub const INVALID_COLUMN_REFERENCE: &str = "42P10";
    pub const INVALID_COLUMN_DEFINITION: &str = "42611";
    pub const INVALID_TABLE_DEFINITION: &str = "42P16";
    pub const INVALID_OBJECT_DEFINITION: &str = "42P17";
    pub const PROGRAM_LIMIT_EXCEEDED: &str = "54000";
    pub const STATEMENT_TOO_COMPLEX: &str = "54001";
    pub const TOO_MANY_COLUMNS: &str = "54011";
    pub const CHECK_OPTION_VIOLATION: &str = "44000";
    pub const OBJECT_NOT_IN_PREREQUISITE_STATE: &str = "55000";
    pub const OBJECT_IN_USE: &str = "55006";
    pub const LOCK_NOT_AVAILABLE: &str = "55P03";
    pub const CANT_CHANGE_RUNTIME_PARAM: &str = "55P02";
    pub const QUERY_CANCELED: &str = "57014";
    pub const ADMIN_SHUTDOWN: &str = "57P01";
    pub const OUT_OF_MEMORY: &str = "53200";
    pub const DISK_FULL: &str = "53100";
    pub const TOO_MANY_CONNECTIONS: &str = "53300";
    pub const INTERNAL_ERROR: &str = "XX000";
}

impl SqlError {
    /// An error with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError(Box::new(Fields { code, message: message.into(), ..Fields::default() }))
    }

    /// A construct that is not there: never a wrong result instead.
    pub fn unsupported(what: impl fmt::Display) -> SqlError {
        SqlError::new(code::FEATURE_NOT_SUPPORTED, format!("{what} is not supported"))
    }

    /// Something that should have been impossible.
    pub fn internal(what: impl Into<String>) -> SqlError {
        SqlError::new(code::INTERNAL_ERROR, what)
    }

    /// The fields.
    pub fn fields(&self) -> &Fields {
        &self.0
    }

    /// The fields, to be completed.
    pub fn fields_mut(&mut self) -> &mut Fields {
        &mut self.0
    }

    /// SQLSTATE.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The primary message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// With a detail.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> SqlError {
        self.0.detail = Some(detail.into());
        self
    }

    /// With a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> SqlError {
        self.0.hint = Some(hint.into());
        self
    }

    /// With a position in the text, unless it has one: characters from 1; 0 is none.
    #[must_use]
    pub fn at(mut self, position: u32) -> SqlError {
        if position > 0 {
            self.0.position.get_or_insert(position);
        }
        self
    }

    /// From a function of PostgreSQL.
    #[must_use]
    pub fn routine(mut self, routine: &str) -> SqlError {
        self.0.routine = Some(routine.to_owned());
        self
    }

    /// With the place in what is being worked on.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> SqlError {
        self.0.context = Some(context.into());
        self
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.message, self.0.code)
    }
}

impl std::error::Error for SqlError {}
