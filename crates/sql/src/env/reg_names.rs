//! Object identifier types: regclass, regtype and the like, by name.

use super::Env;
use crate::catalog::builtin::{Proc, builtin};
use crate::catalog::type_names::{plain_name, relation_name};
use crate::catalog::{Object, schema, system};
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use crate::types::{Oid, TypeLookup};
use std::sync::Arc;

/// Reads a value of such a type.
pub fn reg_in(env: &Env, ty: Oid, text: &str) -> Result<u32> {
    let text = text.trim();
    if text == "-" && ty != Oid::REGOPER {
        return Ok(0);
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().map_err(|_| {
            SqlError::new(
                code::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("value \"{text}\" is out of range for type oid"),
            )
        });
    }
    match ty {
        Oid::REGCLASS => relation_named(env, text).map(|oid| oid.0),
        Oid::REGTYPE => regtype(env, text),
        Oid::REGNAMESPACE => env.catalog.need_schema(&one_name(text)?).map(|oid| oid.0),
        Oid::REGROLE => {
            let name = one_name(text)?;
            role_named(env, &name).ok_or_else(|| missing("role", &name))
        }
        Oid::REGPROC => regproc(text),
        Oid::REGPROCEDURE => regprocedure(env, text),
        Oid::REGOPER => regoper(text),
        Oid::REGOPERATOR => regoperator(env, text),
        Oid::REGCOLLATION => {
            let mut parts = parts(text)?;
            let name = parts.pop().unwrap_or_default();
            let schema = parts.pop();
            let found = env.catalog.need_collation(schema.as_deref(), &name, &env.path);
            found.map(|oid| oid.0)
        }
        _ => Err(SqlError::unsupported(format!("a value of {}", env.type_name(ty, -1)))),
    }
}

fn missing(what: &str, name: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_OBJECT, format!("{what} \"{name}\" does not exist"))
}

/// Reads a value of such a type; none if there is no such object.
pub fn find(env: &Env, ty: Oid, text: &str) -> Result<Option<u32>> {
    // Numbers are names of nothing here.
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(None);
    }
    match reg_in(env, ty, text) {
        Ok(oid) => Ok(Some(oid)),
        Err(error) => match error.code() {
            code::UNDEFINED_TABLE
            | code::UNDEFINED_OBJECT
            | code::UNDEFINED_FUNCTION
            | code::INVALID_SCHEMA_NAME
            | code::AMBIGUOUS_FUNCTION => Ok(None),
            _ => Err(error),
        },
    }
}

fn invalid() -> SqlError {
    SqlError::new(code::INVALID_NAME, "invalid name syntax")
}

/// The parts of a name with dots; words that SQL has a meaning for are names here, too.
pub fn parts(text: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    loop {
        let (name, behind) = first_name(rest)?;
        names.push(name);
        rest = behind.trim_start();
        match rest.strip_prefix('.') {
            Some(behind) => rest = behind.trim_start(),
            None if rest.is_empty() => return Ok(names),
            None => return Err(invalid()),
        }
    }
}

fn first_name(text: &str) -> Result<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c == '.' || c.is_whitespace()).unwrap_or(text.len());
        let name = &text[..end];
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_' || !c.is_ascii())
            || name.starts_with(|c: char| c.is_ascii_digit());
        if !is_name || name.contains('"') {
            return Err(invalid());
        }
        return Ok((name.to_lowercase(), &text[end..]));
    };
    let mut name = String::new();
    let mut rest = quoted;
    loop {
        let end = rest.find('"').ok_or_else(invalid)?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(behind) => {
                name.push('"');
                rest = behind;
            }
            None if name.is_empty() => return Err(invalid()),
            None => return Ok((name, rest)),
        }
    }
}

fn one_name(text: &str) -> Result<String> {
    let mut names = parts(text)?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        _ => Err(invalid()),
    }
}

/// A relation by its name, with or without its schema.
pub fn relation_named(env: &Env, text: &str) -> Result<Oid> {
    let mut names = parts(text)?;
    let name = names.pop().unwrap_or_default();
    relation_of(env, names.pop().as_deref(), &name)
}

/// The same by the parts of its name.
pub fn relation_of(env: &Env, schema: Option<&str>, name: &str) -> Result<Oid> {
    let absent = || {
        let shown: Vec<&str> = schema.into_iter().chain([name]).collect();
        let message = format!("relation \"{}\" does not exist", shown.join("."));
        SqlError::new(code::UNDEFINED_TABLE, message)
    };
    let in_schema = match schema {
        Some("pg_temp") => Some(env.path.temporary.ok_or_else(absent)?),
        Some(name) => Some(env.catalog.schema(name).ok_or_else(absent)?),
        None => None,
    };
    if let Some(found) = env.catalog.find_relation(in_schema, name, &env.path) {
        return Ok(found);
    }
    let system = match in_schema {
        Some(schema) => system::find(schema, name),
        None => env.path.all().find_map(|schema| system::find(schema, name)),
    };
    system.map(|table| table.oid).ok_or_else(absent)
}

fn regtype(env: &Env, text: &str) -> Result<u32> {
    if text == "\"char\"" {
        return Ok(Oid::CHAR.0);
    }
    // A name of one or two parts is looked for as it is; anything else has a grammar.
    if let Ok(names) = parts(text)
        && (text.contains('"') || text.contains('.'))
    {
        let (in_schema, name) = match &names[..] {
            [name] => (None, name),
            [schema, name] => (Some(env.catalog.need_schema(schema)?), name),
            _ => return Err(missing("type", text)),
        };
        let found = env.catalog.find_type(in_schema, name, &env.path);
        return found.map(|oid| oid.0).ok_or_else(|| missing("type", text));
    }
    let ty = crate::parse::data_type(text)?;
    Ok(env.binder("").data_type(&ty)?.0.0)
}

/// A role by its name.
pub fn role_named(env: &Env, name: &str) -> Option<u32> {
    if *env.user == *name || name == "postgres" {
        return Some(10);
    }
    let made = env.cluster.roles.get(name).map(|role| role.oid.0);
    made.or_else(|| system::fixed_role(name))
}

/// The name of a role.
pub fn role_name(env: &Env, oid: Oid) -> Option<Arc<str>> {
    if oid == Oid(10) {
        return Some(Arc::clone(&env.user));
    }
    let made = env.cluster.roles.all();
    let made = made.iter().find(|(_, role)| role.oid == oid).map(|(name, _)| name.as_str().into());
    made.or_else(|| system::fixed_role_name(oid))
}

fn procs(text: &str) -> Result<Vec<&'static Proc>> {
    let mut names = parts(text)?;
    let name = names.pop().unwrap_or_default();
    Ok(match names.pop().as_deref() {
        None | Some("pg_catalog") => builtin().procs_named(&name).collect(),
        Some(_) => Vec::new(),
    })
}

fn no_function(text: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_FUNCTION, format!("function \"{text}\" does not exist"))
}

fn regproc(text: &str) -> Result<u32> {
    match &procs(text)?[..] {
        [] => Err(no_function(text)),
        [one] => Ok(one.oid),
        _ => Err(SqlError::new(
            code::AMBIGUOUS_FUNCTION,
            format!("more than one function named \"{text}\""),
        )),
    }
}

/// The types between parentheses.
fn argument_types(env: &Env, text: &str) -> Result<(String, Vec<Oid>)> {
    let malformed = |what: &str| {
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, format!("expected a {what} parenthesis"))
    };
    let (name, rest) = text.split_once('(').ok_or_else(|| malformed("left"))?;
    let list = rest.trim_end().strip_suffix(')').ok_or_else(|| malformed("right"))?;
    let mut types = Vec::new();
    for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        types.push(if part.eq_ignore_ascii_case("none") {
            Oid::NONE
        } else {
            Oid(regtype(env, part)?)
        });
    }
    Ok((name.trim().to_owned(), types))
}

fn regprocedure(env: &Env, text: &str) -> Result<u32> {
    let (name, types) = argument_types(env, text)?;
    let found = procs(&name)?.into_iter().find(|proc| proc.args == types);
    found.map(|proc| proc.oid).ok_or_else(|| no_function(text))
}

fn operator_name(text: &str) -> &str {
    text.strip_prefix("pg_catalog.").unwrap_or(text)
}

fn no_operator(text: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_FUNCTION, format!("operator does not exist: {text}"))
}

fn regoper(text: &str) -> Result<u32> {
    let mut found = builtin().operators_named(operator_name(text));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.oid),
        (None, _) => Err(no_operator(text)),
        _ => Err(SqlError::new(
            code::AMBIGUOUS_FUNCTION,
            format!("more than one operator named {text}"),
        )),
    }
}

fn regoperator(env: &Env, text: &str) -> Result<u32> {
    let (name, types) = argument_types(env, text)?;
    let mut all = builtin().operators_named(operator_name(&name));
    let found = all.find(|it| types[..] == [it.left, it.right]);
    found.map(|it| it.oid).ok_or_else(|| no_operator(text))
}

/// The name of a system relation, with its schema where it is not found without.
fn system_name(env: &Env, oid: Oid) -> Option<String> {
    let (in_schema, name) = match system::find_by_oid(oid) {
        Some(table) => (table.schema, table.name.into()),
        None => {
            let (of, name) = system::index_place(oid)?;
            (if of == schema::PG_CATALOG { "pg_catalog" } else { "information_schema" }, name)
        }
    };
    let visible = env.path.all().any(|it| {
        let name = env.catalog.schema_name(it);
        *name == *in_schema
    });
    Some(if visible { quote_ident(&name) } else { format!("{in_schema}.{}", quote_ident(&name)) })
}

fn proc_name(oid: u32) -> Option<String> {
    let proc = builtin().proc(oid)?;
    let is_only = builtin().procs_named(proc.name).nth(1).is_none();
    let name = quote_ident(proc.name);
    Some(if is_only { name } else { format!("pg_catalog.{name}") })
}

/// A function with the types of its arguments.
pub fn procedure_name(env: &Env, oid: u32) -> Option<String> {
    let proc = builtin().proc(oid)?;
    let types: Vec<String> = proc.args.iter().map(|&ty| env.type_name(ty, -1)).collect();
    Some(format!("{}({})", quote_ident(proc.name), types.join(",")))
}

fn operator_text(env: &Env, oid: u32, with_types: bool) -> Option<String> {
    let it = builtin().operator(oid)?;
    if with_types {
        let name = |ty: Oid| match ty {
            Oid::NONE => "NONE".to_owned(),
            ty => env.type_name(ty, -1),
        };
        return Some(format!("{}({},{})", it.name, name(it.left), name(it.right)));
    }
    let is_only = builtin().operators_named(it.name).nth(1).is_none();
    Some(if is_only { it.name.to_owned() } else { format!("pg_catalog.{}", it.name) })
}

/// Writes a value of such a type.
pub fn reg_out(env: &Env, ty: Oid, value: u32) -> String {
    if value == 0 {
        return if ty == Oid::REGOPER || ty == Oid::REGOPERATOR { "0" } else { "-" }.to_owned();
    }
    let name = match ty {
        Oid::REGCLASS => relation_name(&env.catalog, &env.path, Oid(value))
            .or_else(|| system_name(env, Oid(value))),
        Oid::REGTYPE => {
            let name = || plain_name(&env.catalog, &env.path, Oid(value));
            env.catalog.kind(Oid(value)).map(|_| name())
        }
        Oid::REGNAMESPACE => match env.catalog.get(Oid(value)) {
            Some(Object::Schema(it)) => Some(quote_ident(&it.name)),
            _ => None,
        },
        Oid::REGROLE => role_name(env, Oid(value)).map(|name| quote_ident(&name)),
        Oid::REGPROC => proc_name(value),
        Oid::REGPROCEDURE => procedure_name(env, value),
        Oid::REGOPER => operator_text(env, value, false),
        Oid::REGOPERATOR => operator_text(env, value, true),
        Oid::REGCOLLATION => env.catalog.collation_name(Oid(value)).map(|name| quote_ident(&name)),
        _ => None,
    };
    name.unwrap_or_else(|| value.to_string())
}
