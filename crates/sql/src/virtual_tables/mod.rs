//! The rows of pg_catalog and information_schema, made of the catalog when they are read: what
//! PostgreSQL says about itself (`catalog/system/`), and behind it what users made.

mod builtins;
mod classes;
mod cluster;
mod constraints;
mod index_columns;
mod information;
mod information_keys;
mod listing;
mod maker;
mod sessions;
mod types;

use crate::catalog::system::{SystemTable, Tree, columns, facts, fixed};
use crate::env::Env;
use crate::error::Result;
use crate::locks::Owner;
use crate::types::{Datum, Oid, Row};
use maker::Maker;
use std::sync::{Arc, OnceLock};

/// What was said about an object: of users, else of PostgreSQL's own.
pub fn comment(env: &Env, object: Oid, class: Option<Oid>, column: i32) -> Option<Arc<str>> {
    let said = listing::comments(env).into_iter().find(|(it, of, at, _)| {
        *it == object && *at == column && class.is_none_or(|class| class == *of)
    });
    match said {
        Some((.., comment)) => Some(comment),
        None if column == 0 => listing::builtin_comment("pg_description", object, class),
        None => None,
    }
}

/// What was said about an object that all databases share.
pub fn shared_comment(object: Oid, class: Oid) -> Option<Arc<str>> {
    listing::builtin_comment("pg_shdescription", object, Some(class))
}

/// The session of whoever holds a lock.
pub fn session_of(env: &Env, owner: Owner) -> Option<u32> {
    cluster::session_of(env, owner)
}

/// Tables of pg_catalog are tables, its lists for people are views.
fn is_base(relation: &columns::SystemRelation) -> bool {
    static KINDS: OnceLock<rustc_hash::FxHashSet<Oid>> = OnceLock::new();
    let tables = KINDS.get_or_init(|| {
        let is_table = |row: &&Row| matches!(&row[16], Datum::Text(kind) if &**kind == "r");
        let oid = |row: &Row| match row[0] {
            Datum::Oid(oid) => Oid(oid),
            _ => Oid::NONE,
        };
        fixed::rows("pg_class").iter().filter(is_table).map(oid).collect()
    });
    tables.contains(&relation.table.oid)
}

/// Identifiers of things that have none of their own: far from those that are counted.
fn derived_oid(of: Oid, part: u32) -> u32 {
    0x8000_0000 | (of.0.wrapping_mul(2048).wrapping_add(part) & 0x7fff_ffff)
}

/// The identifier of the default of a column.
fn default_oid(table: Oid, column: u16) -> u32 {
    derived_oid(table, u32::from(column))
}

/// The identifier of a label of an enumerated type.
fn label_oid(ty: Oid, place: usize) -> u32 {
    derived_oid(ty, place as u32)
}

/// The rows of a system table.
pub fn rows(env: &Env, table: &SystemTable) -> Result<Arc<Vec<Row>>> {
    if let Some(rows) = unchanging(env, table) {
        return Ok(rows);
    }
    let Some(relation) = columns::by_oid(table.oid) else { return Ok(Arc::default()) };
    let before = match table.name {
        _ if table.schema != "pg_catalog" => Vec::new(),
        // The values of settings are those of the session.
        "pg_settings" => Vec::new(),
        "pg_attribute" => system_attributes(env).to_vec(),
        name => fixed::rows(name).to_vec(),
    };
    let mut maker = Maker::new(relation, before);
    match table.schema {
        "pg_catalog" => catalog_rows(env, table.name, &mut maker),
        _ => information_rows(env, table.name, &mut maker),
    }
    Ok(Arc::new(maker.rows))
}

/// Large tables that are the same for all.
fn unchanging(env: &Env, table: &SystemTable) -> Option<Arc<Vec<Row>>> {
    type Cached = OnceLock<Arc<Vec<Row>>>;
    static PROCS: Cached = OnceLock::new();
    static OPERATORS: Cached = OnceLock::new();
    static CASTS: Cached = OnceLock::new();
    static AGGREGATES: Cached = OnceLock::new();
    static ZONES: Cached = OnceLock::new();
    let made = |cached: &'static Cached, make: &dyn Fn(&mut Maker)| {
        let relation = columns::by_oid(table.oid)?;
        let rows = cached.get_or_init(|| {
            let mut maker = Maker::new(relation, Vec::new());
            make(&mut maker);
            Arc::new(maker.rows)
        });
        Some(Arc::clone(rows))
    };
    match table.name {
        "pg_proc" => made(&PROCS, &builtins::pg_proc),
        "pg_operator" => made(&OPERATORS, &builtins::pg_operator),
        "pg_cast" => made(&CASTS, &builtins::pg_cast),
        "pg_aggregate" => made(&AGGREGATES, &builtins::pg_aggregate),
        "pg_timezone_names" => made(&ZONES, &|maker| cluster::pg_timezone_names(env, maker)),
        _ => None,
    }
}

fn system_attributes(env: &Env) -> &'static [Row] {
    static ATTRIBUTES: OnceLock<Vec<Row>> = OnceLock::new();
    ATTRIBUTES.get_or_init(|| {
        let Some(relation) = columns::named(crate::catalog::schema::PG_CATALOG, "pg_attribute")
        else {
            return Vec::new();
        };
        let mut maker = Maker::new(relation, Vec::new());
        classes::system_attributes(&env.catalog, &mut maker);
        maker.rows
    })
}

fn catalog_rows(env: &Env, name: &str, maker: &mut Maker) {
    match name {
        "pg_class" => classes::pg_class(env, maker),
        "pg_attribute" => classes::pg_attribute(env, maker),
        "pg_attrdef" => constraints::pg_attrdef(env, maker),
        "pg_type" => types::pg_type(env, maker),
        "pg_enum" => types::pg_enum(env, maker),
        "pg_extension" => cluster::pg_extension(env, maker),
        "pg_collation" => listing::pg_collation(env, maker),
        "pg_available_extensions" => cluster::pg_available_extensions(env, maker),
        "pg_namespace" => cluster::pg_namespace(env, maker),
        "pg_index" => constraints::pg_index(env, maker),
        "pg_constraint" => constraints::pg_constraint(env, maker),
        "pg_sequence" => constraints::pg_sequence(env, maker),
        "pg_depend" => constraints::pg_depend(env, maker),
        "pg_description" => listing::pg_description(env, maker),
        "pg_database" => cluster::pg_database(env, maker),
        "pg_authid" => cluster::pg_authid(env, maker),
        "pg_roles" => cluster::pg_roles(env, maker),
        "pg_user" | "pg_shadow" => cluster::pg_user(env, maker),
        "pg_settings" => cluster::pg_settings(env, maker),
        "pg_prepared_statements" => sessions::pg_prepared_statements(env, maker),
        "pg_cursors" => sessions::pg_cursors(env, maker),
        "pg_stat_activity" => cluster::pg_stat_activity(env, maker),
        "pg_stat_database" => cluster::pg_stat_database(env, maker),
        "pg_locks" => cluster::pg_locks(env, maker),
        "pg_tables" => listing::pg_tables(env, maker),
        "pg_views" => listing::pg_views(env, maker),
        "pg_matviews" => listing::pg_matviews(env, maker),
        "pg_indexes" => listing::pg_indexes(env, maker),
        "pg_sequences" => listing::pg_sequences(env, maker),
        "pg_stat_all_tables"
        | "pg_stat_user_tables"
        | "pg_stat_xact_user_tables"
        | "pg_stat_xact_all_tables"
        | "pg_statio_all_tables"
        | "pg_statio_user_tables" => {
            listing::pg_stat_tables(env, maker);
        }
        "pg_stat_all_indexes"
        | "pg_stat_user_indexes"
        | "pg_statio_all_indexes"
        | "pg_statio_user_indexes" => listing::pg_stat_indexes(env, maker),
        _ => {}
    }
}

fn information_rows(env: &Env, name: &str, maker: &mut Maker) {
    match name {
        "tables" => information::tables_view(env, maker),
        "columns" => information::columns_view(env, maker),
        "schemata" => information::schemata(env, maker),
        "sequences" => information::sequences(env, maker),
        "views" => information::views(env, maker),
        "domains" => information::domains(env, maker),
        "column_domain_usage" => information::column_domain_usage(env, maker),
        "element_types" => information::element_types(env, maker),
        "table_constraints" => information_keys::table_constraints(env, maker),
        "check_constraints" => information_keys::check_constraints(env, maker),
        "key_column_usage" => information_keys::key_column_usage(env, maker),
        "constraint_column_usage" => information_keys::constraint_column_usage(env, maker),
        "constraint_table_usage" => information_keys::constraint_table_usage(env, maker),
        "referential_constraints" => information_keys::referential_constraints(env, maker),
        "information_schema_catalog_name" => information::catalog_name(env, maker),
        "collations" => listing::collations(env, maker),
        "enabled_roles" => information::enabled_roles(env, maker),
        _ => {}
    }
}
