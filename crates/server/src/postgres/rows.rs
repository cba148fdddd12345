//! Rows and their columns, in the formats that the client asked for.

use super::report::origin;
use bytes::{BufMut, BytesMut};
use pgwire::messages::data::{DataRow, FieldDescription, RowDescription};
use seriatim_sql::catalog::builtin;
use seriatim_sql::env::Env;
use seriatim_sql::error::code;
use seriatim_sql::execute::Row;
use seriatim_sql::functions::Call;
use seriatim_sql::ir::OutColumn;
use seriatim_sql::types::{TypeKind, TypeLookup, output, send};
use seriatim_sql::{Datum, Oid, SqlError};

/// So deep domains may stand for domains.
const DOMAINS_MAX: usize = 64;

/// The formats of the columns of a result: none is text for all, one is for all.
#[derive(Clone, Default, Debug)]
pub(super) struct Formats(Vec<i16>);

impl Formats {
    /// Formats for so many columns, as a client asks for them.
    pub fn new(formats: Vec<i16>, columns: usize) -> seriatim_sql::Result<Formats> {
        if formats.len() > 1 && formats.len() != columns {
            return Err(SqlError::new(
                code::PROTOCOL_VIOLATION,
                format!(
                    "bind message has {} result formats but query has {columns} columns",
                    formats.len()
                ),
            ));
        }
        Ok(Formats(formats))
    }

    /// An error if one of them is none; told when rows are to be sent.
    pub fn check(&self) -> seriatim_sql::Result<()> {
        match self.0.iter().find(|it| !(0..=1).contains(*it)) {
            Some(other) => Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                format!("unsupported format code: {other}"),
            )),
            None => Ok(()),
        }
    }

    fn of(&self, place: usize) -> i16 {
        match self.0.as_slice() {
            [] => 0,
            [one] => *one,
            many => many.get(place).copied().unwrap_or(0),
        }
    }
}

/// What the columns are.
pub(super) fn description(columns: &[OutColumn], formats: &Formats, env: &Env) -> RowDescription {
    let field = |(place, column): (usize, &OutColumn)| {
        let (ty, typmod) = base_type(column.ty, column.typmod, env);
        let (table, attribute) = origin(column.origin);
        FieldDescription::new(
            column.name.to_string(),
            table,
            attribute,
            ty.0,
            type_size(ty, env),
            typmod,
            formats.of(place),
        )
    };
    RowDescription::new(columns.iter().enumerate().map(field).collect())
}

/// Clients are told what a domain stands for.
fn base_type(ty: Oid, typmod: i32, env: &Env) -> (Oid, i32) {
    let (mut ty, mut typmod) = (ty, typmod);
    for _ in 0..DOMAINS_MAX {
        match env.kind(ty) {
            Some(TypeKind::Domain { base, typmod: of_base }) => (ty, typmod) = (base, of_base),
            _ => break,
        }
    }
    (ty, typmod)
}

fn type_size(ty: Oid, env: &Env) -> i16 {
    if let Some(found) = builtin::builtin().types.get(&ty) {
        return found.len;
    }
    match env.kind(ty) {
        Some(TypeKind::Enum(_)) => 4,
        _ => -1,
    }
}

/// Makes messages of rows, one at a time in the same memory.
pub(super) struct Writer<'w> {
    columns: &'w [OutColumn],
    formats: &'w Formats,
    env: &'w Env,
    row: DataRow,
}

impl<'w> Writer<'w> {
    pub fn new(columns: &'w [OutColumn], formats: &'w Formats, env: &'w Env) -> Writer<'w> {
        let count = i16::try_from(columns.len()).unwrap_or(i16::MAX);
        Writer { columns, formats, env, row: DataRow::new(BytesMut::new(), count) }
    }

    /// The message of a row.
    pub fn row(&mut self, row: &Row) -> &DataRow {
        let (style, types) = (&self.env.style, self.env);
        let call = Call { args: &[], result: Oid::TEXT, style, types };
        let data = &mut self.row.data;
        data.clear();
        for (place, column) in self.columns.iter().enumerate() {
            match row.get(place) {
                None | Some(Datum::Null) => data.put_i32(-1),
                Some(value) if self.formats.of(place) == 1 => {
                    put(data, &send(value, column.ty, &call));
                }
                Some(value) => put(data, output(value, column.ty, &call).as_bytes()),
            }
        }
        &self.row
    }
}

fn put(data: &mut BytesMut, bytes: &[u8]) {
    // A value has less than a gigabyte.
    data.put_i32(bytes.len() as i32);
    data.put_slice(bytes);
}
