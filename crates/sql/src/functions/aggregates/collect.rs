//! Aggregates that keep all their rows: `string_agg` and `array_agg`.

use super::{Accumulator, Call, Start, new};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::argument;
use crate::functions::array::null_not_allowed;
use crate::types::{Array, Datum, Dimension, Oid};
use std::sync::Arc;

/// What a text has at most.
const BYTES_MAX: usize = 0x3fff_fffe;
/// What an array has at most, as in PostgreSQL.
const ELEMENTS_MAX: usize = 134_217_727;

/// The accumulator of `string_agg` over this type.
pub(super) fn string(ty: Oid) -> Start {
    if ty == Oid::BYTEA { new::<Bytes> } else { new::<Strings> }
}

/// A text has at most a gigabyte, as in PostgreSQL.
fn check_size(have: usize, more: usize) -> Result<()> {
    if have + more <= BYTES_MAX {
        return Ok(());
    }
    let detail =
        format!("Cannot enlarge string buffer containing {have} bytes by {more} more bytes.");
    Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, "out of memory").detail(detail))
}

fn check_count(elements: usize) -> Result<()> {
    if elements <= ELEMENTS_MAX {
        return Ok(());
    }
    let message = format!("array size exceeds the maximum allowed ({ELEMENTS_MAX})");
    Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message))
}

/// Values with the delimiter of each further row before it.
#[derive(Default)]
struct Strings(Option<String>);

impl Accumulator for Strings {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let Some(value) = argument::<Option<&str>>(args, 0)? else {
            return Ok(());
        };
        match &mut self.0 {
            None => self.0 = Some(value.to_owned()),
            Some(text) => {
                let between = argument::<Option<&str>>(args, 1)?.unwrap_or("");
                check_size(text.len(), between.len() + value.len())?;
                text.push_str(between);
                text.push_str(value);
            }
        }
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.0.as_deref().map_or(Datum::Null, Datum::text))
    }
}

/// The same for bytes.
#[derive(Default)]
struct Bytes(Option<Vec<u8>>);

impl Accumulator for Bytes {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let Some(value) = argument::<Option<&[u8]>>(args, 0)? else {
            return Ok(());
        };
        match &mut self.0 {
            None => self.0 = Some(value.to_vec()),
            Some(bytes) => {
                let between = argument::<Option<&[u8]>>(args, 1)?.unwrap_or(&[]);
                check_size(bytes.len(), between.len() + value.len())?;
                bytes.extend_from_slice(between);
                bytes.extend_from_slice(value);
            }
        }
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        Ok(self.0.as_deref().map_or(Datum::Null, |bytes| Datum::Bytea(bytes.into())))
    }
}

/// `array_agg`: of arrays it makes an array with one more dimension.
pub(super) fn array(call: &Call<'_>) -> Box<dyn Accumulator> {
    // The type of the result is that of its argument only for arrays.
    if call.args.first() == Some(&call.result) {
        Box::new(Arrays::default())
    } else {
        Box::new(Elements::default())
    }
}

#[derive(Default)]
struct Elements(Vec<Datum>);

impl Accumulator for Elements {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        check_count(self.0.len() + 1)?;
        self.0.push(argument::<&Datum>(args, 0)?.clone());
        Ok(())
    }

    fn finish(&self, call: &Call<'_>) -> Result<Datum> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        let element = call.args.first().copied().unwrap_or(Oid::TEXT);
        Ok(Datum::Array(Arc::new(Array::of(element, self.0.clone()))))
    }
}

#[derive(Default)]
struct Arrays {
    count: i32,
    element: Oid,
    dimensions: Vec<Dimension>,
    elements: Vec<Datum>,
}

fn subscript_error(message: &str) -> SqlError {
    SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message)
}

impl Accumulator for Arrays {
    fn add(&mut self, _call: &Call<'_>, args: &[Datum]) -> Result<()> {
        let array: Option<&Array> = argument(args, 0)?;
        let array = array.ok_or_else(|| null_not_allowed("cannot accumulate null arrays"))?;
        if self.count > 0 && self.dimensions != array.dimensions {
            let message = "cannot accumulate arrays of different dimensionality";
            return Err(subscript_error(message));
        }
        if array.dimensions.is_empty() {
            return Err(subscript_error("cannot accumulate empty arrays"));
        }
        self.element = array.element;
        self.dimensions.clone_from(&array.dimensions);
        self.count += 1;
        check_count(self.elements.len() + array.elements.len())?;
        self.elements.extend_from_slice(&array.elements);
        Ok(())
    }

    fn finish(&self, _call: &Call<'_>) -> Result<Datum> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        let mut dimensions = vec![Dimension { length: self.count, lower: 1 }];
        dimensions.extend_from_slice(&self.dimensions);
        let elements = self.elements.clone();
        Ok(Datum::Array(Arc::new(Array { element: self.element, dimensions, elements })))
    }
}
