//! Changes of jsonb: `||`, `-`, `#-`, `jsonb_set`, `jsonb_insert`.

use super::values::{index, invalid, path};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::Entry;
use crate::types::Array;
use crate::types::json::Json;
use std::sync::Arc;

/// What happens at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change<'j> {
    /// The value replaces what is there, or is added.
    Set(&'j Json),
    /// The value replaces what is there.
    Replace(&'j Json),
    /// The value comes before what is there.
    InsertBefore(&'j Json),
    /// The value comes behind what is there.
    InsertAfter(&'j Json),
    /// What is there goes.
    Delete,
}

impl<'j> Change<'j> {
    /// The value that is added where nothing is.
    fn added(self) -> Option<&'j Json> {
        match self {
            Change::Set(value) | Change::InsertBefore(value) | Change::InsertAfter(value) => {
                Some(value)
            }
            Change::Replace(_) | Change::Delete => None,
        }
    }
}

/// Goes down the path as far as arrays and objects go.
fn changed(json: &Json, path: &[Option<&str>], level: usize, change: Change<'_>) -> Result<Json> {
    let Some(step) = path.get(level) else { return Ok(json.clone()) };
    let Some(step) = *step else {
        let message = format!("path element at position {} is null", level + 1);
        return Err(SqlError::new(code::NULL_VALUE_NOT_ALLOWED, message));
    };
    match json {
        Json::Array(elements) => changed_array(elements, step, path, level, change),
        Json::Object(_) => changed_object(json, step, path, level, change),
        _ => Ok(json.clone()),
    }
}

fn changed_array(
    elements: &[Json],
    step: &str,
    path: &[Option<&str>],
    level: usize,
    change: Change<'_>,
) -> Result<Json> {
    let number = level + 1;
    let at = index(step).ok_or_else(|| {
        let message = format!("path element at position {number} is not an integer: \"{step}\"");
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
    })?;
    let length = elements.len() as i64;
    let at = if at < 0 { at + length } else { at };
    let last = level + 1 == path.len();
    let mut result = elements.to_vec();
    if !(0..length).contains(&at) {
        // Outside of the array, something new comes to the nearest end.
        if let Some(value) = change.added().filter(|_| last) {
            let end = if at < 0 { 0 } else { result.len() };
            result.insert(end, value.clone());
        }
        return Ok(Json::array(result));
    }
    let at = at as usize;
    if !last {
        result[at] = changed(&elements[at], path, level + 1, change)?;
        return Ok(Json::array(result));
    }
    match change {
        Change::Set(value) | Change::Replace(value) => result[at] = value.clone(),
        Change::InsertBefore(value) => result.insert(at, value.clone()),
        Change::InsertAfter(value) => result.insert(at + 1, value.clone()),
        Change::Delete => {
            result.remove(at);
        }
    }
    Ok(Json::array(result))
}

fn changed_object(
    json: &Json,
    step: &str,
    path: &[Option<&str>],
    level: usize,
    change: Change<'_>,
) -> Result<Json> {
    let Json::Object(pairs) = json else { return Ok(json.clone()) };
    let last = level + 1 == path.len();
    let mut pairs = pairs.to_vec();
    let Some(at) = pairs.iter().position(|pair| *pair.0 == *step) else {
        if let Some(value) = change.added().filter(|_| last) {
            pairs.push((Arc::from(step), value.clone()));
        }
        return Ok(Json::object(pairs));
    };
    if !last {
        pairs[at].1 = changed(&pairs[at].1, path, level + 1, change)?;
        return Ok(Json::object(pairs));
    }
    match change {
        Change::Set(value) | Change::Replace(value) => pairs[at].1 = value.clone(),
        Change::Delete => {
            pairs.remove(at);
        }
        Change::InsertBefore(_) | Change::InsertAfter(_) => {
            return Err(invalid("cannot replace existing key")
                .hint("Try using the function jsonb_set to replace key value."));
        }
    }
    Ok(Json::object(pairs))
}

fn change_at(json: &Json, steps: &Array, change: Change<'_>) -> Result<Json> {
    let path = path(steps)?;
    if json.is_scalar() {
        let verb = if change == Change::Delete { "delete" } else { "set" };
        return Err(invalid(format!("cannot {verb} path in scalar")));
    }
    let empty = match json {
        Json::Array(elements) => elements.is_empty(),
        Json::Object(pairs) => pairs.is_empty(),
        _ => false,
    };
    // Where there is nothing and nothing is added, the path is not looked at.
    if empty && change.added().is_none() {
        return Ok(json.clone());
    }
    changed(json, &path, 0, change)
}

fn set(json: &Json, path: &Array, value: &Json, create: bool) -> Result<Json> {
    let change = if create { Change::Set(value) } else { Change::Replace(value) };
    change_at(json, path, change)
}

fn insert(json: &Json, path: &Array, value: &Json, after: bool) -> Result<Json> {
    let change = if after { Change::InsertAfter(value) } else { Change::InsertBefore(value) };
    change_at(json, path, change)
}

/// `jsonb_set` with a choice of what a null value means.
fn set_lax(
    json: &Json,
    path: &Array,
    value: Option<&Json>,
    create: bool,
    treatment: Option<&str>,
) -> Result<Json> {
    if let Some(value) = value {
        return set(json, path, value, create);
    }
    match treatment {
        Some("raise_exception") => {
            let detail = "Exception was raised because null_value_treatment is \
                          \"raise_exception\".";
            let hint = "To avoid, either change the null_value_treatment argument or ensure \
                        that an SQL NULL is not passed.";
            let message = "JSON value must not be null";
            let error = SqlError::new(code::NULL_VALUE_NOT_ALLOWED, message);
            Err(error.detail(detail).hint(hint))
        }
        Some("use_json_null") => set(json, path, &Json::Null, create),
        Some("delete_key") => change_at(json, path, Change::Delete),
        Some("return_target") => Ok(json.clone()),
        _ => Err(invalid(
            "null_value_treatment must be \"delete_key\", \"return_target\", \
             \"use_json_null\", or \"raise_exception\"",
        )),
    }
}

/// Without keys of an object, or strings of an array.
fn without(json: &Json, keys: &[&str]) -> Result<Json> {
    let named = |json: &Json| matches!(json, Json::String(text) if keys.contains(&&**text));
    match json {
        Json::Object(pairs) => {
            let kept = pairs.iter().filter(|pair| !keys.contains(&&*pair.0));
            Ok(Json::object(kept.cloned().collect()))
        }
        Json::Array(elements) => {
            Ok(Json::array(elements.iter().filter(|json| !named(json)).cloned().collect()))
        }
        _ => Err(invalid("cannot delete from scalar")),
    }
}

fn without_element(json: &Json, at: i32) -> Result<Json> {
    match json {
        Json::Array(elements) => {
            let length = elements.len() as i64;
            let at = if at < 0 { i64::from(at) + length } else { i64::from(at) };
            let kept = elements.iter().enumerate().filter(|(place, _)| *place as i64 != at);
            Ok(Json::array(kept.map(|(_, json)| json.clone()).collect()))
        }
        Json::Object(_) => Err(invalid("cannot delete from object using integer index")),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// Two objects become one; everything else becomes an array.
fn concatenated(a: &Json, b: &Json) -> Json {
    if let (Json::Object(a), Json::Object(b)) = (a, b) {
        return Json::object(a.iter().chain(b.iter()).cloned().collect());
    }
    let elements = |json: &Json| match json {
        Json::Array(elements) => elements.to_vec(),
        other => vec![other.clone()],
    };
    let mut all = elements(a);
    all.extend(elements(b));
    Json::array(all)
}

fn without_any(json: &Json, keys: &Array) -> Result<Json> {
    let keys: Vec<&str> = path(keys)?.into_iter().flatten().collect();
    without(json, &keys)
}

pub(super) const TABLE: &[Entry] = functions! {
    "jsonb_concat", (a: &Json, b: &Json) => concatenated(a, b);
    "jsonb_delete", (a: &Json, key: &str) => without(a, &[key]);
    "jsonb_delete_array", (a: &Json, keys: &Array) => without_any(a, keys);
    "jsonb_delete_idx", (a: &Json, at: i32) => without_element(a, at);
    "jsonb_delete_path", (a: &Json, path: &Array) => change_at(a, path, Change::Delete);
    "jsonb_set", (a: &Json, path: &Array, value: &Json, create: bool) =>
        set(a, path, value, create);
    "jsonb_set_lax",
        (a: Option<&Json>, path: Option<&Array>, value: Option<&Json>, create: Option<bool>,
         treatment: Option<&str>) =>
        match (a, path, create) {
            (Some(a), Some(path), Some(create)) => {
                set_lax(a, path, value, create, treatment).map(Some)
            }
            _ => Ok(None),
        };
    "jsonb_insert", (a: &Json, path: &Array, value: &Json, after: bool) =>
        insert(a, path, value, after);
};
