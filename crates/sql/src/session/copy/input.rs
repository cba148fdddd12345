//! COPY … FROM STDIN.

use super::CopyFormat;
use super::split::{Value, csv_values, row_end, text_values};
use crate::catalog::Table;
use crate::error::{Result, SqlError, code};
use crate::execute::{Exec, Row, RowWriter};
use crate::functions::Call;
use crate::ir::Expr;
use crate::session::Session;
use crate::transaction::PendingCheck;
use crate::types::{Datum, Oid, input, recv};
use std::sync::Arc;

/// The client is to send rows.
#[derive(Debug)]
pub struct CopyIn {
    /// The table.
    pub table: Arc<Table>,
    /// The columns, by number.
    pub columns: Vec<u16>,
    /// How rows are written.
    pub format: CopyFormat,
    filter: Option<String>,
    buffer: Vec<u8>,
    line: u64,
    count: u64,
    /// Whether the header is behind.
    begun: bool,
    /// Whether the end of the data was seen.
    ended: bool,
    checks: Vec<PendingCheck>,
}

/// Rows are taken when there is so much: clients may send each row by itself, and to begin with
/// rows costs more than a row.
const PIECE: usize = 1 << 16;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// What rows are completed with.
struct Sink<'s> {
    writer: RowWriter,
    defaults: &'s [(u16, Expr)],
    filter: Option<&'s Expr>,
}

impl CopyIn {
    pub(super) fn new(
        table: Arc<Table>,
        columns: Vec<u16>,
        format: CopyFormat,
        filter: Option<String>,
    ) -> CopyIn {
        CopyIn {
            table,
            columns,
            format,
            filter,
            buffer: Vec::new(),
            line: 0,
            count: 0,
            begun: false,
            ended: false,
            checks: Vec::new(),
        }
    }

    /// Takes a piece of what the client sends. After an error the caller ends it with
    /// [`Session::failed`].
    pub fn feed(&mut self, session: &mut Session, bytes: &[u8]) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < PIECE {
            return Ok(());
        }
        self.take_rows(session, false)
    }

    /// The client has sent all: what was done.
    pub fn finish(&mut self, session: &mut Session) -> Result<String> {
        self.take_rows(session, true)?;
        let env = session.env();
        let Some(txn) = &mut session.txn else { return Err(SqlError::internal("no transaction")) };
        Exec::new(&env, txn, &[]).run_checks(std::mem::take(&mut self.checks))?;
        Ok(format!("COPY {}", self.count))
    }

    /// The client gives up: the error of the statement.
    pub fn abort(self, message: &str) -> SqlError {
        SqlError::new(code::QUERY_CANCELED, format!("COPY from stdin failed: {message}"))
            .context(format!("COPY {}, line {}", self.table.name, self.line + 1))
    }

    fn take_rows(&mut self, session: &mut Session, is_last: bool) -> Result<()> {
        let env = session.env();
        let mut binder = env.binder("");
        let defaults = binder.defaults(&self.table, &self.columns)?;
        let filter = match &self.filter {
            Some(text) => Some(binder.check_expr(&self.table, text)?),
            None => None,
        };
        let Some(txn) = &mut session.txn else { return Err(SqlError::internal("no transaction")) };
        let mut exec = Exec::new(&env, txn, &[]);
        let writer = RowWriter::new(&mut exec, &self.table)?;
        let sink = Sink { writer, defaults: &defaults, filter: filter.as_ref() };
        let buffer = std::mem::take(&mut self.buffer);
        let taken = match self.format.binary {
            true => self.binary_rows(&mut exec, &sink, &buffer, is_last),
            false => self.text_rows(&mut exec, &sink, &buffer, is_last),
        };
        self.checks.extend(exec.take_checks());
        let notices = std::mem::take(&mut exec.notices);
        session.after_statement(notices);
        self.buffer = buffer[taken?..].to_vec();
        Ok(())
    }

    fn context(&self, what: &str) -> String {
        format!("COPY {}, line {}{what}", self.table.name, self.line)
    }

    /// Takes whole rows: how many bytes they were.
    fn text_rows(
        &mut self,
        exec: &mut Exec<'_>,
        sink: &Sink<'_>,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<usize> {
        let mut start = 0;
        while !self.ended {
            let Some((end, next)) = row_end(&bytes[start..], &self.format, is_last) else { break };
            let line = &bytes[start..start + end];
            start += next;
            self.line += 1;
            if line == b"\\." {
                self.ended = true;
                break;
            }
            if self.format.header && !self.begun {
                self.begun = true;
                continue;
            }
            let text = std::str::from_utf8(line).map_err(|error| {
                let bad = line[error.valid_up_to()];
                SqlError::new(
                    code::CHARACTER_NOT_IN_REPERTOIRE,
                    format!("invalid byte sequence for encoding \"UTF8\": 0x{bad:02x}"),
                )
                .context(self.context(""))
            })?;
            self.text_row(exec, sink, text)?;
        }
        Ok(if self.ended { bytes.len() } else { start })
    }

    fn text_row(&mut self, exec: &mut Exec<'_>, sink: &Sink<'_>, line: &str) -> Result<()> {
        let table = Arc::clone(&self.table);
        let names: Vec<&str> = self.columns.iter().map(|&it| &*table.column(it).name).collect();
        let shown = || {
            let cut: String = line.chars().take(100).collect();
            let dots = if cut.len() < line.len() { "..." } else { "" };
            format!(": \"{cut}{dots}\"")
        };
        let values = match self.format.csv {
            true => csv_values(line, &self.format, &names)
                .map_err(|error| error.context(self.context(&shown())))?,
            false if line.is_empty() && names.is_empty() => Vec::new(),
            false => text_values(line, &self.format),
        };
        if values.len() > self.columns.len() {
            return Err(SqlError::new(
                code::BAD_COPY_FILE_FORMAT,
                "extra data after last expected column",
            )
            .context(self.context(&shown())));
        }
        if let Some(missing) = names.get(values.len()) {
            return Err(SqlError::new(
                code::BAD_COPY_FILE_FORMAT,
                format!("missing data for column \"{missing}\""),
            )
            .context(self.context(&shown())));
        }
        let row = self.read_values(exec, &values)?;
        self.insert(exec, sink, row, &shown())
    }

    fn read_values(&self, exec: &Exec<'_>, values: &[Value]) -> Result<Vec<Datum>> {
        let mut row = Vec::with_capacity(values.len());
        let env = exec.env;
        let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
        for (value, &number) in values.iter().zip(&self.columns) {
            let column = self.table.column(number);
            row.push(match value {
                None => Datum::Null,
                Some(text) => input(text, column.ty, column.typmod, &call).map_err(|error| {
                    error.context(self.context(&format!(", column {}: \"{text}\"", column.name)))
                })?,
            });
        }
        Ok(row)
    }

    fn insert(
        &mut self,
        exec: &mut Exec<'_>,
        sink: &Sink<'_>,
        given: Vec<Datum>,
        shown: &str,
    ) -> Result<()> {
        let mut row: Row = vec![Datum::Null; self.table.columns.len()];
        for (number, default) in sink.defaults {
            row[*number as usize - 1] = exec.eval(default, &[])?;
        }
        for (&number, value) in self.columns.iter().zip(given) {
            row[number as usize - 1] = value;
        }
        if let Some(filter) = sink.filter {
            row.push(Datum::Null);
            let holds = exec.holds(filter, &row)?;
            row.pop();
            if !holds {
                return Ok(());
            }
        }
        sink.writer.insert(exec, row).map_err(|error| {
            let with_text =
                matches!(error.code(), code::NOT_NULL_VIOLATION | code::CHECK_VIOLATION);
            let what = if with_text { shown } else { "" };
            error.context(self.context(what))
        })?;
        self.count += 1;
        Ok(())
    }

    fn binary_rows(
        &mut self,
        exec: &mut Exec<'_>,
        sink: &Sink<'_>,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<usize> {
        let bad = |what: &str| SqlError::new(code::BAD_COPY_FILE_FORMAT, what);
        let mut start = 0;
        if !self.begun {
            let Some(header) = bytes.get(..19) else {
                if is_last {
                    return Err(bad("COPY file signature not recognized"));
                }
                return Ok(0);
            };
            if !header.starts_with(SIGNATURE) {
                return Err(bad("COPY file signature not recognized"));
            }
            let extra = int4(&header[15..19]).max(0) as usize;
            if bytes.len() < 19 + extra {
                return Ok(0);
            }
            start = 19 + extra;
            self.begun = true;
        }
        while !self.ended {
            let Some((fields, next)) = tuple(&bytes[start..])? else {
                if is_last && start < bytes.len() {
                    return Err(bad("unexpected EOF in COPY data"));
                }
                break;
            };
            start += next;
            let Some(fields) = fields else {
                self.ended = true;
                break;
            };
            self.line += 1;
            if fields.len() != self.columns.len() {
                return Err(bad(&format!(
                    "row field count is {}, expected {}",
                    fields.len(),
                    self.columns.len()
                ))
                .context(self.context("")));
            }
            let row = self.binary_values(exec, &fields)?;
            self.insert(exec, sink, row, "")?;
        }
        Ok(if self.ended { bytes.len() } else { start })
    }

    fn binary_values(&self, exec: &Exec<'_>, fields: &[Option<&[u8]>]) -> Result<Vec<Datum>> {
        let env = exec.env;
        let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
        let mut row = Vec::with_capacity(fields.len());
        for (field, &number) in fields.iter().zip(&self.columns) {
            let column = self.table.column(number);
            row.push(match field {
                None => Datum::Null,
                Some(bytes) => recv(bytes, column.ty, column.typmod, &call).map_err(|error| {
                    error.context(self.context(&format!(", column {}", column.name)))
                })?,
            });
        }
        Ok(row)
    }
}

fn int4(bytes: &[u8]) -> i32 {
    bytes.try_into().map(i32::from_be_bytes).unwrap_or(0)
}

/// The fields of a row and its length; no fields at the end of the data.
#[allow(clippy::type_complexity)]
fn tuple(bytes: &[u8]) -> Result<Option<(Option<Vec<Option<&[u8]>>>, usize)>> {
    let Some(head) = bytes.get(..2) else { return Ok(None) };
    let count = i16::from_be_bytes([head[0], head[1]]);
    if count == -1 {
        return Ok(Some((None, 2)));
    }
    let mut fields = Vec::new();
    let mut place = 2;
    for _ in 0..count.max(0) {
        let Some(length) = bytes.get(place..place + 4) else { return Ok(None) };
        place += 4;
        let length = int4(length);
        if length == -1 {
            fields.push(None);
            continue;
        }
        if length < 0 {
            return Err(SqlError::new(code::BAD_COPY_FILE_FORMAT, "invalid field size"));
        }
        let Some(field) = bytes.get(place..place + length as usize) else { return Ok(None) };
        place += length as usize;
        fields.push(Some(field));
    }
    Ok(Some((Some(fields), place)))
}
