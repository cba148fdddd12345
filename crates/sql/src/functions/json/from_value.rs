//! `to_json` and `to_jsonb`: any value as json. Numbers and booleans are themselves, dates and
//! timestamps are written as ISO 8601, arrays and rows become arrays and objects, and everything
//! else is a string.

use super::values::NewText;
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::functions::{Call, DateStyle, Style};
use crate::types::datetime::{self, output as times};
use crate::types::io::{base_type, output};
use crate::types::json::{DEPTH_MAX, Json, escape};
use crate::types::numeric::Numeric;
use crate::types::{Array, Datum, Oid, RecordValue};
use std::sync::Arc;

fn too_deep() -> SqlError {
    SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
}

/// The number that a value is, if json can write it.
fn number(value: &Datum, call: &Call<'_>, ty: Oid) -> Option<String> {
    let finite = match value {
        Datum::Int2(_) | Datum::Int4(_) => true,
        Datum::Int8(_) => base_type(ty, call) == Oid::INT8,
        Datum::Float4(value) => value.is_finite(),
        Datum::Float8(value) => value.is_finite(),
        Datum::Numeric(number) => number.as_finite().is_some(),
        _ => false,
    };
    finite.then(|| output(value, ty, call))
}

/// A date or timestamp by ISO 8601, whatever the session's style is.
fn iso(value: &Datum, ty: Oid, call: &Call<'_>) -> Option<String> {
    let style = Style { date_style: DateStyle::Iso, ..call.style.clone() };
    Some(match value {
        Datum::Date(days) => times::date(*days, &style),
        Datum::Timestamp(micros) if !datetime::is_finite(*micros) => {
            times::timestamp(*micros, &style)
        }
        Datum::Timestamp(micros) if base_type(ty, call) == Oid::TIMESTAMPTZ => {
            let offset = style.zone.offset_at(*micros);
            let local = micros.saturating_add(i64::from(offset) * datetime::SECOND);
            with_t(&times::timestamp(local, &style), &full_offset(offset))
        }
        Datum::Timestamp(micros) => with_t(&times::timestamp(*micros, &style), ""),
        _ => return None,
    })
}

/// Puts a `T` between date and time and an offset behind the time, which BC follows.
fn with_t(text: &str, offset: &str) -> String {
    let text = text.replacen(' ', "T", 1);
    match text.strip_suffix(" BC") {
        Some(text) => format!("{text}{offset} BC"),
        None => format!("{text}{offset}"),
    }
}

/// An offset with its minutes.
fn full_offset(east: i32) -> String {
    let text = times::offset(east);
    if text.len() == 3 { format!("{text}:00") } else { text }
}

/// A value that is neither an array nor a row as the text of a string, without quotes.
pub(super) fn string(value: &Datum, ty: Oid, call: &Call<'_>) -> String {
    match value {
        Datum::Bool(value) => value.to_string(),
        _ => iso(value, ty, call).unwrap_or_else(|| output(value, ty, call)),
    }
}

/// How arrays and rows are separated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    One,
    /// A new line for each element or field of the outermost level.
    Several,
}

impl Lines {
    fn separator(self) -> &'static str {
        if self == Lines::Several { ",\n " } else { "," }
    }
}

/// Writes a value as json.
pub(super) fn write(value: &Datum, ty: Oid, call: &Call<'_>, out: &mut String) -> Result<()> {
    write_at(value, ty, Lines::One, 0, call, out)
}

fn write_at(
    value: &Datum,
    ty: Oid,
    lines: Lines,
    depth: usize,
    call: &Call<'_>,
    out: &mut String,
) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(too_deep());
    }
    match value {
        Datum::Null => out.push_str("null"),
        Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Datum::Json(text) => out.push_str(text),
        Datum::Jsonb(json) => out.push_str(&json.to_string()),
        Datum::Array(array) => return write_array(array, lines, depth, call, out),
        Datum::Record(record) => return write_record(record, lines, depth, call, out),
        _ => match number(value, call, ty) {
            Some(number) => out.push_str(&number),
            None => {
                let _ = escape(&string(value, ty, call), out);
            }
        },
    }
    Ok(())
}

fn write_array(
    array: &Array,
    lines: Lines,
    depth: usize,
    call: &Call<'_>,
    out: &mut String,
) -> Result<()> {
    write_dimension(array, &array.elements, 0, lines, depth, call, out)
}

/// The elements of one dimension; there are six at most.
fn write_dimension(
    array: &Array,
    elements: &[Datum],
    level: usize,
    lines: Lines,
    depth: usize,
    call: &Call<'_>,
    out: &mut String,
) -> Result<()> {
    out.push('[');
    let innermost = level + 1 >= array.dimensions.len();
    let count = array.dimensions.get(level).map_or(0, |dimension| dimension.length.max(0) as usize);
    let size = if innermost || count == 0 { 1 } else { elements.len() / count };
    for (at, part) in elements.chunks(size.max(1)).enumerate() {
        if at > 0 {
            out.push_str(lines.separator());
        }
        if innermost {
            write_at(&part[0], array.element, Lines::One, depth + 1, call, out)?;
        } else {
            write_dimension(array, part, level + 1, Lines::One, depth, call, out)?;
        }
    }
    out.push(']');
    Ok(())
}

fn write_record(
    record: &RecordValue,
    lines: Lines,
    depth: usize,
    call: &Call<'_>,
    out: &mut String,
) -> Result<()> {
    out.push('{');
    for (at, value) in record.fields.iter().enumerate() {
        if at > 0 {
            out.push_str(lines.separator());
        }
        let _ = escape(record.names.get(at).map_or("", |name| name), out);
        out.push(':');
        let ty = record.types.get(at).copied().unwrap_or(Oid::TEXT);
        write_at(value, ty, Lines::One, depth + 1, call, out)?;
    }
    out.push('}');
    Ok(())
}

/// A value as jsonb.
pub(super) fn jsonb(value: &Datum, ty: Oid, call: &Call<'_>) -> Result<Json> {
    jsonb_at(value, ty, 0, call)
}

fn jsonb_at(value: &Datum, ty: Oid, depth: usize, call: &Call<'_>) -> Result<Json> {
    if depth > DEPTH_MAX {
        return Err(too_deep());
    }
    Ok(match value {
        Datum::Null => Json::Null,
        Datum::Bool(value) => Json::Bool(*value),
        Datum::Json(text) => Json::parse(text)?,
        Datum::Jsonb(json) => (**json).clone(),
        Datum::Array(array) => jsonb_dimension(array, &array.elements, 0, depth, call)?,
        Datum::Record(record) => {
            let mut pairs = Vec::with_capacity(record.fields.len());
            for (at, field) in record.fields.iter().enumerate() {
                let name = record.names.get(at).cloned().unwrap_or_else(|| "".into());
                let ty = record.types.get(at).copied().unwrap_or(Oid::TEXT);
                pairs.push((name, jsonb_at(field, ty, depth + 1, call)?));
            }
            Json::object(pairs)
        }
        Datum::Numeric(number) if number.as_finite().is_some() => Json::Number(number.clone()),
        _ => match number(value, call, ty) {
            Some(text) => Json::Number(Arc::new(Numeric::parse(&text)?)),
            None => Json::string(&string(value, ty, call)),
        },
    })
}

fn jsonb_dimension(
    array: &Array,
    elements: &[Datum],
    level: usize,
    depth: usize,
    call: &Call<'_>,
) -> Result<Json> {
    let innermost = level + 1 >= array.dimensions.len();
    let count = array.dimensions.get(level).map_or(0, |dimension| dimension.length.max(0) as usize);
    let size = if innermost || count == 0 { 1 } else { elements.len() / count };
    let part = |part: &[Datum]| match innermost {
        true => jsonb_at(&part[0], array.element, depth + 1, call),
        false => jsonb_dimension(array, part, level + 1, depth, call),
    };
    Ok(Json::array(elements.chunks(size.max(1)).map(part).collect::<Result<_>>()?))
}

/// The type of an argument.
pub(super) fn type_of(call: &Call<'_>, at: usize) -> Oid {
    call.args.get(at).copied().unwrap_or(Oid::TEXT)
}

fn text(value: &Datum, lines: Lines, call: &Call<'_>) -> Result<NewText> {
    let mut out = String::new();
    write_at(value, type_of(call, 0), lines, 0, call, &mut out)?;
    Ok(NewText(out))
}

fn lines(pretty: bool) -> Lines {
    if pretty { Lines::Several } else { Lines::One }
}

pub(super) const TABLE: &[Entry] = functions! {
    "to_json", (value: &Datum) [call, _all] => text(value, Lines::One, call);
    "to_jsonb", (value: &Datum) [call, _all] => jsonb(value, type_of(call, 0), call);
    "array_to_json", (value: &Datum) [call, _all] => text(value, Lines::One, call);
    "array_to_json_pretty", (value: &Datum, pretty: bool) [call, _all] =>
        text(value, lines(pretty), call);
    "row_to_json", (value: &Datum) [call, _all] => text(value, Lines::One, call);
    "row_to_json_pretty", (value: &Datum, pretty: bool) [call, _all] =>
        text(value, lines(pretty), call);
};
