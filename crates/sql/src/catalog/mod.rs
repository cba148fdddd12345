//! What there is: built-in types, functions and operators (`builtin.rs`), and what users made
//! (`objects.rs`), found by name and by identifier (`names.rs`). A [`Catalog`] is a value: a
//! transaction that changes it has one of its own until it commits. `system/` has
//! what of pg_catalog and information_schema is the same in every database.

pub mod builtin;
mod collations;
mod edit;
pub mod extensions;
mod names;
mod objects;
pub mod system;
pub mod type_names;

pub use edit::CatalogEdit;
pub use names::{Catalog, Relation, SearchPath, schema};
pub use objects::{
    Action, CheckOption, Column, ColumnDefault, Constraint, ConstraintKind, Domain, Extension,
    ForeignKey, Identity, Index, IndexKey, IndexedExpr, Materialized, NamedCollation, Object,
    Persistence, Schema, Sequence, Table, UserType, UserTypeKind, View,
};

pub use crate::cells::HeapId;
