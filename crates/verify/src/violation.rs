//! Do some operations alone show that a level is violated?
//!
//! First the operations must be enough to prove anything ([`crate::completed`]); then everything
//! else is removed, and what is left is looked at by the simplest procedure that can decide it.

use crate::completion::left_out;
use crate::cut::verify_cut_isolation;
use crate::doubt::Doubt;
use crate::exhaustive::{self, Existence, Limits};
use crate::points::verify_points;
use crate::saturate::{self, Saturated};
use crate::writers::known_to_have_committed;
use seriatim_history::{History, OpId, Status, TxnId};
use seriatim_isolation::{Guarantee, Level, Order, oracle};
use std::time::{Duration, Instant};

/// How many states the search for a way out of a violation may look at.
const STATES_MAX: u64 = 2_000_000;

/// How long that may take.
const SEARCH_MAX: Duration = Duration::from_secs(60);

/// The largest histories that are given to the definition itself.
const ORACLE_TXNS: usize = 6;
const ORACLE_OPS: usize = 24;

/// Do these operations alone show that a level, with sessions unless an order is named, is
/// violated?
pub fn verify_violation(
    history: &History,
    asked: impl Into<Guarantee>,
    ops: &[OpId],
) -> Result<(), Doubt> {
    let limits = Limits { states_max: STATES_MAX, deadline: Instant::now() + SEARCH_MAX };
    verify_within(history, asked.into(), ops, limits)
}

fn verify_within(
    history: &History,
    asked: Guarantee,
    ops: &[OpId],
    limits: Limits,
) -> Result<(), Doubt> {
    if let Some(strange) = ops.iter().find(|op| op.index() >= history.op_count()) {
        return Err(Doubt::NoOperation(strange.0, history.op_count()));
    }
    if let Some(&missing) = left_out(history, ops).first() {
        return Err(Doubt::LeftOut(missing));
    }
    let committed = known_to_have_committed(history);
    let status =
        |txn: TxnId| if committed[txn.index()] { Status::Committed } else { history.status(txn) };
    let part = history.restricted_with(ops, status);
    let part = if asked.order == Order::None { part.without_sessions() } else { part };
    let level = asked.level;
    if level.is_strong() {
        match exhaustive::points_exist(&part, asked, limits) {
            Existence::Impossible => return Ok(()),
            Existence::Found(points) if verify_points(&part, asked, &points).is_ok() => {
                return Err(Doubt::NoViolation);
            }
            // Of elements that were appended twice the search does not keep in mind which is which.
            Existence::Found(_) | Existence::GivenUp => {}
        }
    }
    if part.txn_count() <= ORACLE_TXNS && part.op_count() <= ORACLE_OPS {
        return if oracle::satisfies(&part, asked) { Err(Doubt::NoViolation) } else { Ok(()) };
    }
    match level {
        Level::CutIsolation => {
            verify_cut_isolation(&part).map_or(Ok(()), |()| Err(Doubt::NoViolation))
        }
        _ if level.is_strong() => Err(Doubt::TooHard),
        _ => match saturate::saturated(&part, asked) {
            Saturated::Violated => Ok(()),
            Saturated::Holds => Err(Doubt::NoViolation),
            Saturated::Open => Err(Doubt::TooHard),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;

    fn shown(text: &str, level: Level, ops: &[u32]) -> Result<(), Doubt> {
        let ops: Vec<OpId> = ops.iter().copied().map(OpId).collect();
        verify_violation(&notation::parse(text).unwrap(), level, &ops)
    }

    #[test]
    fn a_violation_needs_every_write_that_its_reads_may_come_from() {
        let text = "a: w(x,1) | w(x,2)\nb: r(x,2) | r(x,1)\nc: w(x,1)";
        assert_eq!(shown(text, Level::Serializable, &[0, 1, 2, 3]), Err(Doubt::LeftOut(OpId(4))));
        assert_eq!(shown(text, Level::Serializable, &[0, 1, 2, 3, 4]), Err(Doubt::NoViolation));
        let text = "a: w(x,1) | w(x,2)\nb: r(x,2) | r(x,1)";
        for level in [Level::Causal, Level::SnapshotIsolation, Level::Serializable] {
            assert_eq!(shown(text, level, &[0, 1, 2, 3]), Ok(()));
            assert_eq!(shown(text, level, &[1, 2, 3]), Err(Doubt::LeftOut(OpId(0))));
            assert_eq!(shown(text, level, &[0, 1, 3]), Err(Doubt::NoViolation));
            assert_eq!(shown(text, level, &[0, 9]), Err(Doubt::NoOperation(9, 4)));
        }
    }

    #[test]
    fn own_writes_stay_before_the_reads_that_see_them() {
        let text = "a: r(x,1) w(x,2) r(x,2)\nb: w(x,1)";
        assert_eq!(shown(text, Level::CutIsolation, &[0, 2, 3]), Err(Doubt::LeftOut(OpId(1))));
        assert_eq!(verify_cut_isolation(&notation::parse(text).unwrap()), Ok(()));
        let unrepeated = "a: r(x,1) r(x,2)\nb: w(x,1) | w(x,2)";
        assert_eq!(shown(unrepeated, Level::CutIsolation, &[0, 1, 2, 3]), Ok(()));
        assert_eq!(
            verify_cut_isolation(&notation::parse(unrepeated).unwrap()),
            Err(Doubt::NotRepeated(OpId(1)))
        );
    }

    #[test]
    fn a_transaction_of_unknown_outcome_is_not_made_to_count() {
        // What t1 wrote was not read: it may never have happened.
        let text = "a: r(x,7) w(y,1)?\nb: w(x,1)";
        assert_eq!(shown(text, Level::ReadCommitted, &[0, 1, 2]), Err(Doubt::NoViolation));
        let text = "a: r(x,7) w(y,1)?\nb: r(y,1)";
        assert_eq!(shown(text, Level::ReadCommitted, &[0, 1, 2]), Ok(()));
    }

    #[test]
    fn a_search_that_takes_too_long_confirms_nothing() {
        let text = "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,0)\nd: r(y,1) r(x,0)\ne: r(x,1)\nf: \
                    r(y,1)\ng: r(x,1)";
        let history = notation::parse(text).unwrap();
        let ops: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        let until = |deadline| {
            let limits = Limits { states_max: STATES_MAX, deadline };
            verify_within(&history, Level::PrefixConsistency.into(), &ops, limits)
        };
        assert_eq!(until(Instant::now()), Err(Doubt::TooHard));
        assert_eq!(until(Instant::now() + Duration::from_secs(60)), Ok(()));
    }
}
