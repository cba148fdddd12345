//! boolean: comparison and conversion. AND, OR and NOT are expressions, not functions.

use super::arguments::Entry;

pub(super) const TABLES: &[&[Entry]] = &[
    comparisons!("bool"; a: bool, b: bool => a.cmp(&b)),
    functions! {
        "int4_bool", (a: i32) => a != 0;
        "bool_int4", (a: bool) => i32::from(a);
        "booltext", (a: bool) => if a { "true" } else { "false" };
        "booland_statefunc", (a: bool, b: bool) => a && b;
        "boolor_statefunc", (a: bool, b: bool) => a || b;
    },
];
