//! Operators that look into json and jsonb.

use super::values::{NewText, Text, index, invalid, texts};
use crate::error::Result;
use crate::functions::arguments::Entry;
use crate::types::Array;
use crate::types::json::{Json, Node, NodeKind, pretty};

/// What is at the end of a path; a null in it leads nowhere.
fn at_path<'j>(json: &'j Json, path: &Array) -> Option<&'j Json> {
    let mut here = json;
    for step in texts(path) {
        let step = step?;
        here = match here {
            Json::Object(_) => here.get(step)?,
            Json::Array(_) => here.element(index(step)?)?,
            _ => return None,
        };
    }
    Some(here)
}

fn node_at_path<'n, 't>(node: &'n Node<'t>, path: &Array) -> Option<&'n Node<'t>> {
    let mut here = node;
    for step in texts(path) {
        let step = step?;
        here = match &here.kind {
            NodeKind::Object(_) => here.get(step)?,
            NodeKind::Array(_) => here.element(index(step)?)?,
            _ => return None,
        };
    }
    Some(here)
}

/// An element; a scalar counts as an array of itself here, as in PostgreSQL.
fn element(json: &Json, at: i32) -> Option<&Json> {
    if json.is_scalar() {
        return matches!(at, 0 | -1).then_some(json);
    }
    json.element(i64::from(at))
}

fn raw(node: Option<&Node<'_>>) -> Option<NewText> {
    node.map(|node| NewText(node.raw.to_string()))
}

fn plain(node: Option<&Node<'_>>) -> Option<String> {
    node.and_then(Node::to_plain)
}

fn array_length(json: &Json) -> Result<i32> {
    match json {
        Json::Array(elements) => Ok(elements.len() as i32),
        Json::Object(_) => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

fn text_array_length(text: Text<'_>) -> Result<i32> {
    match text.node()?.kind {
        NodeKind::Array(elements) => Ok(elements.len() as i32),
        NodeKind::Object(_) => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

fn exists_any(json: &Json, keys: &Array) -> bool {
    texts(keys).into_iter().flatten().any(|key| json.exists(key))
}

fn exists_all(json: &Json, keys: &Array) -> bool {
    texts(keys).into_iter().flatten().all(|key| json.exists(key))
}

pub(super) const COMPARE: &[Entry] = comparisons!("jsonb_"; a: &Json, b: &Json => a.order(b));

pub(super) const TABLE: &[Entry] = functions! {
    "jsonb_cmp", (a: &Json, b: &Json) => a.order(b) as i32;
    "jsonb_contains", (a: &Json, b: &Json) => a.contains(b);
    "jsonb_contained", (a: &Json, b: &Json) => b.contains(a);
    "jsonb_exists", (a: &Json, key: &str) => a.exists(key);
    "jsonb_exists_any", (a: &Json, keys: &Array) => exists_any(a, keys);
    "jsonb_exists_all", (a: &Json, keys: &Array) => exists_all(a, keys);
    "jsonb_object_field", (a: &Json, key: &str) => a.get(key).cloned();
    "jsonb_object_field_text", (a: &Json, key: &str) => a.get(key).and_then(Json::to_plain);
    "jsonb_array_element", (a: &Json, at: i32) => element(a, at).cloned();
    "jsonb_array_element_text", (a: &Json, at: i32) => element(a, at).and_then(Json::to_plain);
    "jsonb_extract_path", (a: &Json, path: &Array) => at_path(a, path).cloned();
    "jsonb_extract_path_text", (a: &Json, path: &Array) =>
        at_path(a, path).and_then(Json::to_plain);
    "jsonb_array_length", (a: &Json) => array_length(a);
    "jsonb_typeof", (a: &Json) => a.type_name();
    "jsonb_pretty", (a: &Json) => pretty(a);
    "json_object_field", (a: Text<'_>, key: &str) => Ok(raw(a.node()?.get(key)));
    "json_object_field_text", (a: Text<'_>, key: &str) => Ok(plain(a.node()?.get(key)));
    "json_array_element", (a: Text<'_>, at: i32) => Ok(raw(a.node()?.element(i64::from(at))));
    "json_array_element_text", (a: Text<'_>, at: i32) =>
        Ok(plain(a.node()?.element(i64::from(at))));
    "json_extract_path", (a: Text<'_>, path: &Array) => Ok(raw(node_at_path(&a.node()?, path)));
    "json_extract_path_text", (a: Text<'_>, path: &Array) =>
        Ok(plain(node_at_path(&a.node()?, path)));
    "json_array_length", (a: Text<'_>) => text_array_length(a);
    "json_typeof", (a: Text<'_>) => a.node().map(|node| node.type_name());
};
