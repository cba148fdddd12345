//! json and jsonb.
//!
//! json is kept as its text; [`parse`] checks it and finds the pieces that operators return. jsonb
//! is a [`Json`]: keys sorted as PostgreSQL stores them (short ones first, then by bytes), the last
//! of equal keys, numbers as numeric. Parts are shared, so that taking one out copies nothing.

mod compare;
mod node;
mod output;
mod parse;
#[cfg(test)]
mod tests;

use super::numeric::Numeric;
use crate::error::Result;
use std::cmp::Ordering;
use std::sync::Arc;

pub use node::{Node, NodeKind};
pub use output::{escape, pretty};
pub use parse::parse;

/// How deep arrays and objects may be nested.
pub const DEPTH_MAX: usize = 1000;

/// A value of jsonb.
#[derive(Clone, Debug)]
pub enum Json {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number.
    Number(Arc<Numeric>),
    /// A string.
    String(Arc<str>),
    /// An array.
    Array(Arc<[Json]>),
    /// An object: pairs in the order of their keys, each key once.
    Object(Arc<[Pair]>),
}

/// A key and its value.
pub type Pair = (Arc<str>, Json);

/// The order of keys in an object.
pub fn key_order(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

impl Json {
    /// Reads the text of a value.
    pub fn parse(text: &str) -> Result<Json> {
        Json::from_node(&parse(text, parse::Escapes::Decode)?)
    }

    /// From parsed text.
    pub fn from_node(node: &Node<'_>) -> Result<Json> {
        Ok(match &node.kind {
            NodeKind::Null => Json::Null,
            NodeKind::Bool(value) => Json::Bool(*value),
            NodeKind::Number => Json::Number(Arc::new(Numeric::parse(node.raw)?)),
            NodeKind::String(text) => Json::string(text),
            NodeKind::Array(elements) => {
                Json::Array(elements.iter().map(Json::from_node).collect::<Result<_>>()?)
            }
            NodeKind::Object(pairs) => {
                let pair = |(key, value): &(String, Node<'_>)| {
                    Ok((Arc::from(key.as_str()), Json::from_node(value)?))
                };
                Json::object(pairs.iter().map(pair).collect::<Result<_>>()?)
            }
        })
    }

    /// A string.
    pub fn string(text: &str) -> Json {
        Json::String(text.into())
    }

    /// A number.
    pub fn number(number: Numeric) -> Json {
        Json::Number(Arc::new(number))
    }

    /// An array.
    pub fn array(elements: Vec<Json>) -> Json {
        Json::Array(elements.into())
    }

    /// An object of pairs in any order; of equal keys the last one counts.
    pub fn object(mut pairs: Vec<Pair>) -> Json {
        // The sort is stable: of equal keys the last one stays last.
        pairs.sort_by(|a, b| key_order(&a.0, &b.0));
        let mut kept: Vec<Pair> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match kept.last_mut() {
                Some(last) if last.0 == pair.0 => *last = pair,
                _ => kept.push(pair),
            }
        }
        Json::Object(kept.into())
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(pairs) = self else { return None };
        let found = pairs.binary_search_by(|pair| key_order(&pair.0, key));
        found.ok().map(|at| &pairs[at].1)
    }

    /// An element, counted from the end if negative, if this is an array that has it.
    pub fn element(&self, index: i64) -> Option<&Json> {
        let Json::Array(elements) = self else { return None };
        let at = if index < 0 { index.checked_add(elements.len() as i64)? } else { index };
        elements.get(usize::try_from(at).ok()?)
    }

    /// Whether it is neither an array nor an object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// Its type as `jsonb_typeof` names it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// As `->>` returns it: a string without quotes, null as none.
    pub fn to_plain(&self) -> Option<String> {
        match self {
            Json::Null => None,
            Json::String(text) => Some(text.to_string()),
            other => Some(other.to_string()),
        }
    }
}

pub use parse::Escapes;
