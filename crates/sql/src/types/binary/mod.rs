//! Values as bytes: PostgreSQL's binary format of every type.
//!
//! ```text
//! array   dimensions i32 · has nulls i32 · element type u32 · (length i32 · lower i32)*
//!         · (size i32, -1 is null · bytes)*
//! record  fields i32 · (type u32 · size i32, -1 is null · bytes)*
//! bit     bits i32 · bytes, filled with zeros
//! inet    family u8 (2 or 3) · prefix u8 · is cidr u8 · size u8 · address
//! jsonb   version u8 (1) · text
//! ```

mod receive;

pub use receive::recv;

use super::io::{base_type, enum_label, scalars, special};
use super::{Array, Datum, Inet, Oid, RecordValue};
use crate::types::Call;

/// Writes a value that is not null in binary format.
pub fn send(value: &Datum, ty: Oid, call: &Call<'_>) -> Vec<u8> {
    match value {
        Datum::Null => Vec::new(),
        Datum::Bool(value) => vec![u8::from(*value)],
        Datum::Int2(value) => value.to_be_bytes().into(),
        Datum::Int4(value) => value.to_be_bytes().into(),
        Datum::Int8(value) if ty == Oid::TID => {
            let (block, number) = special::tid_parts(*value);
            [&block.to_be_bytes()[..], &number.to_be_bytes()].concat()
        }
        Datum::Int8(value) => value.to_be_bytes().into(),
        Datum::Oid(value) => value.to_be_bytes().into(),
        Datum::Float4(value) => value.to_be_bytes().into(),
        Datum::Float8(value) => value.to_be_bytes().into(),
        Datum::Numeric(value) => value.to_bytes(),
        Datum::Text(text) => send_text(text, base_type(ty, call)),
        Datum::Bytea(bytes) => bytes.to_vec(),
        Datum::Date(days) => days.to_be_bytes().into(),
        Datum::Time(micros) | Datum::Timestamp(micros) => micros.to_be_bytes().into(),
        Datum::TimeTz(micros, west) => [&micros.to_be_bytes()[..], &west.to_be_bytes()].concat(),
        Datum::Interval(interval) => {
            let mut bytes = interval.micros.to_be_bytes().to_vec();
            bytes.extend(interval.days.to_be_bytes());
            bytes.extend(interval.months.to_be_bytes());
            bytes
        }
        Datum::Uuid(bytes) => bytes.to_vec(),
        Datum::Json(text) => text.as_bytes().to_vec(),
        Datum::Jsonb(json) => versioned(&json.to_string()),
        Datum::Array(array) => send_array(array, call),
        Datum::Record(record) => send_record(record, call),
        Datum::Enum(value) => enum_label(value, ty, call).as_bytes().to_vec(),
        Datum::Bits(bits) => send_bits(bits),
        Datum::Inet(inet) => send_inet(inet, base_type(ty, call) == Oid::CIDR),
    }
}

fn versioned(text: &str) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend(text.as_bytes());
    bytes
}

fn send_text(text: &str, ty: Oid) -> Vec<u8> {
    match ty {
        Oid::CHAR => vec![scalars::char_byte(text)],
        Oid::VOID => Vec::new(),
        Oid::JSONPATH => versioned(text),
        _ => text.as_bytes().to_vec(),
    }
}

fn push_sized(value: &Datum, ty: Oid, bytes: &mut Vec<u8>, call: &Call<'_>) {
    if value.is_null() {
        return bytes.extend((-1i32).to_be_bytes());
    }
    let body = send(value, ty, call);
    bytes.extend((body.len() as i32).to_be_bytes());
    bytes.extend(body);
}

fn send_array(array: &Array, call: &Call<'_>) -> Vec<u8> {
    let mut bytes = (array.dimensions.len() as i32).to_be_bytes().to_vec();
    let nulls = array.elements.iter().any(Datum::is_null);
    bytes.extend(i32::from(nulls).to_be_bytes());
    bytes.extend(array.element.0.to_be_bytes());
    for dimension in &array.dimensions {
        bytes.extend(dimension.length.to_be_bytes());
        bytes.extend(dimension.lower.to_be_bytes());
    }
    for element in &array.elements {
        push_sized(element, array.element, &mut bytes, call);
    }
    bytes
}

fn send_record(record: &RecordValue, call: &Call<'_>) -> Vec<u8> {
    let mut bytes = (record.fields.len() as i32).to_be_bytes().to_vec();
    for (value, ty) in record.fields.iter().zip(&record.types) {
        bytes.extend(ty.0.to_be_bytes());
        push_sized(value, *ty, &mut bytes, call);
    }
    bytes
}

fn send_bits(bits: &str) -> Vec<u8> {
    let mut bytes = (bits.len() as i32).to_be_bytes().to_vec();
    for group in bits.as_bytes().chunks(8) {
        let set = |(at, bit): (usize, &u8)| u8::from(*bit == b'1') << (7 - at);
        bytes.push(group.iter().enumerate().map(set).sum());
    }
    bytes
}

fn send_inet(inet: &Inet, cidr: bool) -> Vec<u8> {
    let family = if inet.v6 { 3 } else { 2 };
    let octets = inet.octets();
    let mut bytes = vec![family, inet.bits, u8::from(cidr), octets.len() as u8];
    bytes.extend(octets);
    bytes
}
