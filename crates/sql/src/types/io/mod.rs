//! Values as text: PostgreSQL's input and output functions of every type.
//!
//! [`input`] and [`output`] look at the type only; the representation follows from it. Types that
//! exist in PostgreSQL and not here are refused with 0A000.

mod array;
mod record;
pub(crate) mod scalars;
mod shortest;
pub(crate) mod special;
#[cfg(test)]
mod tests;
mod typmod;

use super::datetime::{self, output as times};
use super::json::{self, Escapes, Json};
use super::{Datum, EnumValue, Inet, Oid, TypeKind, numeric::Numeric};
use crate::error::{Result, SqlError, code};
use crate::types::Call;
use std::sync::Arc;

pub use array::{delimiter, read_array, write_array};
pub use record::{read_record, write_record};
pub use scalars::{float4_text, float8_text};
pub use typmod::{Modifier, apply_typmod, typmod_in, typmod_out};

/// Whether values of the type are read and written by the catalog: regclass and its like.
pub fn is_reg(ty: Oid) -> bool {
    matches!(
        ty,
        Oid::REGPROC
            | Oid::REGPROCEDURE
            | Oid::REGOPER
            | Oid::REGOPERATOR
            | Oid::REGCLASS
            | Oid::REGTYPE
            | Oid::REGCONFIG
            | Oid::REGDICTIONARY
            | Oid::REGNAMESPACE
            | Oid::REGROLE
            | Oid::REGCOLLATION
    )
}

/// Whether values of the type are text without a structure of their own.
pub fn is_plain_text(ty: Oid) -> bool {
    let node_tree = Oid(194);
    matches!(ty, Oid::TEXT | Oid::VARCHAR | Oid::BPCHAR | Oid::NAME | Oid::UNKNOWN | Oid::CSTRING)
        || matches!(ty, Oid::REFCURSOR | Oid::XML)
        || ty == node_tree
}

/// The error of text that is no value of a type.
pub fn invalid_syntax(ty: &str, text: &str) -> SqlError {
    let message = format!("invalid input syntax for type {ty}: \"{text}\"");
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
}

/// Reads a value from text. The modifier is applied as an assignment would do.
pub fn input(text: &str, ty: Oid, typmod: i32, call: &Call<'_>) -> Result<Datum> {
    if let Some(value) = scalars::input(text, ty)? {
        return Ok(value);
    }
    if let Some(value) = input_datetime(text, ty, typmod, call)? {
        return Ok(value);
    }
    let value = match ty {
        _ if is_plain_text(ty) => {
            return scalars::text_input(text, ty, typmod);
        }
        Oid::NUMERIC => Datum::Numeric(Arc::new(Numeric::parse(text)?)),
        Oid::JSON => {
            json::parse(text, Escapes::Keep)?;
            return Ok(Datum::Json(text.into()));
        }
        Oid::JSONB => return Ok(Datum::Jsonb(Arc::new(Json::parse(text)?))),
        Oid::JSONPATH => return special::jsonpath(text),
        Oid::INET => return Ok(Datum::Inet(Arc::new(Inet::parse(text, false)?))),
        Oid::CIDR => return Ok(Datum::Inet(Arc::new(Inet::parse(text, true)?))),
        Oid::BIT | Oid::VARBIT => Datum::Bits(scalars::parse_bits(text, ty)?),
        Oid::INT2VECTOR | Oid::OIDVECTOR => return array::read_vector(text, ty),
        Oid::VOID => return Ok(Datum::text("")),
        _ if is_reg(ty) => return call.types.reg_in(ty, text).map(Datum::Oid),
        _ => return input_by_kind(text, ty, typmod, call),
    };
    apply_typmod(value, ty, typmod, false, call)
}

fn input_datetime(text: &str, ty: Oid, typmod: i32, call: &Call<'_>) -> Result<Option<Datum>> {
    let style = call.style;
    Ok(Some(match ty {
        Oid::DATE => Datum::Date(datetime::parse_date(text, style)?),
        Oid::TIME => Datum::Time(datetime::parse_time(text, typmod, style)?),
        Oid::TIMETZ => {
            let (micros, west) = datetime::parse_timetz(text, typmod, style)?;
            Datum::TimeTz(micros, west)
        }
        Oid::TIMESTAMP => Datum::Timestamp(datetime::parse_timestamp(text, typmod, style)?),
        Oid::TIMESTAMPTZ => Datum::Timestamp(datetime::parse_timestamptz(text, typmod, style)?),
        Oid::INTERVAL => Datum::Interval(datetime::parse_interval(text, typmod, style)?),
        _ => return Ok(None),
    }))
}

/// Types that are made of others, and those that have no text.
fn input_by_kind(text: &str, ty: Oid, typmod: i32, call: &Call<'_>) -> Result<Datum> {
    match call.types.kind(ty) {
        Some(TypeKind::Array(element)) => array::read_array(text, element, typmod, call),
        Some(TypeKind::Enum(labels)) => {
            let found = labels.iter().find(|value| *value.label == *text);
            found.cloned().map(Datum::Enum).ok_or_else(|| {
                let name = call.types.type_name(ty, -1);
                let message = format!("invalid input value for enum {name}: \"{text}\"");
                SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
            })
        }
        Some(TypeKind::Domain { base, typmod }) => {
            let value = input(text, base, typmod, call)?;
            call.types.check_domain(ty, &value)?;
            Ok(value)
        }
        Some(TypeKind::Composite(fields)) => record::read_record(text, &fields, call),
        Some(TypeKind::Pseudo) if ty == Oid::RECORD => Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            "input of anonymous composite types is not implemented",
        )),
        Some(TypeKind::Pseudo) => {
            let name = call.types.type_name(ty, -1);
            let message = format!("cannot accept a value of type {name}");
            Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message))
        }
        _ => special::input(text, ty).unwrap_or_else(|| {
            Err(SqlError::unsupported(format!("type {}", call.types.type_name(ty, -1))))
        }),
    }
}

/// Writes a value that is not null as text.
pub fn output(value: &Datum, ty: Oid, call: &Call<'_>) -> String {
    match value {
        Datum::Null => String::new(),
        Datum::Bool(value) => if *value { "t" } else { "f" }.into(),
        Datum::Int2(value) => value.to_string(),
        Datum::Int4(value) => value.to_string(),
        Datum::Int8(value) => special::wide_text(*value, ty),
        Datum::Oid(value) if is_reg(ty) => call.types.reg_out(ty, *value),
        Datum::Oid(value) => value.to_string(),
        Datum::Float4(value) => float4_text(*value, call.style.extra_float_digits),
        Datum::Float8(value) => float8_text(*value, call.style.extra_float_digits),
        Datum::Numeric(value) => value.to_string(),
        Datum::Text(text) | Datum::Json(text) | Datum::Bits(text) => text.to_string(),
        Datum::Bytea(bytes) => special::bytes_text(bytes, ty, call.style.bytea_escape),
        Datum::Date(days) => times::date(*days, call.style),
        Datum::Time(micros) => times::time(*micros),
        Datum::TimeTz(micros, west) => times::timetz(*micros, *west),
        Datum::Timestamp(micros) if is_timestamptz(ty, call) => {
            times::timestamptz(*micros, call.style)
        }
        Datum::Timestamp(micros) => times::timestamp(*micros, call.style),
        Datum::Interval(interval) => times::interval(*interval, call.style.interval_style),
        Datum::Uuid(bytes) => scalars::uuid_text(bytes),
        Datum::Jsonb(json) => json.to_string(),
        Datum::Array(array) if ty == Oid::INT2VECTOR || ty == Oid::OIDVECTOR => {
            array::write_vector(array, call)
        }
        Datum::Array(array) => array::write_array(array, call),
        Datum::Record(record) => record::write_record(record, call),
        Datum::Enum(value) => enum_label(value, ty, call).to_string(),
        Datum::Inet(inet) if base_type(ty, call) == Oid::CIDR => inet.to_cidr_text(),
        Datum::Inet(inet) => inet.to_inet_text(),
    }
}

/// The label of a value: what its type calls it now, since labels can be renamed.
pub fn enum_label(value: &EnumValue, ty: Oid, call: &Call<'_>) -> Arc<str> {
    let Some(TypeKind::Enum(labels)) = call.types.kind(base_type(ty, call)) else {
        return Arc::clone(&value.label);
    };
    let found = labels.iter().find(|it| it.order.total_cmp(&value.order).is_eq());
    found.map_or_else(|| Arc::clone(&value.label), |it| Arc::clone(&it.label))
}

/// The type that a domain stands for in the end, or the type itself.
pub fn base_type(ty: Oid, call: &Call<'_>) -> Oid {
    let mut ty = ty;
    while ty >= Oid::FIRST_USER
        && let Some(TypeKind::Domain { base, .. }) = call.types.kind(ty)
    {
        ty = base;
    }
    ty
}

fn is_timestamptz(ty: Oid, call: &Call<'_>) -> bool {
    ty == Oid::TIMESTAMPTZ || base_type(ty, call) == Oid::TIMESTAMPTZ
}
