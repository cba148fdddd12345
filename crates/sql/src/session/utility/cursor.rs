//! DECLARE, FETCH, MOVE and CLOSE. The rows of a cursor are those of the moment of DECLARE, as
//! there: a cursor does not see later changes.

use super::done;
use crate::bind::Params;
use crate::env::ListedCursor;
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{Declare, Direction};
use crate::session::extended::Portal;
use crate::session::{Reply, Session, Status};
use crate::types::datetime::now;
use crate::types::{Datum, Oid};

impl Session {
    pub(super) fn declare(
        &mut self,
        declare: &Declare,
        text: &str,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Reply> {
        let in_block =
            self.status != Status::Idle || self.txn.as_ref().is_some_and(|txn| !txn.implicit);
        if !declare.hold && !in_block {
            return Err(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "DECLARE CURSOR can only be used in transaction blocks",
            ));
        }
        if self.portals.contains_key(&declare.name) {
            return Err(SqlError::new(
                code::DUPLICATE_CURSOR,
                format!("cursor \"{}\" already exists", declare.name),
            ));
        }
        let env = self.env();
        let query = env.binder_with(text, Params::new(types)).bind_query(&declare.query)?;
        let reply = self.run_query(&env, &query, text, params, types)?;
        let Reply::Rows { columns, rows, .. } = reply else {
            return Err(SqlError::internal("a query has rows"));
        };
        let listed = ListedCursor {
            name: declare.name.clone(),
            text: text.to_owned(),
            at: now(),
            hold: declare.hold,
            binary: declare.binary,
            // All rows are there, so that it could go backwards.
            scroll: declare.scroll.unwrap_or(true),
        };
        let portal = Portal::of_cursor(columns, rows, listed);
        self.portals.insert(declare.name.clone(), portal);
        self.list_again();
        Ok(done("DECLARE CURSOR"))
    }

    pub(super) fn fetch(
        &mut self,
        name: &str,
        direction: Direction,
        is_move: bool,
    ) -> Result<Reply> {
        let missing = || {
            SqlError::new(code::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
        };
        let portal = self.portals.get_mut(name).ok_or_else(missing)?;
        let columns = portal.columns.clone().unwrap_or_default();
        let is_forward = portal.listed.as_ref().is_some_and(|listed| !listed.scroll);
        let (all, place) = portal.cursor.as_mut().ok_or_else(missing)?;
        let (taken, next) = steps(all.len() as i64, *place, direction);
        if is_forward && (next < *place || matches!(direction, Direction::By(by) if by < 0)) {
            return Err(SqlError::new(
                code::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cursor can only scan forward",
            )
            .hint("Declare it with SCROLL option to enable backward scan."));
        }
        *place = next;
        let rows: Vec<_> = taken.iter().map(|&it| all[it as usize - 1].clone()).collect();
        if is_move {
            return Ok(Reply::Done(format!("MOVE {}", rows.len())));
        }
        let tag = format!("FETCH {}", rows.len());
        Ok(Reply::Rows { columns, rows, tag })
    }

    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<Reply> {
        let Some(name) = name else {
            self.portals.retain(|_, portal| portal.cursor.is_none());
            self.list_again();
            return Ok(done("CLOSE CURSOR ALL"));
        };
        if self.portals.remove(name).is_none() {
            return Err(SqlError::new(
                code::INVALID_CURSOR_NAME,
                format!("cursor \"{name}\" does not exist"),
            ));
        }
        self.list_again();
        Ok(done("CLOSE CURSOR"))
    }
}

/// The rows, from 1, that a cursor at a place goes over, and where it stands then: 0 is before the
/// first row, one more than their number behind the last.
fn steps(count: i64, place: i64, direction: Direction) -> (Vec<i64>, i64) {
    let end = count + 1;
    let at = |to: i64| {
        let to = to.clamp(0, end);
        let rows = if (1..=count).contains(&to) { vec![to] } else { Vec::new() };
        (rows, to)
    };
    match direction {
        Direction::Absolute(to) if to < 0 => at(end.saturating_add(to)),
        Direction::Absolute(to) => at(to),
        Direction::Relative(by) => at(place.saturating_add(by)),
        Direction::By(0) => at(place),
        Direction::By(by) if by > 0 => {
            let last = place.saturating_add(by).min(end);
            let rows = (place + 1..=last.min(count)).collect();
            (rows, last)
        }
        Direction::By(by) => {
            let last = place.saturating_add(by).max(0);
            let rows = (last.max(1)..place).rev().collect();
            (rows, last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_forwards_and_backwards() {
        assert_eq!(steps(3, 0, Direction::By(2)), (vec![1, 2], 2));
        assert_eq!(steps(3, 2, Direction::By(i64::MAX)), (vec![3], 4));
        assert_eq!(steps(3, 4, Direction::By(-2)), (vec![3, 2], 2));
        assert_eq!(steps(3, 2, Direction::By(-9)), (vec![1], 0));
        assert_eq!(steps(3, 0, Direction::Absolute(-1)), (vec![3], 3));
        assert_eq!(steps(3, 3, Direction::By(0)), (vec![3], 3));
    }
}
