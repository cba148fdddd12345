//! `json_build_object`, `json_object` and their like.

use super::from_value::{jsonb, string, type_of, write};
use super::values::{NewText, invalid, texts, wrong_subscripts};
use crate::error::{Result, SqlError, code};
use crate::functions::Call;
use crate::functions::arguments::Entry;
use crate::types::json::{Json, escape};
use crate::types::{Array, Datum};
use std::sync::Arc;

fn check_even(args: &[Datum], function: &str) -> Result<()> {
    if args.len().is_multiple_of(2) {
        return Ok(());
    }
    let hint =
        format!("The arguments of {function}() must consist of alternating keys and values.");
    Err(invalid("argument list must have even number of elements").hint(hint))
}

fn key(value: &Datum, at: usize, call: &Call<'_>) -> Result<String> {
    if let Datum::Array(_) | Datum::Record(_) | Datum::Json(_) | Datum::Jsonb(_) = value {
        return Err(invalid("key value must be scalar, not array, composite, or json"));
    }
    Ok(string(value, type_of(call, at), call))
}

fn build_object(call: &Call<'_>, args: &[Datum]) -> Result<NewText> {
    check_even(args, "json_build_object")?;
    let mut out = String::from("{");
    for (number, pair) in args.chunks(2).enumerate() {
        let at = number * 2;
        if pair[0].is_null() {
            let message = format!("argument {} cannot be null", at + 1);
            return Err(invalid(message).hint("Object keys should be text."));
        }
        out.push_str(if number > 0 { ", " } else { "" });
        let _ = escape(&key(&pair[0], at, call)?, &mut out);
        out.push_str(" : ");
        write(&pair[1], type_of(call, at + 1), call, &mut out)?;
    }
    out.push('}');
    Ok(NewText(out))
}

fn build_array(call: &Call<'_>, args: &[Datum]) -> Result<NewText> {
    let mut out = String::from("[");
    for (at, value) in args.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write(value, type_of(call, at), call, &mut out)?;
    }
    out.push(']');
    Ok(NewText(out))
}

fn build_jsonb_object(call: &Call<'_>, args: &[Datum]) -> Result<Json> {
    check_even(args, "jsonb_build_object")?;
    let mut pairs = Vec::with_capacity(args.len() / 2);
    for (number, pair) in args.chunks(2).enumerate() {
        let at = number * 2;
        if pair[0].is_null() {
            return Err(invalid(format!("argument {}: key must not be null", at + 1)));
        }
        let key = key(&pair[0], at, call)?;
        pairs.push((Arc::from(key), jsonb(&pair[1], type_of(call, at + 1), call)?));
    }
    Ok(Json::object(pairs))
}

fn build_jsonb_array(call: &Call<'_>, args: &[Datum]) -> Result<Json> {
    let element = |(at, value): (usize, &Datum)| jsonb(value, type_of(call, at), call);
    Ok(Json::array(args.iter().enumerate().map(element).collect::<Result<_>>()?))
}

fn subscript_error(message: &str) -> SqlError {
    SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message)
}

type Pairs<'a> = Vec<(&'a str, Option<&'a str>)>;

fn null_key() -> SqlError {
    SqlError::new(code::NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key")
}

/// Pairs from an array of keys and values in turn, or of two columns.
fn pairs(array: &Array) -> Result<Pairs<'_>> {
    match array.dimensions.as_slice() {
        [] => return Ok(Vec::new()),
        [only] if only.length % 2 != 0 => {
            return Err(subscript_error("array must have even number of elements"));
        }
        [_] => {}
        [_, columns] if columns.length != 2 => {
            return Err(subscript_error("array must have two columns"));
        }
        [_, _] => {}
        _ => return Err(wrong_subscripts()),
    }
    let elements = texts(array);
    elements.chunks(2).map(|pair| Ok((pair[0].ok_or_else(null_key)?, pair[1]))).collect()
}

/// Pairs from an array of keys and one of values.
fn zipped<'a>(keys: &'a Array, values: &'a Array) -> Result<Pairs<'a>> {
    let (of_keys, of_values) = (keys.dimensions.len(), values.dimensions.len());
    if of_keys > 1 || of_keys != of_values {
        return Err(wrong_subscripts());
    }
    if keys.elements.len() != values.elements.len() {
        return Err(subscript_error("mismatched array dimensions"));
    }
    let pair = |(key, value): (Option<&'a str>, _)| Ok((key.ok_or_else(null_key)?, value));
    texts(keys).into_iter().zip(texts(values)).map(pair).collect()
}

fn object_text(pairs: Pairs<'_>) -> NewText {
    let mut out = String::from("{");
    for (at, (key, value)) in pairs.into_iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        let _ = escape(key, &mut out);
        out.push_str(" : ");
        match value {
            Some(value) => {
                let _ = escape(value, &mut out);
            }
            None => out.push_str("null"),
        }
    }
    out.push('}');
    NewText(out)
}

fn object_jsonb(pairs: Pairs<'_>) -> Json {
    let pair = |(key, value): (&str, Option<&str>)| {
        (Arc::from(key), value.map_or(Json::Null, Json::string))
    };
    Json::object(pairs.into_iter().map(pair).collect())
}

pub(super) const TABLE: &[Entry] = functions! {
    "json_build_object", () [call, all] => build_object(call, all);
    "json_build_object_noargs", () => NewText("{}".into());
    "json_build_array", () [call, all] => build_array(call, all);
    "json_build_array_noargs", () => NewText("[]".into());
    "jsonb_build_object", () [call, all] => build_jsonb_object(call, all);
    "jsonb_build_object_noargs", () => Json::object(Vec::new());
    "jsonb_build_array", () [call, all] => build_jsonb_array(call, all);
    "jsonb_build_array_noargs", () => Json::array(Vec::new());
    "json_object", (array: &Array) => pairs(array).map(object_text);
    "json_object_two_arg", (keys: &Array, values: &Array) =>
        zipped(keys, values).map(object_text);
    "jsonb_object", (array: &Array) => pairs(array).map(object_jsonb);
    "jsonb_object_two_arg", (keys: &Array, values: &Array) =>
        zipped(keys, values).map(object_jsonb);
};
