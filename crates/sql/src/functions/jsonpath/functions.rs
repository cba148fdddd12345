//! `jsonb_path_query` and its like.

use super::execute::{error, execute, is_fatal, path_code, probe};
use crate::error::{Result, SqlError, code};
use crate::functions::arguments::{Entry, argument};
use crate::functions::{Call, Rows, SetFunction};
use crate::types::Datum;
use crate::types::json::Json;
use crate::types::jsonpath::{Path, parse};
use std::sync::Arc;

/// What is searched: target, path, variables, whether errors are suppressed. Operators have only
/// the first two and suppress errors.
struct Search<'a> {
    target: &'a Json,
    path: Path,
    variables: Option<&'a Json>,
    silent: bool,
}

impl<'a> Search<'a> {
    fn new(args: &'a [Datum]) -> Result<Search<'a>> {
        let target: &Json = argument(args, 0)?;
        let path = parse(argument(args, 1)?)?;
        let variables = if args.len() > 2 { Some(argument::<&Json>(args, 2)?) } else { None };
        let silent = if args.len() > 3 { argument(args, 3)? } else { true };
        if variables.is_some_and(|variables| !matches!(variables, Json::Object(_))) {
            let detail =
                "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.";
            let message = "\"vars\" argument is not an object";
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message).detail(detail));
        }
        Ok(Search { target, path, variables, silent })
    }

    /// Everything that is found, until an error that is suppressed.
    fn found(&self) -> Result<Vec<Json>> {
        let mut found = Vec::new();
        match execute(&self.path, self.target, self.variables, &mut found) {
            Err(error) if !self.silent || is_fatal(&error) => Err(error),
            _ => Ok(found),
        }
    }
}

fn exists(args: &[Datum]) -> Result<Option<bool>> {
    let search = Search::new(args)?;
    let mut found = Vec::new();
    match probe(&search.path, search.target, search.variables, &mut found) {
        Ok(()) => Ok(Some(!found.is_empty())),
        Err(error) if is_fatal(&error) => Err(error),
        // In lax mode the search ends with the first item: errors behind it are not seen.
        Err(_) if search.path.lax && !found.is_empty() => Ok(Some(true)),
        Err(_) if search.silent => Ok(None),
        Err(error) => Err(error),
    }
}

fn matched(args: &[Datum]) -> Result<Option<bool>> {
    let search = Search::new(args)?;
    match search.found()?.as_slice() {
        [Json::Bool(value)] => return Ok(Some(*value)),
        [Json::Null] => return Ok(None),
        _ => {}
    }
    if search.silent {
        return Ok(None);
    }
    Err(error(path_code::SINGLETON_REQUIRED, "single boolean result is expected"))
}

fn jsonb(json: Json) -> Datum {
    Datum::Jsonb(Arc::new(json))
}

fn query(_call: &Call<'_>, args: &[Datum]) -> Result<Rows> {
    let found = Search::new(args)?.found()?;
    Ok(Box::new(found.into_iter().map(|json| Ok(vec![jsonb(json)]))))
}

fn query_array(args: &[Datum]) -> Result<Datum> {
    Ok(jsonb(Json::array(Search::new(args)?.found()?)))
}

fn query_first(args: &[Datum]) -> Result<Option<Datum>> {
    Ok(Search::new(args)?.found()?.into_iter().next().map(jsonb))
}

pub(in crate::functions) const TABLES: &[&[Entry]] = &[functions! {
    "jsonb_path_exists", () [_call, all] => exists(all);
    "jsonb_path_exists_tz", () [_call, all] => exists(all);
    "jsonb_path_exists_opr", () [_call, all] => exists(all);
    "jsonb_path_match", () [_call, all] => matched(all);
    "jsonb_path_match_tz", () [_call, all] => matched(all);
    "jsonb_path_match_opr", () [_call, all] => matched(all);
    "jsonb_path_query_array", () [_call, all] => query_array(all);
    "jsonb_path_query_array_tz", () [_call, all] => query_array(all);
    "jsonb_path_query_first", () [_call, all] => query_first(all);
    "jsonb_path_query_first_tz", () [_call, all] => query_first(all);
}];

pub(in crate::functions) const SETS: &[(&str, SetFunction)] =
    &[("jsonb_path_query", query), ("jsonb_path_query_tz", query)];
