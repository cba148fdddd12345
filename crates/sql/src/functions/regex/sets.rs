//! The functions of regular expressions that return sets.

use super::functions::captured;
use super::{all_matches, flags, flags_without_global};
use crate::error::Result;
use crate::functions::arguments::argument;
use crate::functions::{Call, Rows, SetFunction};
use crate::regex::{Matches, Options, Text, compiled};
use crate::types::{Array, Datum};
use std::sync::Arc;

fn rows(values: Vec<Datum>) -> Rows {
    Box::new(values.into_iter().map(|value| Ok(vec![value])))
}

fn matches(text: &str, pattern: &str, flag_text: &str) -> Result<Rows> {
    let flags = flags(flag_text)?;
    let regex = compiled(pattern, flags.options)?;
    let text = Text::new(text);
    let found = if flags.global {
        all_matches(&regex, &text, false)?
    } else {
        Matches { regex: &regex, text: &text, from: 0 }.next()?.into_iter().collect()
    };
    let array = |array: Array| Datum::Array(Arc::new(array));
    Ok(rows(found.iter().map(|found| array(captured(&text, found, regex.groups))).collect()))
}

/// Splitting is at all matches anyway.
pub(super) fn split_flags(text: &str, function: &str) -> Result<Options> {
    flags_without_global(text, function)
}

/// What is between the matches.
pub(super) fn pieces(text: &str, pattern: &str, options: Options) -> Result<Vec<Datum>> {
    let regex = compiled(pattern, options)?;
    let text = Text::new(text);
    let mut pieces = Vec::new();
    let mut done = 0;
    for separator in all_matches(&regex, &text, true)? {
        let (start, end) = separator.whole();
        pieces.push(Datum::text(text.slice((done, start))));
        done = end;
    }
    pieces.push(Datum::text(text.slice((done, text.length()))));
    Ok(pieces)
}

fn split(text: &str, pattern: &str, flag_text: &str) -> Result<Rows> {
    Ok(rows(pieces(text, pattern, split_flags(flag_text, "regexp_split_to_table")?)?))
}

fn regexp_matches(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let flags = if args.len() > 2 { argument(args, 2)? } else { "" };
    matches(argument(args, 0)?, argument(args, 1)?, flags)
}

fn regexp_split_to_table(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let flags = if args.len() > 2 { argument(args, 2)? } else { "" };
    split(argument(args, 0)?, argument(args, 1)?, flags)
}

pub(in crate::functions) const TABLE: &[(&str, SetFunction)] = &[
    ("regexp_matches_no_flags", regexp_matches),
    ("regexp_matches", regexp_matches),
    ("regexp_split_to_table_no_flags", regexp_split_to_table),
    ("regexp_split_to_table", regexp_split_to_table),
];
