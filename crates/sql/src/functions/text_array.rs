//! Arrays from text and text from arrays.

use super::arguments::{Entry, argument};
use super::{Call, Rows, SetFunction};
use crate::error::Result;
use crate::types::{Array, Datum, Oid, io};

/// The fields of a text. Without a separator (null) each character is a field, an empty separator
/// separates nothing, and a field that is the text for null is null.
fn fields(text: &str, separator: Option<&str>, null: Option<&str>) -> Vec<Datum> {
    let datum = |field: &str| if Some(field) == null { Datum::Null } else { Datum::text(field) };
    if text.is_empty() {
        return Vec::new();
    }
    match separator {
        None => text.chars().map(|c| datum(c.encode_utf8(&mut [0; 4]))).collect(),
        Some("") => vec![datum(text)],
        Some(separator) => text.split(separator).map(datum).collect(),
    }
}

fn to_array(text: Option<&str>, separator: Option<&str>, null: Option<&str>) -> Option<Array> {
    text.map(|text| Array::of(Oid::TEXT, fields(text, separator, null)))
}

fn to_text(call: &Call<'_>, array: &Array, separator: &str, null: Option<&str>) -> Result<String> {
    let mut text = String::new();
    let mut first = true;
    for element in &array.elements {
        let written = match element {
            Datum::Null => match null {
                Some(null) => null.to_owned(),
                None => continue,
            },
            element => io::output(element, array.element, call),
        };
        if !std::mem::take(&mut first) {
            text.push_str(separator);
        }
        text.push_str(&written);
    }
    Ok(text)
}

fn to_text_or_null(call: &Call<'_>, args: &[Datum]) -> Result<Option<String>> {
    let array: Option<&Array> = argument(args, 0)?;
    let separator: Option<&str> = argument(args, 1)?;
    match (array, separator) {
        (Some(array), Some(separator)) => {
            to_text(call, array, separator, argument(args, 2)?).map(Some)
        }
        _ => Ok(None),
    }
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "text_to_array", (a: Option<&str>, separator: Option<&str>) => to_array(a, separator, None);
    "text_to_array_null", (a: Option<&str>, separator: Option<&str>, null: Option<&str>) =>
        to_array(a, separator, null);
    "array_to_text", (a: &Array, separator: &str) [call, _args] =>
        to_text(call, a, separator, None);
    "array_to_text_null", () [call, args] => to_text_or_null(call, args);
}];

fn to_table(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let text: Option<&str> = argument(args, 0)?;
    let null = if args.len() > 2 { argument(args, 2)? } else { None };
    let separator = argument(args, 1)?;
    let fields = text.map_or_else(Vec::new, |text| fields(text, separator, null));
    Ok(Box::new(fields.into_iter().map(|field| Ok(vec![field]))))
}

pub(super) const SETS: &[(&str, SetFunction)] =
    &[("text_to_table", to_table), ("text_to_table_null", to_table)];
