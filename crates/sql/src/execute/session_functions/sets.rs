//! Functions that return sets of what the catalog or the session has.

use super::{Asked, Exec, SetFunction};
use crate::catalog::{schema, system};
use crate::error::Result;
use crate::types::Datum;
use crate::virtual_tables;

type Set = Vec<Vec<Datum>>;

/// Nothing.
pub(super) fn nothing(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    Ok(Vec::new())
}

/// The rows of a system table.
fn rows_of(exec: &Exec<'_>, name: &str) -> Result<Set> {
    match system::find(schema::PG_CATALOG, name) {
        Some(table) => Ok(virtual_tables::rows(exec.env, &table)?.to_vec()),
        None => Ok(Vec::new()),
    }
}

fn pg_show_all_settings(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    rows_of(exec, "pg_settings")
}

fn pg_timezone_names(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    rows_of(exec, "pg_timezone_names")
}

fn pg_lock_status(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    rows_of(exec, "pg_locks")
}

fn pg_available_extensions(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    let rows = rows_of(exec, "pg_available_extensions")?;
    // The function has no column for the version that is installed.
    Ok(rows
        .into_iter()
        .map(|mut row| {
            row.remove(2);
            row
        })
        .collect())
}

const KEYWORDS: &str = include_str!("../../../data/keywords.tsv");

fn pg_get_keywords(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    let row = |line: &'static str| {
        let fields = line.split('\t').enumerate();
        fields
            .map(|(place, field)| match place {
                2 => Datum::Bool(field == "t"),
                _ => Datum::text(field),
            })
            .collect()
    };
    Ok(KEYWORDS.lines().map(row).collect())
}

/// `name=value` of each option.
fn pg_options_to_table(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Set> {
    let Some(Datum::Array(array)) = asked.args.first() else { return Ok(Vec::new()) };
    let row = |option: &Datum| match option {
        Datum::Text(text) => match text.split_once('=') {
            Some((name, value)) => vec![Datum::text(name), Datum::text(value)],
            None => vec![Datum::Text(text.clone()), Datum::Null],
        },
        _ => vec![Datum::Null, Datum::Null],
    };
    Ok(array.elements.iter().map(row).collect())
}

/// The elements of an array with their numbers from 1.
fn expand_array(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Set> {
    let Some(Datum::Array(array)) = asked.args.first() else { return Ok(Vec::new()) };
    let numbered = (1..).zip(&array.elements);
    Ok(numbered.map(|(number, element)| vec![element.clone(), Datum::Int4(number)]).collect())
}

fn pg_listening_channels(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Set> {
    let channels = exec.env.database.channels.heard_by(exec.env.session);
    Ok(channels.iter().map(|channel| vec![Datum::text(&**channel)]).collect())
}

pub(super) const FUNCTIONS: &[(&str, SetFunction)] = &[
    ("pg_show_all_settings", pg_show_all_settings),
    ("pg_timezone_names", pg_timezone_names),
    ("pg_lock_status", pg_lock_status),
    ("pg_available_extensions", pg_available_extensions),
    ("pg_get_keywords", pg_get_keywords),
    ("pg_options_to_table", pg_options_to_table),
    ("_pg_expandarray", expand_array),
    ("aclexplode", nothing),
    ("pg_listening_channels", pg_listening_channels),
    ("pg_partition_ancestors", nothing),
    ("pg_partition_tree", nothing),
    ("pg_available_extension_versions", nothing),
    ("pg_cursor", nothing),
    ("pg_prepared_statement", nothing),
    ("pg_prepared_xact", nothing),
    ("pg_get_publication_tables", nothing),
    ("pg_get_replication_slots", nothing),
    ("pg_timezone_abbrevs", nothing),
    ("pg_tablespace_databases", nothing),
    ("pg_show_all_file_settings", nothing),
    ("pg_hba_file_rules", nothing),
    ("pg_config", nothing),
];
