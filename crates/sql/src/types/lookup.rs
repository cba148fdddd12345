//! What values have to know of the catalog: user-defined types, and names of objects.

use super::{EnumValue, Oid};
use crate::error::Result;
use std::sync::Arc;

/// What kind of type it is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A type of its own, built in.
    Base,
    /// An array of this type.
    Array(Oid),
    /// One of these labels, in their order.
    Enum(Arc<[Arc<EnumValue>]>),
    /// Another type with constraints.
    Domain {
        /// The type that it stands for.
        base: Oid,
        /// The modifier of that.
        typmod: i32,
    },
    /// A row of a table, or a composite type.
    Composite(Arc<[Field]>),
    /// anyelement, record, void, …
    Pseudo,
}

/// A field of a composite type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Oid,
    /// The modifier of its type, -1 if there is none.
    pub typmod: i32,
}

/// The catalog, as far as values are concerned. Object identifier types (regclass, …) are read and
/// written by it.
pub trait TypeLookup {
    /// What kind of type this is; `None` if there is none.
    fn kind(&self, ty: Oid) -> Option<TypeKind>;
    /// The name of a type as `format_type` writes it (`integer`, `character varying(10)`,
    /// `timestamp without time zone`, `text[]`), with its schema where it is not in the path.
    fn type_name(&self, ty: Oid, typmod: i32) -> String;
    /// The type of arrays of this type.
    fn array_of(&self, ty: Oid) -> Option<Oid>;
    /// Reads a value of regclass, regtype, regproc, regnamespace, regrole, …
    fn reg_in(&self, ty: Oid, text: &str) -> Result<u32>;
    /// Writes such a value.
    fn reg_out(&self, ty: Oid, value: u32) -> String;
    /// Checks the constraints of a domain.
    fn check_domain(&self, domain: Oid, value: &super::Datum) -> Result<()>;
}

/// No catalog at all, for values that do not need one.
#[derive(Clone, Copy, Debug)]
pub struct NoTypes;

impl TypeLookup for NoTypes {
    fn kind(&self, _ty: Oid) -> Option<TypeKind> {
        None
    }

    fn type_name(&self, ty: Oid, _typmod: i32) -> String {
        ty.to_string()
    }

    fn array_of(&self, _ty: Oid) -> Option<Oid> {
        None
    }

    fn reg_in(&self, _ty: Oid, _text: &str) -> Result<u32> {
        Err(crate::error::SqlError::unsupported("a name of an object here"))
    }

    fn reg_out(&self, _ty: Oid, value: u32) -> String {
        value.to_string()
    }

    fn check_domain(&self, _domain: Oid, _value: &super::Datum) -> Result<()> {
        Ok(())
    }
}
