//! The tables of pg_catalog and information_schema: every relation that PostgreSQL has, with its
//! columns (`columns.rs`), and what PostgreSQL says about itself, which is the same in every
//! database (`fixed.rs`) and is read once. Rows about what users made are made elsewhere.

pub(crate) mod columns;
pub(crate) mod facts;
pub(crate) mod fixed;
mod tree;

pub use columns::SystemTable;
pub use facts::{OpClass, check_collation, op_class};
pub use tree::Tree;

use super::Catalog;
use crate::types::{Datum, Oid, Row};
use std::sync::Arc;

/// A system table by its schema and name.
pub fn find(schema: Oid, name: &str) -> Option<SystemTable> {
    columns::named(schema, name).map(|it| it.table.clone())
}

/// A system table by its identifier.
pub fn find_by_oid(oid: Oid) -> Option<&'static SystemTable> {
    columns::by_oid(oid).map(|it| &it.table)
}

/// An index of a system table: its schema and name.
pub fn index_place(oid: Oid) -> Option<(Oid, Arc<str>)> {
    let is_it = |row: &&Row| matches!(row[0], Datum::Oid(it) if it == oid.0);
    let row = fixed::rows("pg_class").iter().find(is_it)?;
    match (&row[1], &row[2]) {
        (Datum::Text(name), Datum::Oid(schema)) => Some((Oid(*schema), Arc::clone(name))),
        _ => None,
    }
}

/// A role that PostgreSQL always has, by its name.
pub fn fixed_role(name: &str) -> Option<u32> {
    fixed::rows("pg_authid").iter().find_map(|row| match (&row[0], &row[1]) {
        (Datum::Oid(oid), Datum::Text(it)) if **it == *name => Some(*oid),
        _ => None,
    })
}

/// The name of such a role.
pub fn fixed_role_name(oid: Oid) -> Option<Arc<str>> {
    fixed::rows("pg_authid").iter().find_map(|row| match (&row[0], &row[1]) {
        (Datum::Oid(it), Datum::Text(name)) if *it == oid.0 => Some(Arc::clone(name)),
        _ => None,
    })
}

/// The collation of values of a type.
pub fn type_collation(catalog: &Catalog, ty: Oid) -> Oid {
    facts::kept(catalog, ty).collation
}
