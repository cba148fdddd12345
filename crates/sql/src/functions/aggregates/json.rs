//! `json_agg`, `json_object_agg` and the same for jsonb. A value becomes JSON by `to_json` or
//! `to_jsonb`, which another file has.

use super::{Accumulator, Call, Start};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::argument;
use crate::functions::registry;
use crate::types::json::{Json, escape};
use crate::types::{Datum, Oid, TypeKind, io};
use std::sync::Arc;

/// The accumulator of this name, if it makes JSON.
pub(super) fn find(name: &str) -> Option<Start> {
    Some(match name {
        "json_agg" => |_| Box::new(TextArray::default()),
        "json_object_agg" => |_| Box::new(TextObject::default()),
        "jsonb_agg" => |_| Box::new(Array::default()),
        "jsonb_object_agg" => |_| Box::new(Object::default()),
        _ => return None,
    })
}

/// A call with one argument: the one with this number.
fn single<'c>(call: &Call<'c>, number: usize) -> Call<'c> {
    let args = call.args.get(number..number + 1).unwrap_or(&[]);
    Call { args, ..*call }
}

fn converted(call: &Call<'_>, args: &[Datum], number: usize, function: &str) -> Result<Datum> {
    let value: &Datum = argument(args, number)?;
    if value.is_null() {
        return Ok(Datum::Null);
    }
    let convert = registry::function(0, function);
    let convert = convert.ok_or_else(|| SqlError::unsupported(function))?;
    convert(&single(call, number), std::slice::from_ref(value))
}

/// A value as the text of JSON.
fn json_text(call: &Call<'_>, args: &[Datum], number: usize) -> Result<Arc<str>> {
    match converted(call, args, number, "to_json")? {
        Datum::Null => Ok("null".into()),
        Datum::Json(text) => Ok(text),
        other => Err(SqlError::internal(format!("to_json returned {other:?}"))),
    }
}

/// A value as jsonb.
fn jsonb(call: &Call<'_>, args: &[Datum], number: usize) -> Result<Json> {
    match converted(call, args, number, "to_jsonb")? {
        Datum::Null => Ok(Json::Null),
        Datum::Jsonb(json) => Ok((*json).clone()),
        other => Err(SqlError::internal(format!("to_jsonb returned {other:?}"))),
    }
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// The first argument as the key of an object.
fn key(call: &Call<'_>, args: &[Datum]) -> Result<String> {
    let ty = call.args.first().copied().unwrap_or(Oid::TEXT);
    match argument::<&Datum>(args, 0)? {
        Datum::Null => Err(invalid("field name must not be null")),
        Datum::Array(_) | Datum::Record(_) | Datum::Json(_) | Datum::Jsonb(_) => {
            Err(invalid("key value must be scalar, not array, composite, or json"))
        }
        Datum::Bool(value) => Ok(value.to_string()),
        value => Ok(io::output(value, ty, call)),
    }
}

fn is_structured(call: &Call<'_>) -> bool {
    let ty = call.args.first().copied().unwrap_or(Oid::TEXT);
    let kind = call.types.kind(ty);
    ty == Oid::RECORD || matches!(kind, Some(TypeKind::Array(_) | TypeKind::Composite(_)))
}

/// An array of json is text: arrays and rows in it begin new lines.
#[derive(Default)]
struct TextArray(String);

impl Accumulator for TextArray {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let value = json_text(call, args, 0)?;
        if self.0.is_empty() {
            self.0.push('[');
        } else if is_structured(call) && !argument::<&Datum>(args, 0)?.is_null() {
            self.0.push_str(", \n ");
        } else {
            self.0.push_str(", ");
        }
        self.0.push_str(&value);
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        Ok(Datum::Json(format!("{}]", self.0).into()))
    }
}

/// An object of json keeps all its keys, also equal ones.
#[derive(Default)]
struct TextObject(String);

impl Accumulator for TextObject {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let key = key(call, args)?;
        let value = json_text(call, args, 1)?;
        self.0.push_str(if self.0.is_empty() { "{ " } else { ", " });
        escape(&key, &mut self.0).map_err(|_| SqlError::internal("a key without text"))?;
        self.0.push_str(" : ");
        self.0.push_str(&value);
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        Ok(Datum::Json(format!("{} }}", self.0).into()))
    }
}

#[derive(Default)]
struct Array(Vec<Json>);

impl Accumulator for Array {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.0.push(jsonb(call, args, 0)?);
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        Ok(Datum::Jsonb(Arc::new(Json::array(self.0.clone()))))
    }
}

#[derive(Default)]
struct Object(Vec<(Arc<str>, Json)>);

impl Accumulator for Object {
    fn add(&mut self, call: &Call<'_>, args: &[Datum]) -> Result<()> {
        self.0.push((key(call, args)?.into(), jsonb(call, args, 1)?));
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        Ok(Datum::Jsonb(Arc::new(Json::object(self.0.clone()))))
    }
}
