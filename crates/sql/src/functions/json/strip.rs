//! `json_strip_nulls`: without the fields of objects that are null.

use super::values::{NewText, Text};
use crate::error::Result;
use crate::functions::arguments::Entry;
use crate::types::json::{Json, Node, NodeKind, escape};

fn stripped(json: &Json) -> Json {
    match json {
        Json::Array(elements) => Json::array(elements.iter().map(stripped).collect()),
        Json::Object(pairs) => {
            let kept = pairs.iter().filter(|pair| !matches!(pair.1, Json::Null));
            Json::object(kept.map(|(key, json)| (key.clone(), stripped(json))).collect())
        }
        scalar => scalar.clone(),
    }
}

fn write_stripped(node: &Node<'_>, out: &mut String) {
    match &node.kind {
        NodeKind::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write_stripped(element, out);
            }
            out.push(']');
        }
        NodeKind::Object(pairs) => {
            out.push('{');
            let kept = pairs.iter().filter(|pair| !matches!(pair.1.kind, NodeKind::Null));
            for (at, (key, value)) in kept.enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                let _ = escape(key, out);
                out.push(':');
                write_stripped(value, out);
            }
            out.push('}');
        }
        NodeKind::String(text) => {
            let _ = escape(text, out);
        }
        _ => out.push_str(node.raw),
    }
}

fn stripped_text(text: Text<'_>) -> Result<NewText> {
    let mut out = String::new();
    write_stripped(&text.node()?, &mut out);
    Ok(NewText(out))
}

pub(super) const TABLE: &[Entry] = functions! {
    "jsonb_strip_nulls", (a: &Json) => stripped(a);
    "json_strip_nulls", (a: Text<'_>) => stripped_text(a);
};
