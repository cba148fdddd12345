//! Rows as text: `(a,"b c",)`.

use super::{input, output};
use crate::error::{Result, SqlError, code};
use crate::types::Call;
use crate::types::{Datum, Field, RecordValue};
use std::sync::Arc;

fn malformed(text: &str, detail: &str) -> SqlError {
    let message = format!("malformed record literal: \"{text}\"");
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, message).detail(detail)
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// Reads a row of a composite type.
pub fn read_record(text: &str, types: &[Field], call: &Call<'_>) -> Result<Datum> {
    let trimmed = text.trim_start_matches(is_space);
    let Some(rest) = trimmed.strip_prefix('(') else {
        return Err(malformed(text, "Missing left parenthesis."));
    };
    let mut reader = Reader { text, rest };
    let mut fields = Vec::with_capacity(types.len());
    for (at, field) in types.iter().enumerate() {
        if at > 0 {
            reader.rest = match reader.rest.strip_prefix(',') {
                Some(rest) => rest,
                None => return Err(malformed(text, "Too few columns.")),
            };
        }
        fields.push(match reader.column()? {
            Some(column) => input(&column, field.ty, field.typmod, call)?,
            None => Datum::Null,
        });
    }
    let Some(rest) = reader.rest.strip_prefix(')') else {
        return Err(malformed(text, "Too many columns."));
    };
    if !rest.trim_start_matches(is_space).is_empty() {
        return Err(malformed(text, "Junk after right parenthesis."));
    }
    Ok(Datum::Record(Arc::new(RecordValue {
        types: types.iter().map(|field| field.ty).collect(),
        names: types.iter().map(|field| field.name.clone()).collect(),
        fields,
    })))
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
}

impl Reader<'_> {
    /// The text of a column; none if there is nothing, which is null.
    fn column(&mut self) -> Result<Option<String>> {
        if self.rest.starts_with([',', ')']) {
            return Ok(None);
        }
        let mut column = String::new();
        let mut quoted = false;
        let mut chars = self.rest.chars();
        loop {
            let before = chars.as_str();
            let Some(c) = chars.next() else {
                return Err(malformed(self.text, "Unexpected end of input."));
            };
            match c {
                ',' | ')' if !quoted => {
                    self.rest = before;
                    return Ok(Some(column));
                }
                '\\' => match chars.next() {
                    Some(escaped) => column.push(escaped),
                    None => return Err(malformed(self.text, "Unexpected end of input.")),
                },
                '"' if quoted && chars.as_str().starts_with('"') => {
                    chars.next();
                    column.push('"');
                }
                '"' => quoted = !quoted,
                _ => column.push(c),
            }
        }
    }
}

/// Writes a row.
pub fn write_record(record: &RecordValue, call: &Call<'_>) -> String {
    let mut text = String::from("(");
    for (at, (value, ty)) in record.fields.iter().zip(&record.types).enumerate() {
        if at > 0 {
            text.push(',');
        }
        if !value.is_null() {
            write_field(&output(value, *ty, call), &mut text);
        }
    }
    text.push(')');
    text
}

fn write_field(field: &str, out: &mut String) {
    let special = |c: char| matches!(c, '"' | '\\' | '(' | ')' | ',') || is_space(c);
    if !field.is_empty() && !field.contains(special) {
        return out.push_str(field);
    }
    out.push('"');
    for c in field.chars() {
        if matches!(c, '"' | '\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('"');
}
