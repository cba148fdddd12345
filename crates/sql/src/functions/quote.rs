//! Identifiers and literals as SQL text, and identifiers read from it.

use super::Call;
use super::arguments::Entry;
use super::text_compare::name;
use crate::error::{Result, SqlError, code};
use crate::types::{Array, Datum, Oid, io};

/// The words that are not free to be a name, in order (`pg_get_keywords()` without category U).
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric",
    "authorization", "between", "bigint", "binary", "bit", "boolean", "both", "case", "cast",
    "char", "character", "check", "coalesce", "collate", "collation", "column", "concurrently",
    "constraint", "create", "cross", "current_catalog", "current_date", "current_role",
    "current_schema", "current_time", "current_timestamp", "current_user", "dec", "decimal",
    "default", "deferrable", "desc", "distinct", "do", "else", "end", "except", "exists",
    "extract", "false", "fetch", "float", "for", "foreign", "freeze", "from", "full", "grant",
    "greatest", "group", "grouping", "having", "ilike", "in", "initially", "inner", "inout",
    "int", "integer", "intersect", "interval", "into", "is", "isnull", "join", "lateral",
    "leading", "least", "left", "like", "limit", "localtime", "localtimestamp", "national",
    "natural", "nchar", "none", "normalize", "not", "notnull", "null", "nullif", "numeric",
    "offset", "on", "only", "or", "order", "out", "outer", "overlaps", "overlay", "placing",
    "position", "precision", "primary", "real", "references", "returning", "right", "row",
    "select", "session_user", "setof", "similar", "smallint", "some", "substring", "symmetric",
    "table", "tablesample", "then", "time", "timestamp", "to", "trailing", "treat", "trim",
    "true", "union", "unique", "user", "using", "values", "varchar", "variadic", "verbose",
    "when", "where", "window", "with", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists",
    "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable",
];

/// The identifier as it has to be written to mean itself.
pub fn quote_ident(identifier: &str) -> String {
    let first = identifier.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if first && identifier.chars().all(inside) && RESERVED.binary_search(&identifier).is_err() {
        return identifier.to_owned();
    }
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// The text as a literal.
pub fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') {
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

/// The value of any type as a literal.
fn quote_any(value: &Datum, call: &Call<'_>) -> String {
    let ty = call.args.first().copied().unwrap_or(Oid::TEXT);
    match value {
        // A cast writes more of a boolean than its output.
        Datum::Bool(value) => format!("'{value}'"),
        value => quote_literal(&io::output(value, ty, call)),
    }
}

fn quote_nullable(value: &Datum, call: &Call<'_>) -> String {
    if value.is_null() { "NULL".to_owned() } else { quote_any(value, call) }
}

/// Reads a name with dots between its parts.
struct Identifiers<'t> {
    text: &'t str,
    at: usize,
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C')
}

impl Identifiers<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches(is_space).len();
    }

    fn error(&self) -> SqlError {
        let message = format!("string is not a valid identifier: \"{}\"", self.text);
        SqlError::new(code::INVALID_PARAMETER_VALUE, message)
    }

    /// A part in quotes, behind the first one.
    fn quoted(&mut self) -> Result<String> {
        let mut part = String::new();
        loop {
            let Some(length) = self.rest().find('"') else {
                return Err(self.error().detail("String has unclosed double quotes."));
            };
            part.push_str(&self.rest()[..length]);
            self.at += length + 1;
            if !self.rest().starts_with('"') {
                break;
            }
            part.push('"');
            self.at += 1;
        }
        if part.is_empty() {
            return Err(self.error().detail("Quoted identifier must not be empty."));
        }
        Ok(part)
    }

    /// A part without quotes, in lower case; `None` if there is none.
    fn plain(&mut self) -> Option<String> {
        let starts = |c: char| c == '_' || c.is_ascii_alphabetic() || !c.is_ascii();
        let continues = |c: char| starts(c) || c.is_ascii_digit() || c == '$';
        let rest = self.rest();
        if !rest.starts_with(starts) {
            return None;
        }
        let length = rest.find(|c| !continues(c)).unwrap_or(rest.len());
        let part = rest[..length].to_ascii_lowercase();
        self.at += length;
        Some(part)
    }

    fn missing(&self, behind_dot: bool) -> SqlError {
        if self.rest().starts_with('.') {
            self.error().detail("No valid identifier before \".\".")
        } else if behind_dot {
            self.error().detail("No valid identifier after \".\".")
        } else {
            self.error()
        }
    }

    fn part(&mut self, behind_dot: bool) -> Result<String> {
        self.skip_spaces();
        if self.rest().starts_with('"') {
            self.at += 1;
            return self.quoted();
        }
        match self.plain() {
            Some(part) => Ok(part),
            None => Err(self.missing(behind_dot)),
        }
    }
}

/// The parts of a name, as `parse_ident` gives them.
fn parse_ident(text: &str, strict: bool) -> Result<Array> {
    let mut reader = Identifiers { text, at: 0 };
    let mut parts = Vec::new();
    loop {
        let part = reader.part(!parts.is_empty())?;
        parts.push(Datum::text(name(&part)));
        reader.skip_spaces();
        if !reader.rest().starts_with('.') {
            break;
        }
        reader.at += 1;
    }
    if strict && !reader.rest().is_empty() {
        return Err(reader.error());
    }
    Ok(Array::of(Oid::TEXT, parts))
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "quote_ident", (a: &str) => quote_ident(a);
    "quote_literal", (a: &str) => quote_literal(a);
    "quote_nullable", (a: Option<&str>) => a.map_or_else(|| "NULL".to_owned(), quote_literal);
    "#1285", (a: &Datum) [call, _args] => quote_any(a, call);
    "#1290", (a: &Datum) [call, _args] => quote_nullable(a, call);
    "parse_ident", (a: &str, strict: bool) => parse_ident(a, strict);
}];
