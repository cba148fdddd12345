//! Names of types: as people write them, and as PostgreSQL shows them.

use super::builtin::builtin;
use super::names::{Catalog, SearchPath, schema};
use crate::functions::quote_ident;
use crate::types::{Oid, TypeKind};

/// The names that SQL has for types whose own name is another one.
pub fn alias(name: &str) -> Option<Oid> {
    Some(match name {
        "int" | "integer" => Oid::INT4,
        "smallint" => Oid::INT2,
        "bigint" => Oid::INT8,
        "real" => Oid::FLOAT4,
        "float" | "double precision" => Oid::FLOAT8,
        "decimal" | "dec" => Oid::NUMERIC,
        "boolean" => Oid::BOOL,
        "character varying" | "char varying" => Oid::VARCHAR,
        "character" | "char" | "nchar" => Oid::BPCHAR,
        "timestamp without time zone" => Oid::TIMESTAMP,
        "timestamp with time zone" => Oid::TIMESTAMPTZ,
        "time without time zone" => Oid::TIME,
        "time with time zone" => Oid::TIMETZ,
        "bit varying" => Oid::VARBIT,
        _ => return None,
    })
}

/// The name that SQL has for a type, if its own name is another one.
fn sql_name(ty: Oid) -> Option<&'static str> {
    Some(match ty {
        Oid::INT4 => "integer",
        Oid::INT2 => "smallint",
        Oid::INT8 => "bigint",
        Oid::FLOAT4 => "real",
        Oid::FLOAT8 => "double precision",
        Oid::BOOL => "boolean",
        Oid::VARCHAR => "character varying",
        Oid::BPCHAR => "character",
        Oid::TIMESTAMP => "timestamp without time zone",
        Oid::TIMESTAMPTZ => "timestamp with time zone",
        Oid::TIME => "time without time zone",
        Oid::TIMETZ => "time with time zone",
        Oid::VARBIT => "bit varying",
        Oid::CHAR => "\"char\"",
        Oid::NUMERIC => "numeric",
        Oid::INTERVAL => "interval",
        Oid::BIT => "bit",
        _ => return None,
    })
}

/// The name of a type as `format_type` writes it.
pub fn format_type(catalog: &Catalog, path: &SearchPath, ty: Oid, typmod: i32) -> String {
    if ty == Oid::NONE {
        return "-".to_owned();
    }
    if ty != Oid::INT2VECTOR
        && ty != Oid::OIDVECTOR
        && let Some(TypeKind::Array(element)) = catalog.kind(ty)
    {
        return format!("{}[]", format_type(catalog, path, element, typmod));
    }
    let name = match sql_name(ty) {
        // Without a modifier bpchar has no length at all, unlike character.
        Some("character") if typmod < 0 => "bpchar".to_owned(),
        Some("bit") if typmod < 0 => "\"bit\"".to_owned(),
        Some(name) => name.to_owned(),
        None => own_name(catalog, path, ty),
    };
    with_typmod(&name, ty, typmod)
}

/// The name of a type where no modifier is meant, as messages and regtype have it.
pub fn plain_name(catalog: &Catalog, path: &SearchPath, ty: Oid) -> String {
    let element = catalog.element_of(ty).filter(|_| ty != Oid::INT2VECTOR && ty != Oid::OIDVECTOR);
    match (ty, element) {
        (Oid::BPCHAR, _) => "character".to_owned(),
        (Oid::BIT, _) => "bit".to_owned(),
        (_, Some(element)) => format!("{}[]", plain_name(catalog, path, element)),
        (ty, None) => format_type(catalog, path, ty, -1),
    }
}

fn own_name(catalog: &Catalog, path: &SearchPath, ty: Oid) -> String {
    if let Some(found) = builtin().types.get(&ty) {
        return quote_ident(found.name);
    }
    let place = match catalog.relation_of_row_type(ty) {
        Some(relation) => catalog.get(relation),
        None => catalog.get(ty),
    };
    let Some((schema, name)) = place.and_then(super::Object::place) else {
        return "???".to_owned();
    };
    if catalog.find_type(None, name, path) == Some(ty) {
        return quote_ident(name);
    }
    format!("{}.{}", quote_ident(&catalog.schema_name(schema)), quote_ident(name))
}

fn with_typmod(name: &str, ty: Oid, typmod: i32) -> String {
    if typmod < 0 {
        return name.to_owned();
    }
    match ty {
        Oid::VARCHAR | Oid::BPCHAR => format!("{name}({})", typmod - 4),
        Oid::BIT | Oid::VARBIT => format!("{name}({typmod})"),
        Oid::NUMERIC => {
            let (precision, scale) = ((typmod - 4) >> 16, (typmod - 4) & 0x7ff);
            format!("{name}({precision},{})", (scale ^ 1024) - 1024)
        }
        Oid::TIMESTAMP | Oid::TIMESTAMPTZ | Oid::TIME | Oid::TIMETZ => {
            let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
            format!("{first}({typmod}) {rest}")
        }
        Oid::INTERVAL => format!("{name}{}", interval_typmod(typmod)),
        _ => name.to_owned(),
    }
}

/// The fields of an interval and its precision.
fn interval_typmod(typmod: i32) -> String {
    let (fields, precision) = ((typmod >> 16) & 0x7fff, typmod & 0xffff);
    let bit = |number: i32| 1 << number;
    let (year, month, day, hour, minute, second) =
        (bit(2), bit(1), bit(3), bit(10), bit(11), bit(12));
    let words = [
        (year, " year"),
        (month, " month"),
        (day, " day"),
        (hour, " hour"),
        (minute, " minute"),
        (second, " second"),
        (year | month, " year to month"),
        (day | hour, " day to hour"),
        (day | hour | minute, " day to minute"),
        (day | hour | minute | second, " day to second"),
        (hour | minute, " hour to minute"),
        (hour | minute | second, " hour to second"),
        (minute | second, " minute to second"),
    ];
    let text = words.iter().find(|(mask, _)| *mask == fields).map_or("", |(_, word)| word);
    if precision == 0xffff { text.to_owned() } else { format!("{text}({precision})") }
}

/// A relation's name with its schema where it is not found without.
pub fn relation_name(catalog: &Catalog, path: &SearchPath, oid: Oid) -> Option<String> {
    let (owner, name) = catalog.get(oid)?.place()?;
    if catalog.is_visible(oid, path) || owner == schema::PG_CATALOG {
        return Some(quote_ident(name));
    }
    Some(format!("{}.{}", quote_ident(&catalog.schema_name(owner)), quote_ident(name)))
}
