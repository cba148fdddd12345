//! Facts about types, collations and operator classes that several catalogs repeat.

use super::fixed;
use crate::catalog::{Catalog, Column};
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, TypeKind};
use std::sync::Arc;

/// The user whom everything belongs to.
pub(crate) const OWNER: Oid = Oid(10);

/// How values of a type are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub len: i16,
    pub by_value: bool,
    pub align: &'static str,
    pub storage: &'static str,
    pub collation: Oid,
}

/// How values of a type are kept.
pub(crate) fn kept(catalog: &Catalog, ty: Oid) -> Kept {
    let variable =
        Kept { len: -1, by_value: false, align: "i", storage: "x", collation: Oid::NONE };
    if let Some(found) = crate::catalog::builtin::builtin().types.get(&ty) {
        return Kept {
            len: found.len,
            by_value: found.by_value,
            align: found.align,
            storage: found.storage,
            collation: Oid(found.collation),
        };
    }
    match catalog.kind(ty) {
        Some(TypeKind::Enum(_)) => {
            Kept { len: 4, by_value: true, align: "i", storage: "p", collation: Oid::NONE }
        }
        Some(TypeKind::Domain { base, .. }) => kept(catalog, base),
        Some(TypeKind::Array(element)) => {
            let of = kept(catalog, element);
            let align = if of.align == "d" { "d" } else { "i" };
            Kept { align, collation: of.collation, ..variable }
        }
        Some(TypeKind::Composite(_)) => Kept { align: "d", ..variable },
        _ => variable,
    }
}

/// The identifier of a collation.
pub(crate) fn collation_named(name: &str) -> Option<Oid> {
    match name {
        "default" => Some(Oid(100)),
        "C" => Some(Oid(950)),
        "POSIX" => Some(Oid(951)),
        _ => fixed::rows("pg_collation").iter().find_map(|row| match (&row[0], &row[1]) {
            (Datum::Oid(oid), Datum::Text(it)) if **it == *name => Some(Oid(*oid)),
            _ => None,
        }),
    }
}

/// The name of a collation that is always there, and its locale if it is one of ICU.
pub(crate) fn fixed_collation(oid: Oid) -> Option<(Arc<str>, Option<Arc<str>>)> {
    fixed::rows("pg_collation").iter().find_map(|row| match (&row[0], &row[1], &row[9]) {
        (Datum::Oid(it), Datum::Text(name), Datum::Text(locale)) if *it == oid.0 => {
            Some((Arc::clone(name), Some(Arc::clone(locale))))
        }
        (Datum::Oid(it), Datum::Text(name), _) if *it == oid.0 => Some((Arc::clone(name), None)),
        _ => None,
    })
}

/// An error unless text under a collation is ordered by its bytes, which is the only order there
/// is here.
pub fn check_collation(name: &str) -> Result<()> {
    match name {
        "default" | "C" | "POSIX" | "ucs_basic" | "C.utf8" => Ok(()),
        _ if collation_named(name).is_some() => {
            Err(SqlError::unsupported(format!("the collation \"{name}\"")))
        }
        _ => Err(SqlError::new(
            code::UNDEFINED_OBJECT,
            format!("collation \"{name}\" for encoding \"UTF8\" does not exist"),
        )),
    }
}

/// The collation of a column.
pub(crate) fn column_collation(catalog: &Catalog, column: &Column) -> Oid {
    column.collation.unwrap_or_else(|| kept(catalog, column.ty).collation)
}

/// The identifier of an access method.
pub(crate) fn method(name: &str) -> Oid {
    Oid(match name {
        "heap" => 2,
        "hash" => 405,
        "gist" => 783,
        "gin" => 2742,
        "spgist" => 4000,
        "brin" => 3580,
        _ => 403,
    })
}

/// An operator class.
#[derive(Clone, Debug)]
pub struct OpClass {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Whether it is what its type has unless told otherwise.
    pub default: bool,
}

fn class_of(row: &[Datum]) -> Option<(Oid, OpClass, Oid)> {
    // oid, opcmethod, opcname, opcnamespace, opcowner, opcfamily, opcintype, opcdefault, …
    let (Datum::Oid(oid), Datum::Oid(method), Datum::Text(name)) = (&row[0], &row[1], &row[2])
    else {
        return None;
    };
    let (Datum::Oid(ty), Datum::Bool(default)) = (&row[6], &row[7]) else { return None };
    let class = OpClass { oid: Oid(*oid), name: Arc::clone(name), default: *default };
    Some((Oid(*method), class, Oid(*ty)))
}

/// The operator class of a part of an index.
pub fn op_class(catalog: &Catalog, access: &str, name: Option<&str>, ty: Oid) -> Option<OpClass> {
    let wanted = method(access);
    let all = || {
        let rows = fixed::rows("pg_opclass").iter().filter_map(|row| class_of(row));
        rows.filter(move |(method, ..)| *method == wanted)
    };
    if let Some(name) = name {
        return all().find(|(_, class, _)| *class.name == *name).map(|(_, class, _)| class);
    }
    let base = catalog.base_type(ty);
    let find = |ty: Oid| {
        all().find(|(_, class, of)| class.default && *of == ty).map(|(_, class, _)| class)
    };
    find(base).or_else(|| find(stand_in(catalog, base)))
}

/// The type whose operators a type uses that has none of its own.
fn stand_in(catalog: &Catalog, ty: Oid) -> Oid {
    match catalog.kind(ty) {
        Some(TypeKind::Array(_)) => Oid::ANYARRAY,
        Some(TypeKind::Enum(_)) => Oid::ANYENUM,
        Some(TypeKind::Composite(_)) => Oid::RECORD,
        _ => match ty {
            Oid::VARCHAR => Oid::TEXT,
            Oid::CIDR => Oid::INET,
            Oid::VARBIT => Oid::VARBIT,
            Oid::REGCLASS | Oid::REGTYPE | Oid::REGPROC | Oid::REGNAMESPACE | Oid::REGROLE => {
                Oid::OID
            }
            other => other,
        },
    }
}
