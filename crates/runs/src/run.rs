//! One run of an application on the mock store.

use crate::error::RunError;
use seriatim_apps::{App, DbError, StoreDb, Value, Workload};
use seriatim_history::History;
use seriatim_isolation::Level;
use seriatim_store::{Choice, Chooser, Clock, Latest, Schedule, Store, interleave_by};
use std::fmt;

/// How to run an application.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The level of its transactions.
    pub level: Level,
    /// Whether transactions of different clients overlap.
    pub interleaved: bool,
}

/// What a run left behind.
#[must_use]
pub struct Run {
    /// Why the assertion does not hold, if it does not.
    pub failure: Option<String>,
    /// What each client's user saw.
    pub seen: Vec<Vec<Value>>,
    /// What happened in the store, without the reads of the assertion.
    pub history: History,
    /// The version that each read got.
    pub choices: Vec<Choice>,
    /// The clients that went on, turn by turn.
    pub turns: Vec<u32>,
    /// What decided how much the clients did, if it is a benchmark application.
    pub workload: Option<Workload>,
}

/// Short: a run makes a choice for each read.
impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("failure", &self.failure)
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}

/// Runs `app` once. The assertion reads the latest versions, so that only the application's own
/// reads are weak.
pub fn run(
    app: &dyn App,
    setting: Setting,
    chooser: impl Chooser + 'static,
    schedule: Schedule,
) -> Result<Run, RunError> {
    // Times are steps, so that a run that is repeated has the same history.
    let builder = Store::<Value>::builder(setting.level).chooser(chooser).clock(Clock::Steps);
    let store: Store<Value> = builder.build()?;
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let client = |(number, session)| {
        move |turn| {
            let mut db = StoreDb::with_turn(session, turn, setting.interleaved);
            let mut seen = Vec::new();
            app.run(number, &mut db, &mut |value| seen.push(value)).map(|()| seen)
        }
    };
    let clients = sessions.into_iter().enumerate().map(client).collect();
    let (results, turns) = interleave_by(schedule, clients);
    let seen = results.into_iter().collect::<Result<Vec<_>, DbError>>()?;
    let (history, choices) = (store.history(), store.choices());
    store.set_chooser(Latest);
    let verdict = app.verify(&seen, &mut StoreDb::new(store.session()))?;
    let workload = app.workload();
    Ok(Run { failure: verdict.err(), seen, history, choices, turns, workload })
}
