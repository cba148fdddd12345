//! DECLARE, FETCH, MOVE and CLOSE. The rows of a cursor are those of the moment of DECLARE, as
//! there: a cursor does not see later changes.

use super::done;
use crate::bind::Params;
use crate::env::ListedCursor;
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{Declare, Direction};
use crate::session::extended::Portal;
use crate::session::{ExecuteReply, Reply, Session, Status};
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
        if self.portals.get(name).is_some_and(|portal| portal.cursor.is_none()) {
            return self.fetch_portal(name, direction, is_move);
        }
        let portal = self.portals.get_mut(name).ok_or_else(missing)?;
        let columns = portal.columns.clone().unwrap_or_default();
        let is_forward = portal.listed.as_ref().is_some_and(|listed| !listed.scroll);
        let (all, place) = portal.cursor.as_mut().ok_or_else(missing)?;
        let (taken, next) = steps(all.len() as i64, *place, direction);
        if is_forward && (next < *place || matches!(direction, Direction::By(by) if by < 0)) {
            return Err(forward_only());
        }
        *place = next;
        let rows: Vec<_> = taken.iter().map(|&it| all[it as usize - 1].clone()).collect();
        if is_move {
            return Ok(Reply::Done(format!("MOVE {}", rows.len())));
        }
        let tag = format!("FETCH {}", rows.len());
        Ok(Reply::Rows { columns, rows, tag })
    }

    /// Of a portal of the extended protocol, which is a cursor that goes forward only.
    fn fetch_portal(&mut self, name: &str, direction: Direction, is_move: bool) -> Result<Reply> {
        let most = match direction {
            Direction::By(i64::MAX) => 0,
            Direction::By(count @ 1..) => usize::try_from(count).unwrap_or(0),
            _ => return Err(forward_only()),
        };
        let ExecuteReply::Rows(found) = self.execute(name, most)? else {
            let message = format!("portal \"{name}\" cannot be run");
            return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        };
        let word = if is_move { "MOVE" } else { "FETCH" };
        let tag = format!("{word} {}", found.rows.len());
        Ok(match is_move {
            true => Reply::Done(tag),
            false => {
                Reply::Rows { columns: found.columns.unwrap_or_default(), rows: found.rows, tag }
            }
        })
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

fn forward_only() -> SqlError {
    let message = "cursor can only scan forward";
    let error = SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message);
    error.hint("Declare it with SCROLL option to enable backward scan.")
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
    fn a_portal_of_the_protocol_is_fetched_from_like_a_cursor() {
        let memory = crate::memory::Memory::default();
        let cluster = crate::database::Cluster::new(std::sync::Arc::new(memory));
        let cluster = std::sync::Arc::new(cluster);
        let mut session = Session::connect(&cluster, "postgres", "postgres").unwrap();
        let said = |session: &mut Session, text: &str| match session.simple(text) {
            (mut replies, None) => match replies.pop() {
                Some(Reply::Rows { rows, .. }) => format!("{rows:?}"),
                other => format!("{other:?}"),
            },
            (_, Some(error)) => error.message().to_owned(),
        };
        session.simple("BEGIN");
        session.prepare("s", "SELECT * FROM generate_series(1, 5)", &[]).unwrap();
        session.bind("p", "s", &[], &[]).unwrap();
        assert_eq!(said(&mut session, "MOVE FORWARD 2 IN p"), "Some(Done(\"MOVE 2\"))");
        assert_eq!(said(&mut session, "FETCH p"), "[[Int4(3)]]");
        assert_eq!(said(&mut session, "FETCH PRIOR FROM p"), "cursor can only scan forward");
    }

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
