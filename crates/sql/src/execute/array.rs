//! Arrays: made of elements, and taken apart by subscripts.

use super::Exec;
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, SubscriptPart};
use crate::types::json::Json;
use crate::types::{Array, Datum, Dimension, Oid};
use std::sync::Arc;

impl Exec<'_> {
    pub(super) fn make_array(
        &mut self,
        elements: &[Expr],
        nested: bool,
        ty: Oid,
        row: &[Datum],
    ) -> Result<Datum> {
        let element = self.env.catalog.element_of(ty).unwrap_or(Oid::TEXT);
        let values = self.eval_all(elements, row)?;
        if !nested {
            return Ok(Datum::Array(Arc::new(Array::of(element, values))));
        }
        array_of_arrays(element, values).map(|array| Datum::Array(Arc::new(array)))
    }

    pub(super) fn subscript(
        &mut self,
        base: &Expr,
        parts: &[SubscriptPart],
        _ty: Oid,
        row: &[Datum],
    ) -> Result<Datum> {
        let value = self.eval(base, row)?;
        let bounds = self.bounds(parts, row)?;
        match value {
            Datum::Array(array) => Ok(subscript(&array, &bounds)),
            Datum::Jsonb(json) => Ok(json_subscript(&json, &bounds)),
            Datum::Text(name) => Ok(letter(&name, &bounds)),
            _ => Ok(Datum::Null),
        }
    }

    /// The values of subscripts.
    pub(super) fn bounds(&mut self, parts: &[SubscriptPart], row: &[Datum]) -> Result<Vec<Bound>> {
        let mut bounds = Vec::new();
        for part in parts {
            bounds.push(match part {
                SubscriptPart::Index(expr) => Bound::Index(self.eval(expr, row)?),
                SubscriptPart::Slice(from, to) => {
                    let from = from.as_ref().map(|it| self.eval(it, row)).transpose()?;
                    let to = to.as_ref().map(|it| self.eval(it, row)).transpose()?;
                    Bound::Slice(from, to)
                }
            });
        }
        Ok(bounds)
    }
}

/// A name is an array of bytes from 0 on, with zeros behind its end.
fn letter(name: &str, bounds: &[Bound]) -> Datum {
    let [Bound::Index(index)] = bounds else { return Datum::Null };
    match int(index).and_then(|index| usize::try_from(index).ok()) {
        Some(index) if index < NAME_BYTES => {
            let byte = name.as_bytes().get(index).copied().unwrap_or(0);
            Datum::text(char_shown(byte))
        }
        _ => Datum::Null,
    }
}

/// How a value of type "char" is kept: as it is shown.
fn char_shown(byte: u8) -> String {
    match byte {
        0 => String::new(),
        1..=127 => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}

/// As many bytes a name has at most, with the zero at its end.
const NAME_BYTES: usize = 64;

pub(super) enum Bound {
    Index(Datum),
    Slice(Option<Datum>, Option<Datum>),
}

/// One dimension more.
pub(super) fn array_of_arrays(element: Oid, values: Vec<Datum>) -> Result<Array> {
    let mut inner: Option<Vec<Dimension>> = None;
    let mut elements = Vec::new();
    let count = values.len() as i32;
    for value in values {
        let Datum::Array(array) = value else {
            return Err(SqlError::new(
                code::ARRAY_SUBSCRIPT_ERROR,
                "multidimensional arrays must have array expressions with matching dimensions",
            ));
        };
        match &inner {
            Some(dimensions) if *dimensions != array.dimensions => {
                return Err(SqlError::new(
                    code::ARRAY_SUBSCRIPT_ERROR,
                    "multidimensional arrays must have array expressions with matching dimensions",
                ));
            }
            _ => inner = Some(array.dimensions.clone()),
        }
        elements.extend(array.elements.iter().cloned());
    }
    let inner = inner.unwrap_or_default();
    if elements.is_empty() {
        return Ok(Array::of(element, Vec::new()));
    }
    let mut dimensions = vec![Dimension { length: count, lower: 1 }];
    dimensions.extend(inner);
    if dimensions.len() > 6 {
        return Err(SqlError::new(
            code::PROGRAM_LIMIT_EXCEEDED,
            format!(
                "number of array dimensions ({}) exceeds the maximum allowed (6)",
                dimensions.len()
            ),
        ));
    }
    Ok(Array { element, dimensions, elements })
}

pub(super) fn int(value: &Datum) -> Option<i32> {
    match value {
        Datum::Int4(value) => Some(*value),
        Datum::Int8(value) => i32::try_from(*value).ok(),
        Datum::Int2(value) => Some(i32::from(*value)),
        _ => None,
    }
}

fn subscript(array: &Array, bounds: &[Bound]) -> Datum {
    let is_slice = bounds.iter().any(|bound| matches!(bound, Bound::Slice(..)));
    if is_slice {
        return slice(array, bounds).map_or(Datum::Null, |array| Datum::Array(Arc::new(array)));
    }
    if bounds.len() != array.dimensions.len() {
        return Datum::Null;
    }
    let mut place = 0usize;
    for (bound, dimension) in bounds.iter().zip(&array.dimensions) {
        let Bound::Index(index) = bound else { return Datum::Null };
        let Some(index) = int(index) else { return Datum::Null };
        let offset = i64::from(index) - i64::from(dimension.lower);
        if offset < 0 || offset >= i64::from(dimension.length) {
            return Datum::Null;
        }
        place = place * dimension.length as usize + offset as usize;
    }
    array.elements.get(place).cloned().unwrap_or(Datum::Null)
}

/// A part of an array, with subscripts from 1. `None` if a bound is null.
fn slice(array: &Array, bounds: &[Bound]) -> Option<Array> {
    let empty = || Array::of(array.element, Vec::new());
    if bounds.len() > array.dimensions.len() {
        return Some(empty());
    }
    let mut ranges = Vec::new();
    for (place, dimension) in array.dimensions.iter().enumerate() {
        let (lower, upper) = (dimension.lower, dimension.lower + dimension.length - 1);
        let (from, to) = match bounds.get(place) {
            None => (lower, upper),
            Some(Bound::Index(index)) => (1, int(index)?),
            Some(Bound::Slice(from, to)) => {
                let from = from.as_ref().map_or(Some(lower), int)?;
                (from, to.as_ref().map_or(Some(upper), int)?)
            }
        };
        let (from, to) = (from.max(lower), to.min(upper));
        if from > to {
            return Some(empty());
        }
        ranges.push(((from - lower) as usize, (to - lower) as usize));
    }
    let mut elements = Vec::new();
    let mut index: Vec<usize> = ranges.iter().map(|range| range.0).collect();
    loop {
        let dimensions = array.dimensions.iter().zip(&index);
        let place = dimensions.fold(0, |place, (it, &index)| place * it.length as usize + index);
        elements.push(array.elements.get(place).cloned().unwrap_or(Datum::Null));
        // The next place, the last dimension first.
        let mut at = index.len();
        loop {
            if at == 0 {
                let dimensions = ranges
                    .iter()
                    .map(|(from, to)| Dimension { length: (to - from + 1) as i32, lower: 1 })
                    .collect();
                return Some(Array { element: array.element, dimensions, elements });
            }
            at -= 1;
            if index[at] < ranges[at].1 {
                index[at] += 1;
                break;
            }
            index[at] = ranges[at].0;
        }
    }
}

fn json_subscript(json: &Arc<Json>, bounds: &[Bound]) -> Datum {
    let mut at: &Json = json;
    for bound in bounds {
        let Bound::Index(index) = bound else { return Datum::Null };
        let next = match (at, index) {
            (Json::Object(_), Datum::Text(key)) => at.get(key),
            (Json::Array(items), index) => {
                let index = match index {
                    Datum::Text(text) => text.parse::<i64>().ok(),
                    other => int(other).map(i64::from),
                };
                index.and_then(|index| {
                    let place = if index < 0 { items.len() as i64 + index } else { index };
                    items.get(usize::try_from(place).ok()?)
                })
            }
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return Datum::Null,
        }
    }
    Datum::Jsonb(Arc::new(at.clone()))
}
