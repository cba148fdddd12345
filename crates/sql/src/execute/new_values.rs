//! The values that rows get: numbers that columns give themselves, and what SET makes of a row.
//! MySQL has its own rules for both.

use super::{Exec, Row};
use crate::catalog::Column;
use crate::error::Result;
use crate::ir::{Assignment, ExprKind};
use crate::types::{Datum, Dialect};

/// A whole number.
pub(super) fn whole(value: &Datum) -> Option<i64> {
    match value {
        Datum::Int2(value) => Some(i64::from(*value)),
        Datum::Int4(value) => Some(i64::from(*value)),
        Datum::Int8(value) => Some(*value),
        _ => None,
    }
}

impl Exec<'_> {
    /// In MySQL null and 0 ask for the next number, and a number that is given counts.
    pub(super) fn numbered(
        &mut self,
        column: &Column,
        value: Option<Datum>,
    ) -> Result<Option<Datum>> {
        let Some(identity) = column.identity else { return Ok(value) };
        if self.env.style.dialect != Dialect::Mysql {
            return Ok(value);
        }
        let Some(given) = value.as_ref().and_then(whole) else {
            return Ok(value.filter(|value| !value.is_null()));
        };
        if given == 0 {
            return Ok(None);
        }
        if let Some(sequence) = self.env.catalog.sequence(identity.sequence) {
            self.database().raise_value(sequence, given);
        }
        self.txn.changes.given = Some(given);
        Ok(value)
    }

    /// The values of a row after SET. In MySQL an assignment sees those before it.
    pub(super) fn assigned(
        &mut self,
        start: usize,
        set: &[Assignment],
        old: &Row,
        flat: &Row,
    ) -> Result<Row> {
        let mut new = old.clone();
        let mut flat = std::borrow::Cow::Borrowed(flat);
        for assignment in set {
            if matches!(assignment.value.kind, ExprKind::Default) {
                continue;
            }
            let (value, column) =
                (self.eval(&assignment.value, &flat)?, assignment.column as usize);
            if self.env.style.dialect == Dialect::Mysql {
                let cell = flat.to_mut().get_mut(start + column - 1);
                cell.into_iter().for_each(|cell| cell.clone_from(&value));
            }
            new[column - 1] = value;
        }
        Ok(new)
    }

    pub(super) fn count_change(&mut self, old: &Row, new: &Row) {
        self.txn.changes.matched += 1;
        self.txn.changes.changed += u64::from(old != new);
    }
}
