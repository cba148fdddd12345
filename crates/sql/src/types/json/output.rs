//! jsonb as text.

use super::Json;
use std::fmt::{self, Write};

/// Writes a string with quotes and escapes.
pub fn escape(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if (c as u32) < 0x20 => write!(out, "\\u{:04x}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => number.fmt(f),
            Json::String(text) => escape(text, f),
            Json::Array(elements) => {
                f.write_char('[')?;
                for (at, element) in elements.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    element.fmt(f)?;
                }
                f.write_char(']')
            }
            Json::Object(pairs) => {
                f.write_char('{')?;
                for (at, (key, value)) in pairs.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    escape(key, f)?;
                    f.write_str(": ")?;
                    value.fmt(f)?;
                }
                f.write_char('}')
            }
        }
    }
}

/// Over several lines, as `jsonb_pretty` writes it.
pub fn pretty(json: &Json) -> String {
    let mut text = String::new();
    pretty_at(json, 0, &mut text);
    text
}

fn line(depth: usize, out: &mut String) {
    out.push('\n');
    out.push_str(&"    ".repeat(depth));
}

fn pretty_at(json: &Json, depth: usize, out: &mut String) {
    match json {
        Json::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(depth + 1, out);
                pretty_at(element, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
        Json::Object(pairs) => {
            out.push('{');
            for (at, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(depth + 1, out);
                let _ = escape(key, out);
                out.push_str(": ");
                pretty_at(value, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}
