//! Definitions of objects as SQL.

use super::{Asked, Exec, Function};
use crate::catalog::builtin::{Proc, builtin};
use crate::catalog::system::Tree;
use crate::catalog::{Object, type_names};
use crate::deparse::{self, Layout};
use crate::env::Env;
use crate::env::reg_names;
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, TypeLookup};

fn some(text: Option<String>) -> Result<Datum> {
    Ok(text.map_or(Datum::Null, Datum::text))
}

fn layout(asked: &Asked<'_>, place: usize) -> Layout {
    if asked.flag(place) { Layout::Pretty } else { Layout::Plain }
}

fn format_type(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(Datum::Oid(ty)) = asked.args.first() else { return Ok(Datum::Null) };
    let typmod = match asked.args.get(1) {
        Some(Datum::Int4(typmod)) => Some(*typmod),
        _ => None,
    };
    let env = exec.env;
    let (catalog, path) = (&env.catalog, &env.path);
    let text = match typmod {
        None => type_names::plain_name(catalog, path, Oid(*ty)),
        Some(typmod) => type_names::format_type(catalog, path, Oid(*ty), typmod),
    };
    Ok(Datum::text(text))
}

fn pg_get_expr(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let text = asked.text(0)?;
    match Tree::parse(text) {
        Some(tree) => some(deparse::tree(exec.env, tree, layout(asked, 2))),
        None => Ok(Datum::text(text)),
    }
}

fn pg_get_constraintdef(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    some(deparse::constraint(exec.env, asked.oid(0)?, layout(asked, 1)))
}

fn pg_get_indexdef(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(index) = exec.env.catalog.index(asked.oid(0)?).cloned() else {
        return Ok(Datum::Null);
    };
    if asked.args.len() < 3 {
        return some(Some(deparse::index(exec.env, &index, Layout::Plain)));
    }
    let layout = layout(asked, 2);
    some(Some(match asked.number(1)? {
        0 => deparse::index(exec.env, &index, layout),
        number => {
            let number = usize::try_from(number).unwrap_or(0);
            deparse::index_column(exec.env, &index, number, layout)
        }
    }))
}

/// Parentheses are left out where a flag or a width of lines is given.
fn view_layout(asked: &Asked<'_>) -> Layout {
    match asked.args.get(1) {
        Some(Datum::Bool(true) | Datum::Int4(_)) => Layout::Pretty,
        _ => Layout::Plain,
    }
}

fn pg_get_viewdef(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let oid = match asked.args.first() {
        Some(Datum::Text(name)) => reg_names::relation_named(exec.env, name)?,
        _ => asked.oid(0)?,
    };
    some(match exec.env.catalog.get(oid) {
        Some(object) => deparse::view(exec.env, object, view_layout(asked)),
        None => None,
    })
}

fn pg_get_userbyid(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let role = asked.oid(0)?;
    Ok(match reg_names::role_name(exec.env, role) {
        Some(name) => Datum::Text(name),
        None => Datum::text(format!("unknown (OID={role})")),
    })
}

fn proc_of(asked: &Asked<'_>) -> Result<Option<&'static Proc>> {
    Ok(builtin().proc(asked.oid(0)?.0))
}

/// The arguments of a function: mode, name and type.
fn arguments(env: &Env, proc: &Proc, modes: &[u8], with_defaults: bool) -> String {
    let all = if proc.all_args.is_empty() { &proc.args } else { &proc.all_args };
    let mut texts = Vec::new();
    let first_default = proc.args.len() - proc.defaults;
    let defaults: Vec<&str> = proc.default_text.split(", ").collect();
    let mut inputs = 0;
    for (place, &ty) in all.iter().enumerate() {
        let mode = proc.modes.get(place).copied().unwrap_or(b'i');
        let is_input = matches!(mode, b'i' | b'b' | b'v');
        let input = inputs;
        inputs += usize::from(is_input);
        if !modes.contains(&mode) {
            continue;
        }
        let mut text = match mode {
            b'o' => "OUT ",
            b'b' => "INOUT ",
            b'v' => "VARIADIC ",
            _ => "",
        }
        .to_owned();
        if let Some(name) = proc.names.get(place).filter(|name| !name.is_empty()) {
            text.push_str(&crate::functions::quote_ident(name));
            text.push(' ');
        }
        text.push_str(&env.type_name(ty, -1));
        if with_defaults && is_input && proc.defaults > 0 && input >= first_default {
            let default = defaults.get(input - first_default).copied().unwrap_or("");
            text.push_str(&format!(" DEFAULT {default}"));
        }
        texts.push(text);
    }
    texts.join(", ")
}

fn pg_get_function_arguments(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    some(proc_of(asked)?.map(|proc| arguments(exec.env, proc, b"iobv", true)))
}

fn pg_get_function_identity_arguments(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    some(proc_of(asked)?.map(|proc| arguments(exec.env, proc, b"ibv", false)))
}

fn pg_get_function_result(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let Some(proc) = proc_of(asked)? else { return Ok(Datum::Null) };
    if proc.modes.contains(&b't') {
        return some(Some(format!("TABLE({})", arguments(exec.env, proc, b"t", false))));
    }
    let set = if proc.returns_set { "SETOF " } else { "" };
    some(Some(format!("{set}{}", exec.env.type_name(proc.result, -1))))
}

fn pg_get_functiondef(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    match proc_of(asked)? {
        Some(_) => Err(SqlError::unsupported("the definition of a built-in function")),
        None => Ok(Datum::Null),
    }
}

fn null(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

fn pg_describe_object(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let (class, object) = (asked.oid(0)?, asked.oid(1)?);
    let env = exec.env;
    let kind = match env.catalog.get(object) {
        Some(Object::Table(table)) => table.kind(),
        Some(Object::View(_)) => "view",
        Some(Object::Index(_)) => "index",
        Some(Object::Sequence(_)) => "sequence",
        Some(Object::Type(_)) => "type",
        Some(Object::Schema(_)) => "schema",
        Some(Object::Collation(it)) => return Ok(Datum::text(format!("collation {}", it.name))),
        Some(Object::Extension(it)) => {
            return Ok(Datum::text(format!("extension {}", it.known.name)));
        }
        None => {
            return Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("unrecognized object {} of class {}", object.0, class.0),
            ));
        }
    };
    let name = match kind {
        "schema" => env.reg_out(Oid::REGNAMESPACE, object.0),
        "type" => env.type_name(object, -1),
        _ => env.reg_out(Oid::REGCLASS, object.0),
    };
    let column = asked.number(2)?;
    let table = env.catalog.table(object).filter(|_| column > 0);
    Ok(Datum::text(match table {
        Some(table) => {
            let place = usize::try_from(column).unwrap_or(0) - 1;
            let column = table.columns.get(place).map_or("", |column| &column.name);
            format!("column {} of {kind} {name}", crate::functions::quote_ident(column))
        }
        None => format!("{kind} {name}"),
    }))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("format_type", format_type),
    ("pg_get_expr", pg_get_expr),
    ("pg_get_constraintdef", pg_get_constraintdef),
    ("pg_get_indexdef", pg_get_indexdef),
    ("pg_get_viewdef", pg_get_viewdef),
    ("pg_get_userbyid", pg_get_userbyid),
    ("pg_get_function_arguments", pg_get_function_arguments),
    ("pg_get_function_identity_arguments", pg_get_function_identity_arguments),
    ("pg_get_function_result", pg_get_function_result),
    ("pg_get_function_arg_default", null),
    ("pg_get_function_sqlbody", null),
    ("pg_get_functiondef", pg_get_functiondef),
    ("pg_get_triggerdef", null),
    ("pg_get_ruledef", null),
    ("pg_get_partkeydef", null),
    ("pg_get_partition_constraintdef", null),
    ("pg_get_statisticsobjdef", null),
    ("pg_get_statisticsobjdef_columns", null),
    ("pg_get_statisticsobjdef_expressions", null),
    ("pg_describe_object", pg_describe_object),
    ("acldefault", null),
];
