//! pg_type, pg_enum and pg_range: types of users, of rows of their relations, and of arrays of
//! both.

use super::facts::{OWNER, kept};
use super::maker::{Maker, flag, maybe, oid, text};
use crate::catalog::builtin::builtin;
use crate::catalog::{Catalog, Domain, Object, UserType, UserTypeKind};
use crate::env::Env;
use crate::types::{Datum, Oid};

/// What a row of pg_type says besides how values are kept.
struct Described<'t> {
    ty: Oid,
    name: &'t str,
    schema: Oid,
    kind: &'static str,
    category: String,
    relation: Oid,
    array: Oid,
    /// The names of the functions that read and write.
    io: [&'static str; 4],
}

/// The types of users.
pub(super) fn pg_type(env: &Env, maker: &mut Maker) {
    let catalog = &env.catalog;
    for (_, object) in catalog.objects() {
        match object {
            Object::Table(it) => {
                let (row, array) = (it.row_type, it.row_array_type);
                add_row_type(catalog, maker, row, array, (it.schema, &it.name), it.oid);
            }
            Object::View(it) => {
                let place = (it.schema, &*it.name);
                add_row_type(catalog, maker, it.row_type, Oid::NONE, place, it.oid);
            }
            Object::Type(it) => add_user_type(catalog, maker, it),
            _ => {}
        }
    }
}

const RECORD_IO: [&str; 4] = ["record_in", "record_out", "record_recv", "record_send"];
const ARRAY_IO: [&str; 4] = ["array_in", "array_out", "array_recv", "array_send"];
const ENUM_IO: [&str; 4] = ["enum_in", "enum_out", "enum_recv", "enum_send"];

fn add_row_type(
    catalog: &Catalog,
    maker: &mut Maker,
    ty: Oid,
    array: Oid,
    (schema, name): (Oid, &str),
    relation: Oid,
) {
    let category = "C".to_owned();
    let it = Described { ty, name, schema, kind: "c", category, relation, array, io: RECORD_IO };
    add_type(catalog, maker, &it, None);
    if array != Oid::NONE {
        add_array(catalog, maker, &it);
    }
}

fn add_user_type(catalog: &Catalog, maker: &mut Maker, ty: &UserType) {
    let (kind, io, domain) = match &ty.kind {
        UserTypeKind::Enum(_) => ("e", ENUM_IO, None),
        UserTypeKind::Composite(_) => ("c", RECORD_IO, None),
        UserTypeKind::Domain(domain) => ("d", domain_io(domain), Some(domain)),
    };
    let it = Described {
        ty: ty.oid,
        name: &ty.name,
        schema: ty.schema,
        kind,
        category: char::from(catalog.category(ty.oid).0).to_string(),
        relation: if kind == "c" { ty.oid } else { Oid::NONE },
        array: ty.array,
        io,
    };
    add_type(catalog, maker, &it, domain);
    add_array(catalog, maker, &it);
}

/// A domain is read by a function of its own and written as its base type.
fn domain_io(domain: &Domain) -> [&'static str; 4] {
    let base = builtin().types.get(&domain.base).map_or(["-"; 6], |base| base.io);
    ["domain_in", base[1], "domain_recv", base[3]]
}

fn add_array(catalog: &Catalog, maker: &mut Maker, of: &Described<'_>) {
    let name = format!("_{}", of.name);
    let it = Described {
        ty: of.array,
        name: &name,
        schema: of.schema,
        kind: "b",
        category: "A".to_owned(),
        relation: Oid::NONE,
        array: Oid::NONE,
        io: ARRAY_IO,
    };
    add_type(catalog, maker, &it, None);
}

fn proc_oid(name: &str) -> Datum {
    Datum::Oid(builtin().procs_named(name).next().map_or(0, |proc| proc.oid))
}

fn add_type(catalog: &Catalog, maker: &mut Maker, it: &Described<'_>, domain: Option<&Domain>) {
    let kept = kept(catalog, it.ty);
    let element = catalog.element_of(it.ty).unwrap_or(Oid::NONE);
    let subscript = if element == Oid::NONE { "-" } else { "array_subscript_handler" };
    let dimensions = domain.is_some_and(|it| catalog.element_of(it.base).is_some());
    let analyze = if element == Oid::NONE { "-" } else { "array_typanalyze" };
    maker.add([
        ("oid", oid(it.ty)),
        ("typname", text(it.name)),
        ("typnamespace", oid(it.schema)),
        ("typowner", oid(OWNER)),
        ("typlen", Datum::Int2(kept.len)),
        ("typbyval", flag(kept.by_value)),
        ("typtype", text(it.kind)),
        ("typcategory", text(&it.category)),
        ("typisdefined", flag(true)),
        ("typdelim", text(",")),
        ("typrelid", oid(it.relation)),
        ("typsubscript", proc_oid(subscript)),
        ("typelem", oid(element)),
        ("typarray", oid(it.array)),
        ("typinput", proc_oid(it.io[0])),
        ("typoutput", proc_oid(it.io[1])),
        ("typreceive", proc_oid(it.io[2])),
        ("typsend", proc_oid(it.io[3])),
        ("typanalyze", proc_oid(analyze)),
        ("typalign", text(kept.align)),
        ("typstorage", text(kept.storage)),
        ("typnotnull", flag(domain.is_some_and(|it| it.not_null))),
        ("typbasetype", oid(domain.map_or(Oid::NONE, |it| it.base))),
        ("typtypmod", Datum::Int4(domain.map_or(-1, |it| it.typmod))),
        ("typndims", Datum::Int4(i32::from(dimensions))),
        ("typcollation", oid(kept.collation)),
        ("typdefault", maybe(domain.and_then(|it| it.default.as_ref()))),
    ]);
}

/// The labels of enumerated types.
pub(super) fn pg_enum(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Type(ty) = object else { continue };
        let UserTypeKind::Enum(labels) = &ty.kind else { continue };
        for (place, label) in labels.iter().enumerate() {
            maker.add([
                ("oid", Datum::Oid(super::label_oid(ty.oid, place))),
                ("enumtypid", oid(ty.oid)),
                ("enumsortorder", Datum::Float4(label.order)),
                ("enumlabel", text(&label.label)),
            ]);
        }
    }
}
