//! Names that PostgreSQL gives to what has none: `t_pkey`, `t_a_b_key`, `t_a_seq`.

use super::Ddl;
use crate::catalog::Table;
use crate::types::Oid;

/// How long a name may be, in bytes.
const NAME_MAX: usize = 63;

/// `first_second_label`, with the longer part cut where that is too long.
pub(super) fn object_name(first: &str, second: &str, label: &str) -> String {
    let overhead =
        if second.is_empty() { 0 } else { 1 } + if label.is_empty() { 0 } else { label.len() + 1 };
    let available = NAME_MAX - overhead;
    let (mut one, mut two) = (first.len(), second.len());
    while one + two > available {
        if one > two {
            one -= 1;
        } else {
            two -= 1;
        }
    }
    let mut name = cut(first, one).to_owned();
    if !second.is_empty() {
        name.push('_');
        name.push_str(cut(second, two));
    }
    if !label.is_empty() {
        name.push('_');
        name.push_str(label);
    }
    name
}

/// At most so many bytes.
fn cut(text: &str, length: usize) -> &str {
    let mut end = length.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Ddl<'_> {
    /// The name of a relation that there is none of yet.
    pub(super) fn relation_name(
        &self,
        schema: Oid,
        table: &str,
        columns: &str,
        label: &str,
        taken: &[String],
    ) -> String {
        let is_free = |name: &String| {
            self.catalog().relation_in(schema, name).is_none() && !taken.contains(name)
        };
        first_free(table, columns, label, is_free)
    }

    /// The name of a constraint that the table has none of yet.
    pub(super) fn constraint_name(&self, table: &Table, columns: &str, label: &str) -> String {
        let is_free = |name: &String| !table.constraints.iter().any(|it| *it.name == **name);
        first_free(&table.name, columns, label, is_free)
    }
}

fn first_free(first: &str, second: &str, label: &str, is_free: impl Fn(&String) -> bool) -> String {
    let name = object_name(first, second, label);
    if is_free(&name) {
        return name;
    }
    let mut number = 1;
    loop {
        let name = object_name(first, second, &format!("{label}{number}"));
        if is_free(&name) {
            return name;
        }
        number += 1;
    }
}

/// The names of columns, joined.
pub(super) fn joined<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut all = String::new();
    for name in names {
        if !all.is_empty() {
            all.push('_');
        }
        all.push_str(name);
        if all.len() >= NAME_MAX {
            break;
        }
    }
    all
}
