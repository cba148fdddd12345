//! Casts from jsonb to numbers and booleans.

use super::values::invalid;
use crate::error::Result;
use crate::functions::Call;
use crate::functions::arguments::Entry;
use crate::functions::registry;
use crate::types::Datum;
use crate::types::json::Json;

fn wrong(json: &Json, ty: &str) -> crate::error::SqlError {
    let found = match json {
        Json::Number(_) => "numeric",
        other => other.type_name(),
    };
    invalid(format!("cannot cast jsonb {found} to type {ty}"))
}

/// The number, cast by one of numeric's own casts.
fn number(json: &Json, ty: &str, cast: &str, call: &Call<'_>) -> Result<Datum> {
    let Json::Number(number) = json else { return Err(wrong(json, ty)) };
    let number = Datum::Numeric(number.clone());
    match registry::function(0, cast) {
        Some(cast) => cast(call, &[number]),
        None => Ok(number),
    }
}

fn boolean(json: &Json) -> Result<bool> {
    match json {
        Json::Bool(value) => Ok(*value),
        other => Err(wrong(other, "boolean")),
    }
}

pub(super) const TABLE: &[Entry] = functions! {
    "jsonb_bool", (a: &Json) => boolean(a);
    "jsonb_numeric", (a: &Json) [call, _all] => number(a, "numeric", "numeric_uplus", call);
    "jsonb_int2", (a: &Json) [call, _all] => number(a, "smallint", "numeric_int2", call);
    "jsonb_int4", (a: &Json) [call, _all] => number(a, "integer", "numeric_int4", call);
    "jsonb_int8", (a: &Json) [call, _all] => number(a, "bigint", "numeric_int8", call);
    "jsonb_float4", (a: &Json) [call, _all] => number(a, "real", "numeric_float4", call);
    "jsonb_float8", (a: &Json) [call, _all] =>
        number(a, "double precision", "numeric_float8", call);
};
