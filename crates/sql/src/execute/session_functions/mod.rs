//! Functions that look at the session, the catalog or sequences, by their names: what they need
//! besides their arguments is in the statement that runs.

mod advisory;
mod definitions;
mod information;
mod privileges;
mod relations;
mod sequences;
mod sessions;
mod sets;
mod settings;

use super::Exec;
use crate::catalog::builtin::Proc;
use crate::error::{Result, SqlError};
use crate::functions::Rows;
use crate::types::{Datum, Oid};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A call.
#[derive(Clone, Copy)]
struct Asked<'a> {
    proc: &'static Proc,
    args: &'a [Datum],
    types: &'a [Oid],
}

impl Asked<'_> {
    fn text(&self, place: usize) -> Result<&str> {
        match self.args.get(place) {
            Some(Datum::Text(text)) => Ok(text),
            _ => Err(SqlError::internal(format!("argument of {}", self.proc.name))),
        }
    }

    fn oid(&self, place: usize) -> Result<Oid> {
        match self.args.get(place) {
            Some(Datum::Oid(oid)) => Ok(Oid(*oid)),
            _ => Err(SqlError::internal(format!("argument of {}", self.proc.name))),
        }
    }

    fn number(&self, place: usize) -> Result<i64> {
        match self.args.get(place) {
            Some(Datum::Int2(number)) => Ok(i64::from(*number)),
            Some(Datum::Int4(number)) => Ok(i64::from(*number)),
            Some(Datum::Int8(number)) => Ok(*number),
            _ => Err(SqlError::internal(format!("argument of {}", self.proc.name))),
        }
    }

    /// A truth value; false if it is not given.
    fn flag(&self, place: usize) -> bool {
        matches!(self.args.get(place), Some(Datum::Bool(true)))
    }
}

type Function = fn(&mut Exec<'_>, &Asked<'_>) -> Result<Datum>;
type SetFunction = fn(&mut Exec<'_>, &Asked<'_>) -> Result<Vec<Vec<Datum>>>;

const TABLES: &[&[(&str, Function)]] = &[
    advisory::FUNCTIONS,
    definitions::FUNCTIONS,
    information::FUNCTIONS,
    privileges::FUNCTIONS,
    relations::FUNCTIONS,
    sequences::FUNCTIONS,
    sessions::FUNCTIONS,
    settings::FUNCTIONS,
];

fn find(proc: &Proc) -> Option<Function> {
    static MAP: OnceLock<FxHashMap<&'static str, Function>> = OnceLock::new();
    let map = MAP.get_or_init(|| TABLES.iter().copied().flatten().copied().collect());
    let named = map.get(proc.name).copied();
    named.or_else(|| is_statistic(proc).then_some(sessions::statistic as Function))
}

/// Statistics: nothing is counted.
fn is_statistic(proc: &Proc) -> bool {
    proc.name.starts_with("pg_stat_get_")
}

fn find_set(proc: &Proc) -> Option<SetFunction> {
    let found = sets::FUNCTIONS.iter().find(|(name, _)| *name == proc.name).map(|it| it.1);
    found.or_else(|| is_statistic(proc).then_some(sets::nothing as SetFunction))
}

/// Whether the executor knows a function.
pub(super) fn is_session_function(proc: &Proc) -> bool {
    if proc.returns_set { find_set(proc).is_some() } else { find(proc).is_some() }
}

impl Exec<'_> {
    pub(super) fn session_function(
        &mut self,
        proc: &'static Proc,
        types: &[Oid],
        _result: Oid,
        args: &[Datum],
    ) -> Result<Datum> {
        match find(proc) {
            Some(function) => function(self, &Asked { proc, args, types }),
            None => Err(SqlError::unsupported(format!("function {}", proc.name))),
        }
    }

    pub(super) fn session_set(
        &mut self,
        proc: &'static Proc,
        types: &[Oid],
        args: &[Datum],
    ) -> Result<Rows> {
        match find_set(proc) {
            Some(function) => {
                let rows = function(self, &Asked { proc, args, types })?;
                Ok(Box::new(rows.into_iter().map(Ok)))
            }
            None => Err(SqlError::unsupported(format!("function {}", proc.name))),
        }
    }
}
