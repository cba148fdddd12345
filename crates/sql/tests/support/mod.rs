//! What the tests of functions share: built-in types, and facts about functions.
#![allow(dead_code)]

use seriatim_sql::functions::Style;
use seriatim_sql::types::{TypeKind, TypeLookup};
use seriatim_sql::{Datum, Oid, Result, SqlError};
use std::collections::HashMap;

/// The built-in types, by `data/types.tsv`.
pub struct Builtin {
    names: HashMap<Oid, &'static str>,
    elements: HashMap<Oid, Oid>,
    arrays: HashMap<Oid, Oid>,
}

impl Default for Builtin {
    fn default() -> Self {
        let mut types =
            Builtin { names: HashMap::new(), elements: HashMap::new(), arrays: HashMap::new() };
        for line in include_str!("../../data/types.tsv").lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let oid = |at: usize| Oid(fields[at].parse().unwrap_or(0));
            types.names.insert(oid(0), fields[1]);
            if fields[5] == "A" {
                types.elements.insert(oid(0), oid(9));
            }
            types.arrays.insert(oid(0), oid(10));
        }
        types
    }
}

impl Builtin {
    /// The type of this name.
    pub fn named(&self, name: &str) -> Oid {
        let found = self.names.iter().find(|(_, known)| **known == name);
        *found.unwrap_or_else(|| panic!("no type {name}")).0
    }

    /// The type of arrays of a type.
    pub fn array(&self, ty: Oid) -> Oid {
        self.arrays[&ty]
    }
}

impl TypeLookup for Builtin {
    fn kind(&self, ty: Oid) -> Option<TypeKind> {
        self.names.get(&ty)?;
        Some(match self.elements.get(&ty) {
            Some(element) => TypeKind::Array(*element),
            None => TypeKind::Base,
        })
    }

    fn type_name(&self, ty: Oid, _typmod: i32) -> String {
        self.names.get(&ty).map_or_else(|| ty.to_string(), |name| (*name).to_owned())
    }

    fn array_of(&self, ty: Oid) -> Option<Oid> {
        self.arrays.get(&ty).copied()
    }

    fn reg_in(&self, _ty: Oid, text: &str) -> Result<u32> {
        text.parse().map_err(|_| SqlError::unsupported("names of objects"))
    }

    fn reg_out(&self, _ty: Oid, value: u32) -> String {
        value.to_string()
    }

    fn check_domain(&self, _domain: Oid, _value: &Datum) -> Result<()> {
        Ok(())
    }
}

/// A function in `data/procs.tsv`.
pub struct Proc {
    pub strict: bool,
    pub source: String,
}

/// All functions.
pub struct Procs(HashMap<u32, Proc>);

impl Default for Procs {
    fn default() -> Self {
        let proc = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let oid = fields[0].parse().unwrap_or(0);
            (oid, Proc { strict: fields[3] == "t", source: fields[15].to_owned() })
        };
        Procs(include_str!("../../data/procs.tsv").lines().map(proc).collect())
    }
}

impl Procs {
    pub fn get(&self, oid: u32) -> &Proc {
        &self.0[&oid]
    }
}

/// The settings of a new session.
pub fn style() -> Style {
    Style::default()
}

/// The types in a list of identifiers.
pub fn oids(list: &str) -> Vec<Oid> {
    list.split_whitespace().map(|oid| Oid(oid.parse().expect("a type"))).collect()
}

/// A field of a table; `None` is null.
pub fn unescape(field: &str) -> Option<String> {
    if field == "\\N" {
        return None;
    }
    let mut text = String::new();
    let mut characters = field.chars();
    while let Some(c) = characters.next() {
        text.push(match c {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            c => c,
        });
    }
    Some(text)
}

/// A text as a field of a table.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

/// How many differences of each function are printed.
pub fn shown() -> usize {
    std::env::var("SHOWN").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}
