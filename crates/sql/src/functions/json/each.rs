//! Elements, keys and pairs as rows.

use super::values::{Text, invalid};
use crate::error::{Result, SqlError};
use crate::functions::arguments::argument;
use crate::functions::{Call, Rows, SetFunction};
use crate::types::Datum;
use crate::types::json::{Json, Node, NodeKind};
use std::sync::Arc;

fn rows(rows: Vec<Vec<Datum>>) -> Rows {
    Box::new(rows.into_iter().map(Ok))
}

fn jsonb(json: &Json) -> Datum {
    Datum::Jsonb(Arc::new(json.clone()))
}

fn plain(text: Option<String>) -> Datum {
    text.map_or(Datum::Null, Datum::text)
}

fn raw(node: &Node<'_>) -> Datum {
    Datum::Json(node.raw.into())
}

fn elements(args: &[Datum], value: fn(&Json) -> Datum) -> Result<Rows> {
    match argument::<&Json>(args, 0)? {
        Json::Array(elements) => Ok(rows(elements.iter().map(|json| vec![value(json)]).collect())),
        Json::Object(_) => Err(invalid("cannot extract elements from an object")),
        _ => Err(invalid("cannot extract elements from a scalar")),
    }
}

fn text_elements(args: &[Datum], value: fn(&Node<'_>) -> Datum, function: &str) -> Result<Rows> {
    let node = argument::<Text<'_>>(args, 0)?.node()?;
    let kind = match &node.kind {
        NodeKind::Array(elements) => {
            return Ok(rows(elements.iter().map(|node| vec![value(node)]).collect()));
        }
        NodeKind::Object(_) => "non-array",
        _ => "scalar",
    };
    Err(invalid(format!("cannot call {function} on a {kind}")))
}

fn each(args: &[Datum], value: fn(&Json) -> Datum, function: &str) -> Result<Rows> {
    let Json::Object(pairs) = argument::<&Json>(args, 0)? else {
        return Err(invalid(format!("cannot call {function} on a non-object")));
    };
    let pair = |(key, json): &(Arc<str>, Json)| vec![Datum::Text(key.clone()), value(json)];
    Ok(rows(pairs.iter().map(pair).collect()))
}

fn text_each(args: &[Datum], value: fn(&Node<'_>) -> Datum) -> Result<Rows> {
    let node = argument::<Text<'_>>(args, 0)?.node()?;
    let what = match &node.kind {
        NodeKind::Object(pairs) => {
            let pair =
                |(key, node): &(String, Node<'_>)| vec![Datum::text(key.as_str()), value(node)];
            return Ok(rows(pairs.iter().map(pair).collect()));
        }
        NodeKind::Array(_) => "an array as an object",
        _ => "a scalar",
    };
    Err(invalid(format!("cannot deconstruct {what}")))
}

fn no_keys(function: &str, array: bool) -> SqlError {
    let what = if array { "an array" } else { "a scalar" };
    invalid(format!("cannot call {function} on {what}"))
}

fn keys(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    match argument::<&Json>(args, 0)? {
        Json::Object(pairs) => {
            Ok(rows(pairs.iter().map(|pair| vec![Datum::Text(pair.0.clone())]).collect()))
        }
        other => Err(no_keys("jsonb_object_keys", matches!(other, Json::Array(_)))),
    }
}

fn text_keys(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let node = argument::<Text<'_>>(args, 0)?.node()?;
    match &node.kind {
        NodeKind::Object(pairs) => {
            Ok(rows(pairs.iter().map(|pair| vec![Datum::text(pair.0.as_str())]).collect()))
        }
        other => Err(no_keys("json_object_keys", matches!(other, NodeKind::Array(_)))),
    }
}

pub(super) const SETS: &[(&str, SetFunction)] = &[
    ("jsonb_array_elements", |_, args| elements(args, jsonb)),
    ("jsonb_array_elements_text", |_, args| elements(args, |json| plain(json.to_plain()))),
    ("json_array_elements", |_, args| text_elements(args, raw, "json_array_elements")),
    ("json_array_elements_text", |_, args| {
        text_elements(args, |node| plain(node.to_plain()), "json_array_elements_text")
    }),
    ("jsonb_each", |_, args| each(args, jsonb, "jsonb_each")),
    ("jsonb_each_text", |_, args| each(args, |json| plain(json.to_plain()), "jsonb_each_text")),
    ("json_each", |_, args| text_each(args, raw)),
    ("json_each_text", |_, args| text_each(args, |node| plain(node.to_plain()))),
    ("jsonb_object_keys", keys),
    ("json_object_keys", text_keys),
];
