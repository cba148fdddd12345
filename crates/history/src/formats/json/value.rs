//! A JSON value in memory, and as text.

use std::fmt::{self, Write};

/// A JSON value. Displayed without blanks, the members of objects in the order of their names.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::formats) enum Json {
    #[default]
    Null,
    Bool(bool),
    /// An integer that fits into 64 bits, with or without a sign.
    Int(i128),
    /// Any other number, as it is written.
    Number(Box<str>),
    String(String),
    Array(Vec<Json>),
    Object(Members),
}

/// The members of an object, by name; no name stands in it twice.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::formats) struct Members(Vec<(String, Json)>);

impl Members {
    /// The members in this order of names, or a name that stands there twice.
    pub fn new(mut members: Vec<(String, Json)>) -> Result<Members, String> {
        sort_by_name(&mut members);
        match members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(pair[0].0.clone()),
            None => Ok(Members(members)),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|member| member.0.as_str().cmp(name)).ok()
    }

    pub fn get(&self, name: &str) -> Option<&Json> {
        self.place(name).map(|place| &self.0[place].1)
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.place(name).map(|place| self.0.remove(place).1)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only member, if there is one only.
    pub fn only(&self) -> Option<(&str, &Json)> {
        let [(name, value)] = self.0.as_slice() else { return None };
        Some((name, value))
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub fn into_vec(self) -> Vec<(String, Json)> {
        self.0
    }
}

/// Sorts members by their names.
pub(in crate::formats) fn sort_by_name(members: &mut [(String, Json)]) {
    members.sort_by(|a, b| a.0.cmp(&b.0));
}

impl Json {
    /// An object to write, whose names differ.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
        let mut members: Vec<(String, Json)> =
            members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        sort_by_name(&mut members);
        Json::Object(Members(members))
    }

    /// A member, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    pub fn as_object(&self) -> Option<&Members> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    pub fn as_i64(&self) -> Option<i64> {
        if let Json::Int(number) = self { i64::try_from(*number).ok() } else { None }
    }

    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Int(number) = self { u64::try_from(*number).ok() } else { None }
    }

    pub fn is_null(&self) -> bool {
        *self == Json::Null
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Int(number.into())
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Json {
        Json::Int(number as i128)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Json {
        Json::Array(items)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Int(number) => write!(f, "{number}"),
            Json::Number(text) => f.write_str(text),
            Json::String(text) => write_string(f, text),
            Json::Array(items) => {
                f.write_char('[')?;
                for (place, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", comma(place))?;
                }
                f.write_char(']')
            }
            Json::Object(Members(members)) => {
                f.write_char('{')?;
                for (place, (name, value)) in members.iter().enumerate() {
                    f.write_str(comma(place))?;
                    write_string(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn comma(place: usize) -> &'static str {
    if place > 0 { "," } else { "" }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        f.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            8 => f.write_str("\\b")?,
            12 => f.write_str("\\f")?,
            control => write!(f, "\\u{control:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    f.write_str(rest)?;
    f.write_char('"')
}
