//! Rows by the names of their columns: what is not said is nothing.

use super::columns::SystemRelation;
use crate::catalog::builtin::builtin;
use crate::types::{Array, Datum, Oid, Row};
use std::sync::Arc;

/// Makes rows of one system relation.
pub(super) struct Maker {
    relation: &'static SystemRelation,
    empty: Row,
    /// The rows so far.
    pub rows: Vec<Row>,
}

impl Maker {
    /// Begins with these rows.
    pub fn new(relation: &'static SystemRelation, rows: Vec<Row>) -> Maker {
        let empty = relation
            .columns
            .iter()
            .map(|column| if column.not_null { zero(column.ty) } else { Datum::Null })
            .collect();
        Maker { relation, empty, rows }
    }

    /// Adds a row; columns that are not named are null, or nothing of their type.
    pub fn add<const N: usize>(&mut self, values: [(&str, Datum); N]) {
        let mut row = self.empty.clone();
        for (name, value) in values {
            let place = self.relation.columns.iter().position(|it| it.name == name);
            debug_assert!(place.is_some(), "{} has no {name}", self.relation.table.name);
            if let Some(place) = place {
                row[place] = value;
            }
        }
        self.rows.push(row);
    }
}

impl Maker {
    /// What the last row does not count is counted as nothing.
    pub fn count_nothing(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        for (value, column) in row.iter_mut().zip(&self.relation.columns) {
            if column.ty == Oid::INT8 && value.is_null() {
                *value = Datum::Int8(0);
            }
        }
    }
}

/// What a column that is not null has if nothing is said about it.
fn zero(ty: Oid) -> Datum {
    match ty {
        Oid::BOOL => Datum::Bool(false),
        Oid::INT2 => Datum::Int2(0),
        Oid::INT4 => Datum::Int4(0),
        Oid::INT8 => Datum::Int8(0),
        Oid::FLOAT4 => Datum::Float4(0.0),
        Oid::FLOAT8 => Datum::Float8(0.0),
        Oid::OID | Oid::REGPROC | Oid::XID | Oid::REGCLASS | Oid::REGTYPE => Datum::Oid(0),
        Oid::INT2VECTOR => vector(Oid::INT2, Vec::new()),
        Oid::OIDVECTOR => vector(Oid::OID, Vec::new()),
        ty => match builtin().types.get(&ty) {
            Some(found) if found.is_true_array() => {
                Datum::Array(Arc::new(Array::of(found.element, Vec::new())))
            }
            _ => Datum::text(""),
        },
    }
}

pub(super) fn vector(element: Oid, elements: Vec<Datum>) -> Datum {
    Datum::Array(Arc::new(super::fixed::vector_of(element, elements)))
}

pub(super) fn array(element: Oid, elements: Vec<Datum>) -> Datum {
    Datum::Array(Arc::new(Array::of(element, elements)))
}

/// Column numbers as smallint[].
pub(super) fn numbers(columns: &[u16]) -> Datum {
    array(Oid::INT2, columns.iter().map(|&number| Datum::Int2(number as i16)).collect())
}

pub(super) fn text(text: &str) -> Datum {
    Datum::text(text)
}

pub(super) fn oid(oid: Oid) -> Datum {
    Datum::Oid(oid.0)
}

pub(super) fn flag(value: bool) -> Datum {
    Datum::Bool(value)
}

/// A text, or null.
pub(super) fn maybe(value: Option<impl AsRef<str>>) -> Datum {
    value.map_or(Datum::Null, |value| Datum::text(value.as_ref()))
}

/// YES or NO, as information_schema has it.
pub(super) fn yes(value: bool) -> Datum {
    Datum::text(if value { "YES" } else { "NO" })
}
