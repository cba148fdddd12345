//! EXISTS of a query that looks at the row around it, for many rows: by a hash.
//!
//! The query runs as it is for the first rows. When there are many, the keys that it looks for are
//! collected once, so that `n` rows around `m` rows cost `n + m` and not `n · m`.

use super::Exec;
use super::keys::row_key;
use crate::error::Result;
use crate::ir::{Expr, Subquery};
use crate::plan::{self, Semi};
use crate::types::{Datum, HashKey};
use rustc_hash::FxHashSet;

/// For so many rows the query runs as it is: it reads no more than it needs then.
const ROWS_MIN: u32 = 16;

/// What is known of a query of EXISTS.
pub(super) enum Search {
    /// It ran so many times.
    Asked(u32),
    /// It cannot be a search for keys.
    Impossible,
    /// What is looked for, and the keys.
    Keys(Vec<Expr>, FxHashSet<Vec<HashKey>>),
}

impl Exec<'_> {
    /// Whether a query has a row for the row around it, if keys can tell.
    pub(super) fn search(&mut self, query: &Subquery, row: &[Datum]) -> Result<Option<bool>> {
        if !query.correlated {
            return Ok(None);
        }
        let known = self.searches.remove(&query.number).unwrap_or(Search::Asked(0));
        let known = match known {
            Search::Asked(times) if times < ROWS_MIN => Search::Asked(times + 1),
            Search::Asked(_) => self.begin_search(query, row)?,
            other => other,
        };
        let found = match &known {
            Search::Keys(wanted, keys) => {
                let wanted = self.key_of(wanted.iter(), row)?;
                Some(wanted.is_some_and(|wanted| keys.contains(&wanted)))
            }
            Search::Asked(_) | Search::Impossible => None,
        };
        self.searches.insert(query.number, known);
        Ok(found)
    }

    fn begin_search(&mut self, query: &Subquery, row: &[Datum]) -> Result<Search> {
        // InnoDB locks what a query looks at, which is less if it ends at its first row.
        if self.locked_reads.is_some() {
            return Ok(Search::Impossible);
        }
        let Some(Semi { wanted, keys: query }) = plan::semi(&self.env.catalog, &query.query) else {
            return Ok(Search::Impossible);
        };
        let types: Vec<_> = query.columns.iter().map(|column| column.ty).collect();
        let mut keys = FxHashSet::default();
        for row in self.run_inside(&query, row, None)? {
            self.tick()?;
            // What is unknown is equal to nothing.
            if !row.iter().any(Datum::is_null) {
                keys.insert(row_key(&row, &types));
            }
        }
        Ok(Search::Keys(wanted, keys))
    }
}
