//! Replay tokens: one behaviour as text, independent of how it was found.
//!
//! A token lists the transactions in the order of the history, separated by commas: the number of
//! the session, a colon, and for each read where it read from, separated by points: 0 is the
//! initial state, n the n-th transaction of the token. `0:0,1:0.1` is a transaction of the first
//! session that read the initial state, then one of the second that read the initial state and from
//! it.

use crate::engine::{Algorithm, Engine, Setting};
use crate::error::ExploreError;
use crate::levels::supported;
use crate::ordered::Ordered;
use crate::program::{Local, Program, Value};
use crate::txn_set::{INITIAL, Id};
use crate::valid;
use seriatim_isolation::Level;

/// The token of a history.
pub(crate) fn of<V: Value, L: Local>(history: &Ordered<V, L>) -> String {
    let source = |id: Id| if id == INITIAL { 0 } else { history.place(id) + 1 };
    let txns = history.order().iter().map(|record| {
        let sources: Vec<String> =
            record.reads.iter().map(|read| source(read.source).to_string()).collect();
        format!("{}:{}", record.session, sources.join("."))
    });
    txns.collect::<Vec<_>>().join(",")
}

/// How much is shown of what is no token.
const SHOWN_CHARS: usize = 40;

/// Sessions with the places of what their next transaction reads from.
pub(crate) type Steps = Vec<(u32, Vec<usize>)>;

pub(crate) fn parse(token: &str) -> Result<Steps, ExploreError> {
    let bad = |part: &str| {
        let shown: String = part.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
        ExploreError::Token(format!("`{shown}` is no transaction; expected one like 1:0.2"))
    };
    let step = |part: &str| {
        let (session, sources) = part.split_once(':').ok_or_else(|| bad(part))?;
        let session = session.parse().map_err(|_| bad(part))?;
        let sources = sources
            .split('.')
            .filter(|_| !sources.is_empty())
            .map(|place| place.parse().map_err(|_| bad(part)));
        Ok((session, sources.collect::<Result<_, _>>()?))
    };
    token.split(',').filter(|_| !token.is_empty()).map(step).collect()
}

/// Runs the program as a token says.
pub(crate) fn replay<'p, V: Value, L: Local>(
    program: &'p Program<V, L>,
    level: Level,
    token: &str,
) -> Result<Engine<'p, V, L>, ExploreError> {
    supported(level)?;
    let setting = Setting { level, base: level.min(Level::Causal), algorithm: Algorithm::Dfs };
    let mut engine = Engine::replaying(program, setting);
    for (session, places) in parse(token)? {
        step(&mut engine, session, &places)?;
    }
    let wrong = |problem: String| Err(ExploreError::Token(problem));
    if let Some(session) = engine.next() {
        return wrong(format!(
            "session {} has more transactions than it says",
            program.sessions[session as usize].name
        ));
    }
    if engine.has_cut_session() {
        return Err(ExploreError::TooManyTransactions);
    }
    let valid = valid::is_valid(
        &engine.history,
        |id| setting.level_of(program, engine.history.name(id)),
        &[],
    );
    match valid {
        true => Ok(engine),
        false => Err(ExploreError::TokenLevel {
            level,
            problem: "no commit order allows its reads".to_owned(),
        }),
    }
}

fn step<V: Value, L: Local>(
    engine: &mut Engine<'_, V, L>,
    session: u32,
    places: &[usize],
) -> Result<(), ExploreError> {
    let wrong = |problem: String| ExploreError::Token(problem);
    if session as usize >= engine.history.sessions() || !engine.has_next(session) {
        return Err(wrong(format!("session {session} has no more transactions")));
    }
    let order = engine.history.order();
    let source = |&number: &usize| match number.checked_sub(1) {
        None => Ok(INITIAL),
        Some(place) => order.get(place).map(|record| record.id).ok_or_else(|| {
            let so_far = order.len();
            wrong(format!(
                "a transaction of session {session} reads from number {number}, but there are \
                 only {so_far} before it"
            ))
        }),
    };
    let sources = places.iter().map(source).collect::<Result<Vec<Id>, _>>()?;
    engine.execute(session, sources, None)?;
    match engine.history.order().last() {
        Some(record) if record.reads.len() == places.len() => Ok(()),
        _ => Err(wrong(format!("a transaction of session {session} reads less than it says"))),
    }
}
