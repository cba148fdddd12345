//! Is a program deterministic? Its first behaviour is run twice before anything is explored: a
//! transaction that never runs again with another read would not be found out otherwise.
//!
//! What differs later is found by the runs themselves (`run.rs`), which compare each transaction
//! that they run again with what it did before.

use crate::engine::{Engine, Setting};
use crate::error::{ExploreError, Place};
use crate::ordered::{Op, Record};
use crate::program::{Local, Program, Value};

/// Refuses a program whose first behaviour is another one when it is run again.
pub(crate) fn check<V: Value, L: Local>(
    program: &Program<V, L>,
    setting: Setting,
) -> Result<(), ExploreError> {
    let (mut first, mut second) = (Engine::new(program, setting), Engine::new(program, setting));
    if first.advance()? != second.advance()? {
        return Err(ExploreError::NotRepeatable("it has another first behaviour".to_owned()));
    }
    let mut pairs = first.history.order().iter().zip(second.history.order());
    pairs.try_for_each(|(one, other)| same(&first, one, &second, other))?;
    match first.history.len() == second.history.len() {
        true => Ok(()),
        false => Err(ExploreError::NotRepeatable("it has other transactions".to_owned())),
    }
}

fn same<V: Value, L: Local>(
    first: &Engine<'_, V, L>,
    one: &Record<V, L>,
    second: &Engine<'_, V, L>,
    other: &Record<V, L>,
) -> Result<(), ExploreError> {
    let (before, now) = (told(first, one), told(second, other));
    if before == now {
        return Ok(());
    }
    let op = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
    let session = first.program.sessions[one.session as usize].name.clone();
    let place = Place { session, txn: one.index as usize + 1, op: op + 1 };
    let at = |ops: &[String]| ops.get(op).cloned().unwrap_or_else(|| "nothing".to_owned());
    Err(ExploreError::NotDeterministic { place, before: at(&before), now: at(&now) })
}

/// What a transaction did, one line an operation, and how it ended.
fn told<V: Value, L: Local>(engine: &Engine<'_, V, L>, record: &Record<V, L>) -> Vec<String> {
    let key = |key: u32| engine.history.key_name(key);
    let op = |op: &Op<V>| match op {
        Op::Read(read) => format!("read {}", key(record.reads[*read as usize].key)),
        Op::OwnRead(own) => format!("read {}", key(*own)),
        Op::Write(written, value) => format!("write {}={value}", key(*written)),
    };
    let end = match (&record.panic, record.is_committed) {
        (Some(_), _) => "panic",
        (None, true) => "commit",
        (None, false) => "abort",
    };
    record.ops.iter().map(op).chain([end.to_owned()]).collect()
}
