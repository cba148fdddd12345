//! Where the tables of all files come together.
//!
//! A function is found by its `prosrc`, which is unique for what is written in C; functions that
//! PostgreSQL writes in SQL are found by their own identifier and have the name `#OID` in a table.

use super::arguments::Entry;
use super::{AggregateKind, Function, SetFunction, aggregates};
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The tables of functions of all files.
const TABLES: &[&[&[Entry]]] = &[
    super::array::TABLES,
    super::bits::TABLES,
    super::bool::TABLES,
    super::bytea::TABLES,
    super::datetime::TABLES,
    super::encoding::TABLES,
    super::enums::TABLES,
    super::float::TABLES,
    super::float_degrees::TABLES,
    super::float_math::TABLES,
    super::format::TABLES,
    super::format_datetime::TABLES,
    super::hash::TABLES,
    super::inet::TABLES,
    super::int::TABLES,
    super::json::TABLES,
    super::jsonpath::TABLES,
    super::like::TABLES,
    super::misc::TABLES,
    super::normal_forms::TABLES,
    super::numeric::TABLES,
    super::oid::TABLES,
    super::pgcrypto::TABLES,
    super::quote::TABLES,
    super::random::TABLES,
    super::record::TABLES,
    super::regex::TABLES,
    super::sizes::TABLES,
    super::text::TABLES,
    super::text_array::TABLES,
    super::text_compare::TABLES,
    super::uuid::TABLES,
    super::uuid_ossp::TABLES,
];

/// The tables of functions that return sets.
const SET_TABLES: &[&[&[(&str, SetFunction)]]] = &[
    super::json::SETS,
    &[super::jsonpath::SETS],
    &[super::regex::SETS, super::series::SETS, super::text_array::SETS],
];

type Map<F> = FxHashMap<&'static str, F>;

fn functions() -> &'static Map<Function> {
    static MAP: OnceLock<Map<Function>> = OnceLock::new();
    MAP.get_or_init(|| TABLES.iter().copied().flatten().copied().flatten().copied().collect())
}

fn set_functions() -> &'static Map<SetFunction> {
    static MAP: OnceLock<Map<SetFunction>> = OnceLock::new();
    MAP.get_or_init(|| SET_TABLES.iter().copied().flatten().copied().flatten().copied().collect())
}

fn find<F: Copy>(map: &Map<F>, proc_oid: u32, prosrc: &str) -> Option<F> {
    let by_source = map.get(prosrc).copied();
    by_source.or_else(|| map.get(format!("#{proc_oid}").as_str()).copied())
}

/// The implementation of a function, if there is one here.
pub fn function(proc_oid: u32, prosrc: &str) -> Option<Function> {
    find(functions(), proc_oid, prosrc)
}

/// The implementation of a function that returns a set, if there is one here.
pub fn set_function(proc_oid: u32, prosrc: &str) -> Option<SetFunction> {
    find(set_functions(), proc_oid, prosrc)
}

/// How the aggregate of this name is computed over arguments of these types. The types are those
/// of the aggregate's declaration, or of its actual arguments where that is polymorphic.
pub fn aggregate(name: &str, args: &[Oid]) -> Option<AggregateKind> {
    aggregates::find(name, args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;

    fn procs() -> impl Iterator<Item = Vec<&'static str>> {
        let table = include_str!("../../data/procs.tsv");
        table.lines().map(|line| line.split('\t').collect())
    }

    #[test]
    fn every_name_in_a_table_is_one_of_postgresql() {
        let mut known: FxHashSet<String> =
            procs().flat_map(|row| [row[15].to_owned(), format!("#{}", row[0])]).collect();
        let of_extensions = include_str!("../../data/extension_procs.tsv").lines();
        known.extend(of_extensions.filter_map(|row| Some(row.split('\t').nth(16)?.to_owned())));
        let names = functions().keys().chain(set_functions().keys());
        let unknown: Vec<_> = names.filter(|name| !known.contains(**name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn no_name_is_in_two_tables() {
        let entries = TABLES.iter().copied().flatten().copied().flatten().count();
        assert_eq!(entries, functions().len());
    }

    /// What is not supported is printed; the number may only become smaller.
    #[test]
    fn the_list_of_functions_that_are_not_supported_does_not_grow() {
        const MISSING: usize = 2002;
        let ordinary = procs().filter(|row| row[2] == "f");
        let missing: Vec<String> = ordinary
            .filter(|row| {
                let oid = row[0].parse().unwrap_or(0);
                function(oid, row[15]).is_none() && set_function(oid, row[15]).is_none()
            })
            .map(|row| format!("{}({}) {}", row[1], row[9], row[15]))
            .collect();
        println!("{}", missing.join("\n"));
        assert!(missing.len() <= MISSING, "{} functions are not supported", missing.len());
    }
}
