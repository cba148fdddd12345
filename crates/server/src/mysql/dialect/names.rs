//! Names that the catalog has for what MySQL names otherwise: indexes belong to their tables, and
//! limits of types are checks.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

/// Stands between the name of a table and that of its index.
const OF_TABLE: char = '\u{1f}';
/// Begins the name of a check that keeps a column within its type.
pub(in crate::mysql) const RANGE: &str = "range\u{1f}";
/// Begins the name of a check that keeps a column to its labels.
pub(in crate::mysql) const LABELS: &str = "labels\u{1f}";
/// What MySQL calls the index of a primary key.
pub(in crate::mysql) const PRIMARY: &str = "PRIMARY";

/// What the catalog calls an index of a table.
pub(in crate::mysql) fn index_name(table: &str, index: &str) -> String {
    format!("{table}{OF_TABLE}{index}")
}

/// What MySQL calls an index; none if this is no name of one.
pub(in crate::mysql) fn index_shown(name: &str) -> Option<&str> {
    let (kind, index) = name.split_once(OF_TABLE)?;
    (!matches!(kind, "range" | "labels")).then_some(index)
}

/// A name that keeps its letters.
pub(super) fn exact(name: impl Into<String>) -> Ident {
    Ident::with_quote('"', name)
}

/// The database, if it is named, and the last part of a name.
pub(super) fn parts(name: &ObjectName) -> (Option<String>, String) {
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => ident.value.clone(),
        other => other.to_string(),
    };
    let mut all: Vec<String> = name.0.iter().map(part).collect();
    let last = all.pop().unwrap_or_default();
    (all.pop(), last)
}

/// A name of one part that keeps its letters.
pub(super) fn object(name: &str) -> ObjectName {
    ObjectName(vec![ObjectNamePart::Identifier(exact(name))])
}
