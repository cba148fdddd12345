//! information_schema: relations, columns, schemas, sequences, views and types, as the standard
//! describes them.

use super::columns;
use super::facts::column_collation;
use super::maker::{Maker, maybe, text, yes};
use crate::catalog::type_names::format_type;
use crate::catalog::{CheckOption, Column, Object, Persistence, Table, UserTypeKind};
use crate::deparse;
use crate::env::Env;
use crate::types::{Datum, Oid};
use std::sync::Arc;

pub(super) fn database(env: &Env) -> Datum {
    text(&env.database.name)
}

pub(super) fn schema_of(env: &Env, schema: Oid) -> Datum {
    text(&env.catalog.schema_name(schema))
}

pub(super) fn number(value: Option<i32>) -> Datum {
    value.map_or(Datum::Null, Datum::Int4)
}

pub(super) fn tables(env: &Env) -> impl Iterator<Item = &Arc<Table>> {
    env.catalog.objects().filter_map(|(_, object)| match object {
        Object::Table(table) => Some(table),
        _ => None,
    })
}

/// Tables and views.
pub(super) fn tables_view(env: &Env, maker: &mut Maker) {
    let mut add = |schema: Datum, name: &str, kind: &str, insertable: bool| {
        maker.add([
            ("table_catalog", database(env)),
            ("table_schema", schema),
            ("table_name", text(name)),
            ("table_type", text(kind)),
            ("is_insertable_into", yes(insertable)),
            ("is_typed", yes(false)),
        ]);
    };
    for relation in columns::all() {
        let is_base = super::is_base(relation);
        let kind = if is_base { "BASE TABLE" } else { "VIEW" };
        add(text(relation.table.schema), relation.table.name, kind, is_base);
    }
    for (_, object) in env.catalog.objects() {
        match object {
            Object::Table(it) if it.materialized.is_none() => {
                let permanent = it.persistence == Persistence::Permanent;
                let kind = if permanent { "BASE TABLE" } else { "LOCAL TEMPORARY" };
                add(schema_of(env, it.schema), &it.name, kind, true);
            }
            Object::View(it) => {
                let insertable = env.binder("").updatable(it.oid).is_some();
                add(schema_of(env, it.schema), &it.name, "VIEW", insertable);
            }
            _ => {}
        }
    }
}

/// Columns of tables and views.
pub(super) fn columns_view(env: &Env, maker: &mut Maker) {
    for relation in columns::all() {
        for (place, it) in (1..).zip(&relation.columns) {
            let column = Column {
                name: it.name.into(),
                ty: it.ty,
                typmod: -1,
                not_null: it.not_null,
                default: None,
                identity: None,
                missing: None,
                dropped: false,
                collation: None,
                comment: None,
            };
            let of = Of {
                schema: text(relation.table.schema),
                name: relation.table.name,
                table: None,
                updatable: super::is_base(relation),
            };
            add_column(env, maker, &of, place, &column);
        }
    }
    for (_, object) in env.catalog.objects() {
        match object {
            Object::Table(it) if it.materialized.is_none() => {
                let (schema, table) = (schema_of(env, it.schema), Some(it));
                let of = Of { schema, name: &it.name, table, updatable: true };
                for (place, column) in it.live() {
                    add_column(env, maker, &of, i32::from(place), column);
                }
            }
            Object::View(it) => {
                let schema = schema_of(env, it.schema);
                let mut of = Of { schema, name: &it.name, table: None, updatable: false };
                let updatable = env.binder("").updatable(it.oid).unwrap_or_default();
                for (place, column) in (1..).zip(&it.columns) {
                    of.updatable = updatable.get(place as usize - 1) == Some(&true);
                    add_column(env, maker, &of, place, column);
                }
            }
            _ => {}
        }
    }
}

/// The relation of a column.
struct Of<'o> {
    schema: Datum,
    name: &'o str,
    table: Option<&'o Arc<Table>>,
    updatable: bool,
}

/// How the standard describes a type.
struct Described {
    data_type: String,
    char_length: Option<i32>,
    octets: Option<i32>,
    precision: Option<i32>,
    radix: Option<i32>,
    scale: Option<i32>,
    time_precision: Option<i32>,
    interval: Option<String>,
    schema: Oid,
    name: String,
}

fn described(env: &Env, ty: Oid, typmod: i32) -> Described {
    let numeric = (ty == Oid::NUMERIC && typmod >= 4).then(|| typmod - 4);
    let length = match ty {
        Oid::VARCHAR | Oid::BPCHAR if typmod >= 4 => Some(typmod - 4),
        Oid::BIT | Oid::VARBIT if typmod >= 0 => Some(typmod),
        _ => None,
    };
    let octets = match ty {
        Oid::TEXT | Oid::VARCHAR | Oid::BPCHAR => Some(length.map_or(1 << 30, |it| it * 4)),
        _ => None,
    };
    let (precision, radix) = match ty {
        Oid::INT2 => (Some(16), Some(2)),
        Oid::INT4 => (Some(32), Some(2)),
        Oid::INT8 => (Some(64), Some(2)),
        Oid::FLOAT4 => (Some(24), Some(2)),
        Oid::FLOAT8 => (Some(53), Some(2)),
        Oid::NUMERIC => (numeric.map(|it| it >> 16), Some(10)),
        _ => (None, None),
    };
    let scale = match ty {
        Oid::INT2 | Oid::INT4 | Oid::INT8 => Some(0),
        _ => numeric.map(|it| ((it & 0x7ff) ^ 1024) - 1024),
    };
    let time_precision = match ty {
        Oid::DATE => Some(0),
        Oid::TIME | Oid::TIMETZ | Oid::TIMESTAMP | Oid::TIMESTAMPTZ => {
            Some(if typmod < 0 { 6 } else { typmod })
        }
        Oid::INTERVAL => {
            let precision = typmod & 0xffff;
            Some(if typmod < 0 || precision == 0xffff { 6 } else { precision })
        }
        _ => None,
    };
    let shown = format_type(&env.catalog, &env.path, ty, typmod);
    let fields = shown.strip_prefix("interval ").map(|it| it.split('(').next().unwrap_or(it));
    let interval = fields.filter(|_| ty == Oid::INTERVAL).map(str::to_uppercase);
    let (schema, name) = type_place(env, ty);
    let data_type = if env.catalog.element_of(ty).is_some() {
        "ARRAY".to_owned()
    } else if schema == crate::catalog::schema::PG_CATALOG {
        match ty {
            Oid::BPCHAR => "character".to_owned(),
            ty => format_type(&env.catalog, &env.path, ty, -1),
        }
    } else {
        "USER-DEFINED".to_owned()
    };
    Described {
        data_type,
        char_length: length,
        octets,
        precision,
        radix,
        scale,
        time_precision,
        interval,
        schema,
        name,
    }
}

/// The schema and own name of a type.
fn type_place(env: &Env, ty: Oid) -> (Oid, String) {
    if let Some(found) = crate::catalog::builtin::builtin().types.get(&ty) {
        return (crate::catalog::schema::PG_CATALOG, found.name.to_owned());
    }
    if let Some(element) = env.catalog.element_of(ty) {
        let (schema, name) = type_place(env, element);
        return (schema, format!("_{name}"));
    }
    let object = match env.catalog.relation_of_row_type(ty) {
        Some(relation) => env.catalog.get(relation),
        None => env.catalog.get(ty),
    };
    match object.and_then(Object::place) {
        Some((schema, name)) => (schema, name.to_string()),
        None => (crate::catalog::schema::PG_CATALOG, "???".to_owned()),
    }
}

fn add_column(env: &Env, maker: &mut Maker, of: &Of<'_>, place: i32, column: &Column) {
    let domain = env.catalog.user_type(column.ty).filter(|ty| is_domain(&ty.kind));
    let (ty, typmod) = match domain.map(|ty| &ty.kind) {
        Some(UserTypeKind::Domain(domain)) => (domain.base, domain.typmod),
        _ => (column.ty, column.typmod),
    };
    let domain_not_null =
        matches!(domain.map(|ty| &ty.kind), Some(UserTypeKind::Domain(it)) if it.not_null);
    let it = described(env, ty, typmod);
    let collation = column_collation(&env.catalog, column);
    let collation_schema = match env.catalog.get(collation) {
        Some(Object::Collation(it)) => schema_of(env, it.schema),
        _ => text("pg_catalog"),
    };
    let collation = match collation {
        Oid(0) | Oid(100) => None,
        other => env.catalog.collation_name(other),
    };
    let generated = column.default.as_ref().is_some_and(|it| it.generated);
    let expression = || of.table.map(|table| deparse::default(env, table, column));
    let sequence = column.identity.and_then(|it| env.catalog.sequence(it.sequence));
    let when = |is_there: bool, value: Datum| if is_there { value } else { Datum::Null };
    let text_of = |value: Option<i64>| maybe(value.map(|it| it.to_string()));
    maker.add([
        ("table_catalog", database(env)),
        ("table_schema", of.schema.clone()),
        ("table_name", text(of.name)),
        ("column_name", text(&column.name)),
        ("ordinal_position", Datum::Int4(place)),
        (
            "column_default",
            maybe(if column.default.is_some() && !generated { expression() } else { None }),
        ),
        ("is_nullable", yes(!column.not_null && !domain_not_null)),
        ("data_type", text(&it.data_type)),
        ("character_maximum_length", number(it.char_length)),
        ("character_octet_length", number(it.octets)),
        ("numeric_precision", number(it.precision)),
        ("numeric_precision_radix", number(it.radix)),
        ("numeric_scale", number(it.scale)),
        ("datetime_precision", number(it.time_precision)),
        ("interval_type", maybe(it.interval)),
        ("collation_catalog", when(collation.is_some(), database(env))),
        ("collation_schema", when(collation.is_some(), collation_schema)),
        ("collation_name", maybe(collation.as_deref())),
        ("domain_catalog", when(domain.is_some(), database(env))),
        ("domain_schema", domain.map_or(Datum::Null, |ty| schema_of(env, ty.schema))),
        ("domain_name", maybe(domain.map(|ty| &ty.name))),
        ("udt_catalog", database(env)),
        ("udt_schema", schema_of(env, it.schema)),
        ("udt_name", text(&it.name)),
        ("dtd_identifier", Datum::text(place.to_string())),
        ("is_self_referencing", yes(false)),
        ("is_identity", yes(column.identity.is_some())),
        (
            "identity_generation",
            maybe(column.identity.map(|it| if it.always { "ALWAYS" } else { "BY DEFAULT" })),
        ),
        ("identity_start", text_of(sequence.map(|it| it.start))),
        ("identity_increment", text_of(sequence.map(|it| it.increment))),
        ("identity_maximum", text_of(sequence.map(|it| it.max))),
        ("identity_minimum", text_of(sequence.map(|it| it.min))),
        ("identity_cycle", yes(sequence.is_some_and(|it| it.cycle))),
        ("is_generated", text(if generated { "ALWAYS" } else { "NEVER" })),
        ("generation_expression", maybe(if generated { expression() } else { None })),
        ("is_updatable", yes(of.updatable)),
    ]);
}

fn is_domain(kind: &UserTypeKind) -> bool {
    matches!(kind, UserTypeKind::Domain(_))
}

/// Schemas.
pub(super) fn schemata(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Schema(it) = object else { continue };
        let owner =
            if it.oid == crate::catalog::schema::PUBLIC { "pg_database_owner" } else { &env.user };
        maker.add([
            ("catalog_name", database(env)),
            ("schema_name", text(&it.name)),
            ("schema_owner", text(owner)),
        ]);
    }
}

/// Sequences.
pub(super) fn sequences(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Sequence(it) = object else { continue };
        // The sequence of an identity column is part of the column.
        if matches!(it.owner, Some((_, _, true))) {
            continue;
        }
        let ty = described(env, it.ty, -1);
        maker.add([
            ("sequence_catalog", database(env)),
            ("sequence_schema", schema_of(env, it.schema)),
            ("sequence_name", text(&it.name)),
            ("data_type", text(&ty.data_type)),
            ("numeric_precision", number(ty.precision)),
            ("numeric_precision_radix", number(ty.radix)),
            ("numeric_scale", number(ty.scale)),
            ("start_value", Datum::text(it.start.to_string())),
            ("minimum_value", Datum::text(it.min.to_string())),
            ("maximum_value", Datum::text(it.max.to_string())),
            ("increment", Datum::text(it.increment.to_string())),
            ("cycle_option", yes(it.cycle)),
        ]);
    }
}

/// Views.
pub(super) fn views(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::View(it) = object else { continue };
        let updatable = env.binder("").updatable(it.oid).is_some();
        let check = match it.check {
            None => "NONE",
            Some(CheckOption::Local) => "LOCAL",
            Some(CheckOption::Cascaded) => "CASCADED",
        };
        let definition = deparse::view(env, object, deparse::Layout::Plain);
        maker.add([
            ("table_catalog", database(env)),
            ("table_schema", schema_of(env, it.schema)),
            ("table_name", text(&it.name)),
            ("view_definition", definition.map_or(Datum::Null, Datum::text)),
            ("check_option", text(check)),
            ("is_updatable", yes(updatable)),
            ("is_insertable_into", yes(updatable)),
            ("is_trigger_updatable", yes(false)),
            ("is_trigger_deletable", yes(false)),
            ("is_trigger_insertable_into", yes(false)),
        ]);
    }
}

/// Domains.
pub(super) fn domains(env: &Env, maker: &mut Maker) {
    for (_, object) in env.catalog.objects() {
        let Object::Type(ty) = object else { continue };
        let UserTypeKind::Domain(domain) = &ty.kind else { continue };
        let it = described(env, domain.base, domain.typmod);
        maker.add([
            ("domain_catalog", database(env)),
            ("domain_schema", schema_of(env, ty.schema)),
            ("domain_name", text(&ty.name)),
            ("data_type", text(&it.data_type)),
            ("character_maximum_length", number(it.char_length)),
            ("character_octet_length", number(it.octets)),
            ("numeric_precision", number(it.precision)),
            ("numeric_precision_radix", number(it.radix)),
            ("numeric_scale", number(it.scale)),
            ("datetime_precision", number(it.time_precision)),
            ("domain_default", maybe(domain.default.as_ref())),
            ("udt_catalog", database(env)),
            ("udt_schema", schema_of(env, it.schema)),
            ("udt_name", text(&it.name)),
            ("dtd_identifier", text("1")),
        ]);
    }
}

/// Which columns have domains.
pub(super) fn column_domain_usage(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for (_, column) in table.live() {
            let Some(ty) = env.catalog.user_type(column.ty) else { continue };
            if !is_domain(&ty.kind) {
                continue;
            }
            maker.add([
                ("domain_catalog", database(env)),
                ("domain_schema", schema_of(env, ty.schema)),
                ("domain_name", text(&ty.name)),
                ("table_catalog", database(env)),
                ("table_schema", schema_of(env, table.schema)),
                ("table_name", text(&table.name)),
                ("column_name", text(&column.name)),
            ]);
        }
    }
}

/// The elements of columns that are arrays.
pub(super) fn element_types(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for (place, column) in table.live() {
            let Some(element) = env.catalog.element_of(column.ty) else { continue };
            let it = described(env, element, column.typmod);
            maker.add([
                ("object_catalog", database(env)),
                ("object_schema", schema_of(env, table.schema)),
                ("object_name", text(&table.name)),
                ("object_type", text("TABLE")),
                ("collection_type_identifier", Datum::text(place.to_string())),
                ("data_type", text(&it.data_type)),
                ("udt_catalog", database(env)),
                ("udt_schema", schema_of(env, it.schema)),
                ("udt_name", text(&it.name)),
                ("dtd_identifier", Datum::text(format!("a{place}"))),
            ]);
        }
    }
}

/// The database, and roles.
pub(super) fn catalog_name(env: &Env, maker: &mut Maker) {
    maker.add([("catalog_name", database(env))]);
}

/// The roles that the user has.
pub(super) fn enabled_roles(env: &Env, maker: &mut Maker) {
    maker.add([("role_name", text(&env.user))]);
}
