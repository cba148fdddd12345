//! What the cells of the applications hold.

use serde::{Deserialize, Serialize};
use seriatim_store::{Atom, ToAtom};
use std::fmt;
use std::sync::Arc;

/// The content of a cell. Copies share what is in it: an exploration of an application copies
/// values at every step.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// A number.
    Int(i64),
    /// Text.
    Text(Arc<str>),
    /// Several values: a set or a list.
    List(Arc<[Value]>),
}

impl Value {
    /// The items of a list; nothing is an empty list, anything else a list of itself.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::Null => &[],
            Value::List(items) => items,
            one => std::slice::from_ref(one),
        }
    }

    /// The list with `item` added.
    pub fn with(&self, item: Value) -> Value {
        self.items().iter().cloned().chain([item]).collect()
    }

    /// The list with `item` added, unless it has it.
    pub fn with_new(&self, item: Value) -> Value {
        if self.has(&item) { self.items().iter().cloned().collect() } else { self.with(item) }
    }

    /// The list without any `item`.
    pub fn without(&self, item: &Value) -> Value {
        self.items().iter().filter(|other| *other != item).cloned().collect()
    }

    /// The number; 0 if it is none.
    pub fn number(&self) -> i64 {
        match self {
            Value::Int(number) => *number,
            _ => 0,
        }
    }

    /// Whether the list has `item`.
    pub fn has(&self, item: &Value) -> bool {
        self.items().contains(item)
    }

    /// Whether the list has this text.
    pub fn has_text(&self, text: &str) -> bool {
        self.items().iter().any(|item| matches!(item, Value::Text(other) if **other == *text))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(items.into())
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Value {
        Value::List(items.into_iter().collect())
    }
}

impl ToAtom for Value {
    fn to_atom(&self) -> Atom {
        match self {
            Value::Null => ().to_atom(),
            Value::Int(number) => number.to_atom(),
            Value::Text(text) => text.to_atom(),
            Value::List(items) => items.to_atom(),
        }
    }

    fn nested(&self) -> String {
        match self {
            Value::Null => ().nested(),
            Value::Int(number) => number.nested(),
            Value::Text(text) => text.nested(),
            Value::List(items) => items.nested(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("nothing"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::List(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}
