//! Parts of arrays and of jsonb that are assigned to.

use super::Exec;
use super::array::{Bound, int};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, SubscriptPart};
use crate::types::json::Json;
use crate::types::{Array, Datum, Dimension, Oid};
use std::sync::Arc;

/// As many elements an array may get by an assignment far beyond its end.
const ELEMENTS_MAX: i64 = 1 << 24;

impl Exec<'_> {
    pub(super) fn set_element(
        &mut self,
        base: &Expr,
        parts: &[SubscriptPart],
        value: &Expr,
        row: &[Datum],
    ) -> Result<Datum> {
        let whole = self.eval(base, row)?;
        let bounds = self.bounds(parts, row)?;
        let value = self.eval(value, row)?;
        let is_null = |bound: &Bound| match bound {
            Bound::Index(index) => index.is_null(),
            Bound::Slice(from, to) => from.iter().chain(to).any(Datum::is_null),
        };
        if bounds.iter().any(is_null) {
            let what = if base.ty == Oid::JSONB { "jsonb" } else { "array" };
            let message = format!("{what} subscript in assignment must not be null");
            return Err(SqlError::new(code::NULL_VALUE_NOT_ALLOWED, message));
        }
        if self.env.catalog.base_type(base.ty) == Oid::JSONB {
            let before = match &whole {
                Datum::Jsonb(json) => Some(&**json),
                _ => None,
            };
            let value = match value {
                Datum::Jsonb(json) => Json::clone(&json),
                _ => Json::Null,
            };
            let made = with_json(before, &bounds, 0, value)?;
            return Ok(Datum::Jsonb(Arc::new(made)));
        }
        let element = self.env.catalog.element_of(self.env.catalog.base_type(base.ty));
        let before = match &whole {
            Datum::Array(array) => Array::clone(array),
            _ => Array::of(element.unwrap_or(Oid::TEXT), Vec::new()),
        };
        let made = match &bounds[..] {
            [Bound::Slice(from, to)] => {
                let Datum::Array(source) = value else { return Ok(whole) };
                with_slice(before, from.as_ref(), to.as_ref(), &source)?
            }
            _ => with_element(before, &bounds, value)?,
        };
        Ok(Datum::Array(Arc::new(made)))
    }
}

fn wrong(message: &str) -> SqlError {
    SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message)
}

fn with_element(mut array: Array, bounds: &[Bound], value: Datum) -> Result<Array> {
    let indexes = bounds.iter().map(|bound| match bound {
        Bound::Index(index) => int(index),
        Bound::Slice(..) => None,
    });
    let Some(indexes) = indexes.collect::<Option<Vec<i32>>>() else {
        return Err(wrong("array subscript out of range"));
    };
    if array.dimensions.is_empty() {
        let one = |&lower: &i32| Dimension { length: 1, lower };
        array.dimensions = indexes.iter().map(one).collect();
        array.elements = vec![value];
        return Ok(array);
    }
    if array.dimensions.len() != indexes.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    if let [index] = indexes[..] {
        let place = reach(&mut array, index, index)?;
        array.elements[place] = value;
        return Ok(array);
    }
    let mut place = 0usize;
    for (index, dimension) in indexes.iter().zip(&array.dimensions) {
        let offset = i64::from(*index) - i64::from(dimension.lower);
        if offset < 0 || offset >= i64::from(dimension.length) {
            return Err(wrong("array subscript out of range"));
        }
        place = place * dimension.length as usize + offset as usize;
    }
    array.elements[place] = value;
    Ok(array)
}

/// Makes an array of one dimension so long that it has these subscripts: the place of the first.
fn reach(array: &mut Array, from: i32, to: i32) -> Result<usize> {
    let dimension = &mut array.dimensions[0];
    let (lower, length) = (i64::from(dimension.lower), i64::from(dimension.length));
    let first = lower.min(from.into());
    let last = (lower + length - 1).max(to.into());
    let count = last - first + 1;
    if count > ELEMENTS_MAX {
        let message = "array size exceeds the maximum allowed";
        return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message));
    }
    let before = vec![Datum::Null; (lower - first) as usize];
    array.elements.splice(0..0, before);
    array.elements.resize(count as usize, Datum::Null);
    *dimension = Dimension { length: count as i32, lower: first as i32 };
    Ok((i64::from(from) - first) as usize)
}

fn with_slice(
    mut array: Array,
    from: Option<&Datum>,
    to: Option<&Datum>,
    source: &Array,
) -> Result<Array> {
    if array.dimensions.len() > 1 {
        return Err(SqlError::unsupported("an assignment to a slice of several dimensions"));
    }
    let known = array.dimensions.first().map(|it| (it.lower, it.lower + it.length - 1));
    let given = |bound: Option<&Datum>, known: Option<i32>| match bound {
        Some(bound) => int(bound).ok_or_else(|| wrong("array subscript out of range")),
        None => known.ok_or_else(|| {
            wrong("array slice subscript must provide both boundaries").detail(
                "When assigning to a slice of an empty array value, slice boundaries must be \
                 fully specified.",
            )
        }),
    };
    let from = given(from, known.map(|it| it.0))?;
    let to = given(to, known.map(|it| it.1))?;
    if from > to {
        return Err(wrong("upper bound cannot be less than lower bound"));
    }
    let count = (i64::from(to) - i64::from(from) + 1) as usize;
    if source.elements.len() < count {
        return Err(wrong("source array too small"));
    }
    if array.dimensions.is_empty() {
        array.dimensions = vec![Dimension { length: 0, lower: from }];
    }
    let place = reach(&mut array, from, to)?;
    array.elements[place..place + count].clone_from_slice(&source.elements[..count]);
    Ok(array)
}

/// Whether a subscript is one of an array, unless an object is there.
fn as_index(bound: &Bound) -> Option<i64> {
    match bound {
        Bound::Index(Datum::Text(text)) => text.parse().ok(),
        Bound::Index(index) => int(index).map(i64::from),
        Bound::Slice(..) => None,
    }
}

fn as_key(bound: &Bound) -> String {
    match bound {
        Bound::Index(Datum::Text(text)) => text.to_string(),
        Bound::Index(index) => int(index).map_or_else(String::new, |it| it.to_string()),
        Bound::Slice(..) => String::new(),
    }
}

/// The value with another one at the end of a path, all of which is made if it is not there.
fn with_json(json: Option<&Json>, path: &[Bound], at: usize, value: Json) -> Result<Json> {
    let Some(bound) = path.get(at) else { return Ok(value) };
    let empty;
    let json = match json {
        Some(json) => json,
        None if as_index(bound).is_some() => {
            empty = Json::array(Vec::new());
            &empty
        }
        None => {
            empty = Json::object(Vec::new());
            &empty
        }
    };
    match json {
        Json::Object(pairs) => {
            let key = as_key(bound);
            let inner = with_json(json.get(&key), path, at + 1, value)?;
            let mut pairs: Vec<_> = pairs.iter().filter(|it| *it.0 != *key).cloned().collect();
            pairs.push((key.into(), inner));
            Ok(Json::object(pairs))
        }
        Json::Array(items) => {
            let Some(index) = as_index(bound) else {
                let message = format!(
                    "path element at position {} is not an integer: \"{}\"",
                    at + 1,
                    as_key(bound)
                );
                return Err(SqlError::new(code::INVALID_TEXT_REPRESENTATION, message));
            };
            let mut items = items.to_vec();
            let place = if index < 0 { index + items.len() as i64 } else { index };
            if place < 0 {
                let message =
                    format!("path element at position {} is out of range: {index}", at + 1);
                return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
            }
            if place > ELEMENTS_MAX {
                let message = "jsonb array size exceeds the maximum allowed";
                return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message));
            }
            let place = place as usize;
            let inner = with_json(items.get(place), path, at + 1, value)?;
            if place >= items.len() {
                items.resize(place + 1, Json::Null);
            }
            items[place] = inner;
            Ok(Json::array(items))
        }
        _ => Err(SqlError::new(code::INVALID_PARAMETER_VALUE, "cannot replace existing key")
            .detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}
