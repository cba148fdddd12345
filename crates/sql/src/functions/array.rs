//! Arrays: building them from parts, and searching in them.
//!
//! Elements are compared as values of their type; where a function searches for an element, null
//! is found like any other value.

use super::Call;
use super::arguments::Entry;
use super::values::{equal, order};
use crate::error::{Result, SqlError, code};
use crate::types::compare::compare_arrays;
use crate::types::{Array, Datum, Dimension, Oid};

/// How many dimensions an array has at most.
const DIMENSIONS_MAX: usize = 6;
/// How many elements an array has at most.
const ELEMENTS_MAX: i64 = 134_217_727;

fn subscript_error(message: impl Into<String>) -> SqlError {
    SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message)
}

pub(super) fn null_not_allowed(message: &str) -> SqlError {
    SqlError::new(code::NULL_VALUE_NOT_ALLOWED, message)
}

fn too_many() -> SqlError {
    let message = format!("array size exceeds the maximum allowed ({ELEMENTS_MAX})");
    SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
}

/// The array that one more element goes into: an array that is null is an empty one.
fn growing(array: Option<&Array>, element: Oid) -> Result<Array> {
    let array = array.cloned().unwrap_or_else(|| Array::of(element, Vec::new()));
    if array.dimensions.len() > 1 {
        let message = "argument must be empty or one-dimensional array";
        return Err(SqlError::new(code::DATA_EXCEPTION, message));
    }
    Ok(array)
}

fn grown(mut array: Array) -> Result<Array> {
    let lower = array.dimensions.first().map_or(1, |dimension| dimension.lower);
    let length = array.elements.len() as i32;
    check_bounds(&[length], &[lower])?;
    array.dimensions = vec![Dimension { length, lower }];
    Ok(array)
}

fn append(array: Option<&Array>, value: &Datum, element: Oid) -> Result<Array> {
    let mut array = growing(array, element)?;
    array.elements.push(value.clone());
    grown(array)
}

fn prepend(value: &Datum, array: Option<&Array>, element: Oid) -> Result<Array> {
    let mut array = growing(array, element)?;
    array.elements.insert(0, value.clone());
    grown(array)
}

fn incompatible(detail: String) -> SqlError {
    subscript_error("cannot concatenate incompatible arrays").detail(detail)
}

/// The dimensions of two arrays in a row. One of them may be an element of the other one.
fn joined(a: &[Dimension], b: &[Dimension]) -> Result<Vec<Dimension>> {
    let differing = |with: &str| {
        let detail = format!("Arrays with differing {with} are not compatible for concatenation.");
        Err(incompatible(detail))
    };
    let mut dimensions;
    if a.len() == b.len() {
        if a[1..] != b[1..] {
            return differing("element dimensions");
        }
        dimensions = a.to_vec();
        dimensions[0].length += b[0].length;
    } else if a.len() == b.len() + 1 {
        if a[1..] != *b {
            return differing("dimensions");
        }
        dimensions = a.to_vec();
        dimensions[0].length += 1;
    } else if a.len() + 1 == b.len() {
        if *a != b[1..] {
            return differing("dimensions");
        }
        dimensions = b.to_vec();
        dimensions[0].length += 1;
    } else {
        let detail = format!(
            "Arrays of {} and {} dimensions are not compatible for concatenation.",
            a.len(),
            b.len()
        );
        return Err(incompatible(detail));
    }
    Ok(dimensions)
}

fn concatenate(a: Option<&Array>, b: Option<&Array>) -> Result<Option<Array>> {
    let (a, b) = match (a, b) {
        (None, other) | (other, None) => return Ok(other.cloned()),
        (Some(a), Some(b)) => (a, b),
    };
    if a.dimensions.is_empty() {
        return Ok(Some(b.clone()));
    }
    if b.dimensions.is_empty() {
        return Ok(Some(a.clone()));
    }
    let dimensions = joined(&a.dimensions, &b.dimensions)?;
    if a.elements.len() as i64 + b.elements.len() as i64 > ELEMENTS_MAX {
        return Err(too_many());
    }
    let elements = a.elements.iter().chain(&b.elements).cloned().collect();
    Ok(Some(Array { element: a.element, dimensions, elements }))
}

/// Whether an array has this element; null is in none.
fn has(array: &Array, value: &Datum) -> bool {
    !value.is_null()
        && array
            .elements
            .iter()
            .any(|element| !element.is_null() && order(array.element, element, value).is_eq())
}

fn contains(a: &Array, b: &Array) -> bool {
    b.elements.iter().all(|value| has(a, value))
}

fn overlaps(a: &Array, b: &Array) -> bool {
    b.elements.iter().any(|value| has(a, value))
}

fn dimension(array: &Array, number: i32) -> Option<Dimension> {
    let number = usize::try_from(number).ok()?.checked_sub(1)?;
    array.dimensions.get(number).copied()
}

fn dimensions_text(array: &Array) -> Option<String> {
    let text = |d: &Dimension| format!("[{}:{}]", d.lower, upper(d));
    (!array.dimensions.is_empty()).then(|| array.dimensions.iter().map(text).collect())
}

fn upper(dimension: &Dimension) -> i32 {
    dimension.lower.wrapping_add(dimension.length - 1)
}

fn only_one_dimension(array: &Array, doing: &str) -> Result<()> {
    if array.dimensions.len() > 1 {
        let message = format!("{doing} multidimensional arrays is not supported");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    Ok(())
}

/// The subscripts of the elements that are this value.
fn positions<'a>(array: &'a Array, value: &'a Datum) -> Result<impl Iterator<Item = i32> + 'a> {
    only_one_dimension(array, "searching for elements in")?;
    let lower = array.dimensions.first().map_or(1, |dimension| dimension.lower);
    let found = array
        .elements
        .iter()
        .enumerate()
        .filter(|(_, element)| equal(array.element, element, value));
    Ok(found.map(move |(at, _)| lower.wrapping_add(at as i32)))
}

fn position(array: Option<&Array>, value: &Datum, from: i32) -> Result<Option<i32>> {
    let Some(array) = array else {
        return Ok(None);
    };
    Ok(positions(array, value)?.find(|&position| position >= from))
}

fn position_from(array: Option<&Array>, value: &Datum, from: Option<i32>) -> Result<Option<i32>> {
    if array.is_none() {
        return Ok(None);
    }
    match from {
        Some(from) => position(array, value, from),
        None => Err(null_not_allowed("initial position must not be null")),
    }
}

fn all_positions(array: Option<&Array>, value: &Datum) -> Result<Option<Array>> {
    let Some(array) = array else {
        return Ok(None);
    };
    let found = positions(array, value)?.map(Datum::Int4).collect();
    Ok(Some(Array::of(Oid::INT4, found)))
}

fn remove(array: Option<&Array>, value: &Datum) -> Result<Option<Array>> {
    let Some(array) = array else {
        return Ok(None);
    };
    only_one_dimension(array, "removing elements from")?;
    let kept = array.elements.iter().filter(|element| !equal(array.element, element, value));
    let elements: Vec<Datum> = kept.cloned().collect();
    let mut dimensions = array.dimensions.clone();
    match dimensions.first_mut() {
        Some(first) if !elements.is_empty() => first.length = elements.len() as i32,
        _ => dimensions.clear(),
    }
    Ok(Some(Array { element: array.element, dimensions, elements }))
}

fn replace(array: Option<&Array>, from: &Datum, to: &Datum) -> Option<Array> {
    let mut array = array?.clone();
    let ty = array.element;
    for element in array.elements.iter_mut().filter(|element| equal(ty, element, from)) {
        *element = to.clone();
    }
    Some(array)
}

/// The numbers of an array of dimensions or lower bounds.
fn numbers(array: &Array, what: &str) -> Result<Vec<i32>> {
    if array.dimensions.len() > 1 {
        let detail = format!("{what} array must be one dimensional.");
        return Err(subscript_error("wrong number of array subscripts").detail(detail));
    }
    let number = |element: &Datum| match element {
        Datum::Int4(number) => Ok(*number),
        _ => Err(null_not_allowed("dimension values cannot be null")),
    };
    array.elements.iter().map(number).collect()
}

fn fill(
    value: &Datum,
    lengths: Option<&Array>,
    bounds: Option<Option<&Array>>,
    element: Oid,
) -> Result<Array> {
    let missing = || null_not_allowed("dimension array or low bound array cannot be null");
    let given = bounds.map(|bounds| bounds.ok_or_else(missing)).transpose()?;
    let lengths = numbers(lengths.ok_or_else(missing)?, "Dimension")?;
    if lengths.len() > DIMENSIONS_MAX {
        let message = format!(
            "number of array dimensions ({}) exceeds the maximum allowed ({DIMENSIONS_MAX})",
            lengths.len()
        );
        return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message));
    }
    let bounds = match given {
        Some(bounds) => numbers(bounds, "Dimension")?,
        None => vec![1; lengths.len()],
    };
    if bounds.len() != lengths.len() {
        let detail = "Low bound array has different size than dimensions array.";
        return Err(subscript_error("wrong number of array subscripts").detail(detail));
    }
    let count = count_of(&lengths)?;
    if count == 0 {
        return Ok(Array::of(element, Vec::new()));
    }
    check_bounds(&lengths, &bounds)?;
    let pairs = lengths.into_iter().zip(bounds);
    let dimensions = pairs.map(|(length, lower)| Dimension { length, lower }).collect();
    Ok(Array { element, dimensions, elements: vec![value.clone(); count] })
}

/// How many elements an array of these dimensions has.
fn count_of(lengths: &[i32]) -> Result<usize> {
    if lengths.is_empty() {
        return Ok(0);
    }
    let mut count = 1_i64;
    for &length in lengths {
        count = count.checked_mul(length.into()).filter(|_| length >= 0).ok_or_else(too_many)?;
        if count > ELEMENTS_MAX {
            return Err(too_many());
        }
    }
    Ok(count as usize)
}

fn check_bounds(lengths: &[i32], bounds: &[i32]) -> Result<()> {
    for (length, lower) in lengths.iter().zip(bounds) {
        if lower.checked_add(*length).is_none() {
            let message = format!("array lower bound is too large: {lower}");
            return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message));
        }
    }
    Ok(())
}

/// Without the last elements; subscripts begin at 1 again, as those of a slice.
fn trim(array: &Array, count: i32) -> Result<Array> {
    let length = array.dimensions.first().map_or(0, |dimension| dimension.length);
    if count < 0 || count > length {
        let message = format!("number of elements to trim must be between 0 and {length}");
        return Err(subscript_error(message));
    }
    let kept = length - count;
    if kept == 0 {
        return Ok(Array::of(array.element, Vec::new()));
    }
    let inner = array.elements.len() / length as usize;
    let elements = array.elements[..inner * kept as usize].to_vec();
    let lengths = array.dimensions.iter().map(|dimension| dimension.length);
    let mut dimensions: Vec<Dimension> =
        lengths.map(|length| Dimension { length, lower: 1 }).collect();
    dimensions[0].length = kept;
    Ok(Array { element: array.element, dimensions, elements })
}

/// The number of the interval between ascending thresholds that a value is in.
fn width_bucket(value: &Datum, thresholds: &Array) -> Result<i32> {
    if thresholds.dimensions.len() > 1 {
        return Err(subscript_error("thresholds must be one-dimensional array"));
    }
    if thresholds.elements.iter().any(Datum::is_null) {
        return Err(null_not_allowed("thresholds array must not contain NULLs"));
    }
    let below = |threshold: &Datum| order(thresholds.element, value, threshold).is_ge();
    Ok(thresholds.elements.partition_point(below) as i32)
}

/// The type of a new array's elements: of the argument that is one.
fn element_type(call: &Call<'_>, number: usize) -> Oid {
    call.args.get(number).copied().unwrap_or(Oid::TEXT)
}

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("array_"; a: &Array, b: &Array => compare_arrays(a, b)),
    functions! {
        "array_larger", (a: &Datum, b: &Datum) =>
            if order(Oid::ANYARRAY, a, b).is_gt() { a } else { b };
        "array_smaller", (a: &Datum, b: &Datum) =>
            if order(Oid::ANYARRAY, a, b).is_lt() { a } else { b };
        "array_append", (a: Option<&Array>, b: &Datum) [call, _args] =>
            append(a, b, element_type(call, 1));
        "array_prepend", (a: &Datum, b: Option<&Array>) [call, _args] =>
            prepend(a, b, element_type(call, 0));
        "array_cat", (a: Option<&Array>, b: Option<&Array>) => concatenate(a, b);
        "arraycontains", (a: &Array, b: &Array) => contains(a, b);
        "arraycontained", (a: &Array, b: &Array) => contains(b, a);
        "arrayoverlap", (a: &Array, b: &Array) => overlaps(a, b);
        "array_dims", (a: &Array) => dimensions_text(a);
        "array_ndims", (a: &Array) =>
            (!a.dimensions.is_empty()).then_some(a.dimensions.len() as i32);
        "array_lower", (a: &Array, n: i32) => dimension(a, n).map(|d| d.lower);
        "array_upper", (a: &Array, n: i32) => dimension(a, n).map(|d| upper(&d));
        "array_length", (a: &Array, n: i32) => dimension(a, n).map(|d| d.length);
        "array_cardinality", (a: &Array) => a.elements.len() as i32;
        "array_position", (a: Option<&Array>, b: &Datum) => position(a, b, i32::MIN);
        "array_position_start", (a: Option<&Array>, b: &Datum, from: Option<i32>) =>
            position_from(a, b, from);
        "array_positions", (a: Option<&Array>, b: &Datum) => all_positions(a, b);
        "array_remove", (a: Option<&Array>, b: &Datum) => remove(a, b);
        "array_replace", (a: Option<&Array>, b: &Datum, c: &Datum) => replace(a, b, c);
        "array_fill", (a: &Datum, lengths: Option<&Array>) [call, _args] =>
            fill(a, lengths, None, element_type(call, 0));
        "array_fill_with_lower_bounds",
            (a: &Datum, lengths: Option<&Array>, bounds: Option<&Array>) [call, _args] =>
            fill(a, lengths, Some(bounds), element_type(call, 0));
        "trim_array", (a: &Array, count: i32) => trim(a, count);
        "width_bucket_array", (a: &Datum, b: &Array) => width_bucket(a, b);
    },
];
