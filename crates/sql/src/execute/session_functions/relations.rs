//! Objects by name and by identifier: whether they are seen, what is said about them, how large
//! they are.

use super::{Asked, Exec, Function};
use crate::catalog::builtin::builtin;
use crate::catalog::{Object, schema, system};
use crate::env::reg_names;
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, TypeLookup};
use crate::virtual_tables;

fn to_reg(exec: &Exec<'_>, asked: &Asked<'_>, ty: Oid) -> Result<Datum> {
    match reg_names::find(exec.env, ty, asked.text(0)?) {
        Ok(found) => Ok(found.map_or(Datum::Null, Datum::Oid)),
        // A type of an extension that is not supported is not there.
        Err(error) if error.fields().code == code::FEATURE_NOT_SUPPORTED => Ok(Datum::Null),
        Err(error) => Err(error),
    }
}

fn to_regclass(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGCLASS)
}

fn to_regtype(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGTYPE)
}

fn to_regnamespace(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGNAMESPACE)
}

fn to_regrole(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGROLE)
}

fn to_regproc(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGPROC)
}

fn to_regprocedure(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGPROCEDURE)
}

fn to_regoper(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGOPER)
}

fn to_regoperator(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGOPERATOR)
}

fn to_regcollation(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    to_reg(exec, asked, Oid::REGCOLLATION)
}

/// The cast from text to regclass.
fn regclass(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    exec.env.reg_in(Oid::REGCLASS, asked.text(0)?).map(Datum::Oid)
}

/// Whether a relation is found without its schema.
fn pg_table_is_visible(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let oid = asked.oid(0)?;
    let env = exec.env;
    if env.catalog.get(oid).is_some() {
        return Ok(Datum::Bool(env.catalog.is_visible(oid, &env.path)));
    }
    let place = match system::find_by_oid(oid) {
        Some(table) => env.catalog.schema(table.schema),
        None => system::index_place(oid).map(|(schema, _)| schema),
    };
    Ok(match place {
        Some(schema) => Datum::Bool(env.path.all().any(|it| it == schema)),
        None => Datum::Null,
    })
}

fn pg_type_is_visible(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let oid = asked.oid(0)?;
    let env = exec.env;
    if builtin().types.contains_key(&oid) {
        return Ok(Datum::Bool(true));
    }
    // The type of arrays is seen where the type of their elements is.
    let element = env.catalog.element_of(oid).unwrap_or(oid);
    let object = env.catalog.relation_of_row_type(element).unwrap_or(element);
    Ok(match env.catalog.get(object) {
        Some(_) => Datum::Bool(env.catalog.is_visible(object, &env.path)),
        None => Datum::Null,
    })
}

fn pg_function_is_visible(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let found = builtin().proc(asked.oid(0)?.0);
    Ok(found.map_or(Datum::Null, |_| Datum::Bool(true)))
}

fn pg_operator_is_visible(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let found = builtin().operator(asked.oid(0)?.0);
    Ok(found.map_or(Datum::Null, |_| Datum::Bool(true)))
}

fn visible(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(true))
}

fn said(comment: Option<std::sync::Arc<str>>) -> Result<Datum> {
    Ok(comment.map_or(Datum::Null, Datum::Text))
}

/// The table of the catalog of a name.
fn class_named(name: &str) -> Option<Oid> {
    system::find(schema::PG_CATALOG, name).map(|table| table.oid)
}

fn obj_description(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let class = match asked.args.get(1) {
        Some(Datum::Text(name)) => match class_named(name) {
            Some(class) => Some(class),
            None => return Ok(Datum::Null),
        },
        _ => None,
    };
    said(virtual_tables::comment(exec.env, asked.oid(0)?, class, 0))
}

fn col_description(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let column = asked.number(1)? as i32;
    said(virtual_tables::comment(exec.env, asked.oid(0)?, class_named("pg_class"), column))
}

fn shobj_description(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(class) = class_named(asked.text(1)?) else { return Ok(Datum::Null) };
    let object = asked.oid(0)?;
    let own = exec.env.catalog.comments.get(&(object, class.0)).cloned();
    said(own.or_else(|| virtual_tables::shared_comment(object, class)))
}

/// Rows are not on a disk: about what they would take there.
fn relation_size(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let oid = asked.oid(0)?;
    let is_there = exec.env.catalog.relation_by_oid(oid).is_some()
        || system::find_by_oid(oid).is_some()
        || system::index_place(oid).is_some();
    Ok(if is_there { Datum::Int8(0) } else { Datum::Null })
}

fn no_size(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Int8(0))
}

fn database_size(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    if let Some(Datum::Text(name)) = asked.args.first() {
        exec.env.cluster.database(name)?;
    }
    Ok(Datum::Int8(0))
}

fn pg_relation_filenode(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let oid = asked.oid(0)?;
    Ok(match exec.env.catalog.get(oid) {
        Some(Object::Table(_) | Object::Index(_) | Object::Sequence(_)) => Datum::Oid(oid.0),
        _ => Datum::Null,
    })
}

fn null(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

fn empty(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::text(""))
}

fn pg_relation_is_publishable(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(exec.env.catalog.table(asked.oid(0)?).is_some()))
}

/// The bits of INSERT, UPDATE and DELETE.
fn pg_relation_is_updatable(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let is_table = exec.env.catalog.table(asked.oid(0)?).is_some();
    Ok(Datum::Int4(if is_table { 4 | 8 | 16 } else { 0 }))
}

fn pg_column_is_updatable(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(exec.env.catalog.table(asked.oid(0)?).is_some()))
}

/// What can be done with a column of an index.
fn pg_index_column_has_property(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(index) = exec.env.catalog.index(asked.oid(0)?) else { return Ok(Datum::Null) };
    let place = usize::try_from(asked.number(1)?).unwrap_or(0);
    let Some(key) = place.checked_sub(1).and_then(|place| index.keys.get(place)) else {
        return Ok(Datum::Null);
    };
    let is_ordered = &*index.method == "btree";
    Ok(Datum::Bool(match asked.text(2)?.to_lowercase().as_str() {
        "asc" => is_ordered && !key.descending,
        "desc" => is_ordered && key.descending,
        "nulls_first" => is_ordered && key.nulls_first,
        "nulls_last" => is_ordered && !key.nulls_first,
        "orderable" | "returnable" | "search_array" | "search_nulls" => is_ordered,
        "distance_orderable" => false,
        _ => return Ok(Datum::Null),
    }))
}

fn pg_index_has_property(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    if exec.env.catalog.index(asked.oid(0)?).is_none() {
        return Ok(Datum::Null);
    }
    Ok(match asked.text(1)?.to_lowercase().as_str() {
        "clusterable" | "index_scan" | "bitmap_scan" | "backward_scan" => Datum::Bool(true),
        _ => Datum::Null,
    })
}

fn pg_indexam_has_property(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let is_btree = asked.oid(0)? == Oid(403);
    Ok(match asked.text(1)?.to_lowercase().as_str() {
        "can_order" | "can_unique" => Datum::Bool(is_btree),
        "can_multi_col" | "can_include" => Datum::Bool(is_btree),
        "can_exclude" => Datum::Bool(true),
        _ => Datum::Null,
    })
}

/// The names of the types of a vector.
fn oidvectortypes(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(Datum::Array(array)) = asked.args.first() else {
        return Err(SqlError::new(code::INTERNAL_ERROR, "a vector of types"));
    };
    let name = |value: &Datum| match value {
        Datum::Oid(ty) => exec.env.type_name(Oid(*ty), -1),
        _ => String::new(),
    };
    let names: Vec<String> = array.elements.iter().map(name).collect();
    Ok(Datum::text(names.join(", ")))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("to_regclass", to_regclass),
    ("to_regtype", to_regtype),
    ("to_regnamespace", to_regnamespace),
    ("to_regrole", to_regrole),
    ("to_regproc", to_regproc),
    ("to_regprocedure", to_regprocedure),
    ("to_regoper", to_regoper),
    ("to_regoperator", to_regoperator),
    ("to_regcollation", to_regcollation),
    ("regclass", regclass),
    ("pg_table_is_visible", pg_table_is_visible),
    ("pg_type_is_visible", pg_type_is_visible),
    ("pg_function_is_visible", pg_function_is_visible),
    ("pg_operator_is_visible", pg_operator_is_visible),
    ("pg_opclass_is_visible", visible),
    ("pg_opfamily_is_visible", visible),
    ("pg_collation_is_visible", visible),
    ("pg_conversion_is_visible", visible),
    ("pg_ts_config_is_visible", visible),
    ("pg_ts_dict_is_visible", visible),
    ("pg_ts_parser_is_visible", visible),
    ("pg_ts_template_is_visible", visible),
    ("pg_statistics_obj_is_visible", visible),
    ("obj_description", obj_description),
    ("col_description", col_description),
    ("shobj_description", shobj_description),
    ("pg_relation_size", relation_size),
    ("pg_table_size", relation_size),
    ("pg_indexes_size", relation_size),
    ("pg_total_relation_size", relation_size),
    ("pg_database_size", database_size),
    ("pg_tablespace_size", no_size),
    ("pg_tablespace_location", empty),
    ("pg_relation_filenode", pg_relation_filenode),
    ("pg_relation_filepath", null),
    ("pg_filenode_relation", null),
    ("pg_partition_root", null),
    ("pg_relation_is_publishable", pg_relation_is_publishable),
    ("pg_relation_is_updatable", pg_relation_is_updatable),
    ("pg_column_is_updatable", pg_column_is_updatable),
    ("pg_index_column_has_property", pg_index_column_has_property),
    ("pg_index_has_property", pg_index_has_property),
    ("pg_indexam_has_property", pg_indexam_has_property),
    ("oidvectortypes", oidvectortypes),
];
