//! Locks of applications' own choice: for the session, or until the transaction ends.

use super::{Asked, Exec, Function};
use crate::error::{Result, SqlError, code};
use crate::locks::{Mode, Outcome, Owner, Patience, Target};
use crate::types::Datum;

/// Who holds locks that outlive transactions.
fn session_owner(exec: &Exec<'_>) -> Owner {
    Owner(u64::MAX - u64::from(exec.env.session))
}

/// One number, or two halves of one.
fn target(exec: &Exec<'_>, asked: &Asked<'_>) -> Result<Target> {
    let database = exec.env.database.oid.0;
    if asked.args.len() == 2 {
        let (high, low) = (asked.number(0)? as i32, asked.number(1)? as i32);
        let key = (i64::from(high) << 32) | i64::from(low as u32);
        return Ok(Target::Advisory(database, key, true));
    }
    Ok(Target::Advisory(database, asked.number(0)?, false))
}

fn mode(asked: &Asked<'_>) -> Mode {
    if asked.proc.name.ends_with("_shared") { Mode::Share } else { Mode::Exclusive }
}

/// Asks for the lock that the function's name says.
fn lock(exec: &mut Exec<'_>, asked: &Asked<'_>, patience: Patience) -> Result<bool> {
    let (target, mode) = (target(exec, asked)?, mode(asked));
    let (session, transaction) = (session_owner(exec), exec.txn.owner);
    let wanted = if asked.proc.name.contains("_xact_") { transaction } else { session };
    let other = if wanted == session { transaction } else { session };
    // A session does not wait for itself: what it holds one way it may have the other way, too.
    let held = exec.database().locks.held(other);
    let owner = if held.iter().any(|it| it.0 == target) { other } else { wanted };
    let locks = &exec.database().locks;
    match locks.acquire(owner, target, mode, patience, &exec.env.interrupt)? {
        Outcome::Busy => Ok(false),
        Outcome::Held => {
            if let Target::Advisory(_, number, pair) = target {
                let lock = crate::cells::Lock::Advisory(number, pair);
                exec.txn.cells.hand_over(lock, mode == Mode::Exclusive)?;
            }
            Ok(true)
        }
    }
}

fn wait(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let patience = exec.env.patience();
    lock(exec, asked, patience)?;
    Ok(Datum::text(""))
}

fn attempt(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    lock(exec, asked, Patience::None).map(Datum::Bool)
}

fn unlock(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let (target, mode) = (target(exec, asked)?, mode(asked));
    let was_held = exec.database().locks.release(session_owner(exec), target, mode);
    if !was_held {
        let name = if mode == Mode::Share { "ShareLock" } else { "ExclusiveLock" };
        exec.notices
            .push(SqlError::new(code::WARNING, format!("you don't own a lock of type {name}")));
    }
    Ok(Datum::Bool(was_held))
}

fn unlock_all(exec: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    exec.database().locks.release_all(session_owner(exec));
    Ok(Datum::text(""))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("pg_advisory_lock", wait),
    ("pg_advisory_lock_shared", wait),
    ("pg_advisory_xact_lock", wait),
    ("pg_advisory_xact_lock_shared", wait),
    ("pg_try_advisory_lock", attempt),
    ("pg_try_advisory_lock_shared", attempt),
    ("pg_try_advisory_xact_lock", attempt),
    ("pg_try_advisory_xact_lock_shared", attempt),
    ("pg_advisory_unlock", unlock),
    ("pg_advisory_unlock_shared", unlock),
    ("pg_advisory_unlock_all", unlock_all),
];
