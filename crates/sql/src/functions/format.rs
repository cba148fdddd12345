//! `format`, `concat`, `concat_ws` and `||` with values of any type.
//!
//! An array that a call spreads with VARIADIC comes here as its elements.

use super::Call;
use super::arguments::{Entry, argument};
use super::quote::{quote_ident, quote_literal};
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, io};

fn type_of(call: &Call<'_>, number: usize) -> Oid {
    call.args.get(number).copied().unwrap_or(Oid::TEXT)
}

/// An argument as text, nothing if it is null.
fn text_of(call: &Call<'_>, args: &[Datum], number: usize) -> Result<Option<String>> {
    match argument::<&Datum>(args, number)? {
        Datum::Null => Ok(None),
        Datum::Text(text) => Ok(Some(text.to_string())),
        value => Ok(Some(io::output(value, type_of(call, number), call))),
    }
}

/// `||` casts what is not text: of a boolean that is another text than what is written.
fn cast(value: &Datum, ty: Oid, call: &Call<'_>) -> String {
    match value {
        Datum::Bool(value) => value.to_string(),
        Datum::Text(text) if ty == Oid::BPCHAR => text.trim_end_matches(' ').to_owned(),
        value => io::output(value, ty, call),
    }
}

fn concat(call: &Call<'_>, args: &[Datum], first: usize, separator: &str) -> Result<String> {
    let mut parts = Vec::with_capacity(args.len());
    for number in first..args.len() {
        parts.extend(text_of(call, args, number)?);
    }
    Ok(parts.join(separator))
}

fn concat_separated(call: &Call<'_>, args: &[Datum]) -> Result<Option<String>> {
    match argument::<Option<&str>>(args, 0)? {
        Some(separator) => concat(call, args, 1, separator).map(Some),
        None => Ok(None),
    }
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// How wide a specifier is.
enum Width {
    None,
    Fixed(i32),
    /// The next argument.
    Next,
    /// The argument with this number.
    Argument(i32),
}

/// `%[position][flags][width]type`.
struct Specifier {
    position: Option<i32>,
    left: bool,
    width: Width,
    kind: char,
}

/// Goes over a format.
struct Formatter<'f> {
    rest: &'f str,
    call: &'f Call<'f>,
    args: &'f [Datum],
    /// The argument that was used last; 0 is the format itself.
    last: usize,
}

impl Formatter<'_> {
    fn peek(&self) -> Result<char> {
        let hint = "For a single \"%\" use \"%%\".";
        let error = || invalid("unterminated format() type specifier").hint(hint);
        self.rest.chars().next().ok_or_else(error)
    }

    fn skip(&mut self) {
        let mut characters = self.rest.chars();
        characters.next();
        self.rest = characters.as_str();
    }

    fn number(&mut self) -> Result<Option<i32>> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        let number = self.rest[..digits].parse();
        let error = |_| SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range");
        self.rest = &self.rest[digits..];
        self.peek()?;
        number.map(Some).map_err(error)
    }

    fn position(&mut self, number: i32) -> Result<i32> {
        self.skip();
        self.peek()?;
        if number == 0 {
            let message = "format specifies argument 0, but arguments are numbered from 1";
            return Err(invalid(message));
        }
        Ok(number)
    }

    fn specifier(&mut self) -> Result<Specifier> {
        let mut specifier =
            Specifier { position: None, left: false, width: Width::None, kind: ' ' };
        self.peek()?;
        if let Some(number) = self.number()? {
            if self.peek()? != '$' {
                specifier.width = Width::Fixed(number);
                specifier.kind = self.peek()?;
                return Ok(specifier);
            }
            specifier.position = Some(self.position(number)?);
        }
        while self.peek()? == '-' {
            specifier.left = true;
            self.skip();
        }
        specifier.width = self.width()?;
        specifier.kind = self.peek()?;
        Ok(specifier)
    }

    fn width(&mut self) -> Result<Width> {
        if self.peek()? != '*' {
            return Ok(self.number()?.map_or(Width::None, Width::Fixed));
        }
        self.skip();
        self.peek()?;
        let Some(number) = self.number()? else {
            return Ok(Width::Next);
        };
        if self.peek()? != '$' {
            return Err(invalid("width argument position must be ended by \"$\""));
        }
        self.position(number).map(Width::Argument)
    }

    fn take(&mut self, position: Option<i32>) -> Result<usize> {
        self.last = position.map_or(self.last + 1, |position| position as usize);
        if self.last >= self.args.len() {
            return Err(invalid("too few arguments for format()"));
        }
        Ok(self.last)
    }

    fn width_argument(&mut self, position: Option<i32>) -> Result<i32> {
        let number = self.take(position)?;
        match &self.args[number] {
            Datum::Null => Ok(0),
            Datum::Int4(width) => Ok(*width),
            Datum::Int2(width) => Ok((*width).into()),
            value => {
                let text = io::output(value, type_of(self.call, number), self.call);
                let width = io::input(&text, Oid::INT4, -1, self.call)?;
                argument(&[width], 0)
            }
        }
    }

    fn resolved_width(&mut self, width: &Width) -> Result<i32> {
        match width {
            Width::None => Ok(0),
            Width::Fixed(width) => Ok(*width),
            Width::Next => self.width_argument(None),
            Width::Argument(number) => self.width_argument(Some(*number)),
        }
    }

    fn converted(&mut self, specifier: &Specifier) -> Result<String> {
        let number = self.take(specifier.position)?;
        let text = text_of(self.call, self.args, number)?;
        match (specifier.kind, text) {
            ('s', text) => Ok(text.unwrap_or_default()),
            ('L', text) => Ok(text.map_or_else(|| "NULL".to_owned(), |t| quote_literal(&t))),
            ('I', Some(text)) => Ok(quote_ident(&text)),
            _ => {
                let message = "null values cannot be formatted as an SQL identifier";
                Err(SqlError::new(code::NULL_VALUE_NOT_ALLOWED, message))
            }
        }
    }

    /// One specifier, behind its `%`.
    fn conversion(&mut self, out: &mut String) -> Result<()> {
        if self.peek()? == '%' {
            out.push('%');
            self.skip();
            return Ok(());
        }
        let specifier = self.specifier()?;
        if !matches!(specifier.kind, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{}\"", specifier.kind);
            return Err(invalid(message).hint("For a single \"%\" use \"%%\"."));
        }
        let width = self.resolved_width(&specifier.width)?;
        let text = self.converted(&specifier)?;
        self.skip();
        pad(out, &text, width, specifier.left)
    }
}

fn pad(out: &mut String, text: &str, width: i32, left: bool) -> Result<()> {
    let left = left || width < 0;
    let error = || SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range");
    let width = width.checked_abs().ok_or_else(error)? as usize;
    let missing = width.saturating_sub(text.chars().count());
    let blanks = std::iter::repeat_n(' ', missing);
    if left {
        out.push_str(text);
        out.extend(blanks);
    } else {
        out.extend(blanks);
        out.push_str(text);
    }
    Ok(())
}

fn format_text(call: &Call<'_>, args: &[Datum]) -> Result<Option<String>> {
    let Some(format) = argument::<Option<&str>>(args, 0)? else {
        return Ok(None);
    };
    let mut formatter = Formatter { rest: format, call, args, last: 0 };
    let mut out = String::new();
    while let Some(length) = formatter.rest.find('%') {
        out.push_str(&formatter.rest[..length]);
        formatter.rest = &formatter.rest[length + 1..];
        formatter.conversion(&mut out)?;
    }
    out.push_str(formatter.rest);
    Ok(Some(out))
}

fn append(call: &Call<'_>, args: &[Datum]) -> String {
    let cast = |(number, value)| cast(value, type_of(call, number), call);
    args.iter().enumerate().map(cast).collect()
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "text_concat", () [call, args] => concat(call, args, 0, "");
    "text_concat_ws", () [call, args] => concat_separated(call, args);
    "text_format", () [call, args] => format_text(call, args);
    "text_format_nv", () [call, args] => format_text(call, args);
    "#2003", () [call, args] => append(call, args);
    "#2004", () [call, args] => append(call, args);
}];
