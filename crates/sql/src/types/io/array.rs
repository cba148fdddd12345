//! Arrays as text: `{1,2}`, nested, with quotes and escapes, and with bounds `[2:3]={…}`.

use super::{input, output};
use crate::error::{Result, SqlError, code};
use crate::types::Call;
use crate::types::{Array, Datum, Dimension, Oid};
use std::sync::Arc;

/// How many dimensions an array may have.
pub const DIMENSIONS_MAX: usize = 6;

/// What stands between elements of a type.
pub fn delimiter(element: Oid) -> char {
    if element == Oid::BOX { ';' } else { ',' }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn too_many_dimensions(count: usize) -> SqlError {
    let message = format!(
        "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
    );
    SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
}

/// Why a text is no array.
enum Problem {
    Malformed(String),
    Other(SqlError),
}

fn malformed<T>(detail: impl Into<String>) -> std::result::Result<T, Problem> {
    Err(Problem::Malformed(detail.into()))
}

fn unexpected<T>(c: char) -> std::result::Result<T, Problem> {
    malformed(format!("Unexpected \"{c}\" character."))
}

/// Where in the text the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Nothing,
    LevelStarted,
    ElementStarted,
    QuotedStarted,
    QuotedCompleted,
    ElementDelimited,
    LevelCompleted,
    LevelDelimited,
}

/// Reads an array of elements of a type.
pub fn read_array(text: &str, element: Oid, typmod: i32, call: &Call<'_>) -> Result<Datum> {
    let delimiter = delimiter(element);
    let (dimensions, items) = read_items(text, delimiter).map_err(|problem| match problem {
        Problem::Other(error) => error,
        Problem::Malformed(detail) => {
            let message = format!("malformed array literal: \"{text}\"");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message).detail(detail)
        }
    })?;
    let value = |item: Option<String>| match item {
        Some(text) => input(&text, element, typmod, call),
        None => Ok(Datum::Null),
    };
    let elements = items.into_iter().map(value).collect::<Result<Vec<_>>>()?;
    Ok(Datum::Array(Arc::new(Array { element, dimensions, elements })))
}

type Items = (Vec<Dimension>, Vec<Option<String>>);

fn read_items(text: &str, delimiter: char) -> std::result::Result<Items, Problem> {
    let (bounds, rest) = read_bounds(text)?;
    let contents = match bounds.is_empty() {
        true if !rest.starts_with('{') => {
            return malformed("Array value must start with \"{\" or dimension information.");
        }
        true => rest,
        false => {
            let Some(rest) = rest.strip_prefix('=') else {
                return malformed("Missing \"=\" after array dimensions.");
            };
            let rest = rest.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
            if !rest.starts_with('{') {
                return malformed("Array contents must start with \"{\".");
            }
            rest
        }
    };
    let mut reader = Reader::new(contents, delimiter);
    reader.read()?;
    let (lengths, items) = reader.finish()?;
    if bounds.is_empty() {
        let dimension = |length| Dimension { length, lower: 1 };
        return Ok((lengths.into_iter().map(dimension).collect(), items));
    }
    if !bounds.iter().map(|dimension| dimension.length).eq(lengths) {
        return malformed("Specified array dimensions do not match array contents.");
    }
    Ok((bounds, items))
}

/// The bounds before the contents.
fn read_bounds(text: &str) -> std::result::Result<(Vec<Dimension>, &str), Problem> {
    let mut bounds = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
        let Some(inner) = rest.strip_prefix('[') else { return Ok((bounds, rest)) };
        if bounds.len() >= DIMENSIONS_MAX {
            return Err(Problem::Other(too_many_dimensions(bounds.len() + 1)));
        }
        let (dimension, behind) = read_bound(inner)?;
        bounds.push(dimension);
        rest = behind;
    }
}

fn read_bound(text: &str) -> std::result::Result<(Dimension, &str), Problem> {
    let number = |text: &str| {
        text.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+')).count()
    };
    let end = number(text);
    if end == 0 {
        return malformed("\"[\" must introduce explicitly-specified array dimensions.");
    }
    let (mut last, mut rest) = text.split_at(end);
    let mut lower = 1;
    if let Some(behind) = rest.strip_prefix(':') {
        lower = c_integer(last);
        let end = number(behind);
        if end == 0 {
            return malformed("Missing array dimension value.");
        }
        (last, rest) = behind.split_at(end);
    }
    let Some(rest) = rest.strip_prefix(']') else {
        return malformed("Missing \"]\" after array dimensions.");
    };
    let upper = c_integer(last);
    if upper < lower {
        let message = "upper bound cannot be less than lower bound";
        return Err(Problem::Other(SqlError::new(code::ARRAY_SUBSCRIPT_ERROR, message)));
    }
    let too_large = || {
        let message = "array size exceeds the maximum allowed (134217727)";
        Problem::Other(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message))
    };
    let length = (upper - lower + 1).try_into().map_err(|_| too_large())?;
    let lower = lower.try_into().map_err(|_| too_large())?;
    Ok((Dimension { length, lower }, rest))
}

/// A number as C's `atoi` reads it.
fn c_integer(text: &str) -> i64 {
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let value: i64 = text[..sign + digits].parse().unwrap_or(0);
    value.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
}

struct Reader<'t> {
    text: &'t str,
    delimiter: char,
    state: State,
    level: usize,
    deepest: usize,
    /// Elements in the current group of each level.
    counts: [i32; DIMENSIONS_MAX],
    /// Elements in the last complete group of each level; 0 if there was none.
    lengths: [i32; DIMENSIONS_MAX],
    items: Vec<Option<String>>,
    item: String,
    /// How much of the item must stay if spaces at its end are dropped.
    item_kept: usize,
    quoted: bool,
    rest: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, delimiter: char) -> Reader<'t> {
        Reader {
            text,
            delimiter,
            state: State::Nothing,
            level: 0,
            deepest: 0,
            counts: [1; DIMENSIONS_MAX],
            lengths: [0; DIMENSIONS_MAX],
            items: Vec::new(),
            item: String::new(),
            item_kept: 0,
            quoted: false,
            rest: 0,
        }
    }

    fn read(&mut self) -> std::result::Result<(), Problem> {
        let mut chars = self.text.char_indices();
        while let Some((at, c)) = chars.next() {
            let quoting = self.state == State::QuotedStarted;
            match c {
                '\\' => {
                    let next = chars.next();
                    self.escape(next.map(|(_, c)| c))?;
                }
                '"' => self.quote()?,
                _ if quoting => self.item.push(c),
                '{' => self.open()?,
                '}' => {
                    if self.close()? {
                        self.rest = at + 1;
                        return Ok(());
                    }
                }
                _ if c == self.delimiter => self.delimit()?,
                _ if c.is_ascii() && is_space(c as u8) => self.space(c),
                _ => self.character(c)?,
            }
        }
        malformed("Unexpected end of input.")
    }

    fn escape(&mut self, escaped: Option<char>) -> std::result::Result<(), Problem> {
        use State::{ElementDelimited, ElementStarted, LevelStarted, QuotedStarted};
        match self.state {
            QuotedStarted => {}
            LevelStarted | ElementStarted | ElementDelimited => self.state = ElementStarted,
            _ => return unexpected('\\'),
        }
        let Some(escaped) = escaped else { return malformed("Unexpected end of input.") };
        self.item.push(escaped);
        self.item_kept = self.item.len();
        // An escape makes the word null an element.
        self.quoted = true;
        Ok(())
    }

    fn quote(&mut self) -> std::result::Result<(), Problem> {
        self.state = match self.state {
            State::LevelStarted | State::ElementDelimited => State::QuotedStarted,
            State::QuotedStarted => State::QuotedCompleted,
            _ => return malformed("Unexpected array element."),
        };
        self.quoted = true;
        self.item_kept = self.item.len();
        Ok(())
    }

    fn open(&mut self) -> std::result::Result<(), Problem> {
        use State::{LevelDelimited, LevelStarted, Nothing};
        if !matches!(self.state, Nothing | LevelStarted | LevelDelimited) {
            return unexpected('{');
        }
        if self.level >= DIMENSIONS_MAX {
            return Err(Problem::Other(too_many_dimensions(self.level + 1)));
        }
        self.state = LevelStarted;
        self.level += 1;
        self.deepest = self.deepest.max(self.level);
        Ok(())
    }

    /// Whether this was the last brace.
    fn close(&mut self) -> std::result::Result<bool, Problem> {
        use State::{ElementStarted, LevelCompleted, LevelStarted, QuotedCompleted};
        match self.state {
            ElementStarted | QuotedCompleted => self.take_item(),
            LevelCompleted => {}
            LevelStarted if self.level == 1 => {}
            _ => return unexpected('}'),
        }
        self.state = LevelCompleted;
        self.level -= 1;
        let (count, length) = (self.counts[self.level], self.lengths[self.level]);
        if length != 0 && count != length {
            return malformed(
                "Multidimensional arrays must have sub-arrays with matching dimensions.",
            );
        }
        self.lengths[self.level] = count;
        self.counts[self.level] = 1;
        Ok(self.level == 0)
    }

    fn delimit(&mut self) -> std::result::Result<(), Problem> {
        self.state = match self.state {
            State::ElementStarted | State::QuotedCompleted => {
                self.take_item();
                State::ElementDelimited
            }
            State::LevelCompleted => State::LevelDelimited,
            _ => return unexpected(self.delimiter),
        };
        self.counts[self.level - 1] += 1;
        Ok(())
    }

    fn space(&mut self, c: char) {
        if self.state == State::ElementStarted {
            self.item.push(c);
        }
    }

    fn character(&mut self, c: char) -> std::result::Result<(), Problem> {
        use State::{ElementDelimited, ElementStarted, LevelStarted};
        if !matches!(self.state, LevelStarted | ElementStarted | ElementDelimited) {
            return malformed("Unexpected array element.");
        }
        self.state = ElementStarted;
        self.item.push(c);
        self.item_kept = self.item.len();
        Ok(())
    }

    fn take_item(&mut self) {
        let mut item = std::mem::take(&mut self.item);
        item.truncate(self.item_kept);
        let null = !self.quoted && item.eq_ignore_ascii_case("null");
        self.items.push((!null).then_some(item));
        (self.item_kept, self.quoted) = (0, false);
    }

    fn finish(self) -> std::result::Result<(Vec<i32>, Vec<Option<String>>), Problem> {
        if self.text[self.rest..].bytes().any(|b| !is_space(b)) {
            return malformed("Junk after closing right brace.");
        }
        if self.items.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        // Every element must be on the deepest level.
        let lengths = self.lengths[..self.deepest].to_vec();
        let expected = lengths.iter().try_fold(1i64, |all, n| all.checked_mul(i64::from(*n)));
        if expected != Some(self.items.len() as i64) {
            return malformed(
                "Multidimensional arrays must have sub-arrays with matching dimensions.",
            );
        }
        Ok((lengths, self.items))
    }
}

fn needs_quotes(text: &str, delimiter: char) -> bool {
    text.is_empty()
        || text.eq_ignore_ascii_case("null")
        || text.chars().any(|c| {
            matches!(c, '"' | '\\' | '{' | '}')
                || c == delimiter
                || (c.is_ascii() && is_space(c as u8))
        })
}

/// Writes an array.
pub fn write_array(array: &Array, call: &Call<'_>) -> String {
    if array.elements.is_empty() {
        return "{}".into();
    }
    let delimiter = delimiter(array.element);
    let mut text = String::new();
    if array.dimensions.iter().any(|dimension| dimension.lower != 1) {
        for Dimension { length, lower } in &array.dimensions {
            let upper = i64::from(*lower) + i64::from(*length) - 1;
            text.push_str(&format!("[{lower}:{upper}]"));
        }
        text.push('=');
    }
    // How many elements a group of each level has, from the outermost.
    let mut sizes = vec![1usize; array.dimensions.len()];
    for at in (0..sizes.len().saturating_sub(1)).rev() {
        sizes[at] = sizes[at + 1] * array.dimensions[at + 1].length.max(1) as usize;
    }
    let groups: Vec<usize> = sizes
        .iter()
        .zip(&array.dimensions)
        .map(|(size, dimension)| size * dimension.length.max(1) as usize)
        .collect();
    for (at, element) in array.elements.iter().enumerate() {
        if at > 0 {
            text.push(delimiter);
        }
        let opened = groups.iter().filter(|size| at % **size == 0).count();
        text.push_str(&"{".repeat(opened));
        write_element(element, array.element, delimiter, &mut text, call);
        let closed = groups.iter().filter(|size| (at + 1) % **size == 0).count();
        text.push_str(&"}".repeat(closed));
    }
    text
}

fn write_element(value: &Datum, ty: Oid, delimiter: char, out: &mut String, call: &Call<'_>) {
    if value.is_null() {
        return out.push_str("NULL");
    }
    let text = output(value, ty, call);
    if !needs_quotes(&text, delimiter) {
        return out.push_str(&text);
    }
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// Reads an int2vector or oidvector: numbers with spaces between.
pub(super) fn read_vector(text: &str, ty: Oid) -> Result<Datum> {
    let element = if ty == Oid::INT2VECTOR { Oid::INT2 } else { Oid::OID };
    let value = |part: &str| super::scalars::input(part, element).map(|v| v.unwrap_or(Datum::Null));
    let parts = text.split(super::scalars::is_space).filter(|part| !part.is_empty());
    let elements = parts.map(value).collect::<Result<Vec<_>>>()?;
    Ok(Datum::Array(Arc::new(vector(element, elements))))
}

/// A vector: an array whose subscripts begin with 0.
pub(crate) fn vector(element: Oid, elements: Vec<Datum>) -> Array {
    let mut array = Array::of(element, elements);
    if array.dimensions.is_empty() {
        array.dimensions.push(Dimension { length: 0, lower: 0 });
    }
    array.dimensions[0].lower = 0;
    array
}

/// Writes a vector.
pub(super) fn write_vector(array: &Array, call: &Call<'_>) -> String {
    let parts: Vec<String> =
        array.elements.iter().map(|value| output(value, array.element, call)).collect();
    parts.join(" ")
}
