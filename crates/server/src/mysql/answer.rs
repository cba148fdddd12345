//! What clients are sent: OK, errors, and results, whose rows are texts after a query and bytes of
//! their types after the execution of a prepared statement.

use super::dialect::comments;
use super::error::MysqlError;
use super::frontend::capability;
use super::packet::{Wire, Wired};
use seriatim_sql::env::Env;
use seriatim_sql::functions::Call;
use seriatim_sql::ir::OutColumn;
use seriatim_sql::types::Row;
use seriatim_sql::{Datum, Oid};

/// Flags of the server's status.
pub(super) mod status {
    pub const IN_TRANSACTION: u16 = 1;
    pub const AUTOCOMMIT: u16 = 2;
    pub const MORE_RESULTS: u16 = 8;
}

/// Types of columns, by their numbers in the protocol.
pub(super) mod kind {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const NEWDECIMAL: u8 = 246;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
}

const NOT_NULL_FLAG: u16 = 1;
const PRIMARY_FLAG: u16 = 2;
const BLOB_FLAG: u16 = 16;
const UNSIGNED_FLAG: u16 = 32;
const BINARY_FLAG: u16 = 128;
const AUTO_INCREMENT_FLAG: u16 = 512;
/// Times that were computed have the digits that they need.
const AS_NEEDED: u8 = 39;
const UTF8MB4: u16 = 46;
const BINARY: u16 = 63;

/// A number with its own length.
pub(super) fn put_length(body: &mut Vec<u8>, value: u64) {
    match value {
        0..=250 => body.push(value as u8),
        251..=0xffff => {
            body.push(0xfc);
            body.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            body.push(0xfd);
            body.extend_from_slice(&value.to_le_bytes()[..3]);
        }
        _ => {
            body.push(0xfe);
            body.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Bytes with their length before them.
pub(super) fn put_bytes(body: &mut Vec<u8>, bytes: &[u8]) {
    put_length(body, bytes.len() as u64);
    body.extend_from_slice(bytes);
}

/// What a statement without rows has done.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Done {
    pub affected: u64,
    pub insert_id: u64,
    pub warnings: u16,
    pub info: String,
}

/// A column of a result, as clients are told.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    table: String,
    kind: u8,
    flags: u16,
    charset: u16,
    length: u32,
    decimals: u8,
    ty: Oid,
}

impl Column {
    /// A column of texts.
    pub fn of_text(name: &str) -> Column {
        Column::plain(name, Oid::TEXT)
    }

    /// A column of whole numbers.
    pub fn of_numbers(name: &str) -> Column {
        Column::plain(name, Oid::INT8)
    }

    fn plain(name: &str, ty: Oid) -> Column {
        let (kind, flags, charset, length, decimals) = of_type(ty, -1);
        let (name, table) = (name.to_owned(), String::new());
        Column { name, table, kind, flags, charset, length, decimals, ty }
    }

    /// A column of a query.
    pub fn new(column: &OutColumn, env: &Env) -> Column {
        let ty = env.catalog.base_type(column.ty);
        let mut made = Column::plain(&column.name, ty);
        let (kind, flags, charset, length, decimals) = of_type(ty, column.typmod);
        (made.kind, made.flags, made.charset) = (kind, flags, charset);
        (made.length, made.decimals) = (length, decimals);
        if let Some((table, number)) = column.origin
            && let Some(table) = env.catalog.table(table)
        {
            made.declare(table, number);
        }
        made
    }

    /// What the declaration of a column says beyond its type.
    fn declare(&mut self, table: &seriatim_sql::catalog::Table, number: u16) {
        let column = table.column(number);
        self.table = table.name.to_string();
        let shown = comments::declared(column).unwrap_or_default();
        match shown.split(['(', ' ']).next().unwrap_or_default() {
            "tinyint" => (self.kind, self.length) = (kind::TINY, 4),
            "mediumint" => (self.kind, self.length) = (kind::INT24, 9),
            "smallint" => self.kind = kind::SHORT,
            "int" => (self.kind, self.length) = (kind::LONG, 11),
            "year" => self.kind = kind::YEAR,
            "timestamp" => self.kind = kind::TIMESTAMP,
            "char" | "enum" => self.kind = kind::STRING,
            "binary" => (self.kind, self.flags) = (kind::STRING, BINARY_FLAG),
            "varbinary" => (self.kind, self.flags) = (kind::VAR_STRING, BINARY_FLAG),
            "tinytext" | "text" | "mediumtext" | "longtext" => {
                (self.kind, self.flags) = (kind::BLOB, BLOB_FLAG);
            }
            _ => {}
        }
        if shown == "tinyint(1)" {
            self.length = 1;
        }
        if shown.ends_with("unsigned") {
            self.flags |= UNSIGNED_FLAG;
        }
        if column.not_null {
            self.flags |= NOT_NULL_FLAG;
        }
        if column.identity.is_some() {
            self.flags |= AUTO_INCREMENT_FLAG;
        }
        if table.primary_key().is_some_and(|(columns, _)| columns.contains(&number)) {
            self.flags |= PRIMARY_FLAG;
        }
    }

    fn definition(&self, database: &str) -> Vec<u8> {
        let mut body = Vec::new();
        put_bytes(&mut body, b"def");
        let database = if self.table.is_empty() { "" } else { database };
        for part in [database, &self.table, &self.table, &self.name, &self.name] {
            put_bytes(&mut body, part.as_bytes());
        }
        body.push(0x0c);
        body.extend_from_slice(&self.charset.to_le_bytes());
        body.extend_from_slice(&self.length.to_le_bytes());
        body.push(self.kind);
        body.extend_from_slice(&self.flags.to_le_bytes());
        body.extend_from_slice(&[self.decimals, 0, 0]);
        body
    }
}

/// Type, flags, character set, length and digits of a type.
fn of_type(ty: Oid, typmod: i32) -> (u8, u16, u16, u32, u8) {
    let digits = if (0..=6).contains(&typmod) { typmod as u8 } else { AS_NEEDED };
    match ty {
        Oid::BOOL => (kind::LONGLONG, BINARY_FLAG, BINARY, 1, 0),
        Oid::INT2 => (kind::SHORT, BINARY_FLAG, BINARY, 6, 0),
        Oid::INT4 => (kind::LONG, BINARY_FLAG, BINARY, 11, 0),
        Oid::INT8 => (kind::LONGLONG, BINARY_FLAG, BINARY, 20, 0),
        Oid::FLOAT4 => (kind::FLOAT, BINARY_FLAG, BINARY, 12, 31),
        Oid::FLOAT8 => (kind::DOUBLE, BINARY_FLAG, BINARY, 22, 31),
        Oid::NUMERIC => {
            let scale = if typmod >= 4 { ((typmod - 4) & 0x7ff) as u8 } else { 4 };
            (kind::NEWDECIMAL, BINARY_FLAG, BINARY, 67, scale)
        }
        Oid::DATE => (kind::DATE, BINARY_FLAG, BINARY, 10, 0),
        Oid::TIME | Oid::INTERVAL => (kind::TIME, BINARY_FLAG, BINARY, 17, digits),
        Oid::TIMESTAMP | Oid::TIMESTAMPTZ => (kind::DATETIME, BINARY_FLAG, BINARY, 26, digits),
        Oid::BYTEA => (kind::BLOB, BLOB_FLAG | BINARY_FLAG, BINARY, u32::MAX, 0),
        Oid::UNKNOWN => (kind::NULL, BINARY_FLAG, BINARY, 0, 0),
        Oid::VARCHAR if typmod >= 4 => {
            let length = (typmod as u32 - 4).saturating_mul(4);
            (kind::VAR_STRING, 0, UTF8MB4, length, 0)
        }
        _ => (kind::VAR_STRING, 0, UTF8MB4, 1 << 20, 39),
    }
}

/// How values of a result are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Text,
    Binary,
}

/// Who writes answers: what the client can do, and where the session stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub capabilities: u32,
    pub status: u16,
    pub form: Form,
}

impl Manner {
    fn has(self, bit: u32) -> bool {
        self.capabilities & bit != 0
    }

    pub fn ok(self, wire: &mut Wire, done: &Done) -> Wired<()> {
        wire.put(&self.ok_body(0x00, done))
    }

    fn ok_body(self, header: u8, done: &Done) -> Vec<u8> {
        let mut body = vec![header];
        put_length(&mut body, done.affected);
        put_length(&mut body, done.insert_id);
        body.extend_from_slice(&self.status.to_le_bytes());
        body.extend_from_slice(&done.warnings.to_le_bytes());
        if !done.info.is_empty() {
            put_length(&mut body, done.info.len() as u64);
            body.extend_from_slice(done.info.as_bytes());
        }
        body
    }

    fn eof(self, wire: &mut Wire, warnings: u16) -> Wired<()> {
        let mut body = vec![0xfe];
        body.extend_from_slice(&warnings.to_le_bytes());
        body.extend_from_slice(&self.status.to_le_bytes());
        wire.put(&body)
    }

    /// The end of columns, for clients that want it told.
    pub fn end_of_columns(self, wire: &mut Wire) -> Wired<()> {
        match self.has(capability::DEPRECATE_EOF) {
            true => Ok(()),
            false => self.eof(wire, 0),
        }
    }

    /// The end of rows.
    pub fn end_of_rows(self, wire: &mut Wire, warnings: u16) -> Wired<()> {
        match self.has(capability::DEPRECATE_EOF) {
            true => {
                let done = Done { warnings, ..Done::default() };
                wire.put(&self.ok_body(0xfe, &done))
            }
            false => self.eof(wire, warnings),
        }
    }

    /// The definitions of columns.
    pub fn columns(self, wire: &mut Wire, columns: &[Column], database: &str) -> Wired<()> {
        columns.iter().try_for_each(|column| wire.put(&column.definition(database)))
    }

    /// A result.
    pub fn rows(
        self,
        wire: &mut Wire,
        columns: &[Column],
        rows: &[Row],
        env: &Env,
        warnings: u16,
    ) -> Wired<()> {
        let mut count = Vec::new();
        put_length(&mut count, columns.len() as u64);
        wire.put(&count)?;
        self.columns(wire, columns, &database_of(env))?;
        self.end_of_columns(wire)?;
        let mut body = Vec::new();
        for row in rows {
            body.clear();
            match self.form {
                Form::Text => text_row(&mut body, columns, row, env),
                Form::Binary => binary_row(&mut body, columns, row, env),
            }
            wire.put(&body)?;
        }
        self.end_of_rows(wire, warnings)
    }
}

/// An error, as it is sent.
pub(super) fn error_body(error: &MysqlError) -> Vec<u8> {
    let mut body = vec![0xff];
    body.extend_from_slice(&error.number.to_le_bytes());
    body.push(b'#');
    body.extend_from_slice(error.state.as_bytes());
    body.extend_from_slice(error.message.as_bytes());
    body
}

fn text_row(body: &mut Vec<u8>, columns: &[Column], row: &Row, env: &Env) {
    for (value, column) in row.iter().zip(columns) {
        match value {
            Datum::Null => body.push(0xfb),
            Datum::Bytea(bytes) => put_bytes(body, bytes),
            value => put_bytes(body, shown(value, column, env).as_bytes()),
        }
    }
}

/// A value as text.
pub(super) fn shown(value: &Datum, column: &Column, env: &Env) -> String {
    match value {
        Datum::Bool(value) => u8::from(*value).to_string(),
        Datum::Float8(value) => float(*value),
        Datum::Float4(value) => single(*value),
        Datum::Timestamp(_) | Datum::Time(_) => {
            let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
            let text = seriatim_sql::types::output(value, column.ty, &call);
            let text = text.trim_end_matches("+00");
            with_digits(text, column.decimals)
        }
        value => {
            let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
            seriatim_sql::types::output(value, column.ty, &call)
        }
    }
}

/// A time with so many digits behind its point.
fn with_digits(text: &str, digits: u8) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    match digits {
        0 => whole.to_owned(),
        AS_NEEDED if fraction.is_empty() => whole.to_owned(),
        digits => {
            let width = usize::from(digits.min(6));
            let padded = format!("{fraction:0<width$}");
            format!("{whole}.{}", &padded[..width.min(padded.len())])
        }
    }
}

/// A number as MySQL writes it: without exponent as long as that is short.
fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-15..1e15).contains(&size) {
        return format!("{value:e}");
    }
    format!("{value}")
}

fn single(value: f32) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-15..1e15).contains(&size) {
        return format!("{value:e}");
    }
    // Six digits are what it is good for.
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(f64::from(value));
    format!("{rounded}")
}

fn binary_row(body: &mut Vec<u8>, columns: &[Column], row: &Row, env: &Env) {
    body.push(0);
    let start = body.len();
    body.resize(start + (columns.len() + 9) / 8, 0);
    for (place, (value, column)) in row.iter().zip(columns).enumerate() {
        if value.is_null() {
            let bit = place + 2;
            body[start + bit / 8] |= 1 << (bit % 8);
        } else {
            binary_value(body, value, column, env);
        }
    }
}

fn whole(value: &Datum) -> Option<i64> {
    match value {
        Datum::Bool(value) => Some(i64::from(*value)),
        Datum::Int2(value) => Some(i64::from(*value)),
        Datum::Int4(value) => Some(i64::from(*value)),
        Datum::Int8(value) => Some(*value),
        Datum::Oid(value) => Some(i64::from(*value)),
        _ => None,
    }
}

fn binary_value(body: &mut Vec<u8>, value: &Datum, column: &Column, env: &Env) {
    if let Some(number) = whole(value) {
        let bytes = match column.kind {
            kind::TINY => 1,
            kind::SHORT | kind::YEAR => 2,
            kind::LONG | kind::INT24 => 4,
            kind::LONGLONG => 8,
            _ => {
                put_bytes(body, number.to_string().as_bytes());
                return;
            }
        };
        body.extend_from_slice(&number.to_le_bytes()[..bytes]);
        return;
    }
    match value {
        Datum::Float8(value) => body.extend_from_slice(&value.to_le_bytes()),
        Datum::Float4(value) => body.extend_from_slice(&value.to_le_bytes()),
        Datum::Bytea(bytes) => put_bytes(body, bytes),
        Datum::Date(_) | Datum::Timestamp(_) => binary_moment(body, &shown(value, column, env)),
        Datum::Time(micros) => binary_time(body, *micros),
        value => put_bytes(body, shown(value, column, env).as_bytes()),
    }
}

/// A date or time, from its text: its numbers are in it in their order.
fn binary_moment(body: &mut Vec<u8>, text: &str) {
    let mut numbers = text.split(|it: char| !it.is_ascii_digit()).map(|it| it.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0_u32);
    let (year, month, day) = (next() as u16, next() as u8, next() as u8);
    let (hour, minute, second) = (next() as u8, next() as u8, next() as u8);
    let micros = text
        .split_once('.')
        .map_or(0, |(_, fraction)| format!("{fraction:0<6}")[..6].parse::<u32>().unwrap_or(0));
    let length: u8 = match (micros, hour, minute, second) {
        (0, 0, 0, 0) => 4,
        (0, ..) => 7,
        _ => 11,
    };
    body.push(length);
    body.extend_from_slice(&year.to_le_bytes());
    body.extend_from_slice(&[month, day]);
    if length > 4 {
        body.extend_from_slice(&[hour, minute, second]);
    }
    if length > 7 {
        body.extend_from_slice(&micros.to_le_bytes());
    }
}

fn binary_time(body: &mut Vec<u8>, micros: i64) {
    let (seconds, fraction) = (micros / 1_000_000, (micros % 1_000_000) as u32);
    let length: u8 = if micros == 0 {
        0
    } else if fraction == 0 {
        8
    } else {
        12
    };
    body.push(length);
    if length == 0 {
        return;
    }
    body.extend_from_slice(&[0, 0, 0, 0, 0]);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    body.extend_from_slice(&[hour as u8, minute as u8, second as u8]);
    if length > 8 {
        body.extend_from_slice(&fraction.to_le_bytes());
    }
}

/// The database that names are looked for in.
fn database_of(env: &Env) -> String {
    let first = env.path.schemas.first();
    first.map_or(String::new(), |&schema| env.catalog.schema_name(schema).to_string())
}
