//! A failing run, kept: small enough for a repository, and enough to see it again.

use crate::blame::Blame;
use crate::error::TrialError;
use crate::fuzz::Fuzz;
use crate::place::Family;
use crate::run::{Application, Run};
use serde::{Deserialize, Serialize};
use seriatim_isolation::{Level, Order};
use seriatim_store::{Choice, Divergence, LEVELS, Script};
use std::sync::atomic::AtomicBool;

/// What kind of file it is.
const KIND: &str = "seriatim run of a command";

/// A failing run of a command.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// What kind of file this is.
    pub kind: String,
    /// The command that failed, for people.
    pub command: String,
    /// The set-up, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// How many of the command ran at once.
    pub clients: u32,
    /// What was run after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The code of the level.
    pub level: String,
    /// Which transactions a later one had to see.
    pub order: String,
    /// The versions that reads get; all others are the latest.
    pub choices: Vec<Choice>,
    /// How it failed.
    pub failure: String,
}

/// Why a recording cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is something else.
    #[error("this is no run of a command; `seriatim fuzz --output RUN -- CMD` makes one")]
    Kind,
    /// A store has no such level.
    #[error("unknown isolation level `{0}`")]
    Level(String),
    /// There is no such order.
    #[error("unknown order `{0}`")]
    Order(String),
}

/// A recording that was run again.
#[derive(Debug)]
pub struct Replayed {
    /// The run.
    pub run: Run,
    /// Where it left the recording, if it did.
    pub divergence: Option<Divergence>,
}

impl Recording {
    /// A failing run, with what it needs.
    pub fn of(fuzz: &Fuzz<'_>, blame: &Blame) -> Recording {
        let Application { set_up, command, clients, check, .. } = fuzz.application;
        let (level, order) = match fuzz.family {
            Family::Level { level, order } => (level, order),
            Family::Serializable => (Level::Serializable, Order::RealTime),
        };
        let failure = blame.run.failure.as_ref();
        Recording {
            kind: KIND.to_owned(),
            command: command.text(),
            setup: set_up.as_ref().map(|command| command.text()),
            clients: *clients,
            check: check.as_ref().map(|command| command.text()),
            level: level.code().to_owned(),
            order: order.code().to_owned(),
            choices: blame.choices.clone(),
            failure: failure.map(|failure| failure.what.clone()).unwrap_or_default(),
        }
    }

    /// The database that it met.
    pub fn family(&self) -> Result<Family, RecordingError> {
        if self.kind != KIND {
            return Err(RecordingError::Kind);
        }
        let level: Option<Level> = self.level.parse().ok().filter(|it| LEVELS.contains(it));
        let level = level.ok_or_else(|| RecordingError::Level(self.level.clone()))?;
        let order = self.order.parse();
        let order = order.map_err(|_| RecordingError::Order(self.order.clone()))?;
        Ok(Family::Level { level, order })
    }

    /// Runs an application with the choices of this one.
    pub fn replay(
        &self,
        fuzz: &Fuzz<'_>,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Replayed, TrialError> {
        let script = Script::partial(self.choices.clone());
        let track = script.track();
        let run = fuzz.application.run(fuzz.state, fuzz.family, script, &[], is_asked_to_end)?;
        Ok(Replayed { run, divergence: track.divergence() })
    }
}
