//! json and jsonb as Rust's types, for tables of functions.

use crate::error::{Result, SqlError, code};
use crate::functions::arguments::{Argument, Outcome};
use crate::types::json::{Escapes, Json, Node, parse};
use crate::types::{Array, Datum};
use std::sync::Arc;

/// Text of json.
#[derive(Clone, Copy)]
pub struct Text<'a>(pub &'a str);

impl<'a> Argument<'a> for Text<'a> {
    fn take(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Json(text) => Some(Text(text)),
            _ => None,
        }
    }
}

impl<'a> Text<'a> {
    /// Its structure.
    pub fn node(self) -> Result<Node<'a>> {
        parse(self.0, Escapes::Decode)
    }
}

/// Text of json as a result.
pub struct NewText(pub String);

impl Outcome for NewText {
    fn datum(self) -> Result<Datum> {
        Ok(Datum::Json(self.0.into()))
    }
}

impl<'a> Argument<'a> for &'a Json {
    fn take(datum: &'a Datum) -> Option<Self> {
        match datum {
            Datum::Jsonb(json) => Some(json),
            _ => None,
        }
    }
}

impl Outcome for Json {
    fn datum(self) -> Result<Datum> {
        Ok(Datum::Jsonb(Arc::new(self)))
    }
}

/// An error about an argument.
pub fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// The elements of an array of text.
pub fn texts(array: &Array) -> Vec<Option<&str>> {
    let text = |datum| <&str as Argument<'_>>::take(datum);
    array.elements.iter().map(text).collect()
}

/// The elements of a path, which has one dimension.
pub fn path(array: &Array) -> Result<Vec<Option<&str>>> {
    if array.dimensions.len() > 1 {
        return Err(wrong_subscripts());
    }
    Ok(texts(array))
}

/// The error of an array with too many dimensions.
pub fn wrong_subscripts() -> SqlError {
    SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
}

/// An index as C reads it: digits with a sign and spaces before, nothing behind.
pub fn index(text: &str) -> Option<i64> {
    let trimmed = text.trim_start_matches(crate::types::io::scalars::is_space);
    trimmed.parse::<i32>().ok().map(i64::from)
}
