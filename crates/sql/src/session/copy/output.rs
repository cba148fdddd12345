//! COPY … TO STDOUT.

use super::CopyFormat;
use crate::env::Env;
use crate::execute::Row;
use crate::functions::Call;
use crate::ir::OutColumn;
use crate::types::{Oid, output, send};

/// Rows for the client.
#[derive(Debug)]
pub struct CopyOut {
    /// The columns.
    pub columns: Vec<OutColumn>,
    /// The rows.
    pub rows: Vec<Row>,
    /// How rows are written.
    pub format: CopyFormat,
}

/// What a file in the binary format begins with: a signature, flags, and the length of nothing.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

impl CopyOut {
    /// What was done.
    pub fn tag(&self) -> String {
        format!("COPY {}", self.rows.len())
    }

    /// What the client gets: a piece for each row, with what comes before and after.
    pub fn chunks<'c>(&'c self, env: &'c Env) -> impl Iterator<Item = Vec<u8>> + 'c {
        let rows = self.rows.iter().map(move |row| self.row(env, row));
        let names = self.names();
        let mut signature = self.format.binary.then_some(SIGNATURE);
        names.into_iter().chain(rows).chain(self.tail()).map(move |piece| {
            // It comes with the first piece, as PostgreSQL sends it: drivers look for a row behind.
            match signature.take() {
                Some(signature) => [signature, &piece].concat(),
                None => piece,
            }
        })
    }

    /// The line with the names of the columns, if there is one.
    fn names(&self) -> Option<Vec<u8>> {
        if self.format.binary || !self.format.header {
            return None;
        }
        let names = self.columns.iter().map(|it| Some(it.name.to_string())).collect();
        Some(self.line(names, false))
    }

    fn tail(&self) -> Option<Vec<u8>> {
        self.format.binary.then(|| vec![0xff, 0xff])
    }

    fn row(&self, env: &Env, row: &Row) -> Vec<u8> {
        let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
        let cells = row.iter().zip(&self.columns);
        if self.format.binary {
            let mut bytes = (self.columns.len() as i16).to_be_bytes().to_vec();
            for (value, column) in cells {
                if value.is_null() {
                    bytes.extend((-1i32).to_be_bytes());
                    continue;
                }
                let field = send(value, column.ty, &call);
                bytes.extend((field.len() as i32).to_be_bytes());
                bytes.extend(field);
            }
            return bytes;
        }
        let values = cells
            .map(|(value, column)| (!value.is_null()).then(|| output(value, column.ty, &call)))
            .collect();
        self.line(values, true)
    }

    fn line(&self, values: Vec<Option<String>>, forces: bool) -> Vec<u8> {
        let is_single = values.len() == 1;
        let mut line = String::new();
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                line.push(self.format.delimiter);
            }
            match value {
                None => line.push_str(&self.format.null),
                Some(text) if self.format.csv => {
                    let name = &self.columns[place].name;
                    let force = forces
                        && self.format.force_quote.iter().any(|it| it == "*" || **it == **name);
                    self.csv_value(&text, force, is_single, &mut line);
                }
                Some(text) => self.text_value(&text, &mut line),
            }
        }
        line.push('\n');
        line.into_bytes()
    }

    fn text_value(&self, text: &str, line: &mut String) {
        for character in text.chars() {
            match character {
                '\\' => line.push_str("\\\\"),
                '\u{8}' => line.push_str("\\b"),
                '\u{c}' => line.push_str("\\f"),
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\t' => line.push_str("\\t"),
                '\u{b}' => line.push_str("\\v"),
                it if it == self.format.delimiter => {
                    line.push('\\');
                    line.push(it);
                }
                it => line.push(it),
            }
        }
    }

    fn csv_value(&self, text: &str, force: bool, is_single: bool, line: &mut String) {
        let CopyFormat { quote, escape, delimiter, .. } = self.format;
        let special = |it: char| it == quote || it == delimiter || it == '\n' || it == '\r';
        let needs = force
            || text == self.format.null
            || (is_single && text == "\\.")
            || text.contains(special);
        if !needs {
            line.push_str(text);
            return;
        }
        line.push(quote);
        for character in text.chars() {
            if character == quote || character == escape {
                line.push(escape);
            }
            line.push(character);
        }
        line.push(quote);
    }
}
