//! Privileges: the one user has all of them, of objects that there are.

use super::{Asked, Exec, Function};
use crate::env::reg_names;
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid};

/// A table, sequence or column: named ones have to exist.
fn relation_privilege(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    // The user may come first; the object comes before the privilege and the column.
    let count = asked.args.len();
    let after = if asked.proc.name == "has_column_privilege" { 2 } else { 1 };
    let place = count.saturating_sub(after + 1);
    if let (Some(Datum::Text(name)), Some(&ty)) = (asked.args.get(place), asked.types.get(place))
        && ty == Oid::TEXT
    {
        reg_names::relation_named(exec.env, name)?;
    }
    Ok(Datum::Bool(true))
}

fn schema_privilege(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let place = asked.args.len().saturating_sub(2);
    if let Some(Datum::Text(name)) = asked.args.get(place) {
        exec.env.catalog.need_schema(name)?;
    }
    Ok(Datum::Bool(true))
}

fn database_privilege(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let place = asked.args.len().saturating_sub(2);
    if let Some(Datum::Text(name)) = asked.args.get(place) {
        exec.env.cluster.database(name)?;
    }
    Ok(Datum::Bool(true))
}

fn any(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(true))
}

fn role(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let place = asked.args.len().saturating_sub(2);
    match asked.args.get(place) {
        Some(Datum::Text(name)) if !is_role(exec, name) => {
            Err(SqlError::new(code::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
        }
        _ => Ok(Datum::Bool(true)),
    }
}

fn is_role(exec: &Exec<'_>, name: &str) -> bool {
    reg_names::role_named(exec.env, name).is_some()
}

fn no_rows_hidden(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Bool(false))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("has_table_privilege", relation_privilege),
    ("has_sequence_privilege", relation_privilege),
    ("has_column_privilege", relation_privilege),
    ("has_any_column_privilege", relation_privilege),
    ("has_schema_privilege", schema_privilege),
    ("has_database_privilege", database_privilege),
    ("has_function_privilege", any),
    ("has_language_privilege", any),
    ("has_type_privilege", any),
    ("has_tablespace_privilege", any),
    ("has_server_privilege", any),
    ("has_foreign_data_wrapper_privilege", any),
    ("has_parameter_privilege", any),
    ("pg_has_role", role),
    ("row_security_active", no_rows_hidden),
];
