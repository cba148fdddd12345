//! Whether a value is among the rows of a query, by a hash: `x IN (SELECT …)`, and `NOT IN`, whose
//! rows are the same for every `x` cost one pass over them, and not one for each `x`.

use super::Exec;
use crate::error::Result;
use crate::ir::Expr;
use crate::plan;
use crate::types::{Datum, HashKey, Row};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Fewer rows are compared one by one.
const ROWS_MIN: usize = 8;

/// The rows of a query as a set.
pub(super) struct Members {
    /// What the set was made of: another run of the query has other rows.
    rows: Arc<Vec<Row>>,
    /// The set; nothing if hashes cannot decide the comparison.
    set: Option<Set>,
}

struct Set {
    keys: FxHashSet<Vec<HashKey>>,
    /// What is looked for, over the values on the left side of IN.
    wanted: Vec<Expr>,
    /// Whether a row has a null in it: what is not found is then unknown.
    has_null: bool,
}

impl Exec<'_> {
    /// Whether `values` are among the rows of the query with this number, as `test` compares them;
    /// nothing if only comparing them one by one can tell.
    pub(super) fn is_member(
        &mut self,
        number: usize,
        test: &Expr,
        values: &[Datum],
        rows: &Arc<Vec<Row>>,
    ) -> Result<Option<Datum>> {
        if rows.len() < ROWS_MIN {
            return Ok(None);
        }
        let known = self.members.remove(&number).filter(|it| Arc::ptr_eq(&it.rows, rows));
        let members = match known {
            Some(members) => members,
            None => {
                let set = self.set_of(test, values.len(), rows)?;
                Members { rows: Arc::clone(rows), set }
            }
        };
        let answer = match &members.set {
            Some(set) => self.look_up(set, values),
            None => Ok(None),
        };
        self.members.insert(number, members);
        answer
    }

    fn set_of(&mut self, test: &Expr, count: usize, rows: &[Row]) -> Result<Option<Set>> {
        let Some(pairs) = plan::equal_pairs(test, count) else { return Ok(None) };
        let mut set = Set { keys: FxHashSet::default(), wanted: Vec::new(), has_null: false };
        let mut values: Row = vec![Datum::Null; count];
        for row in rows {
            self.tick()?;
            values.truncate(count);
            values.extend_from_slice(row);
            match self.key_of(pairs.iter().map(|(_, found)| found), &values)? {
                Some(key) => drop(set.keys.insert(key)),
                None => set.has_null = true,
            }
        }
        set.wanted = pairs.into_iter().map(|(wanted, _)| wanted).collect();
        Ok(Some(set))
    }

    fn look_up(&mut self, set: &Set, values: &[Datum]) -> Result<Option<Datum>> {
        let key = self.key_of(set.wanted.iter(), values)?;
        Ok(match key {
            Some(key) if set.keys.contains(&key) => Some(Datum::Bool(true)),
            Some(_) if !set.has_null => Some(Datum::Bool(false)),
            // One value is equal to no other, or to an unknown one.
            _ if set.wanted.len() == 1 => Some(Datum::Null),
            // Of several values others may differ, so that it is not unknown.
            _ => None,
        })
    }
}
