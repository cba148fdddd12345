//! Rows of catalogs that are the same in every database (`system_rows.tsv`), read once.

use super::columns;
use crate::catalog::builtin::builtin;
use crate::types::{Array, Datum, Dimension, Oid, Row};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

const ROWS: &str = include_str!("../../../data/system_rows.tsv");

/// The rows that a relation of pg_catalog always has.
pub(crate) fn rows(name: &str) -> &'static [Row] {
    static ALL: OnceLock<FxHashMap<&'static str, Vec<Row>>> = OnceLock::new();
    ALL.get_or_init(read).get(name).map_or(&[], |rows| rows)
}

fn read() -> FxHashMap<&'static str, Vec<Row>> {
    let mut all: FxHashMap<&'static str, Vec<Row>> = FxHashMap::default();
    let mut current: (&'static str, &'static [(&'static str, Oid)]) = ("", &[]);
    for line in ROWS.lines() {
        if let Some(name) = line.strip_prefix('@') {
            let found = columns::named(crate::catalog::schema::PG_CATALOG, name);
            current = (name, found.map_or(&[], |it| it.table.columns));
            continue;
        }
        let fields = line.split('\t').zip(current.1);
        let row = fields.map(|(field, &(_, ty))| value(field, ty)).collect();
        all.entry(current.0).or_default().push(row);
    }
    all
}

/// A value as the files have it.
fn value(field: &'static str, ty: Oid) -> Datum {
    if field == "\\N" {
        return Datum::Null;
    }
    let number = || field.parse::<i64>().unwrap_or(0);
    match ty {
        Oid::BOOL => Datum::Bool(field == "t"),
        Oid::INT2 => Datum::Int2(number() as i16),
        Oid::INT4 => Datum::Int4(number() as i32),
        Oid::INT8 => Datum::Int8(number()),
        Oid::FLOAT4 => Datum::Float4(field.parse().unwrap_or(0.0)),
        Oid::FLOAT8 => Datum::Float8(field.parse().unwrap_or(0.0)),
        Oid::OID | Oid::REGPROC | Oid::XID | Oid::REGCLASS | Oid::REGTYPE => {
            Datum::Oid(number() as u32)
        }
        Oid::INT2VECTOR => vector(Oid::INT2, field),
        Oid::OIDVECTOR => vector(Oid::OID, field),
        ty => match builtin().types.get(&ty) {
            Some(found) if found.is_true_array() => list(found.element, field),
            _ => Datum::text(field),
        },
    }
}

fn vector(element: Oid, field: &'static str) -> Datum {
    let parts = field.split(' ').filter(|part| !part.is_empty());
    let elements = parts.map(|part| value(part, element)).collect();
    Datum::Array(std::sync::Arc::new(vector_of(element, elements)))
}

/// An int2vector or oidvector: subscripts begin with 0.
pub(crate) fn vector_of(element: Oid, elements: Vec<Datum>) -> Array {
    let length = elements.len() as i32;
    let dimensions = if length == 0 { Vec::new() } else { vec![Dimension { length, lower: 0 }] };
    Array { element, dimensions, elements }
}

/// `{a,b}`; a quoted element has no comma inside of these files.
fn list(element: Oid, field: &'static str) -> Datum {
    let inner = field.trim_start_matches('{').trim_end_matches('}');
    let parts = inner.split(',').filter(|part| !part.is_empty());
    let elements = parts.map(|part| value(part.trim_matches('"'), element)).collect();
    Datum::Array(std::sync::Arc::new(Array::of(element, elements)))
}
