//! A run that was recorded, run again in the same way.

use crate::error::RunError;
use crate::observe::{Observed, ObservedError, Runnable};
use crate::run::{Run, Setting, run};
use serde::{Deserialize, Serialize};
use seriatim_apps::{App, Workload, find};
use seriatim_isolation::Level;
use seriatim_store::{Choice, Divergence, LEVELS, Script, by_turns};

/// Everything that is needed to run an application again in the same way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The name of the application.
    pub app: String,
    /// How much it did, if it is a benchmark application. Recordings of earlier versions do not
    /// say: all had the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// The code of the level.
    pub level: String,
    /// Whether transactions of different clients overlap.
    pub interleaved: bool,
    /// The clients that went on, turn by turn.
    pub turns: Vec<u32>,
    /// The version that each read got.
    pub choices: Vec<Choice>,
    /// Why the assertion did not hold.
    pub failure: Option<String>,
}

/// Why a recording cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no such application.
    #[error("there is no application called {0}")]
    UnknownApp(String),
    /// A store has no such level.
    #[error(
        "unknown isolation level `{0}`; a store works at {known}",
        known = LEVELS.map(Level::code).join(", ")
    )]
    UnknownLevel(String),
    /// Nobody records such runs.
    #[error(transparent)]
    Workload(#[from] ObservedError),
    /// It ran to no result.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Recording {
    /// A run as a recording.
    pub fn of(app: &dyn App, setting: Setting, run: &Run) -> Recording {
        Recording {
            app: app.name().to_owned(),
            workload: run.workload,
            level: setting.level.code().to_owned(),
            interleaved: setting.interleaved,
            turns: run.turns.clone(),
            choices: run.choices.clone(),
            failure: run.failure.clone(),
        }
    }

    /// What to run, and how.
    pub(crate) fn parts(&self) -> Result<(Runnable, Setting), ReplayError> {
        let unknown = || ReplayError::UnknownApp(self.app.clone());
        let app = find(&self.app).ok_or_else(unknown)?;
        let runnable = match self.workload {
            None => Runnable::Fixed(app),
            Some(workload) => Observed::of(&self.app, workload).runnable()?,
        };
        let level = self.level.parse().ok().filter(|level| LEVELS.contains(level));
        let level = level.ok_or_else(|| ReplayError::UnknownLevel(self.level.clone()))?;
        Ok((runnable, Setting { level, interleaved: self.interleaved }))
    }

    /// Runs it again, and says where the run left the recording, if it did.
    pub fn replay(&self) -> Result<Replayed, ReplayError> {
        let (runnable, setting) = self.parts()?;
        let script = Script::new(self.choices.clone());
        let track = script.track();
        let run = run(runnable.app(), setting, script, by_turns(self.turns.clone()))?;
        let departure = track.divergence().map(Departure::Read).or_else(|| self.departure(&run));
        Ok(Replayed { run, departure })
    }

    /// Where a run that made the same choices is another one.
    fn departure(&self, run: &Run) -> Option<Departure> {
        let at = (0..self.turns.len().max(run.turns.len()))
            .find(|&at| self.turns.get(at) != run.turns.get(at));
        if let Some(at) = at {
            let (expected, found) = (self.turns.get(at).copied(), run.turns.get(at).copied());
            return Some(Departure::Turn { at, expected, found });
        }
        if self.choices.len() != run.choices.len() {
            return Some(Departure::Reads {
                expected: self.choices.len(),
                found: run.choices.len(),
            });
        }
        (self.failure != run.failure).then(|| Departure::Failure { expected: self.failure.clone() })
    }
}

/// A recording that was run again.
#[derive(Debug)]
#[must_use]
pub struct Replayed {
    /// The run.
    pub run: Run,
    /// Where it left the recording.
    pub departure: Option<Departure>,
}

/// How a run is not as it was recorded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Departure {
    /// By a read.
    #[error(transparent)]
    Read(Divergence),
    /// By whose turn it is.
    #[error("turn {at} is {}, not {}", turn(.found), turn(.expected))]
    Turn {
        /// The number of the turn, from 0.
        at: usize,
        /// Whose turn it is in the recording.
        expected: Option<u32>,
        /// Whose it was.
        found: Option<u32>,
    },
    /// By how much is read.
    #[error("{found} reads from others, not {expected}")]
    Reads {
        /// In the recording.
        expected: usize,
        /// In the run.
        found: usize,
    },
    /// By what the assertion says.
    #[error("the recording says that {}", .expected.as_deref().unwrap_or("the assertion held"))]
    Failure {
        /// What it says in the recording.
        expected: Option<String>,
    },
}

fn turn(client: &Option<u32>) -> String {
    client.map_or("nobody's".to_owned(), |client| format!("that of client {client}"))
}
