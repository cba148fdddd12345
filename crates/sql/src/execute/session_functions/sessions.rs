//! Other sessions: told to stop, waited for; and waiting for nothing but time.

use super::{Asked, Exec, Function};
use crate::error::{Result, SqlError, code};
use crate::types::{Array, Datum, Oid};
use crate::virtual_tables::session_of;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a sleeper looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(10);

fn sleep(exec: &Exec<'_>, seconds: f64) -> Result<Datum> {
    let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, 1e9) };
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    loop {
        exec.env.interrupt.check()?;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Datum::text(""));
        }
        std::thread::sleep(left.min(LOOK));
    }
}

fn pg_sleep(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    match asked.args.first() {
        Some(Datum::Float8(seconds)) => sleep(exec, *seconds),
        Some(Datum::Interval(it)) => {
            let days = i64::from(it.months) * 30 + i64::from(it.days);
            sleep(exec, days as f64 * 86_400.0 + it.micros as f64 / 1e6)
        }
        Some(Datum::Timestamp(until)) => {
            let left = until.saturating_sub(crate::types::datetime::now());
            sleep(exec, left as f64 / 1e6)
        }
        _ => Err(SqlError::internal("how long to sleep")),
    }
}

fn told(exec: &mut Exec<'_>, asked: &Asked<'_>, terminate: bool) -> Result<Datum> {
    let number = u32::try_from(asked.number(0)?).unwrap_or(0);
    let Some(entry) = exec.env.cluster.connected.get(number) else {
        exec.notices.push(SqlError::new(
            code::WARNING,
            format!("PID {number} is not a PostgreSQL backend process"),
        ));
        return Ok(Datum::Bool(false));
    };
    if terminate {
        entry.interrupt.terminate();
    } else {
        entry.interrupt.cancel();
    }
    // Who does that to itself gets no answer.
    if number == exec.env.session {
        exec.env.interrupt.check()?;
    }
    Ok(Datum::Bool(true))
}

fn pg_cancel_backend(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    told(exec, asked, false)
}

fn pg_terminate_backend(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    told(exec, asked, true)
}

/// The sessions that hold what another one waits for.
fn pg_blocking_pids(exec: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    let number = u32::try_from(asked.number(0)?).unwrap_or(0);
    let all = exec.database().locks.all();
    let mut blockers: Vec<u32> = Vec::new();
    for (target, owner, mode, granted) in &all {
        if *granted || session_of(exec.env, *owner) != Some(number) {
            continue;
        }
        let holds = all.iter().filter(|it| it.3 && it.0 == *target && it.2.conflicts(*mode));
        blockers.extend(holds.filter_map(|it| session_of(exec.env, it.1)));
    }
    blockers.retain(|it| *it != number);
    blockers.sort_unstable();
    blockers.dedup();
    let pids = blockers.into_iter().map(|pid| Datum::Int4(pid as i32)).collect();
    Ok(Datum::Array(Arc::new(Array::of(Oid::INT4, pids))))
}

fn nobody(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Array(Arc::new(Array::of(Oid::INT4, Vec::new()))))
}

/// A statistic: nothing was counted.
pub(super) fn statistic(_: &mut Exec<'_>, asked: &Asked<'_>) -> Result<Datum> {
    Ok(match asked.proc.result {
        Oid::INT8 => Datum::Int8(0),
        Oid::INT4 => Datum::Int4(0),
        Oid::FLOAT8 => Datum::Float8(0.0),
        _ => Datum::Null,
    })
}

fn no_usage(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::Float8(0.0))
}

fn done(_: &mut Exec<'_>, _: &Asked<'_>) -> Result<Datum> {
    Ok(Datum::text(""))
}

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("pg_sleep", pg_sleep),
    ("pg_sleep_for", pg_sleep),
    ("pg_sleep_until", pg_sleep),
    ("pg_cancel_backend", pg_cancel_backend),
    ("pg_terminate_backend", pg_terminate_backend),
    ("pg_blocking_pids", pg_blocking_pids),
    ("pg_safe_snapshot_blocking_pids", nobody),
    ("pg_notification_queue_usage", no_usage),
    ("pg_stat_clear_snapshot", done),
    ("pg_stat_force_next_flush", done),
    ("pg_stat_reset", done),
];
