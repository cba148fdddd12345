//! pg_class and pg_attribute.

use super::columns;
use super::facts::{OWNER, column_collation, kept, method};
use super::index_columns::index_columns;
use super::maker::{Maker, flag, oid, text};
use crate::catalog::{
    Catalog, Column, ConstraintKind, Index, Object, Persistence, Sequence, Table, UserType,
    UserTypeKind, View,
};
use crate::env::Env;
use crate::types::{Datum, Oid};

/// What a row of pg_class says.
struct Class<'c> {
    oid: Oid,
    name: &'c str,
    schema: Oid,
    kind: &'static str,
    row_type: Oid,
    access: Oid,
    columns: usize,
    persistence: Persistence,
    checks: usize,
    has_index: bool,
    has_triggers: bool,
    populated: bool,
}

impl Class<'_> {
    fn new<'c>(oid: Oid, name: &'c str, schema: Oid, kind: &'static str) -> Class<'c> {
        Class {
            oid,
            name,
            schema,
            kind,
            row_type: Oid::NONE,
            access: Oid::NONE,
            columns: 0,
            persistence: Persistence::Permanent,
            checks: 0,
            has_index: false,
            has_triggers: false,
            populated: true,
        }
    }
}

/// The relations of users.
pub(super) fn pg_class(env: &Env, maker: &mut Maker) {
    let referenced = referenced(&env.catalog);
    for (_, object) in env.catalog.objects() {
        if let Some(class) = class(object, &referenced) {
            add_class(maker, &class);
        }
    }
}

/// The tables that foreign keys refer to.
fn referenced(catalog: &Catalog) -> Vec<Oid> {
    let tables = catalog.objects().filter_map(|(_, object)| match object {
        Object::Table(table) => Some(table),
        _ => None,
    });
    tables
        .flat_map(|table| &table.constraints)
        .filter_map(|it| match &it.kind {
            ConstraintKind::ForeignKey(key) => Some(key.table),
            _ => None,
        })
        .collect()
}

fn class<'c>(object: &'c Object, referenced: &[Oid]) -> Option<Class<'c>> {
    Some(match object {
        Object::Table(it) => table_class(it, referenced),
        Object::View(it) => view_class(it),
        Object::Index(it) => Class {
            access: method(&it.method),
            columns: it.keys.len() + it.include.len(),
            ..Class::new(it.oid, &it.name, it.schema, "i")
        },
        Object::Sequence(it) => Class {
            columns: 3,
            persistence: it.persistence,
            ..Class::new(it.oid, &it.name, it.schema, "S")
        },
        Object::Type(it) => match &it.kind {
            UserTypeKind::Composite(fields) => Class {
                columns: fields.len(),
                row_type: it.oid,
                ..Class::new(it.oid, &it.name, it.schema, "c")
            },
            _ => return None,
        },
        Object::Schema(_) | Object::Extension(_) | Object::Collation(_) => return None,
    })
}

fn table_class<'c>(it: &'c Table, referenced: &[Oid]) -> Class<'c> {
    let is_check = |kind: &ConstraintKind| matches!(kind, ConstraintKind::Check { .. });
    let is_reference = |kind: &ConstraintKind| matches!(kind, ConstraintKind::ForeignKey(_));
    let kind = if it.materialized.is_some() { "m" } else { "r" };
    Class {
        row_type: it.row_type,
        access: method("heap"),
        columns: it.columns.len(),
        persistence: it.persistence,
        checks: it.constraints.iter().filter(|it| is_check(&it.kind)).count(),
        has_index: !it.indexes.is_empty(),
        has_triggers: it.constraints.iter().any(|it| is_reference(&it.kind))
            || referenced.contains(&it.oid),
        populated: it.materialized.as_ref().is_none_or(|view| view.populated),
        ..Class::new(it.oid, &it.name, it.schema, kind)
    }
}

fn view_class(it: &View) -> Class<'_> {
    Class {
        row_type: it.row_type,
        columns: it.columns.len(),
        persistence: it.persistence,
        ..Class::new(it.oid, &it.name, it.schema, "v")
    }
}

fn add_class(maker: &mut Maker, class: &Class<'_>) {
    let has_rows = matches!(class.kind, "r" | "m" | "i" | "S");
    let permanent = class.persistence == Persistence::Permanent;
    let frozen = if matches!(class.kind, "r" | "m") { 726 } else { 0 };
    maker.add([
        ("oid", oid(class.oid)),
        ("relname", text(class.name)),
        ("relnamespace", oid(class.schema)),
        ("reltype", oid(class.row_type)),
        ("relowner", oid(OWNER)),
        ("relam", oid(class.access)),
        ("relfilenode", Datum::Oid(if has_rows { class.oid.0 } else { 0 })),
        ("reltuples", Datum::Float4(if matches!(class.kind, "r" | "m") { -1.0 } else { 0.0 })),
        ("relhasindex", flag(class.has_index)),
        ("relpersistence", text(if permanent { "p" } else { "t" })),
        ("relkind", text(class.kind)),
        ("relnatts", Datum::Int2(class.columns as i16)),
        ("relchecks", Datum::Int2(class.checks as i16)),
        ("relhasrules", flag(matches!(class.kind, "v" | "m"))),
        ("relhastriggers", flag(class.has_triggers)),
        ("relispopulated", flag(class.populated)),
        ("relreplident", text(if matches!(class.kind, "r" | "m") { "d" } else { "n" })),
        ("relfrozenxid", Datum::Oid(frozen)),
        ("relminmxid", Datum::Oid(u32::from(frozen > 0))),
    ]);
}

/// A column that is described.
struct Attribute<'a> {
    relation: Oid,
    number: i16,
    name: &'a str,
    ty: Oid,
    typmod: i32,
    collation: Oid,
    not_null: bool,
    has_default: bool,
    has_missing: bool,
    identity: &'static str,
    generated: &'static str,
    dropped: bool,
}

impl<'a> Attribute<'a> {
    fn new(relation: Oid, number: usize, name: &'a str, ty: Oid, collation: Oid) -> Attribute<'a> {
        Attribute {
            relation,
            number: number as i16,
            name,
            ty,
            typmod: -1,
            collation,
            not_null: false,
            has_default: false,
            has_missing: false,
            identity: "",
            generated: "",
            dropped: false,
        }
    }
}

/// The columns of all system relations, made once.
pub(super) fn system_attributes(catalog: &Catalog, maker: &mut Maker) {
    for relation in columns::all() {
        for (number, column) in (1..).zip(&relation.columns) {
            let collation = kept(catalog, column.ty).collation;
            let attribute =
                Attribute::new(relation.table.oid, number, column.name, column.declared, collation);
            let not_null = column.not_null;
            add_attribute_kept(catalog, maker, &Attribute { not_null, ..attribute }, column.ty);
        }
    }
}

/// The columns of users' relations.
pub(super) fn pg_attribute(env: &Env, maker: &mut Maker) {
    let catalog = &env.catalog;
    for (_, object) in catalog.objects() {
        match object {
            Object::Table(it) => {
                add_columns(catalog, maker, it.oid, &it.columns);
                add_hidden(catalog, maker, it.oid);
            }
            Object::View(it) => add_columns(catalog, maker, it.oid, &it.columns),
            Object::Index(it) => add_index(env, maker, it),
            Object::Sequence(it) => add_sequence(catalog, maker, it),
            Object::Type(it) => add_composite(catalog, maker, it),
            Object::Schema(_) | Object::Extension(_) | Object::Collation(_) => {}
        }
    }
}

fn add_columns(catalog: &Catalog, maker: &mut Maker, relation: Oid, columns: &[Column]) {
    for (number, column) in (1..).zip(columns) {
        let dropped_name = format!("........pg.dropped.{number}........");
        let name = if column.dropped { dropped_name.as_str() } else { &column.name };
        let ty = if column.dropped { Oid::NONE } else { column.ty };
        let collation = column_collation(catalog, column);
        let generated = column.default.as_ref().is_some_and(|it| it.generated);
        let attribute = Attribute {
            typmod: column.typmod,
            not_null: column.not_null && !column.dropped,
            has_default: column.default.is_some() && !column.dropped,
            has_missing: column.missing.as_ref().is_some_and(|it| !it.is_null()),
            identity: match column.identity {
                Some(identity) if identity.always => "a",
                Some(_) => "d",
                None => "",
            },
            generated: if generated { "s" } else { "" },
            dropped: column.dropped,
            ..Attribute::new(relation, number, name, ty, collation)
        };
        add_attribute(catalog, maker, &attribute);
    }
}

/// The columns that every table has without saying so.
fn add_hidden(catalog: &Catalog, maker: &mut Maker, relation: Oid) {
    let hidden = [
        ("tableoid", Oid::OID),
        ("cmax", Oid::CID),
        ("xmax", Oid::XID),
        ("cmin", Oid::CID),
        ("xmin", Oid::XID),
        ("ctid", Oid::TID),
    ];
    for (place, (name, ty)) in hidden.into_iter().enumerate() {
        let attribute = Attribute::new(relation, 0, name, ty, Oid::NONE);
        let number = place as i16 - 6;
        add_attribute(catalog, maker, &Attribute { number, not_null: true, ..attribute });
    }
}

fn add_index(env: &Env, maker: &mut Maker, index: &Index) {
    let Some(table) = env.catalog.table(index.table) else { return };
    let names = index_columns(table, index);
    let included = index.include.iter().map(|&number| {
        let column = table.column(number);
        (column.ty, column.typmod)
    });
    let types =
        index.keys.iter().map(|key| env.binder("").key_type(table, &key.what)).chain(included);
    for (number, (name, (ty, typmod))) in (1..).zip(names.iter().zip(types)) {
        let collation = kept(&env.catalog, ty).collation;
        let attribute = Attribute::new(index.oid, number, name, ty, collation);
        add_attribute(&env.catalog, maker, &Attribute { typmod, ..attribute });
    }
}

fn add_sequence(catalog: &Catalog, maker: &mut Maker, sequence: &Sequence) {
    let columns = [("last_value", Oid::INT8), ("log_cnt", Oid::INT8), ("is_called", Oid::BOOL)];
    for (number, (name, ty)) in (1..).zip(columns) {
        let attribute = Attribute::new(sequence.oid, number, name, ty, Oid::NONE);
        add_attribute(catalog, maker, &Attribute { not_null: true, ..attribute });
    }
}

fn add_composite(catalog: &Catalog, maker: &mut Maker, ty: &UserType) {
    let UserTypeKind::Composite(fields) = &ty.kind else { return };
    for (number, field) in (1..).zip(fields.iter()) {
        let collation = kept(catalog, field.ty).collation;
        let attribute = Attribute::new(ty.oid, number, &field.name, field.ty, collation);
        add_attribute(catalog, maker, &Attribute { typmod: field.typmod, ..attribute });
    }
}

fn add_attribute(catalog: &Catalog, maker: &mut Maker, it: &Attribute<'_>) {
    add_attribute_kept(catalog, maker, it, it.ty);
}

/// `base` says how its values are kept.
fn add_attribute_kept(catalog: &Catalog, maker: &mut Maker, it: &Attribute<'_>, base: Oid) {
    let kept = kept(catalog, base);
    let dimensions = i32::from(catalog.element_of(it.ty).is_some());
    maker.add([
        ("attrelid", oid(it.relation)),
        ("attname", text(it.name)),
        ("atttypid", oid(it.ty)),
        ("attstattarget", Datum::Int4(if it.number < 0 { 0 } else { -1 })),
        ("attlen", Datum::Int2(kept.len)),
        ("attnum", Datum::Int2(it.number)),
        ("attndims", Datum::Int4(dimensions)),
        ("attcacheoff", Datum::Int4(-1)),
        ("atttypmod", Datum::Int4(it.typmod)),
        ("attbyval", flag(kept.by_value)),
        ("attalign", text(kept.align)),
        ("attstorage", text(kept.storage)),
        ("attnotnull", flag(it.not_null)),
        ("atthasdef", flag(it.has_default)),
        ("atthasmissing", flag(it.has_missing)),
        ("attidentity", text(it.identity)),
        ("attgenerated", text(it.generated)),
        ("attisdropped", flag(it.dropped)),
        ("attislocal", flag(true)),
        ("attcollation", oid(it.collation)),
    ]);
}
