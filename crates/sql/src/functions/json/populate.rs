//! Rows from json: `json_populate_record`, `json_to_record` and those for sets of rows.
//!
//! Both json and jsonb go through [`Json`]; the text of a json value inside is only seen where the
//! field itself is json, and then without the spaces that it had.

use super::values::{Text, invalid};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::{Entry, argument};
use crate::functions::{Call, Rows, SetFunction};
use crate::types::io::input;
use crate::types::json::Json;
use crate::types::{Array, Datum, Dimension, Field, Oid, RecordValue, TypeKind, apply_typmod};
use std::sync::Arc;

fn fields_of(ty: Oid, call: &Call<'_>) -> Option<Arc<[Field]>> {
    match call.types.kind(ty)? {
        TypeKind::Composite(fields) => Some(fields),
        TypeKind::Domain { base, .. } => fields_of(base, call),
        _ => None,
    }
}

/// The fields of the row that is wanted: those of the result's type, or of the first argument.
fn wanted(call: &Call<'_>, base: Option<&RecordValue>) -> Result<Arc<[Field]>> {
    if let Some(fields) = fields_of(call.result, call) {
        return Ok(fields);
    }
    let base = base.ok_or_else(|| {
        let message = "could not determine row type for result of json_populate_record";
        let hint = "Provide a non-null record argument, or call the function in the FROM clause \
                    using a column definition list.";
        SqlError::new(code::FEATURE_NOT_SUPPORTED, message).hint(hint)
    })?;
    let field = |(name, ty): (&Arc<str>, &Oid)| Field { name: name.clone(), ty: *ty, typmod: -1 };
    Ok(base.names.iter().zip(&base.types).map(field).collect())
}

/// The fields of a list of column definitions, which the binder hands over behind the arguments:
/// a row with their names and types, and the modifiers.
fn defined(call: &Call<'_>, args: &[Datum]) -> Result<Arc<[Field]>> {
    let Some(Datum::Record(shape)) = args.get(1) else { return wanted(call, None) };
    let typmods = match args.get(2) {
        Some(Datum::Array(typmods)) => &typmods.elements[..],
        _ => &[],
    };
    let fields = shape.names.iter().zip(&shape.types).enumerate();
    let field = |(at, (name, ty)): (usize, (&Arc<str>, &Oid))| {
        let typmod = match typmods.get(at) {
            Some(Datum::Int4(typmod)) => *typmod,
            _ => -1,
        };
        Field { name: name.clone(), ty: *ty, typmod }
    };
    Ok(fields.map(field).collect())
}

/// A row from an object; what the object lacks comes from another row.
fn record(
    json: &Json,
    fields: &[Field],
    base: Option<&RecordValue>,
    call: &Call<'_>,
) -> Result<RecordValue> {
    let mut values = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        values.push(match json.get(&field.name) {
            Some(json) => value(json, field.ty, field.typmod, &field.name, call)?,
            None => base.and_then(|base| base.fields.get(at)).cloned().unwrap_or(Datum::Null),
        });
    }
    Ok(RecordValue {
        types: fields.iter().map(|field| field.ty).collect(),
        names: fields.iter().map(|field| field.name.clone()).collect(),
        fields: values,
    })
}

/// A value of a type. Recursion ends where types do: each level is one of the type's.
fn value(json: &Json, ty: Oid, typmod: i32, key: &str, call: &Call<'_>) -> Result<Datum> {
    if let Json::Null = json {
        return Ok(Datum::Null);
    }
    match ty {
        Oid::JSONB => return Ok(Datum::Jsonb(Arc::new(json.clone()))),
        Oid::JSON => return Ok(Datum::Json(json.to_string().into())),
        _ => {}
    }
    match call.types.kind(ty) {
        Some(TypeKind::Array(element)) if !matches!(json, Json::String(_)) => {
            array(json, element, typmod, key, call)
        }
        Some(TypeKind::Composite(fields)) if !matches!(json, Json::String(_)) => {
            check_object(json, "populate_composite")?;
            Ok(Datum::Record(Arc::new(record(json, &fields, None, call)?)))
        }
        Some(TypeKind::Domain { base, typmod }) => {
            let value = value(json, base, typmod, key, call)?;
            call.types.check_domain(ty, &value)?;
            Ok(value)
        }
        _ => {
            let text = json.to_plain().unwrap_or_default();
            let value = input(&text, ty, typmod, call)?;
            apply_typmod(value, ty, typmod, false, call)
        }
    }
}

fn expected_array(key: &str) -> SqlError {
    let hint = format!("See the value of key \"{key}\".");
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, "expected JSON array").hint(hint)
}

/// An array whose dimensions are those of the nested arrays.
fn array(json: &Json, element: Oid, typmod: i32, key: &str, call: &Call<'_>) -> Result<Datum> {
    let mut level: Vec<&Json> = match json {
        Json::Array(elements) => elements.iter().collect(),
        _ => return Err(expected_array(key)),
    };
    let mut lengths = vec![level.len()];
    let nested = |json: &&Json| matches!(json, Json::Array(_));
    // Elements that are json themselves are not dimensions.
    let flat = matches!(element, Oid::JSON | Oid::JSONB);
    while !flat && !level.is_empty() && level.iter().all(nested) && lengths.len() < 6 {
        let parts: Vec<&[Json]> = level
            .iter()
            .filter_map(|json| match json {
                Json::Array(elements) => Some(&**elements),
                _ => None,
            })
            .collect();
        let length = parts[0].len();
        if parts.iter().any(|part| part.len() != length) {
            let message = "malformed JSON array";
            return Err(SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
                .detail("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        lengths.push(length);
        level = parts.into_iter().flatten().collect();
    }
    let elements = level
        .into_iter()
        .map(|json| value(json, element, typmod, key, call))
        .collect::<Result<Vec<_>>>()?;
    let dimension = |length: usize| Dimension { length: length as i32, lower: 1 };
    let dimensions = match elements.is_empty() {
        true => Vec::new(),
        false => lengths.into_iter().map(dimension).collect(),
    };
    Ok(Datum::Array(Arc::new(Array { element, dimensions, elements })))
}

fn check_object(json: &Json, function: &str) -> Result<()> {
    match json {
        Json::Object(_) => Ok(()),
        Json::Array(_) => Err(invalid(format!("cannot call {function} on an array"))),
        _ => Err(invalid(format!("cannot call {function} on a scalar"))),
    }
}

/// The argument as jsonb, whichever of the two types it has.
fn json_argument(args: &[Datum], at: usize) -> Result<Option<Json>> {
    match args.get(at) {
        None | Some(Datum::Null) => Ok(None),
        Some(Datum::Json(_)) => Json::parse(argument::<Text<'_>>(args, at)?.0).map(Some),
        _ => argument::<&Json>(args, at).map(|json| Some(json.clone())),
    }
}

/// `populate_record(base, json)`.
fn populate(call: &Call<'_>, args: &[Datum], function: &str) -> Result<Datum> {
    let base = argument::<Option<&RecordValue>>(args, 0)?;
    let Some(json) = json_argument(args, 1)? else {
        return Ok(args.first().cloned().unwrap_or(Datum::Null));
    };
    check_object(&json, function)?;
    let fields = wanted(call, base)?;
    Ok(Datum::Record(Arc::new(record(&json, &fields, base, call)?)))
}

/// `to_record(json)`, whose type the query gives.
fn to_record(call: &Call<'_>, args: &[Datum], function: &str) -> Result<Datum> {
    let Some(json) = json_argument(args, 0)? else { return Ok(Datum::Null) };
    check_object(&json, function)?;
    let fields = defined(call, args)?;
    Ok(Datum::Record(Arc::new(record(&json, &fields, None, call)?)))
}

/// Rows from an array of objects.
fn rows(
    json: Option<Json>,
    base: Option<&RecordValue>,
    fields: Option<Arc<[Field]>>,
    call: &Call<'_>,
    function: &str,
) -> Result<Rows> {
    let Some(json) = json else { return Ok(Box::new(std::iter::empty())) };
    let fields = match fields {
        Some(fields) => fields,
        None => wanted(call, base)?,
    };
    let elements = match &json {
        Json::Array(elements) => elements,
        _ if function.starts_with("jsonb_") => {
            return Err(invalid(format!("cannot call {function} on a non-array")));
        }
        Json::Object(_) => return Err(invalid(format!("cannot call {function} on an object"))),
        _ => return Err(invalid(format!("cannot call {function} on a scalar"))),
    };
    let row = |json: &Json| {
        if !matches!(json, Json::Object(_)) {
            let message = format!("argument of {function} must be an array of objects");
            return Err(invalid(message));
        }
        record(json, &fields, base, call).map(|record| record.fields)
    };
    let rows = elements.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(Box::new(rows.into_iter().map(Ok)))
}

fn populate_rows(call: &Call<'_>, args: &[Datum], function: &str) -> Result<Rows> {
    let base = argument::<Option<&RecordValue>>(args, 0)?;
    rows(json_argument(args, 1)?, base, None, call, function)
}

pub(super) const TABLE: &[Entry] = functions! {
    "json_populate_record", () [call, all] => populate(call, all, "json_populate_record");
    "jsonb_populate_record", () [call, all] => populate(call, all, "jsonb_populate_record");
    "json_to_record", () [call, all] => to_record(call, all, "json_to_record");
    "jsonb_to_record", () [call, all] => to_record(call, all, "jsonb_to_record");
};

pub(super) const SETS: &[(&str, SetFunction)] = &[
    ("json_populate_recordset", |call, args| populate_rows(call, args, "json_populate_recordset")),
    ("jsonb_populate_recordset", |call, args| {
        populate_rows(call, args, "jsonb_populate_recordset")
    }),
    ("json_to_recordset", |call, args| {
        rows(json_argument(args, 0)?, None, Some(defined(call, args)?), call, "json_to_recordset")
    }),
    ("jsonb_to_recordset", |call, args| {
        rows(json_argument(args, 0)?, None, Some(defined(call, args)?), call, "jsonb_to_recordset")
    }),
];
