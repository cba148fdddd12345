//! The order of jsonb, containment and existence.

use super::Json;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

impl Json {
    /// The place of the type in the order: null, strings, numbers, booleans, arrays, objects.
    fn rank(&self) -> u8 {
        match self {
            Json::Null => 0,
            Json::String(_) => 1,
            Json::Number(_) => 2,
            Json::Bool(_) => 3,
            Json::Array(_) => 4,
            Json::Object(_) => 5,
        }
    }

    /// The btree order of whole values. An empty array is below every scalar here, though not
    /// inside of arrays and objects: so it is in PostgreSQL.
    pub fn order(&self, other: &Json) -> Ordering {
        let empty = |json: &Json| matches!(json, Json::Array(elements) if elements.is_empty());
        match (empty(self), empty(other)) {
            (true, false) if other.is_scalar() => Ordering::Less,
            (false, true) if self.is_scalar() => Ordering::Greater,
            _ => self.order_inside(other),
        }
    }

    fn order_inside(&self, other: &Json) -> Ordering {
        match (self, other) {
            (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
            (Json::Number(a), Json::Number(b)) => a.cmp(b),
            (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Json::Array(a), Json::Array(b)) => a.len().cmp(&b.len()).then_with(|| {
                let pairs = a.iter().zip(b.iter());
                first_difference(pairs.map(|(a, b)| a.order_inside(b)))
            }),
            (Json::Object(a), Json::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
                let pairs = a.iter().zip(b.iter());
                first_difference(pairs.map(|((key_a, a), (key_b, b))| {
                    key_a.as_bytes().cmp(key_b.as_bytes()).then_with(|| a.order_inside(b))
                }))
            }),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Whether this value contains another one, as `@>` has it: an array also contains a scalar
    /// that is one of its elements.
    pub fn contains(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Array(elements), scalar) if scalar.is_scalar() => elements.contains(scalar),
            _ => self.contains_inside(other),
        }
    }

    fn contains_inside(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Object(_), Json::Object(wanted)) => wanted.iter().all(|(key, wanted)| {
                self.get(key).is_some_and(|value| value.contains_inside(wanted))
            }),
            (Json::Array(elements), Json::Array(wanted)) => wanted.iter().all(|wanted| {
                if wanted.is_scalar() {
                    return elements.contains(wanted);
                }
                elements.iter().any(|element| element.contains_inside(wanted))
            }),
            _ => self.is_scalar() && self == other,
        }
    }

    /// Whether a string is a key of this object, an element of this array, or this string.
    pub fn exists(&self, key: &str) -> bool {
        let is_key = |json: &Json| matches!(json, Json::String(text) if **text == *key);
        match self {
            Json::Object(_) => self.get(key).is_some(),
            Json::Array(elements) => elements.iter().any(is_key),
            scalar => is_key(scalar),
        }
    }
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.order_inside(other) == Ordering::Equal
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Json::Null => {}
            Json::Bool(value) => value.hash(state),
            Json::Number(number) => number.hash(state),
            Json::String(text) => text.hash(state),
            Json::Array(elements) => elements.hash(state),
            Json::Object(pairs) => pairs.hash(state),
        }
    }
}
