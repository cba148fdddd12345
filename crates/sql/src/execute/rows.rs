//! Rows in order, and without those that are alike.

use super::keys::row_key;
use super::{Exec, Row};
use crate::error::Result;
use crate::ir::SortKey;
use crate::types::{Datum, HashKey, Oid, compare_as};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// The order of two values by a key.
pub(super) fn compare_by(key: &SortKey, ty: Oid, left: &Datum, right: &Datum) -> Ordering {
    match (left.is_null(), right.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => {
            if key.nulls_first {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (false, true) => {
            if key.nulls_first {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (false, false) => {
            let order = compare_as(ty, left, right);
            if key.descending { order.reverse() } else { order }
        }
    }
}

/// The order of two rows.
pub(super) fn compare_rows(keys: &[SortKey], types: &[Oid], left: &Row, right: &Row) -> Ordering {
    for key in keys {
        let ty = types.get(key.column).copied().unwrap_or(Oid::TEXT);
        let order = compare_by(key, ty, &left[key.column], &right[key.column]);
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

impl Exec<'_> {
    /// Puts rows in order.
    pub(super) fn sort(&mut self, rows: &mut [Row], keys: &[SortKey], types: &[Oid]) -> Result<()> {
        if !keys.is_empty() {
            self.interrupt().check()?;
            rows.sort_by(|left, right| compare_rows(keys, types, left, right));
        }
        Ok(())
    }
}

/// Which rows were there before.
#[derive(Default)]
pub(super) struct Seen(FxHashSet<Vec<HashKey>>);

impl Seen {
    /// Whether a row is new.
    pub fn add(&mut self, row: &[Datum], types: &[Oid]) -> bool {
        self.0.insert(row_key(row, types))
    }
}
